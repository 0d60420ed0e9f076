"""The lengths of documents, for files that have a row for every token."""

from __future__ import annotations

from closeread import limits
from closeread.exceptions import quote
from closeread.tasks.coref.columns import MentionTable


def list_lengths(table: MentionTable, kind: str) -> list[int]:
    """Return the number of tokens of each document, to make a row for each.

    Args:
        table: the documents.
        kind: what to call the file in messages.

    Raises:
        ValueError: it is unknown; or without their words, which take memory themselves, documents are said to have more
            than `limits.MAX_TOKENS` together.
    """
    if table.n_tokens is None:
        raise ValueError(f"{kind} has a row for every token, but the number of tokens is unknown")
    lengths: list[int] = table.n_tokens.tolist()
    if table.words is None and sum(lengths) > limits.MAX_TOKENS:
        longest = max(range(len(lengths)), key=lengths.__getitem__)
        most = f"most: {quote(table.names[longest])}, {lengths[longest]:,}"
        found = f"the documents have {sum(lengths):,} tokens ({most})"
        raise ValueError(f"{kind} has a row for every token: {found}, but no words (limit: {limits.MAX_TOKENS:,})")
    return lengths
