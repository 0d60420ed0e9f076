"""Commits: what a repository lacks, what was sent before, and sending it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from closeread.exceptions import RequestError, join_names
from closeread.hub.attempts import ask
from closeread.hub.contents import Content, is_same, to_upload
from closeread.hub.names import Repository

if TYPE_CHECKING:
    from huggingface_hub import HfApi
    from huggingface_hub.hf_api import RepoFile

MAX_PATHS = 500
"""Paths that one request asks about."""


@dataclass(frozen=True)
class Commit:
    """What became of a commit.

    Attributes:
        sha: the commit that holds the files: a new one, or the present head if nothing had to be changed.
        url: its page.
        pull_request: the number of the pull request; None if the files went to the main branch, or are there already.
        pull_request_url: its page.
        changed: whether anything had to be changed.
    """

    sha: str
    url: str
    pull_request: int | None
    pull_request_url: str | None
    changed: bool


class Missing(NamedTuple):
    """What a branch lacks.

    Attributes:
        head: the sha of its last commit.
        files: the files that it doesn't have as they should be.
        delete: the paths that it has and should not.
    """

    head: str
    files: dict[str, Content]
    delete: list[str]


@dataclass(frozen=True)
class Change:
    """Files to commit to a repository.

    Attributes:
        api: the client.
        repository: where to commit.
        files: content, or the file that has it, by path.
        delete: paths to delete.
        message: the first line of the commit's message, and the title of a pull request.
        description: what follows, in Markdown.
    """

    api: HfApi
    repository: Repository
    files: Mapping[str, Content]
    delete: Sequence[str]
    message: str
    description: str

    def is_in(self, revision: str) -> bool:
        """Tell whether a branch or commit lacks nothing."""
        missing = self.find_missing(revision)
        return not missing.files and not missing.delete

    def find_missing(self, revision: str = "main") -> Missing:
        """Return what a branch or commit lacks, which may be nothing."""
        from huggingface_hub.hf_api import RepoFile

        head = read_head(self.api, self.repository, revision)
        paths = [*self.files, *self.delete]
        found: dict[str, RepoFile] = {}
        for start in range(0, len(paths), MAX_PATHS):
            some, kind = paths[start : start + MAX_PATHS], self.repository.kind
            read = partial(self.api.get_paths_info, self.repository.id, some, revision=head, repo_type=kind)
            entries = ask(read, str(self.repository))
            found |= {entry.path: entry for entry in entries if isinstance(entry, RepoFile)}
        files = {path: data for path, data in self.files.items() if not is_same(found.get(path), data)}
        return Missing(head, files, [path for path in self.delete if path in found])

    def find_commit(self, base: str, user: str) -> Commit | None:
        """Find a commit of the user after `base` with this message and these files, which may have changed since."""
        read = partial(self.api.list_repo_commits, self.repository.id, repo_type=self.repository.kind)
        for one in ask(read, str(self.repository)):
            if one.commit_id == base:
                return None
            if one.title == self.message and user in one.authors and self.is_in(one.commit_id):
                return self.describe(one.commit_id, changed=True)
        return None

    def describe(self, sha: str, *, changed: bool) -> Commit:
        """Describe a commit to the main branch."""
        return Commit(sha, f"{self.repository.url}/commit/{sha}", None, None, changed)

    def send(self, missing: Missing, parent: str | None, pull_request: bool) -> Commit:
        """Send a commit, once.

        Args:
            missing: what to commit.
            parent: the head that it is made for; None for whichever it is.
            pull_request: open a pull request.

        Raises:
            RequestError: the repository's `.gitignore` leaves files out; otherwise, whatever the client raises.
        """
        from huggingface_hub import CommitOperationAdd, CommitOperationDelete

        additions = [CommitOperationAdd(path, to_upload(data)) for path, data in missing.files.items()]
        made = self.api.create_commit(
            self.repository.id,
            [*additions, *map(CommitOperationDelete, missing.delete)],
            commit_message=self.message,
            commit_description=self.description,
            repo_type=self.repository.kind,
            parent_commit=parent,
            create_pr=pull_request,
        )
        ignored = [one.path_in_repo for one in additions if getattr(one, "_should_ignore", False)]
        if ignored:  # the client leaves them out and only logs it
            found = f"its .gitignore leaves out {join_names(ignored)}"
            raise RequestError(f"{self.repository}: {found}; remove them from it")
        return Commit(made.oid, made.commit_url, made.pr_num, made.pr_url, changed=True)


def read_head(api: HfApi, repository: Repository, revision: str) -> str:
    """Return the sha of the last commit of a branch, of `refs/pr/N` or of a commit."""
    return str(read_info(api, repository, "sha", revision).sha)


def read_info(api: HfApi, repository: Repository, field: str, revision: str = "main") -> Any:
    """Return what the Hub says about a repository: one field of it."""
    expand: Any = [field]
    read = partial(api.repo_info, repository.id, repo_type=repository.kind, revision=revision, expand=expand)
    return ask(read, str(repository))
