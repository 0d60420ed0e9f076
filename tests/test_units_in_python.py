"""Scores by unit as a data frame."""

import closeread

KEY = [
    {"document": "a", "n_tokens": 4, "clusters": [[[0, 0], [2, 2]]]},
    {"document": "b", "n_tokens": 4, "clusters": [[[0, 0], [2, 2]], [[1, 1], [3, 3]]]},
]


def test_scores_of_units_are_a_frame():
    response = [KEY[0], {**KEY[1], "clusters": [[[0, 0], [2, 2]]]}]
    report = closeread.score("coref", response, gold=KEY, ci=False)
    frame = report.units.to_frame()
    assert list(frame.index) == ["a", "b"]
    assert frame.index.name == "document"
    assert list(frame["muc/recall"]) == [1, 0.5]  # one of two links
    assert "<table" in report.units._repr_html_()
    assert float(report["conll"]) == float(report["conll/f1"])
