"""BLANC for coreference, as an evaluate module."""

from closeread.hf import metric
from closeread.tasks.coref import procedure as coref


class CorefBlanc(metric.EvaluateModule):
    """BLANC: the average score of coreference links and non-coreference links.

    Source: Recasens and Hovy (2011), Luo et al. (2014); details follow the reference scorer.

    Predictions and references are lists with one item per document: a list of entities, each a list of mentions
    `[start, end]`, where `end` is the last token, or `[start, end, head]`.  Counts are summed over documents.

    >>> import evaluate, closeread
    >>> coref_blanc = evaluate.load("coref_blanc")
    >>> key = [[[0, 0], [1, 1], [2, 2]], [[3, 3], [4, 4], [5, 5], [6, 6]]]
    >>> response = [[[0, 0], [1, 1]], [[2, 2], [3, 3]], [[5, 5], [6, 6], [7, 7], [8, 8]]]
    >>> scores = coref_blanc.compute(predictions=[response], references=[key])
    >>> {name: round(score, 4) for name, score in scores.items()}
    {'blanc/precision': 0.325, 'blanc/recall': 0.4444, 'blanc/f1': 0.3676}

    The example is from Moosavi and Strube (2016, section 3).
    """

    PROCEDURE = coref.PROCEDURE.with_metrics("blanc")
    SCHEMA = "coref"
    PREDICTIONS = REFERENCES = "clusters"
