"""Statistics of misspelt words."""

from __future__ import annotations

from collections.abc import Sequence

from closeread.records import Record


def facts(records: Sequence[Record]) -> dict[str, float]:
    """Numbers of words, of pages, and of characters in the words."""
    return {
        "words": len(records),
        "pages": len({record["page"] for record in records}),
        "characters": sum(len(record["word"]) for record in records),
    }
