"""A Hugging Face Hub in a folder: what closeread calls of `huggingface_hub.HfApi`, without a network.

    with fake_hub(tmp_path) as hub:
        hub.add_user("ann", orgs=["lab"])
        hub.log_in("ann")
        Hub().commit(...)                       # of closeread.hub.client
        hub.files("lab/rain", "dataset")        # {"README.md": b"..."}

Each call is checked by the signature of the real method, and may meet a fault before or after it takes effect.
"""

import hashlib
import inspect
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatch
from functools import wraps
from pathlib import Path
from types import SimpleNamespace

import huggingface_hub
import pytest
from huggingface_hub import (
    CommitInfo,
    CommitOperationAdd,
    DiscussionComment,
    DiscussionWithDetails,
    errors,
)
from huggingface_hub.community import DiscussionCommit, DiscussionStatusChange
from huggingface_hub.hf_api import RepoFile, RepoFolder

URL = "https://hub.example"
# The connection ends: an error of the library for HTTP, which differs between versions of the client.
CUT = errors.HfHubHTTPError.__bases__[0]("the connection was cut")
WRITES = "create_repo|create_commit|comment_discussion|change_discussion_status"


@dataclass
class Fault:
    """A fault of the next calls that match.

    Args:
        call: a regular expression of the names of methods.
        error: what is raised; a number is the status of an answer; None to call the hook alone.
        is_late: raise it after the call took effect.
        skip: how many matching calls pass unharmed before.
        times: how many matching calls are concerned.
        hook: called before anything else.
    """

    call: str
    error: BaseException | int | None = None
    is_late: bool = False
    skip: int = 0
    times: int = 1
    hook: Callable[[], None] = lambda: None

    def takes(self, name: str) -> bool:
        """Tell whether the call is to fail, and count it."""
        if self.times == 0 or not re.fullmatch(self.call, name):
            return False
        if self.skip:
            self.skip -= 1
            return False
        self.times -= 1
        return True

    def throw(self) -> None:
        if isinstance(self.error, int):
            raise refuse(self.error, "a fault on demand")
        if self.error is not None:
            raise self.error


def refuse(status: int, message: str, kind: type = errors.HfHubHTTPError) -> Exception:
    """The client's error for an answer with a status."""
    answer = SimpleNamespace(status_code=status, headers={}, request=None)
    return kind(message, response=answer, server_message=message)


@dataclass(frozen=True)
class Commit:
    """A commit, whose files lie in a folder."""

    sha: str
    title: str
    message: str
    author: str
    folder: Path
    parent: "Commit | None" = None

    def read(self) -> dict[str, bytes]:
        """The content of all files by path."""
        files = sorted(path for path in self.folder.rglob("*") if path.is_file())
        return {path.relative_to(self.folder).as_posix(): path.read_bytes() for path in files}


@dataclass
class Repository:
    """A repository; heads are commits by reference, `refs/heads/main` or `refs/pr/1`."""

    id: str
    kind: str
    private: bool
    sdk: str | None
    heads: dict[str, Commit] = field(default_factory=dict)
    bases: dict[str, Commit] = field(default_factory=dict)
    discussions: list[DiscussionWithDetails] = field(default_factory=list)

    def find(self, revision: str = "refs/heads/main") -> Commit:
        """The commit of a branch, a pull request or a sha."""
        for reference, commit in self.heads.items():
            if revision in (reference, reference.removeprefix("refs/heads/")):
                return commit
            while commit is not None:
                if commit.sha == revision:
                    return commit
                commit = commit.parent
        raise refuse(404, "Invalid rev id", errors.RevisionNotFoundError)

    def find_discussion(self, number: int) -> DiscussionWithDetails:
        if not 1 <= number <= len(self.discussions):
            raise refuse(404, "Discussion not found")
        return self.discussions[number - 1]


