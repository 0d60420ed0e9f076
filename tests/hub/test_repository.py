"""Repositories on the Hub through our own module: what it sends and what it says. The other side is a fake."""

import huggingface_hub
import pytest
from huggingface_hub.errors import OfflineModeIsEnabled
from shared.fake_hub import Fault, comments

from closeread.exceptions import MissingExtraError, RequestError
from closeread.hub.client import Hub, PullRequestDetails, Repository, list_changed_paths

RAIN = Repository("lab/rain", "dataset")
SECRET = Repository("lab/secret", "dataset")


def refused(call, *arguments, **more):
    """What a request is refused with: the error and its words."""
    with pytest.raises(RequestError) as caught:
        call(*arguments, **more)
    return type(caught.value).__name__, str(caught.value)


def test_round_trip(hub, log_in, here):
    log_in("olga")
    us = Hub()
    assert us.user == "olga"
    assert us.head(RAIN) is None
    us.create(RAIN)
    us.create(RAIN)
    first = us.head(RAIN)
    card = here / "card.md"
    card.write_bytes(b"---\nlicense: mit\n---\nRain.\n")
    made = us.commit(
        RAIN, {"README.md": card, "a/b.txt": b"b", "data.parquet": b"PAR1" * 9}, message="One"
    )
    assert (made.sha, made.url) == (us.head(RAIN), f"{RAIN.url}/commit/{made.sha}")
    assert (made.pull_request, made.pull_request_url, made.changed) == (None, None, True)
    assert {path: file.size for path, file in us.list_files(RAIN).items()} == {
        ".gitattributes": 46,
        "README.md": 27,
        "a/b.txt": 1,
        "data.parquet": 36,
    }
    assert list(us.list_files(RAIN, first)) == [".gitattributes"]
    assert us.read(RAIN, "a/b.txt", "main") == b"b"
    assert us.read(RAIN, "data.parquet", made.sha, limit=36) == b"PAR1" * 9
    place = "dataset lab/rain"
    assert refused(us.read, RAIN, "data.parquet", "main", limit=35) == (
        "TooLargeError",
        f"{place}: data.parquet is larger than 35 bytes",
    )
    assert refused(us.read, RAIN, "none.txt", "main") == (
        "NoSuchFileError",
        f"{place}: no such file: none.txt",
    )
    assert refused(us.read, RAIN, "a/b.txt", "nobranch") == (
        "RequestError",
        f"{place}: no such revision",
    )
    assert refused(us.list_files, Repository("lab/snow", "dataset")) == (
        "NoSuchRepositoryError",
        "no such dataset lab/snow, or it is private and your account can't see it",
    )
    same = us.commit(
        RAIN, {"README.md": card, "data.parquet": b"PAR1" * 9}, message="Same", delete=["none"]
    )
    assert (same.sha, same.changed) == (made.sha, False)
    changed = {"README.md": card, "a/c.txt": b""}
    gone = ["a/b.txt", "none"]
    second = us.commit(
        RAIN, changed, message="Two", description="More.", delete=gone, parent=made.sha
    )
    conflict = "ConflictError", f"{place}: somebody else has committed in the meantime; try again"
    assert refused(us.commit, RAIN, {"x": b""}, message="Late", parent=made.sha) == conflict
    nothing_new = {"a/c.txt": b""}
    assert (
        refused(us.commit, RAIN, nothing_new, message="Late, and nothing new", parent=made.sha)
        == conflict
    )
    assert us.head(RAIN) == second.sha
    assert (
        us.commit(RAIN, nothing_new, message="On top, and nothing new", parent=second.sha).sha
        == second.sha
    )
    assert hub.files("lab/rain") == {
        "README.md": b"---\nlicense: mit\n---\nRain.\n",
        "a/c.txt": b"",
        "data.parquet": b"PAR1" * 9,
    }
    assert [(commit.title, commit.message) for commit in hub.commits("lab/rain")] == [
        ("initial commit", ""),
        ("One", ""),
        ("Two", "More."),
    ]
    # Files that are there already are not named in the commit.
    commits = [arguments for name, arguments in hub.calls if name == "create_commit"]
    paths = [[file.path_in_repo for file in commit["operations"]] for commit in commits]
    assert paths == [["README.md", "a/b.txt", "data.parquet"], ["a/c.txt", "a/b.txt"]]
    # A file that is too large is not downloaded.
    assert hub.count_calls("hf_hub_download") == 2


