"""Notices about single words and mentions, of which a treebank may have thousands."""

from __future__ import annotations

from collections.abc import Sequence

from closeread.exceptions import SHOWN, Problem


def limit_notices(notices: Sequence[Problem], about: str) -> list[Problem]:
    """Return the first `SHOWN` notices in the order of their places; if there are more, also their total.

    Args:
        notices: the notices.
        about: what they are about, for the total.
    """
    ordered = sorted(notices, key=lambda notice: notice.order)
    if len(ordered) <= SHOWN:
        return ordered
    return [Problem(f"{len(ordered):,} notes about {about} (first {SHOWN} shown)"), *ordered[:SHOWN]]
