"""Repositories on the Hub through our own module: what it sends and what it says. The other side is the stand-in."""

import subprocess

import pytest
from shared.hub_client import run_client

from closeread.errors import MissingExtraError, RequestError
from closeread.hub.diffs import list_changed_paths
from closeread.hub.repository import Hub, Repository

START = """
import time
from pathlib import Path
from closeread.errors import MissingExtraError, RequestError
from closeread.hub.repository import *
hub, rain = Hub(), Repository("lab/rain", "dataset")
def refused(call, *arguments, **more):
    try:
        call(*arguments, **more)
    except RequestError as error:
        return type(error).__name__, str(error)
    raise SystemExit("not refused")
"""

ROUND_TRIP = """
assert hub.user() == "olga"
assert hub.head(rain) is None
hub.create(rain)
hub.create(rain)
first = hub.head(rain)
Path("card.md").write_bytes(b"---\\nlicense: mit\\n---\\nRain.\\n")
made = hub.commit(rain, {"README.md": Path("card.md"), "a/b.txt": b"b", "data.parquet": b"PAR1" * 9}, message="One")
assert (made.sha, made.url) == (hub.head(rain), f"{rain.url}/commit/{made.sha}")
assert (made.pull_request, made.pull_request_url, made.changed) == (None, None, True)
assert hub.list_files(rain) == {".gitattributes": 46, "README.md": 27, "a/b.txt": 1, "data.parquet": 36}
assert hub.list_files(rain, first) == {".gitattributes": 46}
assert hub.read(rain, "a/b.txt") == b"b" and hub.read(rain, "data.parquet", made.sha, limit=36) == b"PAR1" * 9
print(refused(hub.read, rain, "data.parquet", limit=35))
print(refused(hub.read, rain, "none.txt"))
print(refused(hub.read, rain, "a/b.txt", "nobranch"))
print(refused(hub.list_files, Repository("lab/snow", "dataset")))
same = hub.commit(rain, {"README.md": Path("card.md"), "data.parquet": b"PAR1" * 9}, message="Same", delete=["none"])
assert (same.sha, same.changed) == (made.sha, False)
second = hub.commit(rain, {"README.md": Path("card.md"), "a/c.txt": b""}, message="Two", description="More.",
    delete=["a/b.txt", "none"], parent=made.sha)
print(refused(hub.commit, rain, {"x": b""}, message="Late", parent=made.sha))
print(refused(hub.commit, rain, {"a/c.txt": b""}, message="Late, and nothing new", parent=made.sha))
assert hub.head(rain) == second.sha
assert hub.commit(rain, {"a/c.txt": b""}, message="On top, and nothing new", parent=second.sha).sha == second.sha
"""


def test_round_trip(hub, tmp_path):
    out = run_client(hub, "olga", START + ROUND_TRIP, cwd=tmp_path).stdout
    conflict = "('ConflictError', 'dataset lab/rain: somebody else has committed in the meantime; try again')"
    assert out.splitlines() == [
        "('TooLargeError', 'dataset lab/rain: data.parquet is larger than 35 bytes')",
        "('NoSuchFileError', 'dataset lab/rain: no such file: none.txt')",
        "('RequestError', 'dataset lab/rain: no such revision')",
        """('NoSuchRepositoryError', "no such dataset lab/snow, or it is private and your account can't see it")""",
        conflict,
        conflict,
    ]
    assert hub.files("lab/rain") == {
        "README.md": b"---\nlicense: mit\n---\nRain.\n",
        "a/c.txt": b"",
        "data.parquet": b"PAR1" * 9,
    }
    assert [(c.title, c.message) for c in hub.commits("lab/rain")] == [
        ("initial commit", ""),
        ("One", ""),
        ("Two", "More."),
    ]
    # Files that are there already are neither uploaded nor named in the commit.
    assert sum(path.endswith("/preupload/main") for _, path, _ in hub.requests) == 2
    # A file that is too large is not downloaded.
    assert sum(m == "GET" and path.endswith("data.parquet") for m, path, _ in hub.requests) == 1


