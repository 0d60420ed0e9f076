"""The stand-in Hub against the real client: what is sent arrives, and what is asked is answered as the client expects.

Expected values are what was put in, and digests as git computes them.
"""

import subprocess

import pytest
from shared.hub_client import run_client
from shared.stand_in_hub.history import Blob, diff

pytestmark = pytest.mark.gate

COMMITS = """
from huggingface_hub import CommitOperationAdd as Add, CommitOperationDelete as Delete, HfApi
from huggingface_hub.errors import HfHubHTTPError, RepositoryNotFoundError, RemoteEntryNotFoundError
api = HfApi()
me = api.whoami()
assert (me["name"], [org["name"] for org in me["orgs"]]) == ("olga", ["lab"])
url = api.create_repo("lab/rain", repo_type="dataset")
assert (url.repo_id, url.repo_type) == ("lab/rain", "dataset")
api.create_repo("lab/rain", repo_type="dataset", exist_ok=True)
try:
    api.create_repo("lab/rain", repo_type="dataset")
    raise SystemExit("created twice")
except HfHubHTTPError as error:
    assert error.response.status_code == 409
first = api.create_commit("lab/rain", [Add("README.md", b"---\\nlicense: mit\\n---\\nRain.\\n"), Add("a/b.txt", b"b"),
    Add("a/deep/c.txt", b"c"), Add("big.parquet", b"PAR1" * 5)], commit_message="One", repo_type="dataset")
assert api.list_repo_files("lab/rain", repo_type="dataset") == [
    ".gitattributes", "README.md", "a/b.txt", "a/deep/c.txt", "big.parquet"]
top = {entry.path: entry for entry in api.list_repo_tree("lab/rain", repo_type="dataset", expand=True)}
assert sorted(top) == [".gitattributes", "README.md", "a", "big.parquet"]
assert top["big.parquet"].lfs.size == 20 and top["README.md"].last_commit.oid == first.oid
[info] = api.get_paths_info("lab/rain", ["a/b.txt", "none"], repo_type="dataset")
assert (info.path, info.size, info.blob_id) == ("a/b.txt", 1, BLOB)
again = api.create_commit("lab/rain", [Add("a/b.txt", b"b"), Add("big.parquet", b"PAR1" * 5)],
    commit_message="Nothing", repo_type="dataset")
assert again.oid == first.oid
second = api.create_commit("lab/rain", [Add("a/b.txt", b"B"), Delete("a/deep/")], commit_message="Two",
    commit_description="More.", repo_type="dataset", parent_commit=first.oid)
try:
    api.create_commit("lab/rain", [Add("x", b"x")], commit_message="Late", repo_type="dataset", parent_commit=first.oid)
    raise SystemExit("no conflict")
except HfHubHTTPError as error:
    assert error.response.status_code == 412
titles = [(c.commit_id, c.title, c.authors) for c in api.list_repo_commits("lab/rain", repo_type="dataset")]
assert titles[:2] == [(second.oid, "Two", ["olga"]), (first.oid, "One", ["olga"])], titles
[main] = api.list_repo_refs("lab/rain", repo_type="dataset").branches
assert (main.name, main.target_commit) == ("main", second.oid)
assert api.dataset_info("lab/rain", revision=first.oid).sha == first.oid
path = api.hf_hub_download("lab/rain", "big.parquet", repo_type="dataset")
assert open(path, "rb").read() == b"PAR1" * 5
folder = api.snapshot_download("lab/rain", repo_type="dataset", revision=first.oid)
assert open(folder + "/a/deep/c.txt", "rb").read() == b"c"
for name, kind in (("none", RemoteEntryNotFoundError),):
    try:
        api.hf_hub_download("lab/rain", name, repo_type="dataset")
        raise SystemExit("downloaded")
    except kind:
        pass
try:
    api.create_commit("lab/rain", [Add("README.md", b"---\\na: [\\n---\\n")], commit_message="Bad", repo_type="dataset")
    raise SystemExit("no judge of front matter")
except ValueError as error:
    assert "Invalid metadata" in str(error)
api.create_repo("lab/page", repo_type="space", space_sdk="static")
assert api.space_info("lab/page").sdk == "static"
try:
    api.create_repo("lab/app", repo_type="space", space_sdk="gradio")
    raise SystemExit("a free app")
except HfHubHTTPError as error:
    assert error.response.status_code == 402
from huggingface_hub import HfFileSystem
files = HfFileSystem()
assert files.cat("datasets/lab/rain/a/b.txt") == b"B"
with files.open("datasets/lab/rain/big.parquet", "rb") as f:
    f.seek(16)
    assert f.read() == b"PAR1"
assert sorted(files.find("datasets/lab/rain")) == [f"datasets/lab/rain/{p}" for p in
    (".gitattributes", "README.md", "a/b.txt", "big.parquet")]
files.pipe("datasets/lab/rain/piped.txt", b"piped")
"""


def test_commits(hub):
    blob = "63d8dbd40c23542e740659a7168a0ce3138ea748"  # as printed by: printf b | git hash-object --stdin
    run_client(hub, "olga", f"BLOB = {blob!r}\n{COMMITS}")
    assert hub.files("lab/rain") == {
        "README.md": b"---\nlicense: mit\n---\nRain.\n",
        "a/b.txt": b"B",
        "big.parquet": b"PAR1" * 5,
        "piped.txt": b"piped",
    }
    assert [c.title for c in hub.commits("lab/rain")][:3] == ["initial commit", "One", "Two"]
    assert [c.message for c in hub.commits("lab/rain")][2] == "More."


