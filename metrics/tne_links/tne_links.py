"""TNE's scores as an evaluate module."""

from collections.abc import Mapping, Sequence
from typing import Any

from closeread.errors import Problem, SubmissionError
from closeread.hf import metric
from closeread.hf.inputs import as_list
from closeread.records import Record
from closeread.tasks.tne import procedure as tne
from closeread.tasks.tne.tne_arrays import ARRAY


class TneLinks(metric.EvaluateModule):
    """Links between noun phrases: which are found, and by which prepositions.

    Predictions are what a system says of a document, `{"id", "relations"}`, each relation with `anchor`, `complement`
    and `preposition`, and, for UPrep, `fallback` with what it would say of pairs that it does not link; references are
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

    Of the two pairs that gold links one is linked, by one of its prepositions; of three triplets one is found.

    >>> scores["triplets/recall"], scores["iprep"], scores["uprep"]
    (0.3333333333333333, 1.0, 0.0)
    """

    PROCEDURE = tne.PROCEDURE
    SCHEMA = CORPUS = "tne"
    REFERENCES = "reference"

    def _checked(
        self, predictions: Any, references: Any, options: Mapping[str, str]
    ) -> tuple[Sequence[Any], Sequence[Record]]:
        """The inputs as the procedure takes them; the leaderboard's arrays are none.

        Raises:
            SubmissionError: predictions are such arrays, or what else may be wrong with them.
        """
        rows = as_list("predictions", predictions)
        arrays = [number for number, row in enumerate(rows) if isinstance(row, dict) and ARRAY in row]
        if arrays:
            found = f"row {arrays[0]}: is an array of the leaderboard ({ARRAY})"
            needed = "needed: id and relations, which `closeread convert tne FILE --to jsonl` makes of a file of arrays"
            raise SubmissionError("predictions", [Problem(f"{found}; {needed}")])
        return super()._checked(rows, references, options)
