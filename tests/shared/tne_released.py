"""A small document in the form of the released files, and changes to it."""


def document(**changes):
    """A document of version 1.1 as released, with changes; ... takes a field away."""
    text = "Fire in Ulm\n\nThe fire destroyed the roof of a mill. \n"
    spans = [
        ("Fire", 0, 0),
        ("Ulm", 2, 2),
        ("The fire", 4, 5),
        ("the roof", 7, 8),
        ("a mill", 10, 11),
    ]
    tokens = [
        "Fire",
        "in",
        "Ulm",
        "\n\n",
        "The",
        "fire",
        "destroyed",
        "the",
        "roof",
        "of",
        "a",
        "mill",
        ".",
        "\n",
    ]
    nps = [
        {"text": words, "first_char": text.index(words), "last_char": text.index(words) + len(words),
         "first_token": first, "last_token": last, "id": f"np{i}"}
        for i, (words, first, last) in enumerate(spans)
    ]  # fmt: skip
    clusters = [["np0", "np2"], ["np1"], ["np3"], ["np4"]]
    made = {
        "id": "r1",
        "text": text,
        "tokens": tokens,
        "nps": nps,
        "np_relations": [
            link("np0", "in", "np1", "cc1"),
            link("np3", "of", "np4", "cc3"),
            link("np4", "in", "np1", "cc1"),
        ],
        "coref": [
            {"id": f"cc{i}", "members": m, "np_type": "standard"} for i, m in enumerate(clusters)
        ],
        "metadata": {
            "annotators": {
                "coref_worker": 1,
                "consolidator_worker": 2,
                "np-relations_worker": [3, 4],
            },
            "url": "https://example.org",
            "source": "wiki_01_news.json",
        },
    }
    return {name: value for name, value in {**made, **changes}.items() if value is not ...}


def link(anchor, preposition, complement, cluster):
    ends = {"anchor": anchor, "complement": complement}
    return {**ends, "preposition": preposition, "complement_coref_cluster_id": cluster}


def first_version(record):
    """The document as version 1.0 has it."""
    return {**record, "nps": {noun_phrase["id"]: noun_phrase for noun_phrase in record["nps"]}}


def with_links(*links):
    """The document with these links alone: (anchor's number, preposition, complement's number, cluster's number)."""
    rows = [
        link(f"np{a}", preposition, f"np{c}", f"cc{cluster}")
        for a, preposition, c, cluster in links
    ]
    return document(np_relations=rows)


def with_noun_phrase(number, **changes):
    """The document with changes to one noun phrase."""
    record = document()
    record["nps"][number].update(changes)
    return record


def with_clusters(*members):
    """The document with these clusters and no links."""
    record = document(
        coref=[{"id": f"cc{i}", "members": m, "np_type": "standard"} for i, m in enumerate(members)]
    )
    return {**record, "np_relations": []}
