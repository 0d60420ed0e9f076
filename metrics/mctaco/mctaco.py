"""The McTaco scores as an evaluate module."""

from collections.abc import Sequence

from closeread.hf import metric
from closeread.records import ColumnRecords, Record
from closeread.tasks.mctaco import procedure as mctaco


class Mctaco(metric.EvaluateModule):
    """Exact match and F1 over questions with several candidate answers, as in McTaco's official evaluator.

    Predictions are labels: "yes" or "no" (or 1 or 0).  References are records of the corpus, or rows with
    `question_id`, `sentence_id`, `label` and `category`.

    >>> import evaluate, closeread
    >>> mctaco = evaluate.load("mctaco")
    >>> references = [
    ...     {"question_id": "q0", "sentence_id": "s0", "label": "yes", "category": "Frequency"},
    ...     {"question_id": "q0", "sentence_id": "s0", "label": "no", "category": "Frequency"},
    ...     {"question_id": "q1", "sentence_id": "s0", "label": "yes", "category": "Typical Time"},
    ... ]
    >>> mctaco.compute(predictions=["yes", "yes", "yes"], references=references)
    {'exact_match': 0.5, 'f1': 0.8333333333333333}

    The first question has precision 1/2 and recall 1, so its F1 is 2/3; the second is correct.

    >>> report = mctaco.report(predictions=[1, 1, 1], references=references, by=("category",))
    >>> report.slices["category"]["Typical Time"].scores["exact_match"].value
    1.0
    """

    PROCEDURE = mctaco.PROCEDURE
    SCHEMA = CORPUS = "mctaco"
    PREDICTIONS = "label"
    REFERENCES = "reference"

    def _to_rows(self, predictions: Sequence[str]) -> Sequence[Record]:
        return ColumnRecords({"label": predictions})
