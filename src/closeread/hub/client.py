"""Repositories on the Hugging Face Hub: files, commits, pull requests and publishing, through the Hub's client.

Nothing is sent again here: whatever is sent is compared with the repository first, so after a lost answer the user runs
the same command again, which finds what has arrived.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC
from fnmatch import fnmatchcase
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from closeread.exceptions import MissingExtraError, RequestError, escape, join_names, quote, shorten
from closeread.files import scratch_folder

if TYPE_CHECKING:
    from huggingface_hub import Discussion, HfApi
    from huggingface_hub.hf_api import RepoFile


OLDEST = (1, 31)
MAX_PATHS = 500  # paths that one request asks about
LOGIN = "run `hf auth login`, or set HF_TOKEN"
NO_LOGIN = f"not logged in to the Hugging Face Hub: {LOGIN}"
CONFLICT = "somebody else has committed in the meantime; try again"
PART = "[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?"
NAME = re.compile(f"{PART}/{PART}")
MAX_NAME_LENGTH = 96  # characters, by the Hub's documentation

Content = bytes | Path  # the content of a file, or the file that has it


class ConflictError(RequestError):
    """A commit whose intended parent is no longer the head: somebody else was faster."""


class NoSuchRepositoryError(RequestError):
    """A repository that does not exist, or that the user may not see."""


class NoSuchFileError(RequestError):
    """A file that a repository does not have."""


class TooLargeError(RequestError):
    """A file that is larger than the limit."""


@dataclass(frozen=True)
class Repository:
    """A repository on the Hub, by its id ORG/NAME; an id of another form is a RequestError."""

    id: str
    kind: Literal["model", "dataset", "space"]

    def __post_init__(self) -> None:
        if not is_repository(self.id):
            raise RequestError(
                f"{quote(self.id)} is not the name of a repository (expected ORG/NAME)"
            )

    def __str__(self) -> str:
        return f"{self.kind} {self.id}"

    @property
    def url(self) -> str:
        """The address of its page."""
        endpoint = os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")
        folder = "" if self.kind == "model" else f"{self.kind}s/"
        return f"{endpoint}/{folder}{self.id}"


def is_repository(name: str) -> bool:
    """Return whether a name is that of a repository, ORG/NAME."""
    is_short = len(name) <= MAX_NAME_LENGTH
    return is_short and bool(NAME.fullmatch(name)) and not re.search(r"--|\.\.|\.git$", name)


class Commit(NamedTuple):
    """The commit that holds the files: a new one, or the present head if nothing had to be changed."""

    sha: str
    url: str
    pull_request: int | None = None
    pull_request_url: str | None = None
    changed: bool = True


class PullRequestDetails(NamedTuple):
    """The last commit of a pull request, and all paths that it touches.

    Attributes:
        updated: the time of the commit, such as "2026-11-22T10:00:00Z".
        comments: authors and texts; the first is the description.
    """

    head: str
    updated: str
    paths: tuple[str, ...]
    comments: tuple[tuple[str, str], ...]


class BranchChanges(NamedTuple):
    """What is to be done so that a branch has some files, and not others.

    Attributes:
        head: the last commit of the branch.
        missing: the files that it lacks, or has with another content.
        unwanted: those of the paths to delete that it has.
    """

    head: str
    missing: dict[str, Content]
    unwanted: list[str]

    @property
    def is_empty(self) -> bool:
        """Whether nothing is to be done."""
        return not self.missing and not self.unwanted


class Hub:
    """The Hugging Face Hub, with the token in HF_TOKEN or of the saved login."""

    def __init__(self) -> None:
        import huggingface_hub
        from huggingface_hub.utils import disable_progress_bars, logging  # type: ignore[attr-defined]

        if tuple(map(int, huggingface_hub.__version__.split(".")[:2])) < OLDEST:
            needed = "huggingface-hub {}.{} or newer".format(*OLDEST)
            raise MissingExtraError("working with the Hub", needed, extra="hub")
        logging.set_verbosity_error()  # type: ignore[no-untyped-call]  # what matters is said here
        if not sys.stderr.isatty():
            disable_progress_bars()
        self._api: HfApi = huggingface_hub.HfApi()

    @cached_property
    def user(self) -> str:
        """The name of the user whose token it is."""
        with explaining():
            return str(self._api.whoami()["name"])

    def create(self, repository: Repository, *, private: bool | None = None) -> None:
        """Create a repository, unless it exists; one that should be private must not be public."""
        check_login()
        sdk = "static" if repository.kind == "space" else None
        self._ask(self._api.create_repo, repository, exist_ok=True, private=private, space_sdk=sdk)
        if private and not self._read_info(repository, "private").private:
            raise RequestError(
                f"{repository} exists and is public; make it private in its settings on the Hub"
            )

    def head(self, repository: Repository) -> str | None:
        """Return the sha of the last commit; None if there is no such repository."""
        try:
            return self._read_head(repository, "main")
        except NoSuchRepositoryError:
            return None

    def list_files(self, repository: Repository, revision: str = "main") -> dict[str, RepoFile]:
        """List all files by path."""
        with explaining(str(repository)):
            tree = self._api.list_repo_tree(
                repository.id, repo_type=repository.kind, revision=revision, recursive=True
            )
            return _index_files(tree)

    def read(
        self, repository: Repository, path: str, revision: str, limit: int | None = None
    ) -> bytes:
        """Return the content of a file; one of more bytes than the limit is a TooLargeError before it is downloaded."""
        file = self._find(repository, [path], revision).get(path)
        if file is None:
            raise NoSuchFileError(f"{repository}: no such file: {path}")
        if limit is not None and file.size > limit:
            raise TooLargeError(f"{repository}: {path} is larger than {limit:,} bytes")
        with scratch_folder() as scratch:
            copy = self._ask(
                self._api.hf_hub_download, repository, path, revision=revision, local_dir=scratch
            )
            return Path(copy).read_bytes()

    def download(
        self, repository: Repository, revision: str, patterns: Sequence[str], folder: Path
    ) -> None:
        """Copy the files of a commit that match a pattern, whose `*` matches `/` too, into a folder."""
        paths: list[str] = []
        listed = self.list_files(repository, revision)
        for pattern in patterns:
            paths += [path for path in listed if fnmatchcase(path, pattern)]
        snapshot = self._ask(
            self._api.snapshot_download, repository, revision=revision, allow_patterns=paths
        )
        for path in paths:
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                shutil.copyfile(Path(snapshot, path), target)
            except FileNotFoundError:  # if the Hub is out of reach, the client returns what it has
                raise RequestError(
                    f"{repository}: {path} could not be downloaded; try again later"
                ) from None

    def compare(
        self,
        repository: Repository,
        files: Mapping[str, Content],
        delete: Sequence[str] = (),
        revision: str = "main",
    ) -> BranchChanges:
        """Compare files, and paths to delete, with a branch."""
        head = self._read_head(repository, revision)
        present = self._find(repository, [*files, *delete], head)
        differing = [path for path in files if not _is_same(present.get(path), files[path])]
        missing = {path: files[path] for path in differing}
        unwanted = [path for path in delete if path in present]
        return BranchChanges(head, missing, unwanted)

    def commit(
        self,
        repository: Repository,
        files: Mapping[str, Content],
        *,
        message: str,
        description: str = "",
        delete: Sequence[str] = (),
        parent: str | None = None,
        pull_request: bool = False,
    ) -> Commit:
        """Commit files to the main branch, or propose them in a pull request: all of them or none.

        Files that are there already and deleted files that aren't are left out, and an open pull request of the user
        with the same title and files is not opened again.  If the head is not `parent`, that is a ConflictError.
        """
        from huggingface_hub import CommitOperationAdd, CommitOperationDelete

        check_login()
        head, missing, unwanted = difference = self.compare(repository, files, delete)
        if pull_request:
            earlier = self.find_request(repository, files, message, delete)
            if earlier is not None:
                return earlier
        elif parent not in (None, head):
            raise ConflictError(f"{repository}: {CONFLICT}")
        if difference.is_empty:
            return Commit(head, f"{repository.url}/commit/{head}", changed=False)
        additions = [CommitOperationAdd(path, content) for path, content in missing.items()]
        deletions = [CommitOperationDelete(path) for path in unwanted]
        commit = self._ask(
            self._api.create_commit,
            repository,
            [*additions, *deletions],
            commit_message=message,
            commit_description=description,
            parent_commit=parent,
            create_pr=pull_request,
        )
        ignored = [file.path_in_repo for file in additions if file._should_ignore]
        if ignored:  # the client leaves them out and only logs it
            left_out = f"its .gitignore leaves out {join_names(ignored)}"
            raise RequestError(f"{repository}: {left_out}; remove them from it")
        return Commit(commit.oid, commit.commit_url, commit.pr_num, commit.pr_url)

    def find_request(
        self,
        repository: Repository,
        files: Mapping[str, Content],
        title: str,
        delete: Sequence[str] = (),
        *,
        by_anybody: bool = False,
    ) -> Commit | None:
        """Return the open pull request of the user with this title and these files, or an open or merged one."""
        for request in self.pull_requests(repository, all_states=by_anybody):
            is_open = request.status in ("open", "merged")
            is_asked = is_open and (by_anybody or request.author == self.user)
            if is_asked and request.title == title:
                revision = f"refs/pr/{request.num}"
                difference = self.compare(repository, files, delete, revision)
                if difference.is_empty:
                    url = request.url
                    return Commit(difference.head, url, request.num, url, changed=False)
        return None

    def pull_requests(
        self, repository: Repository, *, all_states: bool = False
    ) -> list[Discussion]:
        """List pull requests, oldest first: the open ones, or all; drafts are not open."""
        with explaining(str(repository)):
            discussions = self._api.get_repo_discussions(
                repository.id,
                repo_type=repository.kind,
                discussion_type="pull_request",
                discussion_status=None if all_states else "open",
            )
            requests = sorted(discussions, key=lambda request: request.num)
        return [request for request in requests if all_states or request.status == "open"]

    def read_pull_request(self, repository: Repository, number: int) -> PullRequestDetails:
        """Return the last commit and the paths of a pull request; the Hub may not show all of a very large one."""
        from huggingface_hub import DiscussionComment, DiscussionCommit

        details = self._ask(self._api.get_discussion_details, repository, number)
        if details.diff is None and details.status == "open":
            raise RequestError(
                f"{repository}: the Hub does not show what pull request {number} changes"
            )
        commits = [event for event in details.events if isinstance(event, DiscussionCommit)]
        head = commits[-1].oid if commits else self._read_head(repository, f"refs/pr/{number}")
        time = (commits[-1] if commits else details).created_at.astimezone(UTC)
        paths = list_changed_paths(details.diff or "")
        comments = [
            (event.author, event.content)
            for event in details.events
            if isinstance(event, DiscussionComment)
        ]
        return PullRequestDetails(head, f"{time:%Y-%m-%dT%H:%M:%SZ}", paths, tuple(comments))

    def comment(self, repository: Repository, number: int, text: str) -> None:
        """Comment on a discussion or pull request."""
        self._ask(self._api.comment_discussion, repository, number, text)

    def close(self, repository: Repository, number: int) -> None:
        """Close a discussion or pull request."""
        self._ask(self._api.change_discussion_status, repository, number, "closed")

    def _ask(
        self, request: Callable[..., Any], repository: Repository, *arguments: Any, **options: Any
    ) -> Any:
        """Return the answer to a request of the client about a repository; errors say what the user can do."""
        with explaining(str(repository)):
            return request(repository.id, *arguments, repo_type=repository.kind, **options)

    def _read_info(self, repository: Repository, field: str, revision: str = "main") -> Any:
        return self._ask(self._api.repo_info, repository, revision=revision, expand=[field])

    def _read_head(self, repository: Repository, revision: str) -> str:
        return str(self._read_info(repository, "sha", revision).sha)

    def _find(
        self, repository: Repository, paths: Sequence[str], revision: str
    ) -> dict[str, RepoFile]:
        """Return what the Hub knows of those of the files that are there, by path."""
        entries: dict[str, RepoFile] = {}
        for start in range(0, len(paths), MAX_PATHS):
            chunk = list(paths[start : start + MAX_PATHS])
            answer = self._ask(self._api.get_paths_info, repository, chunk, revision=revision)
            entries |= _index_files(answer)
        return entries


def _index_files(entries: Iterable[object]) -> dict[str, RepoFile]:
    from huggingface_hub.hf_api import RepoFile

    return {entry.path: entry for entry in entries if isinstance(entry, RepoFile)}


def _is_same(file: RepoFile | None, content: Content) -> bool:
    """Tell whether the Hub has a file with this content; it names large files by sha256, others as git does."""
    from huggingface_hub.utils.sha import git_hash

    if isinstance(content, Path):
        content = content.read_bytes()
    if file is None or file.size != len(content):
        return False
    if file.lfs is not None:
        return sha256(content).hexdigest() == file.lfs.sha256
    return str(git_hash(content)) == file.blob_id


def list_changed_paths(diff: str) -> tuple[str, ...]:
    r"""List the paths that a difference in git's format touches, sorted.

    Only lines that no file's content can imitate are read: content stands behind a space, `+`, `-` or a backslash.  The
    header of a file that is renamed, or whose name has spaces or quotes, is returned as it is: no such path is allowed.

    >>> list_changed_paths("diff --git a/x.txt b/x.txt\nnew file mode 100644\n--- /dev/null\n+++ b/x.txt\n")
    ('x.txt',)
    """
    paths = set()
    for header in re.findall(r"^diff --git (.*)$", diff, re.MULTILINE):
        old, _, new = header.partition(" ")
        paths.add(old[2:] if old[:2] == "a/" and new == f"b/{old[2:]}" else header)
    return tuple(sorted(paths))


def check_login() -> None:
    """Raise an error if nobody is logged in: without a token, the Hub answers in several ways."""
    from huggingface_hub import get_token

    if get_token() is None:
        raise RequestError(NO_LOGIN)


@contextmanager
def explaining(where: str = "") -> Iterator[None]:
    """Turn errors of the client into those that say what the user can do; `where` is the repository, for messages."""
    try:
        yield
    except RequestError:
        raise
    except Exception as error:
        raise explain(error, where) from error


def explain(error: Exception, where: str) -> RequestError:
    """Turn an error of the client into one that says what the user can do."""
    from huggingface_hub import errors, get_token

    # None if there was no answer
    status = getattr(getattr(error, "response", None), "status_code", None)
    prefix = f"{where}: " if where else ""
    has_token = get_token() is not None
    if isinstance(error, errors.LocalTokenNotFoundError):
        return RequestError(NO_LOGIN)
    is_gated = isinstance(error, errors.GatedRepoError)  # which is a subclass of the next
    is_bad_token = status == 401 and has_token
    if isinstance(error, errors.RepositoryNotFoundError) and not is_gated and not is_bad_token:
        reason = f"you are {NO_LOGIN}" if status == 401 else "your account can't see it"
        return NoSuchRepositoryError(f"no such {where}, or it is private and {reason}")
    if isinstance(error, errors.RemoteEntryNotFoundError) and status != 401:
        return NoSuchFileError(f"{prefix}no such file")
    if status == 412:
        return ConflictError(f"{prefix}{CONFLICT}")
    if isinstance(error, errors.OfflineModeIsEnabled):
        reason = "the Hugging Face Hub is out of reach while HF_HUB_OFFLINE is set (unset it)"
    elif is_gated:
        reason = "access must be requested on its page on the Hub"
    elif isinstance(error, errors.RevisionNotFoundError) and status != 401:
        reason = "no such revision"
    elif status == 401:
        reason = NO_LOGIN
        if has_token:
            reason = f"the Hugging Face Hub does not accept your token: {LOGIN}"
    elif status is not None:
        reason = _explain_status(status, error)
    elif _is_unreachable(error):
        reason = f"could not reach the Hugging Face Hub ({_shorten(str(error) or repr(error))})"
    else:  # front matter that the client refuses, for example
        reason = _shorten(str(error))
    return RequestError(f"{prefix}{reason}")


def _explain_status(status: int, error: Exception) -> str:
    """Say what an answer with a status means, in the Hub's own words, too."""
    words = _shorten(str(getattr(error, "server_message", None) or ""))
    answer = f": {words}" if words else ""
    if status == 402:
        return f"the Hugging Face Hub asks for a paid plan{answer}"
    if status == 403:
        return f"no permission; ask its owners, or use a token with write access{answer}"
    if status == 429:
        return "too many requests to the Hugging Face Hub; try again later"
    if status >= 500:
        trouble = f"has a problem (status {status}); try again later"
        return f"the Hugging Face Hub {trouble}{answer}"
    return f"the Hugging Face Hub refused the request (status {status}){answer}"


