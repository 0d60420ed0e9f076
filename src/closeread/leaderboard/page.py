"""The page of a leaderboard: one HTML file with its data inside, which asks no host for anything.

The tables, the history and all explanations can be read without JavaScript.  The script, which comes from the files in
`templates/`, sorts and filters, and draws slices, systems and comparisons from the page's data.  The page's policy
allows exactly that style and that script, by their digests.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from closeread.exceptions import shorten
from closeread.files import package_folder
from closeread.leaderboard import tables
from closeread.leaderboard.tables import Json, clean_index, find_link, list_rows

SCRIPTS = ("dom", "data", "columns", "table", "downloads", "system", "compare", "form", "views")
TEXTS = ("id", "kind", "system", "author", "submitted", "description", "source_text", "signature", "closeread")
CHART = {"width": 640, "height": 200, "left": 44, "right": 626, "top": 12, "bottom": 26}
STEPS = (1, 2, 5, 10, 20)  # the distances between lines of the scale, in percent; scores above 1 take 20, 40, …


def render_page(index: Json, *, form: Json | None = None) -> str:
    """Return the page of a leaderboard as HTML.

    Args:
        index: the content of `board.json`; all texts in it are untrusted.
        form: shows a form to submit with, if the page comes from a server: `action` (the path that it is sent to),
            `fields` (their names and what they are called), `limit` (bytes), and optionally `board` (the one to show),
            `values` (by name of the field), `is_open`, and what to tell: `problems` (sentences) with the `invalid`
            fields and the name of the `file`; or `accepted` (id, system, score and rank); or `message`.
    """
    import jinja2

    clean = clean_index(index)
    keys = make_keys(board["name"] for board in clean["boards"])
    folder = package_folder("closeread.leaderboard") / "templates"
    style = (folder / "style.css").read_text("utf-8")
    texts = [(folder / f"{name}.js").read_text("utf-8") for name in SCRIPTS]
    script = '"use strict";\n(() => {\n' + "\n".join(texts) + "})();\n"  # its names are not visible outside of it
    target = "'none'" if form is None else "'self'"
    policy = f"style-src {_digest(style)}; script-src {_digest(script)}; base-uri 'none'; form-action {target}"
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    filters = {name: getattr(tables, f"format_{name}") for name in ("value", "interval", "rank", "window")}
    filters |= {"kind": tables.name_kind, "flags": tables.name_flags, "link": find_link, "shorten": shorten}
    templates.filters |= filters | {"day": lambda time: (time or "").partition("T")[0]}
    templates.tests["best"] = tables.is_best
    sections = [
        {
            "key": key,
            "board": board,
            "metrics": tables.order_metrics(board),
            "n_best": tables.count_best(board),
            "names": {row["id"]: row["system"] for row in list_rows(board)},
            "chart": make_chart(board["history"]),
            "has_minor": any(metric["name"].endswith(tables.MINOR) for metric in board["metrics"]),
            "data": embed_json(make_data(board, key)),
        }
        for board, key in zip(clean["boards"], keys, strict=True)
    ]
    return templates.get_template("page.html").render(
        title=clean["title"],
        closeread=clean["closeread"],
        sections=sections,
        form=clean_index(form),
        style=style,
        script=script,
        policy=f"default-src 'none'; {policy}",
    )


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def make_keys(texts: Iterable[str]) -> list[str]:
    """Return a name in the address of the page for each text; of those that are equal, the later ones get a number."""
    keys: dict[str, None] = {}
    for text in texts:
        key = slug = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "x"
        number = 1
        while key in keys:
            number += 1
            key = f"{slug}-{number}"
        keys[key] = None
    return list(keys)


def make_chart(history: Sequence[Json]) -> dict[str, Any] | None:
    """Return the line chart of the best score over time, in units of the SVG element; None without a history.

    Returns:
        The size and the margins (`CHART`), `line` (the path from the first record to the right end), `points` (the
        place of each record) and `ticks` (the height and the name of each line of the scale).
    """
    if not history:
        return None
    times = [datetime.fromisoformat(point["date"]).timestamp() for point in history]
    values = [100 * point["value"] for point in history]
    span = max(values) - min(values)
    step = next((step for step in STEPS if span <= 4 * step), math.ceil(span / 100) * STEPS[-1])
    low = max(math.floor(min(values) / step - 0.5) * step, 0)
    high = math.ceil(max(values) / step + 0.5) * step
    high = min(high, 100) if max(values) <= 100 else high
    high = high if high > low else low + step
    lasted = (times[-1] - times[0]) or 1.0
    left, right, top = CHART["left"] + 8, CHART["right"] - 8, CHART["top"]

    def place(time: float, value: float) -> tuple[float, float]:
        x = left + (time - times[0]) / lasted * (right - left)
        y = top + (high - value) / (high - low) * (CHART["height"] - top - CHART["bottom"])
        return round(x, 1), round(y, 1)

    points = [place(time, value) for time, value in zip(times, values, strict=True)]
    line = f"M{points[0][0]:g} {points[0][1]:g}" + "".join(f"H{x:g}V{y:g}" for x, y in points[1:])
    ticks = [(place(times[0], tick)[1], f"{tick}") for tick in range(low, high + 1, step)]
    return {**CHART, "line": f"{line}H{CHART['right']}", "points": points, "ticks": ticks}


def make_data(board: Json, key: str) -> dict[str, Any]:
    """Return the data of a board of a clean index, from which the script draws what needs a choice of the reader.

    A field is a column, with a value for each row.  Scores are whole hundredths of a percent (6105 is shown as 61.05),
    and so are the differences of pairs; p-values are in units of 0.0001, of which 0 stands for less.  A text that is no
    link stands in a list of its own where links are expected.  `key` is the board's name in the address of the page.
    """
    rows = list_rows(board)
    metrics = [metric["name"] for metric in board["metrics"]]
    n_ranked, n_superseded = len(board["rows"]), len(board["superseded"])
    groups = ["ranked"] * n_ranked + ["superseded"] * n_superseded + ["other"] * (len(rows) - n_ranked - n_superseded)

    def list_texts(name: str, find: Any) -> list[Any]:
        texts = [row.get(name) for row in rows]
        return [text if text is None or find(text) else [text] for text in texts]

    def slice_rows(field: str, value: str) -> list[Json]:
        return [((row.get("slices") or {}).get(field) or {}).get(value) or {} for row in rows]

    pairs = board["pairs"]
    numbers = {row["id"]: number for number, row in enumerate(board["rows"])}
    paired = [numbers[one] for one in pairs["ids"]]
    values = [board["rows"][i]["scores"][board["headline"]]["value"] for i in paired]
    return {
        "key": key,
        **{name: board[name] for name in ("name", "title", "procedure", "signature", "unit", "n_units")},
        **{name: board[name] for name in ("resampling_unit", "confidence")},
        "n_ranked": n_ranked,
        "headline": metrics.index(board["headline"]),
        "metrics": [[metric["name"], metric["title"]] for metric in board["metrics"]],
        "columns": {
            "key": make_keys(row["id"][:10] if row["kind"] == "system" else row["id"] for row in rows),
            "group": groups,
            **{name: [row.get(name) for row in rows] for name in (*TEXTS, "record", "reproduce")},
            "record_is_link": [find_link(row.get("record")) is not None for row in rows],
            **{name: list_texts(name, find_link) for name in ("source", "paper", "code")},
            "model": list_texts("model", tables.link_model),
            "flags": [row.get("flags", []) for row in rows],
            **{f"rank_{name}": [(row["rank"] or {}).get(name) for row in rows] for name in ("low", "high")},
            "rank_best": [int(bool((row["rank"] or {}).get("best"))) for row in rows],
        },
        "total": _list_results(rows, metrics),
        "slices": [
            [field, [[value, _list_results(slice_rows(field, value), metrics)] for value in names]]
            for field, names in board["slices"].items()
        ],
        "pairs": {
            "rows": paired,
            # With more digits than are shown, so that their differences are rounded once only.
            "values": [None if value is None else round(value, 9) for value in values],
            "low": list(map(_round_ratio, pairs["low"])),
            "high": list(map(_round_ratio, pairs["high"])),
            "p": [None if p is None else 0 if p < 0.0001 else round(round(p, 4) * 10_000) for p in pairs["p"]],
        },
    }


def _list_results(rows: Sequence[Json], metrics: Sequence[str]) -> dict[str, Any]:
    """Return scores, counts and sizes of all rows, in the whole or in a slice."""

    def list_scores(metric: str) -> dict[str, Any]:
        scores = [(row.get("scores") or {}).get(metric) or {} for row in rows]
        return {
            **{end: [_round_ratio(score.get(end)) for score in scores] for end in ("value", "low", "high")},
            "undefined": [i for i, score in enumerate(scores) if score.get("undefined")],
            "printed": {i: score["printed"] for i, score in enumerate(scores) if score.get("printed") is not None},
        }

    def list_counts(name: str) -> list[float | None]:  # with two decimals, as they are shown, if they are no integers
        counts = [(row.get("counts") or {}).get(name) for row in rows]
        return [None if n is None else int(n) if n == int(n) else round(n, 2) for n in counts]

    names = dict.fromkeys(name for row in rows for name in row.get("counts") or ())
    return {
        "n_units": [row.get("n_units") for row in rows],
        "scores": list(map(list_scores, metrics)),
        "counts": [[name, list_counts(name)] for name in names],
    }


def _round_ratio(value: float | None) -> int | None:
    """Return a ratio in hundredths of a percent, rounded as `percent` rounds."""
    return None if value is None else round(round(100 * value, 2) * 100)


def embed_json(value: Any) -> str:
    """Return JSON for a script element: no character in it can end the element or the line."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return re.sub("[<>&\u2028\u2029]", lambda found: f"\\u{ord(found[0]):04x}", text)
