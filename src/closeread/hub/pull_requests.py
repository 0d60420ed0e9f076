"""Pull requests, and the comments on them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
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
        updated: when that was made, UTC; when it was opened, if the Hub shows no commits.
        paths: all paths that it adds, changes or deletes, sorted.
        comments: author and text of each comment, oldest first; the description is the first.
    """

    request: PullRequest
    head: str
    updated: str
    paths: tuple[str, ...]
    comments: tuple[tuple[str, str], ...]


def describe(repository: Repository, found: Discussion) -> PullRequest:
    """Describe a pull request that the client has read."""
    url = f"{repository.url}/discussions/{found.num}"
    return PullRequest(found.num, found.title, found.author, format_time(found.created_at), found.status, url)


def format_time(time: datetime) -> str:
    """Return a time in UTC, such as "2026-11-22T10:00:00Z"."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def list_comments(details: DiscussionWithDetails) -> list[DiscussionComment]:
    """List the comments of a discussion, oldest first; its description is the first."""
    from huggingface_hub import DiscussionComment

    return [event for event in details.events if isinstance(event, DiscussionComment)]
