"""Score predictions, or only validate them: from files or objects to a report, and what commands print of it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

from closeread import parameters as arg
from closeread.corpus.notices import name_systems, warn_all
from closeread.counts.counts import UnitRows, make_report
from closeread.counts.estimates import Resampling
from closeread.counts.procedure import Procedure
from closeread.counts.report import PART_NAMES, Report, report_grids, units_grid
from closeread.counts.results import JsonResult, Result
from closeread.counts.systems import make_names
from closeread.exceptions import InputError, RequestError, describe_unknown, escape, pluralize
from closeread.files import text_suffix
from closeread.formats.json_lines import SUFFIXES
from closeread.operations.logs import average_counts, read_only_log, take_gold
from closeread.parameters import GoldPlace, Operations, Param
from closeread.public_names import AnyCorpus
from closeread.records import FileOrRows
from closeread.scoring import Scorer, choose_resampling, find_gold, open_scorer
from closeread.tables import Grid, Style
from closeread.tasks import load_procedure, procedure_names

if TYPE_CHECKING:
    from closeread.llm.logs import Log

SHOWN = 1000
"""The number of rows in the table of an explanation; drawing tens of thousands takes longer than computing them."""


def score(
    name: AnyCorpus,
    predictions: arg.Predictions,
    *,
    gold: arg.Gold = None,
    config: arg.Config = None,
    split: arg.Split = None,
    data_dir: arg.Folder = None,
    metrics: arg.Metrics = None,
    preset: arg.Preset = None,
    by: arg.Fields = (),
    ci: bool = True,
    resamples: arg.Resamples = None,
    confidence: arg.Confidence = 0.95,
    seed: arg.Seed = 0,
    interval: arg.Interval = "percentile",
    resampling: Annotated[Resampling | None, arg.OnlyPython] = None,
    counts: Annotated[
        str | Path | None,
        Param(kind="write", metavar="FILE", help="Also write the counts to this Parquet file."),
    ] = None,
    explain: Annotated[bool, Param(kind="of_procedure")] = False,
    secondary: Annotated[bool, Param(kind="of_procedure")] = False,
    **options: arg.ProcedureOptions,
) -> Report:
    """Score predictions.

    Args:
        name: the name of a corpus, such as "mctaco", or of a procedure, such as "coref".
        predictions: a file, a folder, a log of inspect-ai, or objects: a list of rows, a data frame (pandas,
            polars, Arrow), a `datasets.Dataset`, or a mapping or series of pandas from ids to rows, or to labels,
            links, clusters …; or a list of these values, one for each gold record, in their order.
        gold: your own gold, in the same forms; for "coref" and "tlinks", the key.
        config, split: the part of the corpus; None for the default.
        data_dir: a folder with the corpus's files.
        metrics: families of metrics, such as ("muc", "conll"); None for those of the preset, or the default.
        preset: the name of an official score whose options and metrics to use, such as "corefud"; options that are
            given override it.
        by: a field to slice by, such as "category", or several.
        ci: whether to compute confidence intervals.
        resamples, confidence, seed: parameters of the bootstrap; None for 1,000 resamples.
        interval: "percentile", or "bca" for bias-corrected and accelerated intervals.
        resampling: the same in one; None for these.
        counts: also write the counts to this Parquet file, with all fields that they can be sliced by later.
        explain: whether to explain everything that is counted in each unit, as `explanations` of the report.
        secondary: whether to count a response of coreference in the other ways that CRAC reports, too, as `secondary` of
            the report: "head", "partial" and "exact" matching, and "singletons" with these.
        **options: the procedure's options; folders of the corpus and options of reading it, such as `treebank`.

    Returns:
        The scores and their intervals, which print themselves as a table.

    >>> rows = closeread.baseline("mctaco", "always-positive", config="sample")
    >>> report = closeread.score("mctaco", rows, config="sample", by="category")
    >>> round(float(report["f1"]), 3)
    0.613
    >>> report.provenance.signature
    'mctaco|version:1|missing:error|gold:14237cb6aca7'

    Options of coref:
        missing: 'error', 'empty' (default) or 'skip'. How to treat units without a prediction.
        duplicates: 'error' (default), 'first', 'reference' or 'last'. What to do with a mention of several entities:
            reject it (in a key, count it as the reference scorer does); keep it in its first entity of the text; count
            it as the reference scorer does; or keep it in all, its own being the last of the text, as coval and the
            scorers of CorefUD and Universal Anaphora do.
        keep_singletons: 'true' (default) or 'false'. Score entities of one mention; if false, drop them from both
            sides.
        blanc_edge: 'reference' (default) or 'luo2014'. How to compute BLANC when one kind of link is absent: as the
            reference scorer does, or as in Luo et al. (2014).
        average: 'micro' (default), 'documents' or 'groups'. Sum counts over documents and divide once (micro), or
            average the scores of the documents (documents), or of groups of documents, such as treebanks, each of which
            is micro (groups).
        undefined: 'skip' (default) or 'zero'. How to average scores of documents or groups that are 0/0, where nothing
            was to be found and nothing was: leave them out of the mean, or count them as 0.
        group_by: the name of a field. Average over groups, which are the values of this field.
        matching: 'exact' (default), 'head', 'partial' or 'minimum'. How to match mentions: by the same tokens, by the
            same head, if the response's lies within the key's, or by the same minimum span (MINA).
        words: 'error' (default), 'warn', 'ignore' or 'align'. How to treat words of the response that differ from the
            key's: reject them, score and warn, score, or align them with the key's.
        word_column: auto or the number of a column, from 1 ('auto' by default). Read the words of CoNLL files from this
            column, from 1; auto guesses it.
        skip_invalid: 'false' (default) or 'true'. Leave out the files of a folder that have errors, with a note, and
            their documents on the other side.
        zeros: 'linear' (default), 'dependent', 'corefud' or 'exclude'. How to match zeros, mentions whose head is an
            empty node: by its place, by its dependencies, or by its dependencies with the lookups of corefud-scorer; or
            drop them from both sides.
        split_antecedents: 'ignore' (default), 'score' or 'only'. How to treat entities with split antecedents in
            Universal Anaphora files: ignore that they have any, score their antecedents as one more mention, or score
            only these.
        windows: none, a number of tokens, or bookcoref: and a number ('none' by default). Score long documents in
            windows of so many tokens, where an entity is one for each window; bookcoref:1500 has the windows of
            BOOKCOREF's script.
        layer: the name of a layer ('identity' by default). Choose the layer to score: identity or discourse_deixis of
            Universal Anaphora files, or the chains of an annotation tool's files.
        relation: a name. Read entities from these relations of an annotation tool's files: NAME, or NAME=LABEL,LABEL.
        entity_feature: a name. Read entities from this feature of an annotation tool's files, or from numbered labels
            (label).
        annotator: a name. Read this annotator of an export that has several.
        document_field: a name. Name the documents of an annotation tool's JSON by this field, such as meta.title.
        text_field: a name. Read the texts of Label Studio's tasks from this field.
        extra: 'error' (default) or 'skip'. How to treat documents of the response that the key lacks: refuse the
            response, or leave them out, with a note.
        fields: a path. Read document fields to slice by from this file: CSV, TSV or JSON Lines with a column 'document'
            and others.

    Options of mctaco:
        missing: 'error' (default), 'empty' or 'skip'. How to treat units without a prediction.
        extra: 'ignore' (default) or 'error'. How to treat unknown fields of predictions: leave them out, with a note,
            or refuse the predictions.
        average: 'micro' (default) or 'groups'. Sum counts over questions and divide once (micro), or average the scores
            of groups of questions (groups).
        undefined: 'skip' (default) or 'zero'. How to average scores of groups that are 0/0, where nothing was to be
            found and nothing was: leave them out of the mean, or count them as 0.
        group_by: the name of a field. Average over groups, which are the values of this field.

    Options of timeline:
        track: 'full' (default) or 'ordering'. Compare relations to anchors and between neighbouring mentions (full), or
            only between neighbouring mentions (ordering).
        missing: 'error', 'empty' (default) or 'skip'. How to treat units without a prediction.
        extra: 'ignore' (default) or 'error'. How to treat unknown fields of predictions: leave them out, with a note,
            or refuse the predictions.
        average: 'micro' (default) or 'events'. Sum counts over timelines and divide once (micro), or average the scores
            of the timelines, weighted by their gold events (events).

    Options of tlinks:
        missing: 'error', 'empty' (default) or 'skip'. How to treat units without a prediction.
        extra: 'error' (default) or 'skip'. How to treat documents of the response that the key lacks: refuse the
            response, or leave them out, with a note.
        matching: 'id' (default), 'strict' or 'relaxed'. Match events and times of the two sides by id, by equal extents
            in the text (strict), or by overlapping extents (relaxed).
        reduction: 'sequential' (default) or 'none'. Count only links that do not follow from earlier links
            (sequential), or all links (none).
        during: 'simultaneous' (default) or 'overlaps'. Treat DURING and DURING_INV as SIMULTANEOUS, or as Allen's
            overlaps and its inverse.
        average: 'micro' (default) or 'groups'. Sum counts over documents and divide once (micro), or average the scores
            of groups of documents (groups).
        undefined: 'skip' (default) or 'zero'. How to average scores of groups that are 0/0, where nothing was to be
            found and nothing was: leave them out of the mean, or count them as 0.
        group_by: the name of a field. Average over groups, which are the values of this field.

    Options of tne:
        uprep: 'any' (default) or 'last'. How to score a fallback if gold has several prepositions: accept any of them,
            or only the last one.
        missing: 'error' (default), 'empty' or 'skip'. How to treat units without a prediction.
        extra: 'ignore' (default) or 'error'. How to treat unknown fields of predictions: leave them out, with a note,
            or refuse the predictions.
        average: 'micro' (default) or 'groups'. Sum counts over documents and divide once (micro), or average the scores
            of groups of documents (groups).
        undefined: 'skip' (default) or 'zero'. How to average scores of groups that are 0/0, where nothing was to be
            found and nothing was: leave them out of the mean, or count them as 0.
        group_by: the name of a field. Average over groups, which are the values of this field.

    Options of wikipossessions:
        average: 'micro' (default) or 'documents'. Sum counts over articles and divide once (micro), or average the
            scores of the articles (documents).
        undefined: 'skip' (default) or 'zero'. How to average scores of articles that are 0/0, where nothing was to be
            found and nothing was: leave them out of the mean, or count them as 0.
        setting: 'exact' (default) or 'partial'. How to match names: exactly, or by a shared token that is not an
            article or preposition.
        scenario: 'all' (default), 'all_correct' or 'oracle'. Score all predictions, only those that match gold, or, for
            a system that was given the gold names, only the first of each name.
        tolerance: a decimal number such as 0.1 ('0' by default). Widen each gold range on both sides by this fraction
            of its length, but at least one year; 0 to disable.
        missing: 'error' (default), 'empty' or 'skip'. How to treat units without a prediction.
        extra: 'ignore' (default) or 'error'. How to treat unknown fields of predictions: leave them out, with a note,
            or refuse the predictions.
    """
    chosen = choose_resampling(resampling, resamples if ci else 0, confidence, seed, interval)
    source, procedure_options = find_gold(
        name, gold=gold, config=config, split=split, data_dir=data_dir, preset=preset, **options
    )
    fields = (by,) if isinstance(by, str) else tuple(by)
    is_json_lines = (
        isinstance(predictions, str | Path) and text_suffix(Path(predictions)) in SUFFIXES
    )
    log = None if is_json_lines else read_only_log(predictions, source.procedure)
    epochs: Sequence[FileOrRows] = [predictions]
    if log is not None:
        epochs = log.rows
        source, procedure_options = take_gold([log], source, procedure_options)
    if explain and len(epochs) > 1:
        raise RequestError(f"a log of {len(epochs)} epochs can't be explained (expected one)")
    scorer = open_scorer(source, procedure_options, metrics)
    warn_all(scorer.gold.notices)
    systems = [scorer.read(rows) for rows in epochs]
    counted_fields = list(fields)
    if counts is not None:
        counted_fields += scorer.available_breakdowns(systems[0])
    # Breakdowns are counted for one epoch only, since parts may be other ones in another.
    if len(systems) > 1 and set(counted_fields).intersection(scorer.procedure.breakdowns):
        raise RequestError(f"a log of {len(systems)} epochs has no parts (expected one epoch)")
    counts_by_epoch = [scorer.count(system, counted_fields) for system in systems]
    counted = counts_by_epoch[0] if log is None else average_counts(counts_by_epoch)
    explanations = scorer.explain(systems[0], counted.table.units) if explain else None
    warn_all(counted.notices)
    report = make_report(counted, by=fields, resampling=chosen)
    if counts is not None:
        counted.save(counts)
    reports = {}
    if secondary:
        procedure = scorer.procedure
        if not procedure.secondary:
            raise RequestError(f"{procedure.name} is counted in one way only; omit secondary=")
        for way, changed in procedure.secondary.items():
            rescorer = replace(scorer, options={**scorer.options, **changed})
            reports[way] = make_report(rescorer.count(systems[0]), resampling=chosen)
    return replace(report, explanations=explanations, secondary=reports)


@dataclass(frozen=True)
class Verdict(JsonResult):
    """What is found of predictions.

    Attributes:
        name: the file, or "predictions" for objects in memory.
        rows: how many gold records have predictions; None if they are not valid.
        total: how many gold records there are.
        error: what is wrong with them; None if they are valid.
        notices: what else a user should know, one sentence each.
        gold: what the gold is called.
        left_out: how many documents are not scored, since a file of a side has errors.
    """

    name: str
    rows: int | None
    total: int
    error: InputError | None = None
    notices: tuple[str, ...] = ()
    gold: str = field(default="", repr=False)
    left_out: int = 0

    @property
    def valid(self) -> bool:
        """Whether they can be scored."""
        return self.error is None

    @property
    def problems(self) -> list[str]:
        """Every problem, with its place; of very many, the first of a kind says how many there are."""
        if self.error is None:
            return []
        source = escape(self.error.source)
        lines = []
        for problem in self.error.problems:
            line = problem.at(source)
            if problem.times > 1:
                line += f" ({problem.times:,} times)"
            lines.append(line)
        return lines

    def to_dict(self) -> dict[str, str | bool | int | list[str] | None]:
        """Return the verdict as a JSON object, with every problem in words."""
        return {
            "file": self.name,
            "valid": self.valid,
            "rows": self.rows,
            "left_out": self.left_out,
            "problems": self.problems,
        }

    def __bool__(self) -> bool:
        return self.valid

    def __str__(self) -> str:
        if self.error is not None:
            return escape(str(self.error))
        where = f"{self.total:,} gold records{self.gold and ' of '}{self.gold}"
        text = f"{self.name}: valid; {self.rows:,} of {where} have predictions"
        if self.left_out:
            text += f"; {pluralize(self.left_out, 'document')} left out, in files with errors"
        return escape(text)


def validate(
    name: AnyCorpus,
    predictions: FileOrRows,
    *,
    gold: arg.Gold = None,
    config: arg.Config = None,
    split: arg.Split = None,
    data_dir: arg.Folder = None,
    **options: arg.ProcedureOptions,
) -> Verdict:
    """Validate predictions without scoring them.

    Args:
        name: the name of a corpus or a procedure.
        predictions: a file, a folder, a log of inspect-ai or objects, as for `closeread.score`.
        gold, config, split, data_dir, **options: as for `closeread.score`.

    Returns:
        The verdict, which is true if the predictions are valid.

    >>> rows = [{"id": "test-00000", "label": "maybe"}]
    >>> verdict = closeread.validate("mctaco", rows, config="sample", missing="skip")
    >>> verdict.valid, verdict.problems
    (False, ["predictions: row 0: id 'test-00000': label: 'maybe' is not one of 'no', 'yes'"])
    """
    place = GoldPlace(config, split, gold, data_dir)
    (verdict,) = validate_all(name, [predictions], place=place, **options)
    return verdict


def validate_all(
    name: AnyCorpus,
    predictions: Annotated[Sequence[FileOrRows], Param(kind="read")],
    *,
    place: GoldPlace = GoldPlace(),  # noqa: B008
    **options: arg.ProcedureOptions,
) -> list[Verdict]:
    """Validate several predictions for the same gold."""
    where: dict[str, Any] = {**vars(place), **options}
    source, procedure_options = find_gold(name, **where)
    attempts = [_try_log(sent, source.procedure) for sent in predictions]
    logs = [log for log in attempts if log is not None and not isinstance(log, InputError)]
    scorer = open_scorer(*take_gold(logs, source, procedure_options))
    warn_all(scorer.gold.notices)
    verdicts = [_judge(scorer, sent, log) for sent, log in zip(predictions, attempts, strict=True)]
    warn_all(name_systems({verdict.name: verdict.notices for verdict in verdicts}))
    return verdicts


def _judge(scorer: Scorer, source: FileOrRows, log: Log | InputError | None) -> Verdict:
    """Read predictions, or the rows of a log, and say whether they are valid."""
    name = str(source) if isinstance(source, str | Path) else "predictions"
    total = len(scorer.gold.records)
    if isinstance(log, InputError):
        return Verdict(name, None, total, log, gold=scorer.gold_name)
    epochs: Sequence[FileOrRows] = [source] if log is None else log.rows
    try:
        systems = [scorer.read(rows) for rows in epochs]
    except InputError as error:
        return Verdict(name, None, total, error, gold=scorer.gold_name)
    left_out: set[str] = set()
    notices: list[str] = []
    for system in systems:
        left_out |= set(system.left_out)
        notices += scorer.remarks(system)
    units = set(scorer.gold.units)
    n_missing = max(len(system.missing) for system in systems)
    n_rows = total - n_missing - len(left_out & units)
    different = tuple(dict.fromkeys(notices))
    return Verdict(name, n_rows, total, None, different, scorer.gold_name, len(left_out))


def _try_log(source: FileOrRows, procedure: Procedure) -> Log | InputError | None:
    """Read a source if it is a log; return the error if it can't be read."""
    try:
        return read_only_log(source, procedure)
    except InputError as error:
        return error


