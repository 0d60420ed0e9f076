"""The page of a leaderboard, and its tables for a terminal, Markdown and LaTeX, CSV and Parquet.

All texts of an index are untrusted.  `clean_index` escapes control characters and whatever changes the direction of
text, once; what is special in HTML, Markdown, LaTeX or a spreadsheet is escaped where it is written.  CSV and Parquet
have a row for each score of each row of a board, of all units and of every slice, with ratios in full precision.

The page is one HTML file with its data inside, which asks no host for anything.  The tables, the history and all
explanations can be read without JavaScript.  The script, which comes from the files in `templates/`, sorts and filters,
and draws slices, systems, comparisons and the chart of the history from the page's data.  The page's policy allows
exactly that style and that script, by their digests.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from closeread.counts.results import Result
from closeread.exceptions import (
    RequestError,
    choose_words,
    describe_unknown,
    pluralize,
    shorten,
)
from closeread.files import package_folder
from closeread.formats.json_lines import dump_json_lines
from closeread.leaderboard.names import (
    HUB,
    check_link,
    check_model,
    format_time,
    show_safely,
)
from closeread.leaderboard.results import Arrival, Entry
from closeread.tables import (
    Grid,
    Markup,
    Style,
    escape_markdown,
    percent,
)
from closeread.views.page import dump_data, hash_source

if TYPE_CHECKING:
    import jinja2

Json = Mapping[str, Any]

PARAGRAPHS = ("citation", "description")  # the fields whose line ends are kept
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
    "value",
    "low",
    "high",
    "undefined",
    "n_units",
    "n_blocks",
    "rank_low",
    "rank_high",
    "best",
    "flags",
    "signature",
    "closeread",
    "model",
    "paper",
    "code",
)
"""The columns of the long form; one without a value is null, or empty in CSV."""


def clean_index(value: Any, field: str = "") -> Any:
    """Return a copy of a JSON value with all texts made harmless for terminals and pages."""
    if isinstance(value, str):
        if value.isascii() and value.isprintable():  # nearly all are, of a thousand systems
            return value
        lines = value.replace("\r\n", "\n").split("\n") if field in PARAGRAPHS else [value]
        return "\n".join(map(show_safely, lines))
    if isinstance(value, Mapping):
        return {clean_index(name): clean_index(part, name) for name, part in value.items()}
    if isinstance(value, list):
        return [clean_index(part, field) for part in value]
    return value


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
    names = [flag["flag"] for flag in row["flags"]]
    return ", ".join(FLAGS.get(name, name) for name in names)


def name_kind(row: Json) -> str:
    """Return the kind of a row that is no system."""
    return "" if row["kind"] == "system" else row["kind"]


def format_window(board: Json) -> str:
    """Return when a board opens, closes and shows scores; empty if it always does."""
    times = [
        ("Opens", board.get("opens")),
        ("Closes", board.get("closes")),
        ("Scores are shown", board["reveals"]),
    ]
    return " ".join(f"{word} on {format_time(time)}." for word, time in times if time)


def order_metrics(board: Json) -> list[dict[str, Any]]:
    """Return the metrics of a board, the headline first."""
    return sorted(board["metrics"], key=lambda metric: metric["name"] != board["headline"])


def is_best(row: Json) -> bool:
    """Return whether a row is not distinguishable from the best."""
    return bool(row["rank"] and row["rank"]["best"])


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
    rows = [*board["rows"], *board["superseded"]]
    for other in board["others"]:
        rows += other["rows"]
    return rows


def grid(board: Json, *, style: Style = "table") -> Grid:
    """Return the ranking of a board, without precision and recall."""
    board = clean_index(board)
    rows = board["rows"]
    headline = order_metrics(board)[0]
    scores = [row["scores"].get(headline["name"]) for row in rows]
    columns = [
        ["rank", *(format_rank(row["rank"]) + mark_undecided(board, row) for row in rows)],
        ["system", *(_quote(name, style) for name in _name_rows(rows))],
        [headline["title"], *map(format_value, scores)],
        [f"{100 * board['confidence']:g}% interval", *map(format_interval, scores)],
    ]
    columns += [column for column in _list_minor_columns(board, style) if any(column[1:])]
    header, *cells = zip(*columns, strict=True)
    return Grid(board["title"], header, cells, _list_notes(board), labels=2)


def _name_rows(rows: Sequence[Json]) -> list[str]:
    """Return the names of rows, with the kind if it is no system; systems that look alike have their ids added."""
    names = []
    for row in rows:
        kind = name_kind(row)
        names.append(shorten(row["system"], 120) + (f" ({kind})" if kind else ""))
    n_namesakes = Counter(name.casefold() for name in names)
    for number, row in enumerate(rows):
        if n_namesakes[names[number].casefold()] > 1 and row["kind"] == "system":
            names[number] += f" ({row['id'][:8]})"
    return names


def _list_minor_columns(board: Json, style: Style) -> Iterator[list[str]]:
    """Yield the columns behind the headline score."""
    rows = board["rows"]
    for metric in order_metrics(board)[1:]:
        if not metric["name"].endswith(MINOR):
            scores = [row["scores"].get(metric["name"]) for row in rows]
            yield [metric["title"], *map(format_value, scores)]
    authors = [row["author"] or "" for row in rows]
    # the same name in every row says nothing
    if len({*authors} - {""}) > 1:
        yield ["author", *(_quote(shorten(author, 60), style) for author in authors)]
    yield ["flags", *map(name_flags, rows)]


def _list_notes(board: Json) -> list[str]:
    """Return the notes below a ranking."""
    rows = board["rows"]
    notes = []
    if any(mark_undecided(board, row) for row in rows):
        notes.append("† Not distinguishable from the best.")
    if count_best(board):
        notes.append("A rank such as 1–3 is an interval, with 95 % confidence.")
    notes.append(describe_detectable(board))
    if any(map(_has_undefined_score, rows)):
        notes.append("* This score is 0/0; its value is set by convention.")
    n_others = sum(len(other["rows"]) for other in board["others"])
    if n_others:
        words = pluralize(n_others, "row")
        everything = choose_words("--format csv", "to_frame()")
        notes.append(f"{words} with another signature: not comparable, see {everything}.")
    if board["refused"] or board["withdrawn"]:
        notes.append(f"Refused: {board['refused']}. Withdrawn: {board['withdrawn']}.")
    if board["reveals"]:
        notes.append(f"Accepted: {board['accepted']}.")
    notes += [format_window(board), f"Signature: {board['signature']}"]
    return [note for note in notes if note]


def _has_undefined_score(row: Json) -> bool:
    return any(score["undefined"] for score in row["scores"].values())


def describe_detectable(board: Json) -> str:
    """Say which differences of the headline score are too small for this test set; empty if that is unknown."""
    difference = board["pairs"].get("detectable")
    if difference is None:
        return ""
    title = order_metrics(board)[0]["title"]
    return (
        f"This test set is too small to show differences in {title} below {100 * difference:.1f} points: only larger ones "
        "are significant in 80% of such sets (median of all pairs, each tested by itself)."
    )


def _quote(text: str, style: Style) -> str:
    if style == "markdown":
        return Markup("<br>".join(map(escape_markdown, text.split("\n"))))
    return text.replace("\n", " ")


def long_rows(index: Json) -> Iterator[dict[str, Any]]:
    """Yield a record for each score of an index, with the keys of `COLUMNS`."""
    for board in clean_index(index)["boards"]:
        sizes = {name: board[name] for name in ("n_units", "n_blocks")}
        for row, standing in zip(list_rows(board), _list_standings(board), strict=True):
            rank = row["rank"] or {}
            facts = {
                **row,
                "board": board["name"],
                "standing": "other signature" if standing == "other" else standing,
                "rank_low": rank.get("low"),
                "rank_high": rank.get("high"),
                "best": bool(rank.get("best")),
                "flags": " ".join(flag["flag"] for flag in row["flags"]),
            }
            parts = [("", "all", {**sizes, "scores": row["scores"]})]
            for field, slices in row["slices"].items():
                parts += [(field, value, results) for value, results in slices.items()]
            for field, value, results in parts:
                facts |= {"field": field, "slice": value}
                facts |= {name: results[name] for name in sizes}
                for metric, score in results["scores"].items():
                    cells = {**facts, **score, "metric": metric}
                    cells["undefined"] = bool(score["undefined"])
                    yield {name: cells.get(name) for name in COLUMNS}


def _list_standings(board: Json) -> list[str]:
    """Return for each row of `list_rows` whether it is ranked, superseded or another one, by its signature."""
    standings = ["ranked"] * len(board["rows"]) + ["superseded"] * len(board["superseded"])
    return standings + ["other"] * (len(list_rows(board)) - len(standings))


@dataclass(frozen=True)
class Ranking(Result):
    """The index of a leaderboard, or the part of it that is shown: tables of all boards, and a row for each score."""

    index: Json

    def select(self, board: str) -> Ranking:
        """Return one of the boards only."""
        boards = {candidate["name"]: candidate for candidate in self.index["boards"]}
        if board not in boards:
            raise RequestError(describe_unknown("board", board, list(boards)))
        return Ranking({**self.index, "boards": [boards[board]]})

    def _to_grids(self, style: Style = "table") -> list[Grid]:
        """Return the ranking of every board."""
        return [grid(board, style=style) for board in self.index["boards"]]

    def _to_rows(self) -> tuple[Sequence[str], list[list[object]]]:
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
    """

    entries: Sequence[Entry]
    arrivals: Sequence[Arrival]

    @property
    def waiting(self) -> list[Arrival]:
        """The submissions that are not judged yet."""
        judged = {entry.submission for entry in self.entries}
        return [
            arrival
            for arrival in self.arrivals
            if arrival.kind == "submissions" and arrival.submission not in {*judged, ""}
        ]

    def _to_rows(self) -> tuple[list[str], list[list[str]]]:
        """Return a row for each submission."""
        header = ["submission", "board", "system", "author", "submitted (UTC)", "status"]
        rows = []
        for entry in self.entries:
            system = entry.about.system if entry.about else ""
            rows.append(_list_cells(entry, system, entry.status))
        rows += [_list_cells(arrival, arrival.system, "not judged yet") for arrival in self.waiting]
        return header, rows

    def _to_grids(self, style: Style = "table") -> list[Grid]:
        """Return the table of submissions; the board is its title if there is only one."""
        header, rows = self._to_rows()
        if not rows:
            return [Grid("", [], [], ["No submissions.", *self._list_problems()])]
        boards = {row[1] for row in rows}
        names = ["submission", "status", "board", "system", "author", "submitted (UTC)"]
        title = "Submissions"
        if len(boards) == 1:
            names.remove("board")
            title = f"Submissions to {boards.pop()}"
        places = [header.index(name) for name in names]
        cells = [[row[place] for place in places] for row in rows]
        return [
            Grid(
                title,
                names,
                cells,
                list(self._list_problems()),
                texts=frozenset(names),
                prose=frozenset({"system"}),
                labels=1,
            )
        ]

    def _list_problems(self) -> Iterator[str]:
        """Yield what is or may be wrong with submissions, a sentence each."""
        for entry in self.entries:
            for problem in entry.problems:
                yield f"{entry.submission[:12]}: {show_safely(problem)}"
        for arrival in self.arrivals:
            if not arrival.submission:
                for problem in arrival.problems:
                    yield f"{show_safely(str(arrival.source))}: {show_safely(problem)}"

    def to_dict(self) -> object:
        """Return the submissions that are judged, and those that are not."""
        judged = [
            {
                "id": entry.submission,
                "board": entry.board,
                "status": entry.status,
                "author": entry.author,
                "problems": entry.problems,
            }
            for entry in self.entries
        ]
        waiting = [
            {"id": arrival.submission, "board": arrival.board, "author": arrival.author}
            for arrival in self.waiting
        ]
        return {"submissions": judged, "waiting": waiting}