def test_pull_requests(hub, log_in):
    hub.add_repository("lab/rain", files={"gone.txt": b"g", "old.txt": b"1\n"})
    hub.now = hub.now.replace(day=23, hour=8, minute=30, second=0)
    log_in("ann")
    us = Hub()
    files = {"new.txt": b"new\n", "old.txt": b"2\n"}
    more = {"description": "Take it.", "delete": ["gone.txt"], "pull_request": True}
    made = us.commit(RAIN, files, message="Please", **more)
    assert (made.pull_request, made.pull_request_url, made.changed) == (
        1,
        f"{RAIN.url}/discussions/1",
        True,
    )
    assert (
        us.commit(RAIN, {"old.txt": b"1\n"}, message="Nothing", pull_request=True).pull_request
        is None
    )
    [one] = us.pull_requests(RAIN)
    assert (one.num, one.title, one.author, one.status) == (1, "Please", "ann", "open")
    assert one.url == f"{RAIN.url}/discussions/1"
    paths = ("gone.txt", "new.txt", "old.txt")
    found = us.read_pull_request(RAIN, 1)
    assert found == PullRequestDetails(
        made.sha, "2026-11-23T08:30:01Z", paths, (("ann", "Take it."),)
    )
    assert us.read(RAIN, "new.txt", "refs/pr/1") == b"new\n"
    us.comment(RAIN, 1, "Thanks.")
    us.comment(RAIN, 1, "Really.")
    us.close(RAIN, 1)
    assert us.pull_requests(RAIN) == []
    assert [p.status for p in us.pull_requests(RAIN, all_states=True)] == ["closed"]
    hub.open_pull_request(RAIN.id, "dataset", "ann", {}, status="draft")
    hub.open_discussion(RAIN.id, "dataset", "ann", "No request")
    assert us.pull_requests(RAIN) == []
    assert [p.num for p in us.pull_requests(RAIN, all_states=True)] == [1, 2]
    assert refused(us.commit, RAIN, {"x": b""}, message="No member") == (
        "RequestError",
        "dataset lab/rain: no permission; ask its owners, or use a token with write access: "
        "Authorization error: you don't have write access to this repository",
    )
    [request, *_] = hub.discussions("lab/rain")
    assert comments(request) == [("ann", "Take it."), ("ann", "Thanks."), ("ann", "Really.")]
    assert [event.type for event in request.events].count("status-change") == 1


def test_creation_and_refusals(hub, log_in):
    hub.add_repository("lab/rain", files={".gitignore": b"*.log\n"})
    log_in("olga")
    us = Hub()
    us.create(SECRET, private=True)
    us.create(SECRET, private=True)
    us.create(Repository("lab/page", "space"))
    us.create(Repository("olga/wet", "model"))
    assert refused(us.create, RAIN, private=True) == (
        "RequestError",
        "dataset lab/rain exists and is public; make it private in its settings on the Hub",
    )
    kind, text = refused(us.create, Repository("ann/rain", "dataset"))
    assert kind == "RequestError"
    assert text.startswith("dataset ann/rain: no permission; ask its owners, or use a token ")
    # The client asks the Hub about front matter.
    invalid = ValueError("Invalid metadata in README.md.\n- front matter is not a mapping")
    hub.faults = [Fault("create_commit", invalid)]
    kind, text = refused(us.commit, RAIN, {"README.md": b"---\na: [\n---\n"}, message="Bad")
    assert kind == "RequestError"
    assert text.startswith("dataset lab/rain: Invalid metadata in README.md. - front matter")
    assert refused(us.commit, RAIN, {"a.log": b"1", "b.txt": b"2"}, message="Ignored") == (
        "RequestError",
        "dataset lab/rain: its .gitignore leaves out 'a.log'; remove them from it",
    )
    made = {key: (r.private, r.sdk) for key, r in hub.repositories.items()}
    assert made["dataset", "lab/secret"] == (True, None)
    assert made["space", "lab/page"] == (False, "static")
    assert made["model", "olga/wet"] == (False, None)


