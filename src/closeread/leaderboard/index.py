"""The index of a leaderboard: everything that its page shows, derived from all results.

It holds scores, intervals and ranks, and for private gold nothing about single units.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from statistics import median
from typing import Any

import msgspec
from msgspec import UNSET

from closeread._version import __version__
from closeread.corpus.names import load_corpus
from closeread.corpus.showing import SAMPLE
from closeread.counts.metrics import Metric, average_groups
from closeread.counts.procedure import GROUPS
from closeread.counts.resampling import compare_pairs
from closeread.leaderboard.declaration import RESAMPLING, Board, Leaderboard
from closeread.leaderboard.index_file import (
    Flag,
    Index,
    IndexedBoard,
    IndexedLimits,
    IndexedMetric,
    IndexRow,
    Milestone,
    OtherRows,
    PairTests,
    Standing,
)
from closeread.leaderboard.names import HUB
from closeread.leaderboard.page import Ranking
from closeread.leaderboard.ranking import rank
from closeread.leaderboard.results import BASELINE, INDEX, Blocks, Entry, Record, Results
from closeread.leaderboard.store import FolderStore
from closeread.leaderboard.submission import PACKED, About, find_suffix
from closeread.scoring import TREEBANK, choose_preset, resolve_options

MAX_PAIRED_SYSTEMS = 100  # the number of best systems of which the page can compare every pair


@dataclass(frozen=True)
class BoardCounts:
    """The records of a board under its signature, and their counts, by submission or "baseline:" and a name."""

    records: dict[str, Record]
    blocks: dict[str, Blocks]

    def add(self, record: Record, blocks: Blocks) -> None:
        """Add the counts of a submission or a baseline."""
        self.records[record.subject] = record
        self.blocks[record.subject] = blocks


def make_index(
    store: FolderStore,
    leaderboard: Leaderboard,
    results: Results,
    counts: Mapping[str, BoardCounts],
    now: str,
) -> Index:
    """Return the index of all boards, from all entries and records, and the counts of each board.

    A board that does not show scores yet has its baselines only.
    """
    boards = [
        BoardIndexer(store, board, results, counts[board.name], now).index()
        for board in leaderboard.boards.values()
    ]
    return Index(__version__, leaderboard.title, boards)


def index_files(index: Index) -> dict[str, bytes]:
    """Return the files of the index by path; `results.jsonl` is what `load_dataset` loads."""
    ranking = Ranking(msgspec.to_builtins(index))
    return {
        "results.jsonl": ranking.to_json_lines().encode(),
        INDEX: index.to_bytes(),
    }


def find_row(index: Mapping[str, Any], submission: str) -> dict[str, Any]:
    """Return the row of a submission, with its place by score among those that are ranked; empty if there is none."""
    for board in index["boards"]:
        ranked = [row["id"] for row in board["rows"] if row["rank"] is not None]
        for row in (*board["rows"], *board["superseded"]):
            if row["id"] == submission:
                place = ranked.index(submission) + 1 if submission in ranked else None
                return {**row, "place": place, "n_ranked": len(ranked)}
    return {}


class BoardIndexer:
    """Makes a board's part of the index; systems are named by the id of the submission, or "baseline:" and a name."""

    def __init__(
        self,
        store: FolderStore,
        board: Board,
        results: Results,
        counts: BoardCounts,
        now: str,
    ) -> None:
        self._store = store
        self._board = board
        self._counts = counts
        self._results = results
        self._entries = [entry for entry in results.entries.values() if entry.board == board.name]
        self._accepted: dict[str, Entry] = {}
        if not board.hides_scores(now):
            for entry in self._entries:
                if entry.status == "accepted":
                    self._accepted[entry.submission] = entry
        metrics: Sequence[Metric] = board.procedure.metrics
        if board.options.get("average") == GROUPS:
            metrics = average_groups(metrics, board.options["undefined"])
        self._headline = next(metric for metric in metrics if metric.name == board.headline)

    def index(self) -> IndexedBoard:
        """Return the board's part of the index."""
        systems = [
            name
            for name in self._counts.records
            if name.startswith(BASELINE) or name in self._accepted
        ]
        systems.sort(key=lambda name: (-self._find_score(name), *self._find_time(name)))
        unranked = self._flag_unranked()
        counting = self._choose_counting([name for name in systems if name not in unranked])
        flags = self._flag_all(systems)
        for name, flag in unranked.items():
            flags.setdefault(name, []).append(flag)
        ranks = _rank(self._headline, counting, flags, self._counts)
        rows = {}
        for name in systems:
            rows[name] = self._make_row(self._counts.records[name], flags[name], ranks.get(name))

        def order_rows(name: str) -> tuple[float, str, str]:
            return -self._find_score(name), rows[name].submitted or "", rows[name].system

        statuses = [entry.status for entry in self._entries]
        board = self._board
        procedure = board.procedure
        corpus = None if board.corpus is None else load_corpus(board.corpus)
        return IndexedBoard(
            name=board.name,
            title=board.title,
            corpus=board.corpus,
            procedure=procedure.name,
            config=board.config,
            split=board.split,
            signature=board.signature,
            options=board.options,
            gold="private" if board.private else "public",
            unit=procedure.unit,
            n_units=board.n_units,
            resampling_unit=procedure.resampling_unit,
            n_blocks=board.n_blocks,
            confidence=RESAMPLING.confidence,
            n_resamples=RESAMPLING.n_resamples,
            seed=RESAMPLING.seed,
            headline=board.headline,
            metrics=[
                IndexedMetric(metric.name, metric.title, metric.description)
                for metric in procedure.metrics
            ],
            slices=self._list_slices(),
            citation=procedure.citation or (corpus.citation if corpus else ""),
            homepage=corpus.homepage if corpus else None,
            licence=corpus.licence if corpus and board.config != SAMPLE else None,
            limits=msgspec.convert(board.limits, IndexedLimits, from_attributes=True),
            counting=board.counting,
            late=board.late,
            opens=board.opens,
            closes=board.closes,
            reveals=board.reveals,
            rows=[rows[name] for name in sorted(counting, key=order_rows)],
            superseded=[rows[name] for name in systems if name not in counting],
            others=self._list_others(),
            pairs=self._compare_pairs(counting),
            history=list(self._list_milestones(unranked)),
            accepted=statuses.count("accepted"),
            refused=statuses.count("refused"),
            withdrawn=statuses.count("withdrawn"),
        )

    def _find_score(self, name: str) -> float:
        """Return the headline score; -1 if there is none or it is undefined, so that it comes last."""
        score = self._counts.records[name].report["scores"].get(self._board.headline, {})
        value = score.get("value")
        return -1.0 if value is None else float(value)

    def _find_time(self, name: str) -> tuple[str, str]:
        """Return what systems are sorted by in time; baselines are there from the beginning."""
        entry = self._accepted.get(name)
        return entry.submitted if entry else "", name

    def _flag_unranked(self) -> dict[str, Flag]:
        """Flag submissions that are shown without a rank: late ones and disqualified ones."""
        board = self._board
        flags = {}
        for name, entry in self._accepted.items():
            reason = board.disqualified.get(entry.author, board.disqualified.get(name))
            if reason is not None:
                flags[name] = Flag("disqualified", reason=reason)
            elif board.is_late(entry.author, entry.submitted):
                flags[name] = Flag("late")
        return flags

    def _choose_counting(self, systems: Sequence[str]) -> list[str]:
        """Return the submissions that count, and all baselines, from systems with the best first."""
        if self._board.counting == "all":
            return list(systems)
        counting: dict[str, str] = {}  # by author
        for name in systems:
            entry = self._accepted.get(name)
            if entry is not None:
                rival = counting.setdefault(entry.author, name)
                # If nothing decides between them, the better one counts.
                if self._order_by_choice(name) > self._order_by_choice(rival):
                    counting[entry.author] = name
        chosen = set(counting.values())
        return [name for name in systems if name not in self._accepted or name in chosen]

    def _order_by_choice(self, name: str) -> tuple[str, ...]:
        """Return what decides between the submissions of an author."""
        entry = self._accepted[name]
        if self._board.counting == "chosen":  # without a choice, the last one
            return entry.chosen or "", entry.submitted
        return (entry.submitted,) if self._board.counting == "last" else ()

    def _flag_all(self, systems: Sequence[str]) -> dict[str, list[Flag]]:
        """Flag predictions that equal earlier ones or score 1, and systems without a link by which to verify them."""
        originals: dict[str, str] = {}  # by the digest of predictions
        flags: dict[str, list[Flag]] = {}
        for name in sorted(systems, key=self._find_time):
            record = self._counts.records[name]
            flags[name] = []
            original = originals.setdefault(record.predictions, name)
            if original != name:
                flags[name].append(Flag("duplicate", original))
            if record.perfect:
                flags[name].append(Flag("perfect"))
            if name in self._accepted:
                description = self._accepted[name].describe()
                if not (description.model or description.paper or description.code):
                    flags[name].append(Flag("unverified"))
        return flags

    def _list_slices(self) -> dict[str, list[str]]:
        """List the values of each field to slice by, as any record has them."""
        for record in self._counts.records.values():
            return {name: list(values) for name, values in self._list_parts(record).items()}
        return {}

    def _list_parts(self, record: Record) -> dict[str, Any]:
        """Return the scores of slices, and of the groups that are averaged, by field and value."""
        parts = dict(record.report["slices"])
        if "groups" in record.report:
            parts[self._board.options["group_by"] or TREEBANK] = record.report["groups"]
        return parts

    def _list_milestones(self, unranked: Mapping[str, Flag]) -> Iterator[Milestone]:
        """Yield the submissions that were better than all before."""
        best = -1.0
        eligible = self._accepted.keys() & self._counts.records.keys() - unranked.keys()
        for name in sorted(eligible, key=self._find_time):
            score = self._find_score(name)
            if score > best:
                yield Milestone(self._accepted[name].submitted, name, score)
                best = score

    def _list_others(self) -> list[OtherRows]:
        """List the records of accepted submissions under other signatures."""
        records_by_signature: dict[str, list[Record]] = {}
        records = self._results.records.values()
        for record in sorted(records, key=lambda record: (record.signature, record.subject)):
            is_other = record.signature != self._board.signature
            if is_other and record.board == self._board.name and record.subject in self._accepted:
                records_by_signature.setdefault(record.signature, []).append(record)
        others = []
        for signature, group in records_by_signature.items():
            rows = [self._make_row(record, [], None) for record in group]
            others.append(OtherRows(signature, group[0].closeread, rows))
        return others

    def _compare_pairs(self, systems: Sequence[str]) -> PairTests:
        """Compare the best systems as `closeread compare` does; values are rounded to what a page can show."""
        best = list(systems[:MAX_PAIRED_SYSTEMS])
        # Differences are those of the better system minus the other one.
        tables = [self._counts.blocks[name].to_table() for name in reversed(best)]
        comparisons = compare_pairs(tables, [self._headline], **asdict(RESAMPLING), power=True)
        last = len(best) - 1
        pairs = [
            comparisons[last - worse, last - better][self._headline.name]
            for better, worse in combinations(range(len(best)), 2)
        ]
        # Copies of a system never differ.
        rounded = [_round(pair.detectable) for pair in pairs if pair.detectable]
        detectable = [difference for difference in rounded if difference]
        return PairTests(
            best,
            low=[_round(pair.low) for pair in pairs],
            high=[_round(pair.high) for pair in pairs],
            p=[_round(pair.p_randomization) for pair in pairs],
            detectable=median(detectable) if detectable else UNSET,
        )

    def _make_row(
        self, record: Record, flags: Sequence[Flag], standing: Standing | None
    ) -> IndexRow:
        board = self._board
        entry = self._accepted.get(record.subject)
        if entry is None:
            description = About(board.name, "", record.subject.removeprefix(BASELINE))
        else:
            description = entry.describe()
        report = record.report
        return IndexRow(
            kind="system" if entry else "baseline",
            id=record.subject,
            author=entry.author if entry else None,
            submitted=entry.submitted if entry else None,
            source=entry.source if entry else None,
            system=description.system,
            model=description.model,
            paper=description.paper,
            code=description.code,
            description=description.description,
            scores=report["scores"],
            slices=self._list_parts(record),
            counts=report["counts"] or None,
            rank=standing,
            flags=flags,
            signature=record.signature,
            closeread=record.closeread,
            record=self._store.link(record.path),
            reproduce=describe_reproduction(self._store.place, board, record.subject, description),
        )


