"""The index of a leaderboard: everything that its page shows, derived from all results.

It holds scores, intervals and ranks, and for private gold nothing about single units.
"""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

from closeread._version import __version__
from closeread.arrays import Floats
from closeread.corpus.declaration import Corpus
from closeread.corpus.examples import SAMPLE
from closeread.corpus.gold import select
from closeread.corpus.names import load_corpus
from closeread.counts.metrics import Metric
from closeread.exceptions import FormatError, Problem, quote
from closeread.json_schema import check_json
from closeread.leaderboard import tables
from closeread.leaderboard.canonical import write_json
from closeread.leaderboard.declaration import Board, Leaderboard
from closeread.leaderboard.ranking import pair_differences, rank
from closeread.leaderboard.results import BASELINE, HUB, INDEX, Blocks, Entry, Record, Results
from closeread.leaderboard.store import Store
from closeread.leaderboard.submission import PACKED, About, find_suffix
from closeread.packages import package_folder
from closeread.scoring import resolve_options
from closeread.suggestions import describe_unknown
from closeread.tasks import load_procedure

FORMAT = 1
PRINTED = "printed_systems.json"
"""The file of a corpus with systems whose scores a paper prints, in the form of `printed.schema.json`."""

SCALES = {"percent": Decimal(100), "ratio": Decimal(1)}
PAIRS = 100
"""The number of systems, best first, all pairs of which the page can compare."""


@dataclass(frozen=True)
class Counts:
    """The records of a board under its signature, and their counts."""

    records: dict[str, Record]  # the records by the id of the submission, or "baseline:" and the name of a baseline
    blocks: dict[str, Blocks]  # for each of these, the names of the counts and the sums of every block, (n_blocks, k)


def make_index(
    store: Store, leaderboard: Leaderboard, results: Results, counts: Mapping[str, Counts]
) -> dict[str, Any]:
    """Return the index of all boards.

    Args:
        store: the store, for links.
        leaderboard: its declaration.
        results: all entries and records.
        counts: the records under the board's signature, with their counts, by board.
    """
    boards = [_index_board(store, board, results, counts[board.name]) for board in leaderboard.boards.values()]
    return {"format": FORMAT, "closeread": __version__, "title": leaderboard.title, "boards": boards}


def index_files(index: Mapping[str, Any]) -> dict[str, bytes]:
    """Return the files of the index by path: JSON, CSV and Parquet."""
    return {
        "board.csv": tables.csv(index).encode(),
        "data/results.parquet": tables.parquet(index),
        INDEX: write_json(index),
    }


def find_row(index: Mapping[str, Any], board: str, identity: str) -> dict[str, Any] | None:
    """Return the row of a submission; None if there is none."""
    for one in index["boards"]:
        for row in (*one["rows"], *one["superseded"]) if one["name"] == board else ():
            if row["id"] == identity:
                found: dict[str, Any] = row
                return found
    return None


def _index_board(store: Store, board: Board, results: Results, counts: Counts) -> dict[str, Any]:
    entries = {e.submission: e for e in results.entries.values() if e.board == board.name}
    accepted = {name: entry for name, entry in entries.items() if entry.status == "accepted"}
    everyone = [name for name in counts.records if name.startswith(BASELINE) or name in accepted]
    everyone = _sort(everyone, accepted, counts.records, board.headline)
    subjects = _choose_counting(board, everyone, accepted)
    metric = next(metric for metric in board.procedure.metrics if metric.name == board.headline)
    flags = _find_flags(everyone, accepted, counts.records)
    ranks = _rank(metric, subjects, flags, counts)

    def make_row(name: str) -> dict[str, Any]:
        return _make_row(store, board, counts.records[name], accepted.get(name), flags[name], ranks.get(name))

    printed = _list_printed(board)
    statuses = [entry.status for entry in entries.values()]
    return {
        **_describe_board(board, next(iter(counts.records.values()), None)),
        "rows": sorted([*map(make_row, subjects), *printed], key=lambda row: _sorting_key(row, board.headline)),
        "superseded": [make_row(name) for name in everyone if name not in set(subjects)],
        "others": _list_others(store, board, accepted, results),
        "pairs": _compare_pairs(board, metric, subjects, counts),
        "history": _list_history(board, accepted, counts.records),
        "refused": statuses.count("refused"),
        "withdrawn": statuses.count("withdrawn"),
    }


