"""Repositories on the Hugging Face Hub: files, commits, pull requests and publishing, through the Hub's client.

The client never repeats a commit, nor most other requests.  Here every request is repeated while the Hub is busy; and
after one whose answer was lost, the repository is looked at before anything is sent again.
"""

from __future__ import annotations

import os
import random
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC
from fnmatch import fnmatchcase
from functools import cached_property, partial
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from closeread.exceptions import MissingExtraError, RequestError, escape, join_names, quote, shorten

if TYPE_CHECKING:
    from huggingface_hub import Discussion, DiscussionWithDetails, HfApi
    from huggingface_hub.hf_api import RepoFile


OLDEST = (1, 31)
READERS = 8
MAX_PATHS = 500  # paths that one request asks about
ATTEMPTS = 5
LONGEST_WAIT = 300.0
"""The most seconds to wait when the Hub, which limits requests per five minutes, asks to; beyond it, raise an error."""
TRANSIENT = frozenset({408, 429, 500, 502, 503, 504})
LOGIN = "run `hf auth login`, or set HF_TOKEN"
NO_LOGIN = f"not logged in to the Hugging Face Hub: {LOGIN}"
CONFLICT = "somebody else has committed in the meantime; try again"
PART = "[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?"
NAME = re.compile(f"{PART}/{PART}")

Content = bytes | Path  # the content of a file, or the file that has it
T = TypeVar("T")


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
        if not NAME.fullmatch(self.id) or "--" in self.id or ".." in self.id or len(self.id) > 96:
            raise RequestError(
                f"{quote(self.id)} is not the name of a repository (expected ORG/NAME)"
            )

    def __str__(self) -> str:
        return f"{self.kind} {self.id}"

    @property
    def url(self) -> str:
        """The address of its page."""
        endpoint = os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")
        return f"{endpoint}/{'' if self.kind == 'model' else f'{self.kind}s/'}{self.id}"


class Commit(NamedTuple):
    """The commit that holds the files: a new one, or the present head if nothing had to be changed."""

    sha: str
    url: str
    pull_request: int | None = None
    pull_request_url: str | None = None
    changed: bool = True


