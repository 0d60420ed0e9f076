"""The base class of all evaluate modules: it validates inputs by a schema and scores them by a procedure.

Conventions: messages give the row and the field.  Labels that a dataset stores as integers are converted to their
names.  Scores have the same names as in reports and are Python floats; None if a score is 0/0 and no convention gives
it a value.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial, wraps
from inspect import Parameter, Signature
from types import MappingProxyType
from typing import Any, ClassVar

import datasets
import evaluate

from closeread.corpus.citing import join_entries, list_papers
from closeread.corpus.names import load_corpus
from closeread.corpus.notices import warn_all
from closeread.corpus.objects import as_list, check_rows, records
from closeread.corpus.schema import Node, RowValidator, Schema, load_schema, resolve
from closeread.corpus.validation import load_rules
from closeread.counts.counts import make_report
from closeread.counts.estimates import Resampling
from closeread.counts.procedure import GROUPS, Option, Procedure, System
from closeread.counts.report import Report
from closeread.exceptions import (
    Problem,
    RequestError,
    SubmissionError,
    describe_problems,
    pluralize,
    quote_json,
)
from closeread.formats.text import UNSAFE
from closeread.hf.builder import feature
from closeread.hf.modules import class_name, describe_module
from closeread.records import Record
from closeread.scoring import Scorer, resolve_options
from closeread.tasks import find_format

ABSENT = "is None (expected a prediction, or missing='empty' or missing='skip')"
STATE = (
    "config_name",
    "keep_in_memory",
    "num_process",
    "process_id",
    "seed",
    "experiment_id",
    "timeout",
    "max_concurrent_cache_files",
)
"""Arguments of a module's constructor that attributes of the same names keep."""

ScoresByName = dict[str, float | None]


class Module(evaluate.Metric):  # type: ignore[misc]
    """The base of all our modules: options in signatures and docstrings, pickling, and the release of locks.

    `INPUTS` names the inputs, `OPTIONS` are those of `compute`.  Options given to the constructor, as
    `evaluate.load(name, option=value)` does, are the defaults of `compute`.
    """

    INPUTS: ClassVar[tuple[str, ...]] = ("predictions", "references")
    OPTIONS: ClassVar[Sequence[Option]] = ()

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        function = cls._compute

        @wraps(function)
        # unknown options are reported with the names of the options
        def compute(*inputs: Any, **options: Any) -> Any:
            return function(*inputs, **options)

        inputs = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in cls.INPUTS]
        compute.__signature__ = cls._make_signature(inputs)  # type: ignore[attr-defined]
        cls._compute = compute

    def __init__(self, *arguments: Any, **options: Any) -> None:
        # evaluate's own constructor takes any argument, and drops those that it does not know.
        arguments_of_evaluate = inspect.signature(evaluate.Metric).parameters
        self._defaults = {}
        for name in options.keys() - arguments_of_evaluate.keys():
            self._defaults[name] = options.pop(name)
        super().__init__(*arguments, **options)
        self._resolve_options({})
        # evaluate copies this method for every instance, without its signature.
        inputs = [Parameter(name, Parameter.KEYWORD_ONLY, default=None) for name in self.INPUTS]
        self.compute.__func__.__signature__ = self._make_signature(inputs, self._defaults)

    @classmethod
    def _make_signature(
        cls, inputs: Sequence[Parameter], defaults: Mapping[str, Any] = MappingProxyType({})
    ) -> Signature:
        parameters = [Parameter("self", Parameter.POSITIONAL_OR_KEYWORD), *inputs]
        for option in cls.OPTIONS:
            default = defaults.get(option.name, option.default)
            parameters.append(Parameter(option.name, Parameter.KEYWORD_ONLY, default=default))
        return Signature(parameters)

    def _resolve_options(self, options: Mapping[str, str]) -> dict[str, str]:
        """Return every option with its value: given to `compute`, to the constructor, or the default."""
        raise NotImplementedError

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the arguments of the constructor, unless predictions are stored."""
        if self.writer is not None:
            raise TypeError(
                f"{self.name} has stored predictions and references, which can't be pickled;"
                " call compute before pickling it"
            )
        state = {name: getattr(self, name) for name in STATE}
        make: Callable[..., Any] = type(self)
        state |= self._defaults
        return partial(make, cache_dir=self._data_dir_root, hash=self._hash, **state), ()

    def _has_stored(self) -> bool:
        return bool(len(self)) or self.num_process != 1

    def _compute_stored(self, **arguments: Any) -> ScoresByName | None:
        """Like `evaluate.Metric.compute`, but release its locks if that fails."""
        try:
            scores: ScoresByName | None = super().compute(**arguments)
        except BaseException:
            self._release_locks()
            raise
        return scores

    def _release_locks(self) -> None:
        """Release evaluate's locks, which would delay every call of other modules of the same name by a second."""
        attributes = vars(self)
        locks = [attributes["filelock"]]
        locks += attributes["filelocks"] or []
        for lock in locks:
            if lock is not None:
                lock.release()
        self.filelock = self.filelocks = self.cache_file_name = None
        self.writer = self.buf_writer = self.data = None

    def _describe(
        self, scores: Mapping[str, str], features: Mapping[str, Any], **more: str
    ) -> evaluate.MetricInfo:
        """Return the description that evaluate shows; options and scores go into the docstrings of the methods."""
        lines = ["\n\nArgs:"]
        for option in self.OPTIONS:
            accepted = option.accepted[0].upper() + option.accepted[1:]
            lines.append(
                f"    {option.name}: {option.help} {accepted}; {option.default!r} by default."
            )
        lines += ["", "Returns:"]
        lines += [f"    {name}: {description}" for name, description in scores.items()]
        lines.append("")
        return evaluate.MetricInfo(
            description=inspect.cleandoc(self.__doc__ or ""),
            inputs_description="\n".join(lines),
            features=datasets.Features(features),
            **more,
        )


