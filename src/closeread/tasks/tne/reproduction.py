"""TNE's tables, figures and figures of the text, recomputed from the release.

Source: Elazar, Basmov, Goldberg and Tsarfaty (2021, preprint).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from closeread.arrays import ratio
from closeread.corpus.reproduction import Inputs, Recompute, Recomputed
from closeread.counts.printed_tables import Claim, Value
from closeread.tasks.tne.columns import PREPOSITIONS, Documents
from closeread.tasks.tne.records import OTHER, SMALLEST, find_ends
from closeread.tasks.tne.release import Statistics, measure_columns, read_test
from closeread.tasks.tne.reproduction_baselines import score_without_models
from closeread.tasks.tne.reproduction_identities import identities
from closeread.tasks.tne.reproduction_models import describe_links, describe_prepositions
from closeread.tasks.tne.reproduction_text import text

COUNTS = {
    "Documents": "documents",
    "Tokens": "tokens",
    "NPs": "noun phrases",
    "Coref-Clusters": "clusters of more than one",
    "NP-Links": "links",
    "Coref-Links": "links, once a cluster",
    "Avg. Distance": "mean distance in tokens",
    "% Surface-Form": "% of links in surface form",
    "% Surface-Form+": "% of links in extended surface form",
}
AVERAGES = {
    "Avg. Transitive": "transitive links",
    "Avg. Title Links": "links to the title",
    "Avg. Symmetric Links": "symmetric links",
}
"""Rows of means over documents."""

PERCENTAGES = {"% Anaphores": "links to what stands before", "% Intersentential": "links between sentences"}
"""Rows of percentages of the links."""

SHOWN = ("of", "in", "from", "for", "near", "at", "by", "member(s) of", "about")
"""The prepositions of Figure 4."""


def table_2(inputs: Inputs) -> Recomputed:
    """Recompute Table 2, as far as the splits are at hand."""
    return {(row, column): value for column, found in measure_columns(inputs).items() for row, value in _list(found)}


def _list(found: Statistics) -> Iterator[tuple[str, float]]:
    """Yield the rows of a column of Table 2."""
    for row, name in COUNTS.items():
        if name in found:
            yield row, found[name]
    for rows, whole, scale in ((AVERAGES, "documents", 1), (PERCENTAGES, "links", 100)):
        for row, name in rows.items():
            if name in found:
                yield row, scale * float(ratio(found[name], found[whole]))


def figure_4(inputs: Inputs) -> Recomputed:
    """Recompute Figure 4: the percentage of links with each preposition, those under `SMALLEST` together."""
    found = measure_columns(inputs).get("test", {})
    if not found.get("links"):
        return {}
    shares = {name: 100 * float(ratio(found[f"links: {name}"], found["links"])) for name in PREPOSITIONS[1:]}
    other = sum(share for share in shares.values() if share < SMALLEST)
    return {(name, "test"): share for name, share in ({name: shares[name] for name in SHOWN} | {OTHER: other}).items()}


def table_6(inputs: Inputs) -> Recomputed:
    """Show what Table 6 says of TNE and the links of test can show."""
    documents = read_test(inputs)
    if documents is None or not len(documents.links):
        return {}
    surface = measure_columns(inputs)["test"]["% of links in surface form"]
    cells: dict[str, Value] = {
        **_describe_anchors(documents),
        "relations have to be implicit": Claim(f"{surface:.1f} % of links are in surface form", surface > 0),
    }
    return {(row, "TNE"): value for row, value in cells.items()}


def _describe_anchors(documents: Documents) -> dict[str, Claim]:
    """Count anchors and links that Table 6 says are allowed."""
    phrases, clusters = documents.noun_phrases, documents.cluster_of
    anchor, complement = find_ends(documents)
    begin = phrases.first_token
    first = np.full(int(clusters.max()) + 1, begin.max())
    np.minimum.at(first, clusters, begin)
    anchors = np.unique(anchor)
    _, targets = np.unique(np.unique(np.stack([anchor, clusters[complement]]), axis=1)[0], return_counts=True)
    counts = {
        "anchor may be discourse-old": ("anchors have an earlier mention", begin[anchors] > first[clusters[anchors]]),
        "cataphoric links allowed": ("links have a later complement", begin[complement] > begin[anchor]),
        "anchor has to be definite": (
            "anchors begin with a or an",
            np.array([phrases.text[place].lower().startswith(("a ", "an ")) for place in anchors.tolist()]),
        ),
        "several complements allowed": ("anchors have complements of several clusters", targets > 1),
    }
    return {
        row: Claim(f"{int(mask.sum()):,} of {len(mask):,} {what}", bool(mask.any()))
        for row, (what, mask) in counts.items()
    }


def table_3(inputs: Inputs) -> Recomputed:
    """Recompute the rows of Table 3 that need no model, and those of the runs that are at hand."""
    return {**score_without_models(inputs), **(describe_links(inputs, inputs.runs) if inputs.runs else {})}


def table_5(inputs: Inputs) -> Recomputed:
    """Recompute the rows of Table 5 of the runs that are at hand."""
    return describe_prepositions(inputs, inputs.runs) if inputs.runs else {}


TAKES = ("runs",)

RECOMPUTE: Mapping[str, Recompute] = {
    "Table 2": table_2,
    "Table 3": table_3,
    "Table 5": table_5,
    "Identities": identities,
    "Table 6": table_6,
    "Figure 4": figure_4,
    "Text": text,
}
