"""Coreference in files: key and response read, laid side by side, and counted.

Conventions: a file is CoNLL, CorefUD (`.conllu`) or JSON Lines (`.jsonl`, `.ndjson`), by its suffix.  Documents are
matched by name.  Where both files have text, it has to be the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from closeread.errors import FormatError, InputError, Problem, SubmissionError, quoted
from closeread.mentions import MentionTable, content_digest
from closeread.procedures.coref import TITLES, chosen, repeats
from closeread.report import Comparison, Report, Resampling, make_comparison, make_report
from closeread.scoring import Counted, Origin, count_rows

JSON_LINES = (".jsonl", ".ndjson")


@dataclass(frozen=True)
class Pair:
    """Key and response of the same documents in the same order.

    Attributes:
        key, response: the two; documents that the response lacks are `absent` in it.
    """

    key: MentionTable
    response: MentionTable


def read_documents(path: Path) -> MentionTable:
    """The documents of a file.

    Raises:
        FormatError: the file can't be read or breaks its format, with everything that is wrong with it.
    """
    if path.suffix in JSON_LINES:
        from closeread.formats.coref_json import read_coref_json

        return read_coref_json(path)
    if path.suffix == ".conllu":
        from closeread.formats.conllu import read_conllu

        return read_conllu(path)
    from closeread.formats.conll import read_conll

    return read_conll(path)


def read_pair(key: Path, response: Path, *, missing: str = "empty", duplicates: str = "error") -> Pair:
    """Key and response, read and laid side by side.

    Args:
        key, response: the files.
        missing: "error" to refuse a response that lacks documents of the key.
        duplicates: "error" to refuse mentions that stand twice in a file.

    Raises:
        FormatError: the key is at fault.
        SubmissionError: the response is at fault, by itself or beside the key; all problems at once.
    """
    gold = read_key(key, duplicates)
    return lay_beside(gold, response, missing=missing, duplicates=duplicates)


def read_key(path: Path, duplicates: str = "error") -> MentionTable:
    """The documents of a key.

    Raises:
        FormatError: it can't be read, or holds mentions twice and `duplicates` is "error".
    """
    table = read_documents(path)
    problems = list(_repeated(table)) if duplicates == "error" else []
    if problems:
        raise FormatError(path, problems)
    return table


def lay_beside(key: MentionTable, path: Path, *, missing: str = "empty", duplicates: str = "error") -> Pair:
    """A response, read and put in the order of the key's documents.

    Raises:
        SubmissionError: as `read_pair`.
    """
    from closeread.formats.conll import token_differences

    try:
        response = read_documents(path)
    except InputError as error:
        raise SubmissionError(error.source, error.problems) from None
    known, given = set(key.names), set(response.names)
    problems = [
        Problem(f"document {quoted(name)} is not in the key; needed: documents of the key only")
        for name in response.names
        if name not in known
    ]
    absent = [name for name in key.names if name not in given]
    if absent and missing == "error":
        named = ", ".join(quoted(name) for name in absent[:3]) + (", …" if len(absent) > 3 else "")
        found = f"lacks {len(absent):,} of the {len(key.names):,} documents of the key: {named}"
        problems.append(Problem(f"{found}; needed: all of them, unless missing is empty or skip"))
    if key.words is not None and response.words is not None:
        problems += token_differences(key, response)
    problems += _beyond(key, response)
    if duplicates == "error":
        problems += _repeated(response)
    if problems:
        raise SubmissionError(path, sorted(problems, key=lambda p: p.line or 0))
    return Pair(key, _in_order_of(key, response))


def _repeated(table: MentionTable) -> Iterator[Problem]:
    """The mentions that stand twice."""
    for first, again in repeats(table).tolist():
        document, start, end = int(table.document[again]), int(table.start[again]), int(table.end[again])
        names = [_entity(table, int(table.entity[row])) for row in (first, again)]
        where = f"in entities {names[0]} and {names[1]}" if names[0] != names[1] else f"twice in entity {names[0]}"
        found = f"document {quoted(table.names[document])}: the mention of tokens {start} to {end} stands {where}"
        line = table.words.line_of(document, start) if table.words is not None else None
        yield Problem(f"{found}; needed: once, unless duplicates is first or reference", line)


def _entity(table: MentionTable, entity: int) -> str:
    return quoted(table.labels[entity]) if table.labels is not None else f"number {entity + 1}"


def _beyond(key: MentionTable, response: MentionTable) -> Iterator[Problem]:
    """Mentions of the response beyond the end of a document whose length only the key tells."""
    if key.n_tokens is None or response.n_tokens is not None:
        return
    length = dict(zip(key.names, key.n_tokens.tolist(), strict=True))
    lengths = np.array([length.get(name, np.iinfo(np.int64).max) for name in response.names], np.int64)
    for row in np.flatnonzero(response.end >= lengths[response.document]).tolist():
        name, start, end = response.names[response.document[row]], response.start[row], response.end[row]
        found = f"document {quoted(name)}: the mention [{start}, {end}] is not in the document"
        yield Problem(f"{found}, which has {length[name]:,} tokens in the key, from 0")


def _in_order_of(key: MentionTable, response: MentionTable) -> MentionTable:
    """The response with the documents of the key, in the key's order."""
    if list(response.names) == list(key.names):
        return response
    index = {name: i for i, name in enumerate(key.names)}
    place = np.array([index[name] for name in response.names], np.int64)
    document = place[response.document]
    order = np.argsort(document, kind="stable")
    back = {int(row): new for new, row in enumerate(order)} if response.parts else {}
    entity = response.entity[order]
    new_entity = np.concatenate([[False], entity[1:] != entity[:-1]]) if len(entity) else np.zeros(0, bool)
    source = {int(p): i for i, p in enumerate(place)}
    labels = response.labels
    return replace(
        response,
        names=key.names,
        n_tokens=None,
        document=document[order],
        start=response.start[order],
        end=response.end[order],
        entity=np.cumsum(new_entity),
        parts={back[row]: spans for row, spans in response.parts.items()},
        head=None if response.head is None else response.head[order],
        labels=None if labels is None else [labels[e] for e in entity[new_entity | (np.arange(len(entity)) == 0)]],
        words=key.words,
        absent=frozenset(range(len(key.names))) - source.keys(),
    )