def _describe_board(board: Board, example: Record | None) -> dict[str, Any]:
    """Return what the page says about the board itself."""
    procedure = board.procedure
    corpus = None if board.corpus is None else load_corpus(board.corpus)
    slices = {} if example is None else {name: list(values) for name, values in example.report["slices"].items()}
    return {
        "name": board.name,
        "title": board.title,
        "corpus": board.corpus,
        "procedure": procedure.name,
        "config": board.config,
        "split": board.split,
        "signature": board.signature,
        "options": dict(board.options),
        "gold": "private" if board.private else "public",
        "unit": procedure.unit,
        "n_units": board.n_units,
        "resampling_unit": procedure.resampling_unit,
        "n_blocks": board.n_blocks,
        "confidence": board.resampling.confidence,
        "n_resamples": board.resampling.n_resamples,
        "seed": board.resampling.seed,
        "headline": board.headline,
        "metrics": [
            {"name": metric.name, "title": metric.title, "description": metric.description}
            for metric in procedure.metrics
        ],
        "slices": slices,
        "citation": procedure.citation or (corpus.citation if corpus else ""),
        "homepage": corpus.homepage if corpus else None,
        "licence": corpus.licence if corpus and board.config != SAMPLE else None,
        "limits": {"bytes": board.limits.bytes, "rows": board.limits.rows, "per_day": board.limits.per_day},
        "counting": board.counting,
        "opens": board.opens,
        "closes": board.closes,
    }


def _value(record: Record, headline: str) -> float:
    """Return the headline score; -1 if it is undefined, so that it comes last."""
    value = record.report["scores"][headline]["value"]
    return -1.0 if value is None else float(value)


def _sort(
    subjects: Sequence[str], accepted: Mapping[str, Entry], records: Mapping[str, Record], headline: str
) -> list[str]:
    """Sort submissions and baselines by the headline score, best first; ties by time, then by id."""
    return sorted(
        subjects,
        key=lambda name: (-_value(records[name], headline), accepted[name].submitted if name in accepted else "", name),
    )


def _choose_counting(board: Board, subjects: Sequence[str], accepted: Mapping[str, Entry]) -> list[str]:
    """Return the submissions that count, and all baselines, in order."""
    if board.counting == "all":
        return list(subjects)
    chosen: dict[str, str] = {}
    for name in subjects:  # best first
        if name in accepted:
            author = accepted[name].author
            later = author in chosen and accepted[name].submitted > accepted[chosen[author]].submitted
            if author not in chosen or (board.counting == "last" and later):
                chosen[author] = name
    kept = set(chosen.values())
    return [name for name in subjects if name not in accepted or name in kept]


def _find_flags(
    subjects: Sequence[str], accepted: Mapping[str, Entry], records: Mapping[str, Record]
) -> dict[str, list[dict[str, str]]]:
    """Flag predictions that equal earlier ones or score 1, and systems without a link by which to verify them."""
    first: dict[str, str] = {}
    for name in sorted(subjects, key=lambda name: (accepted[name].submitted if name in accepted else "", name)):
        first.setdefault(records[name].predictions, name)
    flags: dict[str, list[dict[str, str]]] = {}
    for name in subjects:
        earlier = first[records[name].predictions]
        flags[name] = [] if earlier == name else [{"flag": "duplicate", "of": earlier}]
        if records[name].perfect:
            flags[name].append({"flag": "perfect"})
        if name in accepted:
            about = accepted[name].describe()
            if not (about.model or about.paper or about.code):
                flags[name].append({"flag": "unverified"})
    return flags


def _stack(subjects: Sequence[str], counts: Counts) -> tuple[tuple[str, ...], Floats]:
    """Return the names of the counts, and the counts of all systems, (n, n_blocks, k)."""
    names = counts.blocks[subjects[0]][0]
    return names, np.stack([counts.blocks[name][1] for name in subjects])


def _rank(
    metric: Metric, subjects: Sequence[str], flags: Mapping[str, Sequence[Mapping[str, str]]], counts: Counts
) -> dict[str, dict[str, Any]]:
    """Return the rank of every system whose score is defined; copies of a system have its rank.

    Copies are not ranked themselves, since every further system makes differences of the others less significant.
    """
    originals = {name: next((one["of"] for one in flags[name] if "of" in one), name) for name in subjects}
    ranked = [name for name in subjects if originals[name] == name or originals[name] not in originals]
    if not ranked:
        return {}
    names, blocks = _stack(ranked, counts)
    standings = dict(zip(ranked, rank(metric, names, blocks), strict=True))
    found = {name: standings.get(name) or standings.get(originals[name]) for name in subjects}
    return {name: asdict(standing) for name, standing in found.items() if standing is not None}


