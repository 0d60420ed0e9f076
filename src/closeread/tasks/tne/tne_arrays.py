"""The prediction file of TNE's leaderboard: one line per document, in the order of the corpus.

Conventions: a line is ``{"predicted_prepositions": [...]}`` with one label for each ordered pair of the document's k
noun phrases, k * k in all; the label of anchor i and complement j is at position i * k + j.  A label is the position of
a preposition in `closeread.tasks.tne.columns.PREPOSITIONS`, 0 for no link; labels of a noun phrase with itself are
ignored, as in the official evaluator.  The format has no ids, but a line may give the id of its document.  Other
attributes are unknown fields of the row.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from closeread import limits
from closeread.exceptions import Problem, ProblemList, RequestError, pluralize, quote, quote_json
from closeread.formats import SubmissionFile
from closeread.formats.json_lines import dump_json_lines, parse_json_lines
from closeread.records import Parsed, Record
from closeread.tasks.tne.columns import LABELS, PREPOSITIONS, documents_of

ARRAY = "predicted_prepositions"
SHOWN = 3

WIDTH = len("24, ")  # the most bytes that a label takes


def recognises(first_line: str) -> bool:
    """Return whether a file with this first line is in this format."""
    return re.match(rf'\s*\{{[^\[]*"{ARRAY}"\s*:', first_line) is not None


def parse_submission(lines: Sequence[str], gold: Sequence[Record]) -> Parsed:
    """Read the links of every document.

    A wrong number of lines is an error, since lines and documents are matched by position.
    """
    parsed = parse_json_lines(lines)
    problems = ProblemList(parsed.problems)
    if len(lines) != len(gold):
        found = f"the number of lines is {len(lines):,}"
        problems.append(
            Problem(
                f"{found} (expected {len(gold):,}: one for each document, in the order of the corpus)"
            )
        )
    rows, line_numbers = [], []
    for array, line in zip(parsed.records, parsed.lines, strict=True):
        if line > len(gold):
            continue
        record, labels = gold[line - 1], array.get(ARRAY)
        size = math.isqrt(len(labels)) if isinstance(labels, list) else 0
        if record.get("nps") is not None:
            size = len(record["nps"])
        others = {name: value for name, value in array.items() if name != ARRAY}
        is_null = ARRAY in array and labels is None
        wrong = [] if is_null else list(_find_problems(array, record["id"], size))
        problems += (Problem(what, line) for what in wrong)
        if not wrong:
            links = None if is_null else _to_links(array[ARRAY], size)
            rows.append({**others, "id": record["id"], "relations": links})
            line_numbers.append(line)
    return Parsed(rows, line_numbers, problems)


def _find_problems(array: Record, name: str, size: int) -> Iterator[str]:
    """Yield everything that is wrong with a line."""
    if array.get("id", name) != name:
        yield f"id is {quote_json(array['id'], 60)} (expected {quote(name)} or no id)"
    of = f"id {quote(name)}:"
    pairs = f"one for each ordered pair of the document's {pluralize(size, 'noun phrase')}"
    labels = array.get(ARRAY)
    if not isinstance(labels, list):
        found = f"is {quote_json(labels, 60)}" if ARRAY in array else "is missing"
        yield f"{of} {ARRAY} {found} (expected a list of {pluralize(size * size, 'label')}, {pairs})"
        return
    if len(labels) != size * size:
        yield f"{of} {ARRAY} has {pluralize(len(labels), 'label')} (expected {size * size:,}: {pairs})"
    wrong = [
        place
        for place, label in enumerate(labels)
        if type(label) is not int or not 0 <= label < len(PREPOSITIONS)
    ]
    for place in wrong[:SHOWN]:
        # In a list of the wrong length a position does not identify a pair.
        pair = f" (np{place // size}, np{place % size})" if len(labels) == size * size else ""
        more = (
            f", and {len(wrong) - SHOWN:,} more"
            if len(wrong) > SHOWN and place == wrong[SHOWN - 1]
            else ""
        )
        expected = f"(expected an integer from 0 to {len(PREPOSITIONS) - 1})"
        yield f"{of} {ARRAY}[{place}]{pair} is {quote_json(labels[place], 60)} {expected}{more}"


def _to_links(labels: Sequence[int], size: int) -> list[Record]:
    # Models are not trained on the diagonal and predict anything there.
    return [
        {
            "anchor": f"np{place // size}",
            "complement": f"np{place % size}",
            "preposition": PREPOSITIONS[label],
        }
        for place, label in enumerate(labels)
        if label and place % (size + 1)
    ]


def dump_submission(rows: Sequence[Record], gold: Sequence[Record]) -> str:
    """Return the rows as the text of a file.

    The first of several labels for a pair is kept, and fallbacks are dropped.
    """
    sizes = documents_of(gold).sizes.tolist()
    for row, size in zip(rows, sizes, strict=True):
        if WIDTH * size * size > limits.MAX_LINE_BYTES:
            found = f"id {quote(row['id'])}: {size:,} noun phrases need {size * size:,} labels on one line"
            most = math.isqrt(limits.MAX_LINE_BYTES // WIDTH)
            raise RequestError(
                f"{found} (expected at most {most:,} noun phrases); write JSON Lines of links instead"
            )
    return dump_json_lines(
        {ARRAY: _to_array(row["relations"], size)} for row, size in zip(rows, sizes, strict=True)
    )


def _to_array(relations: Sequence[Record], size: int) -> list[int]:
    array = [0] * (size * size)
    for link in reversed(relations):  # the first of several is written last
        array[int(link["anchor"][2:]) * size + int(link["complement"][2:])] = LABELS[
            link["preposition"]
        ]
    return array


def describe_losses(rows: Sequence[Record]) -> Iterator[str]:
    """Describe what arrays can't hold of some rows, one sentence for prepositions and one for fallbacks."""
    links = sum(len(row["relations"]) for row in rows)
    pairs = sum(
        len({(link["anchor"], link["complement"]) for link in row["relations"]}) for row in rows
    )
    if links > pairs:
        yield f"{links - pairs:,} of {links:,} links are lost: an array holds only the first preposition of a pair."
    fallbacks = sum(len(row.get("fallback") or ()) for row in rows)
    if fallbacks:
        yield f"{fallbacks:,} {'fallback is' if fallbacks == 1 else 'fallbacks are'} lost: arrays can't hold them."


SUBMISSION = SubmissionFile(recognises, parse_submission)
