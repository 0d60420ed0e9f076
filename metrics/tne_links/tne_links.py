"""TNE's scores as an evaluate module."""

from collections.abc import Mapping, Sequence
from typing import Any

from closeread.corpus.objects import as_list
from closeread.exceptions import Problem, SubmissionError
from closeread.hf import metric
from closeread.records import Record
from closeread.tasks.tne import procedure as tne
from closeread.tasks.tne.tne_arrays import ARRAY


class TneLinks(metric.EvaluateModule):
    """Precision, recall and F1 of links between noun phrases, and the accuracy of their prepositions.

    Predictions are one row per document, `{"id", "relations"}`, each relation with `anchor`, `complement` and
    `preposition`; for UPrep, `fallback` gives the prepositions of pairs that the system does not link.  References are
    records of the corpus, or rows with `id` and `np_relations`.  Both are lists of documents in the same order.

    >>> import evaluate, closeread
    >>> tne_links = evaluate.load("tne_links")
    >>> def link(anchor, preposition, complement):
    ...     return {"anchor": anchor, "preposition": preposition, "complement": complement}
    >>> links = [link("np0", "of", "np1"), link("np0", "in", "np1"), link("np2", "at", "np1")]
    >>> gold = {"id": "d", "np_relations": links}
    >>> system = {"id": "d", "relations": [link("np0", "in", "np1")], "fallback": [link("np2", "on", "np1")]}
    >>> scores = tne_links.compute(predictions=[system], references=[gold])
    >>> scores["links/precision"], scores["links/recall"]
    (1.0, 0.5)

    One of the two gold pairs is linked, by one of its prepositions; one of the three gold triplets is found.

    >>> scores["triplets/recall"], scores["iprep"], scores["uprep"]
    (0.3333333333333333, 1.0, 0.0)
    """

    PROCEDURE = tne.PROCEDURE
    SCHEMA = CORPUS = "tne"
    REFERENCES = "reference"

    def _check_inputs(
        self, predictions: Any, references: Any, options: Mapping[str, str]
    ) -> tuple[Sequence[Any], Sequence[Record]]:
        """Check the inputs and return them as the procedure takes them; leaderboard arrays are refused.

        Raises:
            SubmissionError: predictions are leaderboard arrays, or are invalid for another reason.
        """
        rows = as_list("predictions", predictions)
        arrays = [
            number for number, row in enumerate(rows) if isinstance(row, dict) and ARRAY in row
        ]
        if arrays:
            found = f"row {arrays[0]}: the prediction is a leaderboard array, {ARRAY} (expected id and relations)"
            advice = "convert the file first: closeread convert tne FILE --to jsonl"
            raise SubmissionError("predictions", [Problem(f"{found}; {advice}")])
        return super()._check_inputs(rows, references, options)
