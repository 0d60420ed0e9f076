"""Declarations of leaderboards: boards, each with a part of a corpus or an organiser's own gold, and their scoring.

A store declares its boards in `leaderboard.json`, which everybody may read; gold is never in it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, date, datetime, time
from functools import cached_property
from pathlib import Path
from typing import Literal

import msgspec

from closeread.corpus.baselines import load_baselines
from closeread.corpus.gold import GoldSource
from closeread.corpus.names import load_corpus
from closeread.counts.estimates import Resampling
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
from closeread.leaderboard.names import format_time
from closeread.leaderboard.store_files import (
    BoardName,
    Count,
    StoreFile,
    StoreStruct,
    Time,
    read_file,
)
from closeread.records import column
from closeread.scoring import Scorer, choose_preset, find_gold, find_procedure, open_scorer

FILE = "leaderboard.json"
RESAMPLING = Resampling(1000)  # the parameters of the intervals of all boards
MAX_SLICES = 30  # the largest number of values of a field to slice by
END_OF_DAY = time(23, 59, 59)
BOARD_NAME = re.compile("[a-z0-9_]{1,60}(-[A-Za-z0-9_]{1,60})?/[A-Za-z0-9_.-]{1,40}")


class Limits(StoreStruct, frozen=True):
    """Limits of submissions.

    Attributes:
        bytes: the size of the largest file of predictions.
        rows: the largest number of lines in it.
        per_day: how many submissions of an author on a day (UTC) are judged; others are refused.
        total: how many of them in all; None for no limit.
        seconds: how long scoring one may take.
        memory: how many bytes of memory scoring one may use, beyond what the gold needs.
    """

    bytes: Count = 50_000_000
    rows: Count = 1_000_000
    per_day: Count = 5
    total: Count | None = None
    seconds: Count = 300
    memory: Count = 4_000_000_000


class Board(StoreStruct, frozen=True):
    """A ranking of systems on one gold by one procedure.

    Attributes:
        name: the folder of its submissions, such as "mctaco/test".
        title: its name for readers.
        scored: the name of the corpus or, with own gold, of the procedure or corpus that scores it.
        config: the part of the corpus; None for own gold, as the split.
        own_gold: whether gold is the organiser's own.
        private: whether gold is private, so that nothing about single units may be published.
        options: all options of the procedure with their values.
        metrics: the families of metrics; None for the default.
        headline: the score that systems are ranked by.
        slices: the fields to slice by.
        signature: the signature of a score of complete predictions.
        n_units: the size of the gold, as `n_blocks`.
        ids: the ids that predictions must cover, for people without the gold; empty if it is public.
        baselines: the names of the baselines to show.
        counting: whether all submissions of an author are ranked, or only the best, the last or the chosen one.
        dataset: the dataset on the Hub with the benchmark's tasks, such as "org/mctaco".
        opens: the first second at which submissions are accepted, such as "2026-11-22T10:00:00Z".
        closes: the last such second.
        late: what becomes of submissions after that: they are refused, or scored and marked, but not ranked.
        reveals: when scores are shown; until then, only what is valid.
        extended: by author, until when.
        disqualified: why, by author or id of a submission; these are shown without a rank.
    """

    name: BoardName
    title: str
    scored: str
    config: str | None
    split: str | None
    own_gold: bool
    private: bool
    options: Mapping[str, str]
    metrics: tuple[str, ...] | None
    headline: str
    slices: tuple[str, ...]
    signature: str
    n_units: Count
    n_blocks: Count
    ids: tuple[str, ...] = ()
    baselines: tuple[str, ...] = ()
    limits: Limits = Limits()
    counting: Literal["all", "best", "last", "chosen"] = "all"
    dataset: str | None = None
    opens: Time | None = None
    closes: Time | None = None
    late: Literal["refuse", "flag"] = "refuse"
    reveals: Time | None = None
    extended: Mapping[str, Time] = msgspec.field(default_factory=dict)
    disqualified: Mapping[str, str] = msgspec.field(default_factory=dict)

    @cached_property
    def procedure(self) -> Procedure:
        """The procedure with the board's metrics."""
        procedure, name = find_procedure(self.scored)
        corpus = None if name is None else load_corpus(name)
        return procedure.select_metrics(self.metrics, choose_preset(corpus, self.options))

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

    def refuse_time(self, author: str, time: str) -> str | None:
        """Return why a submission of an author at this time is refused; None if it isn't."""
        if self.opens is not None and time < self.opens:
            reason = f"{self.name} opens on {format_time(self.opens)}"
        elif self.late == "refuse" and self.is_late(author, time):
            reason = f"{self.name} closed on {format_time(str(self.find_end(author)))}"
        else:
            return None
        return f"{reason}; this was submitted on {format_time(time)}"

    def check_form(self, predictions: Path) -> None:
        """Check predictions as far as possible without gold: the form of the file, and the ids."""
        self.procedure.reader.check_form(self.corpus, self.ids, predictions, self.options)

    def open_scorer(self, gold: Path | None) -> Scorer:
        """Read the organiser's own gold, or that of the corpus, and return a scorer for it."""
        if self.own_gold and gold is None:
            advice = f"give it with {name_option('gold')}"
            raise RequestError(f"the gold of {self.name} is not part of the store; {advice}")
        if gold is not None:
            source, _ = find_gold(self.scored, gold=gold)
        else:
            source, _ = find_gold(self.scored, config=self.config, split=self.split)
        scorer = open_scorer(source, self.options, self.metrics)
        signature = scorer.expected_signature()
        if signature != self.signature:
            raise RequestError(
                f"this is not the gold that {self.name} was made for, or not the same scoring: "
                f"signature {signature} (expected {escape_line(self.signature)})"
            )
        _choose_headline(scorer.procedure, self.headline)
        return scorer


