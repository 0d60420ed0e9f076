"""The page of a leaderboard, and its tables for a terminal, Markdown and LaTeX, CSV and Parquet.

All texts of an index are untrusted.  `clean_index` escapes control characters and whatever changes the direction of
text, once; what is special in HTML, Markdown, LaTeX or a spreadsheet is escaped where it is written.  CSV and Parquet
have a row for each score of each row of a board, of all units and of every slice, with ratios in full precision.

The page is one HTML file with its data inside, which asks no host for anything.  The tables, the history and all
explanations can be read without JavaScript.  The script, which comes from the files in `templates/`, sorts and filters,
and draws slices, systems and comparisons from the page's data.  The page's policy allows exactly that style and that
script, by their digests.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from closeread.counts.results import Result
from closeread.exceptions import (
    RequestError,
    choose_words,
    describe_unknown,
    pluralize,
    quote,
    shorten,
)
from closeread.files import package_folder
from closeread.formats.json_lines import dump_json_lines
from closeread.leaderboard.names import (
    check_link,
    check_model,
    format_time,
    show_safely,
)
from closeread.leaderboard.results import HUB, Arrival, Entry
from closeread.tables import (
    GAPS,
    Grid,
    Markup,
    Style,
    Whole,
    escape_markdown,
    find_width,
    format_number,
    percent,
)

Json = Mapping[str, Any]

PARAGRAPHS = ("citation", "description")  # the fields whose line ends are kept
# the kinds of rows, in words
KINDS = {"system": "system", "baseline": "baseline"}
# in words
FLAGS = {
    "duplicate": "duplicate",
    "perfect": "equal to the gold",
    "unverified": "unverified",
    "late": "late",
    "disqualified": "disqualified",
}
EXPLAINED = {
    "duplicate": "a duplicate has the same predictions as an earlier row",
    "unverified": "an unverified system has no link to a model, a paper or code",
    "late": "a late one was submitted after the end",
    "disqualified": "the organisers have disqualified it",
}
# the ends of the names of metrics that are summed up by another one
MINOR = ("/precision", "/recall")
COLUMNS = (
    *(
        "board",
        "standing",
        "kind",
        "system",
        "author",
        "id",
        "submitted",
        "field",
        "slice",
        "metric",
    ),
    *("value", "low", "high", "undefined", "n_units", "n_blocks", "rank_low", "rank_high", "best"),
    *("flags", "signature", "closeread", "model", "paper", "code"),
)
"""The columns of the long form; one without a value is null, or empty in CSV."""

"""The types of columns that are not text."""

PROSE = ("description", "author", "flags")  # facts that a narrow terminal may wrap
SHORTEST = 6  # the digits of an id that are enough to name it, if only one id begins with them


def clean_index(value: Any, field: str = "") -> Any:
    """Return a copy of a JSON value with all texts made harmless for terminals and pages."""
    if isinstance(value, str):
        if value.isascii() and value.isprintable():  # nearly all are, of a thousand systems
            return value
        lines = value.replace("\r\n", "\n").split("\n") if field in PARAGRAPHS else [value]
        return "\n".join(map(show_safely, lines))
    if isinstance(value, Mapping):
        return {clean_index(name): clean_index(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [clean_index(item, field) for item in value]
    return value


def find_link(text: str | None) -> str | None:
    """Return the text if it is a link that readers of a page may follow; None if it is not."""
    return text if text and not check_link(text) else None


def link_model(name: str | None) -> str | None:
    """Return the link to a model on the Hub; None if the text is not the name of one."""
    return f"https://huggingface.co/{name}" if name and not check_model(name) else None


def format_rank(rank: Json | None) -> str:
    """Format a rank interval; empty if the row has none.

    >>> format_rank({"low": 1, "high": 3}), format_rank({"low": 2, "high": 2}), format_rank(None)
    ('1–3', '2', '')
    """
    if rank is None:
        return ""
    return str(rank["low"]) if rank["low"] == rank["high"] else f"{rank['low']}–{rank['high']}"


def format_interval(score: Json | None) -> str:
    """Format an interval, times 100; empty if there is none."""
    low, high = ((score or {}).get(name) for name in ("low", "high"))
    return "" if low is None or high is None else f"{percent(low)}–{percent(high)}"


def format_value(score: Json | None) -> str:
    """Format a score times 100; a star if it is 0/0, empty if the row has no such score."""
    if score is None:
        return ""
    return percent(score["value"]) + ("*" if score.get("undefined") else "")


def name_flags(row: Json) -> str:
    """Return the flags of a row, in words; unknown ones by their names."""
    return ", ".join(FLAGS.get(one["flag"], one["flag"]) for one in row.get("flags", ()))


def name_kind(row: Json) -> str:
    """Return the kind of a row that is no system."""
    return "" if row["kind"] == "system" else KINDS.get(row["kind"], shorten(row["kind"], 120))


def format_window(board: Json) -> str:
    """Return when a board opens, closes and shows scores; empty if it always does."""
    times = [
        ("Opens", board.get("opens")),
        ("Closes", board.get("closes")),
        ("Scores are shown", board.get("reveals")),
    ]
    return " ".join(f"{word} on {format_time(time)}." for word, time in times if time)


def order_metrics(board: Json) -> list[dict[str, Any]]:
    """Return the metrics of a board, the headline first."""
    return sorted(board["metrics"], key=lambda metric: metric["name"] != board["headline"])


def is_best(row: Json) -> bool:
    """Return whether a row is not distinguishable from the best."""
    return bool(row["rank"] and row["rank"].get("best"))


def mark_undecided(board: Json, row: Json) -> str:
    """Return the mark of a row that is not distinguishable from the best, but has a lower score."""
    if not is_best(row):
        return ""
    best = next(other for other in board["rows"] if is_best(other))
    headline = board["headline"]
    has_best_score = row["scores"][headline]["value"] == best["scores"][headline]["value"]
    return "" if has_best_score else "†"


def count_best(board: Json) -> int:
    """Return the number of rows down to the end of the first group that is not distinguishable from the best.

    Systems further down may belong to them, too, if their scores vary more.  Rows without a rank don't end the group.
    """
    number = 0
    for place, row in enumerate(board["rows"], start=1):
        if row["rank"] is not None:
            if not is_best(row):
                break
            number = place
    return number


def list_rows(board: Json) -> list[Json]:
    """Return all rows: those of the ranking, those that later or better ones supersede, and other signatures."""
    return [
        *board["rows"],
        *board["superseded"],
        *(row for other in board["others"] for row in other["rows"]),
    ]


def grid(board: Json, *, style: Style = "table") -> Grid:
    """Return the ranking of a board, without precision and recall; in a terminal, with the columns that fit."""
    clean = clean_index(board)
    rows = clean["rows"]
    first, *others = order_metrics(clean)
    headline = [row["scores"].get(first["name"]) for row in rows]
    names = [
        shorten(row["system"], 120) + (f" ({kind})" if (kind := name_kind(row)) else "")
        for row in rows
    ]
    times = Counter(name.casefold() for name in names)
    for i, row in enumerate(rows):  # systems that look alike have their ids added
        if times[names[i].casefold()] > 1 and row["kind"] == "system":
            names[i] += f" ({row['id'][:8]})"
    columns = [
        ["rank", *(format_rank(row["rank"]) + mark_undecided(clean, row) for row in rows)],
        ["system", *(_quote(name, style) for name in names)],
        [first["title"], *map(format_value, headline)],
        [f"{100 * clean['confidence']:g}% interval", *map(format_interval, headline)],
    ]
    more = [
        [metric["title"], *(format_value(row["scores"].get(metric["name"])) for row in rows)]
        for metric in others
        if not metric["name"].endswith(MINOR)
    ]
    # the same name in every row says nothing
    if len({row.get("author") for row in rows} - {None}) > 1:
        more.append(
            ["author", *(_quote(shorten(row.get("author") or "", 60), style) for row in rows)]
        )
    more.append(["flags", *map(name_flags, rows)])
    left_out: list[str] = []
    room = find_width() - sum(max(map(len, column)) + GAPS[-1] for column in columns) + GAPS[-1]
    # if not even these fit, each row becomes a block, with room for all
    is_limited = style == "table" and room >= 0
    for column in more:
        if any(column[1:]):
            width = max(map(len, column)) + GAPS[-1]
            if is_limited and width > room:
                left_out.append(column[0])
            else:
                columns.append(column)
                room -= width
    header, *cells = zip(*columns, strict=True)
    n_others = sum(len(other["rows"]) for other in clean["others"])
    everything = choose_words("--format csv", "to_frame()")
    notes = {
        "† Not distinguishable from the best.": any(mark_undecided(clean, row) for row in rows),
        "A rank such as 1–3 is an interval, with 95 % confidence.": count_best(clean),
        describe_detectable(clean): describe_detectable(clean),
        "* This score is 0/0; its value is set by convention.": any(
            score.get("undefined") for row in rows for score in row["scores"].values()
        ),
        f"Not shown: {', '.join(left_out)}; see {everything}.": left_out,
        f"{pluralize(n_others, 'row')} with another signature: not comparable, see {everything}.": n_others,
        f"Refused: {clean['refused']}. Withdrawn: {clean['withdrawn']}.": clean["refused"]
        or clean["withdrawn"],
        f"Accepted: {clean.get('accepted')}.": clean.get("reveals"),
        format_window(clean): format_window(clean),
        f"Signature: {clean['signature']}": True,
    }
    return Grid(
        clean["title"], header, cells, [note for note, holds in notes.items() if holds], labels=2
    )


def describe_detectable(board: Json) -> str:
    """Say which differences of the headline score are too small for this test set; empty if that is unknown."""
    if (value := board["pairs"].get("detectable")) is None:
        return ""
    title = next(
        metric["title"] for metric in board["metrics"] if metric["name"] == board["headline"]
    )
    return (
        f"This test set is too small to show differences in {title} below {100 * value:.1f} points: only larger ones "
        "are significant in 80% of such sets (median of all pairs, each tested by itself)."
    )


def _quote(text: str, style: Style) -> str:
    if style == "markdown":
        return Markup("<br>".join(map(escape_markdown, text.split("\n"))))
    return text.replace("\n", " ")


def system_grids(board: Json, row: Json, *, style: Style = "table") -> Iterator[Grid]:
    """Yield the tables of one row of a board, of any kind and signature: what is known of it, scores and counts."""
    clean, one = clean_index(board), clean_index(row)
    facts = {
        "kind": KINDS.get(one["kind"], one["kind"]),
        "rank": format_rank(one["rank"]),
        **{
            name: one.get(name)
            for name in ("author", "submitted", "description", "model", "paper", "code", "source")
        },
        "flags": name_flags(one),
        **{name: one.get(name) for name in ("id", "signature", "closeread", "record", "reproduce")},
    }
    quoted = {name: _quote(text, style) for name, text in facts.items() if text}
    cells = [
        [Whole(name), text if name in PROSE or isinstance(text, Markup) else Whole(text)]
        for name, text in quoted.items()
    ]
    yield Grid(_quote(one["system"], style), ["", ""], cells, prose=frozenset({""}))
    titles = {metric["name"]: metric["title"] for metric in clean["metrics"]}
    groups = [("all", one)]
    groups += [
        (value, found)
        for values in (one.get("slices") or {}).values()
        for value, found in values.items()
    ]
    yield Grid(
        "Scores",
        ["part", "metric", "score", f"{100 * clean['confidence']:g}% interval"],
        [
            [
                "" if i else _quote(part, style),
                titles.get(name, name),
                format_value(score),
                format_interval(score),
            ]
            for part, found in groups
            for i, (name, score) in enumerate(found["scores"].items())
        ],
        prose=frozenset({"metric"}),
        ditto=frozenset({"part"}),
    )
    if one.get("counts"):
        counted = [(part, found["counts"]) for part, found in groups if found.get("counts")]
        rows = [
            [name, *(format_number(counts.get(name)) for _, counts in counted)]
            for name in one["counts"]
        ]
        yield Grid("Counts", ["count", *(_quote(part, style) for part, _ in counted)], rows)


def long_rows(index: Json) -> Iterator[dict[str, Any]]:
    """Yield a record for each score of an index, with the keys of `COLUMNS`."""
    for board in clean_index(index)["boards"]:
        standings = ["ranked"] * len(board["rows"]) + ["superseded"] * len(board["superseded"])
        for number, row in enumerate(list_rows(board)):
            rank = row["rank"] or {}
            about = {
                **row,
                "board": board["name"],
                "standing": standings[number] if number < len(standings) else "other signature",
                "rank_low": rank.get("low"),
                "rank_high": rank.get("high"),
                "best": bool(rank.get("best")),
                "flags": " ".join(flag["flag"] for flag in row.get("flags", ())),
            }
            groups = [("", "all", {**board, "scores": row["scores"]})]
            for name, values in (row.get("slices") or {}).items():
                groups += [(name, value, found) for value, found in values.items()]
            for part, value, found in groups:
                for metric, score in found["scores"].items():
                    cells = {**about, **score, "undefined": bool(score.get("undefined"))}
                    cells |= {"field": part, "slice": value, "metric": metric}
                    cells |= {name: found.get(name) for name in ("n_units", "n_blocks")}
                    yield {name: cells.get(name) for name in COLUMNS}


@dataclass(frozen=True)
class Ranking(Result):
    """The index of a leaderboard, or the part of it that is shown: tables of all boards, and a row for each score."""

    index: Json
    has_details: bool = False  # whether the tables show everything about each row

    def select(self, board: str | None = None, system: str | None = None) -> Ranking:
        """Return one of the boards only, or all rows of a system by its name, its id or the beginning of that."""
        boards = [one for one in self.index["boards"] if board in (None, one["name"])]
        if not boards and board is not None:
            raise RequestError(
                describe_unknown("board", board, [one["name"] for one in self.index["boards"]])
            )
        if system is None:
            return Ranking({**self.index, "boards": boards})
        rows = [row for one in boards for row in list_rows(one)]
        ids = {row["id"] for row in rows if system in (row["system"], row["id"])}
        if not ids and len(system) >= SHORTEST:
            ids = {row["id"] for row in rows if row["id"].startswith(system)}
            if len(ids) > 1:
                raise RequestError(
                    f"{quote(system)} is the beginning of {len(ids)} ids; give more of it"
                )
        if not ids:
            known = list(dict.fromkeys(row["system"] for row in rows))
            raise RequestError(describe_unknown("system", system, known[:10]))

        def keep(found: Sequence[Json]) -> list[Json]:
            return [row for row in found if row["id"] in ids]

        kept = []
        for one in boards:
            part: dict[str, Any] = {
                name: keep(one[name]) for name in ("rows", "superseded", "history")
            }
            part["others"] = [
                {**other, "rows": found}
                for other in one["others"]
                if (found := keep(other["rows"]))
            ]
            kept.append({**one, **part, "pairs": {"ids": [], "low": [], "high": [], "p": []}})
        return Ranking(
            {**self.index, "boards": [one for one in kept if list_rows(one)]}, has_details=True
        )

    def to_grids(self, style: Style = "table") -> Iterator[Grid]:
        """Yield the ranking of every board, or everything about each of its rows."""
        for board in self.index["boards"]:
            if self.has_details:
                for row in list_rows(board):
                    yield from system_grids(board, row, style=style)
            else:
                yield grid(board, style=style)

    def to_rows(self) -> tuple[Sequence[str], list[list[object]]]:
        """Return a row for each score, of all units and of every slice."""
        return COLUMNS, [list(row.values()) for row in long_rows(self.index)]

    def to_dict(self) -> object:
        """Return the index."""
        return self.index

    def to_json_lines(self) -> str:
        """Return the rows of the CSV as JSON Lines, each with all keys."""
        return dump_json_lines(long_rows(self.index))


@dataclass(frozen=True)
class Submissions(Result):
    """The submissions to a leaderboard: entries, by time, and those that are not judged yet.

    Attributes:
        entries: what is judged.
        arrivals: what is not.
        outlook: what the judge would do with it, in words, by id.
        notes: sentences for the end.
    """

    entries: Sequence[Entry]
    arrivals: Sequence[Arrival]
    outlook: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()

    @property
    def waiting(self) -> list[Arrival]:
        """The submissions that are not judged yet."""
        judged = {entry.submission for entry in self.entries}
        return [
            arrival
            for arrival in self.arrivals
            if arrival.kind == "submissions" and arrival.submission not in {*judged, ""}
        ]

    def to_rows(self) -> tuple[list[str], list[list[str]]]:
        """Return a row for each submission."""
        rows = []
        found: list[Entry | Arrival] = [*self.entries, *self.waiting]
        for one in found:
            if isinstance(one, Entry):
                status, system = one.status, one.about.system if one.about else ""
            else:
                status, system = "not judged yet", one.system
            system = show_safely(system)
            # to the minute, which fits a narrow terminal
            time = one.submitted[:16].replace("T", " ")
            rows.append([one.submission[:12], one.board, system, one.author, time, status])
        return ["submission", "board", "system", "author", "submitted (UTC)", "status"], rows

    def to_grids(self, style: Style = "table") -> list[Grid]:
        """Return the table of submissions; the board is its title if there is only one."""
        header, rows = self.to_rows()
        if not rows:
            return [Grid("", [], [], ["No submissions.", *self.notes])]
        boards = {row[1] for row in rows}
        shown = [
            "submission",
            "status",
            *(["board"] if len(boards) > 1 else []),
            "system",
            "author",
            "submitted (UTC)",
        ]
        problems = [(one.submission[:12], one.problems) for one in self.entries]
        problems += [(name[:12], (sentence,)) for name, sentence in self.outlook.items()]
        problems += [
            (show_safely(str(one.source)), one.problems)
            for one in self.arrivals
            if not one.submission
        ]
        return [
            Grid(
                f"Submissions to {boards.pop()}" if len(boards) == 1 else "Submissions",
                shown,
                [[row[header.index(name)] for name in shown] for row in rows],
                [f"{name}: {show_safely(problem)}" for name, found in problems for problem in found]
                + list(self.notes),
                texts=frozenset(shown),
                prose=frozenset({"system"}),
                labels=1,
            )
        ]

    def to_dict(self) -> object:
        """Return the submissions that are judged, and those that are not."""
        judged = [
            {
                "id": e.submission,
                "board": e.board,
                "status": e.status,
                "author": e.author,
                "problems": e.problems,
            }
            for e in self.entries
        ]
        waiting = [
            {
                "id": arrival.submission,
                "board": arrival.board,
                "author": arrival.author,
                "outlook": self.outlook.get(arrival.submission),
            }
            for arrival in self.waiting
        ]
        return {"submissions": judged, "waiting": waiting}


SCRIPTS = ("dom", "data", "columns", "table", "downloads", "system", "compare", "views")
TEXTS = (
    "id",
    "kind",
    "system",
    "author",
    "submitted",
    "description",
    "signature",
    "closeread",
)
CHART = {"width": 640, "height": 200, "left": 44, "right": 626, "top": 12, "bottom": 26}
# the distances between lines of the scale, in percent; scores above 1 take 20, 40, …
STEPS = (1, 2, 5, 10, 20)


def list_commands(board: Json, address: str) -> list[str]:
    """Return the lines that check and submit predictions to a board of the leaderboard with this address.

    Both name the board: with gold of the organiser's own, no other command knows what predictions are for.
    """
    words = ["closeread", "submit", board["corpus"] or board["procedure"], "PREDICTIONS"]
    for name in ("config", "split"):
        if board.get(name):
            words += [f"--{name}", board[name]]
    # Of a path, nobody else has more than its name.
    store = address if address.startswith(HUB) else Path(address).name
    words += ["--system", "My system", "--to", store]
    return ["pip install closeread", shlex.join([*words, "--dry-run"]), shlex.join(words)]


def render_page(index: Json, *, address: str = "STORE") -> str:
    """Return the page of a leaderboard as HTML.

    Args:
        index: the content of `board.json`; all texts in it are untrusted.
        address: where to submit: the folder or the dataset on the Hub.
    """
    import jinja2

    clean = clean_index(index)
    keys = make_keys(board["name"] for board in clean["boards"])
    folder = package_folder("closeread.leaderboard") / "templates"
    style = (folder / "style.css").read_text("utf-8")
    texts = [(folder / f"{name}.js").read_text("utf-8") for name in SCRIPTS]
    # its names are not visible outside of it
    script = '"use strict";\n(() => {\n' + "\n".join(texts) + "})();\n"
    policy = f"style-src {_digest(style)}; script-src {_digest(script)}; base-uri 'none'; form-action 'none'"
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    templates.filters |= {"value": format_value, "interval": format_interval, "rank": format_rank}
    templates.filters |= {
        "window": format_window,
        "kind": name_kind,
        "flags": name_flags,
        "link": find_link,
    }
    templates.filters["detectable"] = describe_detectable
    templates.filters |= {"shorten": shorten, "day": lambda time: (time or "").partition("T")[0]}
    templates.tests["best"] = is_best
    sections = [
        {
            "key": key,
            "board": board,
            "metrics": order_metrics(board),
            "n_best": count_best(board),
            "names": {row["id"]: row["system"] for row in list_rows(board)},
            "chart": make_chart(board["history"]),
            "commands": list_commands(board, address),
            "flags": [
                text
                for flag, text in EXPLAINED.items()
                if flag in {one["flag"] for row in list_rows(board) for one in row.get("flags", ())}
            ],
            "has_minor": any(metric["name"].endswith(MINOR) for metric in board["metrics"]),
            "data": embed_json(make_data(board, key)),
        }
        for board, key in zip(clean["boards"], keys, strict=True)
    ]
    return templates.get_template("page.html").render(
        title=clean["title"],
        closeread=clean["closeread"],
        sections=sections,
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

    `line` is the path from the first record to the right end; `ticks` are the heights and names of the scale's lines.
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
    groups = (
        ["ranked"] * n_ranked
        + ["superseded"] * n_superseded
        + ["other"] * (len(rows) - n_ranked - n_superseded)
    )

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
        **{
            name: board[name]
            for name in ("name", "title", "procedure", "signature", "unit", "n_units")
        },
        **{name: board[name] for name in ("resampling_unit", "confidence")},
        "n_ranked": n_ranked,
        "headline": metrics.index(board["headline"]),
        "metrics": [[metric["name"], metric["title"]] for metric in board["metrics"]],
        "columns": {
            "key": make_keys(
                row["id"][:10] if row["kind"] == "system" else row["id"] for row in rows
            ),
            "group": groups,
            **{name: [row.get(name) for row in rows] for name in (*TEXTS, "record", "reproduce")},
            "record_is_link": [find_link(row.get("record")) is not None for row in rows],
            **{name: list_texts(name, find_link) for name in ("source", "paper", "code")},
            "model": list_texts("model", link_model),
            "flags": [row.get("flags", []) for row in rows],
            **{
                f"rank_{name}": [(row["rank"] or {}).get(name) for row in rows]
                for name in ("low", "high")
            },
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
            "p": [
                None if p is None else 0 if p < 0.0001 else round(round(p, 4) * 10_000)
                for p in pairs["p"]
            ],
        },
    }


def _list_results(rows: Sequence[Json], metrics: Sequence[str]) -> dict[str, Any]:
    """Return scores, counts and sizes of all rows, in the whole or in a slice."""

    def list_scores(metric: str) -> dict[str, Any]:
        scores = [(row.get("scores") or {}).get(metric) or {} for row in rows]
        return {
            **{
                end: [_round_ratio(score.get(end)) for score in scores]
                for end in ("value", "low", "high")
            },
            "undefined": [i for i, score in enumerate(scores) if score.get("undefined")],
        }

    # with two decimals, as they are shown, if they are no integers
    def list_counts(name: str) -> list[float | None]:
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
