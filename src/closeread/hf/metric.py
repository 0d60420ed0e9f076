"""The base class of all evaluate modules: it validates inputs and scores them by a procedure.

The module of a metric (`metrics/<metric>/<metric>.py`) defines the procedure, and the definitions of the schema that
its predictions and references follow.

Conventions: predictions and references are validated by the schema before anything is computed; messages give the row
and the field.  Labels that a dataset stores as integers are converted to their names.  Scores have the same names as in
reports and are Python floats; None if a score is 0/0 and no convention gives it a value.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

import datasets
import evaluate

from closeread.corpus.citing import join_entries, list_papers
from closeread.corpus.declaration import Corpus
from closeread.corpus.names import load_corpus
from closeread.corpus.notices import warn_all
from closeread.corpus.objects import as_list, check_rows, records
from closeread.corpus.rules import load_rules
from closeread.corpus.schema import Node, RowValidator, Schema, label_names, load_schema, resolve
from closeread.counts.estimates import Resampling
from closeread.counts.procedure import Procedure
from closeread.counts.report import Report, make_report
from closeread.counts.sides import Inconsistency, System
from closeread.exceptions import Problem, RequestError, SubmissionError, describe_problems, pluralize
from closeread.formats.text import UNSAFE
from closeread.hf.features import feature
from closeread.hf.module_state import reduce_module, release_locks
from closeread.hf.signatures import describe_inputs, signature_of_compute, with_options
from closeread.records import Record
from closeread.scoring import Scorer, resolve_options
from closeread.tasks import find_format

ABSENT = "is None (expected a prediction, or missing='empty' or missing='skip')"
"""What is wrong with a missing prediction."""


class EvaluateModule(evaluate.Metric):  # type: ignore[misc]
    """An evaluate module that computes the scores of a procedure.

    Attributes:
        PROCEDURE: the procedure.
        SCHEMA: the schema that the inputs follow.
        CORPUS: the corpus that it scores; None if it scores any corpus of a kind.
        PREDICTIONS, REFERENCES: the definitions of the schema that a prediction and a reference follow.
    """

    PROCEDURE: ClassVar[Procedure]
    SCHEMA: ClassVar[str]
    CORPUS: ClassVar[str | None] = None
    PREDICTIONS: ClassVar[str] = "submission"
    REFERENCES: ClassVar[str] = "document"

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        cls._compute = with_options(cls._compute, cls.PROCEDURE)  # type: ignore[method-assign]

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        # evaluate copies this method for every instance, without its signature.
        self.compute.__func__.__signature__ = signature_of_compute(self.PROCEDURE)  # type: ignore[attr-defined]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the arguments of the constructor, as `reduce_module`."""
        return reduce_module(self)

    def compute(
        self, *, predictions: Any = None, references: Any = None, **options: Any
    ) -> dict[str, float | None] | None:
        """Validate the inputs and compute the scores; warn of what is unusual (`closeread.CloseReadWarning`).

        Without inputs, score what was added before.  A prediction may be None if the option `missing` is "empty" or
        "skip".

        """
        if (references is None and predictions is None) or len(self) or self.num_process != 1:
            try:
                scores: dict[str, float | None] | None = super().compute(
                    predictions=predictions, references=references, **options
                )
            except BaseException:
                release_locks(self)
                raise
            return scores
        if references is None or predictions is None:
            raise SubmissionError(self.name, [Problem("predictions and references are both required")])
        if "properties" not in self._reference:
            references, predictions = as_list("references", references), as_list("predictions", predictions)
            if (packed := self._pack(predictions, references)) is not None:
                return self._compute(*packed, **options)
        return self._compute(*self._check_inputs(predictions, references, options), **options)

    def add(
        self,
        *,
        prediction: Any = None,
        reference: Any = None,
        predictions: Any = None,
        references: Any = None,
        **others: Any,
    ) -> None:
        """Validate a prediction and its reference, and store them until `compute`.

        Args:
            prediction, reference: the two; `predictions` and `references` are aliases.

        """
        # evaluate's own documentation and `combine` use `predictions` and `references` here.
        one = prediction if predictions is None else predictions
        its = reference if references is None else references
        system, gold = self._check_batch([one], [its], others)
        super().add(prediction=system[0], reference=gold[0])

    def add_batch(self, *, predictions: Any = None, references: Any = None, **others: Any) -> None:
        """Validate predictions and their references, and store them until `compute`.

        Args:
            predictions, references: as for `compute`, but no prediction may be None.

        """
        system, gold = self._check_batch(predictions, references, others)
        super().add_batch(predictions=system, references=gold)

    def _check_batch(
        self, predictions: Any, references: Any, others: Mapping[str, Any]
    ) -> tuple[list[Any], list[dict[str, Any]]]:
        """Validate inputs and return them as evaluate stores them: references with only the required fields."""
        if others:
            raise RequestError(
                f"unexpected arguments of {self.name}: {', '.join(others)} (expected predictions and references)"
            )
        # All stored predictions have the same type, so None is refused whatever the option will be.
        strictly = {"missing": "error"} if any(o.name == "missing" for o in self.PROCEDURE.options) else {}
        system, gold = self._check_inputs(predictions, references, strictly)
        return list(system), [self._drop_optional(reference) for reference in gold]

    def report(
        self,
        *,
        predictions: Any,
        references: Any,
        by: str | Sequence[str] = (),
        resampling: Resampling | None = None,
        **options: str,
    ) -> Report:
        """Return a full report: scores with intervals, counts, slices and signature.

        Args:
            predictions, references: as for `compute`.  The digest in the signature covers the references as given, so
                it equals that of the command line only if they are complete records.
            by: a field to slice by, or several.
            resampling: parameters of the bootstrap; None for the defaults.
            **options: the procedure's options.

        Raises:
            SubmissionError: the inputs are invalid; all problems at once.
            RequestError: there is no such option or field.
        """
        system, gold = self._check_inputs(predictions, references, options)
        rows = self._to_rows(system)
        self._check_consistency(gold, rows, options)
        scorer = self._make_scorer(gold, options)
        fields = (by,) if isinstance(by, str) else tuple(by)
        missing = [str(row) for row, prediction in enumerate(system) if prediction is None]
        counted = scorer.count(System(rows, missing), scorer.breakdowns_for(fields))
        warn_all([*self._find_oddities(gold, rows), *counted.notices])
        return make_report(counted, by=fields, resampling=resampling)

    def _info(self) -> evaluate.MetricInfo:
        schema = self._schema
        corpus = self._corpus
        return evaluate.MetricInfo(
            description=inspect.cleandoc(self.__doc__ or ""),
            citation=join_entries(list_papers(self.PROCEDURE, self.PROCEDURE.families, self.CORPUS)),
            homepage=corpus.homepage if corpus else "",
            inputs_description=describe_inputs(self.PROCEDURE.options, self._scores),
            features=datasets.Features(
                {
                    "predictions": feature(schema, self.PREDICTIONS),
                    "references": self._drop_optional(feature(schema, self.REFERENCES)),
                }
            ),
        )

    def _compute(self, predictions: Any, references: Any, **options: str) -> dict[str, float | None]:
        rows = self._to_rows(predictions)
        self._check_consistency(references, rows, options)
        scorer = self._make_scorer(references, options)
        table = scorer.tabulate(rows)
        warn_all([*self._find_oddities(references, rows), *scorer.remarks(System(rows), table)])
        return table.scores(self.PROCEDURE.metrics)

    def _make_scorer(self, references: Sequence[Any], options: Mapping[str, str]) -> Scorer:
        gold = self.PROCEDURE.sides.wrap_gold(references, self.CORPUS)
        return Scorer(self.PROCEDURE, self._resolve_options(options), gold)

    def _to_rows(self, predictions: Sequence[Any]) -> Sequence[Record | None]:
        """Convert predictions to the rows that the procedure counts."""
        return predictions

    def _resolve_options(self, options: Mapping[str, str]) -> dict[str, str]:
        for option in self.PROCEDURE.options:
            if option.reading and option.name in options:
                raise RequestError(f"option {option.name} is one of files, which {self.name} does not read")
        return resolve_options(self.PROCEDURE, self.CORPUS, options)

    def _pack(
        self, predictions: Sequence[Any], references: Sequence[Any]
    ) -> tuple[Sequence[Any], Sequence[Any]] | None:
        """Return inputs as the procedure takes them fastest; None if it has no such way, or they may be invalid."""
        pack = self.PROCEDURE.sides.pack
        if len(predictions) != len(references) or (gold := pack(self.REFERENCES, references)) is None:
            return None
        system = pack(self.PREDICTIONS, predictions)
        return None if system is None else (system, gold)

    def _check_inputs(
        self, predictions: Any, references: Any, options: Mapping[str, str]
    ) -> tuple[Sequence[Any], Sequence[Record]]:
        """Validate the inputs and return them as the procedure takes them.

        Raises:
            SubmissionError: their lengths differ, or a row breaks the schema; all problems of a side at once.
            RequestError: an option does not exist, or does not accept its value.
        """
        gold = self._check_references(references)
        system = as_list("predictions", predictions)
        if self._resolve_options(options).get("missing", "error") == "error":
            numbers: Sequence[int] = range(len(system))
            given = system
        else:
            numbers = [number for number, prediction in enumerate(system) if prediction is not None]
            given = [system[number] for number in numbers]
        labels = label_names(self._prediction, given)
        given = list(check_rows("predictions", self._validators[0], labels, numbers, ABSENT))
        if len(system) != len(gold):
            found = f"{pluralize(len(system), 'prediction')} for {pluralize(len(gold), 'reference')}"
            raise SubmissionError("predictions", [Problem(f"{found} (expected one prediction per reference)")])
        return _fill_missing(len(system), numbers, given), gold

    def _check_references(self, references: Any) -> Sequence[Any]:
        """Validate references by the schema and return them, as columns if they are records.

        Raises:
            SubmissionError: a row breaks the schema; all problems at once.
        """
        if "properties" not in self._reference:
            rows = as_list("references", references)
            return check_rows("references", self._validators[1], rows, range(len(rows)), unsafe=self._unsafe)
        gold = records("references", references, self._schema, self._reference)
        return check_rows("references", self._validators[1], gold, range(len(gold)), unsafe=self._unsafe)

    def _check_consistency(self, gold: Sequence[Any], system: Sequence[Any], options: Mapping[str, str]) -> None:
        """Check what a schema can't express.

        Raises:
            SubmissionError: the inputs are inconsistent; all problems of a side at once.
        """
        found: list[Inconsistency] = []
        if self._corpus is not None:
            of_gold = load_rules(self._corpus.task).find_inconsistencies(gold)
            found += (Inconsistency("gold", row, what) for row, what in of_gold)
        of_both = self.PROCEDURE.sides.validate(gold, system, self._resolve_options(options))
        found += (one for one in of_both if one.side == "system" or self._corpus is None)
        for side, name in (("gold", "references"), ("system", "predictions")):
            problems = [Problem(f"row {one.row}: {one.problem.message}") for one in found if one.side == side]
            if problems:
                release_locks(self)
                raise SubmissionError(name, problems)

    def _find_oddities(self, gold: Sequence[Any], system: Sequence[Any]) -> list[str]:
        """Describe what is unusual about valid inputs, as `closeread.score` does; one text for all references."""
        if self._corpus is None:
            return []
        rules = load_rules(self._corpus.task)
        given = [row for row, prediction in enumerate(system) if prediction is not None]
        odd = [
            Problem(what, record=f"row {given[place]}")
            for place, what in rules.find_odd_rows([system[row] for row in given], gold)
        ]
        return [*filter(None, ["\n".join(rules.find_oddities(gold))]), *describe_problems("predictions", odd)]

    @property
    def _scores(self) -> dict[str, str]:
        """The descriptions of the scores by name."""
        return {metric.name: metric.description for metric in self.PROCEDURE.metrics}

    @cached_property
    def _corpus(self) -> Corpus | None:
        return None if self.CORPUS is None else load_corpus(self.CORPUS)

    @cached_property
    def _unsafe(self) -> re.Pattern[str]:
        """Characters that no string of a reference may contain."""
        return UNSAFE if self._corpus is None else find_format(self._corpus.task, self._corpus.format).unsafe

    @cached_property
    def _schema(self) -> Schema:
        return load_schema(self.SCHEMA)

    @cached_property
    def _prediction(self) -> Node:
        return resolve(self._schema, self._schema["$defs"][self.PREDICTIONS])

    @cached_property
    def _reference(self) -> Node:
        return resolve(self._schema, self._schema["$defs"][self.REFERENCES])

    @cached_property
    def _validators(self) -> tuple[RowValidator, RowValidator]:
        """The validators of predictions and of references."""
        return RowValidator(self._schema, self.PREDICTIONS), RowValidator(self._schema, self.REFERENCES)

    def _drop_optional(self, reference: Any) -> Any:
        """Return a reference, or its features, with only the required fields, which evaluate stores."""
        return _drop_optional_fields(self._schema, self._reference, reference)


def _drop_optional_fields(schema: Schema, node: Node, value: Any) -> Any:
    """Return a value, or a feature, without its optional fields, at any depth."""
    node = resolve(schema, node)
    if isinstance(value, list):
        return [_drop_optional_fields(schema, node["items"], item) for item in value]
    if isinstance(value, dict):
        return {
            name: _drop_optional_fields(schema, child, value[name])
            for name, child in node["properties"].items()
            if name in node["required"]
        }
    return value


def _fill_missing(length: int, numbers: Sequence[int], given: Sequence[Any]) -> Sequence[Any]:
    """Return a list with the given values at these positions, and None at all others."""
    if len(given) == length:
        return given
    rows = [None] * length
    for number, value in zip(numbers, given, strict=True):
        rows[number] = value
    return rows