class PullRequestDetails(NamedTuple):
    """The last commit of a pull request, and all paths that it touches."""

    head: str
    updated: str  # "2026-11-22T10:00:00Z"
    paths: tuple[str, ...]
    comments: tuple[tuple[str, str], ...]  # the first is the description


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
        return str(repeat(self._api.whoami, "")["name"])

    def create(self, repository: Repository, *, private: bool | None = None) -> None:
        """Create a repository, unless it exists; one that should be private must not be public."""
        check_login()
        sdk = "static" if repository.kind == "space" else None
        self._ask(self._api.create_repo, repository, exist_ok=True, private=private, space_sdk=sdk)
        if private and not self._read_info(repository, "private").private:
            raise RequestError(
                f"{repository} exists and is public; make it private in its settings on the Hub"
            )

    def head(self, repository: Repository, revision: str = "main") -> str | None:
        """Return the sha of the last commit of a branch or of `refs/pr/N`; None if there is no such repository."""
        try:
            return self._read_head(repository, revision)
        except NoSuchRepositoryError:
            return None

    def list_files(self, repository: Repository, revision: str = "main") -> dict[str, int]:
        """List all files and their sizes in bytes."""
        return {path: entry.size for path, entry in self._list_tree(repository, revision).items()}

    def read(
        self, repository: Repository, path: str, revision: str = "main", limit: int | None = None
    ) -> bytes:
        """Return the content of a file; one of more bytes than the limit is a TooLargeError before it is downloaded."""
        from huggingface_hub import get_hf_file_metadata, get_session, hf_hub_url
        from huggingface_hub.utils import build_hf_headers, hf_raise_for_status  # type: ignore[attr-defined]

        def download() -> bytes:
            found = revision
            if limit is not None:
                about = get_hf_file_metadata(make_url(revision=revision))
                if about.size is None or about.size > limit:
                    raise TooLargeError(f"{repository}: {path} is larger than {limit:,} bytes")
                found = about.commit_hash or revision
            answer = get_session().get(make_url(revision=found), headers=build_hf_headers())
            hf_raise_for_status(answer)
            return bytes(answer.content)

        make_url = partial(hf_hub_url, repository.id, path, repo_type=repository.kind)
        return repeat(download, str(repository), path=path)

    def read_files(
        self,
        repository: Repository,
        revision: str,
        is_wanted: Callable[[str], bool],
        kept: dict[str, bytes],
    ) -> dict[str, bytes]:
        """Return the contents of the files of a commit by path, and add them to those kept, by git's names for them."""

        def read_once(entry: RepoFile) -> bytes:
            if entry.blob_id not in kept:
                kept[entry.blob_id] = self.read(repository, entry.path, revision)
            return kept[entry.blob_id]

        entries = {
            path: one
            for path, one in self._list_tree(repository, revision).items()
            if is_wanted(path)
        }
        with ThreadPoolExecutor(READERS) as pool:
            return dict(zip(entries, pool.map(read_once, entries.values()), strict=True))

    def compare(
        self,
        repository: Repository,
        files: Mapping[str, Content],
        delete: Sequence[str] = (),
        revision: str = "main",
    ) -> tuple[str, dict[str, Content], list[str]]:
        """Return the head of a branch, the files that it lacks, and those of the paths to delete that it has."""
        head = self._read_head(repository, revision)
        paths = [*files, *delete]
        found: dict[str, RepoFile] = {}
        for start in range(0, len(paths), MAX_PATHS):
            some = paths[start : start + MAX_PATHS]
            found |= _index_files(
                self._ask(self._api.get_paths_info, repository, some, revision=head)
            )
        differing = {
            path: data for path, data in files.items() if not _is_same(found.get(path), data)
        }
        return head, differing, [path for path in delete if path in found]

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
        first_head, head, sent_on = "", "", parent
        missing: dict[str, Content] = {}
        unwanted: list[str] = []

        def make(
            sha: str, number: int | None = None, url: str | None = None, *, changed: bool
        ) -> Commit:
            return Commit(sha, f"{repository.url}/commit/{sha}", number, url, changed)

        def is_in(revision: str) -> bool:
            return not any(self.compare(repository, files, delete, revision)[1:])

        def look(is_retry: bool) -> Commit | None:
            """Return the commit or pull request that is there already, from this or an earlier run."""
            nonlocal first_head, head, sent_on, missing, unwanted
            head, missing, unwanted = self.compare(repository, files, delete)
            first_head = first_head or head
            if pull_request:
                for one in self.pull_requests(repository):
                    revision = f"refs/pr/{one.num}"
                    if (one.author, one.title) == (self.user, message) and is_in(revision):
                        return make(
                            self._read_head(repository, revision),
                            one.num,
                            one.url,
                            changed=is_retry,
                        )
            elif is_retry:  # a commit that has arrived may no longer be the head
                for made in self._ask(self._api.list_repo_commits, repository):
                    if made.commit_id == first_head:
                        break
                    if (
                        made.title == message
                        and self.user in made.authors
                        and is_in(made.commit_id)
                    ):
                        return make(made.commit_id, changed=True)
                # An earlier request may still be under way: on top of a fixed commit it can't be applied twice.
                sent_on = parent or head
            if parent not in (None, head) and not pull_request:
                raise ConflictError(f"{repository}: {CONFLICT}")
            return None if missing or unwanted else make(head, changed=False)

        def send() -> Commit:
            new = [
                CommitOperationAdd(path, d if isinstance(d, bytes) else str(d))
                for path, d in missing.items()
            ]
            made = self._api.create_commit(
                repository.id,
                [*new, *map(CommitOperationDelete, unwanted)],
                commit_message=message,
                commit_description=description,
                repo_type=repository.kind,
                parent_commit=sent_on,
                create_pr=pull_request,
            )
            ignored = [one.path_in_repo for one in new if getattr(one, "_should_ignore", False)]
            if ignored:  # the client leaves them out and only logs it
                found = f"its .gitignore leaves out {join_names(ignored)}"
                raise RequestError(f"{repository}: {found}; remove them from it")
            return Commit(made.oid, made.commit_url, made.pr_num, made.pr_url)

        # A conflict is cured by sending again, unless the commit is made for a certain head.
        return repeat(send, str(repository), look=look, again_after=() if parent else (412,))

    def pull_requests(
        self, repository: Repository, *, all_states: bool = False
    ) -> list[Discussion]:
        """List pull requests, oldest first: the open ones, or all; drafts are not open."""
        status = None if all_states else "open"
        list_them = partial(self._api.get_repo_discussions, discussion_type="pull_request")
        listed = self._ask(list_them, repository, discussion_status=status)
        return sorted(
            (one for one in listed if all_states or one.status == "open"), key=lambda one: one.num
        )

    def read_pull_request(self, repository: Repository, number: int) -> PullRequestDetails:
        """Return the last commit and the paths of a pull request; the Hub may not show all of a very large one."""
        from huggingface_hub import DiscussionCommit

        details = self._read_discussion(repository, number)
        if not details.is_pull_request:
            raise RequestError(f"{repository}: discussion {number} is not a pull request")
        if details.diff is None and details.status == "open":
            raise RequestError(
                f"{repository}: the Hub does not show what pull request {number} changes"
            )
        commits = [event for event in details.events if isinstance(event, DiscussionCommit)]
        head = commits[-1].oid if commits else self._read_head(repository, f"refs/pr/{number}")
        time = (commits[-1] if commits else details).created_at.astimezone(UTC)
        paths = list_changed_paths(details.diff or "")
        return PullRequestDetails(
            head, f"{time:%Y-%m-%dT%H:%M:%SZ}", paths, _list_comments(details)
        )

    def comment(self, repository: Repository, number: int, text: str) -> None:
        """Comment on a discussion or pull request, unless the user has already left a comment with the same text."""

        def is_done(details: DiscussionWithDetails) -> bool:
            return (self.user, text.strip()) in (
                (author, one.strip()) for author, one in _list_comments(details)
            )

        self._change_discussion(self._api.comment_discussion, repository, number, text, is_done)

    def close(self, repository: Repository, number: int) -> None:
        """Close a discussion or pull request, unless it is closed or merged."""
        change = self._api.change_discussion_status
        self._change_discussion(
            change, repository, number, "closed", lambda one: one.status in ("closed", "merged")
        )

    def _change_discussion(
        self,
        change: Callable[..., object],
        repository: Repository,
        number: int,
        what: str,
        is_done: Callable[[DiscussionWithDetails], bool],
    ) -> None:
        check_login()
        send = partial(change, repository.id, number, what, repo_type=repository.kind)
        repeat(
            send,
            str(repository),
            look=lambda is_retry: is_done(self._read_discussion(repository, number)) or None,
        )

    def _ask(
        self, method: Callable[..., Any], repository: Repository, *arguments: Any, **options: Any
    ) -> Any:
        """Send a request about a repository; what the client lists page by page is read at once."""

        def send() -> object:
            found = method(repository.id, *arguments, repo_type=repository.kind, **options)
            return list(found) if isinstance(found, Iterator) else found

        return repeat(send, str(repository))

    def _read_info(self, repository: Repository, field: str, revision: str = "main") -> Any:
        return self._ask(self._api.repo_info, repository, revision=revision, expand=[field])

    def _read_head(self, repository: Repository, revision: str) -> str:
        return str(self._read_info(repository, "sha", revision).sha)

    def _list_tree(self, repository: Repository, revision: str) -> dict[str, RepoFile]:
        return _index_files(
            self._ask(self._api.list_repo_tree, repository, revision=revision, recursive=True)
        )

    def _read_discussion(self, repository: Repository, number: int) -> DiscussionWithDetails:
        details: DiscussionWithDetails = self._ask(
            self._api.get_discussion_details, repository, number
        )
        return details