class EvaluateModule(Module):
    """An evaluate module that computes the scores of a procedure.

    Attributes:
        PROCEDURE: the procedure.
        SCHEMA, PREDICTIONS, REFERENCES: a schema, and its definitions that a prediction and a reference follow.
        CORPUS: the corpus that it scores; None if it scores any corpus of a kind.
    """

    PROCEDURE: ClassVar[Procedure]
    SCHEMA: ClassVar[str]
    CORPUS: ClassVar[str | None] = None
    PREDICTIONS: ClassVar[str] = "submission"
    REFERENCES: ClassVar[str] = "document"

    def __init_subclass__(cls, **arguments: Any) -> None:
        # a module reads no files
        cls.OPTIONS = [option for option in cls.PROCEDURE.options if not option.reading]
        super().__init_subclass__(**arguments)

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._corpus = None
        self._unsafe = UNSAFE
        if self.CORPUS is not None:
            self._corpus = load_corpus(self.CORPUS)
            gold_format = find_format(self._corpus.task, self._corpus.format)
            if gold_format is not None:
                self._unsafe = gold_format.unsafe
        self._schema = load_schema(self.SCHEMA)
        definitions = self._schema["$defs"]
        self._prediction = resolve(self._schema, definitions[self.PREDICTIONS])
        self._reference = resolve(self._schema, definitions[self.REFERENCES])
        self._prediction_validator = RowValidator(self._schema, self.PREDICTIONS)
        self._reference_validator = RowValidator(self._schema, self.REFERENCES)
        super().__init__(*arguments, **options)

    def compute(
        self, *, predictions: Any = None, references: Any = None, **options: Any
    ) -> ScoresByName | None:
        """Validate the inputs and compute the scores; warn of oddities (`closeread.CloseReadWarning`).

        Without inputs, score the inputs added before.  A prediction may be None if the option `missing` is "empty" or
        "skip".

        """
        if (references is None and predictions is None) or self._has_stored():
            return self._compute_stored(predictions=predictions, references=references, **options)
        if references is None or predictions is None:
            raise SubmissionError(
                self.name, [Problem("predictions and references are both required")]
            )
        # such as lists of clusters, which some procedures read at once
        if "properties" not in self._reference:
            references = as_list("references", references)
            predictions = as_list("predictions", predictions)
            if len(predictions) == len(references):
                pack = self.PROCEDURE.reader.pack
                gold = pack(self.REFERENCES, references)
                system = None if gold is None else pack(self.PREDICTIONS, predictions)
                if system is not None:
                    return self._compute(system, gold, **options)
        system, gold = self._check_inputs(predictions, references, options)
        return self._compute(system, gold, **options)

    def add(
        self,
        *,
        prediction: Any = None,
        reference: Any = None,
        predictions: Any = None,
        references: Any = None,
        **unknown: Any,
    ) -> None:
        """Validate a prediction and its reference, and store them until `compute`."""
        # evaluate's own documentation and `combine` use `predictions` and `references` here.
        if predictions is not None:
            prediction = predictions
        if references is not None:
            reference = references
        system, gold = self._check_batch([prediction], [reference], unknown)
        super().add(prediction=system[0], reference=gold[0])

    def add_batch(self, *, predictions: Any = None, references: Any = None, **unknown: Any) -> None:
        """Validate predictions, none of which may be None, and their references, and store them until `compute`."""
        system, gold = self._check_batch(predictions, references, unknown)
        super().add_batch(predictions=system, references=gold)

    def _check_batch(
        self, predictions: Any, references: Any, unknown: Mapping[str, Any]
    ) -> tuple[list[Any], list[dict[str, Any]]]:
        """Validate inputs and return them as evaluate stores them: references with only the required fields."""
        if unknown:
            raise RequestError(
                f"unexpected arguments of {self.name}: {', '.join(unknown)}"
                " (expected predictions and references)"
            )
        # All stored predictions have the same type, so None is refused whatever the option will be.
        options = {}
        names = [option.name for option in self.PROCEDURE.options]
        if "missing" in names:
            options["missing"] = "error"
        system, gold = self._check_inputs(predictions, references, options)
        stored = [_drop_optional(self._schema, self._reference, reference) for reference in gold]
        return list(system), stored

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
        """
        system, gold = self._check_inputs(predictions, references, options)
        rows, scorer = self._open_scorer(system, gold, options)
        fields = (by,) if isinstance(by, str) else tuple(by)
        missing = [str(row) for row, prediction in enumerate(system) if prediction is None]
        counts = scorer.count(System(rows, missing), fields)
        notices = self._find_oddities(gold, rows)
        notices += counts.notices
        warn_all(notices)
        return make_report(counts, by=fields, resampling=resampling)

    def _info(self) -> evaluate.MetricInfo:
        scores = {metric.name: metric.description for metric in self.PROCEDURE.metrics}
        reference = feature(self._schema, self.REFERENCES)
        features = {
            "predictions": feature(self._schema, self.PREDICTIONS),
            "references": _drop_optional(self._schema, self._reference, reference),
        }
        papers = list_papers(self.PROCEDURE, self.PROCEDURE.families, self.CORPUS)
        citation = join_entries(papers)
        homepage = self._corpus.homepage if self._corpus else ""
        return self._describe(scores, features, citation=citation, homepage=homepage)

    def _compute(self, predictions: Any, references: Any, **options: str) -> ScoresByName:
        rows, scorer = self._open_scorer(predictions, references, options)
        table = scorer.tabulate(rows)
        notices = self._find_oddities(references, rows)
        notices += scorer.remarks(System(rows), table)
        warn_all(notices)
        return table.scores(self.PROCEDURE.metrics)

    def _open_scorer(
        self, system: Sequence[Any], gold: Sequence[Any], options: Mapping[str, str]
    ) -> tuple[Sequence[Record | None], Scorer]:
        """Return the rows that the procedure counts, consistent with the gold, and their scorer."""
        rows = self._to_rows(system)
        resolved = self._resolve_options(options)
        self._check_consistency(gold, rows, resolved)
        wrapped = self.PROCEDURE.reader.wrap_gold(gold, self.CORPUS)
        return rows, Scorer(self.PROCEDURE, resolved, wrapped)

    def _to_rows(self, predictions: Sequence[Any]) -> Sequence[Record | None]:
        """Convert predictions to the rows that the procedure counts."""
        return predictions

    def _resolve_options(self, options: Mapping[str, str]) -> dict[str, str]:
        options = {**self._defaults, **options}
        for option in self.PROCEDURE.options:
            if option.reading and option.name in options:
                raise RequestError(
                    f"option {option.name} is one of files or groups, which {self.name} does not read"
                )
        resolved = resolve_options(self.PROCEDURE, self._corpus, options)
        if options.get("average") == GROUPS:
            raise RequestError(f"{self.name} has no groups to average over; use closeread.score")
        # A preset that averages over groups, if there are several.
        if resolved.get("average") == GROUPS:
            resolved["average"] = "micro"
        return resolved

    def _check_inputs(
        self, predictions: Any, references: Any, options: Mapping[str, str]
    ) -> tuple[Sequence[Any], Sequence[Record]]:
        """Validate the inputs and return them as the procedure takes them: records as columns."""
        gold: Sequence[Any]
        if "properties" in self._reference:
            gold = records("references", references, self._reference)
        else:
            gold = as_list("references", references)
        self._check_kind("references", gold, self._reference)
        gold = check_rows(
            "references", self._reference_validator, gold, range(len(gold)), unsafe=self._unsafe
        )
        system = as_list("predictions", predictions)
        self._check_kind("predictions", system, self._prediction)
        may_miss = self._resolve_options(options).get("missing", "error") != "error"
        numbers: Sequence[int] = range(len(system))
        if may_miss:
            numbers = [number for number in numbers if system[number] is not None]
        rows = check_rows(
            "predictions",
            self._prediction_validator,
            [system[number] for number in numbers],
            numbers,
            ABSENT,
        )
        if len(system) != len(gold):
            n_predictions = pluralize(len(system), "prediction")
            n_references = pluralize(len(gold), "reference")
            message = f"{n_predictions} for {n_references} (expected one prediction per reference)"
            raise SubmissionError("predictions", [Problem(message)])
        rows_by_number = dict(zip(numbers, rows, strict=True))
        return [rows_by_number.get(number) for number in range(len(system))], gold

    def _check_kind(self, side: str, rows: Sequence[Any], node: Node) -> None:
        """Raise an error with one sentence on the expected input if no row is of the kind that a module takes."""
        first = rows[0] if len(rows) else None
        has_records = any(isinstance(row, Mapping) for row in rows)
        is_logits = isinstance(first, list) and set(map(type, first)) == {float}
        if "properties" in node and first is not None and not has_records:
            kind = f"values such as {quote_json(first, 60)}"
            if side != "references":
                expected = f"rows with {', '.join(map(repr, node['required']))}"
            elif self.CORPUS is None:
                expected = "the rows of the dataset"
            else:
                expected = f"the rows of closeread.load_dataset('{self.CORPUS}')"
        elif node["type"] == "array" and isinstance(first, Mapping):
            kind = "rows of a dataset"
            expected = f"the clusters of each document: {side}=dataset['clusters']"
        elif "enum" in node and is_logits:
            kind = "lists of numbers, such as logits"
            expected = "one label per row: predictions.argmax(axis=-1)"
        else:
            return
        raise SubmissionError(side, [Problem(f"found {kind} (expected {expected})")])

    def _check_consistency(
        self, gold: Sequence[Any], system: Sequence[Any], options: Mapping[str, str]
    ) -> None:
        """Check rules that a schema can't express, and raise all problems of a side at once."""
        problems: dict[str, list[Problem]] = {"gold": [], "system": []}
        for inconsistency in self.PROCEDURE.reader.validate(gold, system, options):
            problems[inconsistency.side].append(inconsistency.problem)
        if self._corpus is not None:
            rules = load_rules(self._corpus.task)
            problems["gold"] = [
                Problem(message, row=row) for row, message in rules.find_inconsistencies(gold)
            ]
        for side, name in (("gold", "references"), ("system", "predictions")):
            if problems[side]:
                self._release_locks()
                raise SubmissionError(name, [problem.in_row() for problem in problems[side]])

    def _find_oddities(self, gold: Sequence[Any], system: Sequence[Any]) -> list[str]:
        """Describe the oddities of valid inputs, as `closeread.score` does; one text for all references."""
        if self._corpus is None:
            return []
        rules = load_rules(self._corpus.task)
        oddities = []
        notices = [*rules.find_repairs(gold), *rules.find_oddities(gold)]
        if notices:
            oddities.append("\n".join(notices))
        numbers = [number for number, row in enumerate(system) if row is not None]
        problems = []
        for i, message in rules.find_odd_rows([system[number] for number in numbers], gold):
            problems.append(Problem(message, record=f"row {numbers[i]}"))
        oddities += describe_problems("predictions", problems)
        return oddities


def _drop_optional(schema: Schema, node: Node, value: Any) -> Any:
    """Return a value, or its features, without optional fields, at any depth; evaluate stores the others."""
    node = resolve(schema, node)
    if isinstance(value, list):
        return [_drop_optional(schema, node["items"], item) for item in value]
    if isinstance(value, dict):
        return {
            name: _drop_optional(schema, child, value[name])
            for name, child in node["properties"].items()
            if name in node["required"]
        }
    return value


def make_module(module: str) -> type[EvaluateModule]:
    """Make the class of a module of coreference, from the name of its Python module, such as `….coref_lea`."""
    from closeread.tasks.coref.procedure import PROCEDURE

    name = module.rpartition(".")[2]
    procedure = PROCEDURE
    if name != "coref":
        procedure = PROCEDURE.with_metrics(name.removeprefix("coref_"))
    attributes = {
        "__module__": module,
        "__doc__": describe_module(name),
        "PROCEDURE": procedure,
        "SCHEMA": "coref",
        "PREDICTIONS": "clusters",
        "REFERENCES": "clusters",
    }
    return type(class_name(name), (EvaluateModule,), attributes)
