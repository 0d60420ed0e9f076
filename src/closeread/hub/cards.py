"""Cards: YAML front matter by our schemas, and Markdown as a web page.

The page is one file without script, readable in light and dark, that asks no other host for anything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape
from typing import Any

from closeread.exceptions import FormatError, MissingExtraError, Problem
from closeread.files import package_folder
from closeread.json_schema import check_json


def dump_yaml(found: Any) -> bytes:
    """Write a value as YAML: keys in the order given, texts quoted where YAML would read them as another type."""
    import yaml

    text: str = yaml.safe_dump(found, sort_keys=False, allow_unicode=True, width=10_000)
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
        read = RepoCard(card)
    except (ValueError, yaml.YAMLError) as error:
        reason = " ".join(str(error).split())
        problem = Problem(f"the front matter is not valid: {reason} (expected a YAML object)")
        raise FormatError("README.md", [problem]) from None
    front: dict[str, Any] = read.data.to_dict()  # type: ignore[no-untyped-call]
    return front, read.text


def check_card(card: bytes, schema: str) -> None:
    """Check the front matter of a card by one of our schemas."""
    check_json(split_card(card.decode())[0], f"closeread.cards/{schema}.json", "README.md")


def render_page(markdown: str, *, title: str, description: str) -> bytes:
    """Render Markdown as a page, with a description for search engines.

    Raw HTML in the Markdown is shown as text, only links to web pages are made, and images are replaced by their texts.
    Links open in a tab of their own, since a Space is shown inside a frame of the Hub's page; wide tables and blocks of
    code can be scrolled by keyboard.
    """
    from jinja2 import Environment
    from markupsafe import Markup

    try:
        from markdown_it import MarkdownIt
    except ImportError as error:
        raise MissingExtraError("publishing a page", "markdown-it-py", extra="hub") from error

    def open_link(renderer: Any, tokens: Any, index: int, *others: Any) -> str:
        if not str(tokens[index].attrs["href"]).startswith("#"):
            tokens[index].attrSet("target", "_blank")
            tokens[index].attrSet("rel", "noopener nofollow")
        return str(renderer.renderToken(tokens, index, *others))

    rules = {
        "link_open": open_link,
        "fence": lambda renderer, *given: renderer.fence(*given).replace(
            "<pre>", '<pre tabindex="0">', 1
        ),
        "table_open": lambda *given: (
            '<div class="table" role="group" aria-label="Table" tabindex="0">\n<table>\n'
        ),
        "table_close": lambda *given: "</table>\n</div>\n",
        "image": lambda renderer, tokens, index, *given: escape(str(tokens[index].content)),
    }
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    for name, rule in rules.items():
        reader.add_render_rule(name, rule)
    # Comments for our own tools are left out.
    body = reader.render(re.sub(r"^<!-- /?generated.*-->\n", "", markdown, flags=re.MULTILINE))
    template = (package_folder("closeread.hub") / "card.html").read_text("utf-8")
    page = Environment(autoescape=True, keep_trailing_newline=True).from_string(template)
    # The renderer has escaped the body.
    return page.render(title=title, description=description, body=Markup(body)).encode()  # noqa: S704
