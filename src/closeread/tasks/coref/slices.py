"""Counts of parts of documents: the mentions of each value of a field, such as the size of their entity.

Conventions: recall is over the mentions of the key in a slice, precision over those of the response.  The counts of all
slices sum to those of the documents (`closeread.tasks.coref.kernels.per_mention`).  CEAF maps entities to entities, and
BLANC and CoNLL F1 need other counts than sums over mentions, so they have no slices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from closeread.counts.procedure import Options
from closeread.counts.table import Breakdown
from closeread.exceptions import RequestError
from closeread.tasks.coref.columns import MentionTable
from closeread.tasks.coref.kernels.per_mention import METRICS, share_mentions, sum_groups
from closeread.tasks.coref.matching import Documents, Matched, repeats, table_of
from closeread.tasks.coref.mention_fields import FIELDS, order_mentions

COUNTS = tuple(
    f"{metric}/{count}" for metric in METRICS for count in ("found_of_key", "key", "found_of_response", "response")
)
"""What is counted in each slice."""


def find_lacking(key: Documents, response: Documents, options: Options, field: str) -> str:
    """Say what is missing for slices by a field of mentions; empty if nothing is.

    Args:
        key, response: both sides.
        options: the options of the procedure, of which `average`, `duplicates`, `matching` and `split_antecedents`
            matter.
        field: a name in `FIELDS`.
    """
    if options["average"] == "macro":
        return f"slices by {field} are parts of documents, whose scores can't be averaged; use average micro"
    if options["matching"] == "minimum":
        return f"{field} needs mentions that match at most one, as minimum spans need not; use another matching"
    if options["split_antecedents"] != "ignore":
        return f"slices by {field} have no split antecedents; use split_antecedents ignore"
    own = table_of(key)
    for name, table in (("key", own), ("response", with_annotation(table_of(response), own))):
        if len(table.entity) and (lacking := FIELDS[field].lacks(table)):
            return f"{field} needs {lacking}, but the {name} has none"
        if options["duplicates"] == "reference" and len(repeats(table)):
            return f"{field} needs every mention in one entity, but the {name} repeats mentions; use duplicates first"
    return ""


def require_fields(key: Documents, response: Documents, options: Options, fields: Sequence[str]) -> None:
    """Check that nothing is missing for slices by some fields of mentions.

    Raises:
        RequestError: something is.
    """
    for field in fields:
        if lacking := find_lacking(key, response, options, field):
            raise RequestError(lacking)


def with_annotation(response: MentionTable, key: MentionTable) -> MentionTable:
    """Return the response with what it shares with the key: words and their parts of speech, and empty nodes.

    It has the key's empty nodes if its format counts no tokens, so that its mentions are numbered as the key's.
    """
    has_tokens = response.empty is not None or response.n_tokens is not None
    empty = response.empty if has_tokens else key.empty
    return replace(response, words=key.words or response.words, empty=empty)


def count_slices(fields: Sequence[str], matched: Matched) -> dict[str, Breakdown]:
    """Count the mentions of each value of some fields in every document.

    Args:
        fields: names in `FIELDS`.
        matched: key and response.
    """
    tables = matched.key, with_annotation(matched.response, matched.key)
    shares = share_mentions(matched.sides, matched.direct(), (order_mentions(tables[0]), order_mentions(tables[1])))
    slices = {}
    for name in fields:
        field = FIELDS[name]
        groups = field.number(tables[0]), field.number(tables[1])
        counts = sum_groups(matched.sides, shares, groups, len(field.parts), len(matched.key.names))
        slices[name] = Breakdown.from_dense(field.parts, counts, COUNTS)
    return slices
