"""What errors of coreference can be counted: those of a system, and those in chains of annotators or systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from closeread.counts.annotators import Annotator
from closeread.counts.procedure import Place
from closeread.exceptions import RequestError, pluralize
from closeread.suggestions import describe_unknown
from closeread.tasks.coref.chain_errors import count_chain_errors
from closeread.tasks.coref.error_report import LIMIT, ErrorReport, check_options, count_errors
from closeread.tasks.coref.matching import table_of
from closeread.tasks.coref.procedure import PROCEDURE

OF_SCORES = {"keep_singletons", "blanc_edge", "average", "split_antecedents"}
"""Options that change scores, but no error."""


def analyse(
    gold: Annotator,
    systems: Sequence[Annotator],
    *,
    kinds: str | Sequence[str] = (),
    document: str | None = None,
    by: str | Sequence[str] = (),
    limit: int = LIMIT,
    **options: str,
) -> ErrorReport:
    """Count and list wrong entities and mentions of a system.

    Args:
        gold: the key.
        systems: the response, alone.
        kinds: the kinds to list; none for all.
        document: the only document to count and list; None for all.
        by: also count errors for each value of these fields.
        limit: how many documents, and errors of each kind, tables list.
        **options: the options of the procedure that can change an error.

    Raises:
        RequestError: an option, kind, field or document does not exist; an InputError if a side is invalid.
    """
    kinds, by = ((one,) if isinstance(one, str) else tuple(one) for one in (kinds, by))
    known = [option.name for option in PROCEDURE.options if option.name not in OF_SCORES]
    for name in options:
        if name not in (*known, "preset"):
            raise RequestError(describe_unknown("option of errors coref", name, known))
    check_options(options, kinds)
    if len(systems) != 1:
        raise RequestError(f"got {pluralize(len(systems), 'response')} (expected one)")
    resolved, sides = PROCEDURE.resolve_options(options), PROCEDURE.sides
    key = sides.read_gold(Place(gold=gold.source), resolved)
    response = sides.read_system(key, systems[0].source, resolved)
    own, other = table_of(key.records), table_of(response.rows)
    found = count_errors(own, other, resolved, kinds=kinds, document=document, by=by)
    return replace(found, limit=limit, notices=(*key.notices, *response.notices))


ERRORS = {"coref": analyse, "chains": count_chain_errors}
