"""A judge on the Hub that is killed before or after each of its writes, loses any answer, or is not alone."""

import pytest
from shared.fake_hub import CUT, WRITES, Fault, comments, fake_hub
from shared.hub_boards import DATASET, create_board, judge, make_files, read_index

N_WRITES = 5  # the results; two answers, two closed


class KilledError(BaseException):
    """The end of the process."""


@pytest.fixture
def hub(tmp_path):
    """A fake Hub with a leaderboard and two submissions, one of them invalid."""
    with fake_hub(tmp_path / "hub") as hub:
        for organizer in ("olga", "otto"):
            hub.add_user(organizer, orgs=["lab"])
        create_board(hub)
        good, bad = make_files(60), make_files(70, system="")
        for author, files in (("ann", good), ("bob", bad)):
            hub.add_user(author)
            hub.open_pull_request(DATASET, "dataset", author, files)
        yield hub


def check_that_all_is_judged(hub):
    """The valid submission is on the board; both are answered and closed; nothing is left to do."""
    titles = [commit.title for commit in hub.commits(DATASET)]
    assert titles.count("Add results") == 1
    accepted, refused = hub.discussions(DATASET)
    assert "scored." in comments(accepted)[1][1]
    assert "system" in comments(refused)[1][1]
    assert [accepted.status, refused.status] == ["closed", "closed"]
    rows = read_index(hub)["rows"]
    assert [row["author"] for row in rows if row["kind"] == "system"] == ["ann"]
    assert not any(judge(hub).values())


def check_that_all_is_done_once(hub):
    check_that_all_is_judged(hub)
    for request in hub.discussions(DATASET):
        kinds = [event.type for event in request.events]
        assert kinds == ["comment", "commit", "comment", "status-change"]


def test_each_write_of_a_judge(hub):
    hub.calls.clear()
    done = judge(hub)
    assert (len(done["accepted"]), len(done["refused"])) == (1, 1)
    assert sum(hub.count_calls(name) for name in WRITES.split("|")) == N_WRITES
    check_that_all_is_done_once(hub)


@pytest.mark.gate
@pytest.mark.parametrize("is_late", [False, True])
@pytest.mark.parametrize("write", range(N_WRITES))
def test_killed_at_a_write(hub, write, is_late):
    hub.faults = [Fault(WRITES, KilledError(), is_late, skip=write)]
    with pytest.raises(KilledError):
        judge(hub)
    judge(hub)
    check_that_all_is_done_once(hub)


@pytest.mark.gate
@pytest.mark.parametrize("is_late", [False, True])
def test_killed_at_every_write(hub, is_late):
    """Every judge dies at its first write, so that the next one begins where that left off."""
    hub.faults = [Fault(WRITES, KilledError(), is_late) for _ in range(N_WRITES)]
    for _ in range(N_WRITES):
        with pytest.raises(KilledError):
            judge(hub)
    judge(hub)
    check_that_all_is_done_once(hub)


@pytest.mark.gate
@pytest.mark.parametrize("is_late", [False, True])
@pytest.mark.parametrize("write", range(N_WRITES))
def test_a_write_without_an_answer(hub, write, is_late):
    hub.faults = [Fault(WRITES, CUT, is_late, skip=write)]
    with pytest.raises(AssertionError, match="could not reach the Hugging Face Hub"):
        judge(hub)
    judge(hub)
    check_that_all_is_done_once(hub)


@pytest.mark.gate
@pytest.mark.parametrize("write", range(N_WRITES))
def test_two_judges_at_once(hub, write):
    """Before one judge writes, another one, who began later, judges everything."""

    def judge_between():
        judge(hub, "otto")
        hub.log_in("olga")

    hub.faults = [Fault(WRITES, hook=judge_between, skip=write)]
    judge(hub, "olga")
    check_that_all_is_judged(hub)
    # No judge answers twice.
    for request in hub.discussions(DATASET):
        authors = [author for author, _ in comments(request)[1:]]
        assert len(authors) == len(set(authors))