REQUESTS = """
made = hub.commit(rain, {"new.txt": b"new\\n", "old.txt": b"2\\n"}, message="Please", description="Take it.",
    delete=["gone.txt"], pull_request=True)
assert made.pull_request == 1 and made.pull_request_url == f"{rain.url}/discussions/1" and made.changed
assert hub.commit(rain, {"old.txt": b"1\\n"}, message="Nothing", pull_request=True).pull_request is None
[one] = hub.pull_requests(rain)
assert one == PullRequest(1, "Please", "ann", "2026-11-23T08:30:00Z", "open", f"{rain.url}/discussions/1"), one
found = hub.read_pull_request(rain, 1)
paths = ("gone.txt", "new.txt", "old.txt")
assert found == PullRequestDetails(one, made.sha, one.created, paths, (("ann", "Take it."),)), found
assert hub.head(rain, "refs/pr/1") == made.sha
assert hub.read(rain, "new.txt", "refs/pr/1") == b"new\\n"
hub.comment(rain, 1, "Thanks.\\n")
hub.comment(rain, 1, "Thanks.")
hub.comment(rain, 1, "Really.")
hub.close(rain, 1)
hub.close(rain, 1)
assert hub.pull_requests(rain) == [] and [p.status for p in hub.pull_requests(rain, "closed")] == ["closed"]
from huggingface_hub import HfApi
HfApi().create_pull_request(rain.id, "A draft", repo_type="dataset")
HfApi().create_discussion(rain.id, "No request", repo_type="dataset")
assert hub.pull_requests(rain) == [] and [p.number for p in hub.pull_requests(rain, "all")] == [1, 2]
print(refused(hub.read_pull_request, rain, 3))
print(refused(hub.commit, rain, {"x": b""}, message="No member"))
"""


def test_pull_requests(hub):
    hub.add_repository("lab/rain", files={"gone.txt": b"g", "old.txt": b"1\n"})
    hub.now = hub.now.replace(day=23, hour=8, minute=30, second=0)
    hub.page_size = 1
    out = run_client(hub, "ann", START + REQUESTS).stdout
    assert out.splitlines() == [
        "('RequestError', 'dataset lab/rain: discussion 3 is not a pull request')",
        "('RequestError', \"dataset lab/rain: no permission; ask its owners, or use a token with write access: "
        "Authorization error: you don't have write access to this repository\")",
    ]
    [request, *_] = hub.discussions("lab/rain")
    assert request.comments == [("ann", "Take it."), ("ann", "Thanks.\n"), ("ann", "Really.")]
    assert [event["type"] for event in request.events].count("status-change") == 1


CREATION = """
hub.create(Repository("lab/secret", "dataset"), private=True)
hub.create(Repository("lab/secret", "dataset"), private=True)
hub.create(Repository("lab/page", "space"))
hub.create(Repository("olga/wet", "model"))
print(refused(hub.create, rain, private=True))
print(refused(hub.create, Repository("ann/rain", "dataset")))
print(refused(hub.commit, rain, {"README.md": b"---\\na: [\\n---\\n"}, message="Bad front matter"))
print(refused(hub.commit, rain, {"a.log": b"1", "b.txt": b"2"}, message="Ignored"))
"""


def test_creation_and_refusals(hub):
    hub.add_repository("lab/rain", files={".gitignore": b"*.log\n"})
    out = run_client(hub, "olga", START + CREATION).stdout.splitlines()
    assert out[0] == (
        "('RequestError', 'dataset lab/rain exists and is public; make it private in its settings on the Hub')"
    )
    assert out[1].startswith("('RequestError', 'dataset ann/rain: no permission; ask its owners, or use a token ")
    assert out[2].startswith("('RequestError', 'dataset lab/rain: Invalid metadata in README.md. - front matter")
    assert out[3] == "('RequestError', \"dataset lab/rain: its .gitignore leaves out 'a.log'; remove them from it\")"
    made = {key: (r.private, r.sdk) for key, r in hub.repositories.items()}
    assert made["dataset", "lab/secret"] == (True, None)
    assert made["space", "lab/page"] == (False, "static")
    assert made["model", "olga/wet"] == (False, None)


ELSEWHERE = """
print(refused(hub.user))
print(hub.head(Repository("lab/secret", "dataset")))
print(refused(hub.create, Repository("lab/new", "dataset")))
print(refused(hub.commit, rain, {"x": b""}, message="x"))
print(refused(hub.list_files, Repository("lab/secret", "dataset")))
"""


