"""Repositories on the Hugging Face Hub: files, commits and pull requests.

The client retries some requests and not others, and never a commit.  Here every request is repeated while the Hub is
busy, and after a commit whose outcome is unknown (the connection was cut, perhaps after the Hub had committed), the
repository is looked at before anything is sent again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal

from closeread.errors import MissingExtraError, RequestError, join_names
from closeread.hub.attempts import ATTEMPTS, ask, send_once
from closeread.hub.contents import Content, is_same, to_upload
from closeread.hub.diffs import list_changed_paths
from closeread.hub.errors import ConflictError, NoSuchFileError, NoSuchRepositoryError, check_login
from closeread.hub.names import Kind, Repository, check_paths
from closeread.hub.pull_requests import PullRequest, PullRequestDetails, describe, list_comments

if TYPE_CHECKING:
    from huggingface_hub import DiscussionWithDetails, HfApi

__all__ = [
    "Commit",
    "ConflictError",
    "Hub",
    "Kind",
    "NoSuchFileError",
    "NoSuchRepositoryError",
    "PullRequest",
    "PullRequestDetails",
    "Repository",
]

OLDEST = (1, 31)
"""The oldest version of the client that all of this works with."""
MAX_PATHS = 500
"""Paths that one request asks about."""

Status = Literal["open", "closed", "all"]


@dataclass(frozen=True)
class Commit:
    """What became of a commit.

    Attributes:
        sha: the commit that holds the files: a new one, or the present head if nothing had to be changed.
        url: its page.
        pull_request: the number of the pull request that was opened; None if the files went to the main branch, or
            are there already.
        pull_request_url: its page.
        changed: whether anything had to be changed.
    """

    sha: str
    url: str
    pull_request: int | None
    pull_request_url: str | None
    changed: bool


class Hub:
    """The Hugging Face Hub, with the token in HF_TOKEN or of the saved login.

    Raises:
        MissingExtraError: the client is too old.
    """

    def __init__(self) -> None:
        import huggingface_hub
        from huggingface_hub.utils import disable_progress_bars, logging  # type: ignore[attr-defined]

        version = tuple(int(part) for part in huggingface_hub.__version__.split(".")[:2])
        if version < OLDEST:
            needed = f"'huggingface-hub>={OLDEST[0]}.{OLDEST[1]}'"
            raise MissingExtraError("working with the Hub (the extra closeread[hub])", needed)
        logging.set_verbosity_error()  # type: ignore[no-untyped-call]  # what matters is said here
        if not sys.stderr.isatty():
            disable_progress_bars()
        self._api: HfApi = huggingface_hub.HfApi()

    @cached_property
    def _user(self) -> str:
        return str(ask(self._api.whoami, "")["name"])

    def user(self) -> str:
        """Return the name of the user whose token it is."""
        return self._user

    def create(self, repository: Repository, *, private: bool | None = None) -> None:
        """Create a repository, unless it exists; spaces are static.

        Raises:
            RequestError: no permission, a paid plan is needed, or it should be private and exists as a public one.
        """
        check_login()

        def create() -> None:
            self._api.create_repo(
                repository.id,
                repo_type=repository.kind,
                private=private,
                exist_ok=True,
                space_sdk="static" if repository.kind == "space" else None,
            )

        ask(create, str(repository))
        if private and not self._read_info(repository, "private").private:
            raise RequestError(f"{repository} exists and is public; make it private in its settings on the Hub")

    def head(self, repository: Repository, revision: str = "main") -> str | None:
        """Return the sha of the last commit of a branch or of `refs/pr/N`; None if there is no such repository."""
        try:
            return str(self._read_info(repository, "sha", revision).sha)
        except NoSuchRepositoryError:
            return None

    def list_files(self, repository: Repository, revision: str = "main") -> dict[str, int]:
        """List all files and their sizes in bytes."""
        from huggingface_hub.hf_api import RepoFile

        def list_tree() -> dict[str, int]:
            tree = self._api.list_repo_tree(repository.id, repo_type=repository.kind, revision=revision, recursive=True)
            return {entry.path: entry.size for entry in tree if isinstance(entry, RepoFile)}

        return ask(list_tree, str(repository))

    def read(self, repository: Repository, path: str, revision: str = "main", limit: int | None = None) -> bytes:
        """Return the content of a file.

        Args:
            repository: where it is.
            path: its path.
            revision: a branch, `refs/pr/N` or a sha.
            limit: a larger file (bytes) is refused before it is downloaded.

        Raises:
            NoSuchFileError: there is no such file.
            RequestError: it is larger than `limit`.
        """
        from huggingface_hub import get_hf_file_metadata, get_session, hf_hub_url
        from huggingface_hub.utils import build_hf_headers, hf_raise_for_status  # type: ignore[attr-defined]

        url = hf_hub_url(repository.id, path, repo_type=repository.kind, revision=revision)

        def download() -> bytes:
            about = get_hf_file_metadata(url)
            if limit is not None and (about.size is None or about.size > limit):
                raise RequestError(f"{repository}: {path} is larger than {limit:,} bytes")
            fixed = hf_hub_url(repository.id, path, repo_type=repository.kind, revision=about.commit_hash or revision)
            answer = get_session().get(fixed, headers=build_hf_headers())
            hf_raise_for_status(answer)
            content: bytes = answer.content
            if about.size is not None and len(content) != about.size:
                raise OSError(f"{path} arrived with {len(content):,} of {about.size:,} bytes")
            return content

        return ask(download, str(repository), path=path)

    def compare(
        self, repository: Repository, files: Mapping[str, Content], delete: Sequence[str] = (), revision: str = "main"
    ) -> tuple[str, dict[str, Content], list[str]]:
        """Compare files with those of a branch, without downloading them.

        Returns:
            The head of the branch, the files that it does not have as they are here, and the paths that it has of those
            to delete.
        """
        from huggingface_hub.hf_api import RepoFile

        head = str(self._read_info(repository, "sha", revision).sha)
        paths = [*files, *delete]
        found: dict[str, RepoFile] = {}
        for start in range(0, len(paths), MAX_PATHS):
            some = paths[start : start + MAX_PATHS]
            read = partial(self._api.get_paths_info, repository.id, some, revision=head, repo_type=repository.kind)
            found |= {entry.path: entry for entry in ask(read, str(repository)) if isinstance(entry, RepoFile)}
        changed = {path: data for path, data in files.items() if path not in found or not is_same(found[path], data)}
        return head, changed, [path for path in delete if path in found]

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

        Files that are there already and deleted files that aren't are left out.

        Args:
            repository: where to commit.
            files: content, or the file that has it, by path.
            message: the first line of the commit's message, and the title of the pull request.
            description: what follows, in Markdown.
            delete: paths to delete.
            parent: the head of the main branch that the commit is made for.
            pull_request: open a pull request.

        Raises:
            ConflictError: the head of the main branch is not `parent`.
            RequestError: anything else that failed.
        """
        check_paths([*files, *delete])
        check_login()

        base = ""

        def prepare(is_retry: bool) -> tuple[bool, Callable[[], Commit]]:
            nonlocal base
            head, changed, gone = self.compare(repository, files, delete)
            base = base or head
            if is_retry:
                find = self._find_pull_request if pull_request else partial(self._find_commit, base)
                if found := find(repository, message, files, delete):
                    return True, lambda: found
            if parent not in (None, head) and not pull_request:
                raise ConflictError(f"{repository}: somebody else has committed in the meantime; try again")
            if not changed and not gone:
                return True, lambda: Commit(head, f"{repository.url}/commit/{head}", None, None, changed=False)
            # What was sent before may still be on its way: on top of a fixed commit it can't arrive twice.
            top = parent or (head if is_retry and not pull_request else None)
            send = partial(self._send, repository, changed, gone, message, description, top, pull_request)
            return False, send

        return send_once(prepare, str(repository), fixed=parent is not None)

    def pull_requests(self, repository: Repository, status: Status = "open") -> list[PullRequest]:
        """List pull requests, oldest first; drafts are not open."""

        def list_all() -> list[PullRequest]:
            found = self._api.get_repo_discussions(
                repository.id,
                repo_type=repository.kind,
                discussion_type="pull_request",
                discussion_status=None if status == "all" else status,
            )
            return [describe(repository, one) for one in found]

        listed = ask(list_all, str(repository))
        return sorted((one for one in listed if status != "open" or one.status == "open"), key=lambda one: one.number)

    def read_pull_request(self, repository: Repository, number: int) -> PullRequestDetails:
        """Return what a pull request holds.

        Its paths come from the difference that the Hub shows, which may leave out files of very large pull requests;
        the files at `head` decide.

        Raises:
            RequestError: it is not a pull request, or it changes all the time.
        """
        from huggingface_hub import DiscussionCommit

        previous = None
        for _ in range(ATTEMPTS):
            details = self._read_discussion(repository, number)
            if not details.is_pull_request:
                raise RequestError(f"{repository}: discussion {number} is not a pull request")
            if details.diff is None and details.status == "open":
                raise RequestError(f"{repository}: the Hub does not show what pull request {number} changes")
            head = str(self._read_info(repository, "sha", f"refs/pr/{number}").sha)
            oids = [event.oid for event in details.events if isinstance(event, DiscussionCommit)]
            # The difference and the head come in two answers, between which there may be a commit.
            if oids[-1:] == [head] or previous == (head, details.diff):
                comments = tuple((one.author, one.content) for one in list_comments(details))
                paths = list_changed_paths(details.diff or "")
                return PullRequestDetails(describe(repository, details), head, paths, comments)
            previous = (head, details.diff)
        raise RequestError(f"{repository}: pull request {number} changes all the time; try again later")

    def comment(self, repository: Repository, number: int, text: str) -> None:
        """Comment on a discussion or pull request, unless the user has already left a comment with the same text."""
        check_login()

        def prepare(is_retry: bool) -> tuple[bool, Callable[[], object]]:
            said = list_comments(self._read_discussion(repository, number))
            arrived = any(one.author == self._user and one.content.strip() == text.strip() for one in said)
            send = partial(self._api.comment_discussion, repository.id, number, text, repo_type=repository.kind)
            return arrived, (lambda: None) if arrived else send

        send_once(prepare, str(repository))

    def close(self, repository: Repository, number: int) -> None:
        """Close a discussion or pull request, unless it is closed or merged."""
        check_login()

        def prepare(is_retry: bool) -> tuple[bool, Callable[[], object]]:
            arrived = self._read_discussion(repository, number).status in ("closed", "merged")
            change = self._api.change_discussion_status
            send = partial(change, repository.id, number, "closed", repo_type=repository.kind)
            return arrived, (lambda: None) if arrived else send

        send_once(prepare, str(repository))

    def _read_info(self, repository: Repository, field: str, revision: str = "main") -> Any:
        """Return what the Hub says about a repository: one field of it."""
        expand: Any = [field]
        read = partial(self._api.repo_info, repository.id, repo_type=repository.kind, revision=revision, expand=expand)
        return ask(read, str(repository))

    def _read_discussion(self, repository: Repository, number: int) -> DiscussionWithDetails:
        read = partial(self._api.get_discussion_details, repository.id, number, repo_type=repository.kind)
        return ask(read, str(repository))

    def _find_commit(
        self, base: str, repository: Repository, title: str, files: Mapping[str, Content], delete: Sequence[str]
    ) -> Commit | None:
        """Find a commit of the user after `base` with this title and these files, which may have changed since."""
        read = partial(self._api.list_repo_commits, repository.id, repo_type=repository.kind)
        for one in ask(read, str(repository)):
            if one.commit_id == base:
                return None
            if one.title == title and self._user in one.authors:
                sha, changed, gone = self.compare(repository, files, delete, one.commit_id)
                if not changed and not gone:
                    return Commit(sha, f"{repository.url}/commit/{sha}", None, None, changed=True)
        return None

    def _find_pull_request(
        self, repository: Repository, title: str, files: Mapping[str, Content], delete: Sequence[str]
    ) -> Commit | None:
        """Find an open pull request of the user with this title and these files."""
        for one in self.pull_requests(repository):
            if one.author == self._user and one.title == title:
                head, changed, gone = self.compare(repository, files, delete, f"refs/pr/{one.number}")
                if not changed and not gone:
                    return Commit(head, f"{repository.url}/commit/{head}", one.number, one.url, changed=True)
        return None

    def _send(
        self,
        repository: Repository,
        files: Mapping[str, Content],
        delete: Sequence[str],
        message: str,
        description: str,
        parent: str | None,
        pull_request: bool,
    ) -> Commit:
        """Send a commit, once."""
        from huggingface_hub import CommitOperationAdd, CommitOperationDelete

        additions = [CommitOperationAdd(path, to_upload(data)) for path, data in files.items()]
        made = self._api.create_commit(
            repository.id,
            [*additions, *map(CommitOperationDelete, delete)],
            commit_message=message,
            commit_description=description,
            repo_type=repository.kind,
            parent_commit=parent,
            create_pr=pull_request,
        )
        ignored = [one.path_in_repo for one in additions if getattr(one, "_should_ignore", False)]
        if ignored:  # the client leaves them out and only logs it
            raise RequestError(f"{repository}: its .gitignore leaves out {join_names(ignored)}; remove them from it")
        return Commit(made.oid, made.commit_url, made.pr_num, made.pr_url, changed=True)
