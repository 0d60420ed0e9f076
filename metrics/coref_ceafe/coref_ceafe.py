"""CEAFe for coreference, as an evaluate module."""

from closeread.hf import metric
from closeread.tasks.coref import procedure as coref


class CorefCeafe(metric.EvaluateModule):
    """CEAFe: the similarity of entities under their best one-to-one mapping.

    Source: Luo (2005); details follow the reference scorer.

    Predictions and references are lists with one item per document: a list of entities, each a list of mentions
    `[start, end]`, where `end` is the last token, or `[start, end, head]`.  Counts are summed over documents.

    >>> import evaluate, closeread
    >>> coref_ceafe = evaluate.load("coref_ceafe")
    >>> key = [[[0, 0], [1, 1], [2, 2]], [[3, 3], [4, 4], [5, 5], [6, 6]]]
    >>> response = [[[0, 0], [1, 1]], [[2, 2], [3, 3]], [[5, 5], [6, 6], [7, 7], [8, 8]]]
    >>> scores = coref_ceafe.compute(predictions=[response], references=[key])
    >>> {name: round(score, 4) for name, score in scores.items()}
    {'ceafe/precision': 0.4333, 'ceafe/recall': 0.65, 'ceafe/f1': 0.52}

    The example is from Moosavi and Strube (2016, section 3).
    """

    PROCEDURE = coref.PROCEDURE.with_metrics("ceafe")
    SCHEMA = "coref"
    PREDICTIONS = REFERENCES = "clusters"