def test_without_login(hub):
    hub.add_repository("lab/rain")
    hub.add_repository("lab/secret", private=True)
    login = "not logged in to the Hugging Face Hub: run `hf auth login`, or set HF_TOKEN"
    out = run_client(hub, None, START + ELSEWHERE).stdout.splitlines()
    assert out == [
        f"('RequestError', '{login}')",
        "None",
        f"('RequestError', '{login}')",
        f"('RequestError', '{login}')",
        f"""('NoSuchRepositoryError', 'no such dataset lab/secret, or it is private and you are {login}')""",
    ]
    wrong = "the Hugging Face Hub does not accept your token: run `hf auth login`, or set HF_TOKEN"
    calls = "refused(hub.user), refused(hub.head, rain), refused(hub.commit, rain, {'x': b''}, message='x')"
    expired = {"HF_TOKEN": "hf_expired"}
    out = run_client(hub, None, f"{START}print({calls}, sep='\\n')", **expired, cwd=None).stdout
    assert out.splitlines() == [
        f"('RequestError', '{wrong}')",
        f"('RequestError', 'dataset lab/rain: {wrong}')",
        f"('RequestError', 'dataset lab/rain: {wrong}')",
    ]
    out = run_client(hub, "ann", START + "print(refused(hub.head, rain))", HF_HUB_OFFLINE="1").stdout
    assert "the Hugging Face Hub is out of reach while HF_HUB_OFFLINE is set (unset it)" in out


PATHS = """
for path in ("", "/etc/passwd", "a//b", "a/../b", "./a", "a/", "a b", "é", "a\\nb", ".git/config", "a\\\\b"):
    kind, text = refused(hub.commit, rain, {"good.txt": b"", path: b""}, message="x")
    assert repr(path) in text and "good" not in text, text
    kind, text = refused(hub.commit, rain, {}, delete=[path], message="x")
print(refused(hub.commit, rain, {"a b": b"", "c d": b""}, message="x")[1])
"""


def test_paths_are_checked_before_anything_is_sent(hub):
    out = run_client(hub, "olga", START + PATHS).stdout
    assert out == "not allowed as a path on the Hub: 'a b', 'c d' (expected letters, digits, '.', '_', '-', '/')\n"
    assert not any(path.startswith("/api/datasets") for _, path, _ in hub.requests)


@pytest.mark.parametrize("name", ["rain", "lab/", "/rain", "lab/a/b", "lab/a b", "lab/../x", "-a/x", "a/" + "b" * 95])
def test_names_of_repositories(name):
    with pytest.raises(RequestError, match="is not the name of a repository"):
        Repository(name, "dataset")


def test_addresses(monkeypatch):
    monkeypatch.delenv("HF_ENDPOINT", raising=False)
    assert Repository("lab/rain", "dataset").url == "https://huggingface.co/datasets/lab/rain"
    assert Repository("lab/rain", "space").url == "https://huggingface.co/spaces/lab/rain"
    assert Repository("lab/rain", "model").url == "https://huggingface.co/lab/rain"


def test_paths_of_a_difference_are_those_that_git_lists(tmp_path):
    """What `git diff --name-status` prints, and nothing that stands in a file."""
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-C", tmp_path]
    subprocess.run([*git, "init", "-q"], check=True)
    fake = "diff --git a/fake b/fake\n--- a/fake\n+++ b/fake\nrename from fake\n"
    before = {"a b/x b/y": "1\n", "gone": fake, "long name": "line\n" * 30, "binary": "\0", "mode": "m"}
    after = {"a b/x b/y": fake, 'dé\tq"\\\n.txt': fake, "renamed": "line\n" * 30, "mode": "m"}
    after |= {"binary": "\0\1", "empty": ""}
    for tree in (before, after):
        subprocess.run([*git, "rm", "-rfq", "--ignore-unmatch", "."], check=True)
        for path, text in tree.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text)
        if tree is after:
            (tmp_path / "mode").chmod(0o755)
        subprocess.run([*git, "add", "-A"], check=True)
        subprocess.run([*git, "commit", "-qm", "x"], check=True)
    listing = [*git, "diff", "--no-renames", "--name-only", "-z", "HEAD~"]
    listed = subprocess.run(listing, check=True, capture_output=True).stdout.decode()
    expected = tuple(sorted(listed.split("\0")[:-1]))
    assert len(expected) == 8
    for options in (["-M"], ["--no-renames"], ["--binary"], ["--full-index", "-U0"]):
        shown = subprocess.run([*git, "diff", *options, "HEAD~"], check=True, capture_output=True).stdout.decode()
        assert list_changed_paths(shown) == expected


def test_a_header_that_is_not_understood_is_no_path_that_is_allowed():
    assert list_changed_paths("diff --git a/x c/y\n@@ -1 +1 @@\n+rename from x\n") == ("diff --git a/x c/y",)
    assert list_changed_paths("") == ()


def test_an_old_client_is_told_apart(monkeypatch):
    import huggingface_hub

    monkeypatch.setattr(huggingface_hub, "__version__", "1.30.2")
    with pytest.raises(MissingExtraError) as caught:
        Hub()
    assert str(caught.value) == (
        "working with the Hub (the extra closeread[hub]) needs 'huggingface-hub>=1.31': "
        "pip install 'huggingface-hub>=1.31'"
    )