class FakeHub:
    """A Hub with no users and no repositories.

    Attributes:
        url: its address, for links.
        repositories: by kind and name, `("dataset", "ann/rain")`.
        faults: what goes wrong, see `Fault`; the first that matches is taken.
        calls: what was asked so far: names of methods and their arguments.
        now: the time of the next event; every event moves it on by a second.
    """

    url = URL

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.orgs: dict[str, list[str]] = {}
        self.repositories: dict[tuple[str, str], Repository] = {}
        self.faults: list[Fault] = []
        self.calls: list[tuple[str, dict]] = []
        self.now = datetime(2026, 11, 22, 10, tzinfo=UTC)
        self._patch = patch

    def add_user(self, name: str, *, orgs=()) -> None:
        """Add a user, who is a member of these organizations."""
        self.orgs[name] = list(orgs)

    def log_in(self, user: str | None) -> None:
        """Let the client of this process be a user's from now on, or nobody's."""
        if user is None:
            self._patch.delenv("HF_TOKEN", raising=False)
        else:
            self._patch.setenv("HF_TOKEN", f"hf_{user}")

    def tick(self) -> datetime:
        """The time of an event."""
        self.now += timedelta(seconds=1)
        return self.now - timedelta(seconds=1)

    def add_repository(
        self, name, kind="dataset", files=None, *, private=False, sdk=None, author=None
    ) -> None:
        """Create a repository as its owner would, with files (bytes by path) in a commit of their own."""
        self.repositories[kind, name] = Repository(name, kind, private, sdk)
        author = author or name.split("/")[0]
        start = {".gitattributes": b"*.parquet filter=lfs diff=lfs merge=lfs -text\n"}
        self.commit(name, kind, start, author=author, title="initial commit")
        if files:
            self.commit(name, kind, files, author=author)

    def commit(
        self, name, kind, files, *, author="somebody", title="Add files", message="", on=None
    ) -> Commit:
        """Commit files to main, or another reference, behind the clients' backs: bytes by path, None to delete."""
        repository = self.repositories[kind, name]
        reference = on or "refs/heads/main"
        parent = repository.heads.get(reference)
        tree = {**(parent.read() if parent else {}), **files}
        date = self.tick()
        sha = hashlib.sha1(repr((name, kind, title, date, tree)).encode()).hexdigest()  # noqa: S324
        folder = self.folder / kind / name / sha
        for path, content in tree.items():
            if content is not None:
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_bytes(content)
        commit = Commit(sha, title, message, author, folder, parent)
        repository.heads[reference] = commit
        for request in repository.discussions:
            if request.git_reference == reference:
                about = self.describe_event(request, "commit", author, date)
                request.events.append(DiscussionCommit(**about, summary=title, oid=sha))
        return commit

    def describe_event(self, discussion, kind, author, date) -> dict:
        number = f"{discussion.num}-{len(discussion.events)}"
        return {"id": number, "type": kind, "created_at": date, "author": author, "_event": {}}

    def comment(self, discussion: DiscussionWithDetails, author: str, text: str) -> None:
        """Add a comment to a discussion."""
        about = self.describe_event(discussion, "comment", author, self.tick())
        comment = DiscussionComment(**about, content=text, edited=False, hidden=False)
        discussion.events.append(comment)

    def open_pull_request(
        self, name, kind, author, files, *, title="Please", text="", status="open"
    ) -> DiscussionWithDetails:
        """Open a pull request as its author would, with anything in it: bytes by path, None to delete."""
        repository = self.repositories[kind, name]
        request = self.open_discussion(name, kind, author, title, text=text, status=status)
        request.is_pull_request, request.target_branch = True, "refs/heads/main"
        repository.heads[request.git_reference] = repository.find()
        repository.bases[request.git_reference] = repository.find()
        if files:
            self.push(name, kind, request.num, files)
        return request

    def open_discussion(
        self, name, kind, author, title, *, text="", status="open"
    ) -> DiscussionWithDetails:
        """Open a discussion, whose description is its first comment."""
        repository = self.repositories[kind, name]
        discussion = DiscussionWithDetails(
            title=title,
            status=status,
            num=len(repository.discussions) + 1,
            repo_id=name,
            repo_type=kind,
            author=author,
            is_pull_request=False,
            created_at=self.now,
            endpoint=URL,
            events=[],
            conflicting_files=[],
            target_branch=None,
            merge_commit_oid=None,
            diff=None,
        )
        repository.discussions.append(discussion)
        self.comment(discussion, author, text)
        return discussion

    def push(self, name, kind, number, files) -> Commit:
        """Commit to a pull request as its author would."""
        request = self.repositories[kind, name].find_discussion(number)
        about = {"author": request.author, "title": request.title}
        return self.commit(name, kind, files, **about, on=request.git_reference)

    def files(self, name, kind="dataset", revision="main") -> dict[str, bytes]:
        """What a repository holds: bytes by path, without .gitattributes."""
        files = self.repositories[kind, name].find(revision).read()
        return {path: content for path, content in files.items() if path != ".gitattributes"}

    def commits(self, name, kind="dataset") -> list[Commit]:
        """The commits of the main branch, oldest first; the first is the empty one of its creation."""
        commits, commit = [], self.repositories[kind, name].find()
        while commit is not None:
            commits.append(commit)
            commit = commit.parent
        return commits[::-1]

    def discussions(self, name, kind="dataset") -> list[DiscussionWithDetails]:
        """Discussions and pull requests, oldest first: the first has number 1."""
        return self.repositories[kind, name].discussions

    def count_calls(self, name: str) -> int:
        """How often a method was called."""
        return [called for called, _ in self.calls].count(name)


