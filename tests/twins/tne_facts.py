"""Figures of TNE's records the slow way: link by link, from the definitions."""

from collections import Counter
from fractions import Fraction
from itertools import pairwise

from closeread.tasks.tne.columns import PREPOSITIONS


def count_facts(records):
    """Count every figure, link by link."""
    links = [(record, link) for record in records for link in record.get("np_relations") or ()]
    found = Counter(
        {
            "documents": len(records),
            "tokens": sum(len(record["tokens"]) for record in records),
            "noun phrases": sum(len(record["nps"]) for record in records),
            "clusters of more than one": sum(len(c["members"]) > 1 for record in records for c in record["coref"]),
        }
    )
    if not links:
        return found
    for name in PREPOSITIONS[1:]:
        found[f"links: {name}"] = sum(link["preposition"] == name for _, link in links)
    found["links"] = len(links)
    found["pairs"] = len({(r["id"], link["anchor"], link["complement"]) for r, link in links})
    found["triplets"] = len({(r["id"], link["anchor"], link["complement"], link["preposition"]) for r, link in links})
    found["links, once a cluster"] = len(
        {(r["id"], link["anchor"], link["complement_coref_cluster_id"]) for r, link in links}
    )
    for record, link in links:
        pairs = {(other["anchor"], other["complement"]) for other in record["np_relations"]}
        a, b = link["anchor"], link["complement"]
        anchor, complement = phrase(record, a), phrase(record, b)
        found["links to the title"] += complement["last_char"] <= record["text"].find("\n\n")
        found["symmetric links"] += Fraction((b, a) in pairs, 2)
        found["transitive links"] += any((a, np["id"]) in pairs and (b, np["id"]) in pairs for np in record["nps"])
        found["links between sentences"] += sentence(record, anchor) != sentence(record, complement)
        found["links to what stands before"] += complement["first_token"] < anchor["first_token"]
        found["mean distance in tokens"] += abs(complement["first_token"] - anchor["first_token"])
    found["mean distance in tokens"] = float(Fraction(found["mean distance in tokens"], len(links)))
    for name, says in (("surface form", in_surface_form), ("extended surface form", in_extended_surface_form)):
        shares = [
            Fraction(sum(says(record, link) for link in record["np_relations"]), len(record["np_relations"]))
            for record in records
            if record["np_relations"]
        ]
        found[f"% of links in {name}"] = float(100 * sum(shares) / len(shares))
    return found


def phrase(record, name):
    return next(np for np in record["nps"] if np["id"] == name)


def sentence(record, np):
    before = record["tokens"][: np["first_token"]]
    return sum(token in (".", "!", "?") or "\n" in token for token in before)


def in_surface_form(record, link):
    anchor, complement = phrase(record, link["anchor"]), phrase(record, link["complement"])
    return record["text"][anchor["last_char"] :].startswith(f" {link['preposition']} {complement['text']}")


def in_extended_surface_form(record, link):
    if in_surface_form(record, link):
        return True
    anchor, complement = phrase(record, link["anchor"]), phrase(record, link["complement"])
    words = record["tokens"][complement["first_token"] : complement["last_token"] + 1]
    solid = [i for i, token in enumerate(record["tokens"]) if i > anchor["last_token"] and token.strip()]
    return any(
        record["tokens"][here] == link["preposition"] and record["tokens"][there : there + len(words)] == words
        for here, there in list(pairwise(solid))[:10]
    )
