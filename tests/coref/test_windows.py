"""Windows of long documents: documents of their own by hand, and the script of BOOKCOREF on its released predictions."""

import os
from pathlib import Path

import pytest

import closeread
from closeread.counts.estimates import Resampling

QUICK = Resampling(n_resamples=0)
METRICS = ("muc", "b3", "ceafe", "conll")
PREDICTIONS = Path(os.environ.get("CLOSEREAD_DATA", "")) / "bookcoref" / "predictions"

KEY = [[[0, 0], [2, 3], [5, 5], [9, 9]], [[1, 1], [6, 6]], [[7, 7], [8, 8]]]
RESPONSE = [[[0, 0], [2, 3], [6, 6]], [[1, 1], [5, 5], [9, 9]], [[7, 7], [8, 8]]]


def score(key, response, n_tokens=10, **options):
    """The scores of a document, or of several."""
    rows = [
        [
            {"document": str(i), "clusters": clusters, "n_tokens": n_tokens}
            for i, clusters in enumerate(side)
        ]
        for side in (key, response)
    ]
    report = closeread.score(
        "coref", rows[1], gold=rows[0], metrics=METRICS, resampling=QUICK, **options
    )
    return {name: value.value for name, value in report.scores.items()}, report


def cut(clusters, first, last):
    """The part of entities that starts in a window, by hand."""
    parts = [[mention for mention in entity if first <= mention[0] < last] for entity in clusters]
    return [part for part in parts if part]


def test_a_window_is_a_document_of_its_own():
    windows = [(0, 5), (5, 10)]
    parts = [[cut(side, *window) for window in windows] for side in (KEY, RESPONSE)]
    assert score([KEY], [RESPONSE], windows="5")[0] == score(*parts)[0]
    # The response's third mention in the first window is in its first entity: of the key's two links it has one.
    assert score([KEY], [RESPONSE], windows="5")[0] != score([KEY], [RESPONSE])[0]


def test_a_mention_stays_as_it_is_across_a_border():
    key = [[[3, 6], [8, 8]]]
    assert score([key], [key], windows="5")[0]["b3/f1"] == 1


def test_a_window_as_long_as_the_document_changes_nothing():
    assert score([KEY], [RESPONSE], windows="10")[0] == score([KEY], [RESPONSE])[0]


def test_windows_of_the_script():
    """Of 10 tokens in windows of 4, the script has 1 to 3, 5 to 7, and 7 to 9, where 0, 4 and 8 open full windows."""
    parts = [[cut(side, 1, 4), cut(side, 5, 8), cut(side, 7, 10)] for side in (KEY, RESPONSE)]
    assert score([KEY], [RESPONSE], windows="bookcoref:4")[0] == score(*parts)[0]


def test_windows_are_signed():
    assert "|windows:5|" in score([KEY], [RESPONSE], windows="5")[1].provenance.signature
    assert "windows" not in score([KEY], [RESPONSE])[1].provenance.signature


def test_what_windows_can_not_do():
    with pytest.raises(closeread.RequestError, match="BLANC is not computed in windows"):
        closeread.score("coref", [RESPONSE], gold=[KEY], windows="5")
    with pytest.raises(closeread.RequestError, match="the number of tokens of '0' is unknown"):
        closeread.score("coref", [RESPONSE], gold=[KEY], windows="bookcoref:5", metrics=METRICS)


@pytest.mark.parametrize(
    ("ending", "windows", "expected"),
    [
        ("", "none", (84.44, 49.22, 5.77, 46.48)),
        ("_splitted", "none", (86.17, 72.75, 45.24, 68.05)),
        ("", "1500", (83.78, 61.45, 24.26, 56.50)),
        ("", "bookcoref:1500", (83.76, 61.37, 24.21, 56.45)),
    ],
)
def test_the_script_of_bookcoref(ending, windows, expected):
    """Two released predictions against each other: its evaluate.py printed these, those of clean windows after a repair."""
    key = PREDICTIONS / "finetuned_bookcoref" / f"maverick_xl{ending}.jsonl"
    response = PREDICTIONS / "off_the_shelf" / f"maverick_xl{ending}.jsonl"
    if not key.is_file():
        pytest.skip("the predictions are not here")
    report = closeread.score(
        "coref", response, gold=key, metrics=METRICS, resampling=QUICK, windows=windows
    )
    scores = [100 * report.scores[f"{name}/f1"].value for name in METRICS]
    assert scores == pytest.approx(expected, abs=0.005)