def _is_unreachable(error: Exception) -> bool:
    """Tell whether the Hub could not be reached.

    A connection that breaks raises errors of the HTTP library, which differs between versions of the client; and the
    page of a proxy that could not reach the Hub is no JSON.
    """
    modules = [base.__module__ for base in type(error).__mro__]
    is_of_http = any(module.startswith("http") for module in modules)
    return isinstance(error, OSError) or is_of_http or type(error).__name__ == "JSONDecodeError"


def _shorten(text: str) -> str:
    return shorten(escape(" ".join(text.split())))


@dataclass(frozen=True)
class Plan:
    """The files that a repository should have, by path; other files that match a pattern in `owned` are deleted."""

    repository: Repository
    files: Mapping[str, Content]
    owned: tuple[str, ...] = ()

    def sizes(self) -> dict[str, int]:
        """Return the sizes of the files in bytes, by path, sorted."""
        return {
            path: len(content) if isinstance(content, bytes) else content.stat().st_size
            for path, content in sorted(self.files.items())
        }


class Change(NamedTuple):
    """The change of a file by publishing: its path, its size in bytes (of a deleted file, before) and the kind."""

    path: str
    size: int
    kind: Literal["new", "changed", "unchanged", "deleted", "unknown"]


def compare(hub: Hub, plan: Plan) -> list[Change]:
    """Compare a plan with a repository; return changes of all files of the plan, and of those to be deleted, sorted."""
    try:
        present = hub.list_files(plan.repository)
    except NoSuchRepositoryError:
        present = {}
    changes = []
    for path, size in plan.sizes().items():
        if path not in present:
            changes.append(Change(path, size, "new"))
        elif _is_same(present[path], plan.files[path]):
            changes.append(Change(path, size, "unchanged"))
        else:
            changes.append(Change(path, size, "changed"))
    for path, file in present.items():
        is_owned = any(matches(path, pattern) for pattern in plan.owned)
        if is_owned and path not in plan.files:
            changes.append(Change(path, file.size, "deleted"))
    return sorted(changes)


def matches(path: str, pattern: str) -> bool:
    """Tell whether a path matches a pattern; `*` does not match `/`."""
    parts = path.split("/")
    patterns = pattern.split("/")
    return len(parts) == len(patterns) and all(map(fnmatchcase, parts, patterns))


def publish(
    hub: Hub, plan: Plan, *, message: str, private: bool = False
) -> tuple[list[Change], Commit | None]:
    """Make a repository match a plan in one commit, which is None if there is nothing to change."""
    head = hub.head(plan.repository)
    if head is None or private:  # of a repository that exists, this checks that it is private
        hub.create(plan.repository, private=private or None)
        head = hub.head(plan.repository)
    changes = compare(hub, plan)
    deleted = [change.path for change in changes if change.kind == "deleted"]
    if not deleted and all(change.kind == "unchanged" for change in changes):
        return changes, None
    return changes, hub.commit(
        plan.repository, plan.files, message=message, delete=deleted, parent=head
    )
