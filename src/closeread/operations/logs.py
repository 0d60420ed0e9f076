"""Logs of language models as systems: what is read of them, and folders that hold them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from closeread.corpus.gold import GoldSource
from closeread.corpus.names import load_corpus
from closeread.counts.counts import Counts
from closeread.counts.procedure import Procedure
from closeread.counts.systems import detect_kind
from closeread.exceptions import (
    FormatError,
    Problem,
    RequestError,
    name_option,
    pluralize,
    quote,
)
from closeread.formats.text import is_open_pipe
from closeread.records import Record

if TYPE_CHECKING:
    from closeread.leaderboard.declaration import Board
    from closeread.llm.logs import Log
    from closeread.scoring import Scorer

T = TypeVar("T")


def list_logs(source: object) -> list[Path]:
    """Return the logs that a source is: a log, or those of a folder; none if it is something else."""
    if not isinstance(source, str | Path):
        return []
    path = Path(source)
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    return [file for file in files if not is_open_pipe(file) and detect_kind(file) == "log"]


def replace_folders(sources: Iterable[Path]) -> list[Path]:
    """Return files of systems, with the logs of a folder instead of it."""
    files = list[Path]()
    for source in sources:
        files += list_logs(source) or [source]
    return files


def read_only_log(source: object, procedure: Procedure) -> Log | None:
    """Read a source if it is a log, or a folder with one log.

    Raises:
        FormatError: the folder has several logs, or the log can't be scored by the procedure.
    """
    logs = list_logs(source)
    if len(logs) > 1:
        message = f"has {pluralize(len(logs), 'log')} (expected one; all can be put into a table)"
        raise FormatError(Path(str(source)), [Problem(message)])
    return read_log_of(logs[0], procedure) if logs else None


def read_log_of(path: Path, procedure: Procedure) -> Log:
    """Read the log of a language model, of the procedure."""
    from closeread.llm.logs import read_log

    log = read_log(path)
    if log.procedure != procedure.name:
        message = f"is a log of {log.corpus} (expected one that {procedure.name} scores)"
        raise FormatError(log.path, [Problem(message)])
    return log


def take_gold(
    logs: Sequence[Log], source: GoldSource, options: Mapping[str, T]
) -> tuple[GoldSource, dict[str, T | str]]:
    """Return where the gold is, and the options of scoring it: as the first log has them, if the user gave none.

    Raises:
        RequestError: the log has gold of its own, which only the user may name: a log may name any path.
    """
    if not logs:
        return source, dict(options)
    log = logs[0]
    if not source.is_chosen:
        if log.gold is not None:
            reason = (
                f"{log.path} was scored with {quote(log.gold)}, and logs can't choose what is read"
            )
            raise RequestError(f"{reason}; name the gold yourself ({name_option('gold')})")
        source = replace(source, config=log.config, split=log.split)
    return source, {**log.options, **options}


def fill_unread(
    log: Log, board: Board, scorer: Scorer | None
) -> tuple[list[Record], tuple[str, ...]]:
    """Return the rows of a log with one epoch, with an empty prediction for whatever no answer could be read of.

    None is added on boards that count what is missing as empty.  McTaco has no empty predictions: a board that asks
    for all of them gets "no".  The second value says so, in sentences.
    """
    rows = list(log.rows[0])
    name = board.procedure.name
    if board.options.get("missing") != "error":
        return rows, ()
    key = "document" if name == "coref" else load_corpus(board.corpus or "").key
    records: Sequence[Record] = [{key: unit} for unit in board.ids]
    if scorer is not None and not board.own_gold:
        units = scorer.gold.units
        records = [{key: unit} for unit in units] if name == "coref" else scorer.gold.records
    nothing: Record = {"label": "no"}
    if name != "mctaco":
        from closeread.llm.answers import FORMS

        nothing = {FORMS[name].key: []}
    answered = {row.get(key) for row in rows}
    lacking = [record for record in records if record[key] not in answered]
    for record in lacking:
        named = {field: record[field] for field in (key, "entity") if field in record}
        rows.append({**named, **nothing})
    if not lacking:
        return rows, ()
    instead = "'no' is submitted" if name == "mctaco" else "nothing is predicted"
    return rows, (f"no answer was read for {pluralize(len(lacking), 'id')}: {instead} for them",)


def average_counts(counted: Sequence[Counts]) -> Counts:
    """Return the mean counts of the epochs of a log."""
    first = counted[0]
    if len(counted) == 1:
        return first
    values = np.mean([counts.table.values for counts in counted], axis=0)
    return replace(first, table=replace(first.table, values=values))
