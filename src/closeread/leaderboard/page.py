"""The page of a leaderboard: one HTML file with its data inside, which asks no host for anything.

The tables, the history and all explanations can be read without JavaScript.  The script, which comes from the files in
`templates/`, sorts and filters, and draws slices, systems and comparisons from the page's data, which
`closeread.leaderboard.compact` describes.
The page's policy allows exactly that style and that script, by their digests.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from closeread.exceptions import shorten
from closeread.leaderboard.cells import (
    KINDS,
    MINOR,
    clean_index,
    count_best,
    find_link,
    format_interval,
    format_rank,
    format_value,
    format_window,
    name_day,
    name_flags,
    order_metrics,
)
from closeread.leaderboard.chart import Chart, make_chart
from closeread.leaderboard.compact import compact_board, embed_json, find_rows, make_keys
from closeread.packages import package_folder

if TYPE_CHECKING:
    from jinja2 import Environment

SCRIPTS = (
    "dom.js",
    "data.js",
    "columns.js",
    "table.js",
    "downloads.js",
    "system.js",
    "compare.js",
    "form.js",
    "views.js",
)
NAME_LIMIT = 120
"""The longest name in a table; a system's own page has the whole name."""

TEXT_LIMIT = 60
"""The longest name of an author in a table."""


@dataclass(frozen=True)
class Line:
    """A row of a table, as text.

    Attributes:
        kind: "system", "baseline" or "printed".
        rank: the rank interval; may be empty.
        best: whether it is not distinguishable from the best.
        name: the name, shortened.
        tag: what it is if it is no system.
        author, day: who submitted it, and when; may be empty.
        cells: score and interval by metric; both may be empty.
        flags: the flags, in words.
    """

    kind: str
    rank: str
    best: bool
    name: str
    tag: str
    author: str
    day: str
    cells: Sequence[tuple[str, str]]
    flags: str


@dataclass(frozen=True)
class Section:
    """A board as the template shows it.

    Attributes:
        key: its name in the address of the page.
        board: the board of the clean index.
        metrics: its metrics, the headline first.
        lines: the rows of the table.
        n_best: the rows above the line under the best group; 0 for no line.
        superseded: the rows of submissions that do not count.
        others: signature, version and rows of what is not comparable.
        chart: the history; None without one.
        steps: date, name and score of each point of the history.
        homepage: a link, or None.
        has_minor: whether there are precisions and recalls to hide.
        window: when submissions begin and end; may be empty.
        data: the data of the script.
    """

    key: str
    board: Mapping[str, Any]
    metrics: Sequence[Mapping[str, Any]]
    lines: Sequence[Line]
    n_best: int
    superseded: Sequence[Line]
    others: Sequence[tuple[str, str, Sequence[Line]]]
    chart: Chart | None
    steps: Sequence[tuple[str, str, str]]
    homepage: str | None
    has_minor: bool
    window: str
    data: str


def render_page(index: Mapping[str, Any], *, form: Mapping[str, Any] | None = None) -> str:
    """Return the page of a leaderboard as HTML.

    Args:
        index: the content of `board.json`; all texts in it are untrusted.
        form: shows a form to submit with, if the page comes from a server: `action` (the path that it is sent to),
            `token`, `fields` (their names and what they are called), `limit` (bytes), and optionally `board` (the one
            to show), `values` (by name of the field), `is_open`, and what to tell: `problems` (sentences) with the
            `invalid` fields and the name of the `file`; or `accepted` (id, system, score and rank); or `message`.
    """
    clean = clean_index(index)
    names = [board["name"] for board in clean["boards"]]
    sections = [_make_section(board, key) for board, key in zip(clean["boards"], make_keys(names), strict=True)]
    folder = package_folder("closeread.leaderboard") / "templates"
    style = (folder / "style.css").read_text("utf-8")
    script = _join_scripts(folder)
    return (
        _open_templates(folder)
        .get_template("page.html")
        .render(
            title=clean["title"],
            closeread=clean["closeread"],
            sections=sections,
            kinds=KINDS,
            form=clean_index(form),
            style=style,
            script=script,
            policy=_make_policy(style, script, form is not None),
        )
    )


def _open_templates(folder: Path) -> Environment:
    """Return the environment of the templates, which escapes everything that they show."""
    import jinja2

    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )


def _join_scripts(folder: Path) -> str:
    """Return the script of the page; its names are not visible outside of it."""
    texts = [(folder / name).read_text("utf-8") for name in SCRIPTS]
    return '"use strict";\n(() => {\n' + "\n".join(texts) + "})();\n"


def _make_policy(style: str, script: str, sends: bool) -> str:
    """Return the content security policy: nothing but this style and this script."""
    parts = {
        "default-src": "'none'",
        "style-src": _digest(style),
        "script-src": _digest(script),
        "base-uri": "'none'",
        "form-action": "'self'" if sends else "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in parts.items())


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _make_section(board: Mapping[str, Any], key: str) -> Section:
    metrics = order_metrics(board)
    data = compact_board(board, key)
    names = {row["id"]: row["system"] for row in find_rows(board)}
    steps = [
        (
            name_day(point["date"]),
            shorten(names.get(point["id"], point["id"]), NAME_LIMIT),
            format_value({"value": point["value"]}),
        )
        for point in board["history"]
    ]
    return Section(
        key=key,
        board=board,
        metrics=metrics,
        lines=[_make_line(row, metrics) for row in board["rows"]],
        n_best=count_best(board),
        superseded=[_make_line(row, metrics) for row in board["superseded"]],
        others=[
            (other["signature"], other["closeread"], [_make_line(row, metrics) for row in other["rows"]])
            for other in board["others"]
        ],
        chart=make_chart(board["history"]),
        steps=steps,
        homepage=find_link(board["homepage"]),
        has_minor=any(metric["name"].endswith(MINOR) for metric in metrics),
        window=format_window(board),
        data=embed_json(data),
    )


def _make_line(row: Mapping[str, Any], metrics: Sequence[Mapping[str, Any]]) -> Line:
    scores = [row["scores"].get(metric["name"]) for metric in metrics]
    kind = row["kind"]
    source = row.get("source_text")
    return Line(
        kind=kind,
        rank=format_rank(row["rank"]),
        best=bool(row["rank"] and row["rank"].get("best")),
        name=shorten(row["system"], NAME_LIMIT),
        tag="" if kind == "system" else shorten(source, NAME_LIMIT) if source else KINDS.get(kind, kind),
        author=shorten(row.get("author") or "", TEXT_LIMIT),
        day=name_day(row.get("submitted")),
        cells=[(format_value(score), format_interval(score or {})) for score in scores],
        flags=", ".join(name_flags(row)),
    )