def _index_files(entries: Iterable[object]) -> dict[str, RepoFile]:
    from huggingface_hub.hf_api import RepoFile

    return {entry.path: entry for entry in entries if isinstance(entry, RepoFile)}


def _list_comments(details: DiscussionWithDetails) -> tuple[tuple[str, str], ...]:
    from huggingface_hub import DiscussionComment

    return tuple(
        (one.author, one.content) for one in details.events if isinstance(one, DiscussionComment)
    )


def _is_same(entry: Any, data: Content) -> bool:
    """Tell whether the Hub has a file with this content; it names large files by sha256, others as git does."""
    from huggingface_hub.utils.sha import git_hash

    content = data if isinstance(data, bytes) else data.read_bytes()
    if entry is None or entry.size != len(content):
        return False
    if entry.lfs is not None:
        return bool(sha256(content).hexdigest() == entry.lfs.sha256)
    return bool(git_hash(content) == entry.blob_id)


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


def repeat(
    send: Callable[[], T],
    where: str,
    *,
    path: str = "",
    look: Callable[[bool], T | None] = lambda is_retry: None,
    again_after: Sequence[int] = (),
) -> T:
    """Send a request, and again while the Hub is busy or out of reach: when it asks to, or each time twice as late.

    A request that must take effect once, although its answer may be lost, comes with `look`: it returns the result if
    nothing is left to be done; its argument is whether the request was sent before.  It is also sent again after the
    answers in `again_after`; `where` and `path` are the repository and the file that it is about, for messages.
    """
    for attempt in count(1):
        if (found := look(attempt > 1)) is not None:
            return found
        try:
            return send()
        except RequestError:
            raise
        except Exception as error:
            status, asked = _read_status(error), _read_wait(error)
            may_work = _is_transient(error) or status in again_after
            if not may_work or attempt == ATTEMPTS or (asked or 0.0) > LONGEST_WAIT:
                # A conflict may be with the first request, whose answer was lost.
                may_be_done = may_work or (attempt > 1 and status == 412)
                if may_be_done and (found := look(True)) is not None:
                    return found
                raise explain(error, where, path=path) from error
        usual = 0.5 * 2**attempt * random.uniform(0.5, 1.0)  # noqa: S311
        time.sleep(usual if asked is None else asked + random.uniform(0.0, 0.5))  # noqa: S311
    raise AssertionError