def comments(discussion: DiscussionWithDetails) -> list[tuple[str, str]]:
    """Who said what, the description first."""
    events = [event for event in discussion.events if event.type == "comment"]
    return [(event.author, event.content) for event in events]


@contextmanager
def fake_hub(folder: Path) -> Iterator[FakeHub]:
    """A Hub that stands for the real one, in whatever this process asks the Hub's client."""
    with pytest.MonkeyPatch.context() as patch:
        for name in os.environ:
            if name.startswith(("HF_", "HUGGING")):
                patch.delenv(name)
        patch.setenv("HF_ENDPOINT", URL)
        patch.setattr(huggingface_hub.constants, "HF_TOKEN_PATH", str(folder / "token"))
        hub = FakeHub(folder, patch)
        patch.setattr(huggingface_hub, "HfApi", lambda: FakeApi(hub))
        yield hub


def request(method):
    """Check a call by the signature of the real method, note it, and let its fault happen."""
    name = method.__name__
    signature = inspect.signature(getattr(huggingface_hub.HfApi, name))

    @wraps(method)
    def call(api, *values, **more):
        arguments = dict(signature.bind(api, *values, **more).arguments)
        arguments.pop("self")
        api.hub.calls.append((name, arguments))
        fault = next((fault for fault in api.hub.faults if fault.takes(name)), Fault(""))
        fault.hook()
        if not fault.is_late:
            fault.throw()
        answer = method(api, **arguments)
        fault.throw()
        return answer

    return call


