"""Accuracy of corrected words and of their characters.

Conventions: the unit is the word; the resampling unit is the page.

Metrics:
    word_accuracy: proportion of correct words.
    character_accuracy: 1 minus edits over characters, those of the longer of both sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

import numpy as np

from closeread.arrays import Floats
from closeread.corpus.submissions import CorpusReader
from closeread.counts.metrics import Columns, Metric, Ratio
from closeread.counts.procedure import Explanation, Option, Procedure, check_present, missing_option
from closeread.counts.table import CountTable, factorize
from closeread.records import Record, column
from closeread.tasks.spelling.columns import COUNTS, code_points, edit_counts


def count(
    *,
    gold: Sequence[Record],
    system: Sequence[Record | None],
    case: str = "keep",
    missing: str = "error",
) -> CountTable:
    """Count the edits of each word.

    Args:
        gold: words, each with `id`, `page` and `word`.
        system: one row per word, with `word`; the row or the word is None if there is no prediction.
        case, missing: the options of `PROCEDURE`.

    Raises:
        ValueError: `missing` is "error" and a word has no prediction.
    """
    predicted = ["" if row is None or row["word"] is None else row["word"] for row in system]
    present = np.array([word != "" for word in predicted], np.bool_)
    check_present(present, "words", missing)
    words = [column(gold, "word"), predicted]
    if case == "fold":
        words = [[word.casefold() for word in side] for side in words]
    pages = column(gold, "page")
    values = edit_counts(*map(code_points, words))
    # so that shards that share a page can be merged
    names = [sha256(page.encode()).digest() for page in pages]
    blocks = factorize(pages)[0]
    table = CountTable(
        column(gold, "id"), blocks, COUNTS, values, {"page": pages}, block_names=names
    )
    return table.select(present) if missing == "skip" else table


@dataclass(frozen=True)
class OneMinus:
    """1 minus a ratio."""

    ratio: Ratio

    def __call__(self, counts: Columns) -> Floats:
        """Compute the difference."""
        return 1 - self.ratio(counts)


def load_explanation() -> Explanation:
    """The edits of each word, imported when they are asked for."""
    from closeread.tasks.spelling.explain import EXPLANATION

    return EXPLANATION


PROCEDURE = Procedure(
    name="spelling",
    version=1,
    title="spelling accuracy",
    unit="word",
    resampling_unit="page",
    options=(
        Option(
            "case",
            ("keep", "fold"),
            "keep",
            "Distinguish capital letters (keep), or ignore case (fold).",
        ),
        missing_option("error"),
    ),
    metrics=(
        Metric(
            "word_accuracy",
            "Word accuracy",
            "Proportion of correct words.",
            Ratio("correct", "words"),
        ),
        Metric(
            "character_accuracy",
            "Character accuracy",
            "1 minus edits over characters.",
            OneMinus(Ratio("edits", "characters")),
        ),
    ),
    headline="word_accuracy",
    modules=("spelling_accuracy",),
    count=count,
    fields=("page",),
    reader=CorpusReader(),
    citation="""@article{levenshtein-1966-binary,
  title = {Binary codes capable of correcting deletions, insertions, and reversals},
  author = {Levenshtein, Vladimir I.},
  journal = {Soviet Physics Doklady},
  volume = {10},
  number = {8},
  pages = {707--710},
  year = {1966}
}""",
    explanation=load_explanation,
)
