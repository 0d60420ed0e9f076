"""The edits of each word (`closeread score spelling --explain`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from closeread.counts.procedure import Explanation
from closeread.records import Record
from closeread.tasks.spelling.columns import code_points, edit_counts

Edits = Mapping[str, Any]


def explain(gold: Record, system: Record | None, options: Mapping[str, str]) -> list[Edits]:
    """Return both words and the number of edits between them."""
    words = [gold["word"], "" if system is None else system["word"]]
    if options["case"] == "fold":
        words = [word.casefold() for word in words]
    _, _, edits, _ = edit_counts(*(code_points([word]) for word in words))[0].tolist()
    return [{"gold": words[0], "system": words[1], "edits": int(edits)}]


def title(unit: str, explained: Sequence[Edits]) -> str:
    """Return the title of a word's table."""
    return f"{unit}: {explained[0]['edits']} edits"


def row(edits: Edits) -> list[str]:
    """Return a table row."""
    return [edits["gold"], edits["system"], str(edits["edits"])]


EXPLANATION = Explanation(
    explain, title, ("gold", "system", "edits"), row, ("An edit changes one character.",)
)
