"""Krippendorff's alpha of annotators of coreference, as an evaluate module.

It compares annotators with each other, so it takes no references, unlike the modules of scoring procedures.
"""

from collections.abc import Mapping
from typing import Any

from closeread.corpus.notices import warn
from closeread.corpus.objects import as_list, check_rows
from closeread.corpus.schema import RowValidator, load_schema
from closeread.hf import metric
from closeread.hf.builder import feature
from closeread.tasks.annotation import agreement


class CorefAlpha(metric.Module):
    """Krippendorff's alpha of annotators of coreference, with chains as values of mentions.

    Sources: Krippendorff (1980), Passonneau (2004), Passonneau et al. (2006); used as in Schüller et al. (2018).

    Predictions are a list with one item per document: a list with the annotation of each annotator, which is a list of
    clusters, each a list of mentions `[start, end]`, where `end` is the last token.  There are no references.

    >>> import evaluate, closeread
    >>> coref_alpha = evaluate.load("coref_alpha")
    >>> anna = [[[0, 0], [1, 1], [2, 2]]]
    >>> ben = [[[0, 0], [1, 1]], [[2, 2]]]
    >>> scores = coref_alpha.compute(predictions=[[anna, ben]])
    >>> {name: round(score, 4) for name, score in scores.items()}
    {'nominal': -0.3636, 'iaa1': 0.0, 'iaa2': -0.2319}

    """

    SCHEMA = "coref"
    INPUTS = ("predictions",)
    OPTIONS = agreement.OPTIONS
    SCORES = agreement.SCORES
    CITATION = agreement.CITATION

    def compute(self, *, predictions: Any = None, **options: str) -> metric.ScoresByName | None:
        """Validate the annotations and compute alpha; without predictions, of what was added before.

        A score is None if no document has two annotators.

        """
        chosen = self._resolve_options(options)
        if predictions is None or self._has_stored():
            return self._compute_stored(predictions=predictions, **chosen)
        return self._compute(predictions, **chosen)

    def _resolve_options(self, options: Mapping[str, str]) -> dict[str, str]:
        return agreement.resolve({**self._defaults, **options})

    def _info(self) -> Any:
        features = {"predictions": feature(load_schema(self.SCHEMA), "annotations")}
        return self._describe(self.SCORES, features, citation=self.CITATION)

    def _compute(self, predictions: Any, **options: str) -> metric.ScoresByName:
        rows = as_list("predictions", predictions)
        validator = RowValidator(load_schema(self.SCHEMA), "annotations")
        rows = list(check_rows("predictions", validator, rows, range(len(rows))))
        found = agreement.measure_clusters(rows, options)
        for notice in found.describe_undefined():
            warn(notice)
        return dict(found.alpha)
