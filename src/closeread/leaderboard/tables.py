"""An index as tables: grids for a terminal, Markdown and LaTeX, and long-form CSV and Parquet; and what all show of it.

All texts of an index are untrusted.  `clean_index` escapes control characters and whatever changes the direction of
text, once; what is special in HTML, Markdown, LaTeX or a spreadsheet is escaped where it is written.  CSV and Parquet
have a row for each score of each row of a board, of all units and of every slice, with ratios in full precision.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from closeread.exceptions import pluralize, shorten
from closeread.leaderboard.names import check_link, check_model, escape_markdown, format_time, show_safely
from closeread.tables import GAPS, Grid, Markup, Style, Whole, csv_text, find_width, format_number, percent

PARAGRAPHS = ("citation", "description")
"""The fields whose line ends are kept."""

KINDS = {"system": "system", "baseline": "baseline", "printed": "printed in a paper"}
"""The kinds of rows, in words."""

FLAGS = {"duplicate": "duplicate", "perfect": "equal to the gold", "unverified": "unverified"}
"""Flags in words; others are shown by their names."""

MINOR = ("/precision", "/recall")
"""The ends of the names of metrics that are summed up by another one."""

COLUMNS = {
    "board": "string",
    "standing": "string",
    "kind": "string",
    "system": "string",
    "author": "string",
    "id": "string",
    "submitted": "string",
    "field": "string",
    "slice": "string",
    "metric": "string",
    "value": "float64",
    "low": "float64",
    "high": "float64",
    "undefined": "bool",
    "n_units": "int64",
    "n_blocks": "int64",
    "rank_low": "int64",
    "rank_high": "int64",
    "best": "bool",
    "flags": "string",
    "signature": "string",
    "closeread": "string",
    "model": "string",
    "paper": "string",
    "code": "string",
}
"""The columns of the long form with their types; a column without a value is null, or empty in CSV."""

PLAIN = re.compile(r"(?!.*www\.)[A-Za-z0-9 .,()+–-]*", re.IGNORECASE)
"""A text in which Markdown finds no markup."""

PROSE = ("description", "source text", "author", "flags")
"""Facts that a narrow terminal may wrap."""


def clean_index(value: Any, field: str = "") -> Any:
    r"""Return a copy of a JSON value with all texts made harmless for terminals and pages.

    >>> clean_index({"system": "a\x1b", "description": "one\ntwo"})
    {'system': 'a\\x1b', 'description': 'one\ntwo'}
    """
    if isinstance(value, str):
        lines = value.replace("\r\n", "\n").split("\n") if field in PARAGRAPHS else [value]
        return "\n".join(map(_clean_line, lines))
    if isinstance(value, Mapping):
        return {_clean_line(name): clean_index(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [clean_index(item, field) for item in value]
    return value


def _clean_line(text: str) -> str:
    """Return a text as `show_safely` does, which takes longer than all else for an index of a thousand systems."""
    return text if text.isascii() and text.isprintable() else show_safely(text)


def find_link(text: str | None) -> str | None:
    """Return the text if it is a link that readers of a page may follow; None if it is not.

    >>> find_link("https://aclanthology.org/D19-1332/"), find_link("javascript:alert(1)")
    ('https://aclanthology.org/D19-1332/', None)
    """
    return text if text and not check_link(text) else None


def link_model(name: str | None) -> str | None:
    """Return the link to a model on the Hub; None if the text is not the name of one.

    >>> link_model("org/name-7b"), link_model("../x")
    ('https://huggingface.co/org/name-7b', None)
    """
    return f"https://huggingface.co/{name}" if name and not check_model(name) else None


def format_rank(rank: Mapping[str, Any] | None) -> str:
    """Format a rank interval; empty if the row has none.

    >>> format_rank({"low": 1, "high": 3}), format_rank({"low": 2, "high": 2}), format_rank(None)
    ('1–3', '2', '')
    """
    if rank is None:
        return ""
    return str(rank["low"]) if rank["low"] == rank["high"] else f"{rank['low']}–{rank['high']}"


def format_interval(score: Mapping[str, Any]) -> str:
    """Format an interval, times 100; empty if there is none.

    >>> format_interval({"value": 0.6, "low": 0.55, "high": 0.651})
    '55.00–65.10'
    """
    low, high = score.get("low"), score.get("high")
    return "" if low is None or high is None else f"{percent(low)}–{percent(high)}"


def format_value(score: Mapping[str, Any] | None) -> str:
    """Format a score times 100, or as it was printed; a star if it is 0/0, empty if the row has no such score."""
    if score is None:
        return ""
    printed = score.get("printed")
    return printed if printed is not None else percent(score["value"]) + ("*" if score.get("undefined") else "")


def name_flags(row: Mapping[str, Any]) -> list[str]:
    """Return the flags of a row, in words."""
    return [FLAGS.get(one["flag"], one["flag"]) for one in row.get("flags", ())]


def format_window(board: Mapping[str, Any]) -> str:
    """Say when submissions to a board begin and end; empty if they always may come."""
    times = [("Opens", board.get("opens")), ("Closes", board.get("closes"))]
    return " ".join(f"{word} on {format_time(time)}." for word, time in times if time)


def order_metrics(board: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the metrics of a board, the headline first."""
    return sorted(board["metrics"], key=lambda metric: metric["name"] != board["headline"])


