"""`compare --fail-if-worse` exits with code 3 if the main score of the last system is lower than that of the first."""

import pytest
from shared import json_lines

KEY = [
    {"document": f"{number}", "clusters": [[[0, 0], [1, 1], [2, 2]], [[4, 4], [5, 5]]]}
    for number in range(10)
]
WRONG = [{**row, "clusters": [[[0, 0], [1, 1]], [[2, 2], [4, 4], [5, 5]]]} for row in KEY]
# The CoNLL score of WRONG is the mean of 2/3, 11/15 and 4/5, so that it is 26.67 points worse.


@pytest.fixture
def files(here):
    for name in ("gold", "key", "again"):
        json_lines.write(f"{name}.jsonl", KEY)
    json_lines.write("wrong.jsonl", WRONG)
    json_lines.write("mixed.jsonl", [*WRONG[:1], *KEY[1:]])


@pytest.mark.parametrize(
    ("systems", "points", "code"),
    [
        (("key", "wrong"), [], 3),
        (("wrong", "key"), [], 0),
        (("key", "mixed"), [], 0),  # a single document differs
        (("key", "wrong"), ["26.66"], 3),
        (("key", "wrong"), ["26.67"], 0),
        (("wrong", "key"), ["0"], 0),
        (("key", "again", "wrong"), ["1"], 3),
        (("key", "wrong", "again"), ["1"], 0),  # only the last system counts
    ],
)
def test_code(files, run, systems, points, code):
    paths = [f"{system}.jsonl" for system in systems]
    found = run("compare", "coref", "gold.jsonl", *paths, "--fail-if-worse", *points)
    assert found.exit_code == code
    assert "Paired tests" in found.stdout
    loss = "Error: the CoNLL F1 of 'wrong' is 26.67 points lower than that of 'key' (p = "
    assert found.stderr.startswith(loss) == (code == 3)


def test_another_score_is_compared_if_the_main_one_is_not(files, run):
    line = ("compare", "coref", "gold.jsonl", "key.jsonl", "wrong.jsonl", "--scores", "ceafe/f1")
    found = run(*line, "--json", "--fail-if-worse", "19")
    assert found.exit_code == 3
    assert "the CEAFe F1 of 'wrong' is 20.00 points lower" in found.stderr


@pytest.mark.parametrize("points", ["key.jsonl", "101", "nan"])
def test_points_that_are_none(files, run, points):
    found = run("compare", "coref", "--fail-if-worse", points, "gold.jsonl", "key.jsonl")
    assert found.exit_code == 2
    assert f"'{points}' is not a number of points from 0 to 100" in found.stderr
