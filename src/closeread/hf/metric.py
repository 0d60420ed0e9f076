"""The evaluate module that every metric shares: validation, and a procedure.

A metric's own module (`metrics/<metric>/<metric>.py`) names the procedure, and the definitions of the schema that its
predictions and references follow.

Conventions: predictions and references are checked by the schema before anything is computed, with the row and the
field in the message.  Labels that a loaded dataset holds as integers are taken as their names.  Scores have the names
of a report and are Python floats, None where they are 0/0 and no convention says what that is.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

import datasets
import evaluate

from closeread.corpora.declaration import Corpus
from closeread.corpora.gold import load_corpus
from closeread.corpora.rules import load_rules
from closeread.corpora.schema import Node, RowValidator, Schema, label_names, load_schema, resolve
from closeread.counts.procedure import Procedure
from closeread.counts.report import Report, Resampling, make_report
from closeread.counts.sides import Inconsistency, System
from closeread.errors import Problem, RequestError, SubmissionError
from closeread.hf.features import feature
from closeread.hf.inputs import as_json, as_list, records
from closeread.records import ColumnRecords, Record
from closeread.scoring import Scorer, resolve_options


class EvaluateModule(evaluate.Metric):  # type: ignore[misc]
    """An evaluate module that computes the scores of a procedure.

    Attributes:
        PROCEDURE: what is computed.
        SCHEMA: the schema that the inputs follow.
        CORPUS: the corpus that it scores; None where it scores any of a kind.
        PREDICTIONS, REFERENCES: the definitions of the schema that a prediction and a reference follow.
    """

    PROCEDURE: ClassVar[Procedure]
    SCHEMA: ClassVar[str]
    CORPUS: ClassVar[str | None] = None
    PREDICTIONS: ClassVar[str] = "submission"
    REFERENCES: ClassVar[str] = "document"

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        # evaluate copies these methods for every instance, and loses what was said of their arguments.
        self.compute.__func__.__signature__ = _signature(self.PROCEDURE)  # type: ignore[attr-defined]

    def compute(
        self, *, predictions: Any = None, references: Any = None, **options: Any
    ) -> dict[str, float | None] | None:
        """Check the inputs and compute the scores.

        Without inputs, what was added before is scored.  None as a prediction is a missing one, which the option
        `missing`, where the procedure has it, makes an empty one or leaves out.

        """
        if (references is None and predictions is None) or len(self) or self.num_process != 1:
            try:
                scores: dict[str, float | None] | None = super().compute(
                    predictions=predictions, references=references, **options
                )
            except BaseException:
                self._let_go()
                raise
            return scores
        if references is None or predictions is None:
            raise SubmissionError(self.name, [Problem("needs predictions and references")])
        return self._compute(*self._checked(predictions, references, options), **options)

    def add(
        self,
        *,
        prediction: Any = None,
        reference: Any = None,
        predictions: Any = None,
        references: Any = None,
        **others: Any,
    ) -> None:
        """Check one prediction with its reference and keep them until `compute`.

        Args:
            prediction, reference: the two; `predictions` and `references` are other names for them.

        """
        # evaluate's own documentation and `combine` say `predictions` and `references` here.
        one = prediction if predictions is None else predictions
        its = reference if references is None else references
        system, gold = self._added([one], [its], others)
        super().add(prediction=system[0], reference=gold[0])

    def add_batch(self, *, predictions: Any = None, references: Any = None, **others: Any) -> None:
        """Check predictions with their references and keep them until `compute`.

        Args:
            predictions, references: as for `compute`, but for None as a prediction, which only `compute` takes.

        """
        system, gold = self._added(predictions, references, others)
        super().add_batch(predictions=system, references=gold)

    def _added(
        self, predictions: Any, references: Any, others: Mapping[str, Any]
    ) -> tuple[list[Any], list[dict[str, Any]]]:
        """Checked inputs as evaluate keeps them: references with the fields that every one has."""
        if others:
            raise RequestError(f"{self.name} takes predictions and references, not {', '.join(others)}")
        # What is kept is of one type: a missing prediction is none, whatever the option will say.
        strictly = {"missing": "error"} if any(o.name == "missing" for o in self.PROCEDURE.options) else {}
        system, gold = self._checked(predictions, references, strictly)
        return list(system), [self._kept(reference) for reference in gold]

    def report(
        self,
        *,
        predictions: Any,
        references: Any,
        by: str | Sequence[str] = (),
        resampling: Resampling | None = None,
        **options: str,
    ) -> Report:
        """The whole report: scores with intervals, counts, slices, signature.

        Args:
            predictions, references: as for `compute`.  The signature's digest covers what is given of the gold; where
                references are records, whole ones give the digest of the command line.
            by: a field to slice by, or several.
            resampling: how to draw intervals; None for the defaults.
            **options: the procedure's options.

        Raises:
            SubmissionError: the inputs break the schema; all problems at once.
            RequestError: no such option or field.
        """
        system, gold = self._checked(predictions, references, options)
        rows = self._rows(system)
        self._refuse_inconsistent(gold, rows, options)
        scorer = self._scorer(gold, options)
        fields = (by,) if isinstance(by, str) else tuple(by)
        missing = [str(row) for row, prediction in enumerate(system) if prediction is None]
        counted = scorer.count(System(rows, missing), scorer.breakdowns_for(fields))
        return make_report(counted, by=fields, resampling=resampling)

    def _info(self) -> evaluate.MetricInfo:
        schema = self._schema
        corpus = self._corpus
        return evaluate.MetricInfo(
            description=inspect.cleandoc(self.__doc__ or ""),
            citation=self.PROCEDURE.citation or (corpus.citation if corpus else ""),
            homepage=corpus.homepage if corpus else "",
            inputs_description=_inputs(self.PROCEDURE),
            features=datasets.Features(
                {
                    "predictions": _plain(feature(schema, self.PREDICTIONS)),
                    "references": self._kept(_plain(feature(schema, self.REFERENCES))),
                }
            ),
        )

    def _compute(self, predictions: Any, references: Any, **options: str) -> dict[str, float | None]:
        rows = self._rows(predictions)
        self._refuse_inconsistent(references, rows, options)
        return self._scorer(references, options).tabulate(rows).scores(self.PROCEDURE.metrics)

    def _scorer(self, references: Sequence[Any], options: Mapping[str, str]) -> Scorer:
        gold = self.PROCEDURE.sides.wrap_gold(references, self.CORPUS)
        return Scorer(self.PROCEDURE, self._settled(options), gold)

    def _rows(self, predictions: Sequence[Any]) -> Sequence[Record | None]:
        """Predictions as the rows that the procedure counts."""
        return predictions

    def _settled(self, options: Mapping[str, str]) -> dict[str, str]:
        return resolve_options(self.PROCEDURE, self.CORPUS, options)

    def _checked(
        self, predictions: Any, references: Any, options: Mapping[str, str]
    ) -> tuple[Sequence[Any], Sequence[Record]]:
        """The inputs as the procedure takes them.

        Raises:
            SubmissionError: their lengths differ, or a row breaks the schema; all problems of a side at once.
            RequestError: an option does not exist or can't have that value.
        """
        gold = self._judged_references(references)
        system = as_list("predictions", predictions)
        if self._settled(options).get("missing", "error") == "error":
            numbers: Sequence[int] = range(len(system))
            given = system
        else:
            numbers = [number for number, prediction in enumerate(system) if prediction is not None]
            given = [system[number] for number in numbers]
        named = label_names(self._prediction, given)
        given = list(_judged("predictions", self._validators[0], named, numbers))
        if len(system) != len(gold):
            found = f"are {len(system):,} for {len(gold):,} references; needed: one for each"
            raise SubmissionError("predictions", [Problem(found)])
        return _filled(len(system), numbers, given), gold

    def _judged_references(self, references: Any) -> Sequence[Any]:
        """References by the schema: as columns where they are records.

        Raises:
            SubmissionError: a row breaks the schema; all problems at once.
        """
        if "properties" not in self._reference:
            rows = as_list("references", references)
            return _judged("references", self._validators[1], rows, range(len(rows)))
        gold = records("references", references, self._schema, self._reference)
        return _judged("references", self._validators[1], gold, range(len(gold)))

    def _refuse_inconsistent(self, gold: Sequence[Any], system: Sequence[Any], options: Mapping[str, str]) -> None:
        """Refuse what no schema can say of valid inputs.

        Raises:
            SubmissionError: all of it at once, of one side.
        """
        found: list[Inconsistency] = []
        if self._corpus is not None:
            of_gold = load_rules(self._corpus.procedure).find_inconsistencies(gold)
            found += (Inconsistency("gold", row, what) for row, what in of_gold)
        of_both = self.PROCEDURE.sides.validate(gold, system, self._settled(options))
        found += (one for one in of_both if one.side == "system" or self._corpus is None)
        for side, name in (("gold", "references"), ("system", "predictions")):
            problems = [Problem(f"row {one.row}: {one.problem.message}") for one in found if one.side == side]
            if problems:
                self._let_go()
                raise SubmissionError(name, problems)

    @cached_property
    def _corpus(self) -> Corpus | None:
        return None if self.CORPUS is None else load_corpus(self.CORPUS)

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
        """Of predictions and of references."""
        return RowValidator(self._schema, self.PREDICTIONS), RowValidator(self._schema, self.REFERENCES)

    def _kept(self, reference: Any) -> Any:
        """What evaluate keeps of a reference, or of its features: the fields that every record has.

        Others are checked, and digested for a report, where they are given.
        """
        return _required(self._schema, self._reference, reference)

    def _let_go(self) -> None:
        """Give evaluate's locks back: one that is kept slows down every other module of the name by a second a call."""
        locks: list[Any] = [vars(self)["filelock"], *(vars(self)["filelocks"] or [])]
        for lock in locks:
            if lock is not None:
                lock.release()
        self.filelock = self.filelocks = self.cache_file_name = self.writer = self.buf_writer = self.data = None


