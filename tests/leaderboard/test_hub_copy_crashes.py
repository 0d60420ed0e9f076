"""A judge on the Hub that is killed after each of its writes, loses every answer, or is not alone."""

import json
import re
from copy import deepcopy

import pytest
from shared.hub_boards import DATASET, create_board, judge, make_files, start_judge
from shared.stand_in_hub import CUT, CUT_AFTER, KILL_AFTER, Fault, StandInHub

pytestmark = pytest.mark.extended

WRITES = r"/commit/main$|/comment$|/status$"


@pytest.fixture
def hub(no_proxy):
    """A stand-in Hub with a leaderboard and two submissions, one of them invalid."""
    with StandInHub() as hub:
        for organizer in ("olga", "otto"):
            hub.add_user(organizer, orgs=["lab"])
        create_board(hub)
        good, bad = make_files(60), make_files(70, system="")
        for author, files in (("ann", good), ("bob", bad)):
            hub.add_user(author)
            hub.open_pull_request(DATASET, "dataset", author, files)
        yield hub


def describe(hub):
    """Everything that a judge leaves, but for dates."""
    titles = sorted(commit.title for commit in hub.commits(DATASET))
    said = [
        (one.status, [(who, len(text)) for who, text in one.comments])
        for one in hub.discussions(DATASET)
    ]
    return hub.files(DATASET), titles, said


def test_killed_after_every_write(hub):
    hub.requests.clear()
    before = deepcopy(hub.repositories), hub.now
    done = judge(hub)
    assert (len(done["accepted"]), len(done["refused"])) == (1, 1)
    expected = describe(hub)
    writes = sum(
        method == "POST" and bool(re.search(WRITES, path)) for method, path, _ in hub.requests
    )
    assert writes == 5  # the results; two answers, two closed
    # Every judge dies after its first write, so that the next one begins where that left off.
    hub.repositories, hub.now = before
    for _ in range(writes):
        hub.faults = [Fault(WRITES, "POST", KILL_AFTER)]
        with start_judge(hub) as process:
            process.communicate(timeout=600)
        if process.returncode == 0:
            break
        assert process.returncode == -9
    hub.faults = []
    judge(hub)
    assert describe(hub) == expected


@pytest.mark.parametrize("answer", [CUT, CUT_AFTER])
def test_every_write_fails_once(hub, answer):
    hub.faults = [Fault(WRITES, "POST", answer, skip=skip) for skip in range(5)]
    for _ in range(6):
        with start_judge(hub) as process:
            process.communicate(timeout=600)
        if process.returncode == 0:
            break
    assert process.returncode == 0
    for one in hub.discussions(DATASET):
        assert (one.status, len(one.comments)) == ("closed", 2)
        assert [event["type"] for event in one.events].count("status-change") == 1
    assert [commit.title for commit in hub.commits(DATASET)].count("Add results") == 1


def test_two_judges_at_once(hub):
    for right in range(10, 13):
        hub.open_pull_request(DATASET, "dataset", "ann", make_files(right))
    with start_judge(hub, "olga") as first, start_judge(hub, "otto") as second:
        for process in (first, second):
            out, err = process.communicate(timeout=600)
            assert process.returncode == 0, out + err
    judge(hub)
    rows = json.loads(hub.files(DATASET)["board.json"])["boards"][0]["rows"]
    assert sum(row["kind"] == "system" for row in rows) == 4
    assert [one.status for one in hub.discussions(DATASET)] == ["closed"] * 5
