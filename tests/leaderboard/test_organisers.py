"""What organisers decide: when scores are shown, what is late, who is ranked, and what a team may still do."""

import json
from datetime import timedelta
from pathlib import Path

import pytest
from shared.boards import (
    NOON,
    make_store,
    run_judge,
    sample_answers,
    sample_board,
    send,
    send_answers,
    small_limits,
    write_rows,
)

from closeread.leaderboard.page import render_page
from closeread.leaderboard.store_files import store_path
from closeread.leaderboard.submission import request_bytes

BOARD = "mctaco-sample/test"
END = "2026-03-01T18:00:00Z"
LATER = NOON + timedelta(days=3)


def rows_of(store, part="rows"):
    (board,) = store.read_index()["boards"]
    return {row["system"]: row for row in board[part] if row["kind"] == "system"}


def entries_of(store):
    entries = store.read_results(store.read_leaderboard()).entries.values()
    return {entry.about.system: entry for entry in entries if entry.about}


# Scores that are shown later


def test_until_the_reveal_only_what_is_valid_is_told(tmp_path, ran):
    store = make_store(tmp_path / "board", sample_board(reveals="2026-03-03"))
    send_answers(store, tmp_path, "Good", right=90)
    write_rows(tmp_path / "short.jsonl", sample_answers(right=9)[:50])
    judged = run_judge(store, tmp_path)
    (told,) = judged.accepted
    assert told.startswith("Good (")
    assert told.endswith("): valid")
    files = [path for path in Path(store.place).rglob("*") if path.is_file()]
    # one of each baseline, and none of the submission
    assert sum("results" in path.parts for path in files) == 3
    assert not rows_of(store)
    (board,) = store.read_index()["boards"]
    assert (board["accepted"], board["history"], board["superseded"]) == (1, [], [])
    page = render_page(store.read_index())
    assert "Scores are shown on 2026-03-03 00:00 UTC." in page
    assert "Good" not in page
    assert "Accepted: 1." in ran("leaderboard", "show", store.place)
    run_judge(store, tmp_path, now=LATER)
    assert list(rows_of(store)) == ["Good"]
    assert rows_of(store)["Good"]["submitted"] == "2026-03-01T12:00:00Z"
    (entry,) = entries_of(store).values()
    assert entry.status == "accepted"


def test_what_is_invalid_is_told_before_the_reveal(tmp_path):
    store = make_store(tmp_path / "board", sample_board(reveals="2026-03-03"))
    path = write_rows(tmp_path / "short.jsonl", sample_answers(right=9)[:50])
    send(store, path, "Short")
    (told,) = run_judge(store, tmp_path).refused
    assert "have no prediction" in told


# The end


def test_late_submissions_are_scored_and_not_ranked(tmp_path):
    store = make_store(tmp_path / "board", sample_board(closes=END, late="flag"))
    send_answers(store, tmp_path, "In time", right=50)
    send_answers(store, tmp_path, "Late", right=90, at=LATER)
    assert len(run_judge(store, tmp_path, now=LATER).accepted) == 2
    assert rows_of(store)["In time"]["rank"] is not None
    late = rows_of(store, "superseded")["Late"]
    assert late["rank"] is None
    assert {"flag": "late"} in late["flags"]
    assert late["scores"]["f1"]["value"] > rows_of(store)["In time"]["scores"]["f1"]["value"]
    (board,) = store.read_index()["boards"]
    assert [point["id"] for point in board["history"]] == [rows_of(store)["In time"]["id"]]


def test_the_end_is_extended_for_one_team(tmp_path, ran):
    store = make_store(tmp_path / "board", sample_board(closes=END))
    ran("leaderboard", "extend", store.place, "Ann", "--until", "2026-03-05")
    for author in ("Ann", "Bob"):
        send_answers(store, tmp_path, author, right=50, at=LATER, author=author)
    judged = run_judge(store, tmp_path, now=LATER)
    assert [told.split()[0] for told in judged.accepted] == ["Ann"]
    assert "closed on 2026-03-01 18:00 UTC" in judged.refused[0]
    assert rows_of(store)["Ann"]["rank"] is not None


