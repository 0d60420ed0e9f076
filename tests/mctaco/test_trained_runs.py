"""What came of training runs: means with standard errors by hand, tables, pictures, and forged descriptions."""

import json
from dataclasses import asdict

import numpy as np
import pytest

from closeread.exceptions import CloseReadWarning, FormatError
from closeread.tasks.mctaco.figures import draw_runs
from closeread.tasks.mctaco.models import TrainedRun, TrainedRuns, read_runs


def make(size, seed, f1, test=None):
    scores = {"exact_match": 0.25, "f1": f1}
    test = {} if test is None else {"exact_match": 0.5, "f1": test}
    return TrainedRun(f"size-{size}/seed-{seed}", size, seed, size // 5, 1, scores, test, 1.0)


RUNS = TrainedRuns(
    [make(50, 0, 0.5, 0.25), make(100, 0, 0.5, 0.25), make(100, 1, 0.75, 0.5)], is_complete=True
)


@pytest.fixture
def saved(tmp_path):
    """Save the description of runs, and return its folder."""

    def save(value):
        (tmp_path / "run.json").write_text(json.dumps(value), "utf-8")
        return tmp_path

    return save


def test_means_and_standard_errors():
    # By hand: the standard deviation of 1/2 and 3/4 is sqrt(2)/8, and the standard error is 1/8.
    found = RUNS.estimate(100, "validation", "f1")
    assert (found.mean, found.standard_error) == (0.625, pytest.approx(0.125))
    assert RUNS.estimate(50, "test", "f1").standard_error is None
    assert (
        TrainedRuns([make(100, 0, 0.5), make(100, 1, 0.5, 0.5)]).estimate(100, "test", "f1") is None
    )
    assert RUNS.to_dict()["summary"][1]["test"]["f1"] == {
        "mean": 0.375,
        "standard_error": pytest.approx(0.125),
    }


def test_tables():
    header, rows = RUNS._to_rows()
    assert header[:4] == ["size", "seed", "questions", "epoch"]
    assert rows[2] == [100, 1, 20, 1, 0.25, 0.75, 0.5, 0.5]
    assert RUNS.to_csv().splitlines()[3] == "100,1,20,1,0.25,0.75,0.5,0.5"
    assert "37.50 ± 12.50" in str(RUNS)
    assert "37.50 ± 12.50" in RUNS.to_markdown()
    assert r"37.50 $\pm$ 12.50" in RUNS.to_latex()
    assert "Mean" not in str(TrainedRuns(RUNS.runs[:1]))


def test_descriptions_are_read_as_written(saved):
    folder = saved(RUNS.to_dict())
    assert read_runs(folder) == RUNS


def test_a_picture_has_means_and_bars_of_standard_errors(saved):
    pytest.importorskip("matplotlib")
    drawing = draw_runs(saved(RUNS.to_dict()))
    (axes,) = drawing.figure.axes
    lines = {bars.get_label(): bars.lines for bars in axes.containers}
    assert set(lines) == {"Exact match", "F1"}
    points, _, (bars,) = lines["F1"]
    np.testing.assert_allclose(points.get_xydata(), [[10, 25], [20, 37.5]])
    # A single run has no standard error.
    np.testing.assert_allclose(bars.get_segments(), [[[10, 25], [10, 25]], [[20, 25], [20, 50]]])
    assert axes.get_ylabel() == "test score (%)"
    assert drawing.summary == "3 runs with 2 sizes of the training data"
    gap = RUNS.to_dict()
    del gap["runs"][0]["test"]["exact_match"]
    (axes,) = draw_runs(saved(gap)).figure.axes
    exact_match, _, _ = next(
        bars.lines for bars in axes.containers if bars.get_label() == "Exact match"
    )
    assert np.isnan(exact_match.get_xydata()[:, 1]).tolist() == [True, False]
    validation_only = TrainedRuns([*RUNS.runs, make(25, 0, 0.5)]).to_dict()
    with pytest.warns(CloseReadWarning, match=r"run\.json: some runs are not complete\.$"):
        drawing = draw_runs(saved(validation_only))
    assert drawing.figure.axes[0].get_ylabel() == "validation score (%)"


FORGED = [
    (
        {"folder": "../../elsewhere"},
        "runs[0].folder: '../../elsewhere' is not valid (expected the form ",
    ),
    ({"size": 101}, "runs[0].size: 101 is greater than the maximum of 100"),
    ({"seed": "0"}, "runs[0].seed: expected a whole number, found '0'"),
    ({"epoch": True}, "runs[0].epoch: expected a whole number, found true"),
    ({"seconds": -1}, "runs[0].seconds: -1 is less than the minimum of 0"),
    ({"test": {"f1": 2}}, "runs[0].test.f1: 2 is greater than the maximum of 1"),
    (
        {"test": None},
        'runs[0].test: expected an object such as {"exact_match": …, "f1": …}, found null',
    ),
]
OTHER = "does not describe training runs of mctaco"


@pytest.mark.parametrize(
    ("value", "found"),
    [
        *(
            ({**RUNS.to_dict(), "runs": [asdict(RUNS.runs[0]) | change]}, found)
            for change, found in FORGED
        ),
        ([], OTHER),
        ({"task": "tne"}, OTHER),
        ({"task": "mctaco", "format": 2}, "has format 2 (expected 1)"),
        (
            {"task": "mctaco", "format": 1, "runs": [], "state": ""},
            "state: '' is not one of 'training', 'complete'",
        ),
        ({"task": "mctaco", "format": 1}, "9 problems:"),  # a single run needs nine more fields
    ],
)
def test_files_that_describe_something_else(saved, value, found):
    folder = saved(value)
    for read in (read_runs, draw_runs):
        with pytest.raises(FormatError) as error:
            read(folder)
        assert str(error.value).startswith(f"{folder / 'run.json'}: {found}")


def test_no_complete_run(saved):
    with pytest.raises(
        FormatError, match=r"run\.json: has no complete run \(expected one or more\)$"
    ):
        draw_runs(saved(TrainedRuns([]).to_dict()))
