"""Records of TNE: statistics as in Table 2 and Figure 4 of the paper, a view for readers, and flat rows (links).

Source: Elazar, Basmov, Goldberg and Tsarfaty (2021, preprint), section 6 with Table 2 and Figure 4; the definitions are
those that give the printed values.  The paper does not say how it finds sentences.

Conventions: a link is a row of the file, so a duplicate counts twice, and a link to several coreferring noun phrases
counts once for each.  A link is in surface form only with exactly its own words.  Without any links, only sizes are
counted.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from closeread.arrays import ratio
from closeread.corpus.showing import Part, View, mark_spans
from closeread.exceptions import shorten
from closeread.records import ColumnRecords, Record
from closeread.tables import Grid
from closeread.tasks.tne.columns import (
    PREPOSITIONS,
    TITLE_END,
    find_clusters,
    list_phrases,
    number_sentences,
)

LOOK_AHEAD = 10
"""The number of tokens after an anchor, white space excluded, in which the extended form looks for its preposition."""

OTHER, SMALLEST = "Other", 4.0  # Figure 4 combines prepositions under this percentage of the links

DISTANCE, SURFACE, EXTENDED = MEANS = (
    *(
        "mean distance in tokens",
        "% of links in surface form",
        "% of links in extended surface form",
    ),
)
"""The statistics that are means: the first over links, the others over documents with links."""

STATISTICS = (
    *(
        "links",
        "pairs",
        "triplets",
        "links, once per cluster",
        "links to the title",
        "symmetric links",
    ),
    *("transitive links", "links between sentences", "links to preceding phrases", *MEANS),
    *(f"links: {preposition}" for preposition in PREPOSITIONS[1:]),
)
"""The statistics of links."""


SIZES = ("documents", "tokens", "noun phrases", "clusters of more than one")


def facts(records: Sequence[Record]) -> dict[str, float]:
    """Count documents, noun phrases and links: links of each kind and preposition, their length and surface form.

    Means are rounded to two digits.
    """
    found = summarize(list(map(count_record, records)))
    return {name: round(value, 2) if name in MEANS else value for name, value in found.items()}


def distributions(records: Sequence[Record]) -> dict[str, dict[str, int]]:
    """Count the links of each preposition, the most frequent first (Elazar et al., 2021, Figure 4)."""
    counts: Counter[str] = Counter()
    for record in records:
        counts.update(link["preposition"] for link in record["np_relations"] or ())
    return {"links by preposition": dict(counts.most_common())}


def summarize(counted: Sequence[Counter[str]]) -> dict[str, float]:
    """Return the statistics of documents whose sizes and links have been counted by `count_record`."""
    linked = [of_document for of_document in counted if of_document["links"]]
    names = SIZES + STATISTICS if linked else SIZES
    total: dict[str, float] = {
        name: sum(of_document[name] for of_document in counted) for name in names
    }
    if linked:
        total["symmetric links"] /= 2
        total[DISTANCE] = float(ratio(total[DISTANCE], total["links"]))
        for name in (SURFACE, EXTENDED):
            shares = [ratio(of_document[name], of_document["links"]) for of_document in linked]
            total[name] = 100 * float(np.mean(shares))
    return total


def count_record(record: Record) -> Counter[str]:
    """Count what a document has and, if it has links, those of each kind, and sum their distances."""
    tokens, clusters = record["tokens"], record.get("coref") or ()
    found = Counter(
        {"documents": 1, "tokens": len(tokens), "noun phrases": len(record.get("nps") or ())}
    )
    found["clusters of more than one"] = sum(len(cluster["members"]) > 1 for cluster in clusters)
    links = [
        (link["anchor"], link["preposition"], link["complement"])
        for link in record.get("np_relations") or ()
    ]
    if not links:
        return found
    text, sentence, cluster = record["text"], number_sentences(tokens), find_clusters(record)
    phrases = {phrase["id"]: phrase for phrase in list_phrases(record)}
    complements: dict[str, set[str]] = defaultdict(set)
    for anchor, _, complement in links:
        complements[anchor].add(complement)
    solid = [place for place, token in enumerate(tokens) if not token.isspace()]
    # by anchor: the tokens after it that may be its preposition, each with the place of the token
    # behind it
    ahead = {}
    for anchor in complements:
        places = solid[bisect_right(solid, phrases[anchor]["last_token"]) :][: LOOK_AHEAD + 1]
        ahead[anchor] = [(tokens[place], following) for place, following in pairwise(places)]
    found.update(f"links: {preposition}" for _, preposition, _ in links)
    found["links"], found["triplets"], found["pairs"] = (
        len(links),
        len(set(links)),
        sum(map(len, complements.values())),
    )
    found["links, once per cluster"] = len(
        {(anchor, cluster[complement]) for anchor, _, complement in links}
    )
    title = text.find(TITLE_END)
    for anchor, preposition, complement in links:
        one, other = phrases[anchor], phrases[complement]
        begin, end = one["first_token"], other["first_token"]
        words = tokens[end : other["last_token"] + 1]
        is_surface = text.startswith(f" {preposition} {other['text']}", one["last_char"])
        found["links to the title"] += other["last_char"] <= title
        found["symmetric links"] += anchor in complements.get(complement, ())
        found["transitive links"] += not complements[anchor].isdisjoint(
            complements.get(complement, ())
        )
        found["links between sentences"] += sentence[begin] != sentence[end]
        found["links to preceding phrases"] += end < begin
        found[DISTANCE] += abs(end - begin)
        found[SURFACE] += is_surface
        found[EXTENDED] += is_surface or any(
            said == preposition and tokens[place : place + len(words)] == words
            for said, place in ahead[anchor]
        )
    return found


LINK = ("anchor", "preposition", "complement")
SIDES = {(True, True): "both", (True, False): "gold only", (False, True): "system only"}
EXAMPLES = 2  # the number of links of an example

SHOWN = 200  # how many characters of a noun phrase are shown; it may be in many links


def draw(records: Sequence[Record], system: Sequence[Record | None] | None) -> Iterator[Part]:
    """Draw the text, the clusters and the links of each document."""
    for number, record in enumerate(records):
        about = ", ".join(record[name] for name in ("domain", "forum") if record.get(name))
        yield f"{record['id']} ({about})" if about else record["id"]
        spans = ((np["first_char"], np["last_char"] - 1, np["id"]) for np in record["nps"])
        yield "".join(mark_spans(record["text"], spans))
        names = {np["id"]: f"{np['id']} [{shorten(np['text'], SHOWN)}]" for np in record["nps"]}
        clusters = [
            [one["id"], ", ".join(names.get(name, f"{name} [?]") for name in one["members"])]
            for one in record["coref"]
            if len(one["members"]) > 1
        ]
        if clusters:
            yield Grid("", ["cluster", "noun phrases"], clusters, prose=frozenset({"noun phrases"}))
        if system is None and record.get("np_relations") is None:
            yield "Links: withheld"
            continue
        row = system[number] if system is not None else None
        gold, predicted = (
            dict.fromkeys(tuple(link[name] for name in LINK) for link in links or ())
            for links in (record.get("np_relations"), row and row["relations"])
        )
        rows = []
        for link in sorted(gold | predicted, key=lambda link: (int(link[0][2:]), int(link[2][2:]))):
            anchor, complement = (names.get(name, f"{name} [?]") for name in (link[0], link[2]))
            side = [] if system is None else [SIDES[link in gold, link in predicted]]
            rows.append([*side, f"{anchor} {link[1]} {complement}"])
        yield Grid(
            "", ["link"] if system is None else ["in", "link"], rows, prose=frozenset({"link"})
        )


def predict(record: Record) -> Record:
    """Predict the first links."""
    few = (record["np_relations"] or ())[:EXAMPLES]
    return {"id": record["id"], "relations": [{name: link[name] for name in LINK} for link in few]}


VIEWS = {"document": View(draw, predict=predict)}


FLAT = (
    *(
        "id",
        "domain",
        "forum",
        "anchor",
        "anchor_text",
        "preposition",
        "complement",
        "complement_text",
    ),
    "complement_coref_cluster_id",
)


def flatten(records: Sequence[Record]) -> ColumnRecords:
    """Return a row for each link, in the order of the documents and of their links."""
    rows = []
    for record in records:
        texts = {np["id"]: np["text"] for np in record["nps"]}
        about = (record["id"], record.get("domain"), record.get("forum"))
        for link in record.get("np_relations") or ():
            anchor, complement = link["anchor"], link["complement"]
            ends = (anchor, texts[anchor], link["preposition"], complement, texts[complement])
            rows.append((*about, *ends, link["complement_coref_cluster_id"]))
    return ColumnRecords.from_rows(FLAT, rows)
