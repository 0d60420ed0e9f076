"""CoNLL F1 for coreference, as an evaluate module."""

from closeread.hf import metric
from closeread.tasks.coref import procedure as coref


class CorefConll(metric.EvaluateModule):
    """CoNLL F1: the mean of the F1 of MUC, B³ and CEAFe.

    Source: Pradhan et al. (2012); details follow the reference scorer.

    Predictions and references are lists with one item per document: a list of entities, each a list of mentions
    `[start, end]`, where `end` is the last token, or `[start, end, head]`.  Counts are summed over documents.

    >>> import evaluate, closeread
    >>> coref_conll = evaluate.load("coref_conll")
    >>> key = [[[0, 0], [1, 1], [2, 2]], [[3, 3], [4, 4], [5, 5], [6, 6]]]
    >>> response = [[[0, 0], [1, 1]], [[2, 2], [3, 3]], [[5, 5], [6, 6], [7, 7], [8, 8]]]
    >>> scores = coref_conll.compute(predictions=[response], references=[key])
    >>> {name: round(score, 4) for name, score in scores.items()}
    {'conll/f1': 0.4582}

    The example is from Moosavi and Strube (2016, section 3).
    """

    PROCEDURE = coref.PROCEDURE.with_metrics("conll")
    SCHEMA = "coref"
    PREDICTIONS = REFERENCES = "clusters"
