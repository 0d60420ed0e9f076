"""What a judge keeps and stores can be changed by others: it is computed again, not believed."""

import io
import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from shared.boards import NOON, make_store, read_tree, sample_board, score_here, send_answers

import closeread
from closeread.counts.report import Report
from closeread.leaderboard.canonical import write_json
from closeread.leaderboard.count_cache import CountCache
from closeread.leaderboard.judge import judge


@pytest.fixture
def board(tmp_path):
    """A judged store, with a function that judges again."""
    store = make_store(tmp_path / "board", sample_board())
    for right in (30, 70):
        send_answers(store, tmp_path, f"System {right}", right=right)

    def again():
        cache = CountCache(tmp_path / "counts")
        score = partial(score_here, n_workers=1)
        return judge(store, {}, n_workers=1, cache=cache, now=lambda: NOON, score=score)

    again()
    return store, again


def change_cache(path, change):
    with np.load(io.BytesIO(path.read_bytes())) as found:
        content = dict(found)
    change(content)
    np.savez(path, **content)


CHANGES = {
    "a value": lambda content: content.update(blocks=content["blocks"] * 2),
    "a bit": lambda content: content.update(blocks=np.nextafter(content["blocks"], np.inf)),
    "a block less": lambda content: content.update(blocks=content["blocks"][1:]),
    "blocks in another order": lambda content: content.update(blocks=content["blocks"][::-1]),
    "an older format": lambda content: content.pop("format") and None,
    "text": lambda content: content.update(blocks=np.array(["x"])),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_kept_counts_that_were_changed_are_counted_again(board, tmp_path, change):
    store, again = board
    before = read_tree(store.place)
    for path in (tmp_path / "counts").glob("*.npz"):
        change_cache(path, change)
    assert not again().errors
    assert read_tree(store.place) == before


def test_counts_of_another_system_are_not_taken(board, tmp_path):
    store, again = board
    before = read_tree(store.place)
    first, second, *_ = sorted((tmp_path / "counts").glob("*.npz"))
    first.write_bytes(second.read_bytes())
    assert not again().errors
    assert read_tree(store.place) == before


def test_a_record_whose_scores_are_not_those_of_its_counts_is_made_again(board):
    store, again = board
    before = read_tree(store.place)
    for path in Path(store.place).glob("results/*/*/*/*.json"):
        found = json.loads(path.read_bytes())
        found["report"]["scores"]["f1"]["value"] = 0.99
        path.write_bytes(write_json(found))
    assert not again().errors
    assert read_tree(store.place) == before


REPEATED = [{"document": "a", "clusters": [[[0, 0], [0, 0], [1, 1]]]}]


def test_reports_of_repeated_mentions_are_read_back():
    """CEAF of the reference scorer finds all three mentions in an entity of two: precision is 3/2."""
    response = [{"document": "a", "clusters": [[[0, 0], [1, 1]]]}]
    report = closeread.score("coref", response, gold=REPEATED, duplicates="reference")
    assert report.scores["ceafm/precision"].value == pytest.approx(3 / 2)
    assert Report.from_json(json.loads(json.dumps(report.to_json()))) == report
    compared = closeread.compare("coref", response, REPEATED, gold=REPEATED, duplicates="reference")
    assert type(compared).from_json(json.loads(json.dumps(compared.to_json()))).names == compared.names