def _list_cells(submission: Entry | Arrival, system: str, status: str) -> list[str]:
    # to the minute, which fits a narrow terminal
    time = submission.submitted[:16].replace("T", " ")
    name = submission.submission[:12]
    return [name, submission.board, show_safely(system), submission.author, time, status]


SCRIPTS = ("dom", "data", "columns", "table", "downloads", "system", "compare", "history", "views")
# what the page's data have of a row, besides its results
TEXTS = (
    "id",
    "kind",
    "system",
    "author",
    "submitted",
    "description",
    "signature",
    "closeread",
    "reproduce",
    "rank",
    "flags",
)
# what finds the problems of a link
LINKS: Mapping[str, Callable[[str], object]] = {
    "source": check_link,
    "model": check_model,
    "paper": check_link,
    "code": check_link,
    "record": check_link,
}
FACTS_OF_BOARD = (
    "name",
    "title",
    "procedure",
    "signature",
    "unit",
    "n_units",
    "confidence",
    "headline",
    "metrics",
    "slices",
    "history",
)


def list_commands(board: Json, address: str) -> list[str]:
    """Return the lines that check and submit predictions to a board of the leaderboard with this address.

    Both name the board: with gold of the organiser's own, no other command knows what predictions are for.
    """
    words = [
        "closeread",
        "leaderboard",
        "submit",
        board["corpus"] or board["procedure"],
        "PREDICTIONS",
    ]
    for name in ("config", "split"):
        if board.get(name):
            words += [f"--{name}", board[name]]
    # Of a path, nobody else has more than its name.
    store = address if address.startswith(HUB) else Path(address).name
    words += ["--system", "My system", "--to", store]
    return ["pip install closeread", shlex.join([*words, "--dry-run"]), shlex.join(words)]


