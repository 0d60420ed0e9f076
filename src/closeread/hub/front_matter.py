"""YAML for the Hub, and cards with YAML at their top."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from closeread.exceptions import FormatError, MissingExtraError, Problem
from closeread.hub.schemas import check


def dump_yaml(found: Any) -> bytes:
    """Write a value as YAML: keys in the order given, texts quoted where YAML would read them as another type."""
    import yaml

    text: str = yaml.safe_dump(found, sort_keys=False, allow_unicode=True, width=10_000)
    return text.encode()


def join_card(front: Mapping[str, Any], text: str) -> bytes:
    """Write a card: front matter, and Markdown."""
    return b"---\n" + dump_yaml(dict(front)) + b"---\n\n" + text.lstrip("\n").encode()


def split_card(card: str) -> tuple[dict[str, Any], str]:
    """Return the front matter and the Markdown of a card, as the Hub's client reads it.

    Raises:
        FormatError: the front matter is not a YAML object.
    """
    try:
        from huggingface_hub import RepoCard
    except ImportError as error:
        raise MissingExtraError("publishing", "huggingface-hub", extra="hub") from error
    import yaml

    try:
        read = RepoCard(card)
    except (ValueError, yaml.YAMLError) as error:
        reason = " ".join(str(error).split())
        problem = Problem(f"the front matter is not valid: {reason} (expected a YAML object)")
        raise FormatError("README.md", [problem]) from None
    front: dict[str, Any] = read.data.to_dict()  # type: ignore[no-untyped-call]
    return front, read.text


def check_card(card: bytes, schema: str) -> None:
    """Check the front matter of a card by one of our schemas.

    Raises:
        FormatError: it is not YAML, or breaks the schema.
    """
    check(split_card(card.decode())[0], schema, "README.md")