def _round(number: float | None) -> float | None:
    return None if number is None or math.isnan(number) else round(number, 6)


def _rank(
    metric: Metric,
    systems: Sequence[str],
    flags: Mapping[str, Sequence[Flag]],
    counts: BoardCounts,
) -> dict[str, Standing]:
    """Return the rank of every system whose score is defined; copies of a system have its rank.

    Copies are not ranked themselves, since every further system makes differences of the others less significant.
    """
    originals = {}
    for name in systems:
        copied = [flag.of for flag in flags[name] if flag.of is not UNSET]
        originals[name] = copied[0] if copied and copied[0] in systems else name
    ranked = [name for name in systems if originals[name] == name]
    if not ranked:
        return {}
    tables = [counts.blocks[name].to_table() for name in ranked]
    standings = dict(zip(ranked, rank(metric, tables), strict=True))
    ranks = {}
    for name in systems:
        standing = standings[originals[name]]
        if standing is not None:
            ranks[name] = standing
    return ranks


def describe_reproduction(place: str, board: Board, subject: str, description: About) -> str:
    """Return the command that computes the scores of a row, a submission or a "baseline:", from its predictions.

    If the store is a folder, which others have elsewhere, it is for a shell in that folder.
    """
    is_on_hub = place.startswith(HUB)
    part = [] if board.own_gold else [f"--config={board.config}", f"--split={board.split}"]
    predictions = description.predictions
    commands = []
    if subject.startswith(BASELINE):
        name = subject.removeprefix(BASELINE)
        predictions = f"{name}.jsonl"
        commands.append(
            ["closeread", "baseline", str(board.corpus), name, *part, "-o", predictions]
        )
    elif is_on_hub or predictions.endswith(PACKED):
        suffix = "" if predictions.endswith(PACKED) else find_suffix(predictions)
        predictions = f"predictions{suffix}"
        download = ["closeread", "leaderboard", "download", place if is_on_hub else "."]
        commands.append([*download, subject[:12], "-o", predictions])
    score = ["closeread", "score", board.scored]
    if not board.own_gold:
        score += [predictions, *part]
    elif board.corpus is None:
        score += ["GOLD", predictions]
    else:
        score += [predictions, "--gold=GOLD"]
    corpus = None if board.corpus is None else load_corpus(board.corpus)
    defaults = resolve_options(board.procedure, corpus, choose_preset(corpus, {}))
    for name, value in board.options.items():
        if defaults.get(name) != value:
            score.append(f"--{name.replace('_', '-')}={value}")
    if board.metrics is not None:
        score.append(f"--metrics={','.join(board.metrics)}")
    return " && ".join(shlex.join(command) for command in [*commands, score])