def count_best(board: Mapping[str, Any]) -> int:
    """Return the number of rows down to the end of the first group that is not distinguishable from the best.

    A system further down may belong to them, too, if the tests can't tell because its scores vary more.  Rows without a
    rank don't end the group.
    """
    number = 0
    for place, row in enumerate(board["rows"], start=1):
        if row["rank"] is not None:
            if not row["rank"].get("best"):
                break
            number = place
    return number


def grid(board: Mapping[str, Any], *, style: Style = "table") -> Grid:
    """Return the ranking of a board.

    Args:
        board: a board of an index.
        style: how the grid will be drawn: in a terminal, columns that don't fit into its width are left out; in
            Markdown, names are quoted.  Precision and recall are left out in every style.
    """
    clean = clean_index(board)
    metrics = order_metrics(clean)
    rows = clean["rows"]
    columns = [
        ["rank", *(format_rank(row["rank"]) + ("†" if _is_best(row) else "") for row in rows)],
        ["system", *(_quote(name, style) for name in _name_rows(rows))],
        [metrics[0]["title"], *(format_value(row["scores"].get(metrics[0]["name"])) for row in rows)],
        [
            f"{100 * clean['confidence']:g}% interval",
            *(format_interval(row["scores"].get(metrics[0]["name"]) or {}) for row in rows),
        ],
    ]
    more = [
        [metric["title"], *(format_value(row["scores"].get(metric["name"])) for row in rows)]
        for metric in metrics[1:]
        if not metric["name"].endswith(MINOR)
    ]
    authors = {row.get("author") for row in rows} - {None}
    if len(authors) > 1:  # the same name in every row says nothing
        more.append(["author", *(_quote(shorten(row.get("author") or "", 60), style) for row in rows)])
    more.append(["flags", *(", ".join(name_flags(row)) for row in rows)])
    left_out: list[list[str]] = []
    width = find_width()
    # If not even the first columns fit, each row becomes a block, which has room for all.
    has_room = style != "table" or _measure(columns) > width
    for column in more:
        if any(column[1:]):
            (columns if has_room or _measure([*columns, column]) <= width else left_out).append(column)
    header, *cells = zip(*columns, strict=True)
    notes = _make_notes(clean, [column[0] for column in left_out])
    return Grid(clean["title"], header, cells, notes, labels=2)


def _is_best(row: Mapping[str, Any]) -> bool:
    return bool(row["rank"] and row["rank"].get("best"))


