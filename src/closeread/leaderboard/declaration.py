"""Declarations of leaderboards: boards, each with a part of a corpus or an organiser's own gold, and their scoring.

A store declares its boards in `leaderboard.json`, which everybody may read; gold is never in it.  All files of a store
are JSON with exactly one way to write a value, so that equal values have equal digests.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, date, datetime, time
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from closeread.corpus.baselines import load_baselines
from closeread.corpus.names import load_corpus
from closeread.counts.estimates import Resampling, write_resampling
from closeread.counts.procedure import PathOption, Procedure
from closeread.exceptions import (
    FormatError,
    Problem,
    RequestError,
    describe_unknown,
    escape_line,
    name_option,
    quote,
)
from closeread.formats.json_lines import parse_json
from closeread.formats.text import UNSAFE
from closeread.json_schema import check_json
from closeread.leaderboard.names import format_time
from closeread.records import check_format, column
from closeread.scoring import Scorer, find_gold, find_procedure, open_scorer

FILE = "leaderboard.json"
FORMAT = 1  # the number of the format of all files of a store; `store.schema.json` describes it

WITH_LINE_ENDS = re.compile(r"[\x00\ud800-\udfff]")
"""The characters that no string may contain where line ends, tabs and the like are expected."""

SURROGATES = re.compile("[\ud800-\udfff]")
"""The characters that no string may contain where every character is escaped before it is shown."""

MOST_SLICES = 30  # the largest number of values of a field to slice by
END_OF_DAY = time(23, 59, 59)
BOARD_NAME = re.compile("[a-z0-9_]{1,60}(-[A-Za-z0-9_]{1,60})?/[A-Za-z0-9_.-]{1,40}")


def write_json(value: Any) -> bytes:
    """Return a value as one line of JSON in UTF-8: sorted keys, no spaces, a newline at the end."""
    text = json.dumps(
        value, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":")
    )
    return f"{text}\n".encode()


def read_json(
    data: bytes,
    kind: Literal["leaderboard", "submission", "request", "teams", "entry", "record", "index"],
    source: object,
    unsafe: re.Pattern[str] = UNSAFE,
) -> dict[str, Any]:
    """Read a file of a store strictly, without the number of its format; no string may contain `unsafe` characters."""
    try:
        found: dict[str, Any] = parse_json(data.decode(), unsafe)
    except ValueError as error:
        raise FormatError(
            source, [Problem(f"is not JSON as closeread writes it: {error}")]
        ) from None
    check_format(found, FORMAT, source)
    check_json(found, f"closeread.leaderboard/store.schema.json#{kind}", source)
    del found["format"]
    return found


def digest(data: bytes) -> str:
    """Return the sha256 in hex."""
    return hashlib.sha256(data).hexdigest()


def store_path(kind: str, board: str, name: str, suffix: str = ".json") -> str:
    """Return the path of a file of a board, which is named after a digest."""
    return f"{kind}/{board}/{name[:2]}/{name}{suffix}"


@dataclass(frozen=True)
class Limits:
    """Limits of submissions."""

    bytes: int = 50_000_000  # the largest file of predictions
    rows: int = 1_000_000  # the largest number of lines in it
    per_day: int = 5  # how many submissions of an author are judged per day (UTC)
    total: int | None = None  # how many of them in all; None: as many as there are days for
    seconds: int = 300  # how long scoring one may take
    # how many bytes of memory scoring one may use, beyond what the gold needs
    memory: int = 4_000_000_000


@dataclass(frozen=True)
class Board:
    """A ranking of systems on one gold by one procedure."""

    name: str  # the folder of its submissions, such as "mctaco/test"
    title: str  # its name for readers
    # the name of the corpus or, with own gold, of the procedure or corpus that scores it
    scored: str
    config: str | None  # the part of the corpus; None for own gold
    split: str | None
    own_gold: bool  # whether gold is the organiser's own
    private: bool  # whether gold is private, so that nothing about single units may be published
    options: Mapping[str, str]  # all options of the procedure with their values
    metrics: tuple[str, ...] | None  # the families of metrics; None for the default
    headline: str  # the score that systems are ranked by
    slices: tuple[str, ...]  # the fields to slice by
    signature: str  # the signature of a score of complete predictions
    n_units: int  # the size of the gold
    n_blocks: int
    # the ids that predictions must cover, for people without the gold; empty if it is public
    ids: tuple[str, ...] = ()
    baselines: tuple[str, ...] = ()  # the names of the baselines to show
    limits: Limits = field(default_factory=Limits)
    # whether all submissions of an author are ranked, or only the "best", the "last" or the one
    # "chosen" by the author
    counting: str = "all"
    resampling: Resampling = field(default_factory=Resampling)
    # the dataset on the Hub with the benchmark's tasks, such as "org/mctaco"
    dataset: str | None = None
    # the first second at which submissions are accepted, such as "2026-11-22T10:00:00Z"
    opens: str | None = None
    closes: str | None = None  # the last such second
    # what becomes of submissions after that: "refuse", or "flag": scored and marked, but not ranked
    late: str = "refuse"
    reveals: str | None = None  # when scores are shown; until then, only what is valid
    extended: Mapping[str, str] = field(default_factory=dict)  # by author, until when
    # why, by author or id of a submission; these are shown without a rank
    disqualified: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def procedure(self) -> Procedure:
        """The procedure with the board's metrics."""
        procedure, _ = find_procedure(self.scored)
        return procedure.select_metrics(self.metrics, {})

    @property
    def corpus(self) -> str | None:
        """The corpus whose schema predictions follow; None if the key is in a format of its own."""
        return find_procedure(self.scored)[1]

    def find_end(self, author: str) -> str | None:
        """Return the last second at which an author may submit; None if there is no end."""
        return self.closes and max(self.closes, self.extended.get(author, ""))

    def is_late(self, author: str, time: str) -> bool:
        """Return whether a time is after the end for an author."""
        end = self.find_end(author)
        return end is not None and time > end

    def hides_scores(self, now: str) -> bool:
        """Return whether scores are not shown yet."""
        return self.reveals is not None and now < self.reveals

    def describe_closed(self, author: str, time: str) -> str | None:
        """Say that the board takes no submissions of an author at a time; None if it does."""
        if self.opens is not None and time < self.opens:
            return f"{self.name} opens on {format_time(self.opens)}"
        if self.late == "refuse" and self.is_late(author, time):
            return f"{self.name} closed on {format_time(str(self.find_end(author)))}"
        return None

    def refuse_time(self, author: str, time: str) -> str | None:
        """Return why a submission of an author at this time is refused; None if it isn't."""
        closed = self.describe_closed(author, time)
        return closed and f"{closed}; this was submitted on {format_time(time)}"

    def check_form(self, predictions: Path) -> None:
        """Check predictions as far as possible without gold: the form of the file, and the ids."""
        self.procedure.reader.check_form(self.corpus, self.ids, predictions, self.options)

    def open_scorer(self, gold: Path | None) -> Scorer:
        """Read the organiser's own gold, or that of the corpus, and return a scorer for it."""
        if self.own_gold and gold is None:
            where = "is not part of the store"
            raise RequestError(
                f"the gold of {self.name} {where}; give it with {name_option('gold')}"
            )
        if gold is not None:
            source, _ = find_gold(self.scored, gold=gold)
        else:
            source, _ = find_gold(self.scored, config=self.config, split=self.split)
        scorer = open_scorer(source, self.options, self.metrics)
        if scorer.expected_signature() != self.signature:
            found = (
                f"signature {scorer.expected_signature()} (expected {escape_line(self.signature)})"
            )
            raise RequestError(
                f"this is not the gold that {self.name} was made for, or not the same scoring: {found}"
            )
        _choose_headline(scorer.procedure, self.headline)
        return scorer


