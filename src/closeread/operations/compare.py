"""Many systems, scored alike, compared or put into one table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple, cast, get_args

from closeread import parameters as arg
from closeread.corpus.gold import GoldSource
from closeread.corpus.notices import name_systems, warn_all
from closeread.counts.comparison import (
    Comparison,
    IntervalStyle,
    SystemsTable,
    Usage,
    compare_systems,
)
from closeread.counts.counts import Counts, UnitRows
from closeread.counts.estimates import Correction, Resampling
from closeread.counts.procedure import Procedure
from closeread.counts.report import Provenance, Report
from closeread.counts.systems import (
    check_comparable,
    choose_columns,
    detect_kind,
    make_names,
    name_sources,
    restrict_metrics,
    select_scores,
    sort_systems,
)
from closeread.exceptions import (
    FormatError,
    Problem,
    RequestError,
    describe_unknown,
    escape,
    join_names,
    name_option,
    pluralize,
    quote,
    read_all,
)
from closeread.formats.text import is_open_pipe
from closeread.operations.logs import (
    average_counts,
    list_logs,
    read_only_log,
    replace_folders,
    take_gold,
)
from closeread.parameters import Operations, Param, within
from closeread.public_names import AnyCorpus
from closeread.records import FileOrRows
from closeread.scoring import Scorer, choose_preset, choose_resampling, find_gold, open_scorer

if TYPE_CHECKING:
    from closeread.llm.logs import Log

Source = FileOrRows | Report | Counts
"""A system of a table: a file of predictions, counts or a report, a folder, rows in memory, counts, or a report."""

ManySources = Annotated[
    Mapping[str, Source]
    | Sequence[Annotated[str | Path, "a file; give anything else a name, as in {'mine': rows}"]],
    "systems by name, such as {'mine': rows}, or a list of files",
]
"""The systems of a table."""

MAX_DIGITS = 10
DETECTABLE = (
    "Also show the smallest true difference that such a test set would show with 80 % power."
)
CORRECTION = "How to correct p-values for the number of comparisons: all scores of all systems."


class Systems(NamedTuple):
    """The systems of a table, all scored alike."""

    names: list[str]  # those that were given; of a log without one, the name of the model
    results: list[Counts | Report]  # a report if there are no counts
    scores: tuple[str, ...]  # that all of them have, to be columns
    lacking: Mapping[str, Sequence[str]]  # other scores, with the systems that lack them
    notices: list[str]
    usage: Mapping[str, Usage]  # of the systems that are logs of language models


def read_systems(
    sources: Mapping[str, Source],
    gold_source: GoldSource,
    options: Mapping[str, object],
    metrics: str | Sequence[str] | None,
    scores: str | Sequence[str] | None,
    *,
    is_named: bool,
) -> Systems:
    """Read the systems of a table by name; gold and options are for predictions, as counts and reports include theirs.

    The preset is one of the options; metrics and scores are as in `select_scores`.  Without gold, predictions are
    scored with that of the logs; answers that a model did not give are then empty predictions.  Unless the user gave
    the names, those of logs are replaced by those of the models.
    """
    procedure = gold_source.procedure
    logs: dict[str, Log] = {}
    for system, source in sources.items():
        log = read_only_log(source, procedure)
        if log is not None:
            logs[system] = log
    gold_source, options = take_gold(list(logs.values()), gold_source, options)
    asked = [scores] if isinstance(scores, str) else scores
    options = choose_preset(gold_source.corpus, options)
    selected, columns = select_scores(procedure, asked, metrics, options)
    has_key = procedure.reader.key_first and gold_source.gold is not None
    stored = [
        system for system, source in sources.items() if system not in logs and _is_stored(source)
    ]
    scorer = None
    if has_key or len(stored) < len(sources):
        families = dict.fromkeys(metric.family for metric in selected.metrics)
        scorer = open_scorer(gold_source, options, list(families))
    elif sources and (options or gold_source.is_chosen):
        raise RequestError(
            "counts and reports include their gold and options; omit the options for these"
        )
    notices_by_system: dict[str, list[str]] = {}

    def read(system: str) -> Counts | Report:
        source = sources[system]
        if scorer is None or system in stored:
            return _read_stored(cast("str | Path | Counts | Report", source), procedure)
        epochs = logs[system].rows if system in logs else [cast(FileOrRows, source)]
        counted = [scorer.count(scorer.read(rows)) for rows in epochs]
        name = str(source) if isinstance(source, str | Path) else system
        messages = notices_by_system.setdefault(name, [])
        for counts in counted:
            messages.extend(counts.notices)
        return average_counts(counted)

    results = read_all(sources, read)
    notices = [] if scorer is None else list(scorer.gold.notices)
    notices += name_systems(notices_by_system)
    provenances = [result.provenance for result in results]
    requested = None
    if scorer is not None and stored:
        requested = _expect(scorer, provenances[0].signature)
    check_comparable(list(sources), provenances, procedure.options, requested)
    is_required = asked is not None or metrics is not None
    compared, lacking = choose_columns(list(sources), results, columns, required=is_required)
    results = [
        restrict_metrics(result, compared) if isinstance(result, Counts) else result
        for result in results
    ]
    titles = {} if is_named else _name_logs(logs)
    names = [titles.get(name, name) for name in sources]
    usage = {}
    for system, log in logs.items():
        tokens = (log.input_tokens, log.output_tokens)
        usage[titles.get(system, system)] = Usage(log.answered, *tokens, log.cost)
    return Systems(names, results, compared, lacking, notices, usage)


def _expect(scorer: Scorer, first_signature: str) -> Provenance:
    """Return what counts and reports must have to be compared with predictions that the scorer reads."""
    procedure = scorer.procedure
    signature = scorer.expected_signature()
    # the digest covers only the units with a prediction
    if scorer.options.get("missing") == "skip":
        digest = first_signature.rpartition("|gold:")[2]
        signature = procedure.signature(scorer.options, digest)
    options = procedure.keep_options(scorer.options, reading=True)
    return Provenance(procedure.name, procedure.version, options, signature, *scorer.gold.origin, 0)


def _name_logs(logs: Mapping[str, Log]) -> dict[str, str]:
    """Name logs after their models, and those of the same model after the files, too."""
    models = Counter(log.model for log in logs.values())
    titles = {}
    for name, log in logs.items():
        titles[name] = log.model
        if models[log.model] > 1:
            titles[name] += f" ({name})"
    return titles


def _is_stored(source: Source) -> bool:
    """Return whether a system is counts, a report or a log, which know their gold."""
    if isinstance(source, Counts | Report):
        return True
    # What is read from a pipe is gone, so it can only be predictions.
    if not isinstance(source, str | Path) or is_open_pipe(Path(source)):
        return False
    return detect_kind(Path(source)) != "predictions" or bool(list_logs(source))


def _read_stored(source: str | Path | Counts | Report, procedure: Procedure) -> Counts | Report:
    """Return the counts of a system, or its report if there are no counts."""
    if isinstance(source, str | Path):
        path = Path(source)
        if detect_kind(path) == "counts":
            source = _load_counts(path, procedure)
        else:
            source = Report.load(path)
    if isinstance(source, Counts):
        # they may be most of a file
        return replace(source, table=replace(source.table, breakdowns={}))
    rows = source._unit_rows
    return rows.counts if isinstance(rows, UnitRows) else source._with_titles(procedure)


def _load_counts(path: Path, procedure: Procedure) -> Counts:
    """Read counts of the procedure."""
    counts = Counts.load(path)
    if counts.procedure.name == procedure.name:
        return counts
    counted = f"{counts.procedure.name} version {counts.procedure.version}"
    expected = f"{procedure.name} version {procedure.version}"
    problem = Problem(f"contains counts of {counted} (expected {expected})")
    raise FormatError(path, [problem])


def compare(
    name: AnyCorpus,
    first: Annotated[Source | ManySources, Param(kind="systems")],
    second: Annotated[Source | None, arg.OnlyPython] = None,
    *,
    gold: arg.Gold = None,
    config: arg.Config = None,
    split: arg.Split = None,
    data_dir: arg.Folder = None,
    metrics: arg.Metrics = None,
    preset: arg.Preset = None,
    scores: arg.Scores = None,
    resamples: arg.TestResamples = None,
    confidence: arg.Confidence = 0.95,
    seed: arg.Seed = 0,
    interval: arg.Interval = "percentile",
    resampling: Annotated[Resampling | None, arg.OnlyPython] = None,
    correction: Annotated[Correction, Param(help=CORRECTION)] = "holm",
    power: Annotated[bool, Param(help=DETECTABLE)] = False,
    **options: arg.ProcedureOptions,
) -> Comparison:
    """Compare two systems, or the first of several systems with each of the others, by paired tests.

    Args:
        name: the name of a corpus, such as "mctaco", or of a procedure, such as "coref".
        first, second: two systems: files of predictions or of counts, folders or objects, as for `score`; differences
            are second minus first.  Without a second, `first` is all systems: by name, or a list of files.
        gold, config, split, data_dir, metrics, preset, **options: as for `closeread.score`.
        scores: the scores to compare, as for `table`; None for all scores of the metrics but precision and recall.
        resamples, confidence, seed, interval, resampling: as for `score`; None for 1,000 resamples, or as many as the
            correction of p-values needs.
        correction: how p-values are corrected for the number of scores and systems that are tested: "holm" or "none".
        power: whether to show the smallest true difference that such a test set would show with 80 % power, at a level
            of 1 - confidence, without correction.

    Returns:
        A comparison with the first system as the baseline; iterating yields one of two systems for each other system.

    >>> yes, no = (closeread.baseline("mctaco", f"always-{one}", config="sample") for one in ("positive", "negative"))
    >>> closeread.compare("mctaco", no, yes, config="sample").differences["f1"].value > 0.5
    True
    """
    named = _name_systems(first) if second is None else _name_two(first, second)  # type: ignore[arg-type]
    if len(named) < 2:
        systems_text = f"found {len(named)}: {join_names(list(named))}" if named else "found none"
        if isinstance(gold, str | Path):
            systems_text += f"; {quote(str(gold))} is the key"
        raise RequestError(f"a comparison needs at least two systems ({systems_text})")
    source, procedure_options = find_gold(
        name, gold=gold, config=config, split=split, data_dir=data_dir, preset=preset, **options
    )
    is_named = second is not None or isinstance(first, Mapping)
    systems = read_systems(named, source, procedure_options, metrics, scores, is_named=is_named)
    reports = []
    for system, result in zip(systems.names, systems.results, strict=True):
        if isinstance(result, Report):
            reports.append(system)
    if reports:
        have = "is a report, which has" if len(reports) == 1 else "are reports, which have"
        raise RequestError(
            f"{join_names(reports)} {have} no counts to test (expected predictions or counts)"
        )
    chosen = choose_resampling(resampling, resamples, confidence, seed, interval)
    comparison = compare_systems(
        systems.names,
        systems.results,
        systems.scores,
        chosen,
        baseline=0,
        correction=correction,
        power=power,
    )
    notices = list(systems.notices)
    for score, names in systems.lacking.items():
        notices.append(f"{score} is not compared: it is not in {join_names(names)}")
    warn_all(notices)
    return comparison


def _name_two(first: Source, second: Source) -> Mapping[str, Source]:
    """Return two systems by name: that of the file, otherwise "first" or "second"."""
    sides = ["first", "second"]
    systems = [first, second]
    names = name_sources(systems, sides)
    return dict(zip(names if names[0] != names[1] else sides, systems, strict=True))


def table(
    name: AnyCorpus,
    systems: Annotated[ManySources, Param(kind="systems")],
    *,
    gold: arg.Gold = None,
    config: arg.Config = None,
    split: arg.Split = None,
    data_dir: arg.Folder = None,
    metrics: arg.Metrics = None,
    preset: arg.Preset = None,
    scores: arg.Scores = None,
    names: Annotated[
        Sequence[str],
        Param(
            metavar="NAMES",
            help="Call the systems by these names, separated by commas.  [default: names of the files]",
        ),
    ] = (),
    sort: Annotated[str | None, Param(kind="of_procedure")] = None,
    intervals: Annotated[
        IntervalStyle, Param(help="Show confidence intervals: both ends, or half their width.")
    ] = "none",
    digits: Annotated[int, within(0, MAX_DIGITS)] = 2,
    pairs: Annotated[
        bool, Param(help="Also show the tests of all pairs of systems (in CSV: only these).")
    ] = False,
    alpha: Annotated[
        float, within(0, 1, above=True, below=True), Param(help="Significance level.")
    ] = 0.05,
    resamples: arg.TestResamples = None,
    confidence: arg.Confidence = 0.95,
    seed: arg.Seed = 0,
    interval: arg.Interval = "percentile",
    resampling: Annotated[Resampling | None, arg.OnlyPython] = None,
    **options: arg.ProcedureOptions,
) -> SystemsTable:
    """Score many systems, and put them into one table with tests against the best.

    Args:
        name: the name of a corpus, such as "mctaco", or of a procedure, such as "coref".
        systems: by name, files of predictions, of counts or of reports, logs of inspect-ai, rows in memory, or reports;
            or only files, which are named after their stems, and logs after their models.  Systems with predictions or
            counts are tested, in pairs; a report that was read from JSON has no counts.
        gold, config, split, data_dir, metrics, preset, **options: as for `closeread.score`.
        scores: the columns: names of scores, such as "muc/f1", or of families, such as "muc" for its precision, recall
            and F1; None for all scores of the metrics but precision and recall.
        names: what to call the systems of a list of files; names of the files by default.
        sort: the score to sort rows by, the best first; None to keep the order.
        intervals: how tables show intervals: "none", "range" (both ends) or "plus-minus" (half of their width).
        digits: the number of decimals of scores times 100.
        pairs: whether to show the tests of all pairs, not only the marks of those against the best.
        alpha: the level of significance, to which p-values corrected by Holm's method are compared.
        resamples, confidence, seed, interval, resampling: as for `score`; None for 1,000 resamples, or as many as the
            correction of p-values needs.

    Returns:
        The table, which prints itself, and has the tests of all pairs.

    >>> systems = {one: closeread.baseline("mctaco", one, config="sample") for one in ("always-positive", "random")}
    >>> closeread.table("mctaco", systems, config="sample").standings["f1"]
    ['best', 'worse']
    """
    named = _name_systems(systems, names)
    if not named:
        raise RequestError("a table needs at least one system")
    if intervals not in get_args(IntervalStyle):
        raise RequestError(
            describe_unknown("style of intervals", intervals, get_args(IntervalStyle))
        )
    source, procedure_options = find_gold(
        name, gold=gold, config=config, split=split, data_dir=data_dir, preset=preset, **options
    )
    is_named = isinstance(systems, Mapping) or bool(names)
    loaded = read_systems(named, source, procedure_options, metrics, scores, is_named=is_named)
    warn_all(loaded.notices)
    names = loaded.names
    results = loaded.results
    if sort is not None:
        names, results = sort_systems(names, results, loaded.scores, sort)
    chosen = choose_resampling(resampling, resamples, confidence, seed, interval)
    return compare_systems(
        names,
        results,
        loaded.scores,
        chosen,
        alpha=alpha,
        digits=digits,
        intervals=intervals,
        pairs=pairs,
        lacking=loaded.lacking,
        usage=loaded.usage,
    )


def _name_systems(systems: ManySources, names: Sequence[str] = ()) -> Mapping[str, Source]:
    """Return systems by name; files by the names that are given for them, or by their stems."""
    if isinstance(systems, Mapping):
        return systems
    paths = [systems] if isinstance(systems, str | Path) else systems
    files = replace_folders(map(Path, paths))
    option = name_option("names")
    chosen = list(names) or make_names(files)
    if len(chosen) != len(files):
        raise RequestError(
            f"{option} has {pluralize(len(chosen), 'name')} for {pluralize(len(files), 'system')}"
        )
    for twice, times in Counter(chosen).most_common(1):
        if times > 1:
            raise RequestError(f"{option} has '{twice}' twice; give each system its own name")
    return dict(zip(chosen, files, strict=True))


def take_key(files: Sequence[Path]) -> tuple[Path | None, Sequence[Path]]:
    """Return the key, if the first file is one, and the systems; counts and reports need no key."""
    are_stored = list(map(_is_stored, files))
    if all(are_stored):
        return None, files
    if are_stored[0]:
        raise RequestError(
            f"{escape(str(files[0]))} is not a key (expected the key before the systems)"
        )
    return files[0], files[1:]


OPERATIONS: Operations = {"": {"compare": compare, "table": table}}
