"""What users can do with coreference in any corpus."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from closeread.corpus.notices import warn_all
from closeread.exceptions import RequestError, join_names, pluralize
from closeread.parameters import (
    Count,
    Operations,
    Output,
    Param,
    Read,
    Source,
    Sources,
    Write,
    Written,
    within,
)
from closeread.tasks.coref.formats import WrittenFormat

if TYPE_CHECKING:
    from closeread.corpus.figures import Drawing
    from closeread.counts.metrics import Metric
    from closeread.counts.procedure import Procedure
    from closeread.counts.results import Result
    from closeread.tasks.coref.adjudication.annotators import AnnotatedDocument

Files = Annotated[Sources, Param(metavar="FILES...")]


def link_support(gold: Source, annotators: Files) -> Drawing:
    """Draw how many annotators have each link.

    A link is a pair of mentions that some annotator has in one chain.  Bars count links by the percentage of the
    document's annotators who have them (Schüller et al., 2018, Figure 7); links whose mentions are in one gold chain
    are counted separately.  Each file, or folder of files, is an annotator, in any format that `closeread score coref`
    reads.

    \b
    Examples:
      closeread plot link-support gold.conll anna.conll ben.conll cleo.conll \\
        -o support.png
      closeread plot link-support gold/ annotations/*.conll -o support.svg
    """
    from closeread.corpus.figures import Drawing
    from closeread.tasks.coref.annotators import read_beside_gold
    from closeread.tasks.coref.plots import count_support, draw_link_support

    key, read, notices = read_beside_gold(gold, annotators)
    warn_all(notices)
    counts = count_support(key.table, [file.table for file in read])
    return Drawing(
        draw_link_support(counts),
        f"{pluralize(int(counts.sum()), 'link')}, {int(counts[0].sum()):,} in gold",
    )


def mistakes(gold: Source, annotators: Files) -> Drawing:
    """Draw the kinds of mistakes in chains.

    Chains are those of annotators or systems, and the kinds those of `closeread errors chains` (Schüller et al., 2018,
    Figure 8).  Two more panels show how many mentions chains lack, and how many they have from other gold chains.

    \b
    Examples:
      closeread plot mistakes gold.conll anna.conll ben.conll cleo.conll \\
        -o mistakes.png
      closeread plot mistakes gold.conll response.conll -o mistakes.svg
    """
    from closeread.corpus.figures import Drawing
    from closeread.tasks.coref.errors import count_chain_errors
    from closeread.tasks.coref.plots import draw_mistakes

    found = count_chain_errors(gold, annotators)
    warn_all(found.notices)
    summary = f"{pluralize(found.n_chains, 'chain')}, {found.n_mistaken:,} of them mistaken"
    return Drawing(draw_mistakes(found), summary)


def convert(
    source: Source,
    *,
    side: Literal["key", "response"] = "key",
    form: Annotated[WrittenFormat | None, Param(flag="--to")] = None,
    blind: bool = False,
    output: Output | None = None,
) -> Written:
    """Convert coreference to another of six formats.

    They are CoNLL (.conll), CorefUD (.conllu), JSON Lines (.jsonl), and of language models CRAC's text (.txt), CRAC's
    JSON (.json) and coref-data (.jsonl with --to coref-data).  SOURCE is a file, a folder of files, or - for standard
    input, in any format that `closeread score coref` reads.  The suffix of the output file decides its format.
    Mentions and entities are kept, and so are heads and words if both formats have them; sentences and all other
    annotation are lost.

    \b
    Examples:
      closeread convert coref key.conllu -o key.conll
      closeread convert coref response.conll -o response.jsonl
      closeread convert coref predictions.jsonlines --side response \\
        -o response.conll
      closeread convert coref key.conllu --blind -o prompts.txt

    Args:
        side: Convert gold entities (key) or predicted ones (response), if a JSON Lines file has both.
        form: Write this format, whatever the suffix.
        blind: Leave out the entities, which a language model is to find.
    """
    from closeread.tasks.coref.files import read_documents, take_documents, write_documents

    is_response = side == "response"
    if isinstance(source.source, Path):
        documents = read_documents(source.source, is_response=is_response)
    else:
        documents = take_documents(source.source, source.name, is_response=is_response)
    if output is not None:
        documents = write_documents(documents, output, form, blind=blind)
    warn_all(documents.notices)
    return Written(output, pluralize(len(documents), "document"), documents)


def errors(
    gold: Annotated[Source, Param(metavar="KEY")],
    response: Source,
    *,
    by: Annotated[Sequence[str], Param(metavar="FIELD")] = (),
    kinds: Annotated[Sequence[str], Param(flag="--kind", metavar="KIND")] = (),
    document: Annotated[str | None, Param(metavar="NAME")] = None,
    sort: Literal["errors", "score", "name"] = "errors",
    metrics: Annotated[Sequence[str], Param(metavar="NAMES")] = (),
    limit: Count = 10,
    **options: Annotated[str, Param(declared="procedure", corpus="coref")],
) -> Result:
    """Count and list wrong entities and mentions.

    Entities are split, merged, missing or spurious, and mentions missing or spurious.  The documents with the most
    errors come first.  Options are those of `closeread score coref`, so that the errors behind a score can be listed.

    \b
    Examples:
      closeread errors coref key.conll response.conll
      closeread errors coref key.conll response.conll --by genre --by entity_size
      closeread errors coref key.conll response.conll --kind "split entity" \\
        --limit 50
      closeread errors coref key.conllu response.conllu --preset corefud \\
        --sort score
      closeread errors coref key.conll response.conll --format csv > errors.csv

    Args:
        by: Also count errors for each value of FIELD; separate several by commas. Choose from: genre, entity_size,
            mention_type, distance, zero, columns of the file given as fields.
        kinds: List only errors of this kind; may be repeated.
        document: Count and list only the errors of this document.
        sort: Order documents by number of errors, by score (the lowest first), or by name.
        metrics: Sort by the first of these metrics; separate several by commas.  [default: conll]
        limit: List at most this many documents, and errors of each kind, in tables; JSON and CSV list all.
    """
    import numpy as np

    from closeread.corpus.gold import GoldSource
    from closeread.counts.procedure import check_present
    from closeread.tasks.coref.documents import table_of
    from closeread.tasks.coref.errors import check_kinds, count_errors
    from closeread.tasks.coref.metrics.matching import find_repeated_mentions
    from closeread.tasks.coref.procedure import PROCEDURE

    check_kinds(kinds)
    procedure = PROCEDURE.select_metrics(metrics or None, options)
    resolved, reader = procedure.resolve_options(options), procedure.reader
    key = reader.read_gold(GoldSource(procedure, gold=gold.source), resolved)
    system = reader.read_system(key, response.source, resolved)
    response_table = table_of(system.rows)
    key_table = table_of(key.records).without(response_table.broken)
    # An analysis of errors keeps each mention in one entity, whatever the option says.
    in_one_entity = {**resolved, "duplicates": "first"}
    notices = [*key.notices, *system.notices, *reader.remarks(key, system, in_one_entity)]
    has_repeats = any(len(find_repeated_mentions(table)) for table in (key_table, response_table))
    if resolved["duplicates"] in ("reference", "last") and has_repeats:
        notices.append("a mention that is in several entities is listed in its first one.")
    if resolved["split_antecedents"] != "ignore":
        notices.append("errors in split antecedents are not listed.")
    warn_all(notices)
    present = np.isin(np.arange(len(key_table)), list(response_table.absent), invert=True)
    check_present(present, "documents", resolved["missing"], "response")
    if resolved["missing"] == "skip":
        key_table = key_table.select(present[key_table.document])
    found = count_errors(key_table, response_table, resolved, kinds=kinds, document=document, by=by)
    if sort == "score":
        metric = choose_main_metric(procedure)
        how = procedure.keep_options(resolved, reading=False)
        counted = procedure.count(gold=key.records, system=system.rows, **how)
        of_unit = dict(
            zip(counted.units, metric.score(counted.values, counted.names).tolist(), strict=True)
        )
        # Documents that are skipped have no score, and no errors.
        scores = [of_unit.get(name, math.nan) for name in key_table.names]
        found = replace(found, scores=scores, score_title=metric.title)
    return replace(found, limit=limit, sort=sort)


def choose_main_metric(procedure: Procedure) -> Metric:
    """Return the metric that systems are ranked by, or if it is not computed, the first F1."""
    by_name = {metric.name: metric for metric in procedure.metrics}
    headline = by_name.get(procedure.headline)
    if headline is not None:
        return headline
    return next(metric for name, metric in by_name.items() if name.endswith("/f1"))


def chains(gold: Source, predictions: Files) -> Result:
    """Count the mistakes in chains.

    The chains are those of annotators, or of systems.  Each chain of two or more mentions is compared with one gold
    chain of two or more: its match in the best one-to-one matching by common links, else the one with which it shares
    most.  It is exact, or else spurious (no mention is in a gold chain), mixed (some mentions are in other gold
    chains), missing (it lacks mentions) or extra (it has more mentions).  Files are in any format that `closeread score
    coref` reads, and may have some of the documents.

    \b
    Examples:
      closeread errors chains gold.conll anna.conll ben.conll
      closeread errors chains gold.conll response.conll --json
    """
    from closeread.tasks.coref.errors import count_chain_errors

    return count_chain_errors(gold, predictions)


def agreement(
    annotators: Files,
    *,
    given: Annotated[Source | None, Param(metavar="FILE")] = None,
    limit: Count = 50,
    **options: Annotated[str, Param(declared="agreement", corpus="coref")],
) -> Result:
    """Measure agreement by Krippendorff's alpha.

    The value that an annotator gives a mention is its chain.  Each file, or folder of files, is an annotator, in any
    format that `closeread score coref` reads.  Annotators may have some of the documents, which are matched by name.
    Distances between chains are nominal, IAA1 (Passonneau, 2004) and IAA2 (Passonneau et al., 2006).

    \b
    Examples:
      closeread agreement coref anna.conll ben.conll cem.conll
      closeread agreement coref annotations/*.conll --given given.conll --json

    Args:
        given: Measure agreement on the mentions in this file, which annotators were given, instead of on all mentions
            of any annotator.
        limit: List at most this many documents in tables; JSON and CSV list all.
    """
    from closeread.tasks.coref.agreement import compare_annotators

    return replace(compare_annotators(annotators, given=given, **options), limit=limit)


def adjudicate(
    files: Annotated[Sequence[Path], Param(kind="read", metavar="FILES...")],
    *,
    output: Output,
    objective: Literal["v", "va", "u", "ua"] = "v",
    incompatible: Literal["overlap", "containment"] = "overlap",
    empty_annotators: Literal["count", "ignore"] = "count",
    time_limit: Annotated[float | None, within(0, above=True), Param(metavar="SECONDS")] = None,
    forced: Read | None = None,
    worksheet: Write | None = None,
    report: Write | None = None,
) -> Written:
    """Find the chains that best explain the annotators' decisions.

    The method is that of Schüller (2018).  Each file, or folder of files, is an annotator, in any format that
    `closeread score coref` reads.  Documents are matched by name, and annotators need not have all of them.  The suffix
    of the output file decides its format.  Among equally good solutions, the one with the most links is chosen, then
    the one with the earliest links.

    In the last column of a CoNLL file for --forced, '=-' says that no mention begins or ends on a token, and '='
    followed by mentions, such as '=(1' or '=(2)', that exactly these do.  Other cells are ignored.

    \b
    Examples:
      closeread adjudicate coref anna.conll ben.conll cleo.conll -o gold.conll
      closeread adjudicate coref annotators/*.conll -o gold.conll \\
        --objective va --report report.json
      closeread adjudicate coref *.conll -o ../gold.conll \\
        --worksheet ../edited.conll
      closeread adjudicate coref *.conll -o ../gold.conll \\
        --forced ../edited.conll

    Args:
        objective: Penalize links that a solution leaves out, and for v and va also annotators who lack the links that
            it uses; va and ua allow links that no annotator has.
        incompatible: Keep apart mentions that overlap, or only mentions of which one contains the other.
        empty_annotators: Count or ignore annotators who have no links in a document.
        time_limit: Stop after this many seconds for all documents together, with the best chains found so far.
        forced: Keep the decisions that cells with '=' in FILE record.
        worksheet: Write the annotators' chains and the result side by side to FILE, for editing and for --forced.
        report: Write the cost of every link to FILE, as JSON.
    """
    from closeread.files import text_suffix, write_texts
    from closeread.formats.json_lines import dump_json
    from closeread.tasks.coref.adjudication.forced import NOTHING_FORCED, read_forced
    from closeread.tasks.coref.adjudication.results import (
        Settings,
        dump_worksheet,
        join_results,
        make_report,
        summarize,
    )
    from closeread.tasks.coref.adjudication.results import adjudicate as solve
    from closeread.tasks.coref.adjudication.solver import Deadline
    from closeread.tasks.coref.files import dump_documents
    from closeread.tasks.coref.formats.conll import dump_in_frames

    settings = Settings(objective, incompatible, empty_annotators)
    documents = _read_annotated(files)
    decisions = None if forced is None else read_forced(forced)
    if decisions is not None:
        decisions.check(documents, incompatible)
        warn_all(decisions.notices)
    by_name = {} if decisions is None else decisions.documents
    deadline = Deadline(time_limit)
    results = [
        solve(document, settings, deadline, by_name.get(document.name, NOTHING_FORCED))
        for document in documents
    ]
    if unproved := [result.document.name for result in results if not result.is_optimal]:
        what = f"{pluralize(len(unproved), 'document')} not solved in time: {join_names(unproved)}"
        warn_all([f"{what}; the best chains found are written, and better ones may exist."])
    texts = {}
    if worksheet is not None:
        texts[worksheet] = dump_worksheet(results, [str(path) for path in files], by_name)
    if report is not None:
        texts[report] = dump_json(make_report(results, settings))
    joined = join_results(results)
    if text_suffix(output) == ".conll":
        try:
            texts[output] = dump_in_frames(joined)
        except ValueError as error:
            raise RequestError(f"cannot write {output}: {error}") from None
    else:
        texts[output] = dump_documents(joined, output)
    write_texts(texts)
    return Written(output, summarize(results), joined)


def _read_annotated(files: Sequence[Path]) -> list[AnnotatedDocument]:
    """Read the annotators' files, and note any annotation that the result lacks."""
    from closeread.counts.annotators import Annotator, find_repeated_paths
    from closeread.tasks.coref.adjudication.annotators import count_singletons, join_annotators
    from closeread.tasks.coref.annotators import list_notices, read_annotators

    names = [str(path) for path in files]
    if repeated := [name for name in names if names.count(name) > 1]:
        raise RequestError(f"{repeated[0]} is given twice (expected one file for each annotator)")
    annotators = [Annotator(str(path), path) for path in files]
    read = read_annotators(annotators)
    notices = [*list_notices(read), *find_repeated_paths(annotators)]
    tables = {file.name: file.table for file in read}
    if any(table.head is not None and len(table.head) for table in tables.values()):
        notices.append("heads of mentions are left out of the result.")
    if any(table.relations is not None for table in tables.values()):
        notices.append("relations other than identity are left out of the result.")
    if n_alone := sum(count_singletons(table) for table in tables.values()):
        notices.append(f"{pluralize(n_alone, 'chain')} of one mention ignored.")
    warn_all(notices)
    return join_annotators(tables)


OPERATIONS: Operations = {
    "adjudicate": {"coref": adjudicate},
    "agreement": {"coref": agreement},
    "convert": {"coref": convert},
    "errors": {"chains": chains, "coref": errors},
    "plot": {"link-support": link_support, "mistakes": mistakes},
}
