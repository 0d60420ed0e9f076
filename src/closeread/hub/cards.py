"""Cards of repositories: YAML front matter by our schemas, and Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from closeread.exceptions import FormatError, MissingExtraError, Problem
from closeread.json_schema import check_json


def dump_yaml(value: Any) -> bytes:
    """Write a value as YAML: keys in the order given, texts quoted where YAML would read them as another type."""
    import yaml

    text: str = yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=10_000)
    return text.encode()


def join_card(front: Mapping[str, Any], text: str) -> bytes:
    """Write a card: front matter, and Markdown."""
    return b"---\n" + dump_yaml(dict(front)) + b"---\n\n" + text.lstrip("\n").encode()


def split_card(card: str) -> tuple[dict[str, Any], str]:
    """Return the front matter and the Markdown of a card, as the Hub's client reads it."""
    try:
        from huggingface_hub import RepoCard
    except ImportError as error:
        raise MissingExtraError("publishing", "huggingface-hub", extra="hub") from error
    import yaml

    try:
        repository_card = RepoCard(card)
    except (ValueError, yaml.YAMLError) as error:
        reason = " ".join(str(error).split())
        problem = Problem(f"the front matter is not valid: {reason} (expected a YAML object)")
        raise FormatError("README.md", [problem]) from None
    front: dict[str, Any] = repository_card.data.to_dict()  # type: ignore[no-untyped-call]
    return front, repository_card.text


def check_card(card: bytes, schema: str) -> None:
    """Check the front matter of a card by one of our schemas."""
    check_json(split_card(card.decode())[0], f"closeread.cards/{schema}.json", "README.md")
