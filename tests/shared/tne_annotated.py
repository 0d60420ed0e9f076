"""Small valid documents of TNE as annotators return them."""

from shared.tne_links import link

from closeread.tasks.tne.agreement import measure_agreement
from closeread.tasks.tne.consolidation import compare_links


def document(name, words, links=(), clusters=(), spans=None, *, closed=True):
    """A document.

    Args:
        name: its id.
        words: the words, in a string or a list.
        links: (anchor's number, preposition, complement's number); None for a document without links.
        clusters: lists of numbers; a noun phrase in none is a singleton.  None for a document without clusters.
        spans: the first and the last word of each noun phrase; None for a noun phrase of every word.
        closed: whether links to the rest of the complement's cluster are added.
    """
    words = words.split(" ") if isinstance(words, str) else list(words)
    starts = [sum(len(word) + 1 for word in words[:i]) for i in range(len(words))]
    nps = [
        {
            "id": f"np{i}", "text": " ".join(words[first : last + 1]), "first_char": starts[first],
            "last_char": starts[last] + len(words[last]), "first_token": first, "last_token": last,
        }
        for i, (first, last) in enumerate([(i, i) for i in range(len(words))] if spans is None else spans)
    ]  # fmt: skip
    record = {
        "id": name,
        "text": " ".join(words),
        "tokens": words,
        "nps": nps,
        "coref": None,
        "np_relations": None,
    }
    if clusters is not None:
        alone = [[i] for i in range(len(nps)) if not any(i in cluster for cluster in clusters)]
        record["coref"] = [
            {
                "id": f"cc{i}",
                "members": [f"np{number}" for number in members],
                "np_type": "standard",
            }
            for i, members in enumerate([*clusters, *alone])
        ]
    if links is not None:
        cluster_of = {
            name: cluster["id"] for cluster in record["coref"] or () for name in cluster["members"]
        }
        record["np_relations"] = list(close_links(links, record["coref"] or ())) if closed else [
            {**link(*one), "complement_coref_cluster_id": cluster_of[f"np{one[2]}"]} for one in links
        ]  # fmt: skip
    return record


def close_links(links, coref):
    """The links with those to the other members of the complements' clusters, as rows of the corpus."""
    for anchor, preposition, complement in links:
        cluster = next(
            (c for c in coref if f"np{complement}" in c["members"]),
            {"members": [f"np{complement}"]},
        )
        for member in cluster["members"]:
            yield {
                "anchor": f"np{anchor}", "complement": member, "preposition": preposition,
                "complement_coref_cluster_id": cluster.get("id"),
            }  # fmt: skip


def submit(name, links, fallback=None):
    """The links of a document as a system submits them."""
    row = {"id": name, "relations": [link(*one) for one in links]}
    return row if fallback is None else row | {"fallback": [link(*one) for one in fallback]}


WORDS = "house roof it town"
HOUSE, ROOF, IT, TOWN = range(4)
CLUSTERS = [[HOUSE, IT]]


def annotate(links, name="d", words=WORDS, clusters=CLUSTERS):
    """One annotator's documents: a single one, about a house and its roof unless said otherwise."""
    return [document(name, words, links, clusters)]


# The roof of the house: both.  The town: by other prepositions, and to the second annotator only.
ANNA = annotate(
    [(TOWN, "around", HOUSE), (ROOF, "of", HOUSE), (ROOF, "on", HOUSE), (ROOF, "in", TOWN)]
)
BEN = annotate(
    [(ROOF, "of", HOUSE), (ROOF, "near", TOWN), (HOUSE, "in", TOWN), (TOWN, "around", HOUSE)]
)


def consolidate(*annotators):
    """The links of annotators who are called anna, ben and cleo."""
    return compare_links(annotators, ["anna", "ben", "cleo"][: len(annotators)])


def agreement(first, second, names=("the first", "the second"), by=()):
    """The agreement of two annotators."""
    return measure_agreement([first, second], names, by)