def _name_rows(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the names of rows; systems that look alike, as names are compared without case, have their ids added."""
    names = [_name_row(row) for row in rows]
    times = Counter(name.casefold() for name in names)
    return [
        f"{name} ({row['id'][:8]})" if times[name.casefold()] > 1 and row["kind"] == "system" else name
        for name, row in zip(names, rows, strict=True)
    ]


def _name_row(row: Mapping[str, Any]) -> str:
    """Return the name of a row, and what it is if it is no system."""
    name = shorten(row["system"], 120)
    tag = row.get("source_text") or KINDS.get(row["kind"], row["kind"])
    return name if row["kind"] == "system" else f"{name} ({shorten(tag, 120)})"


def quote_cell(text: str) -> str:
    """Return Markdown for a cell of a table that shows an untrusted text as it is.

    >>> quote_cell("BERT (large)"), quote_cell("<b>a|b")
    ('BERT (large)', '`<b>a`&#124;`b`')
    """
    # A bar ends the cell, even inside of code.
    return text if PLAIN.fullmatch(text) else "&#124;".join(map(escape_markdown, text.split("|")))


def _measure(columns: Sequence[Sequence[str]]) -> int:
    return sum(max(map(len, column)) for column in columns) + GAPS[-1] * (len(columns) - 1)


def _make_notes(board: Mapping[str, Any], left_out: Sequence[str]) -> list[str]:
    notes = []
    if count_best(board):
        notes.append("† Not distinguishable from the best. A rank such as 1–3 is an interval, by paired tests.")
    if any(score.get("undefined") for row in board["rows"] for score in row["scores"].values()):
        notes.append("* This score is 0/0; its value is set by convention.")
    if left_out:
        notes.append(f"Not shown: {', '.join(left_out)}; see --format csv.")
    others = sum(len(other["rows"]) for other in board["others"])
    if others:
        notes.append(f"{pluralize(others, 'row')} with another signature: not comparable, see --format csv.")
    if board["refused"] or board["withdrawn"]:
        notes.append(f"Refused: {board['refused']}. Withdrawn: {board['withdrawn']}.")
    return [*notes, *filter(None, [format_window(board)]), f"Signature: {board['signature']}"]


def system_grids(board: Mapping[str, Any], row: Mapping[str, Any], *, style: Style = "table") -> Iterator[Grid]:
    """Yield the tables of one row of a board: what is known of it, its scores, and its counts.

    Args:
        board: a board of an index.
        row: one of its rows, of any kind and signature.
        style: how the grids will be drawn.
    """
    clean, one = clean_index(board), clean_index(row)
    titles = {metric["name"]: metric["title"] for metric in clean["metrics"]}
    facts = [[Whole(name), _quote_fact(name, text, style)] for name, text in _list_facts(one)]
    yield Grid(_quote(one["system"], style), ["", ""], facts, prose=frozenset({""}))
    groups = [("all", one)]
    groups += [(value, found) for values in (one.get("slices") or {}).values() for value, found in values.items()]
    yield Grid(
        "Scores",
        ["part", "metric", "score", f"{100 * clean['confidence']:g}% interval"],
        [
            ["" if i else _quote(part, style), titles.get(name, name), format_value(score), format_interval(score)]
            for part, found in groups
            for i, (name, score) in enumerate(found["scores"].items())
        ],
        prose=frozenset({"metric"}),
        ditto=frozenset({"part"}),
    )
    names = list(one.get("counts") or ())
    if names:
        counted = [(part, found["counts"]) for part, found in groups if found.get("counts")]
        rows = [[name, *(format_number(counts.get(name)) for _, counts in counted)] for name in names]
        yield Grid("Counts", ["count", *(_quote(part, style) for part, _ in counted)], rows)


def _quote(text: str, style: Style) -> str:
    """Return a text for a grid that is drawn in this style."""
    if style == "markdown":
        return Markup("<br>".join(map(quote_cell, text.split("\n"))))
    return text.replace("\n", " ")


def _quote_fact(name: str, text: str, style: Style) -> str:
    """Return the value of a fact for a grid; only prose is wrapped."""
    quoted = _quote(text, style)
    return quoted if name in PROSE or isinstance(quoted, Markup) else Whole(quoted)


def _list_facts(row: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return names and values of what is known of a row."""
    facts = {
        "kind": KINDS.get(row["kind"], row["kind"]),
        "rank": format_rank(row["rank"]),
        "author": row.get("author"),
        "submitted": row.get("submitted"),
        "description": row.get("description"),
        **{name: row.get(name) for name in ("model", "paper", "code", "source")},
        "source text": row.get("source_text"),
        "flags": ", ".join(name_flags(row)),
        "id": row["id"],
        "signature": row.get("signature"),
        "closeread": row.get("closeread"),
        "record": row.get("record"),
        "reproduce": row.get("reproduce"),
    }
    return [(name, value) for name, value in facts.items() if value]


def csv_rows(index: Mapping[str, Any]) -> tuple[list[str], list[list[object]]]:
    """Return header and rows of an index in long form, for CSV."""
    return list(COLUMNS), [list(row.values()) for row in long_rows(index)]


def csv(index: Mapping[str, Any]) -> str:
    """Return an index in long form as comma-separated values."""
    return csv_text(*csv_rows(index))


def parquet(index: Mapping[str, Any]) -> bytes:
    """Return an index in long form as the bytes of a Parquet file; the schema is always the same."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([(name, pa.type_for_alias(kind)) for name, kind in COLUMNS.items()])
    buffer = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(list(long_rows(index)), schema=schema), buffer)
    return bytes(buffer.getvalue())


def long_rows(index: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a record for each score of an index, with the keys of `COLUMNS`."""
    for board in clean_index(index)["boards"]:
        rows = [("ranked", row) for row in board["rows"]]
        rows += [("superseded", row) for row in board["superseded"]]
        rows += [("other signature", row) for other in board["others"] for row in other["rows"]]
        for standing, row in rows:
            about = _describe_row(board, row) | {"standing": standing}
            whole = {"n_units": board["n_units"], "n_blocks": board["n_blocks"], "scores": row["scores"]}
            groups = [("", "all", whole if row["kind"] != "printed" else {"scores": row["scores"]})]
            groups += [
                (field, value, found)
                for field, values in (row.get("slices") or {}).items()
                for value, found in values.items()
            ]
            for field, value, found in groups:
                for metric, score in found["scores"].items():
                    cells = about | {"field": field, "slice": value, "metric": metric}
                    cells |= {name: score.get(name) for name in ("value", "low", "high")}
                    cells |= {"undefined": bool(score.get("undefined"))}
                    cells |= {name: found.get(name) for name in ("n_units", "n_blocks")}
                    yield {name: cells[name] for name in COLUMNS}


def _describe_row(board: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
    rank = row["rank"] or {}
    names = ("kind", "system", "author", "id", "submitted", "signature", "closeread", "model", "paper", "code")
    return {
        "board": board["name"],
        **{name: row.get(name) for name in names},
        "rank_low": rank.get("low"),
        "rank_high": rank.get("high"),
        "best": bool(rank.get("best")),
        "flags": " ".join(flag["flag"] for flag in row.get("flags", ())),
    }
