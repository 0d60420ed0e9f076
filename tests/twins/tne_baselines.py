"""TNE's baselines the slow way: one noun phrase at a time, from the definitions."""

from closeread.tasks.tne.columns import PREPOSITIONS


def link_pairs(name, record, definition):
    """The pairs of noun phrases, by number, that a baseline links in a document."""
    nps = sorted(record["nps"], key=lambda np: int(np["id"][2:]))
    numbers = range(len(nps))
    title = [i for i in numbers if nps[i]["last_char"] <= record["text"].find("\n\n")]
    first, last = ([np[token] for np in nps] for token in ("first_token", "last_token"))

    def between(i, j):
        return first[j] - last[i]

    def nearest(i, distance):
        at = [(distance(j), j) for j in numbers if distance(j) > 0]
        return {(i, min(at)[1])} if at else set()

    def surface(i, j):
        word = record["tokens"][last[i] + 1 : first[j]]
        return between(i, j) == 2 and (definition == "printed" or word[0] in PREPOSITIONS[1:])

    def extended(i, j):
        return 1 <= between(i, j) <= 10 if definition == "described" else surface(i, j) or between(i, j) > 10

    every = {(i, j) for i in numbers for j in numbers if i != j}
    found = {
        "title-first": {(i, j) for i, j in every if title and j == title[0]},
        "title-last": {(i, j) for i, j in every if title and j == title[-1]},
        "adj-anaphora": set().union(*(nearest(i, lambda j, i=i: first[i] - first[j]) for i in numbers)),
        "adj-cataphora": set().union(*(nearest(i, lambda j, i=i: last[j] - last[i]) for i in numbers)),
        "surface": {pair for pair in every if surface(*pair)},
        "surface-extended": {pair for pair in every if extended(*pair)},
        "all-pairs": every,
    }
    found["combined"] = found["title-last"] | found["adj-cataphora"] | found["surface-extended"]
    return found[name]
