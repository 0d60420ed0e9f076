"""What the judge answers to the author of a submission, in Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from closeread.leaderboard.declaration import Board
from closeread.leaderboard.names import escape_markdown
from closeread.leaderboard.submission import About

SHOWN = 20


def describe_submission(board: Board, about: About) -> tuple[str, str]:
    """Return title and text of a submission for those who read the store."""
    links = [f"- {name}: {link}" for name, link in (("paper", about.paper), ("code", about.code)) if link]
    model = [f"- model: {escape_markdown(about.model)}"] if about.model else []
    lines = [f"Submission `{about.id}` to {escape_markdown(board.title)}.", "", *model, *links]
    if about.description:
        lines += ["", escape_markdown(about.description)]
    return f"Submit {about.system} to {board.name}", "\n".join(lines)


def describe_result(board: Board, row: Mapping[str, Any], link: str) -> str:
    """Describe the scores and the rank of a submission, from its row in the index, with a link to the record."""
    titles = {metric.name: metric.title for metric in board.procedure.metrics}
    rows = [
        f"| {titles.get(name, name)} | {_format(one['value'])} | {_format_interval(one)} |"
        for name, one in row["scores"].items()
    ]
    rank = row["rank"]
    ranked = [] if rank is None else [f"Rank {_format_range(rank)}, with 95% confidence."]
    lines = [
        f"**{escape_markdown(board.title)}**: scored.",
        "",
        f"| metric | score | {100 * board.resampling.confidence:g}% interval |",
        "|---|--:|---|",
        *rows,
        "",
        *ranked,
        f"Signature: `{row['signature']}`",
        f"Record: {link}",
    ]
    return "\n".join(lines)


def describe_refusal(problems: Sequence[str]) -> str:
    """List all problems of a submission."""
    lines = [f"- {escape_markdown(problem)}" for problem in problems[:SHOWN]]
    if len(problems) > SHOWN:
        lines.append(f"- and {len(problems) - SHOWN:,} more")
    found = "This was not accepted, for this reason:" if len(problems) == 1 else "This was not accepted:"
    advice = "Correct this and submit again; `closeread validate` checks predictions before they are sent."
    return "\n".join([found, "", *lines, "", advice])


def describe_withdrawal(name: str) -> str:
    """Confirm a withdrawal."""
    return f"Submission {name} is withdrawn: it is no longer on the board."


def _format(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.2f}"


def _format_range(rank: Mapping[str, int]) -> str:
    return str(rank["low"]) if rank["low"] == rank["high"] else f"{rank['low']} to {rank['high']}"


def _format_interval(score: Mapping[str, Any]) -> str:
    return "–" if score["low"] is None else f"{_format(score['low'])} to {_format(score['high'])}"
