"""The index of a leaderboard: everything that its page shows, derived from all results.

It holds scores, intervals and ranks, and for private gold nothing about single units.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from statistics import median
from typing import Any

import numpy as np

from closeread._version import __version__
from closeread.corpus.names import load_corpus
from closeread.corpus.showing import SAMPLE
from closeread.counts.metrics import Metric
from closeread.counts.resampling import compare_pairs
from closeread.counts.table import CountTable
from closeread.leaderboard.declaration import Board, Leaderboard, write_json
from closeread.leaderboard.page import Ranking
from closeread.leaderboard.ranking import rank
from closeread.leaderboard.results import BASELINE, HUB, INDEX, Blocks, Entry, Record, Results
from closeread.leaderboard.store import FolderStore
from closeread.leaderboard.submission import PACKED, About, find_suffix
from closeread.scoring import resolve_options

FORMAT = 1
PAIRS = 100  # the number of best systems of which the page can compare every pair


@dataclass(frozen=True)
class Counts:
    """The records of a board under its signature, and their counts, by submission or "baseline:" and a name."""

    records: dict[str, Record]
    blocks: dict[str, Blocks]  # the names of the counts, and the sums of every block, (n_blocks, k)


def make_index(
    store: FolderStore,
    leaderboard: Leaderboard,
    results: Results,
    counts: Mapping[str, Counts],
    now: str,
) -> dict[str, Any]:
    """Return the index of all boards, from all entries and records, and the counts of each board.

    A board that does not show scores yet has its baselines only.
    """
    boards = [
        _index_board(store, board, results, counts[board.name], is_hidden=board.hides_scores(now))
        for board in leaderboard.boards.values()
    ]
    return {
        "format": FORMAT,
        "closeread": __version__,
        "title": leaderboard.title,
        "boards": boards,
    }


def index_files(index: Mapping[str, Any]) -> dict[str, bytes]:
    """Return the files of the index by path; `results.jsonl` is what `load_dataset` loads."""
    ranking = Ranking(index)
    return {
        "board.csv": ranking.to_csv().encode(),
        "results.jsonl": ranking.to_json_lines().encode(),
        INDEX: write_json(index),
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


def _index_board(
    store: FolderStore, board: Board, results: Results, counts: Counts, *, is_hidden: bool
) -> dict[str, Any]:
    entries = {name: one for name, one in results.entries.items() if one.board == board.name}
    statuses = [entry.status for entry in entries.values()]
    accepted = {
        name: entry
        for name, entry in entries.items()
        if entry.status == "accepted" and not is_hidden
    }

    def value(name: str) -> float:
        return _find_value(counts.records[name].report["scores"], board.headline)

    def time(name: str) -> tuple[str, str]:  # baselines are there from the beginning
        return accepted[name].submitted if name in accepted else "", name

    everyone = [name for name in counts.records if name.startswith(BASELINE) or name in accepted]
    everyone.sort(key=lambda name: (-value(name), *time(name)))
    unranked = _find_unranked(board, accepted)
    subjects = _choose_counting(
        board, [name for name in everyone if name not in unranked], accepted
    )
    metric = next(metric for metric in board.procedure.metrics if metric.name == board.headline)
    flags = _find_flags(sorted(everyone, key=time), accepted, counts.records)
    for name, flag in unranked.items():
        flags.setdefault(name, []).append(flag)
    ranks = _rank(metric, subjects, flags, counts)

    def make_row(name: str) -> dict[str, Any]:
        return _make_row(
            store, board, counts.records[name], accepted.get(name), flags[name], ranks.get(name)
        )

    history: list[dict[str, Any]] = []
    eligible = accepted.keys() & counts.records.keys() - unranked.keys()
    for name in sorted(eligible, key=time):
        if value(name) > (history[-1]["value"] if history else -1):  # better than all before
            history.append({"date": accepted[name].submitted, "id": name, "value": value(name)})
    others: dict[str, list[Record]] = {}
    for record in sorted(
        results.records.values(), key=lambda record: (record.signature, record.subject)
    ):
        if (
            record.board == board.name
            and record.signature != board.signature
            and record.subject in accepted
        ):
            others.setdefault(record.signature, []).append(record)
    return {
        **_describe_board(board, next(iter(counts.records.values()), None)),
        "rows": sorted(
            map(make_row, subjects),
            key=lambda row: (
                -_find_value(row["scores"], board.headline),
                row["submitted"] or "",
                row["system"],
            ),
        ),
        "superseded": [make_row(name) for name in everyone if name not in set(subjects)],
        "others": [
            {
                "signature": signature,
                "closeread": records[0].closeread,
                "rows": [
                    _make_row(store, board, record, accepted[record.subject], [], None)
                    for record in records
                ],
            }
            for signature, records in others.items()
        ],
        "pairs": _compare_pairs(board, metric, subjects, counts),
        "history": history,
        "accepted": statuses.count("accepted"),
        "refused": statuses.count("refused"),
        "withdrawn": statuses.count("withdrawn"),
    }


def _describe_board(board: Board, example: Record | None) -> dict[str, Any]:
    """Return the part of the index about the board itself."""
    procedure, drawing, limits = board.procedure, board.resampling, board.limits
    corpus = None if board.corpus is None else load_corpus(board.corpus)
    slices = (
        {}
        if example is None
        else {name: list(values) for name, values in example.report["slices"].items()}
    )
    names = (
        "name",
        "title",
        "corpus",
        "config",
        "split",
        "signature",
        "n_units",
        "n_blocks",
        "headline",
        "counting",
    )
    return {
        **{name: getattr(board, name) for name in (*names, "opens", "closes", "reveals", "late")},
        "procedure": procedure.name,
        "options": dict(board.options),
        "gold": "private" if board.private else "public",
        "unit": procedure.unit,
        "resampling_unit": procedure.resampling_unit,
        **{name: getattr(drawing, name) for name in ("confidence", "n_resamples", "seed")},
        "metrics": [
            {"name": m.name, "title": m.title, "description": m.description}
            for m in procedure.metrics
        ],
        "slices": slices,
        "citation": procedure.citation or (corpus.citation if corpus else ""),
        "homepage": corpus.homepage if corpus else None,
        "licence": corpus.licence if corpus and board.config != SAMPLE else None,
        "limits": {name: getattr(limits, name) for name in ("bytes", "rows", "per_day", "total")},
    }


def _find_value(scores: Mapping[str, Any], headline: str) -> float:
    """Return the headline score; -1 if there is none or it is undefined, so that it comes last."""
    value = scores.get(headline, {}).get("value")
    return -1.0 if value is None else float(value)


def _choose_counting(
    board: Board, subjects: Sequence[str], accepted: Mapping[str, Entry]
) -> list[str]:
    """Return the submissions that are ranked, and all baselines, in order."""
    if board.counting == "all":
        return list(subjects)
    counting: dict[str, str] = {}  # by author
    for name in subjects:  # best first
        if name in accepted:
            author = accepted[name].author
            rival = counting.setdefault(author, name)
            if _order_counting(board, accepted[name]) > _order_counting(board, accepted[rival]):
                counting[author] = name
    kept = set(counting.values())
    return [name for name in subjects if name not in accepted or name in kept]


def _order_counting(board: Board, entry: Entry) -> tuple[str, ...]:
    """Return what decides between the submissions of an author; if it is equal, the better one counts."""
    if board.counting == "chosen":  # without a choice, the last one
        return entry.chosen or "", entry.submitted
    return (entry.submitted,) if board.counting == "last" else ()


def _find_unranked(board: Board, accepted: Mapping[str, Entry]) -> dict[str, dict[str, str]]:
    """Return the flags of submissions that are shown without a rank: late ones and disqualified ones."""
    unranked = {}
    for name, entry in accepted.items():
        reason = board.disqualified.get(entry.author, board.disqualified.get(name))
        if reason is not None:
            unranked[name] = {"flag": "disqualified", "reason": reason}
        elif board.is_late(entry.author, entry.submitted):
            unranked[name] = {"flag": "late"}
    return unranked


def _find_flags(
    subjects: Sequence[str], accepted: Mapping[str, Entry], records: Mapping[str, Record]
) -> dict[str, list[dict[str, str]]]:
    """Flag predictions that equal earlier ones or score 1, and systems without a link by which to verify them."""
    first: dict[str, str] = {}
    flags: dict[str, list[dict[str, str]]] = {}
    for name in subjects:  # by time
        earlier = first.setdefault(records[name].predictions, name)
        flags[name] = [] if earlier == name else [{"flag": "duplicate", "of": earlier}]
        if records[name].perfect:
            flags[name].append({"flag": "perfect"})
        if name in accepted:
            about = accepted[name].describe()
            if not (about.model or about.paper or about.code):
                flags[name].append({"flag": "unverified"})
    return flags


def _rank(
    metric: Metric,
    subjects: Sequence[str],
    flags: Mapping[str, Sequence[Mapping[str, str]]],
    counts: Counts,
) -> dict[str, dict[str, Any]]:
    """Return the rank of every system whose score is defined; copies of a system have its rank.

    Copies are not ranked themselves, since every further system makes differences of the others less significant.
    """
    originals = {
        name: next((one["of"] for one in flags[name] if "of" in one), name) for name in subjects
    }
    ranked = [
        name for name in subjects if originals[name] == name or originals[name] not in originals
    ]
    if not ranked:
        return {}
    blocks = np.stack([counts.blocks[name][1] for name in ranked])
    standings = dict(zip(ranked, rank(metric, counts.blocks[ranked[0]][0], blocks), strict=True))
    found = {name: standings.get(name) or standings.get(originals[name]) for name in subjects}
    return {name: asdict(standing) for name, standing in found.items() if standing is not None}


def _compare_pairs(
    board: Board, metric: Metric, subjects: Sequence[str], counts: Counts
) -> dict[str, Any]:
    """Compare the best systems as `closeread compare` does; values are rounded to what a page can show."""
    shown = list(subjects[:PAIRS])
    tables = []
    for name in reversed(shown):  # differences are those of the better system minus the other one
        names, blocks = counts.blocks[name]
        in_order = [f"{number:09}" for number in range(len(blocks))]
        tables.append(CountTable(in_order, np.arange(len(blocks)), names, blocks))
    found = compare_pairs(tables, [metric], **asdict(board.resampling), power=True)
    last = len(shown) - 1
    pairs = [found[last - j, last - i][metric.name] for i, j in combinations(range(len(shown)), 2)]

    def list_values(name: str) -> list[float | None]:
        values = (getattr(pair, name) for pair in pairs)
        return [None if math.isnan(value) else round(value, 6) for value in values]

    # copies of a system never differ
    detectable = [value for value in list_values("detectable") if value]
    power = {"detectable": median(detectable)} if detectable else {}
    of_pairs = {
        key: list_values(name)
        for key, name in (("low", "low"), ("high", "high"), ("p", "p_randomization"))
    }
    return {"ids": shown, **of_pairs, **power}


def _make_row(
    store: FolderStore,
    board: Board,
    record: Record,
    entry: Entry | None,
    flags: list[dict[str, str]],
    ranked: Mapping[str, Any] | None,
) -> dict[str, Any]:
    report = record.report
    about = (
        About(board.name, "", record.subject.removeprefix(BASELINE))
        if entry is None
        else entry.describe()
    )
    return {
        "kind": "baseline" if entry is None else "system",
        "id": record.subject,
        **{name: getattr(entry, name, None) for name in ("author", "submitted", "source")},
        **{
            name: getattr(about, name)
            for name in ("system", "model", "paper", "code", "description")
        },
        "scores": report["scores"],
        "slices": report["slices"],
        "counts": report["counts"] or None,
        "rank": ranked,
        "flags": flags,
        "signature": record.signature,
        "closeread": record.closeread,
        "record": store.link(record.path),
        "reproduce": describe_reproduction(store.place, board, record.subject, about),
    }


def describe_reproduction(place: str, board: Board, subject: str, about: About) -> str:
    """Return the command that computes the scores of a row, a submission or a "baseline:", from its predictions.

    If the store is a folder, which others have elsewhere, it is for a shell in that folder.
    """
    is_on_hub = place.startswith(HUB)
    store = place if is_on_hub else "."
    part = [] if board.own_gold else [f"--config={board.config}", f"--split={board.split}"]
    corpus = None if board.corpus is None else load_corpus(board.corpus)
    defaults = resolve_options(board.procedure, corpus, {})
    changed = {name: value for name, value in board.options.items() if defaults.get(name) != value}
    options = [f"--{name.replace('_', '-')}={value}" for name, value in changed.items()]
    metrics = [] if board.metrics is None else [f"--metrics={','.join(board.metrics)}"]
    predictions, first = about.predictions, []
    if subject.startswith(BASELINE):
        name = subject.removeprefix(BASELINE)
        predictions = f"{name}.jsonl"
        first = ["closeread", "baseline", str(board.corpus), name, *part, "-o", predictions]
    elif is_on_hub or predictions.endswith(PACKED):
        predictions = "predictions" + (
            "" if predictions.endswith(PACKED) else find_suffix(predictions)
        )
        first = ["closeread", "leaderboard", "download", store, subject[:12], "-o", predictions]
    key = ["GOLD"] if board.own_gold and board.corpus is None else []
    own = ["--gold=GOLD"] if board.own_gold and board.corpus is not None else []
    scored = [
        "closeread",
        "score",
        board.scored,
        *key,
        predictions,
        *own,
        *part,
        *options,
        *metrics,
    ]
    return " && ".join(shlex.join(command) for command in (first, scored) if command)
