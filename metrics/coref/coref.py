"""All scores of coreference, as an evaluate module."""

from closeread.hf import metric
from closeread.tasks.coref import procedure as coref


class Coref(metric.EvaluateModule):
    """All scores of coreference in one pass: mentions, MUC, B³, CEAFm, CEAFe, BLANC, LEA and CoNLL F1.

    Sources: Vilain et al. (1995), Bagga and Baldwin (1998), Luo (2005), Luo et al. (2014), Moosavi and Strube (2016),
    Pradhan et al. (2012); details follow the reference scorer.

    Predictions and references are lists with one item per document: a list of entities, each a list of mentions
    `[start, end]`, where `end` is the last token, or `[start, end, head]`.  Counts are summed over documents.

    >>> import evaluate, closeread
    >>> coref = evaluate.load("coref")
    >>> key = [[[0, 0], [1, 1], [2, 2]], [[3, 3], [4, 4], [5, 5], [6, 6]]]
    >>> response = [[[0, 0], [1, 1]], [[2, 2], [3, 3]], [[5, 5], [6, 6], [7, 7], [8, 8]]]
    >>> scores = coref.compute(predictions=[response], references=[key])
    >>> for name in ("mentions/f1", "muc/f1", "b3/f1", "ceafm/f1", "lea/f1", "conll/f1"):
    ...     print(name, round(scores[name], 4))
    mentions/f1 0.8
    muc/f1 0.4
    b3/f1 0.4545
    ceafm/f1 0.5333
    lea/f1 0.2778
    conll/f1 0.4582

    The example is from Moosavi and Strube (2016, section 3).
    """

    PROCEDURE = coref.PROCEDURE
    SCHEMA = "coref"
    PREDICTIONS = REFERENCES = "clusters"