def _required(schema: Schema, node: Node, value: Any) -> Any:
    """A value, or a feature, without the fields that a definition does not require, at any depth."""
    node = resolve(schema, node)
    if isinstance(value, list):
        return [_required(schema, node["items"], item) for item in value]
    if isinstance(value, dict):
        return {
            name: _required(schema, child, value[name])
            for name, child in node["properties"].items()
            if name in node["required"]
        }
    return value


def _judged(side: str, validator: RowValidator, rows: Sequence[Any], numbers: Sequence[int]) -> Sequence[Any]:
    """The rows, as JSON values where they were arrays or tuples, which only look wrong.

    Raises:
        SubmissionError: some break the schema.
    """
    if not validator.problems(rows, numbers):
        return rows
    try:
        if isinstance(rows, ColumnRecords):
            rows = ColumnRecords(as_json(rows.columns))
        else:
            rows = [as_json(row) for row in rows]
        problems = validator.problems(rows, numbers)
    except RecursionError:
        raise SubmissionError(side, [Problem("a row is nested too deeply")]) from None
    if problems:
        row_of = dict(zip(numbers, rows, strict=True))
        absent = "is None; needed: a prediction, unless missing is empty or skip"
        told = [
            (p.row, absent if side == "predictions" and row_of[p.row or 0] is None else p.message) for p in problems
        ]
        raise SubmissionError(side, [Problem(f"row {row}: {what}") for row, what in told])
    return rows


