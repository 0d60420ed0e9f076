"""A page in one file: its template, script and styles, and the data that the script draws.

The page requests nothing, and runs nothing but its own script: its Content-Security-Policy has the hashes of both.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

from closeread.counts.results import JsonResult
from closeread.exceptions import pluralize
from closeread.files import write_text
from closeread.tables import percent

FOLDER = Path(__file__).parent

ESCAPES = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}
"""What can end a script, begin a comment or a line in HTML; only strings of JSON have such characters."""

HEIGHT_IN_NOTEBOOK = 720
"""Of the frame, in pixels."""


@dataclass(frozen=True, eq=False, repr=False)
class View(JsonResult):
    """A page that shows a key and the responses of systems; a notebook shows it in a frame.

    Attributes:
        data: what it shows.
        path: the file that it was written to; None if it was not.
    """

    data: Mapping[str, Any]
    path: Path | None = None

    def to_dict(self) -> Mapping[str, Any]:
        """Return what the page shows, as JSON."""
        return self.data

    def to_html(self) -> str:
        """Return the page."""
        return draw_page(self.data)

    def save(self, path: str | Path) -> None:
        """Write the page to a file."""
        write_text(Path(path), self.to_html())

    def __repr__(self) -> str:
        return f"<View of {self}>"

    def __str__(self) -> str:
        systems = pluralize(len(self.data["systems"]), "system")
        summary = f"{pluralize(len(self.data['documents']), 'document')}, {systems}"
        return summary if self.path is None else f"{self.path}: {summary}"

    def _repr_html_(self) -> str:
        """The page as Jupyter shows it."""
        page = html.escape(self.to_html())
        title = html.escape(self.data["title"])
        return (
            f'<iframe title="{title}" width="100%" height="{HEIGHT_IN_NOTEBOOK}" '
            f'style="border: 0" srcdoc="{page}"></iframe>'
        )


def draw_page(data: Mapping[str, Any]) -> str:
    """Return the page that shows the data."""
    style = _read_part("page.css")
    script = _read_part("page.js")
    directives = [
        "default-src 'none'",
        f"style-src {hash_source(style)}",
        f"script-src {hash_source(script)}",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    return Template(_read_part("page.html")).substitute(
        title=html.escape(data["title"]),
        policy="; ".join(directives),
        style=style,
        script=script,
        data=dump_data(data),
        scores=_draw_scores(data),
        signature=html.escape(data["signature"]),
        lanes=_draw_lanes(data),
        chips=_draw_chips(data),
        errors=_list_counts(data),
    )


def hash_source(text: str) -> str:
    """Return the source that a Content-Security-Policy has for an embedded script or style."""
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def dump_data(data: Any) -> str:
    """Return data as JSON that may stand inside a script of HTML."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate(ESCAPES)


def _read_part(name: str) -> str:
    return (FOLDER / name).read_text("utf-8").rstrip("\n")


def _draw_scores(data: Mapping[str, Any]) -> str:
    """Return the rows of the table of scores, with intervals where there are any."""
    names = [score["name"] for score in data["systems"][0]["scores"]]
    rows = [["", *names]]
    for system in data["systems"]:
        row = [system["name"]]
        for score in system["scores"]:
            value = percent(score["value"])
            if score["low"] is not None:
                value += f" ({percent(score['low'])}–{percent(score['high'])})"
            row.append(value)
        rows.append(row)
    lines = []
    for row in rows:
        cells = [f"<td><bdi>{html.escape(cell)}</bdi></td>" for cell in row]
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return "".join(lines)


def _draw_lanes(data: Mapping[str, Any]) -> str:
    """Return the buttons that choose one system, or all; none for a single system."""
    names = [system["name"] for system in data["systems"]]
    if len(names) == 1:
        return ""
    names.append("both" if len(names) == 2 else "all")
    buttons = [
        f'<button value="{lane}" title="{lane + 1}">{html.escape(name)}</button>'
        for lane, name in enumerate(names)
    ]
    return "".join(buttons)


def _draw_chips(data: Mapping[str, Any]) -> str:
    """Return the buttons that choose a kind of error."""
    chips = []
    for kind in data["kinds"]:
        attributes = f'value="{html.escape(kind["id"])}" title="{html.escape(kind["explanation"])}"'
        chips.append(
            f'<button class="chip" {attributes}><b></b> {html.escape(kind["name"])}</button>'
        )
    return "".join(chips)


def _list_counts(data: Mapping[str, Any]) -> str:
    """Return the counts of errors as HTML, for readers without script."""
    lines = []
    for system in data["systems"]:
        counts = [f"{kind} {number:,}" for kind, number in system["counts"].items()]
        line = html.escape(f"{system['name']}: {', '.join(counts)}")
        lines.append(f"<li>{line}</li>")
    return f"<ul>{''.join(lines)}</ul>"
