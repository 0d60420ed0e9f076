"""A card as a web page: one file without script, readable in light and dark, that asks no other host for anything."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import Any

from closeread.exceptions import MissingExtraError

MARKS = re.compile(r"^<!-- /?generated.*-->\n", re.MULTILINE)
"""Comments for our own tools."""

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="color-scheme" content="light dark">
<meta name="description" content="{{ description }}">
<title>{{ title }}</title>
<style>
:root { color-scheme: light dark; --text: #1c1c1c; --ground: #fff; --line: #c8c8c8; --box: #f3f3f3; --link: #0b57d0 }
@media (prefers-color-scheme: dark) {
  :root { --text: #e8e8e8; --ground: #161616; --line: #4a4a4a; --box: #242424; --link: #8ab4f8 }
}
body { margin: 0 auto; max-width: 50rem; padding: 1.5rem 1rem 4rem; background: var(--ground); color: var(--text);
  font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: break-word }
h1, h2, h3 { line-height: 1.25 }
a { color: var(--link) }
code, pre { font: 0.9em/1.45 ui-monospace, monospace; background: var(--box) }
code { padding: 0.1em 0.25em }
pre { padding: 0.75rem 1rem; overflow-x: auto; border: 1px solid var(--line) }
pre code { padding: 0; font-size: 1em }
.table { overflow-x: auto }
table { border-collapse: collapse; margin: 1rem 0 }
th, td { border: 1px solid var(--line); padding: 0.3rem 0.6rem; text-align: left; vertical-align: top }
th { background: var(--box) }
td code { overflow-wrap: normal }
</style>
</head>
<body>
<main>
{{ body }}</main>
</body>
</html>
"""


def render_page(markdown: str, *, title: str, description: str) -> bytes:
    """Render Markdown as a page.

    Raw HTML in the Markdown is shown as text, and links to anything but web pages are not made.

    Args:
        markdown: the text of a card, without its front matter.
        title: the title of the page.
        description: one sentence, for search engines.

    Raises:
        MissingExtraError: markdown-it-py is not installed.
    """
    from jinja2 import Environment
    from markupsafe import Markup

    try:
        from markdown_it import MarkdownIt
    except ImportError as error:
        raise MissingExtraError("publishing a page", "markdown-it-py", extra="hub") from error

    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    reader.add_render_rule("link_open", _open_link)
    reader.add_render_rule("fence", _show_block)
    reader.add_render_rule("table_open", _open_table)
    reader.add_render_rule("table_close", _close_table)
    reader.add_render_rule("image", _show_image)
    body = reader.render(MARKS.sub("", markdown))
    page = Environment(autoescape=True, keep_trailing_newline=True).from_string(PAGE)
    # The renderer has escaped what is in the body.
    return page.render(title=title, description=description, body=Markup(body)).encode()  # noqa: S704


def _open_link(renderer: Any, tokens: Sequence[Any], index: int, options: Any, environment: Any) -> str:
    """Open links in a tab of their own: a Space is shown inside a frame of the Hub's page."""
    link = tokens[index]
    if not str(link.attrs["href"]).startswith("#"):
        link.attrSet("target", "_blank")
        link.attrSet("rel", "noopener nofollow")
    return str(renderer.renderToken(tokens, index, options, environment))


def _show_block(renderer: Any, tokens: Sequence[Any], index: int, options: Any, environment: Any) -> str:
    """Let a wide block of code scroll by keyboard, too."""
    return str(renderer.fence(tokens, index, options, environment)).replace("<pre>", '<pre tabindex="0">', 1)


def _open_table(renderer: Any, tokens: Sequence[Any], index: int, options: Any, environment: Any) -> str:
    """Let a wide table scroll inside the page, by keyboard, too."""
    del renderer, tokens, index, options, environment
    return '<div class="table" role="group" aria-label="Table" tabindex="0">\n<table>\n'


def _close_table(renderer: Any, tokens: Sequence[Any], index: int, options: Any, environment: Any) -> str:
    del renderer, tokens, index, options, environment
    return "</table>\n</div>\n"


def _show_image(renderer: Any, tokens: Sequence[Any], index: int, options: Any, environment: Any) -> str:
    """Show the text of an image: the page loads nothing."""
    del renderer, options, environment
    return escape(str(tokens[index].content))