def _read_status(error: BaseException) -> int | None:
    """Return the status of the Hub's answer; None if there was no answer."""
    return getattr(getattr(error, "response", None), "status_code", None)


def _read_wait(error: BaseException) -> float | None:
    """Return the seconds that the Hub asks to wait; None if it doesn't say."""
    from huggingface_hub.utils import parse_ratelimit_headers  # type: ignore[attr-defined]

    headers = getattr(getattr(error, "response", None), "headers", {})
    after = (headers.get("Retry-After") or "").strip()
    if after.isdecimal():
        return float(after)
    limits = parse_ratelimit_headers(headers) if _read_status(error) == 429 else None
    return float(limits.reset_in_seconds) if limits else None


def _is_transient(error: BaseException) -> bool:
    """Tell whether the same request may succeed later: the Hub was busy, or could not be reached.

    A connection that breaks raises errors of the HTTP library, which differs between versions of the client; and the
    page of a proxy that could not reach the Hub is no JSON.
    """
    from huggingface_hub.errors import LocalTokenNotFoundError, OfflineModeIsEnabled

    status = _read_status(error)
    if status is not None:
        return status in TRANSIENT
    if isinstance(error, OfflineModeIsEnabled | LocalTokenNotFoundError):
        return False
    is_of_http = any(
        base.__module__.split(".")[0].startswith("http") for base in type(error).__mro__
    )
    return isinstance(error, OSError) or is_of_http or type(error).__name__ == "JSONDecodeError"


