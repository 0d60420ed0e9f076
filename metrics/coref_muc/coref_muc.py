"""MUC for coreference, as an evaluate module."""

from closeread.hf import metric
from closeread.tasks.coref import procedure as coref


class CorefMuc(metric.EvaluateModule):
    """MUC: the share of the links within entities that are found.

    Source: Vilain et al. (1995); details follow the reference scorer.

    Predictions and references are lists with one item per document: a list of entities, each a list of mentions
    `[start, end]`, where `end` is the last token, or `[start, end, head]`.  Counts are summed over documents.

    >>> import evaluate, closeread
    >>> coref_muc = evaluate.load("coref_muc")
    >>> key = [[[0, 0], [1, 1], [2, 2]], [[3, 3], [4, 4], [5, 5], [6, 6]]]
    >>> response = [[[0, 0], [1, 1]], [[2, 2], [3, 3]], [[5, 5], [6, 6], [7, 7], [8, 8]]]
    >>> scores = coref_muc.compute(predictions=[response], references=[key])
    >>> {name: round(score, 4) for name, score in scores.items()}
    {'muc/precision': 0.4, 'muc/recall': 0.4, 'muc/f1': 0.4}

    The example is from Moosavi and Strube (2016, section 3).
    """

    PROCEDURE = coref.PROCEDURE.with_metrics("muc")
    SCHEMA = "coref"
    PREDICTIONS = REFERENCES = "clusters"