def _compare_pairs(board: Board, metric: Metric, subjects: Sequence[str], counts: Counts) -> dict[str, Any]:
    shown = list(subjects[:PAIRS])
    if len(shown) < 2:
        return {"ids": shown, "low": [], "high": [], "p": []}
    names, blocks = _stack(shown, counts)
    drawing = board.resampling
    pairs = pair_differences(
        metric, names, blocks, n_resamples=drawing.n_resamples, confidence=drawing.confidence, seed=drawing.seed
    )
    return {"ids": shown, **{name: _to_json(getattr(pairs, name)) for name in ("low", "high", "p")}}


def _to_json(values: Floats) -> list[float | None]:
    """Return numbers rounded to what a page can show; None for NaN."""
    return [None if math.isnan(value) else round(value, 6) for value in values.tolist()]


def _make_row(
    store: Store,
    board: Board,
    record: Record,
    entry: Entry | None,
    flags: list[dict[str, str]],
    ranked: Mapping[str, Any] | None,
) -> dict[str, Any]:
    report = record.report
    about = About(board.name, "", record.subject.removeprefix(BASELINE)) if entry is None else entry.describe()
    return {
        "kind": "baseline" if entry is None else "system",
        "id": record.subject,
        "system": about.system,
        "author": None if entry is None else entry.author,
        "submitted": None if entry is None else entry.submitted,
        "source": None if entry is None else entry.source,
        "model": about.model,
        "paper": about.paper,
        "code": about.code,
        "description": about.description,
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


def _list_printed(board: Board) -> list[dict[str, Any]]:
    """Return the rows that the papers print for the same part of the corpus."""
    if board.corpus is None or board.own_gold or board.config is None or board.split is None:
        return []
    if board.options != resolve_options(board.procedure, board.corpus, {}):  # papers use the default scoring
        return []
    empty = dict.fromkeys(("author", "submitted", "source", "model", "paper", "code", "counts", "rank", "record"))
    return [
        {
            **empty,
            "kind": "printed",
            "id": f"printed:{number}",
            "system": one["system"],
            "source_text": one["source"],
            "description": "",
            "scores": one["scores"],
            "slices": {},
            "flags": [],
        }
        for number, one in enumerate(read_printed_systems(board.corpus, board.config, board.split), start=1)
    ]


def _sorting_key(row: Mapping[str, Any], headline: str) -> tuple[float, str, str]:
    value = row["scores"].get(headline, {}).get("value")
    return (1.0 if value is None else -value, str(row["submitted"] or ""), row["system"])


def _list_others(store: Store, board: Board, accepted: Mapping[str, Entry], results: Results) -> list[dict[str, Any]]:
    """Return the rows under other signatures than the board's, by signature."""
    groups: dict[str, list[Record]] = {}
    for record in results.records.values():
        if record.board == board.name and record.signature != board.signature and record.subject in accepted:
            groups.setdefault(record.signature, []).append(record)
    return [
        {
            "signature": signature,
            "closeread": records[0].closeread,
            "rows": [
                _make_row(store, board, record, accepted[record.subject], [], None)
                for record in sorted(records, key=lambda one: one.subject)
            ],
        }
        for signature, records in sorted(groups.items())
    ]


def _list_history(board: Board, accepted: Mapping[str, Entry], records: Mapping[str, Record]) -> list[dict[str, Any]]:
    """Return every submission that was better than all before it, oldest first."""
    best, history = -1.0, []
    for entry in sorted(accepted.values(), key=lambda one: (one.submitted, one.submission)):
        value = _value(records[entry.submission], board.headline) if entry.submission in records else -1.0
        if value > best:
            best = value
            history.append({"date": entry.submitted, "id": entry.submission, "value": value})
    return history


def describe_reproduction(place: str, board: Board, subject: str, about: About) -> str:
    """Return the command that computes the scores of a row from its predictions.

    Args:
        place: the store; the command is for a shell in its folder if it is a folder, which others have elsewhere.
        board: the board.
        subject: the id of the submission, or "baseline:" and the name of a baseline.
        about: what the submitter says, with the path of the predictions.
    """
    is_on_hub = place.startswith(HUB)
    store = place if is_on_hub else "."
    if board.private:
        return shlex.join(["closeread", "leaderboard", "verify", store, "--gold", "GOLD"])
    part = [] if board.own_gold else _name_part(board)
    options = [f"--{name.replace('_', '-')}={value}" for name, value in _changed_options(board).items()]
    metrics = [] if board.metrics is None else [f"--metrics={','.join(board.metrics)}"]
    flags = [*part, *options, *metrics]
    if subject.startswith(BASELINE):
        name = subject.removeprefix(BASELINE)
        output = f"{name}.jsonl"
        made = shlex.join(["closeread", "baseline", str(board.corpus), name, *part, "-o", output])
        return f"{made} && {shlex.join(['closeread', 'score', board.scored, output, *flags])}"
    if is_on_hub or about.predictions.endswith(PACKED):
        output = "predictions" if about.predictions.endswith(PACKED) else f"predictions{find_suffix(about.predictions)}"
        fetched = shlex.join(["closeread", "leaderboard", "download", store, subject[:12], "-o", output])
        return f"{fetched} && {_score(board, output, flags)}"
    return _score(board, about.predictions, flags)


def _score(board: Board, predictions: str, flags: list[str]) -> str:
    gold = ["GOLD"] if board.own_gold and board.corpus is None else []
    own = ["--gold=GOLD"] if board.own_gold and board.corpus is not None else []
    return shlex.join(["closeread", "score", board.scored, *gold, predictions, *own, *flags])


def _name_part(board: Board) -> list[str]:
    return [f"--config={board.config}", f"--split={board.split}"]


def _changed_options(board: Board) -> dict[str, str]:
    """Return the options that differ from the procedure's defaults for this corpus."""
    defaults = resolve_options(board.procedure, board.corpus, {})
    return {name: value for name, value in board.options.items() if defaults.get(name) != value}


def read_printed_systems(corpus: str, config: str | None = None, split: str | None = None) -> list[dict[str, Any]]:
    """Read the systems of a part of a corpus whose scores its paper prints, as rows of a board.

    Only scores that are defined as ours and were computed on the whole split are in the file, as the paper prints them.

    Args:
        corpus: its name.
        config, split: the part; None for the default.

    Returns:
        `system`, `source` (the paper, and where it prints the scores) and `scores`, each with its `value` as a ratio
        and as `printed`, in the order of the file; empty if the corpus has no such file, or the part no such systems.
    """
    declaration = load_corpus(corpus)
    part = select(declaration, config, split)
    path = package_folder(f"closeread.loaders.{corpus}") / PRINTED
    return [
        {
            "system": row["system"],
            "source": row["source"],
            "scores": {
                name: {"value": float(Decimal(text) / SCALES[row["unit"]]), "printed": text}
                for name, text in row["scores"].items()
            },
        }
        for row in (parse_printed_systems(path, declaration) if path.exists() else ())
        if (row["config"], row["split"]) == part
    ]


def parse_printed_systems(path: Path, corpus: Corpus) -> list[Mapping[str, Any]]:
    """Read and check a file of printed systems."""
    source = f"{corpus.name}/{path.name}"
    try:
        rows: list[Mapping[str, Any]] = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise FormatError(source, [Problem(f"is not JSON ({error})")]) from None
    check_json(rows, "closeread.leaderboard/printed.schema.json", source)
    metrics = [metric.name for metric in load_procedure(corpus.procedure).metrics]
    problems: list[Problem] = []
    seen = set()
    for index, row in enumerate(rows):
        config, split = row["config"], row["split"]
        splits = corpus.configs[config].split_names if config in corpus.configs else ()
        if not splits:
            problems.append(Problem(describe_unknown("config", config, list(corpus.configs)), path=(index, "config")))
        elif split not in splits:
            problems.append(Problem(describe_unknown("split", split, splits), path=(index, "split")))
        for name, text in row["scores"].items():
            if name not in metrics:
                problems.append(Problem(describe_unknown("metric", name, metrics), path=(index, "scores")))
            elif Decimal(text) > SCALES[row["unit"]]:
                found = f"{text} is too large (expected at most {SCALES[row['unit']]})"
                problems.append(Problem(found, path=(index, "scores", name)))
        key = row["system"], row["source"], config, split
        if key in seen:
            found = f"system {quote(row['system'])} is listed twice for {config}, {split}"
            problems.append(Problem(found, path=(index,)))
        seen.add(key)
    if problems:
        raise FormatError(source, problems)
    return rows
