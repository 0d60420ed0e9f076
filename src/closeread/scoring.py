"""From a file of predictions to counts and a report: what `closeread score` and `closeread compare` do."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from closeread.corpora.gold import Gold, load_corpus, read_gold, read_own_gold
from closeread.corpora.submissions import Submission, read_submission
from closeread.counts.report import Comparison, Provenance, Report, Resampling, make_comparison, make_report
from closeread.counts.table import CountTable, Procedure
from closeread.errors import RequestError, quote
from closeread.records import Record, column
from closeread.tasks import load_procedure


@dataclass(frozen=True)
class Counted:
    """A system's output, counted.

    Attributes:
        table: the counts.
        procedure: how it was counted.
        provenance: what was counted.
        notices: what a user should know beside the scores.
    """

    table: CountTable
    procedure: Procedure
    provenance: Provenance
    notices: Sequence[str] = ()


class Origin(NamedTuple):
    """Where gold comes from, as `Provenance` has it.

    Attributes:
        corpus: whose schema it follows.
        config, split: the part of the corpus; None for the user's own gold.
        released: whether it is the released one; None where there is no release.
    """

    corpus: str
    config: str | None
    split: str | None
    released: bool | None


def gold_for(
    corpus: str,
    *,
    config: str | None = None,
    split: str | None = None,
    gold: Path | None = None,
    data_dir: Path | None = None,
) -> Gold:
    """The gold records of a corpus, or of the user's own file in its format.

    Raises:
        RequestError: no such corpus, config or split; an InputError where the files are at fault.
    """
    declaration = load_corpus(corpus)
    declared = declaration.configs.get(config or declaration.default_config)
    if declared is not None and declared.definition != "document":
        raise RequestError(f"config {config} of {corpus} holds no gold to score against; leave it out, or name another")
    if gold is not None:
        if config is not None or data_dir is not None:
            raise RequestError("your own gold file goes without a config and a data folder")
        return read_own_gold(declaration, gold, split)
    return read_gold(declaration, config, split, data_dir)


def submission_for(gold: Gold, predictions: Path, options: Mapping[str, str]) -> Submission:
    """A file of predictions, checked and aligned with the gold.

    Args:
        gold: the gold records.
        predictions: the file.
        options: every option of the procedure with its value.

    Raises:
        SubmissionError: anything is wrong with the file; all problems at once.
    """
    procedure = load_procedure(gold.corpus.procedure)

    def find(rows: Sequence[Record | None]) -> Iterator[tuple[int, str]]:
        if procedure.problems is not None:
            ids = column(gold.records, gold.corpus.key)
            for side, row, what in procedure.problems(gold=gold.records, system=rows, **options):
                if side == "system":
                    yield row, f"{gold.corpus.key} {quote(ids[row])}: {what}"

    missing = options.get("missing", "error")
    return read_submission(
        predictions, gold.corpus, gold.records, missing, find, procedure.rows, background=gold.background
    )


def count_predictions(gold: Gold, predictions: Path, options: Mapping[str, str] | None = None) -> Counted:
    """Count a file of predictions against gold records.

    Args:
        gold: the gold records.
        predictions: the file.
        options: values of the procedure's options that differ from its defaults.

    Raises:
        RequestError: no such option; a SubmissionError where the file is at fault.
    """
    procedure = load_procedure(gold.corpus.procedure)
    chosen = procedure.resolve_options({**gold.corpus.procedure_defaults, **(options or {})})
    return count_submission(gold, submission_for(gold, predictions, chosen), chosen)


def count_submission(gold: Gold, submission: Submission, options: Mapping[str, str]) -> Counted:
    """Count predictions that are checked and aligned with gold records.

    Args:
        gold: the gold records.
        submission: the predictions.
        options: every option of the procedure with its value.
    """
    procedure = load_procedure(gold.corpus.procedure)
    origin = Origin(gold.corpus.name, gold.config, gold.split, gold.released)
    absent = len(submission.missing)
    counted = count_rows(procedure, gold.records, submission.rows, options, gold.digest, absent, origin)
    return replace(counted, notices=submission.notices)


def count_rows(
    procedure: Procedure,
    gold: Sequence[Record],
    system: Sequence[Any],
    options: Mapping[str, str],
    digest: str,
    missing: int,
    origin: Origin,
) -> Counted:
    """Count what is checked and aligned.

    Args:
        procedure: how to count.
        gold, system: what the procedure counts.
        options: every option with its value.
        digest: what the gold holds, as a sha256 in hex.
        missing: how many gold records the system sent nothing for.
        origin: where the gold comes from.
    """
    table = procedure.count(gold=gold, system=system, **options)
    if missing and options.get("missing") == "skip":
        digest = _digest_of_part(digest, table.units)
    signature = procedure.signature(options, digest)
    about = Provenance(procedure.name, procedure.version, options, signature, *origin, missing)
    return Counted(table, procedure, about)


def _digest_of_part(digest: str, units: Sequence[str]) -> str:
    """The digest of gold of which only some units are scored: scores of other units are not comparable."""
    return hashlib.sha256("\0".join([digest, *units]).encode()).hexdigest()


def score(
    corpus: str,
    predictions: str | Path,
    *,
    config: str | None = None,
    split: str | None = None,
    gold: str | Path | None = None,
    data_dir: str | Path | None = None,
    by: str | Sequence[str] = (),
    resampling: Resampling | None = None,
    **options: str,
) -> Report:
    """Score a file of predictions.

    Args:
        corpus: a corpus's name, such as "mctaco".
        predictions: the file.
        config, split: the part of the corpus; None for the default.
        gold: the user's own gold file instead.
        data_dir: a folder with the corpus's files.
        by: a field to slice by, such as "category", or several.
        resampling: how to draw intervals; None for the defaults.
        **options: the procedure's options.

    Raises:
        RequestError: a name that does not exist; an InputError where a file is at fault.
    """
    records = gold_for(corpus, config=config, split=split, gold=_path(gold), data_dir=_path(data_dir))
    counted = count_predictions(records, Path(predictions), options)
    fields = (by,) if isinstance(by, str) else tuple(by)
    return make_report(counted.table, counted.procedure, counted.provenance, by=fields, resampling=resampling)


def compare(
    corpus: str,
    first: str | Path,
    second: str | Path,
    *,
    config: str | None = None,
    split: str | None = None,
    gold: str | Path | None = None,
    data_dir: str | Path | None = None,
    resampling: Resampling | None = None,
    **options: str,
) -> Comparison:
    """Compare two files of predictions by paired tests.

    Args:
        corpus: a corpus's name, such as "mctaco".
        first, second: the files; differences are second minus first.
        config, split, gold, data_dir, resampling, **options: as for `score`.

    Raises:
        RequestError: a name that does not exist; an InputError where a file is at fault.
    """
    records = gold_for(corpus, config=config, split=split, gold=_path(gold), data_dir=_path(data_dir))
    one, two = (count_predictions(records, Path(predictions), options) for predictions in (first, second))
    return make_comparison(
        (str(first), str(second)),
        (one.table, two.table),
        (one.provenance, two.provenance),
        one.procedure,
        resampling,
    )


def _path(value: str | Path | None) -> Path | None:
    return None if value is None else Path(value)
