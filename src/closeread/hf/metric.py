"""The evaluate module that every metric shares: validation, and a procedure.

A metric's own module (`metrics/<metric>/<metric>.py`) names the procedure, and the definitions of the schema that its
predictions and references follow.

Conventions: predictions and references are checked by the schema before anything is computed, with the row and the
field in the message.  Labels that a loaded dataset holds as integers are taken as their names.  Scores have the names
of a report and are Python floats, None where they are 0/0 and no convention says what that is.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import datasets
import evaluate

from closeread.corpora import load_corpus
from closeread.counts import Procedure
from closeread.errors import Problem, RequestError, SubmissionError
from closeread.hf.features import feature
from closeread.records import ColumnRecords, Record, content_digest
from closeread.report import Provenance, Report, Resampling, make_report
from closeread.schema import Node, RowValidator, Schema, label_names, load_schema, resolve


class EvaluateModule(evaluate.Metric):  # type: ignore[misc]
    """An evaluate module that computes the scores of a procedure.

    Attributes:
        PROCEDURE: what is computed.
        CORPUS: whose schema the inputs follow.
        PREDICTIONS, REFERENCES: the definitions of the schema that a prediction and a reference follow.
    """

    PROCEDURE: ClassVar[Procedure]
    CORPUS: ClassVar[str]
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

        Without inputs, what was added before is scored.

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
        return self._compute(*self._checked(predictions, references), **options)

    def add(
        self,
        *,
        prediction: Any = None,
        reference: Any = None,
        predictions: Any = None,
        references: Any = None,
        **others: Any,
    ) -> None:
        """Check one prediction with its reference and keep them until `compute`."""
        # evaluate's own documentation and `combine` say `predictions` and `references` here.
        one = prediction if predictions is None else predictions
        self.add_batch(predictions=[one], references=[reference if references is None else references], **others)

    def add_batch(self, *, predictions: Any = None, references: Any = None, **others: Any) -> None:
        """Check predictions with their references and keep them until `compute`."""
        if others:
            raise RequestError(f"{self.name} takes predictions and references, not {', '.join(others)}")
        system, gold = self._checked(predictions, references)
        names = self._required(load_schema(self.CORPUS))
        essential = [{name: record[name] for name in names} for record in gold]
        super().add_batch(predictions=list(system), references=essential)

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
            predictions, references: as for `compute`.
            by: a field to slice by, or several.
            resampling: how to draw intervals; None for the defaults.
            **options: the procedure's options.

        Raises:
            SubmissionError: the inputs break the schema; all problems at once.
            RequestError: no such option or field.
        """
        system, gold = self._checked(predictions, references)
        chosen = self._settled(options)
        provenance = Provenance(
            self.PROCEDURE.name,
            self.PROCEDURE.version,
            chosen,
            self.PROCEDURE.signature(chosen, content_digest(gold)),
            self.CORPUS,
            None,
            None,
            False,
            0,
        )
        table = self.PROCEDURE.count(gold=gold, system=self._rows(system), **chosen)
        fields = (by,) if isinstance(by, str) else tuple(by)
        return make_report(table, self.PROCEDURE, provenance, by=fields, resampling=resampling)

    def _info(self) -> evaluate.MetricInfo:
        schema = load_schema(self.CORPUS)
        corpus = load_corpus(self.CORPUS)
        return evaluate.MetricInfo(
            description=inspect.cleandoc(self.__doc__ or ""),
            citation=self.PROCEDURE.citation or corpus.citation,
            homepage=corpus.homepage,
            inputs_description=_inputs(self.PROCEDURE),
            features=datasets.Features(
                {
                    "predictions": _plain(feature(schema, self.PREDICTIONS)),
                    "references": {
                        name: _plain(feature(schema, self.REFERENCES)[name]) for name in self._required(schema)
                    },
                }
            ),
        )

    def _compute(self, predictions: Any, references: Any, **options: str) -> dict[str, float | None]:
        table = self.PROCEDURE.count(gold=references, system=self._rows(predictions), **self._settled(options))
        totals = table.values.sum(axis=0)
        scores = {metric.name: float(metric.score(totals, table.names)) for metric in self.PROCEDURE.metrics}
        return {name: None if math.isnan(score) else score for name, score in scores.items()}

    def _rows(self, predictions: Sequence[Any]) -> Sequence[Record]:
        """Predictions as the rows that the procedure counts."""
        return predictions

    def _settled(self, options: Mapping[str, str]) -> dict[str, str]:
        return self.PROCEDURE.settle({**load_corpus(self.CORPUS).procedure_defaults, **options})

    def _checked(self, predictions: Any, references: Any) -> tuple[Sequence[Any], Sequence[Record]]:
        """The inputs as the procedure takes them.

        Raises:
            SubmissionError: their lengths differ, or a row breaks the schema; all problems of a side at once.
        """
        schema = load_schema(self.CORPUS)
        gold = self._judged("references", schema, self.REFERENCES, references)
        system = self._judged("predictions", schema, self.PREDICTIONS, predictions)
        if len(system) != len(gold):
            found = f"are {len(system):,} for {len(gold):,} references; needed: one for each"
            raise SubmissionError("predictions", [Problem(found)])
        return system, gold

    def _judged(self, side: str, schema: Schema, definition: str, rows: Any) -> Sequence[Any]:
        node = resolve(schema, schema["$defs"][definition])
        validator = RowValidator(schema, definition)
        if "properties" in node:
            known: Sequence[Any] = _records(schema, node, rows)
        else:
            known = label_names(node, _listed(rows))
        problems = validator.problems(known, range(len(known)))
        if problems:
            raise SubmissionError(side, [Problem(f"row {p.line}: {p.what}") for p in problems])
        return known

    def _required(self, schema: Schema) -> list[str]:
        """The fields that every reference has; others are checked and digested where they are given."""
        node = resolve(schema, schema["$defs"][self.REFERENCES])
        return [name for name in node["properties"] if name in node["required"]]

    def _let_go(self) -> None:
        """Give evaluate's locks back: one that is kept slows down every other module of the name by a second a call."""
        locks: list[Any] = [vars(self)["filelock"], *(vars(self)["filelocks"] or [])]
        for lock in locks:
            if lock is not None:
                lock.release()
        self.filelock = self.filelocks = self.cache_file_name = self.writer = self.buf_writer = self.data = None


