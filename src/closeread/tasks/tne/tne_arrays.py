"""The prediction file of TNE's leaderboard: a line for every document, in the order of the corpus.

Conventions: a line is ``{"predicted_prepositions": [...]}`` with one label for every ordered pair of the document's k
noun phrases, k * k in all: that of anchor i and complement j stands at i * k + j.  A label is the position of a
preposition in `closeread.tasks.tne.columns.PREPOSITIONS`, 0 for no link; those of a noun phrase with itself count for
nothing, as in the official evaluator.  An id is no part of the format; where a line has one, it has to be the
document's.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

import numpy as np

from closeread.errors import Problem, RequestError, pluralize, quote, quote_json
from closeread.formats import SubmissionFile
from closeread.formats.json_lines import dump_json_lines, parse_json_lines
from closeread.formats.text import MAX_LINE_BYTES
from closeread.records import Parsed, Record, column
from closeread.tasks.tne.columns import PREPOSITIONS, documents_of, numbers

ARRAY = "predicted_prepositions"
FIRST = re.compile(rf'\s*\{{[^\[]*"{ARRAY}"\s*:')
SHOWN = 3

WIDTH = len("24, ")
"""How many bytes a label takes at most."""


def recognises(first_line: str) -> bool:
    """Whether a file with this first line is of the format."""
    return FIRST.match(first_line) is not None


def parse_submission(lines: Sequence[str], gold: Sequence[Record]) -> Parsed:
    """The links of every document; a wrong number of lines is a problem, since every later line would be off.

    Args:
        lines: the file's lines.
        gold: the documents, in order.
    """
    parsed = parse_json_lines(lines)
    problems = list(parsed.problems)
    if len(lines) != len(gold):
        found = f"the number of lines is {len(lines):,}"
        problems.append(Problem(f"{found}; needed: {len(gold):,}, one for each document, in the order of the corpus"))
    ids, sizes = column(gold, "id"), documents_of(gold).sizes.tolist()
    rows, numbers_of_lines = [], []
    for array, line in zip(parsed.records, parsed.lines, strict=True):
        if line > len(gold):
            continue
        wrong = list(_wrong_with(array, ids[line - 1], sizes[line - 1]))
        problems += [Problem(what, line) for what in wrong]
        if not wrong:
            rows.append({"id": ids[line - 1], "relations": _links(array[ARRAY], sizes[line - 1])})
            numbers_of_lines.append(line)
    return Parsed(rows, numbers_of_lines, problems)


def _wrong_with(array: Record, name: str, size: int) -> Iterator[str]:
    """Everything that is wrong with a line."""
    if array.get("id", name) != name:
        yield f"id is {quote_json(array['id'], 60)}; needed: {quote(name)}, or none"
    of = f"id {quote(name)}:"
    for key in array:
        if key not in (ARRAY, "id"):
            yield f"{of} has the key {quote(key)}; needed: {ARRAY} alone"
    wanted = f"{size * size:,}, for every ordered pair of its {pluralize(size, 'noun phrase')}"
    labels = array.get(ARRAY)
    if not isinstance(labels, list):
        found = f"is {quote_json(labels, 60)}" if ARRAY in array else "is missing"
        yield f"{of} {ARRAY} {found}; needed: a list of labels, {wanted}"
        return
    if len(labels) != size * size:
        yield f"{of} {ARRAY} has {pluralize(len(labels), 'label')}; needed: {wanted}"
    wrong = [
        place for place, label in enumerate(labels) if type(label) is not int or not 0 <= label < len(PREPOSITIONS)
    ]
    for place in wrong[:SHOWN]:
        # Of a list of another length no place tells what it is about.
        pair = f" (np{place // size}, np{place % size})" if len(labels) == size * size else ""
        more = f" (and {len(wrong) - SHOWN:,} more)" if len(wrong) > SHOWN and place == wrong[SHOWN - 1] else ""
        needed = f"needed: a whole number from 0 to {len(PREPOSITIONS) - 1}"
        yield f"{of} {ARRAY}[{place}]{pair} is {quote_json(labels[place], 60)}; {needed}{more}"


def _links(labels: Sequence[int], size: int) -> list[Record]:
    label = np.array(labels, np.int64)
    label[:: size + 1] = 0  # models say anything of the diagonal, on which they are not trained
    places = np.flatnonzero(label)
    ends = zip(places.tolist(), label[places].tolist(), strict=True)
    return [
        {"anchor": f"np{place // size}", "complement": f"np{place % size}", "preposition": PREPOSITIONS[one]}
        for place, one in ends
    ]


def dump_submission(rows: Sequence[Record], gold: Sequence[Record]) -> str:
    """The rows as the text of a file; of several labels for a pair the first is kept, and fallbacks are dropped.

    Args:
        rows: the rows, in the order of the gold.
        gold: the documents.

    Raises:
        RequestError: a document has so many noun phrases that its line could not be read again.
    """
    sizes = documents_of(gold).sizes.tolist()
    for row, size in zip(rows, sizes, strict=True):
        if WIDTH * size * size > MAX_LINE_BYTES:
            found = f"id {quote(row['id'])}: {size:,} noun phrases make {size * size:,} labels on a line"
            most = math.isqrt(MAX_LINE_BYTES // WIDTH)
            raise RequestError(f"{found}; needed: at most {most:,} noun phrases, or JSON Lines of links")
    return dump_json_lines({ARRAY: _array(row["relations"], size)} for row, size in zip(rows, sizes, strict=True))


def _array(relations: Sequence[Record], size: int) -> list[int]:
    labels = np.zeros(size * size, np.int64)
    anchors, complements = (numbers(relations, end) for end in ("anchor", "complement"))
    said = np.array([PREPOSITIONS.index(link["preposition"]) for link in relations], np.int64)
    labels[(anchors * size + complements)[::-1]] = said[::-1]  # of several the first is written last, and stays
    array: list[int] = labels.tolist()
    return array


def describe_losses(rows: Sequence[Record]) -> Iterator[str]:
    """Describe what arrays can't hold of some rows, one sentence for prepositions and one for fallbacks."""
    links = sum(len(row["relations"]) for row in rows)
    pairs = sum(len({(link["anchor"], link["complement"]) for link in row["relations"]}) for row in rows)
    if links > pairs:
        yield f"{links - pairs:,} of {links:,} links are lost: an array holds only the first preposition of a pair."
    fallbacks = sum(len(row.get("fallback") or ()) for row in rows)
    if fallbacks:
        yield f"{fallbacks:,} {'fallback is' if fallbacks == 1 else 'fallbacks are'} lost: arrays can't hold them."


SUBMISSION = SubmissionFile(recognises, parse_submission)
