"""Judging: what has arrived is scored, recorded and ranked; the rest is refused with all its problems."""

import dataclasses
import json
import subprocess
import sys
from datetime import timedelta
from itertools import combinations
from pathlib import Path

import pytest
from msgspec.structs import replace
from shared.boards import (
    NOON,
    make_store,
    read_tree,
    run_judge,
    sample_answers,
    sample_board,
    send,
    send_answers,
    small_limits,
    write_rows,
)

import closeread
from closeread.leaderboard.declaration import make_board
from closeread.leaderboard.names import write_time
from closeread.leaderboard.page import render_page
from closeread.leaderboard.results import record_id
from closeread.leaderboard.store_files import store_path
from closeread.leaderboard.submission import make_submission


@pytest.fixture
def store(tmp_path):
    return make_store(tmp_path / "board", sample_board())


def rows_of(store, kind="system"):
    (board,) = store.read_index()["boards"]
    return [row for row in board["rows"] if row["kind"] == kind]


@pytest.mark.usefixtures("workers")
def test_scores_are_those_of_closeread_score(store, tmp_path):
    send_answers(store, tmp_path, "Half", right=50)
    judged = run_judge(store, tmp_path)
    assert len(judged.accepted) == 1
    (row,) = rows_of(store)
    report = closeread.score("mctaco", tmp_path / "50.jsonl", config="sample", by="category")
    assert row["scores"] == report.to_dict()["scores"]
    assert row["slices"] == report.to_dict()["slices"]
    assert row["signature"] == report.provenance.signature


IMPORTS = """
import sys
import msgspec
from closeread.leaderboard.declaration import make_board
from closeread.leaderboard.names import write_time
from closeread.leaderboard.scoring import Job, _prepare
board = make_board("mctaco", config="sample")
answer, known = _prepare(board, None), set(sys.modules)
good = "".join(f'{{"id": "{name}", "label": "yes"}}\\n' for name in sys.argv[1:]).encode()
for data in (good, good.replace(b"yes", b"maybe"), b"{", b""):
    outcome = msgspec.msgpack.decode(answer(Job("x", "predictions.jsonl", data)))
    print(outcome["record"] is not None, bool(outcome["problems"]), set(sys.modules) - known)
"""


def test_a_child_imports_nothing_anew():
    """Neither for what it scores nor for what it refuses."""
    ids = [row["id"] for row in sample_answers(right=1)]
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS, *ids], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["True False set()", *["False True set()"] * 3]


@pytest.mark.usefixtures("workers")
def test_better_systems_come_first_and_baselines_are_ranked_with_them(store, tmp_path):
    ids = {
        right: send_answers(store, tmp_path, f"System {right}", right=right)
        for right in (20, 103, 60)
    }
    run_judge(store, tmp_path)
    assert [row["id"] for row in rows_of(store)] == [ids[103], ids[60], ids[20]]
    assert {row["system"] for row in rows_of(store, "baseline")} == {
        "always-positive",
        "always-negative",
        "random",
    }
    assert rows_of(store)[0]["rank"]["low"] == 1
    assert rows_of(store)[0]["rank"]["best"]


def test_pairs_are_compared_as_by_the_command(store, tmp_path):
    ids = [send_answers(store, tmp_path, f"System {right}", right=right) for right in (60, 20)]
    run_judge(store, tmp_path)
    pairs = store.read_index()["boards"][0]["pairs"]
    number = list(combinations(pairs["ids"], 2)).index(tuple(ids))  # the better one first
    compared = closeread.compare(
        "mctaco", tmp_path / "20.jsonl", tmp_path / "60.jsonl", config="sample"
    )
    expected = compared.to_dict()["differences"]["f1"]
    for name, end in (("low", "low"), ("high", "high"), ("p", "p_randomization")):
        assert pairs[name][number] == round(expected[end], 6)


def test_a_board_says_which_differences_its_test_set_can_show(tmp_path, run):
    store = make_store(tmp_path / "board", replace(sample_board(), baselines=()))
    for right in (20, 60, 61):
        send_answers(store, tmp_path, f"System {right}", right=right)
    run_judge(store, tmp_path)
    files = [tmp_path / f"{right}.jsonl" for right in (61, 60, 20)]
    pairs = [
        closeread.compare("mctaco", a, b, config="sample", power=True)["f1"]
        for a, b in combinations(files, 2)
    ]
    expected = sorted(pair.detectable for pair in pairs)[1]
    assert store.read_index()["boards"][0]["pairs"]["detectable"] == round(expected, 6)
    said = " ".join(run("leaderboard", "show", store.place).stdout.split())
    assert f"too small to show differences in F1 below {100 * expected:.1f} points" in said
    run("leaderboard", "build", store.place, "-o", tmp_path / "page.html")
    assert f"below {100 * expected:.1f} points" in (tmp_path / "page.html").read_text("utf-8")


