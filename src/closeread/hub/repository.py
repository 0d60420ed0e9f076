"""Repositories on the Hugging Face Hub: files, commits and pull requests.

The client retries some requests and not others, and never a commit.  Here every request is repeated while the Hub is
busy, and after a commit whose outcome is unknown (the connection was cut, perhaps after the Hub had committed), the
repository is looked at before anything is sent again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Literal

from closeread.exceptions import MissingExtraError, RequestError
from closeread.hub.attempts import ATTEMPTS, ask, send_once
from closeread.hub.commits import Change, Commit, Missing, read_head, read_info
from closeread.hub.contents import Content, is_same
from closeread.hub.diffs import list_changed_paths
from closeread.hub.errors import ConflictError, NoSuchRepositoryError, TooLargeError, check_login
from closeread.hub.names import Repository, check_paths
from closeread.hub.pull_requests import PullRequest, PullRequestDetails, describe, format_time, list_comments

if TYPE_CHECKING:
    from huggingface_hub import DiscussionWithDetails, HfApi
    from huggingface_hub.hf_api import RepoFile

OLDEST = (1, 31)
"""The oldest version of the client that all of this works with."""
READERS = 8
"""Files that are read at once."""

Status = Literal["open", "closed", "all"]


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
            needed = f"huggingface-hub {OLDEST[0]}.{OLDEST[1]} or newer"
            raise MissingExtraError("working with the Hub", needed, extra="hub")
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
        if private and not read_info(self._api, repository, "private").private:
            raise RequestError(f"{repository} exists and is public; make it private in its settings on the Hub")

    def head(self, repository: Repository, revision: str = "main") -> str | None:
        """Return the sha of the last commit of a branch or of `refs/pr/N`; None if there is no such repository."""
        try:
            return read_head(self._api, repository, revision)
        except NoSuchRepositoryError:
            return None

    def list_files(self, repository: Repository, revision: str = "main") -> dict[str, int]:
        """List all files and their sizes in bytes."""
        return {entry.path: entry.size for entry in self._list_tree(repository, revision)}

    def read(self, repository: Repository, path: str, revision: str = "main", limit: int | None = None) -> bytes:
        """Return the content of a file.

        Args:
            repository: where it is.
            path: its path.
            revision: a branch, `refs/pr/N` or a sha.
            limit: a larger file (bytes) is refused before it is downloaded.

        Raises:
            NoSuchFileError: there is no such file.
            TooLargeError: it is larger than `limit`.
        """
        from huggingface_hub import get_hf_file_metadata, hf_hub_url

        url = hf_hub_url(repository.id, path, repo_type=repository.kind, revision=revision)

        def download() -> bytes:
            about = get_hf_file_metadata(url)
            if limit is not None and (about.size is None or about.size > limit):
                raise TooLargeError(f"{repository}: {path} is larger than {limit:,} bytes")
            content = self._download(repository, path, about.commit_hash or revision)
            if about.size is not None and len(content) != about.size:
                raise OSError(f"{path} arrived with {len(content):,} of {about.size:,} bytes")
            return content

        return ask(download, str(repository), path=path)

    def compare(
        self, repository: Repository, files: Mapping[str, Content], delete: Sequence[str] = (), revision: str = "main"
    ) -> Missing:
        """Compare files with those of a branch, without downloading them.

        Returns:
            The head of the branch, the files that it does not have as they are here, and the paths that it has of those
            to delete.
        """
        return Change(self._api, repository, files, delete, "", "").find_missing(revision)

    def read_files(
        self, repository: Repository, revision: str, is_wanted: Callable[[str], bool], kept: dict[str, bytes]
    ) -> dict[str, bytes]:
        """Return the content of many files by path, verified.

        Args:
            repository: where they are.
            revision: a sha, so that all are of the same commit.
            is_wanted: tells from its path whether to read a file.
            kept: contents read before by git's name for them; new ones are added.
        """

        def read(entry: RepoFile) -> bytes:
            content = self._download(repository, entry.path, revision)
            if not is_same(entry, content):
                raise OSError(f"{entry.path} arrived with another content than the Hub lists")
            return content

        def read_once(entry: RepoFile) -> bytes:
            return kept.get(entry.blob_id) or ask(partial(read, entry), str(repository), path=entry.path)

        entries = [entry for entry in self._list_tree(repository, revision) if is_wanted(entry.path)]
        with ThreadPoolExecutor(READERS) as pool:
            contents = list(pool.map(read_once, entries))
        kept.update((entry.blob_id, content) for entry, content in zip(entries, contents, strict=True))
        return {entry.path: content for entry, content in zip(entries, contents, strict=True)}

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

        Files that are there already and deleted files that aren't are left out.  An open pull request of the user with
        the same title and files is not opened again.

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

        change = Change(self._api, repository, files, delete, message, description)
        base = ""

        def prepare(is_retry: bool) -> tuple[bool, Callable[[], Commit]]:
            nonlocal base
            missing = change.find_missing()
            base = base or missing.head
            found = None
            if pull_request:
                found = self._find_pull_request(change, changed=is_retry)
            elif is_retry:
                found = change.find_commit(base, self._user)
            if found is None and parent not in (None, missing.head) and not pull_request:
                raise ConflictError(f"{repository}: somebody else has committed in the meantime; try again")
            if found is None and not missing.files and not missing.delete:
                found = change.describe(missing.head, changed=False)
            if found is not None:
                return True, lambda: found
            # What was sent before may still be on its way: on top of a fixed commit it can't arrive twice.
            top = parent or (missing.head if is_retry and not pull_request else None)
            return False, partial(change.send, missing, top, pull_request)

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
            request = describe(repository, details)
            comments = tuple((one.author, one.content) for one in list_comments(details))
            paths = list_changed_paths(details.diff or "")
            commits = [event for event in details.events if isinstance(event, DiscussionCommit)]
            if commits:
                updated = format_time(commits[-1].created_at)
                return PullRequestDetails(request, commits[-1].oid, updated, paths, comments)
            # The difference and the head come in two answers, between which there may be a commit.
            head = read_head(self._api, repository, f"refs/pr/{number}")
            if previous == (head, details.diff):
                return PullRequestDetails(request, head, request.created, paths, comments)
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

    def _list_tree(self, repository: Repository, revision: str) -> list[RepoFile]:
        from huggingface_hub.hf_api import RepoFile

        def list_all() -> list[RepoFile]:
            kind = repository.kind
            tree = self._api.list_repo_tree(repository.id, repo_type=kind, revision=revision, recursive=True)
            return [entry for entry in tree if isinstance(entry, RepoFile)]

        return ask(list_all, str(repository))

    def _download(self, repository: Repository, path: str, revision: str) -> bytes:
        from huggingface_hub import get_session, hf_hub_url
        from huggingface_hub.utils import build_hf_headers, hf_raise_for_status  # type: ignore[attr-defined]

        url = hf_hub_url(repository.id, path, repo_type=repository.kind, revision=revision)
        answer = get_session().get(url, headers=build_hf_headers())
        hf_raise_for_status(answer)
        content: bytes = answer.content
        return content

    def _read_discussion(self, repository: Repository, number: int) -> DiscussionWithDetails:
        read = partial(self._api.get_discussion_details, repository.id, number, repo_type=repository.kind)
        return ask(read, str(repository))

    def _find_pull_request(self, change: Change, *, changed: bool) -> Commit | None:
        """Find an open pull request of the user with this title and these files."""
        for one in self.pull_requests(change.repository):
            revision = f"refs/pr/{one.number}"
            if one.author == self._user and one.title == change.message and change.is_in(revision):
                sha = read_head(self._api, change.repository, revision)
                return replace(change.describe(sha, changed=changed), pull_request=one.number, pull_request_url=one.url)
        return None