def render_page(index: Json, *, address: str = "STORE", pages: Mapping[str, str] = {}) -> str:
    """Return the page of a leaderboard as HTML.

    Args:
        index: the content of `board.json`; all texts in it are untrusted.
        address: where to submit: the folder or the dataset on the Hub.
        pages: links to pages with the mentions of systems, by the id of the submission.
    """
    index = clean_index(index)
    folder = package_folder("closeread.leaderboard") / "templates"
    style = (folder / "style.css").read_text("utf-8")
    texts = [(folder / f"{name}.js").read_text("utf-8") for name in SCRIPTS]
    # its names are not visible outside of it
    script = '"use strict";\n(() => {\n' + "\n".join(texts) + "})();\n"
    policy = (
        f"default-src 'none'; style-src {hash_source(style)}; script-src {hash_source(script)}; "
        "base-uri 'none'; form-action 'none'"
    )
    boards = index["boards"]
    keys = make_keys(board["name"] for board in boards)
    sections = [
        _make_section(board, key, address, pages) for board, key in zip(boards, keys, strict=True)
    ]
    return (
        _open_templates(folder)
        .get_template("page.html")
        .render(
            title=index["title"],
            closeread=index["closeread"],
            sections=sections,
            style=style,
            script=script,
            policy=policy,
        )
    )


