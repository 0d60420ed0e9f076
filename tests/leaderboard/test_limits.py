"""Limits of authors: what a submitter can set (times, names, withdrawals, refusals) does not get around them."""

import os
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from shared.boards import NOON, make_store, run_judge, sample_answers, sample_board, send, send_answers, small_limits
from shared.boards import write_rows as write

from closeread.counts.procedure import GoldSpec
from closeread.leaderboard.declaration import digest, make_board, store_path
from closeread.leaderboard.judge import REFUSALS
from closeread.leaderboard.store import FolderStore
from closeread.leaderboard.submission import withdrawal_bytes


def make_limited(folder, per_day=2, **more):
    return make_store(folder / "board", sample_board(limits=small_limits(per_day=per_day), **more))


def entries_of(store):
    return list(store.read_results(store.read_leaderboard()).entries.values())


@pytest.mark.parametrize("at", [0, 4e9])
def test_times_that_the_submitter_sets_do_not_matter(tmp_path, at):
    make_limited(tmp_path)
    store = FolderStore(tmp_path / "board")  # as for everybody: no times of a test's own
    now = datetime.now(UTC)
    for right in range(4):
        when = datetime.fromtimestamp(at + 86400 * right, UTC)  # another day each
        send_answers(store, tmp_path, f"System {right}", right=right, at=when)
    judged = run_judge(store, tmp_path, now=now + timedelta(minutes=1))
    assert (len(judged.accepted), len(judged.waiting)) == (2, 2)
    assert all(abs((datetime.fromisoformat(e.submitted) - now).total_seconds()) < 600 for e in entries_of(store))


def test_a_clock_that_is_ahead_does_not_give_more(tmp_path):
    store = make_limited(tmp_path)
    for right in range(4):
        send_answers(store, tmp_path, f"System {right}", right=right, at=NOON + timedelta(days=right))
    judged = run_judge(store, tmp_path, now=NOON)
    assert (len(judged.accepted), len(judged.waiting)) == (2, 2)
    assert len(run_judge(store, tmp_path, now=NOON + timedelta(days=1)).accepted) == 2


def test_withdrawing_does_not_give_more(tmp_path):
    store = make_limited(tmp_path)
    for right in (1, 2):
        name = send_answers(store, tmp_path, f"System {right}", right=right)
        run_judge(store, tmp_path)
        store.send({store_path("withdrawals", "mctaco-sample/test", name): withdrawal_bytes(name)}, "", "")
        assert len(run_judge(store, tmp_path).withdrawn) == 1
    send_answers(store, tmp_path, "Third", right=3)
    assert len(run_judge(store, tmp_path).waiting) == 1


def test_the_limit_is_of_one_board_in_one_run_and_in_several(tmp_path):
    """Two submissions a day to each of two boards."""
    for runs in (1, 2):
        boards = [sample_board(limits=small_limits(per_day=2)), sample_board("tne", limits=small_limits(per_day=2))]
        store = make_store(tmp_path / f"board{runs}", *boards)
        accepted = 0
        for number in range(2):
            send_answers(store, tmp_path, f"System {number}", right=number, board="mctaco-sample/test")
            empty = [{"id": name, "relations": []} for name in ("s1", "s2", "s3", "s4")]
            send(store, write(tmp_path / "tne.jsonl", empty), f"Empty {number}", board="tne-sample/test")
            accepted += len(run_judge(store, tmp_path).accepted) if runs == 2 else 0
        assert accepted + len(run_judge(store, tmp_path).accepted) == 4


def test_junk_of_one_author_waits_and_keeps_nobody_else(tmp_path):
    store = make_limited(tmp_path)
    folder = Path(store.place) / "submissions/mctaco-sample/test"
    for number in range(200):
        data = f"junk {number}".encode()
        (path := folder / digest(data)[:2] / f"{digest(data)}.json").parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        os.utime(path, (NOON.timestamp() - 60, NOON.timestamp() - 60))
        if os.geteuid() == 0:
            os.chown(path, 12345, -1)
    send_answers(store, tmp_path, "Late", right=50)
    judged = run_judge(store, tmp_path)
    if os.geteuid() == 0:
        assert len(judged.accepted) == 1
    assert len(judged.refused) == REFUSALS
    assert run_judge(store, tmp_path).refused == ()
    assert len(run_judge(store, tmp_path, now=NOON + timedelta(days=1)).refused) == REFUSALS


def test_refusals_on_private_gold_count_as_scores_do(tmp_path):
    """Each says whether predictions fit the gold."""
    key = "#begin document (a); part 000\na 0 0 Ada (1)\na 0 1 sat -\na 0 2 she (1)\n\n#end document\n"
    (tmp_path / "key.conll").write_text(key, "utf-8")
    counts = Counter()
    for private in (True, False):
        board = make_board(
            "coref", GoldSpec(gold=tmp_path / "key.conll"), private=private, limits=small_limits(per_day=2)
        )
        store = make_store(tmp_path / str(private), board)
        for word in ("Eva", "Mia", "Ida"):
            (tmp_path / f"{word}.conll").write_text(key.replace("Ada", word), "utf-8")
            send(store, tmp_path / f"{word}.conll", word)
        counts[private] = len(run_judge(store, tmp_path, {"coref/test": tmp_path / "key.conll"}).refused)
    assert counts == {True: 2, False: 3}


def test_another_file_of_an_author_is_no_withdrawal(tmp_path):
    """Whoever may create files in the store may link a file of somebody else's, who remains its owner."""
    store = make_limited(tmp_path)
    name = send(store, write(tmp_path / "p.jsonl", sample_answers(right=40)), "Mine")
    run_judge(store, tmp_path)
    path = Path(store.place) / store_path("withdrawals", "mctaco-sample/test", name)
    path.parent.mkdir(parents=True)
    path.hardlink_to(next(Path(store.place).glob(f"submissions/*/*/*/{name}.json")))
    judged = run_judge(store, tmp_path)
    assert not judged.withdrawn
    assert "is not a withdrawal" in judged.refused[0]


def test_the_highest_limits_take_no_more(tmp_path):
    """Nothing of such a size is reserved, and the system is not asked to wait for as long."""
    highest = small_limits(**dict.fromkeys(("bytes", "rows", "per_day", "seconds", "memory"), 2**53 - 1))
    store = make_store(tmp_path / "board", sample_board(limits=highest))
    send_answers(store, tmp_path, "System", right=3)
    assert len(run_judge(store, tmp_path).accepted) == 1
