"""What users can do with coreference in any corpus."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from closeread.corpus.notices import name_systems, warn_all
from closeread.exceptions import RequestError, name_option, pluralize
from closeread.parameters import (
    Count,
    Operations,
    Output,
    Param,
    Source,
    Sources,
    Written,
)
from closeread.tasks.coref.formats import ALL_ANNOTATION, StandoffOptions, WrittenFormat

if TYPE_CHECKING:
    from closeread.counts.metrics import Metric
    from closeread.counts.procedure import Procedure
    from closeread.counts.results import Result
    from closeread.tasks.coref.documents import Documents

Files = Annotated[Sources, Param(metavar="FILES...")]


def convert(
    source: Source,
    *,
    side: Literal["key", "response"] = "key",
    form: Annotated[WrittenFormat | None, Param(flag="--to")] = None,
    blind: bool = False,
    output: Output | None = None,
    standoff: StandoffOptions = ALL_ANNOTATION,
) -> Written:
    """Convert coreference to another of seven formats.

    They are CoNLL (.conll), CorefUD (.conllu), JSON Lines (.jsonl), WebAnno TSV (.tsv, or a folder with --to
    webanno-tsv), and of language models CRAC's text (.txt), CRAC's JSON (.json) and coref-data (.jsonl with --to
    coref-data).  SOURCE is a file, a folder of files, or - for standard
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
        documents = read_documents(source.source, is_response=is_response, standoff=standoff)
    else:
        documents = take_documents(source.source, source.name, is_response=is_response)
    if output is not None:
        documents = write_documents(documents, output, form, blind=blind)
    warn_all(documents.notices)
    return Written(output, pluralize(len(documents), "document"), documents)


def errors(
    gold: Annotated[Source, Param(metavar="KEY")],
    response: Source,
    second: Source | None = None,
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
    With a SECOND response, the mentions are listed that it repairs and adds: those that are missing, spurious, or in
    another entity than CEAFe maps to theirs, which is the kind "wrong entity".

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
        by: Also count errors for each value of FIELD; separate several by commas. Choose from: genre, treebank, language,
            folder, entity_size, mention_type, distance, zero, columns of the file given as fields.
        kinds: List only errors of this kind; may be repeated.
        document: Count and list only the errors of this document.
        sort: Order documents by number of errors, by score (the lowest first), or by name.
        metrics: Sort by the first of these metrics; separate several by commas.  [default: conll]
        limit: List at most this many documents, and errors of each kind, in tables; JSON and CSV list all.
    """
    from closeread.corpus.gold import GoldSource
    from closeread.counts.systems import make_names
    from closeread.tasks.coref.documents import documents_of
    from closeread.tasks.coref.errors import check_kinds, count_errors
    from closeread.tasks.coref.metrics.matching import count_repeated
    from closeread.tasks.coref.procedure import PROCEDURE
    from closeread.tasks.coref.verdicts import VERDICTS, compare_errors

    if second is None:
        check_kinds(kinds)
    else:
        check_kinds(kinds, VERDICTS)
        _refuse_for_two(by=bool(by), sort=sort != "errors", metrics=bool(metrics))
    procedure = PROCEDURE.select_metrics(metrics or None, options)
    resolved = procedure.resolve_options(options)
    reader = procedure.reader
    key = reader.read_gold(GoldSource(procedure, gold=gold.source), resolved)
    sources = [response] if second is None else [response, second]
    systems = [reader.read_system(key, source.source, resolved) for source in sources]
    responses = [documents_of(system.rows) for system in systems]
    key_documents = documents_of(key.records).without(_list_broken(responses))
    # An analysis of errors keeps each mention in one entity, whatever the option says.
    in_one_entity = {**resolved, "duplicates": "first"}
    notices = {}
    names = make_names([Path(source.name) for source in sources])
    for name, system in zip(names, systems, strict=True):
        notices[name] = [*system.notices, *reader.remarks(key, system, in_one_entity)]
    remarks = [*key.notices, *name_systems(notices)]
    has_repeats = any(count_repeated(side) for side in (key_documents, *responses))
    if resolved["duplicates"] in ("reference", "last") and has_repeats:
        remarks.append("a mention that is in several entities is listed in its first one.")
    if resolved["split_antecedents"] != "ignore":
        remarks.append("errors in split antecedents are not listed.")
    warn_all(remarks)
    skipped = _list_skipped(responses, resolved["missing"])
    key_documents = key_documents.without(skipped)
    if second is not None:
        left_out = skipped | _list_broken(responses)
        responses = [documents.without(left_out) for documents in responses]
        return compare_errors(
            key_documents, responses, resolved, kinds=kinds, document=document, limit=limit
        )
    system = systems[0]
    result = count_errors(
        key_documents, responses[0], resolved, kinds=kinds, document=document, by=by
    )
    if sort == "score":
        metric = choose_main_metric(procedure)
        how = procedure.keep_options(resolved, reading=False)
        counted = procedure.count(gold=key.records, system=system.rows, **how)
        scores = metric.score(counted.values, counted.names).tolist()
        score_by_name = dict(zip(counted.units, scores, strict=True))
        # Documents that are skipped have no score, and no errors.
        scores = [score_by_name.get(name, math.nan) for name in key_documents.names]
        result = replace(result, scores=scores, score_title=metric.title)
    return replace(result, limit=limit, sort=sort)


def _refuse_for_two(**has_option: bool) -> None:
    """Refuse options that only tables about one response have."""
    names = [name_option(name) for name, is_present in has_option.items() if is_present]
    if names:
        listed = ", ".join(names)
        raise RequestError(f"two responses are compared without {listed}")


def _list_broken(responses: Sequence[Documents]) -> set[str]:
    """Return the names of the documents of files that were left out because of their errors."""
    return set().union(*(documents.broken for documents in responses))


def _list_skipped(responses: Sequence[Documents], missing: str) -> set[str]:
    """Return the names of the documents that a response lacks, if these are skipped; they may be an error."""
    import numpy as np

    from closeread.counts.procedure import check_present

    skipped: set[str] = set()
    for documents in responses:
        check_present(np.array(documents.are_present(), bool), "documents", missing, "response")
        if missing == "skip":
            skipped.update(documents.list_absent())
    return skipped


def choose_main_metric(procedure: Procedure) -> Metric:
    """Return the metric that systems are ranked by, or if it is not computed, the first F1."""
    by_name = {metric.name: metric for metric in procedure.metrics}
    headline = by_name.get(procedure.headline)
    if headline is not None:
        return headline
    return next(metric for name, metric in by_name.items() if name.endswith("/f1"))


OPERATIONS: Operations = {
    "convert": {"coref": convert},
    "errors": {"coref": errors},
}
