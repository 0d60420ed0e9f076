"""Krippendorff's alpha of annotators of coreference, as an evaluate module.

It compares annotators with each other, so it takes no references, unlike the modules of scoring procedures.
"""

import inspect
from typing import Any, ClassVar

import datasets
import evaluate

from closeread.corpus.notices import warn
from closeread.corpus.objects import as_list, check_rows
from closeread.corpus.schema import RowValidator, load_schema
from closeread.hf.features import feature
from closeread.hf.module_state import reduce_module, release_locks
from closeread.hf.signatures import describe_inputs
from closeread.tasks.coref import agreement


class CorefAlpha(evaluate.Metric):  # type: ignore[misc]
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

    SCHEMA: ClassVar[str] = "coref"
    PREDICTIONS: ClassVar[str] = "annotations"
    OPTIONS = agreement.OPTIONS
    SCORES = agreement.SCORES
    CITATION = agreement.CITATION

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the arguments of the constructor, as `reduce_module`."""
        return reduce_module(self)

    def compute(
        self,
        *,
        predictions: Any = None,
        form: str = "standard",
        iaa2: str = "masi",
        intersection: str = "more_than_one",
        unannotated: str = "singleton",
        average: str = "macro",
    ) -> dict[str, float | None] | None:
        """Validate the annotations and compute alpha; without predictions, of what was added before.

        A score is None if no document has two annotators.

        """
        options = agreement.resolve(
            {
                "form": form,
                "iaa2": iaa2,
                "intersection": intersection,
                "unannotated": unannotated,
                "average": average,
            }
        )
        if predictions is None or len(self) or self.num_process != 1:
            try:
                scores: dict[str, float | None] | None = super().compute(predictions=predictions, **options)
            except BaseException:
                release_locks(self)
                raise
            return scores
        return self._compute(predictions, **options)

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=inspect.cleandoc(self.__doc__ or ""),
            citation=self.CITATION,
            inputs_description=describe_inputs(self.OPTIONS, self.SCORES),
            features=datasets.Features({"predictions": feature(load_schema(self.SCHEMA), self.PREDICTIONS)}),
        )

    def _compute(
        self, predictions: Any, form: str, iaa2: str, intersection: str, unannotated: str, average: str
    ) -> dict[str, float | None]:
        options = {
            "form": form,
            "iaa2": iaa2,
            "intersection": intersection,
            "unannotated": unannotated,
            "average": average,
        }
        rows = as_list("predictions", predictions)
        validator = RowValidator(load_schema(self.SCHEMA), self.PREDICTIONS)
        rows = list(check_rows("predictions", validator, rows, range(len(rows))))
        found = agreement.measure_clusters(rows, options)
        for notice in found.describe_left_out():
            warn(notice)
        return dict(found.alpha)