def count_pair(pair: Pair, *, metrics: Sequence[str] = tuple(TITLES), options: dict[str, str] | None = None) -> Counted:
    """Count a response.

    Args:
        pair: key and response.
        metrics: which metrics, by their names in `closeread.procedures.coref.TITLES`.
        options: values of the procedure's options that differ from its defaults.

    Raises:
        RequestError: no such metric or option.
    """
    procedure = chosen(metrics)
    settled = procedure.settle(options or {})
    missing = len(pair.response.absent)
    origin = Origin("coref", None, None, None)
    return count_rows(procedure, pair.key, pair.response, settled, content_digest(pair.key), missing, origin)


def score(
    key: str | Path,
    response: str | Path,
    *,
    metrics: Sequence[str] = tuple(TITLES),
    resampling: Resampling | None = None,
    **options: str,
) -> Report:
    """Score a response.

    Args:
        key, response: the files.
        metrics: which metrics, by their names in `closeread.procedures.coref.TITLES`.
        resampling: how to draw intervals; None for the defaults.
        **options: the procedure's options.

    Raises:
        RequestError: no such metric or option; an InputError where a file is at fault.
    """
    settled = chosen(metrics).settle(options)
    pair = read_pair(Path(key), Path(response), missing=settled["missing"], duplicates=settled["duplicates"])
    counted = count_pair(pair, metrics=metrics, options=settled)
    return make_report(counted.table, counted.procedure, counted.provenance, resampling=resampling)


def compare(
    key: str | Path,
    first: str | Path,
    second: str | Path,
    *,
    metrics: Sequence[str] = tuple(TITLES),
    resampling: Resampling | None = None,
    **options: str,
) -> Comparison:
    """Compare two responses by paired tests over documents.

    Args:
        key, first, second: the files; differences are second minus first.
        metrics, resampling, **options: as for `score`.

    Raises:
        RequestError: no such metric or option; an InputError where a file is at fault.
    """
    settled = chosen(metrics).settle(options)
    gold = read_key(Path(key), settled["duplicates"])
    one, two = (
        count_pair(
            lay_beside(gold, Path(path), missing=settled["missing"], duplicates=settled["duplicates"]),
            metrics=metrics,
            options=settled,
        )
        for path in (first, second)
    )
    names = (str(first), str(second))
    return make_comparison(names, (one.table, two.table), (one.provenance, two.provenance), one.procedure, resampling)
