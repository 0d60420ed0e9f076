"""TNE's scores as an evaluate module."""

from closeread.hf import metric
from closeread.procedures import tne


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
