"""The prediction file of TNE's leaderboard: one line per document, in the order of the corpus.

Conventions: a line is ``{"predicted_prepositions": [...]}`` with one label for each ordered pair of the document's k
noun phrases, k * k in all; the label of anchor i and complement j is at position i * k + j.  A label is the position of
a preposition in `closeread.tasks.tne.links.PREPOSITIONS`, 0 for no link; labels of a noun phrase with itself are
ignored, as in the official evaluator.  The format has no ids, but a line may give the id of its document.  Other
attributes are unknown fields of the row.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from operator import itemgetter

from closeread import limits
from closeread.exceptions import Problem, ProblemList, RequestError, pluralize, quote, quote_json
from closeread.formats import SubmissionFile
from closeread.formats.json_lines import dump_json_lines, parse_json_lines
from closeread.records import Parsed, Record
from closeread.tasks.tne.links import LABELS, PREPOSITIONS

ARRAY = "predicted_prepositions"
MAX_WRONG_SHOWN = 3
"""How many wrong labels of a line are shown before they are counted."""

MAX_WIDTH = len("24, ")
"""The most bytes that a label takes."""


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
        expected = f"expected {len(gold):,}: one for each document, in the order of the corpus"
        problems.append(Problem(f"the number of lines is {len(lines):,} ({expected})"))
    rows = []
    line_numbers = []
    for array, line in zip(parsed.records, parsed.lines, strict=True):
        if line > len(gold):
            continue
        record = gold[line - 1]
        size = _find_size(record, array.get(ARRAY))
        row = {name: value for name, value in array.items() if name != ARRAY}
        row["id"] = record["id"]
        if array.get(ARRAY, ...) is None:
            row["relations"] = None
        else:
            wrong = list(_find_problems(array, record["id"], size))
            problems += (Problem(problem, line) for problem in wrong)
            if wrong:
                continue
            row["relations"] = _to_links(array[ARRAY], size)
        rows.append(row)
        line_numbers.append(line)
    return Parsed(rows, line_numbers, problems)


def _find_size(record: Record, labels: object) -> int:
    """Return the number of noun phrases of a document, if need be from the number of labels."""
    if record.get("nps") is not None:
        return len(record["nps"])
    return math.isqrt(len(labels)) if isinstance(labels, list) else 0


def _find_problems(array: Record, name: str, size: int) -> Iterator[str]:
    """Yield everything that is wrong with a line."""
    if array.get("id", name) != name:
        yield f"id is {quote_json(array['id'], 60)} (expected {quote(name)} or no id)"
    subject = f"id {quote(name)}: {ARRAY}"
    pairs = f"one for each ordered pair of the document's {pluralize(size, 'noun phrase')}"
    labels = array.get(ARRAY)
    if not isinstance(labels, list):
        state = f"is {quote_json(labels, 60)}" if ARRAY in array else "is missing"
        expected = f"a list of {pluralize(size * size, 'label')}, {pairs}"
        yield f"{subject} {state} (expected {expected})"
        return
    is_complete = len(labels) == size * size
    if not is_complete:
        number = pluralize(len(labels), "label")
        yield f"{subject} has {number} (expected {size * size:,}: {pairs})"
    n_labels = len(PREPOSITIONS)
    # Without a function for each of millions of labels.
    wrong = [
        place
        for place, label in enumerate(labels)
        if type(label) is not int or not 0 <= label < n_labels
    ]
    for place in wrong[:MAX_WRONG_SHOWN]:
        # In a list of the wrong length a position does not identify a pair.
        pair = f" (np{place // size}, np{place % size})" if is_complete else ""
        problem = f"{subject}[{place}]{pair} is {quote_json(labels[place], 60)}"
        problem += f" (expected an integer from 0 to {n_labels - 1})"
        n_more = len(wrong) - MAX_WRONG_SHOWN
        if n_more > 0 and place == wrong[MAX_WRONG_SHOWN - 1]:
            problem += f", and {n_more:,} more"
        yield problem


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
    sizes = [len(record["nps"] or ()) for record in gold]
    for row, size in zip(rows, sizes, strict=True):
        if MAX_WIDTH * size * size > limits.MAX_LINE_BYTES:
            need = f"{size:,} noun phrases need {size * size:,} labels on one line"
            expected = (
                f"expected at most {math.isqrt(limits.MAX_LINE_BYTES // MAX_WIDTH):,} noun phrases"
            )
            raise RequestError(
                f"id {quote(row['id'])}: {need} ({expected}); write JSON Lines of links instead"
            )
    return dump_json_lines(
        {ARRAY: _to_array(row["relations"], size)} for row, size in zip(rows, sizes, strict=True)
    )


def _to_array(relations: Sequence[Record], size: int) -> list[int]:
    array = [0] * (size * size)
    # The first of several labels of a pair is written last.
    for link in reversed(relations):
        anchor = int(link["anchor"][2:])
        complement = int(link["complement"][2:])
        array[anchor * size + complement] = LABELS[link["preposition"]]
    return array


def describe_losses(rows: Sequence[Record]) -> Iterator[str]:
    """Describe what arrays can't hold of some rows, one sentence for prepositions and one for fallbacks."""
    n_links = 0
    n_pairs = 0
    n_fallbacks = 0
    for row in rows:
        n_links += len(row["relations"])
        n_pairs += len(set(map(itemgetter("anchor", "complement"), row["relations"])))
        n_fallbacks += len(row.get("fallback") or ())
    if n_links > n_pairs:
        yield f"{n_links - n_pairs:,} of {n_links:,} links are lost: an array holds only the first preposition of a pair."
    if n_fallbacks:
        subject = "fallback is" if n_fallbacks == 1 else "fallbacks are"
        yield f"{n_fallbacks:,} {subject} lost: arrays can't hold them."


SUBMISSION = SubmissionFile(recognises, parse_submission)
