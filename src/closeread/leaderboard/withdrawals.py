"""Withdrawals of submissions, as files of a store."""

from __future__ import annotations

from closeread.leaderboard.canonical import write_json
from closeread.leaderboard.submission import FORMAT


def withdrawal_path(board: str, submission: str) -> str:
    """Return the path of a withdrawal in the store."""
    return f"withdrawals/{board}/{submission[:2]}/{submission}.json"


def withdrawal_bytes(submission: str, author: str | None = None) -> bytes:
    """Return the bytes of a withdrawal; only in a folder does it name its author."""
    return write_json({"format": FORMAT, "submission": submission, **({} if author is None else {"author": author})})