def test_an_author_is_disqualified_and_ranked_again(tmp_path, ran):
    store = make_store(tmp_path / "board", sample_board())
    for author in ("Ann", "Bob"):
        send_answers(store, tmp_path, author, right=50 + len(author), author=author)
    send_answers(store, tmp_path, "Second", right=60, author="Bob")
    run_judge(store, tmp_path)
    reason = "trained on <the> test set"
    ran("leaderboard", "disqualify", store.place, "Bob", "--reason", reason)
    run_judge(store, tmp_path)
    assert list(rows_of(store)) == ["Ann"]
    for row in rows_of(store, "superseded").values():
        assert {"flag": "disqualified", "reason": reason} in row["flags"]
        assert row["rank"] is None
    page = render_page(store.read_index())
    assert "the organisers have disqualified it" in page
    assert reason not in page  # it is escaped
    ran("leaderboard", "disqualify", store.place, "Bob", "--lift")
    second = entries_of(store)["Second"].submission
    ran("leaderboard", "disqualify", store.place, second[:8], "--reason", "by mistake")
    run_judge(store, tmp_path)
    assert sorted(rows_of(store)) == ["Ann", "Bob"]
    assert list(rows_of(store, "superseded")) == ["Second"]


# Limits


def test_the_limit_in_all_holds_over_days(tmp_path):
    store = make_store(tmp_path / "board", sample_board(limits=small_limits(per_day=2, total=3)))
    for day in range(3):
        for right in (0, 1):
            at = NOON + timedelta(days=day, seconds=right)
            send_answers(store, tmp_path, f"{day}-{right}", right=10 * day + right, at=at)
    judged = run_judge(store, tmp_path, now=LATER)
    assert len(judged.accepted) == 3
    assert all("the limit of 3 submissions of an author is reached" in t for t in judged.refused)
    assert len(judged.refused) == 3
    # what another author sends is judged
    send_answers(store, tmp_path, "Other", right=99, author="Bob", at=LATER)
    assert len(run_judge(store, tmp_path, now=LATER).accepted) == 1


@pytest.mark.parametrize("days", [0, 40])
def test_the_daily_limit_is_that_of_the_day_of_sending_whenever_it_is_judged(tmp_path, days):
    """Nine submissions on the last two days, two a day: none moves to the days after the end."""
    board = sample_board(limits=small_limits(per_day=2), closes="2026-03-02")
    store = make_store(tmp_path / "board", board)
    for right in range(9):
        at = NOON + timedelta(days=right % 2, minutes=right)
        send_answers(store, tmp_path, f"S{right}", right=right, at=at)
    judged = run_judge(store, tmp_path, now=NOON + timedelta(days=days))
    assert (len(judged.accepted), len(judged.refused)) == (4, 5)
    reason = "the limit of 2 submissions of an author on a day (UTC) is reached"
    assert all(reason in sentence for sentence in judged.refused)
    assert sorted(rows_of(store)) == ["S0", "S1", "S2", "S3"]
    assert not any(run_judge(store, tmp_path, now=NOON + timedelta(days=41)).to_dict().values())


# What an author may do


def test_a_submission_that_waits_is_withdrawn_unjudged_and_costs_nothing(tmp_path, ran):
    store = make_store(tmp_path / "board", sample_board(limits=small_limits(per_day=1)))
    name = send_answers(store, tmp_path, "Mistaken", right=10, author="Ann")
    send_answers(store, tmp_path, "Right", right=90, author="Ann", at=NOON + timedelta(minutes=1))
    ran("leaderboard", "withdraw", store.place, name[:12], "--author", "Ann")
    judged = run_judge(store, tmp_path)
    assert (len(judged.accepted), len(judged.withdrawn)) == (1, 1)
    assert list(rows_of(store)) == ["Right"]
    assert not list(Path(store.place).glob(f"results/*/*/*/{name}.json"))
    assert not any(run_judge(store, tmp_path).to_dict().values())


