"""A leaderboard on the Hub, from its creation to the answers; whoever submits may put anything into a pull request."""

import pytest
from shared.fake_hub import Fault, comments, fake_hub
from shared.hub_boards import (
    BOARD,
    DATASET,
    STORE,
    closeread,
    create_board,
    judge,
    make_files,
    read_index,
    submit,
)

from closeread.leaderboard.hub_copy import read_request
from closeread.leaderboard.store_files import store_path


@pytest.fixture
def hub(tmp_path):
    """A fake Hub: olga and otto are members of the organization lab; ann, bob and eve are not."""
    with fake_hub(tmp_path / "hub") as hub:
        for organizer in ("olga", "otto"):
            hub.add_user(organizer, orgs=["lab"])
        for submitter in ("ann", "bob", "eve"):
            hub.add_user(submitter)
        yield hub


def systems(hub):
    return [
        (row["system"], row["author"]) for row in read_index(hub)["rows"] if row["kind"] == "system"
    ]


def files_of_participants(hub):
    files = hub.files(DATASET)
    return {
        path: content
        for path, content in files.items()
        if path.startswith(("submissions/", "withdrawals/"))
    }


def states(hub):
    return [one.status for one in hub.discussions(DATASET)]


@pytest.mark.gate
def test_three_users_submit_and_are_answered(hub, tmp_path):
    create_board(hub)
    for user, right in (("ann", 60), ("bob", 90), ("eve", 20)):
        assert f"{hub.url}/datasets/{DATASET}/discussions/" in submit(
            hub, user, tmp_path, right=right
        )
    before = submit(hub, "ann", tmp_path, right=60)
    assert "had been submitted before" in before
    assert states(hub) == ["open"] * 3
    done = judge(hub)
    assert len(done["accepted"]) == 3
    assert not done["refused"] + done["errors"]
    assert systems(hub) == [("bob 90", "bob"), ("ann 60", "ann"), ("eve 20", "eve")]
    assert states(hub) == ["closed"] * 3
    for one, author in zip(hub.discussions(DATASET), ("ann", "bob", "eve"), strict=True):
        [(_, description), (judge_name, answer)] = comments(one)
        assert (one.author, judge_name) == (author, "olga")
        assert description.startswith("Submission `")
        assert "scored." in answer
        assert f"{hub.url}/datasets/{DATASET}/blob/main/results/{BOARD}/" in answer
    [row] = [row for row in read_index(hub)["rows"] if row["author"] == "ann"]
    assert row["source"] == f"{hub.url}/datasets/{DATASET}/discussions/1"
    # What was proposed is what lies on the main branch, byte for byte, and nobody but the judge committed there.
    proposed = {}
    for one in hub.discussions(DATASET):
        proposed |= hub.files(DATASET, revision=one.git_reference)
    assert {p: c for p, c in hub.files(DATASET).items() if p.startswith("submissions/")} == {
        p: c for p, c in proposed.items() if p.startswith("submissions/")
    }
    assert {c.author for c in hub.commits(DATASET)} == {"olga"}
    assert "had been submitted before" in submit(hub, "ann", tmp_path, right=60)
    # A second run, by another organizer, finds nothing to do.
    count = len(hub.commits(DATASET))
    assert not any(judge(hub, "otto").values())
    assert len(hub.commits(DATASET)) == count
    assert "bob 90" in closeread(hub, None, "leaderboard", "status", STORE)


@pytest.mark.extended
def test_only_the_author_withdraws(hub, tmp_path):
    create_board(hub)
    submit(hub, "ann", tmp_path, right=60)
    judge(hub)
    [row] = [row for row in read_index(hub)["rows"] if row["kind"] == "system"]
    with pytest.raises(
        AssertionError,
        match="was submitted by 'ann', not by 'bob'; its author alone decides about it",
    ):
        closeread(hub, "bob", "leaderboard", "withdraw", STORE, row["id"])
    assert states(hub) == ["closed"]
    hub.open_pull_request(
        DATASET, "dataset", "bob", {store_path("withdrawals", BOARD, row["id"]): b"{}"}
    )
    done = judge(hub)
    assert "can be withdrawn only by its author" in done["refused"][0]
    assert systems(hub) == [("ann 60", "ann")]
    closeread(hub, "ann", "leaderboard", "withdraw", STORE, row["id"])
    assert len(judge(hub)["withdrawn"]) == 1
    assert systems(hub) == []
    assert read_index(hub)["withdrawn"] == 1
    assert states(hub) == ["closed"] * 3


