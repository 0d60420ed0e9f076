"""CEAFm for coreference, as an evaluate module."""

from closeread.hf import metric
from closeread.tasks.coref import procedure as coref


class CorefCeafm(metric.EvaluateModule):
    """CEAFm: the mentions that entities share under their best one-to-one mapping.

    Source: Luo (2005); details follow the reference scorer.

    Predictions and references are lists with one item per document: a list of entities, each a list of mentions
    `[start, end]`, where `end` is the last token, or `[start, end, head]`.  Counts are summed over documents.

    >>> import evaluate, closeread
    >>> coref_ceafm = evaluate.load("coref_ceafm")
    >>> key = [[[0, 0], [1, 1], [2, 2]], [[3, 3], [4, 4], [5, 5], [6, 6]]]
    >>> response = [[[0, 0], [1, 1]], [[2, 2], [3, 3]], [[5, 5], [6, 6], [7, 7], [8, 8]]]
    >>> scores = coref_ceafm.compute(predictions=[response], references=[key])
    >>> {name: round(score, 4) for name, score in scores.items()}
    {'ceafm/precision': 0.5, 'ceafm/recall': 0.5714, 'ceafm/f1': 0.5333}

    The example is from Moosavi and Strube (2016, section 3).
    """

    PROCEDURE = coref.PROCEDURE.with_metrics("ceafm")
    SCHEMA = "coref"
    PREDICTIONS = REFERENCES = "clusters"