@dataclass(frozen=True)
class Leaderboard:
    """The declaration of a store."""

    title: str  # the name of the leaderboard
    boards: Mapping[str, Board]  # its boards by name

    def to_bytes(self) -> bytes:
        """Return the bytes of `leaderboard.json`."""
        boards = [
            {**asdict(board), "resampling": write_resampling(board.resampling)}
            for board in self.boards.values()
        ]
        return write_json({"format": FORMAT, "title": self.title, "boards": boards})

    @classmethod
    def from_bytes(cls, data: bytes, source: object) -> Leaderboard:
        """Read the bytes of `leaderboard.json`."""
        found = read_json(data, "leaderboard", source)
        boards = {}
        for board in found["boards"]:
            if ".." in board["name"]:
                raise FormatError(
                    source, [Problem(f"{quote(board['name'])} is not a valid name of a board")]
                )
            for name in ("slices", "ids", "baselines"):
                board[name] = tuple(board[name])
            board["metrics"] = None if board["metrics"] is None else tuple(board["metrics"])
            board |= {
                "limits": Limits(**board["limits"]),
                "resampling": Resampling(**board["resampling"]),
            }
            boards[board["name"]] = Board(**board)
        return cls(found["title"], boards)

    def find(self, name: str | None) -> Board:
        """Return a board by name; the only one if there is no name."""
        if name is None and len(self.boards) == 1:
            return next(iter(self.boards.values()))
        if name is None:
            raise RequestError(
                f"the leaderboard has several boards (choose from: {', '.join(self.boards)})"
            )
        if name not in self.boards:
            raise RequestError(describe_unknown("board", name, list(self.boards)))
        return self.boards[name]

    def with_board(self, board: Board) -> Leaderboard:
        """Return the leaderboard with one more board, or with a changed one."""
        return replace(self, boards={**self.boards, board.name: board})