@pytest.mark.extended
def test_hostile_pull_requests_are_answered_and_never_merged(hub, tmp_path):
    create_board(hub)
    submit(hub, "ann", tmp_path, right=60)
    judge(hub)
    before = files_of_participants(hub)
    accepted = next(path for path in before if path.endswith(".json"))
    good = make_files(70)
    about = list(good)[1]
    other = f"submissions/{BOARD}/ab/{'ab' * 32}.json"
    requests = [
        (good | {"leaderboard.json": b"{}"}, "touches 1 other file: 'leaderboard.json'"),
        ({accepted: None}, "was submitted before"),
        ({accepted: b"{}"}, "was submitted before"),
        ({other: good[about]}, "does not have the digest that it is named after"),
        ({about: good[about]}, "no such file: submissions/"),
        (
            make_files(71, system="a\u202eb"),
            "an invisible character, U+202E (right-to-left override)",
        ),
        (
            make_files(71, author="ann"),
            "names an author; on the Hub, that is the account",
        ),
        (make_files(72, board="mctaco/test"), "'mctaco/test' is not the board"),
        (make_files(73) | make_files(74), "has 2 files of submissions"),
        ({f"submissions/{BOARD}/aa/x.jsonl": b"", about: good[about]}, "touches 1 other file"),
        ({"submissions/elsewhere/test/aa/x.json": b""}, "has 0 files of submissions"),
        (
            {f"withdrawals/{BOARD}/cd/{'cd' * 32}.json": b"{}"},
            "there is no submission cdcdcdcdcdcd",
        ),
    ]
    for i, (files, _) in enumerate(requests):
        hub.add_user(f"eve{i}")
        hub.open_pull_request(DATASET, "dataset", f"eve{i}", files)
    left = hub.open_pull_request(
        DATASET, "dataset", "otto", {"README.md": b"---\nviewer: true\n---\n"}
    )
    for _ in range(2):  # two of them are about the same submission: one after the other
        done = judge(hub)
        assert not done["accepted"] + done["errors"] + done["withdrawn"]
    for (_, problem), one in zip(requests, hub.discussions(DATASET)[1:], strict=False):
        (_, answer) = comments(one)[-1]
        assert len(comments(one)) == 2, problem
        assert one.status == "closed"
        assert problem in answer.replace("\\", "")
    # A pull request about something else is left to the organisers.
    assert (left.status, len(comments(left))) == ("open", 1)
    assert files_of_participants(hub) == before
    assert systems(hub) == [("ann 60", "ann")]
    assert not any(judge(hub).values())


def test_the_author_is_the_account_and_no_other(hub, tmp_path):
    create_board(hub)
    with pytest.raises(AssertionError, match="on the Hub, the author is your account"):
        submit(hub, "ann", tmp_path, right=60, options=["--author", "bob"])


@pytest.mark.extended
def test_what_changes_while_it_is_judged_is_not_taken(hub, tmp_path):
    """Before it is accepted, the author replaces the predictions; what was verified counts, and the rest waits."""
    create_board(hub)
    good, late = make_files(60), make_files(90)
    one = hub.open_pull_request(DATASET, "dataset", "eve", good)

    def push():
        hub.push(DATASET, "dataset", 1, dict.fromkeys(good) | late)

    hub.faults = [Fault("create_commit", hook=push)]
    assert len(judge(hub)["accepted"]) == 1
    assert systems(hub) == [("By hand 60", "eve")]
    landed = {p: c for p, c in hub.files(DATASET).items() if p.startswith("submissions/")}
    assert landed == good
    assert one.status == "open"
    assert len(judge(hub)["accepted"]) == 1
    assert systems(hub) == [("By hand 90", "eve"), ("By hand 60", "eve")]
    assert one.status == "closed"
    assert len(comments(one)) == 3


