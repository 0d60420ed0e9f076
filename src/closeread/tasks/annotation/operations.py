"""What users can do with annotators of coreference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from closeread.tasks.coref.formats import ALL_ANNOTATION, StandoffOptions

if TYPE_CHECKING:
    from closeread.corpus.figures import Drawing
    from closeread.counts.results import Result
    from closeread.tasks.annotation.annotators import AnnotatorFile
    from closeread.tasks.annotation.forced import ForcedDocument

CorefFile = Annotated[Source, Param(corpus="coref")]
CorefFiles = Annotated[Sources, Param(metavar="FILES...", corpus="coref")]


def draw_agreement(
    annotators: CorefFiles,
    *,
    standoff: StandoffOptions = ALL_ANNOTATION,
    **options: Annotated[str, Param(declared="agreement", corpus="annotation")],
) -> Drawing:
    """Draw the agreement of annotators of coreference.

    Figures are those of `closeread agreement coref`: alpha of each document, with the average of all documents and its
    interval as line and band, and the agreement of every two annotators, about mentions alone and about chains.

    \b
    Examples:
      closeread plot agreement anna.conll ben.conll cleo.conll -o agreement.png
      closeread plot agreement inception-project.zip -o agreement.svg
    """
    from closeread.corpus.figures import Drawing
    from closeread.tasks.annotation.divisions import compare_annotators
    from closeread.tasks.annotation.plots import draw_alpha

    agreement = compare_annotators(annotators, given=None, standoff=standoff, **options)
    warn_all(agreement.notices)
    documents = pluralize(len(agreement.documents), "document")
    summary = f"{documents}, {pluralize(len(agreement.annotators), 'annotator')}"
    return Drawing(draw_alpha(agreement), summary)


def link_support(
    gold: CorefFile, annotators: CorefFiles, *, standoff: StandoffOptions = ALL_ANNOTATION
) -> Drawing:
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
    from closeread.tasks.annotation.annotators import read_beside_gold
    from closeread.tasks.annotation.plots import count_support, draw_link_support

    key, files, notices = read_beside_gold(gold, annotators, standoff)
    warn_all(notices)
    counts = count_support(key, files)
    summary = f"{pluralize(int(counts.sum()), 'link')}, {int(counts[0].sum()):,} in gold"
    return Drawing(draw_link_support(counts), summary)


def mistakes(
    gold: CorefFile, annotators: CorefFiles, *, standoff: StandoffOptions = ALL_ANNOTATION
) -> Drawing:
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
    from closeread.tasks.annotation.chain_errors import count_chain_errors
    from closeread.tasks.annotation.plots import draw_mistakes

    chain_errors = count_chain_errors(gold, annotators, standoff)
    warn_all(chain_errors.notices)
    n_chains = pluralize(chain_errors.n_chains, "chain")
    summary = f"{n_chains}, {chain_errors.n_mistaken:,} of them mistaken"
    return Drawing(draw_mistakes(chain_errors), summary)


def chains(
    gold: CorefFile, predictions: CorefFiles, *, standoff: StandoffOptions = ALL_ANNOTATION
) -> Result:
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
    from closeread.tasks.annotation.chain_errors import count_chain_errors

    return count_chain_errors(gold, predictions, standoff)


def agreement(
    annotators: CorefFiles,
    *,
    given: Annotated[Source | None, Param(metavar="FILE", corpus="coref")] = None,
    limit: Count = 20,
    standoff: StandoffOptions = ALL_ANNOTATION,
    **options: Annotated[str, Param(declared="agreement", corpus="annotation")],
) -> Result:
    """Measure agreement by Krippendorff's alpha.

    The value that an annotator gives a mention is its chain.  Each file, or folder of files, is an annotator, in any
    format that `closeread score coref` reads; a project of an annotation tool may have several.  Annotators may have
    some of the documents, which are matched by name.  Further tables show how every two annotators agree, about
    mentions alone and about chains, and which mentions divide them most.  Distances between chains are nominal, IAA1
    (Passonneau, 2004) and IAA2 (Passonneau et al., 2006).

    \b
    Examples:
      closeread agreement coref anna.conll ben.conll cem.conll
      closeread agreement coref annotations/*.conll --given given.conll --json
      closeread agreement coref inception-project.zip

    Args:
        given: Measure agreement on the mentions in this file, which annotators were given, instead of on all mentions
            of any annotator.
        limit: List at most this many documents, those with the lowest alpha, and mentions in tables; JSON lists all.
    """
    from closeread.tasks.annotation.divisions import compare_annotators

    return replace(
        compare_annotators(annotators, given=given, standoff=standoff, **options), limit=limit
    )


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
    standoff: StandoffOptions = ALL_ANNOTATION,
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
    from closeread.files import text_suffix
    from closeread.formats.json_lines import dump_json
    from closeread.tasks.annotation.adjudication import Settings
    from closeread.tasks.annotation.adjudication import adjudicate as adjudicate_document
    from closeread.tasks.annotation.annotators import find_token_sources, gather_documents
    from closeread.tasks.annotation.forced import NOTHING_FORCED, read_forced
    from closeread.tasks.annotation.results import (
        dump_worksheet,
        join_results,
        make_report,
        summarize,
    )
    from closeread.tasks.annotation.solver import Deadline
    from closeread.tasks.coref.files import dump_files, write_files
    from closeread.tasks.coref.formats.conll import dump_in_frames

    settings = Settings(objective, incompatible, empty_annotators)
    annotators = _read_annotated(files, standoff)
    annotated = [annotator.documents for annotator in annotators]
    sources = find_token_sources(annotated)
    decisions: Mapping[str, ForcedDocument] = {}
    if forced is not None:
        forced_file = read_forced(forced)
        forced_file.check(sources, incompatible)
        warn_all(forced_file.notices)
        decisions = forced_file.documents
    # In the order of the files, if that is the same for all of them, and else by name.
    orders = {tuple(documents.names) for documents in annotated}
    names = orders.pop() if len(orders) == 1 else None
    deadline = Deadline(time_limit)
    results = []
    for document in gather_documents(annotated, names):
        decided = decisions.get(document.name, NOTHING_FORCED)
        results.append(adjudicate_document(document, settings, deadline, decided))
    unproved = [result.document.name for result in results if not result.is_optimal]
    if unproved:
        documents = f"{pluralize(len(unproved), 'document')} not solved in time"
        advice = "the best chains found are written, and better ones may exist"
        warn_all([f"{documents}: {join_names(unproved)}; {advice}."])
    texts = {}
    paths = [annotator.name for annotator in annotators]
    if worksheet is not None:
        texts[worksheet] = dump_worksheet(results, sources, paths, decisions)
    if report is not None:
        texts[report] = dump_json(make_report(results, settings, paths))
    joined = join_results(results, sources)
    if text_suffix(output) == ".conll":
        try:
            texts[output] = dump_in_frames(joined.documents)
        except ValueError as error:
            raise RequestError(f"cannot write {output}: {error}") from None
    else:
        undecided = {result.document.name: result.list_undecided() for result in results}
        texts |= dump_files(joined, output, undecided=undecided)
    write_files(texts, output)
    return Written(output, summarize(results), joined)


def _read_annotated(paths: Sequence[Path], standoff: StandoffOptions) -> list[AnnotatorFile]:
    """Read the annotators' files, and note any annotation that the result lacks."""
    from closeread.counts.annotators import Annotator, find_repeated_paths
    from closeread.tasks.annotation.annotators import (
        count_singletons,
        list_notices,
        read_annotators,
    )

    names = [str(path) for path in paths]
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise RequestError(f"{repeated[0]} is given twice (expected one file for each annotator)")
    annotators = [Annotator(str(path), path) for path in paths]
    files = read_annotators(annotators, standoff)
    notices = [*list_notices(files), *find_repeated_paths(annotators)]
    annotated = [file.documents for file in files]
    if any(documents.has_mentions and documents.has_heads for documents in annotated):
        notices.append("heads of mentions are left out of the result.")
    if any(documents.has_relations for documents in annotated):
        notices.append("relations other than identity are left out of the result.")
    n_singletons = sum(map(count_singletons, annotated))
    if n_singletons:
        notices.append(f"{pluralize(n_singletons, 'chain')} of one mention ignored.")
    warn_all(notices)
    return files


OPERATIONS: Operations = {
    "adjudicate": {"coref": adjudicate},
    "agreement": {"coref": agreement},
    "errors": {"chains": chains},
    "plot": {"agreement": draw_agreement, "link-support": link_support, "mistakes": mistakes},
}