def load_report(path: str | Path) -> Report:
    """Read a report that `Report.save` or `closeread score --json` wrote, with the titles of its scores.

    Args:
        path: the file.

    Returns:
        The report.

    >>> rows = closeread.baseline("mctaco", "always-positive", config="sample")
    >>> closeread.score("mctaco", rows, config="sample").save("report.json")
    >>> closeread.load_report("report.json")
    <Report of mctaco sample test: 25 questions, Exact match 0.00, F1 61.31>
    """
    report = Report.load(path)
    name = report.provenance.procedure
    if report.titles or name not in procedure_names():
        return report
    return report._with_titles(load_procedure(name))


@dataclass(frozen=True)
class Sheet(Result):
    """A report as commands print it: perhaps with its units, and in tables with their fields and counts.

    The file that was scored gives the model its name in results for Every Eval Ever.  The columns say what tables of
    groups show of each metric: "p", "r" and "f1", separated by commas.
    """

    report: Report
    per_unit: bool = False
    with_counts: bool = False
    digits: int = 2
    source: Path | None = None
    columns: str = "f1"

    @property
    def procedure(self) -> Procedure:
        """The procedure that counted."""
        rows = self.report._unit_rows
        if isinstance(rows, UnitRows):
            return rows.counts.procedure
        return load_procedure(self.report.provenance.procedure)

    @property
    def units(self) -> list[dict[str, Any]] | None:
        """A row for each unit; None if they are not shown."""
        return list(self.report.units) if self.per_unit or self.with_counts else None

    def to_dict(self) -> dict[str, Any]:
        """Return the report as a JSON object, with units and explanations."""
        report = self.report
        columns = report.to_dict()
        if self.units is not None:
            columns["units"] = self.units
        if report.explanations is not None:
            explanations = []
            for unit, rows in report.explanations.items():
                explanations.append({report.unit: unit, "explained": rows})
            columns["explanations"] = explanations
        return columns

    def _to_rows(self) -> tuple[Sequence[str], Sequence[Sequence[object]]]:
        report = self.report
        units = self.units
        explanation = self.procedure.explanation
        if units is not None and report.explanations is not None:
            raise RequestError("CSV has only one table; omit --per-unit or --explain")
        if units is not None:
            return list(units[0]), [list(unit.values()) for unit in units]
        if report.explanations is not None and explanation is not None:
            explains = explanation()
            rows: list[list[object]] = []
            for unit, details in report.explanations.items():
                rows += [[unit, *explains.row(detail)] for detail in details]
            return [report.unit, *explains.header], rows
        return report._to_rows()

    def _to_grids(self, style: Style = "table") -> Iterator[Grid]:
        explanations = self.report.explanations or {}
        for number, (unit, details) in enumerate(explanations.items(), start=1):
            explanation = cast(Any, self.procedure.explanation)()
            notes: list[str] = []
            n_more = len(details) - SHOWN
            if n_more > 0:
                notes.append(f"{pluralize(n_more, 'more row')}: see --json and --format csv.")
            if number == len(explanations):
                notes += explanation.notes
            title = explanation.title(unit, list(details))
            rows = [explanation.row(detail) for detail in details[:SHOWN]]
            prose = frozenset(explanation.prose)
            yield Grid(title, explanation.header, rows, notes, prose=prose)
        units = self.units
        if units is not None:
            yield units_grid(
                units, self.procedure, with_counts=self.with_counts, digits=self.digits
            )
        parts = [part.strip().lower() for part in self.columns.split(",")]
        for part in parts:
            if part not in PART_NAMES:
                raise RequestError(describe_unknown("column", part, list(PART_NAMES)))
        yield from report_grids(self.report, style, digits=self.digits, parts=parts)

    def to_eee(self) -> dict[str, Any]:
        """Return the report as the JSON object of a result for Every Eval Ever."""
        from closeread.operations.every_eval_ever import write_result

        model = "unknown" if self.source is None else make_names([self.source])[0]
        return write_result(self.report, self.procedure, model)

    def list_main(self, families: Sequence[str]) -> list[str]:
        """Return the main score, or that of each of some metrics; nan if a score has no value."""
        scores = self.report.scores
        if not families:
            headline = self.procedure.headline
            main = headline if headline in scores else next(iter(scores))
            families = [main.partition("/")[0]]
        numbers = []
        for family in families:
            estimate = scores.get(f"{family}/f1") or scores[family]
            value = math.nan if estimate.value is None else 100 * estimate.value
            numbers.append(f"{value:.{self.digits}f}")
        return numbers


OPERATIONS: Operations = {"": {"score": score, "validate": validate_all}}