def test_nobody_else_withdraws_what_waits(tmp_path, run):
    store = make_store(tmp_path / "board", sample_board())
    name = send_answers(store, tmp_path, "Mine", right=10, author="Ann")
    done = run("leaderboard", "withdraw", store.place, name, "--author", "Bob")
    assert "its author alone decides about it" in done.stderr
    signature = {"author": "Bob", "submitted": END}
    by_hand = {store_path("withdrawals", BOARD, name): request_bytes(name, signature)}
    store.send(by_hand, "", "")
    judged = run_judge(store, tmp_path)
    assert (len(judged.accepted), len(judged.refused)) == (1, 1)
    assert list(rows_of(store)) == ["Mine"]


def test_an_author_chooses_what_is_ranked(tmp_path, ran, run):
    store = make_store(tmp_path / "board", sample_board(counting="chosen"))
    names = {}
    for number, right in enumerate((90, 50, 70)):
        at = NOON + timedelta(minutes=number)
        names[right] = send_answers(store, tmp_path, f"S{right}", right=right, author="Ann", at=at)
    run_judge(store, tmp_path)
    assert list(rows_of(store)) == ["S70"]  # the last one, as nothing is chosen
    for right in (50, 90):
        ran("leaderboard", "choose", store.place, names[right], "--author", "Ann")
        assert len(run_judge(store, tmp_path).chosen) == 1
        assert not run_judge(store, tmp_path).chosen
    assert sorted(rows_of(store, "superseded")) in (["S50", "S70"], ["S70", "S90"])
    done = run("leaderboard", "choose", store.place, names[70], "--author", "Bob")
    assert "its author alone decides about it" in done.stderr


def test_the_later_choice_counts_and_a_forged_one_does_not(tmp_path):
    store = make_store(tmp_path / "board", sample_board(counting="chosen"))
    names = [send_answers(store, tmp_path, f"S{i}", right=i, author="Ann") for i in (10, 20)]
    run_judge(store, tmp_path)

    def choose(name, author, minute):
        signature = {"author": author, "submitted": f"2026-03-01T13:{minute:02}:00Z"}
        store.send({store_path("choices", BOARD, name): request_bytes(name, signature)}, "", "")
        return run_judge(store, tmp_path)

    choose(names[1], "Ann", 1)
    choose(names[0], "Ann", 2)
    assert list(rows_of(store)) == ["S10"]
    assert "can be chosen only by its author" in choose(names[1], "Eve", 3).refused[0]
    assert list(rows_of(store)) == ["S10"]
    choose(names[1], "Ann", 4)
    assert list(rows_of(store)) == ["S20"]


def test_a_choice_that_is_made_again_counts_again(tmp_path, ran):
    store = make_store(tmp_path / "board", sample_board(counting="chosen"))
    names = [send_answers(store, tmp_path, f"S{i}", right=i, author="Ann") for i in (10, 20)]
    run_judge(store, tmp_path)
    for minute, name in enumerate(names):
        signature = {"author": "Ann", "submitted": f"2026-03-01T13:{minute:02}:00Z"}
        store.send({store_path("choices", BOARD, name): request_bytes(name, signature)}, "", "")
    ran("leaderboard", "choose", store.place, names[0], "--author", "Ann")
    run_judge(store, tmp_path)
    assert list(rows_of(store)) == ["S10"]


def test_boards_without_choices_take_none(tmp_path, run):
    store = make_store(tmp_path / "board", sample_board())
    name = send_answers(store, tmp_path, "Mine", right=10, author="Ann")
    done = run("leaderboard", "choose", store.place, name, "--author", "Ann")
    assert f"authors don't choose what {BOARD} ranks" in done.stderr


# Teams, phases and settings