def test_without_login(hub, log_in, monkeypatch):
    hub.add_repository("lab/rain")
    hub.add_repository("lab/secret", private=True)
    login = "not logged in to the Hugging Face Hub: run `hf auth login`, or set HF_TOKEN"
    log_in(None)
    us = Hub()
    assert refused(lambda: us.user) == ("RequestError", login)
    assert us.head(SECRET) is None
    assert refused(us.create, Repository("lab/new", "dataset")) == ("RequestError", login)
    assert refused(us.commit, RAIN, {"x": b""}, message="x") == ("RequestError", login)
    assert refused(us.list_files, SECRET) == (
        "NoSuchRepositoryError",
        f"no such dataset lab/secret, or it is private and you are {login}",
    )
    wrong = "the Hugging Face Hub does not accept your token: run `hf auth login`, or set HF_TOKEN"
    monkeypatch.setenv("HF_TOKEN", "hf_expired")
    us = Hub()
    assert refused(lambda: us.user) == ("RequestError", wrong)
    assert refused(us.head, RAIN) == ("RequestError", f"dataset lab/rain: {wrong}")
    assert refused(us.commit, RAIN, {"x": b""}, message="x") == (
        "RequestError",
        f"dataset lab/rain: {wrong}",
    )


def test_offline(hub, log_in):
    log_in("ann")
    hub.faults = [Fault("repo_info", OfflineModeIsEnabled("offline"))]
    assert refused(Hub().head, RAIN) == (
        "RequestError",
        "dataset lab/rain: the Hugging Face Hub is out of reach while HF_HUB_OFFLINE is set (unset it)",
    )


@pytest.mark.parametrize(
    "name", ["rain", "lab/", "/rain", "lab/a/b", "lab/a b", "lab/../x", "-a/x", "a/" + "b" * 95]
)
def test_names_of_repositories(name):
    with pytest.raises(RequestError, match="is not the name of a repository"):
        Repository(name, "dataset")


def test_addresses(monkeypatch):
    monkeypatch.delenv("HF_ENDPOINT", raising=False)
    assert Repository("lab/rain", "dataset").url == "https://huggingface.co/datasets/lab/rain"
    assert Repository("lab/rain", "space").url == "https://huggingface.co/spaces/lab/rain"
    assert Repository("lab/rain", "model").url == "https://huggingface.co/lab/rain"


def test_paths_of_a_difference():
    """What stands in a file is no header; a header that is not plain is no path that is allowed."""
    fake = " diff --git a/x b/x\n+diff --git a/x b/x\n\\ No newline"
    diff = f"diff --git a/b/c.txt b/b/c.txt\nold mode 1\n@@ -1 +1 @@\n{fake}\ndiff --git a/big b/big\nBinary\n"
    assert list_changed_paths(diff) == ("b/c.txt", "big")
    for header in (
        "a/x c/x",
        "a/old b/new",
        "a/a b/x b/a b/x",
        '"a/d\\303" "b/d\\303"',
        "a/x b/x b/x b/x",
    ):
        assert list_changed_paths(f"diff --git {header}\nrename from x\n") == (header,)
    assert list_changed_paths("") == ()


def test_an_old_client_is_told_apart(monkeypatch):
    monkeypatch.setattr(huggingface_hub, "__version__", "1.30.2")
    with pytest.raises(MissingExtraError) as caught:
        Hub()
    assert str(caught.value) == (
        "working with the Hub needs huggingface-hub 1.31 or newer: pip install 'closeread[hub]'"
    )