class Declaration(StoreFile, frozen=True):
    """The content of `leaderboard.json`: the boards in the order in which they are shown."""

    title: str
    boards: Sequence[Board]


class Leaderboard(msgspec.Struct, frozen=True):
    """What a store declares.

    Attributes:
        title: the name of the leaderboard.
        boards: its boards by name.
    """

    title: str
    boards: Mapping[str, Board]

    def to_bytes(self) -> bytes:
        """Return the bytes of `leaderboard.json`."""
        return Declaration(self.title, list(self.boards.values())).to_bytes()

    @classmethod
    def from_bytes(cls, content: bytes, source: object) -> Leaderboard:
        """Read the bytes of `leaderboard.json`."""
        declaration = read_file(Declaration, content, source)
        for board in declaration.boards:
            if ".." in board.name:
                problem = Problem(f"{quote(board.name)} is not a valid name of a board")
                raise FormatError(source, [problem])
        return cls(declaration.title, {board.name: board for board in declaration.boards})

    def find(self, name: str | None) -> Board:
        """Return a board by name; the only one if there is no name."""
        if name is None and len(self.boards) == 1:
            return next(iter(self.boards.values()))
        if name is None:
            names = ", ".join(self.boards)
            raise RequestError(f"the leaderboard has several boards (choose from: {names})")
        if name not in self.boards:
            raise RequestError(describe_unknown("board", name, list(self.boards)))
        return self.boards[name]

    def with_board(self, board: Board) -> Leaderboard:
        """Return the leaderboard with one more board, or with a changed one."""
        return Leaderboard(self.title, {**self.boards, board.name: board})


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
    counting: Literal["all", "best", "last", "chosen"] = "all",
    dataset: str | None = None,
    opens: str | None = None,
    closes: str | None = None,
    reveals: str | None = None,
    late: Literal["refuse", "flag"] = "refuse",
) -> Board:
    """Declare a board for a part of a corpus, or for own gold, whose `split` names it; the rest is as for `Board`.

    Defaults are those of the procedure.  The option `preset` names a preset; the organiser's own gold is private unless
    `private` says otherwise; times without a time zone are in UTC, a date means the whole day, and "none" is no time.
    """
    opens = _parse_bound(opens)
    closes = _parse_bound(closes, END_OF_DAY)
    if opens is not None and closes is not None and closes <= opens:
        raise RequestError(
            f"the board would close on {format_time(closes)}, before it opens on {format_time(opens)}"
        )
    procedure, corpus = find_procedure(scored)
    scored = corpus or procedure.name
    has_own_gold = gold is not None
    source = _find_board_gold(scored, gold, config, split, data_dir)
    preset = (options or {}).get("preset")
    if metrics is None and preset is not None:
        metrics = procedure.find_preset(str(preset)).metrics
    scorer = _open_board_scorer(source, options, metrics)
    if not has_own_gold:
        _, config, split, _ = scorer.gold.origin
    if private is None:
        private = has_own_gold
    part = None
    if not has_own_gold and corpus is not None and config != load_corpus(corpus).default_config:
        part = config
    if title is None:
        title = load_corpus(corpus).title if corpus else scored
        title = f"{title} {part or ''}".strip()
        if split is not None:
            title = f"{title}, {split}"
    # The counts of a system without predictions have the units and fields of all systems.
    empty = replace(scorer, options={**scorer.options, "missing": "empty"})
    table = empty.tabulate([None] * len(scorer.gold.records))
    slices = [field for field, values in table.fields.items() if 1 < len(set(values)) <= MAX_SLICES]
    return Board(
        _name_board(scored, part, split),
        title,
        scored,
        config=None if has_own_gold else config,
        split=None if has_own_gold else split,
        own_gold=has_own_gold,
        private=private,
        options=scorer.options,
        metrics=metrics,
        headline=_choose_headline(scorer.procedure, headline),
        slices=tuple(slices),
        signature=scorer.expected_signature(),
        n_units=len(table.units),
        n_blocks=table.n_blocks,
        ids=_list_ids(scorer, corpus) if private or has_own_gold else (),
        baselines=_list_baselines(corpus),
        limits=limits or Limits(),
        counting=counting,
        dataset=dataset,
        opens=opens,
        closes=closes,
        late=late,
        reveals=_parse_bound(reveals),
    )