def test_a_baseline_has_the_scores_of_its_predictions(store, tmp_path, ran):
    run_judge(store, tmp_path)
    ran("baseline", "mctaco", "always-positive", "--config", "sample", "-o", "yes.jsonl")
    scores = json.loads(ran("score", "mctaco", "yes.jsonl", "--config", "sample", "--json"))[
        "scores"
    ]
    (row,) = [row for row in rows_of(store, "baseline") if row["system"] == "always-positive"]
    assert row["scores"] == scores


def test_a_baseline_that_can_not_be_scored_is_left_out_and_the_organiser_is_told(tmp_path, run):
    board = replace(sample_board(), baselines=("always-positive", "tossed-stone"))
    store = make_store(tmp_path / "board", board)
    judged = run_judge(store, tmp_path)
    assert [row["system"] for row in rows_of(store, "baseline")] == ["always-positive"]
    (notice,) = judged.notices
    assert notice.startswith(
        "Baseline tossed-stone of mctaco-sample/test is left out: no such baseline"
    )
    done = run(
        "leaderboard", "judge", store.place, "--workers", "1", "--cache", tmp_path / "counts"
    )
    assert done.exit_code == 0
    assert f"note: {notice}" in done.stderr


def test_the_command_of_a_row_reproduces_it_in_the_folder(store, tmp_path, run, monkeypatch):
    send_answers(store, tmp_path, "Half", right=50)
    run_judge(store, tmp_path)
    (row,) = rows_of(store)
    command = row["reproduce"].split()
    assert command[0] == "closeread"
    monkeypatch.chdir(store.place)
    done = run(*command[1:], "--json")
    assert json.loads(done.stdout)["scores"] == row["scores"]


def test_another_order_of_judging_gives_the_same_bytes(tmp_path):
    trees = []
    for order in ((10, 60, 90), (90, 10, 60)):
        folder = tmp_path / "-".join(map(str, order))
        folder.mkdir()
        store = make_store(folder / "board", sample_board())
        for right in order:
            send_answers(
                store, folder, f"System {right}", right=right, at=NOON + timedelta(minutes=right)
            )
            run_judge(store, folder)
        trees.append(read_tree(store.place))
    assert trees[0] == trees[1]


@pytest.mark.parametrize(
    ("rows", "problems"),
    [
        ([{"id": "nowhere", "label": "yes"}], ["is not in the gold", "have no prediction"]),
        ([{"id": "test-00000", "label": "perhaps"}], ["label", "have no prediction"]),
    ],
)
def test_invalid_predictions_are_refused_with_all_their_problems(store, tmp_path, rows, problems):
    path = write_rows(tmp_path / "wrong.jsonl", rows)
    name = send(store, path, "Wrong")
    judged = run_judge(store, tmp_path)
    assert len(judged.refused) == 1
    entry = store.read_results(store.read_leaderboard()).entries[name]
    assert entry.status == "refused"
    for problem in problems:
        assert any(problem in found for found in entry.problems)
    assert not rows_of(store)
    assert store.read_index()["boards"][0]["refused"] == 1


def test_what_is_over_the_daily_limit_is_refused_and_can_be_sent_on_another_day(tmp_path):
    store = make_store(tmp_path / "board", sample_board(limits=small_limits(per_day=2)))
    counts = []
    for days in range(3):
        for right in range(5):
            path = write_rows(tmp_path / f"{right}.jsonl", sample_answers(right=right))
            about = make_submission(
                store.read_leaderboard().find(None),
                path,
                system=f"System {right}",
                author="Ann",
                submitted=write_time(NOON + timedelta(days=days, minutes=right)),
            )
            sent = store.find_sent(about.about)
            store.send(dataclasses.replace(about, about=sent).files, "", "")
        judged = run_judge(store, tmp_path, now=NOON + timedelta(days=days))
        counts.append((len(judged.accepted), len(judged.refused)))
    # What was accepted is found again, and not sent twice.
    assert counts == [(2, 3), (2, 1), (1, 0)]
    assert sorted(row["system"] for row in rows_of(store)) == [f"System {i}" for i in range(5)]