def test_files_are_read_only_up_to_the_limit(hub, tmp_path):
    closeread(
        hub,
        "olga",
        *f"leaderboard init {STORE} --corpus mctaco --config sample --max-bytes 1000".split(),
    )
    files = make_files(60)
    assert max(map(len, files.values())) > 1000
    hub.open_pull_request(DATASET, "dataset", "eve", files)
    assert "is larger than 1,000 bytes" in judge(hub)["refused"][0]
    downloads = [call["filename"] for name, call in hub.calls if name == "hf_hub_download"]
    assert not any(path.endswith(".jsonl") for path in downloads)


@pytest.mark.gate
def test_nobody_keeps_the_judge_from_others(hub, tmp_path):
    """Of 23 pull requests of one user, 20 are looked at; the daily limit accepts five of them, and the other user's."""
    create_board(hub)
    for right in range(23):
        hub.open_pull_request(DATASET, "dataset", "eve", make_files(right))
    submit(hub, "ann", tmp_path, right=60)
    done = judge(hub)
    assert (len(done["accepted"]), len(done["refused"])) == (6, 15)
    assert ("ann 60", "ann") in systems(hub)


def test_a_copy_of_somebodys_submission_is_told_so(hub):
    create_board(hub)
    hub.open_pull_request(DATASET, "dataset", "ann", make_files(60))
    hub.open_pull_request(DATASET, "dataset", "eve", make_files(60))
    judge(hub)
    judge(hub)
    assert systems(hub) == [("By hand 60", "ann")]
    first, second = hub.discussions(DATASET)
    assert "scored." in comments(first)[-1][1]
    assert "this was submitted before" in comments(second)[-1][1]
    assert states(hub) == ["closed", "closed"]


A, B = "a" * 64, "b" * 64
ABOUT = f"submissions/x/test/aa/{A}.json"
ROWS = f"submissions/x/test/bb/{B}.jsonl"


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        ([ABOUT, ROWS], ("x/test", A, "submissions")),
        # the predictions are there already, with another description
        ([ABOUT], ("x/test", A, "submissions")),
        ([f"withdrawals/x/test/aa/{A}.json"], ("x/test", A, "withdrawals")),
        ([f"choices/x/test/aa/{A}.json"], ("x/test", A, "choices")),
        ([f"submissions/y/dev/aa/{A}.json"], ("y/dev", A, "submissions")),
        ([ROWS], ("x/test", "", "submissions")),
        ([ABOUT, ROWS, f"submissions/x/test/aa/{A}.jsonl"], ("x/test", "", "submissions")),
        ([ABOUT, "README.md"], ("x/test", "", "submissions")),
        ([ABOUT, ABOUT.replace("/aa/", "/ab/")], ("x/test", "", "submissions")),
        ([f"withdrawals/x/test/aa/{A}.json", ROWS], ("x/test", "", "withdrawals")),
        ([f"withdrawals/x/test/aa/{A}.json", ABOUT], ("x/test", "", "withdrawals")),
        ([f"submissions/z/test/aa/{A}.json"], ("x/test", "", "submissions")),
        ([f"submissions/y/dev/aa/{A}.txt"], ("y/dev", "", "submissions")),
        ([f"submissions/x/test/bb/{A}.json"], ("x/test", "", "submissions")),
        (["a/submissions/x/test/aa/x.json b/old.json"], ("x/test", "", "submissions")),  # renamed
        (
            ["a/submissions/x/test/my file.json b/submissions/x/test/my file.json"],
            ("x/test", "", "submissions"),
        ),
    ],
)
def test_what_a_pull_request_asks(paths, expected):
    found = read_request(paths, ["x/test", "y/dev"])
    assert (found.board, found.submission, found.kind) == expected
    assert bool(found.problems) is (expected[1] == "")


def test_what_is_not_about_submissions_is_left_alone():
    assert read_request(["README.md", "data/submissions/x.json"], ["x/test"]) is None
    assert read_request([], ["x/test"]) is None
