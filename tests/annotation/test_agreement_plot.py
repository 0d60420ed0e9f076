"""`closeread plot agreement`: what is drawn is what `closeread agreement coref` computes."""

import pytest
from shared.annotation_tools import ENTITIES, OTHER_ENTITIES, label_studio
from shared.coreference import write_jsonl

import closeread

ABC, AB = [[[0, 0], [1, 1], [2, 2]]], [[[0, 0], [1, 1]], [[2, 2]]]
EQUAL = [[[0, 1], [3, 3]]]

pytestmark = pytest.mark.filterwarnings(
    "ignore:1 document has fewer than two annotators", "ignore:alpha is 0/0, and 1 by convention"
)


@pytest.fixture
def annotators(here):
    """Alpha of x is -4/11, 0 and -16/69, and 1 of y; only one annotator has z."""
    write_jsonl(here / "anna.jsonl", {"x": ABC, "y": EQUAL, "z": ABC})
    write_jsonl(here / "ben.jsonl", {"y": EQUAL, "x": AB})
    return ("anna.jsonl", "ben.jsonl")


def dots(axes):
    """The dots of each measure from top to bottom, without lines of averages."""
    lines = [line for line in axes.lines if line.get_marker() == "o"]
    return {line.get_label(): [float(x) for x in line.get_xdata()] for line in lines}


def names(axes):
    return [tick.get_text() for tick in axes.get_yticklabels()]


def test_documents_with_their_average_and_interval(annotators, here):
    figure = closeread.plot("agreement", *annotators, output=here / "a.svg")
    documents, _ = figure.axes
    # The worst is on top, and what has no alpha at the end, without a dot.
    assert names(documents) == ["x", "y", "z"]
    nan = pytest.approx(float("nan"), nan_ok=True)
    assert dots(documents) == {
        "nominal": [pytest.approx(-400 / 11), 100, nan],
        "IAA1": [0, 100, nan],
        "IAA2": [pytest.approx(-1600 / 69), 100, nan],
        "F1 of mentions": [nan, nan, nan],
    }
    averages = [line.get_xdata()[0] for line in documents.lines if line.get_marker() != "o"]
    assert averages == pytest.approx([100 * (1 - 4 / 11) / 2, 50, 100 * (1 - 16 / 69) / 2])
    # Resamples of two documents are as likely to have either of them twice: intervals are from one to the other.
    bands = [(band.get_x(), band.get_x() + band.get_width()) for band in documents.patches]
    assert bands == [pytest.approx((low, 100)) for low in (-400 / 11, 0, -1600 / 69)]


def test_pairs(annotators, here):
    figure = closeread.plot("agreement", *annotators, output=here / "a.svg", average="pooled")
    documents, pairs = figure.axes
    assert names(pairs) == ["anna.jsonl, ben.jsonl"]
    # All mentions of the shared documents are common, chains aside.
    assert dots(pairs)["F1 of mentions"] == [100]
    assert documents.get_title() == "documents; pooled average and 95 % interval"


def test_many_documents_have_no_names(here):
    write_jsonl(here / "anna.jsonl", {f"d{n}": ABC for n in range(50)})
    write_jsonl(here / "ben.jsonl", {f"d{n}": AB for n in range(50)})
    figure = closeread.plot("agreement", "anna.jsonl", "ben.jsonl", output=here / "a.png")
    documents, _ = figure.axes
    assert names(documents) == []
    assert documents.get_ylabel() == "50 documents"


def test_options_of_annotation_tools(run, ran, here):
    """They are those of a project; a layer that isn't there is named."""
    (here / "gold.json").write_text(label_studio({"ola": ENTITIES}))
    (here / "ben.json").write_text(label_studio({"ben": OTHER_ENTITIES}))
    files = ("gold.json", "ben.json")
    for command in (
        ("plot", "agreement", *files, "-o", "a.svg"),
        ("plot", "link-support", *files, "-o", "a.svg"),
        ("plot", "mistakes", *files, "-o", "a.svg"),
        ("errors", "chains", *files),
    ):
        ran(*command, "--relation", "all")
        done = run(*command, "--relation", "sibling")
        assert done.exit_code == 2, done.stderr
        assert "no such relation: 'sibling'" in done.stderr