def test_duplicates_and_copies_of_the_gold_are_flagged(store, tmp_path):
    first = send_answers(store, tmp_path, "First", right=103, code="https://example.org/code")
    path = tmp_path / "103.jsonl"
    path.write_text("".join(reversed(path.read_text("utf-8").splitlines(keepends=True))), "utf-8")
    second = send(store, path, "Second", at=NOON + timedelta(hours=1))
    run_judge(store, tmp_path)
    flags = {row["id"]: row["flags"] for row in rows_of(store)}
    assert flags[first] == [{"flag": "perfect"}]
    assert flags[second] == [
        {"flag": "duplicate", "of": first},
        {"flag": "perfect"},
        {"flag": "unverified"},
    ]


def test_copies_share_a_rank_and_change_no_other(store, tmp_path):
    for right in (20, 103):
        send_answers(store, tmp_path, f"System {right}", right=right)
    run_judge(store, tmp_path)
    before = {row["system"]: row["rank"] for row in rows_of(store)}
    for number in range(3):
        send_answers(
            store, tmp_path, f"Copy {number}", right=103, at=NOON + timedelta(hours=1 + number)
        )
    run_judge(store, tmp_path)
    after = {row["system"]: row["rank"] for row in rows_of(store)}
    assert {name: after[name] for name in before} == before
    assert all(after[f"Copy {number}"] == before["System 103"] for number in range(3))


def test_an_author_withdraws_a_submission(store, tmp_path, run):
    name = send_answers(store, tmp_path, "Half", right=50)
    run_judge(store, tmp_path)
    assert run("leaderboard", "withdraw", store.place, name[:10]).exit_code == 0
    judged = run_judge(store, tmp_path)
    assert len(judged.withdrawn) == 1
    assert not rows_of(store)
    assert store.read_index()["boards"][0]["withdrawn"] == 1
    assert not run_judge(store, tmp_path).withdrawn


@pytest.mark.parametrize("counting", ["best", "last", "all"])
def test_which_submissions_of_an_author_count(tmp_path, counting):
    store = make_store(tmp_path / "board", sample_board(counting=counting))
    for hour, right in enumerate((50, 100, 20)):
        send_answers(
            store, tmp_path, f"System {right}", right=right, at=NOON + timedelta(hours=hour)
        )
    run_judge(store, tmp_path)
    expected = {
        "best": ["System 100"],
        "last": ["System 20"],
        "all": ["System 100", "System 50", "System 20"],
    }
    assert [row["system"] for row in rows_of(store)] == expected[counting]


def test_history_is_each_rise_of_the_best_score(store, tmp_path):
    for hour, right in enumerate((30, 20, 90, 60, 103)):
        send_answers(
            store, tmp_path, f"System {right}", right=right, at=NOON + timedelta(hours=hour)
        )
    run_judge(store, tmp_path)
    (board,) = store.read_index()["boards"]
    names = {row["id"]: row["system"] for row in board["rows"]}
    assert [names[one["id"]] for one in board["history"]] == [
        "System 30",
        "System 90",
        "System 103",
    ]
    assert [one["value"] for one in board["history"]] == sorted(
        one["value"] for one in board["history"]
    )


def test_records_under_another_signature_are_set_apart(store, tmp_path):
    name = send_answers(store, tmp_path, "Half", right=50)
    run_judge(store, tmp_path)
    before = store.read_leaderboard().find(None)
    store.write_leaderboard(
        store.read_leaderboard().with_board(sample_board(options={"missing": "empty"}))
    )
    run_judge(store, tmp_path)
    (board,) = store.read_index()["boards"]
    assert [row["signature"] for row in board["rows"] if row["kind"] == "system"] == [
        board["signature"]
    ]
    (other,) = board["others"]
    assert other["signature"] == before.signature
    assert [row["id"] for row in other["rows"]] == [name]
    assert (
        Path(store.place) / store_path("results", before.name, record_id(name, before.signature))
    ).is_file()


def test_a_board_of_an_invented_sample_says_so(store, tmp_path, ran):
    run_judge(store, tmp_path)
    assert ran("leaderboard", "show", store.place).startswith("McTaco sample, test\n")
    page = render_page(store.read_index())
    assert "<dt>Gold</dt><dd>McTaco sample, test (invented texts); public; 25 questions" in page
    assert "McTaco, test" not in page
    assert "<dt>Licence</dt>" not in page  # that of McTaco is not the sample's


def test_a_board_of_the_corpus_itself_does_not_name_its_config(corpora):
    assert make_board("mctaco").title == "McTaco, test"