def _records(schema: Schema, node: Node, rows: Any) -> Sequence[Record]:
    """The rows with the fields that the definition knows: of a table its columns, of anything else its items.

    Fields that the schema does not know are no part of the gold, such as the columns that a tokenizer added.
    """
    fields = {name: resolve(schema, child) for name, child in node["properties"].items()}
    if hasattr(rows, "column_names"):
        present = [name for name in fields if name in rows.column_names]
        if isinstance(rows, datasets.Dataset):
            rows = _own_names(rows.with_format(None).select_columns(present))
        return ColumnRecords({name: label_names(fields[name], list(rows[name])) for name in present})
    rows = _listed(rows)
    if not rows or not all(isinstance(row, Mapping) and row.keys() >= set(node["required"]) for row in rows):
        return rows if rows else ColumnRecords({name: [] for name in node["required"]})
    present = [name for name in fields if all(name in row for row in rows)]
    return ColumnRecords({name: label_names(fields[name], [row[name] for row in rows]) for name in present})


def _own_names(rows: datasets.Dataset) -> dict[str, list[Any]]:
    """The columns of a dataset, labels by the names that it gives them, which may stand in another order than ours."""
    columns = {name: list(values) for name, values in rows[:].items()}
    for name, kind in rows.features.items():
        if isinstance(kind, datasets.ClassLabel):
            columns[name] = [kind.int2str(value) if isinstance(value, int) else value for value in columns[name]]
    return columns


def _listed(rows: Any) -> list[Any]:
    """Rows as a list, whatever holds them: a list, an array, a tensor, a column."""
    if hasattr(rows, "tolist"):
        return list(rows.tolist())
    return list(rows[:]) if isinstance(rows, Sequence) else list(rows)  # a slice reads a lazy column at once


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
        f"    {o.name}: {o.help} One of {', '.join(map(repr, o.choices))}; {o.default!r} by default."
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
