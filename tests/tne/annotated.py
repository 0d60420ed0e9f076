"""Small valid documents of TNE, and what annotators say of them."""

import json


def document(name, words, links=(), clusters=()):
    """A document whose noun phrases are its words.

    Args:
        name: its id.
        words: the words, in a string.
        links: (anchor's number, preposition, complement's number); those to the rest of its cluster are added.
        clusters: lists of numbers; who is in none is alone.  None for a document without links or clusters.
    """
    words = words.split(" ")
    starts = [sum(len(word) + 1 for word in words[:i]) for i in range(len(words))]
    nps = [
        {
            "id": f"np{i}", "text": word, "first_char": start, "last_char": start + len(word), "first_token": i,
            "last_token": i,
        }
        for i, (word, start) in enumerate(zip(words, starts, strict=True))
    ]  # fmt: skip
    record = {"id": name, "text": " ".join(words), "tokens": words, "nps": nps, "coref": None, "np_relations": None}
    if clusters is not None:
        alone = [[i] for i in range(len(words)) if not any(i in cluster for cluster in clusters)]
        record["coref"] = [
            {"id": f"cc{i}", "members": [f"np{number}" for number in members], "np_type": "standard"}
            for i, members in enumerate([*clusters, *alone])
        ]
    if links is not None:
        record["np_relations"] = list(closed(links, record["coref"] or ()))
    return record


def closed(links, coref):
    """The links with those to the other members of the complements' clusters, as rows of the corpus."""
    for anchor, preposition, complement in links:
        cluster = next((c for c in coref if f"np{complement}" in c["members"]), {"members": [f"np{complement}"]})
        for member in cluster["members"]:
            yield {
                "anchor": f"np{anchor}", "complement": member, "preposition": preposition,
                "complement_coref_cluster_id": cluster.get("id"),
            }  # fmt: skip


def sent(name, links, fallback=None):
    """The links as a system sends them."""
    row = {"id": name, "relations": [_as_sent(link) for link in links]}
    return row if fallback is None else row | {"fallback": [_as_sent(link) for link in fallback]}


def _as_sent(link):
    return {"anchor": f"np{link[0]}", "complement": f"np{link[2]}", "preposition": link[1]}


def json_lines(records):
    return "".join(json.dumps(record) + "\n" for record in records)