def explain(error: Exception, where: str, *, path: str = "") -> RequestError:
    """Turn an error of the client into one that says what the user can do; arguments are as for `repeat`."""
    from huggingface_hub import errors, get_token

    status, place, login = _read_status(error), f"{where}: " if where else "", NO_LOGIN
    if get_token() is not None:
        login = f"the Hugging Face Hub does not accept your token: {LOGIN}"
    words = _shorten(str(getattr(error, "server_message", None) or ""))
    told = f": {words}" if words else ""
    if isinstance(error, errors.LocalTokenNotFoundError):
        return RequestError(NO_LOGIN)
    is_gated = isinstance(error, errors.GatedRepoError)  # which is a subclass of the next
    if (
        isinstance(error, errors.RepositoryNotFoundError)
        and not is_gated
        and (status != 401 or login == NO_LOGIN)
    ):
        who = f"you are {NO_LOGIN}" if status == 401 else "your account can't see it"
        return NoSuchRepositoryError(f"no such {where}, or it is private and {who}")
    if isinstance(error, errors.EntryNotFoundError) and status != 401:
        return NoSuchFileError(f"{place}no such file{path and f': {path}'}")
    if status == 412:
        return ConflictError(f"{place}{CONFLICT}")
    if isinstance(error, errors.OfflineModeIsEnabled):
        found = "the Hugging Face Hub is out of reach while HF_HUB_OFFLINE is set (unset it)"
    elif is_gated:
        found = "access must be requested on its page on the Hub"
    elif isinstance(error, errors.RevisionNotFoundError) and status != 401:
        found = "no such revision"
    elif status is not None:
        wait = _read_wait(error)
        when = "later" if wait is None else f"in {wait:.0f} seconds"
        trouble = f"has a problem (status {status}); try again later" if status >= 500 else ""
        found = {
            401: login,
            402: f"the Hugging Face Hub asks for a paid plan{told}",
            403: f"no permission; ask its owners, or use a token with write access{told}",
            429: f"too many requests to the Hugging Face Hub; try again {when}",
        }.get(
            status,
            f"the Hugging Face Hub {trouble or f'refused the request (status {status})'}{told}",
        )
    elif _is_transient(error):
        found = f"could not reach the Hugging Face Hub ({_shorten(str(error) or repr(error))})"
    else:  # front matter that the client refuses, for example
        found = _shorten(str(error))
    return RequestError(f"{place}{found}")


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
    there: dict[str, int] = {}
    differing: Mapping[str, Content] = plan.files
    if hub.head(plan.repository) is not None:
        there = hub.list_files(plan.repository)
        _, differing, _ = hub.compare(plan.repository, plan.files)
    changes = [
        Change(
            path,
            size,
            "unchanged" if path not in differing else "changed" if path in there else "new",
        )
        for path, size in plan.sizes().items()
    ]
    gone = (
        path
        for path in there
        if path not in plan.files and any(matches(path, one) for one in plan.owned)
    )
    return sorted([*changes, *(Change(path, there[path], "deleted") for path in gone)])


def matches(path: str, pattern: str) -> bool:
    """Tell whether a path matches a pattern; `*` does not match `/`."""
    parts, patterns = path.split("/"), pattern.split("/")
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
    gone = [change.path for change in changes if change.kind == "deleted"]
    if not gone and all(change.kind == "unchanged" for change in changes):
        return changes, None
    return changes, hub.commit(
        plan.repository, plan.files, message=message, delete=gone, parent=head
    )
