"""What came of training runs: means with standard errors by hand, tables, pictures, and forged descriptions."""

import json

import numpy as np
import pytest
from shared.for_each import for_each

from closeread.exceptions import CloseReadWarning, FormatError
from closeread.tasks.mctaco.figures import draw_runs
from closeread.tasks.mctaco.models import TrainedRun, TrainedRuns, find_run, read_runs


def make(size, seed, f1, test=None):
    scores = {"exact_match": 0.25, "f1": f1}
    test = {} if test is None else {"exact_match": 0.5, "f1": test}
    return TrainedRun(f"size-{size}/seed-{seed}", size, seed, size // 5, 1, scores, test, 1.0)


RUNS = TrainedRuns([make(50, 0, 0.5, 0.25), make(100, 0, 0.5, 0.25), make(100, 1, 0.75, 0.5)], is_complete=True)


@pytest.fixture
def saved(tmp_path):
    """Save the description of runs, and return its folder."""

    def save(value):
        (tmp_path / "run.json").write_text(json.dumps(value), "utf-8")
        return tmp_path

    return save


def test_means_and_standard_errors():
    # By hand: the standard deviation of 1/2 and 3/4 is sqrt(2)/8, and the standard error is 1/8.
    found = RUNS.estimate(100, "held_out", "f1")
    assert (found.mean, found.standard_error) == (0.625, pytest.approx(0.125))
    assert RUNS.estimate(50, "test", "f1").standard_error is None
    assert TrainedRuns([make(100, 0, 0.5), make(100, 1, 0.5, 0.5)]).estimate(100, "test", "f1") is None
    assert RUNS.to_json()["summary"][1]["test"]["f1"] == {"mean": 0.375, "standard_error": pytest.approx(0.125)}


def test_tables():
    header, rows = RUNS.to_rows()
    assert header[:4] == ["size", "seed", "questions", "epoch"]
    assert rows[2] == [100, 1, 20, 1, 0.25, 0.75, 0.5, 0.5]
    assert RUNS.to_csv().splitlines()[3] == "100,1,20,1,0.25,0.75,0.5,0.5"
    assert all("37.50 ± 12.50" in text for text in (str(RUNS), RUNS.to_latex(), RUNS.to_markdown()))
    assert "Mean" not in str(TrainedRuns(RUNS.runs[:1]))


def test_descriptions_are_read_as_written(saved):
    folder = saved(RUNS.to_json())
    assert read_runs(folder) == RUNS
    assert find_run(folder, 1) == folder / "size-100/seed-1"


def test_a_picture_has_means_and_bars_of_standard_errors(saved):
    pytest.importorskip("matplotlib")
    drawing = draw_runs(saved(RUNS.to_json()))
    (axes,) = drawing.figure.axes
    lines = {bars.get_label(): bars.lines for bars in axes.containers}
    assert set(lines) == {"Exact match", "F1"}
    points, _, (bars,) = lines["F1"]
    np.testing.assert_allclose(points.get_xydata(), [[10, 25], [20, 37.5]])
    # A single run has no standard error.
    np.testing.assert_allclose(bars.get_segments(), [[[10, 25], [10, 25]], [[20, 25], [20, 50]]])
    assert axes.get_ylabel() == "test score (%)"
    assert drawing.summary == "3 runs with 2 sizes of the training data"
    gap = RUNS.to_json()
    del gap["runs"][0]["test"]["exact_match"]
    (axes,) = draw_runs(saved(gap)).figure.axes
    exact_match, _, _ = next(bars.lines for bars in axes.containers if bars.get_label() == "Exact match")
    assert np.isnan(exact_match.get_xydata()[:, 1]).tolist() == [True, False]
    held_out = TrainedRuns([*RUNS.runs, make(25, 0, 0.5)]).to_json()
    with pytest.warns(CloseReadWarning, match=r"run\.json: some runs are not complete\.$"):
        drawing = draw_runs(saved(held_out))
    assert drawing.figure.axes[0].get_ylabel() == "held-out score (%)"


SCORES = "(expected exact_match and f1, from 0 to 1)"
FORGED = [
    ({"folder": "../../elsewhere"}, "runs[0].folder: is '../../elsewhere' (expected 'seed-0')"),
    ({"size": 101}, "runs[0].size: is 101 (expected a number from 0 to 100)"),
    ({"seed": "0"}, "runs[0].seed: is '0' (expected a whole number from 0 to 18,446,744,073,709,551,615)"),
    ({"epoch": True}, "runs[0].epoch: is true (expected a whole number from 0 to 9,007,199,254,740,992)"),
    ({"seconds": -1}, "runs[0].seconds: is -1 (expected a number from 0 to 9,007,199,254,740,992)"),
    ({"test": {"f1": 2}}, f'runs[0].test: is {{"f1": 2}} {SCORES}'),
    ({"test": None}, f"runs[0].test: is null {SCORES}"),
]


@for_each(("change", "found"), FORGED)
def test_forged_runs(saved, change, found):
    value = RUNS.to_json()
    value["runs"][0] |= change
    folder = saved(value)
    for read in (read_runs, draw_runs, find_run):
        with pytest.raises(FormatError) as error:
            read(folder)
        assert str(error.value) == f"{folder / 'run.json'}: {found}"


@for_each(
    ("value", "found"),
    [
        ([], "does not describe training runs of mctaco"),
        ({"task": "tne"}, "does not describe training runs of mctaco"),
        ({"task": "mctaco", "format": 2}, "has format 2 (expected 1)"),
        (
            {"task": "mctaco", "format": 1, "runs": [{"folder": "seed-0"}], "state": ""},
            "does not describe complete runs",
        ),
        ({"task": "mctaco", "format": 1, "runs": 3, "state": ""}, "does not describe complete runs"),
        ({"task": "mctaco", "format": 1}, "9 problems:"),  # a single run needs nine more fields
        ({**RUNS.to_json(), "runs": []}, "has no complete run (expected one or more)"),
    ],
)
def test_files_that_describe_something_else(saved, value, found):
    folder = saved(value)
    with pytest.raises(FormatError) as error:
        draw_runs(folder)
    assert str(error.value).startswith(f"{folder / 'run.json'}: {found}")