class FakeApi:
    """The methods of `HfApi` that closeread calls, as the user whose token is in the environment."""

    def __init__(self, hub: FakeHub) -> None:
        self.hub = hub

    def find_user(self) -> str | None:
        """The user who is logged in."""
        token = huggingface_hub.get_token()
        if token is None:
            return None
        if (user := token.removeprefix("hf_")) not in self.hub.orgs:
            raise refuse(401, "Invalid credentials in Authorization header")
        return user

    def require_user(self) -> str:
        if (user := self.find_user()) is None:
            raise errors.LocalTokenNotFoundError("Token is required")
        return user

    def may_write(self, namespace: str) -> bool:
        user = self.find_user()
        return user is not None and namespace in (user, *self.hub.orgs[user])

    def find(self, name: str, kind: str) -> Repository:
        """The repository, if the user may see it."""
        repository, user = self.hub.repositories.get((kind, name)), self.find_user()
        is_hidden = repository is None or (
            repository.private and not self.may_write(name.split("/")[0])
        )
        if is_hidden:
            status = 401 if user is None else 404
            raise refuse(status, "Repository not found", errors.RepositoryNotFoundError)
        return repository

    @request
    def whoami(self):
        return {"name": self.require_user()}

    @request
    def create_repo(self, repo_id, repo_type, exist_ok, private, space_sdk):
        user = self.require_user()
        if not self.may_write(repo_id.split("/")[0]):
            raise refuse(403, "You don't have the rights to create a repository there")
        if repo_type == "space" and space_sdk != "static":
            raise refuse(402, "Compute Spaces need a paid plan: upgrade to PRO")
        if (repo_type, repo_id) not in self.hub.repositories:
            about = {"private": bool(private), "sdk": space_sdk, "author": user}
            self.hub.add_repository(repo_id, repo_type, **about)
        elif not exist_ok:
            raise refuse(409, "You already created this repository")

    @request
    def repo_info(self, repo_id, repo_type, revision, expand):
        repository = self.find(repo_id, repo_type)
        known = {"sha": repository.find(revision).sha, "private": repository.private}
        return SimpleNamespace(**{name: known[name] for name in expand})

    @request
    def list_repo_tree(self, repo_id, repo_type, revision, recursive):
        assert recursive
        return list_entries(self.find(repo_id, repo_type).find(revision)).values()

    @request
    def get_paths_info(self, repo_id, paths, repo_type, revision):
        entries = list_entries(self.find(repo_id, repo_type).find(revision))
        return [entries[path] for path in paths if path in entries]

    @request
    def hf_hub_download(self, repo_id, filename, repo_type, revision, local_dir):
        source = self.find(repo_id, repo_type).find(revision).folder / filename
        return shutil.copyfile(source, Path(local_dir, Path(filename).name))

    @request
    def snapshot_download(self, repo_id, repo_type, revision, allow_patterns):
        return self.find(repo_id, repo_type).find(revision).folder

    @request
    def create_commit(
        self,
        repo_id,
        operations,
        commit_message,
        commit_description,
        repo_type,
        parent_commit,
        create_pr,
    ):
        repository, user = self.find(repo_id, repo_type), self.require_user()
        if not create_pr and not self.may_write(repo_id.split("/")[0]):
            text = "Authorization error: you don't have write access to this repository"
            raise refuse(403, text)
        head = repository.find()
        if not create_pr and parent_commit not in (None, head.sha):
            raise refuse(412, "A commit has happened since. Please refresh and try again.")
        files = read_operations(operations, head.read())
        about = {"title": commit_message, "author": user}
        place = f"{URL}/{'' if repo_type == 'model' else f'{repo_type}s/'}{repo_id}"
        if create_pr:
            opened = self.hub.open_pull_request(
                repo_id, repo_type, user, files, title=commit_message, text=commit_description
            )
            made, page = repository.find(opened.git_reference), f"{place}/discussions/{opened.num}"
        else:
            made = self.hub.commit(repo_id, repo_type, files, **about, message=commit_description)
            page = None
        commit_url = f"{place}/commit/{made.sha}"
        return CommitInfo(commit_url, commit_message, commit_description, made.sha, URL, page)

    @request
    def get_repo_discussions(self, repo_id, repo_type, discussion_type, discussion_status):
        discussions = reversed(self.find(repo_id, repo_type).discussions)
        # drafts are open to the Hub
        states = ("open", "draft") if discussion_status == "open" else ()
        return iter(
            [
                deepcopy(discussion)
                for discussion in discussions
                if discussion.is_pull_request or discussion_type != "pull_request"
                if not states or discussion.status in states
            ]
        )

    @request
    def get_discussion_details(self, repo_id, discussion_num, repo_type):
        repository = self.find(repo_id, repo_type)
        discussion = deepcopy(repository.find_discussion(discussion_num))
        if not discussion.is_pull_request:
            return discussion
        before = repository.bases[discussion.git_reference].read()
        after = repository.find(discussion.git_reference).read()
        paths = sorted(before.keys() | after.keys())
        changed = [path for path in paths if before.get(path) != after.get(path)]
        diff = "".join(f"diff --git a/{path} b/{path}\n@@ -1 +1 @@\n+x\n" for path in changed)
        return replace(discussion, diff=diff)

    @request
    def comment_discussion(self, repo_id, discussion_num, comment, repo_type):
        discussion = self.find(repo_id, repo_type).find_discussion(discussion_num)
        self.hub.comment(discussion, self.require_user(), comment)

    @request
    def change_discussion_status(self, repo_id, discussion_num, new_status, repo_type):
        discussion = self.find(repo_id, repo_type).find_discussion(discussion_num)
        user = self.require_user()
        if user != discussion.author and not self.may_write(repo_id.split("/")[0]):
            raise refuse(403, "You don't have the rights to change the status of this discussion")
        discussion.status = new_status
        about = self.hub.describe_event(discussion, "status-change", user, self.hub.tick())
        discussion.events.append(DiscussionStatusChange(**about, new_status=new_status))


def list_entries(commit: Commit) -> dict[str, RepoFile | RepoFolder]:
    """All files and folders of a commit by path; Parquet files are large ones, of which git holds a pointer."""
    entries: dict[str, RepoFile | RepoFolder] = {}
    for path, content in commit.read().items():
        blob = f"blob {len(content)}\0".encode() + content
        about = {"path": path, "size": len(content), "oid": hashlib.sha1(blob).hexdigest()}  # noqa: S324
        if path.endswith(".parquet"):
            digest = hashlib.sha256(content).hexdigest()
            about |= {"lfs": {"oid": digest, "size": len(content), "pointerSize": 130}, "oid": ""}
        entries[path] = RepoFile(**about)
        for folder in Path(path).parents:
            entries[folder.as_posix()] = RepoFolder(path=folder.as_posix(), oid="")
    return entries


def read_operations(operations, head: dict[str, bytes]) -> dict[str, bytes | None]:
    """The files that a commit changes; like the client, leave out what .gitignore names and mark it."""
    ignored = head.get(".gitignore", b"").decode().split()
    files: dict[str, bytes | None] = {}
    for operation in operations:
        path = operation.path_in_repo
        if isinstance(operation, CommitOperationAdd):
            operation._should_ignore = any(fnmatch(path, pattern) for pattern in ignored)
            with operation.as_file() as file:
                files |= {} if operation._should_ignore else {path: file.read()}
        elif path in head:
            files[path] = None
        else:
            raise refuse(
                404, "A file with this name doesn't exist", errors.RemoteEntryNotFoundError
            )
    return files
