"""What a judge keeps and stores can be changed by others: it is computed again, not believed."""

import json

import pytest
from shared.boards import judge_here, make_store, send, write_rows

import closeread
from closeread.counts.report import Report
from closeread.leaderboard.declaration import make_board

REPEATED = [{"document": "a", "clusters": [[[0, 0], [0, 0], [1, 1]]]}]


@pytest.mark.filterwarnings("ignore:.*the .* repeats 1 mention:closeread.CloseReadWarning")
def test_reports_of_repeated_mentions_are_read_back():
    """CEAF of the reference scorer finds all three mentions in an entity of two: precision is 3/2."""
    response = [{"document": "a", "clusters": [[[0, 0], [1, 1]]]}]
    report = closeread.score("coref", response, gold=REPEATED, duplicates="reference")
    assert report.scores["ceafm/precision"].value == pytest.approx(3 / 2)
    assert Report.from_json(json.loads(json.dumps(report.to_dict()))) == report


def judge_repeated(tmp_path):
    """A judged board on gold of which a mention repeats in two documents, and on which CEAFm's precision is 3/2."""
    key = write_rows(tmp_path / "key.jsonl", [{**REPEATED[0], "document": name} for name in "ab"])
    once = [{"document": name, "clusters": [[[0, 0], [1, 1]]]} for name in "ab"]
    settings = {"options": {"duplicates": "reference"}, "headline": "ceafm/precision"}
    store = make_store(tmp_path / "board", make_board("coref", gold=key, **settings))
    send(store, write_rows(tmp_path / "response.jsonl", once), "Once")
    judged = judge_here(store, tmp_path / "counts", {"coref/test": key})
    assert not judged.errors
    return store


def test_a_board_on_which_scores_exceed_one_works(tmp_path, ran):
    store = judge_repeated(tmp_path)
    (board,) = store.read_index()["boards"]
    assert board["rows"][0]["scores"]["ceafm/precision"] == {
        "value": 1.5,
        "low": 1.5,
        "high": 1.5,
        "undefined": False,
    }
    assert [step["value"] for step in board["history"]] == [1.5]
    assert "150.00" in ran("leaderboard", "show", store.place)
