"""Counts of parts of documents: the mentions of each value of a field, such as the size of their entity.

Conventions: recall is over the mentions of the key in a slice, precision over those of the response.  The counts of all
slices sum to those of the documents (`closeread.tasks.coref.kernels.per_mention`).  CEAF maps entities to entities, and
BLANC and CoNLL F1 need other counts than sums over mentions, so they have no slices.
"""

from __future__ import annotations

from closeread.counts.sides import Options
from closeread.counts.table import Breakdown
from closeread.tasks.coref.columns import MentionTable
from closeread.tasks.coref.kernels.per_mention import METRICS, count_groups
from closeread.tasks.coref.kernels.sides import Side
from closeread.tasks.coref.matching import Documents, repeats, table_of
from closeread.tasks.coref.mention_fields import FIELDS, order_mentions

COUNTS = tuple(
    f"{metric}/{count}" for metric in METRICS for count in ("found_of_key", "key", "found_of_response", "response")
)
"""What is counted in each slice."""


def find_lacking(key: Documents, response: Documents, options: Options, field: str) -> str:
    """Say what is missing for slices by a field of mentions; empty if nothing is.

    Args:
        key, response: both sides.
        options: the options of the procedure, of which `average` and `duplicates` matter.
        field: a name in `FIELDS`.
    """
    if options["average"] == "macro":
        return f"{field} divides documents, so their scores can't be averaged; use average micro"
    for name, table in (("key", table_of(key)), ("response", table_of(response))):
        if len(table.entity) and (lacking := FIELDS[field].lacks(table)):
            return f"{field} needs {lacking}, but the {name} has none"
        if options["duplicates"] == "reference" and len(repeats(table)):
            return f"{field} needs every mention in one entity, but the {name} repeats mentions; use duplicates first"
    return ""


def count_slices(
    field: str, tables: tuple[MentionTable, MentionTable], sides: tuple[Side, Side], n_documents: int
) -> Breakdown:
    """Count the mentions of each value of a field in every document.

    Args:
        field: a name in `FIELDS`.
        tables, sides: key and response, the same rows in both forms.
        n_documents: the number of documents.
    """
    parts = FIELDS[field].parts
    orders = order_mentions(tables[0]), order_mentions(tables[1])
    groups = FIELDS[field].number(tables[0]), FIELDS[field].number(tables[1])
    return Breakdown.from_dense(parts, count_groups(*sides, orders, groups, len(parts), n_documents), COUNTS)