def make_board(
    scored: str,
    *,
    gold: Path | None = None,
    config: str | None = None,
    split: str | None = None,
    data_dir: str | Path | None = None,
    options: Mapping[str, object] | None = None,
    metrics: tuple[str, ...] | None = None,
    headline: str | None = None,
    private: bool | None = None,
    title: str | None = None,
    limits: Limits | None = None,
    counting: str = "all",
    dataset: str | None = None,
    opens: str | None = None,
    closes: str | None = None,
    reveals: str | None = None,
    late: str = "refuse",
) -> Board:
    """Declare a board for a part of a corpus, or for own gold, whose `split` names it; the rest is as for `Board`.

    Defaults are those of the procedure.  The option `preset` names a preset; the organiser's own gold is private unless
    `private` says otherwise; times without a time zone are in UTC, a date means the whole day, and "none" is no time.
    """
    opens = None if opens in (None, "none") else parse_time(opens)
    closes = None if closes in (None, "none") else parse_time(closes, END_OF_DAY)
    reveals = None if reveals in (None, "none") else parse_time(reveals)
    if opens is not None and closes is not None and closes <= opens:
        raise RequestError(
            f"the board would close on {format_time(closes)}, before it opens on {format_time(opens)}"
        )
    own = gold is not None
    if own and config is not None:
        flag, wanted = name_option("config"), name_option("split")
        raise RequestError(
            f"{flag} is for the gold of a corpus; {wanted} names a board with gold of your own"
        )
    corpus = find_procedure(scored)[1]
    if not own and corpus is None:
        needed = f"needs gold of your own; give it with {name_option('gold')}"
        raise RequestError(f"a board of {scored} {needed}")
    if metrics is None and (preset := (options or {}).get("preset")) is not None:
        metrics = find_procedure(scored)[0].find_preset(str(preset)).metrics
    # The split of own gold is only a part of the board's name.
    part_of_corpus = {} if own else {"config": config, "split": split}
    source, _ = find_gold(scored, gold=gold, data_dir=data_dir, **part_of_corpus)
    scorer = open_scorer(source, options, metrics)
    if scorer.options.get("missing") == "skip":
        raise RequestError(
            "a board can't skip units without a prediction: systems would be scored on different units"
        )
    if scorer.options.get("skip_invalid") == "true":
        raise RequestError(
            "a board can't use --option skip_invalid=true: it must refuse broken submissions, not skip their files"
        )
    if not len(scorer.gold.records):
        raise RequestError("the gold is empty; there is nothing to score")
    if not own:
        _, config, split, _ = scorer.gold.origin
    part = None if own or corpus is None or config == load_corpus(corpus).default_config else config
    split_name = split or "test"
    name = f"{scored}-{part}/{split_name}" if part else f"{scored}/{split_name}"
    if not BOARD_NAME.fullmatch(name) or ".." in name:
        raise RequestError(
            f"{quote(name)} is not a valid name of a board (expected letters, digits, '_', '-' and '.')"
        )
    what = f"{load_corpus(corpus).title if corpus else scored} {part or ''}".strip()
    private = own if private is None else private
    ids: tuple[str, ...] = ()
    if private or own:
        if corpus is None:  # gold is a key
            ids = tuple(dict.fromkeys(scorer.gold.units))
        else:
            ids = tuple(column(scorer.gold.records, load_corpus(corpus).key))
    # The counts of a system without predictions have the units and fields of all systems.
    empty = replace(scorer, options={**scorer.options, "missing": "empty"})
    table = empty.tabulate([None] * len(scorer.gold.records))
    return Board(
        name,
        title or (what if split is None else f"{what}, {split_name}"),
        scored,
        config=None if own else config,
        split=None if own else split,
        own_gold=own,
        private=private,
        options=scorer.options,
        metrics=metrics,
        headline=_choose_headline(scorer.procedure, headline),
        slices=tuple(
            name for name, values in table.fields.items() if 1 < len(set(values)) <= MOST_SLICES
        ),
        signature=scorer.expected_signature(),
        n_units=len(table.units),
        n_blocks=table.n_blocks,
        ids=ids,
        baselines=tuple(
            baseline.name
            for baseline in (load_baselines(corpus).values() if corpus else ())
            if not baseline.required_options
            and not any(isinstance(option, PathOption) for option in baseline.options)
        ),
        limits=limits or Limits(),
        counting=counting,
        dataset=dataset,
        opens=opens,
        closes=closes,
        late=late,
        reveals=reveals,
    )


def parse_time(text: str, of_date: time = time()) -> str:
    """Return a time in the form of stores; a date without a time gets the time `of_date`."""
    try:
        found = datetime.fromisoformat(text)
        with suppress(ValueError):
            found = datetime.combine(date.fromisoformat(text), of_date)
        zoned = found.replace(tzinfo=found.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError):
        expected = "expected one such as 2026-12-01 or 2026-12-01T18:00+01:00"
        raise RequestError(f"{quote(text)} is not a time ({expected})") from None
    return f"{zoned.replace(tzinfo=None).isoformat(timespec='seconds')}Z"


def _choose_headline(procedure: Procedure, asked: str | None) -> str:
    """Return the score to rank by: as asked, the procedure's, or its last one."""
    names = [metric.name for metric in procedure.metrics]
    if asked is None:
        return procedure.headline if procedure.headline in names else names[-1]
    if asked not in names:
        raise RequestError(describe_unknown("score", asked, names, procedure.aliases))
    return asked
