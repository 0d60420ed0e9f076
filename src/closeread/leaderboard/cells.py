"""What is shown of an index (`board.json`): texts made harmless, ranks, intervals, flags and links.

All texts of an index are untrusted.  `clean_index` escapes control characters and whatever changes the direction of
text, once; what is special in HTML, Markdown or LaTeX is escaped where it is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from closeread.counts.rendering import percent
from closeread.leaderboard.names import check_link, check_model, show_safely

PARAGRAPHS = ("citation", "description")
"""The fields whose line ends are kept."""

KINDS = {"system": "system", "baseline": "baseline", "printed": "printed in a paper"}
"""The kinds of rows, in words."""

FLAGS = {"duplicate": "duplicate", "perfect": "equal to the gold", "unverified": "unverified"}
"""Flags in words; others are shown by their names."""

MINOR = ("/precision", "/recall")
"""The ends of the names of metrics that are summed up by another one."""


def clean_index(value: Any, field: str = "") -> Any:
    r"""Return a copy of a JSON value with all texts made harmless for terminals and pages.

    >>> clean_index({"system": "a\x1b", "description": "one\ntwo"})
    {'system': 'a\\x1b', 'description': 'one\ntwo'}
    """
    if isinstance(value, str):
        lines = value.replace("\r\n", "\n").split("\n") if field in PARAGRAPHS else [value]
        return "\n".join(map(_clean_line, lines))
    if isinstance(value, Mapping):
        return {_clean_line(name): clean_index(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [clean_index(item, field) for item in value]
    return value


def _clean_line(text: str) -> str:
    """Return a text as `show_safely` does, which takes longer than all else for an index of a thousand systems."""
    return text if text.isascii() and text.isprintable() else show_safely(text)


def find_link(text: str | None) -> str | None:
    """Return the text if it is a link that readers of a page may follow; None if it is not.

    >>> find_link("https://aclanthology.org/D19-1332/"), find_link("javascript:alert(1)")
    ('https://aclanthology.org/D19-1332/', None)
    """
    return text if text and not check_link(text) else None


def link_model(name: str | None) -> str | None:
    """Return the link to a model on the Hub; None if the text is not the name of one.

    >>> link_model("org/name-7b"), link_model("../x")
    ('https://huggingface.co/org/name-7b', None)
    """
    return f"https://huggingface.co/{name}" if name and not check_model(name) else None


def format_rank(rank: Mapping[str, Any] | None) -> str:
    """Format a rank interval; empty if the row has none.

    >>> format_rank({"low": 1, "high": 3}), format_rank({"low": 2, "high": 2}), format_rank(None)
    ('1–3', '2', '')
    """
    if rank is None:
        return ""
    return str(rank["low"]) if rank["low"] == rank["high"] else f"{rank['low']}–{rank['high']}"


def format_interval(score: Mapping[str, Any]) -> str:
    """Format an interval, times 100; empty if there is none.

    >>> format_interval({"value": 0.6, "low": 0.55, "high": 0.651})
    '55.00–65.10'
    """
    low, high = score.get("low"), score.get("high")
    return "" if low is None or high is None else f"{percent(low)}–{percent(high)}"


def format_value(score: Mapping[str, Any] | None) -> str:
    """Format a score times 100, or as it was printed; a star if it is 0/0, empty if the row has no such score."""
    if score is None:
        return ""
    printed = score.get("printed")
    return printed if printed is not None else percent(score["value"]) + ("*" if score.get("undefined") else "")


def name_flags(row: Mapping[str, Any]) -> list[str]:
    """Return the flags of a row, in words."""
    return [FLAGS.get(one["flag"], one["flag"]) for one in row.get("flags", ())]


def name_day(submitted: str | None) -> str:
    """Return the day of a time such as "2026-11-22T10:00:00Z"; empty if there is none."""
    return (submitted or "").partition("T")[0]


def format_time(time: str) -> str:
    """Format a time for readers.

    >>> format_time("2026-11-22T10:00:00Z"), format_time("2026-11-22T23:59:59Z")
    ('2026-11-22 10:00 UTC', '2026-11-22 23:59:59 UTC')
    """
    return f"{time.replace('T', ' ').removesuffix('Z').removesuffix(':00')} UTC"


def format_window(board: Mapping[str, Any]) -> str:
    """Say when submissions to a board begin and end; empty if they always may come."""
    times = [("Opens", board.get("opens")), ("Closes", board.get("closes"))]
    return " ".join(f"{word} on {format_time(time)}." for word, time in times if time)


def order_metrics(board: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the metrics of a board, the headline first."""
    return sorted(board["metrics"], key=lambda metric: metric["name"] != board["headline"])


def count_best(board: Mapping[str, Any]) -> int:
    """Return the number of rows down to the end of the first group that is not distinguishable from the best.

    A system further down may belong to them, too, if the tests can't tell because its scores vary more.  Rows without a
    rank don't end the group.
    """
    number = 0
    for place, row in enumerate(board["rows"], start=1):
        if row["rank"] is not None:
            if not row["rank"].get("best"):
                break
            number = place
    return number