def _filled(length: int, numbers: Sequence[int], given: Sequence[Any]) -> Sequence[Any]:
    """The values at these positions, None at all others."""
    if len(given) == length:
        return given
    rows = [None] * length
    for number, value in zip(numbers, given, strict=True):
        rows[number] = value
    return rows


def _plain(labelled: Any) -> Any:
    """The feature with labels as text, which is how inputs are kept once they are checked."""
    if isinstance(labelled, datasets.ClassLabel):
        return datasets.Value("string")
    if isinstance(labelled, dict):
        return {name: _plain(child) for name, child in labelled.items()}
    if isinstance(labelled, list):
        return [_plain(child) for child in labelled]
    return labelled


def _inputs(procedure: Procedure) -> str:
    """What evaluate adds to the docstrings of `compute`, `add` and `add_batch`."""
    options = [
        f"    {o.name}: {o.help} {o.accepted[0].upper()}{o.accepted[1:]}; {o.default!r} by default."
        for o in procedure.options
    ]
    scores = [f"    {m.name}: {m.description}" for m in procedure.metrics]
    return "\n".join(["Args:", *options, "", "Returns:", *scores, ""])


def _signature(procedure: Procedure) -> inspect.Signature:
    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    parameters += [inspect.Parameter(name, keyword, default=None) for name in ("predictions", "references")]
    parameters += [inspect.Parameter(option.name, keyword, default=option.default) for option in procedure.options]
    return inspect.Signature(parameters)