def _open_templates(folder: Path) -> jinja2.Environment:
    import jinja2

    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    templates.filters |= {
        "value": format_value,
        "interval": format_interval,
        "rank": format_rank,
        "window": format_window,
        "kind": name_kind,
        "flags": name_flags,
        "detectable": describe_detectable,
        "shorten": shorten,
        "day": lambda time: (time or "").partition("T")[0],
    }
    templates.tests["best"] = is_best
    templates.tests["link"] = lambda text: not check_link(text)
    return templates


def _make_section(board: Json, key: str, address: str, pages: Mapping[str, str]) -> dict[str, Any]:
    """Return the texts and numbers of a board that the templates take; `key` is its name in the address of the page."""
    flags: set[str] = set()
    for row in list_rows(board):
        flags.update(flag["flag"] for flag in row["flags"])
    return {
        "key": key,
        "board": board,
        "metrics": order_metrics(board),
        "n_best": count_best(board),
        "names": {row["id"]: row["system"] for row in list_rows(board)},
        "commands": list_commands(board, address),
        "flags": [text for flag, text in EXPLAINED.items() if flag in flags],
        "has_minor": any(metric["name"].endswith(MINOR) for metric in board["metrics"]),
        "data": dump_data(make_data(board, key, pages)),
    }


def make_keys(texts: Iterable[str]) -> list[str]:
    """Return a name in the address of the page for each text; of those that are equal, the later ones get a number."""
    keys: dict[str, None] = {}
    for text in texts:
        slug = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "x"
        key = slug
        number = 1
        while key in keys:
            number += 1
            key = f"{slug}-{number}"
        keys[key] = None
    return list(keys)


