"""Spelling accuracy as an evaluate module."""

from collections.abc import Sequence

from closeread.hf import metric
from closeread.records import ColumnRecords, Record
from closeread.tasks.spelling import procedure as spelling


class SpellingAccuracy(metric.EvaluateModule):
    """Proportion of correct words, and of correct characters.

    Predictions are words.  References are records of the corpus.

    >>> import evaluate, closeread
    >>> spelling_accuracy = evaluate.load("spelling_accuracy")
    >>> references = [{"id": "0", "page": "1", "written": "maast", "word": "mast"}]
    >>> spelling_accuracy.compute(predictions=["mist"], references=references)
    {'word_accuracy': 0.0, 'character_accuracy': 0.75}
    """

    PROCEDURE = spelling.PROCEDURE
    SCHEMA = CORPUS = "shipwords"
    PREDICTIONS = "word"

    def _to_rows(self, predictions: Sequence[str]) -> Sequence[Record]:
        return ColumnRecords({"word": predictions})
