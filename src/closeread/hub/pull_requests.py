"""Pull requests, and the comments on them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING

from closeread.hub.names import Repository

if TYPE_CHECKING:
    from huggingface_hub import Discussion, DiscussionComment, DiscussionWithDetails


@dataclass(frozen=True)
class PullRequest:
    """A pull request.

    Attributes:
        number: its number.
        title: whatever its author called it.
        author: the user who opened it, as authenticated by the Hub.
        created: when, UTC, such as "2026-11-22T10:00:00Z".
        status: open, closed, merged or draft.
        url: its page.
    """

    number: int
    title: str
    author: str
    created: str
    status: str
    url: str


@dataclass(frozen=True)
class PullRequestDetails:
    """What a pull request holds.

    Attributes:
        request: the pull request.
        head: the sha of its last commit.
        paths: all paths that it adds, changes or deletes, sorted.
        comments: author and text of each comment, oldest first; the description is the first.
    """

    request: PullRequest
    head: str
    paths: tuple[str, ...]
    comments: tuple[tuple[str, str], ...]


def describe(repository: Repository, found: Discussion) -> PullRequest:
    """Describe a pull request that the client has read."""
    created = found.created_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    url = f"{repository.url}/discussions/{found.num}"
    return PullRequest(found.num, found.title, found.author, created, found.status, url)


def list_comments(details: DiscussionWithDetails) -> list[DiscussionComment]:
    """List the comments of a discussion, oldest first; its description is the first."""
    from huggingface_hub import DiscussionComment

    return [event for event in details.events if isinstance(event, DiscussionComment)]
