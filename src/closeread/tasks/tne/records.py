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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from operator import itemgetter

import numpy as np

from closeread.arrays import ratio
from closeread.corpus.showing import Part, View, mark_spans
from closeread.exceptions import shorten
from closeread.records import ColumnRecords, Record
from closeread.tables import Grid
from closeread.tasks.tne.links import PREPOSITIONS
from closeread.tasks.tne.phrases import (
    TITLE_END,
    find_clusters,
    list_phrases,
    number_sentences,
)

LINK = ("anchor", "preposition", "complement")

Triple = tuple[str, str, str]
"""Anchor, preposition and complement of a link."""

LOOK_AHEAD = 10
"""The number of tokens after an anchor, white space excluded, in which the extended form looks for its preposition."""

DISTANCE = "mean distance in tokens"
SURFACE = "% of links in surface form"
EXTENDED = "% of links in extended surface form"
MEANS = (DISTANCE, SURFACE, EXTENDED)
"""The statistics that are means: the first over links, the others over documents with links."""

STATISTICS = (
    "links",
    "pairs",
    "triplets",
    "links, once per cluster",
    "links to the title",
    "symmetric links",
    "transitive links",
    "links between sentences",
    "links to preceding phrases",
    *MEANS,
    *(f"links: {preposition}" for preposition in PREPOSITIONS[1:]),
)
"""The statistics of links."""

SIZES = ("documents", "tokens", "noun phrases", "clusters of more than one")


def facts(records: Sequence[Record]) -> dict[str, float]:
    """Count documents, noun phrases and links: links of each kind and preposition, their length and surface form.

    Means are rounded to two digits.
    """
    statistics = summarize(list(map(count_record, records)))
    for name in MEANS:
        if name in statistics:
            statistics[name] = round(statistics[name], 2)
    return statistics


def distributions(records: Sequence[Record]) -> dict[str, dict[str, int]]:
    """Count the links of each preposition, the most frequent first (Elazar et al., 2021, Figure 4)."""
    counts: Counter[str] = Counter()
    for record in records:
        counts.update(link["preposition"] for link in record["np_relations"] or ())
    return {"links by preposition": dict(counts.most_common())}


def summarize(counts: Sequence[Counter[str]]) -> dict[str, float]:
    """Return the statistics of documents whose sizes and links have been counted by `count_record`."""
    linked = [counts_of_document for counts_of_document in counts if counts_of_document["links"]]
    total: Counter[str] = Counter()
    for counts_of_document in counts:
        total.update(counts_of_document)
    names = SIZES + STATISTICS if linked else SIZES
    statistics: dict[str, float] = {name: total[name] for name in names}
    if linked:
        # Both links of two noun phrases have been counted.
        statistics["symmetric links"] /= 2
        statistics[DISTANCE] = float(ratio(total[DISTANCE], total["links"]))
        for name in (SURFACE, EXTENDED):
            shares = [ratio(document[name], document["links"]) for document in linked]
            statistics[name] = 100 * float(np.mean(shares))
    return statistics


def count_record(record: Record) -> Counter[str]:
    """Count what a document has and, if it has links, those of each kind, and sum their distances."""
    clusters = record.get("coref") or ()
    counts = Counter(
        {
            "documents": 1,
            "tokens": len(record["tokens"]),
            "noun phrases": len(record.get("nps") or ()),
            "clusters of more than one": sum(len(cluster["members"]) > 1 for cluster in clusters),
        }
    )
    links = list(map(itemgetter(*LINK), record.get("np_relations") or ()))
    if links:
        _count_kinds(record, links, counts)
        _count_positions(record, links, counts)
    return counts


def _count_kinds(record: Record, links: Sequence[Triple], counts: Counter[str]) -> None:
    """Count the links, those of each preposition, and those that other links make symmetric or transitive."""
    cluster = find_clusters(record)
    complements: dict[str, set[str]] = defaultdict(set)
    for anchor, _, complement in links:
        complements[anchor].add(complement)
    counts["links"] = len(links)
    counts["pairs"] = sum(map(len, complements.values()))
    counts["triplets"] = len(set(links))
    by_cluster = {(anchor, cluster[complement]) for anchor, _, complement in links}
    counts["links, once per cluster"] = len(by_cluster)
    for anchor, preposition, complement in links:
        counts[f"links: {preposition}"] += 1
        further = complements.get(complement, set())
        counts["symmetric links"] += anchor in further
        counts["transitive links"] += not complements[anchor].isdisjoint(further)


def _count_positions(record: Record, links: Sequence[Triple], counts: Counter[str]) -> None:
    """Count the links by where their ends are in the text, and sum their distances."""
    text = record["text"]
    tokens = record["tokens"]
    title_end = text.find(TITLE_END)
    sentence = number_sentences(tokens)
    phrases = {phrase["id"]: phrase for phrase in list_phrases(record)}
    following = _find_following(tokens, {anchor: phrases[anchor] for anchor, _, _ in links})
    for anchor_name, preposition, complement_name in links:
        anchor = phrases[anchor_name]
        complement = phrases[complement_name]
        begin = anchor["first_token"]
        end = complement["first_token"]
        counts["links to the title"] += complement["last_char"] <= title_end
        counts["links between sentences"] += sentence[begin] != sentence[end]
        counts["links to preceding phrases"] += end < begin
        counts[DISTANCE] += abs(end - begin)
        is_joined = text.startswith(f" {preposition} {complement['text']}", anchor["last_char"])
        counts[SURFACE] += is_joined
        words = tokens[end : complement["last_token"] + 1]
        for token, place in following[anchor_name]:
            if is_joined:
                break
            is_joined = token == preposition and tokens[place : place + len(words)] == words
        counts[EXTENDED] += is_joined