def make_data(board: Json, key: str, pages: Mapping[str, str] = {}) -> dict[str, Any]:
    """Return the data of a board of a clean index, from which the script draws what needs a choice of the reader.

    They are those of the index, with the rows of all kinds in one list.  Where links are expected, a text that is none
    stands in a list of its own.  `key` is the board's name in the address of the page; `pages` are as for `render_page`.
    """
    rows = list_rows(board)
    metrics = [metric["name"] for metric in board["metrics"]]
    count_names: dict[str, None] = {}
    for row in rows:
        count_names |= dict.fromkeys(row["counts"] or ())

    def pack_results(results: Json) -> list[Any]:
        """Return scores, counts and size of a row or of one of its slices, without names, since rows are many."""
        scores = [_pack_score(results["scores"].get(metric)) for metric in metrics]
        counts = results.get("counts") or {}
        return [scores, [counts.get(name) for name in count_names], results.get("n_units")]

    keys = make_keys(row["id"][:10] if row["kind"] == "system" else row["id"] for row in rows)
    packed = []
    for row, row_key, group in zip(rows, keys, _list_standings(board), strict=True):
        data = {name: row[name] for name in (*TEXTS, *LINKS)}
        if row["id"] in pages:
            data["mentions"] = pages[row["id"]]
        for name, check in LINKS.items():
            if data[name] is not None and check(data[name]):
                data[name] = [data[name]]
        slices: dict[str, dict[str, Any]] = {}
        for field_name, parts in row["slices"].items():
            slices[field_name] = {value: pack_results(part) for value, part in parts.items()}
        packed.append(
            {**data, "key": row_key, "group": group, "total": pack_results(row), "slices": slices}
        )
    values = {row["id"]: row["scores"][board["headline"]]["value"] for row in board["rows"]}
    return {
        **{name: board[name] for name in FACTS_OF_BOARD},
        "key": key,
        "n_ranked": len(board["rows"]),
        "counts": list(count_names),
        "rows": packed,
        # With all digits, so that their differences are rounded once only.
        "pairs": {**board["pairs"], "values": [values[name] for name in board["pairs"]["ids"]]},
    }


def _pack_score(score: Json | None) -> list[int | None] | None:
    """Return a score and its interval in hundredths of a percent, as `percent` rounds, and 1 if it is 0/0."""
    if score is None:
        return None
    packed: list[int | None] = []
    for name in ("value", "low", "high"):
        ratio = score[name]
        packed.append(None if ratio is None else round(round(100 * ratio, 2) * 100))
    return [*packed, int(score["undefined"])]