def _find_board_gold(
    scored: str,
    gold: Path | None,
    config: str | None,
    split: str | None,
    data_dir: str | Path | None,
) -> GoldSource:
    has_own_gold = gold is not None
    if has_own_gold and config is not None:
        raise RequestError(
            f"{name_option('config')} is for the gold of a corpus; "
            f"{name_option('split')} names a board with gold of your own"
        )
    if not has_own_gold and find_procedure(scored)[1] is None:
        advice = f"give it with {name_option('gold')}"
        raise RequestError(f"a board of {scored} needs gold of your own; {advice}")
    if has_own_gold:
        split = None  # is only a part of the board's name
    return find_gold(scored, gold=gold, config=config, split=split, data_dir=data_dir)[0]


def _open_board_scorer(
    source: GoldSource, options: Mapping[str, object] | None, metrics: tuple[str, ...] | None
) -> Scorer:
    """Read the gold of a board that is to be made, and check that systems can be ranked on it."""
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
    return scorer


def _name_board(scored: str, part: str | None, split: str | None) -> str:
    folder = f"{scored}-{part}" if part else scored
    name = f"{folder}/{split or 'test'}"
    if not BOARD_NAME.fullmatch(name) or ".." in name:
        raise RequestError(
            f"{quote(name)} is not a valid name of a board (expected letters, digits, '_', '-' and '.')"
        )
    return name


def _list_ids(scorer: Scorer, corpus: str | None) -> tuple[str, ...]:
    if corpus is None:  # gold is a key
        return tuple(dict.fromkeys(scorer.gold.units))
    return tuple(column(scorer.gold.records, load_corpus(corpus).key))


def _list_baselines(corpus: str | None) -> tuple[str, ...]:
    """List the baselines of a corpus that need no files."""
    if corpus is None:
        return ()
    names = []
    for baseline in load_baselines(corpus).values():
        has_paths = any(isinstance(option, PathOption) for option in baseline.options)
        if not baseline.required_options and not has_paths:
            names.append(baseline.name)
    return tuple(names)


def _parse_bound(text: str | None, time_of_date: time = time()) -> str | None:
    """Return a time in the form of stores; None for none."""
    return None if text in (None, "none") else parse_time(str(text), time_of_date)


def parse_time(text: str, time_of_date: time = time()) -> str:
    """Return a time in the form of stores; a date without a time gets the time `time_of_date`."""
    try:
        moment = datetime.fromisoformat(text)
        with suppress(ValueError):
            moment = datetime.combine(date.fromisoformat(text), time_of_date)
        moment = moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError):
        expected = "expected one such as 2026-12-01 or 2026-12-01T18:00+01:00"
        raise RequestError(f"{quote(text)} is not a time ({expected})") from None
    return f"{moment.replace(tzinfo=None).isoformat(timespec='seconds')}Z"


def _choose_headline(procedure: Procedure, name: str | None) -> str:
    """Return the score to rank by: as asked, the procedure's, or its last one."""
    names = [metric.name for metric in procedure.metrics]
    if name is None:
        return procedure.headline if procedure.headline in names else names[-1]
    if name not in names:
        raise RequestError(describe_unknown("score", name, names, procedure.aliases))
    return name