def _find_following(
    tokens: Sequence[str], anchors: Mapping[str, Record]
) -> dict[str, list[tuple[str, int]]]:
    """Return the tokens after each anchor that may be its preposition, with the place of the token behind each."""
    solid = [place for place, token in enumerate(tokens) if not token.isspace()]
    following = {}
    for name, anchor in anchors.items():
        begin = bisect_right(solid, anchor["last_token"])
        places = solid[begin : begin + LOOK_AHEAD + 1]
        following[name] = [(tokens[place], behind) for place, behind in pairwise(places)]
    return following


SIDES = {(True, True): "both", (True, False): "gold only", (False, True): "system only"}
"""The names of sides, by whether gold and whether the system has a link."""

N_EXAMPLES = 2
"""The number of links of an example."""

MAX_SHOWN = 200
"""How many characters of a noun phrase are shown; it may be in many links."""


def draw(records: Sequence[Record], system: Sequence[Record | None] | None) -> Iterator[Part]:
    """Draw the text, the clusters and the links of each document."""
    for number, record in enumerate(records):
        origin = ", ".join(record[name] for name in ("domain", "forum") if record.get(name))
        yield f"{record['id']} ({origin})" if origin else record["id"]
        spans = [(np["first_char"], np["last_char"] - 1, np["id"]) for np in record["nps"]]
        yield "".join(mark_spans(record["text"], spans))
        names = _Names()
        for phrase in record["nps"]:
            names[phrase["id"]] = f"{phrase['id']} [{shorten(phrase['text'], MAX_SHOWN)}]"
        clusters = []
        for cluster in record["coref"]:
            members = cluster["members"]
            if len(members) > 1:
                clusters.append([cluster["id"], ", ".join(map(names.__getitem__, members))])
        if clusters:
            yield Grid("", ["cluster", "noun phrases"], clusters, prose=frozenset({"noun phrases"}))
        if system is not None:
            yield _draw_both(record, system[number] or {}, names)
        elif record.get("np_relations") is None:
            yield "Links: withheld"
        else:
            yield _draw_links(record, names)


class _Names(dict[str, str]):
    """The ids of the noun phrases of a document with their words, by id."""

    def __missing__(self, name: str) -> str:
        # A system or an annotator may invent ids.
        return f"{name} [?]"

    def show_link(self, link: Triple) -> str:
        """Return the words of a link."""
        anchor, preposition, complement = link
        return f"{self[anchor]} {preposition} {self[complement]}"


def _draw_links(record: Record, names: _Names) -> Grid:
    """Draw the gold links of a document."""
    rows = [[names.show_link(link)] for link in _sort_links(_list_links(record["np_relations"]))]
    return Grid("", ["link"], rows, prose=frozenset({"link"}))


def _draw_both(record: Record, row: Record, names: _Names) -> Grid:
    """Draw the links of gold and of a system, and which side each is from."""
    gold = _list_links(record.get("np_relations"))
    predicted = _list_links(row.get("relations"))
    rows = []
    for link in _sort_links(gold | predicted):
        side = SIDES[link in gold, link in predicted]
        rows.append([side, names.show_link(link)])
    return Grid("", ["in", "link"], rows, prose=frozenset({"link"}))


def _list_links(links: Sequence[Record] | None) -> dict[Triple, None]:
    """Return distinct links, in order."""
    return dict.fromkeys(map(itemgetter(*LINK), links or ()))


def _sort_links(links: Iterable[Triple]) -> list[Triple]:
    """Sort links by the numbers of their ends; those of a pair stay in order."""
    return sorted(links, key=lambda link: (int(link[0][2:]), int(link[2][2:])))


def predict(record: Record) -> Record:
    """Predict the first links."""
    links = (record["np_relations"] or ())[:N_EXAMPLES]
    relations = [{name: link[name] for name in LINK} for link in links]
    return {"id": record["id"], "relations": relations}


VIEWS = {"document": View(draw, predict=predict)}


FLAT = (
    "id",
    "domain",
    "forum",
    "anchor",
    "anchor_text",
    "preposition",
    "complement",
    "complement_text",
    "complement_coref_cluster_id",
)


def flatten(records: Sequence[Record]) -> ColumnRecords:
    """Return a row for each link, in the order of the documents and of their links."""
    rows = []
    for record in records:
        texts = {np["id"]: np["text"] for np in record["nps"]}
        origin = (record["id"], record.get("domain"), record.get("forum"))
        for link in record.get("np_relations") or ():
            anchor = link["anchor"]
            complement = link["complement"]
            words = (anchor, texts[anchor], link["preposition"], complement, texts[complement])
            rows.append((*origin, *words, link["complement_coref_cluster_id"]))
    return ColumnRecords.from_rows(FLAT, rows)