def test_the_phases_of_a_task_are_on_one_page(tmp_path, ran):
    for split, closes in (("dev", "2026-02-01"), ("test", "2099-02-01")):
        gold = write_rows(tmp_path / f"{split}.jsonl", sample_gold())
        ran(
            *("leaderboard", "init", "task", "--corpus", "mctaco", "--gold", gold),
            *("--split", split, "--closes", closes, "--title", "Two phases"),
        )
    page = render_page(make_judged_index(tmp_path))
    for text in ("Closes on 2026-02-01 23:59:59 UTC.", "Closes on 2099-02-01 23:59:59 UTC."):
        assert text in page
    assert page.count('class="view part"') == 2


def sample_gold():
    from closeread.corpus.gold import read_gold
    from closeread.corpus.names import load_corpus

    return [dict(record) for record in read_gold(load_corpus("mctaco"), "sample").records]


def make_judged_index(tmp_path):
    from closeread.leaderboard.store import FolderStore

    store = FolderStore(tmp_path / "task")
    golds = {f"mctaco/{split}": tmp_path / f"{split}.jsonl" for split in ("dev", "test")}
    run_judge(store, tmp_path, golds)
    return store.read_index()


def test_replacing_a_board_keeps_what_is_not_given(tmp_path, ran):
    init = ["leaderboard", "init", "board", "--corpus", "mctaco", "--config", "sample"]
    ran(*init, "--closes", "2027-01-01", "--counting", "last", "--per-day", 3, "--headline", "f1")
    ran("leaderboard", "extend", "board", "Ann", "--until", "2027-02-01")
    said = ran(*init, "--limit", 9, "--opens", "2026-01-01", "--replace")
    assert f"before, total of {BOARD} is null, not 9" in said
    assert f"before, opens of {BOARD} is null, not '2026-01-01T00:00:00Z'" in said
    (board,) = json.loads(Path("board", "leaderboard.json").read_text())["boards"]
    assert (board["closes"], board["counting"]) == ("2027-01-01T23:59:59Z", "last")
    assert (board["limits"]["per_day"], board["limits"]["total"]) == (3, 9)
    assert board["extended"] == {"Ann": "2027-02-01T23:59:59Z"}
    ran(*init, "--closes", "none", "--replace")
    (board,) = json.loads(Path("board", "leaderboard.json").read_text())["boards"]
    assert (board["opens"], board["closes"]) == ("2026-01-01T00:00:00Z", None)


@pytest.mark.parametrize("option", ["--opens", "--closes", "--reveal"])
def test_times_are_times(tmp_path, run, option):
    init = ["leaderboard", "init", tmp_path / "board", "--corpus", "mctaco", "--config", "sample"]
    assert "'soon' is not a time" in run(*init, option, "soon").stderr


def test_what_waits_is_listed_with_its_name(tmp_path, ran):
    store = make_store(tmp_path / "board", sample_board())
    send_answers(store, tmp_path, "My system", right=10)
    (line,) = [
        line
        for line in ran("leaderboard", "status", store.place).splitlines()
        if "not judged yet" in line
    ]
    assert "My system" in line


def test_gold_of_ones_own_has_no_config(tmp_path, run):
    gold = write_rows(tmp_path / "gold.jsonl", sample_gold())
    init = ["leaderboard", "init", tmp_path / "board", "--corpus", "mctaco", "--gold", gold]
    done = run(*init, "--config", "de")
    assert "--config is for the gold of a corpus; --split names a board" in done.stderr


def test_the_answer_names_the_place_by_score(tmp_path):
    store = make_store(tmp_path / "board", sample_board())
    told = {}
    store.answer = lambda arrival, text: told.setdefault(arrival.submission, text)
    names = {right: send_answers(store, tmp_path, f"S{right}", right=right) for right in (80, 81)}
    run_judge(store, tmp_path)
    assert "with 95% confidence; number 2 of 5 by score." in told[names[80]]
    assert "with 95% confidence; number 1 of 5 by score." in told[names[81]]
