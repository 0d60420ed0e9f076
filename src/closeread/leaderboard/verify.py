"""Verify a leaderboard: compute every record again from its predictions, and say which differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from closeread._version import __version__
from closeread.arrays import Floats
from closeread.exceptions import RequestError
from closeread.leaderboard.canonical import write_json
from closeread.leaderboard.declaration import Board
from closeread.leaderboard.index import BASELINE, Counts, make_index
from closeread.leaderboard.results import Record, Results, record_id
from closeread.leaderboard.store import Store
from closeread.leaderboard.worker import Job, score_all


@dataclass(frozen=True)
class Verified:
    """What verification found.

    Attributes:
        equal: the number of records that are the same, byte for byte.
        differences: what differs, one sentence each.
    """

    equal: int
    differences: tuple[str, ...]


def verify(store: Store, golds: Mapping[str, Path], *, n_workers: int) -> Verified:
    """Compute every record again, and compare it and the index with what the store has.

    Args:
        store: the store.
        golds: the organiser's own gold by board.
        n_workers: the number of processes that score.

    Raises:
        RequestError: gold is missing, or is not that of the board.
    """
    leaderboard = store.read_leaderboard()
    results = store.read_results(leaderboard)
    equal = 0
    differences: list[str] = []
    counts: dict[str, Counts] = {}
    for board in leaderboard.boards.values():
        found = _compute(store, board, golds.get(board.name), results, n_workers, differences)
        counts[board.name] = found
        for record in found.records.values():
            if difference := _compare(record, results):
                differences.append(difference)
            else:
                equal += 1
        differences += _find_unexpected(board, results)
    if not differences and write_json(store.read_index()) != write_json(
        make_index(store, leaderboard, results, counts)
    ):
        differences.append("the index is not what follows from the records; run closeread leaderboard judge")
    return Verified(equal, tuple(differences))


def _compute(
    store: Store, board: Board, gold: Path | None, results: Results, n_workers: int, differences: list[str]
) -> Counts:
    """Score all accepted submissions and the baselines again."""
    jobs: list[Job] = []

    def make_jobs() -> Iterator[Job]:
        for entry in results.entries.values():
            if entry.board == board.name and entry.status == "accepted":
                path = entry.describe().predictions
                try:
                    data = store.read_predictions(path, board.limits.bytes)
                except RequestError as error:
                    differences.append(f"{entry.submission[:12]}: {error}")
                    continue
                jobs.append(Job(entry.submission, path))
                yield Job(entry.submission, path, data)
        for name in board.baselines:
            subject = f"{BASELINE}{name}"
            if record_id(subject, board.signature) in results.records:
                yield Job(subject)

    records: dict[str, Record] = {}
    blocks: dict[str, tuple[tuple[str, ...], Floats]] = {}
    for outcome in score_all(board, gold, make_jobs(), n_workers):
        if outcome.record is None or outcome.blocks is None:
            reason = outcome.error or "; ".join(outcome.problems)
            differences.append(f"{_shorten(outcome.subject)}: was accepted, but can't be scored: {reason}")
            continue
        records[outcome.subject], blocks[outcome.subject] = outcome.record, (outcome.names, outcome.blocks)
    return Counts(records, blocks)


def _compare(record: Record, results: Results) -> str | None:
    """Return how a record differs from the one in the store; None if it does not."""
    name, stored = _shorten(record.subject), results.records.get(record.id)
    if stored is None:
        return f"{name}: has no record under {record.signature}; run closeread leaderboard judge"
    if stored.to_bytes() == record.to_bytes():
        return None
    if stored.closeread != __version__:
        made = f"was scored by closeread {stored.closeread}, and differs from what {__version__} computes"
        return f"{name}: {made}"
    before, now = (one.report["scores"] for one in (stored, record))
    differing = [metric for metric in now if before.get(metric) != now[metric]]
    return f"{name}: the record differs from what its predictions give ({', '.join(differing) or 'not in its scores'})"


def _find_unexpected(board: Board, results: Results) -> Iterator[str]:
    """Yield the records under the board's signature that belong to no accepted submission and no baseline."""
    for record in results.records.values():
        if record.board != board.name or record.signature != board.signature:
            continue
        entry = results.entries.get(record.subject)
        is_baseline = record.subject.removeprefix(BASELINE) in board.baselines and record.subject.startswith(BASELINE)
        if not is_baseline and entry is None:
            yield f"{_shorten(record.subject)}: has a record, but was never submitted"


def _shorten(subject: str) -> str:
    return subject if subject.startswith(BASELINE) else subject[:12]
