"""The agreement of annotators of coreference as a table."""

from __future__ import annotations

from closeread.exceptions import pluralize
from closeread.tables import Grid, format_percent
from closeread.tasks.coref.agreement import Agreement
from closeread.wording import choose_words


def make_grid(measured: Agreement) -> Grid:
    """Return the table of documents, with all of them together in the last row."""
    chosen = measured.options
    shown = measured.documents[: measured.limit]
    rows = [
        [one.document, f"{one.annotators:,}", f"{one.mentions:,}", *map(format_percent, one.alpha.values())]
        for one in shown
    ]
    rows.append([f"{chosen['average']} average", "", "", *map(format_percent, measured.alpha.values())])
    left = len(measured.documents) - len(shown)
    where = choose_words("--limit, --json and --format csv", "to_frame()")
    notes = [f"{pluralize(left, 'more document')}: see {where}."] if left else []
    notes += [
        "Krippendorff's alpha times 100."
        if chosen["form"] == "standard"
        else "Alpha times 100 as printed in Schüller et al. (2018), which is not Krippendorff's.",
        f"Options: {', '.join(f'{name} {value}' for name, value in chosen.items())}.",
    ]
    return Grid("", ["document", "annotators", "mentions", "nominal", "IAA1", "IAA2"], rows, notes)


def make_rows(measured: Agreement) -> tuple[list[str], list[list[object]]]:
    """Return header and rows: every document, and all of them together in the last row."""
    rows: list[list[object]] = [
        [one.document, one.annotators, one.mentions, *one.alpha.values()] for one in measured.documents
    ]
    rows.append([None, None, None, *measured.alpha.values()])
    return ["document", "annotators", "mentions", *measured.alpha], rows