REQUESTS = """
from huggingface_hub import CommitOperationAdd as Add, CommitOperationDelete as Delete, HfApi
from huggingface_hub.errors import HfHubHTTPError
api = HfApi()
made = api.create_commit("lab/rain", [Add("new.txt", b"new\\n"), Add("b.txt", b"B\\n"), Delete("c.txt"),
    Add("t.parquet", b"PAR1")], commit_message="Please", commit_description="Take it.", repo_type="dataset",
    create_pr=True)
assert (made.pr_num, made.pr_revision) == (1, "refs/pr/1")
[listed] = api.get_repo_discussions("lab/rain", repo_type="dataset", discussion_type="pull_request")
assert (listed.num, listed.title, listed.author, listed.status) == (1, "Please", "ann", "open")
details = api.get_discussion_details("lab/rain", 1, repo_type="dataset")
assert [event.type for event in details.events] == ["comment", "commit"]
assert details.events[1].oid == made.oid and details.target_branch == "refs/heads/main"
print(details.diff, end="")
refs = api.list_repo_refs("lab/rain", repo_type="dataset", include_pull_requests=True)
assert [ref.target_commit for ref in refs.pull_requests] == [made.oid]
more = api.create_commit("lab/rain", [Add("more.txt", b"")], commit_message="More", repo_type="dataset",
    revision="refs/pr/1")
comment = api.comment_discussion("lab/rain", 1, "Please look", repo_type="dataset")
assert (comment.content, comment.author) == ("Please look", "ann")
for change in (lambda: api.merge_pull_request("lab/rain", 1, repo_type="dataset"),
               lambda: api.create_commit("lab/rain", [Add("x", b"")], commit_message="x", repo_type="dataset")):
    try:
        change()
        raise SystemExit("a stranger may write")
    except HfHubHTTPError as error:
        assert error.response.status_code == 403, error
draft = api.create_pull_request("lab/rain", "Later", repo_type="dataset")
assert draft.status == "draft" and draft.num == 2
assert api.change_discussion_status("lab/rain", 2, "closed", repo_type="dataset").new_status == "closed"
talk = api.create_discussion("lab/rain", "How?", description="Tell", repo_type="dataset")
assert not talk.is_pull_request and talk.events[0].content == "Tell"
"""

# As git 2.39 prints it for the same two trees, except for the large file.
DIFF = """\
diff --git a/b.txt b/b.txt
index 6178079..223b783 100644
--- a/b.txt
+++ b/b.txt
@@ -1 +1 @@
-b
+B
diff --git a/c.txt b/c.txt
deleted file mode 100644
index 3410062..0000000
--- a/c.txt
+++ /dev/null
@@ -1 +0,0 @@
-c
\\ No newline at end of file
diff --git a/new.txt b/new.txt
new file mode 100644
index 0000000..3e75765
--- /dev/null
+++ b/new.txt
@@ -0,0 +1 @@
+new
"""

MERGE = """
from huggingface_hub import HfApi
api = HfApi()
assert [d.num for d in api.get_repo_discussions("lab/rain", repo_type="dataset", discussion_status="open")] == [3, 1]
api.merge_pull_request("lab/rain", 1, repo_type="dataset", comment="Thanks")
details = api.get_discussion_details("lab/rain", 1, repo_type="dataset")
assert (details.status, details.events[-1].new_status, details.events[-2].content) == ("merged", "merged", "Thanks")
assert details.merge_commit_oid == api.dataset_info("lab/rain").sha
"""


def test_pull_requests(hub):
    hub.add_repository("lab/rain", files={"b.txt": b"b\n", "c.txt": b"c"})
    hub.page_size = 1  # so that the client turns pages
    shown = run_client(hub, "ann", REQUESTS).stdout
    text, large = shown.split("diff --git a/t.parquet")
    assert text == DIFF
    assert large.endswith("Binary files /dev/null and b/t.parquet differ\n")
    hub.commit("lab/rain", "dataset", {"other.txt": b"other"})
    run_client(hub, "olga", MERGE)
    assert sorted(hub.files("lab/rain")) == ["b.txt", "more.txt", "new.txt", "other.txt", "t.parquet"]
    assert hub.discussions("lab/rain")[0].comments == [("ann", "Take it."), ("ann", "Please look"), ("olga", "Thanks")]


def test_differences_are_those_of_git(tmp_path):
    """git itself applies the difference, and finds the names in it that the other tree has."""
    before = {"a b/x b/y": b"1\n2\n3\n", "gone": b"", "kept": b"k"}
    after = {"a b/x b/y": b"1\n3\n4", 'dé\tq"\\\n.txt': b"new\r\nline\n", "empty": b"", "kept": b"k"}
    for path, content in before.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content)
    text = diff({p: Blob(c) for p, c in before.items()}, {p: Blob(c) for p, c in after.items()})
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    subprocess.run(["git", "apply"], input=text.encode(), cwd=tmp_path, check=True)
    found = [p for p in tmp_path.rglob("*") if p.is_file() and ".git" not in p.relative_to(tmp_path).parts]
    assert {str(p.relative_to(tmp_path)): p.read_bytes() for p in found} == after
