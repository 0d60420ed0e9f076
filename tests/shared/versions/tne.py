"""Two documents, worked out by hand: 1 of 3 and 1 of 4 pairs, 2 of each without prepositions, 1 of 5 triplets."""


def inputs():
    gold = [["np0 of np1", "np0 in np1", "np2 at np1"], ["np1 of np0", "np1 of np2"]]
    system = [["np0 in np1", "np1 by np2"], ["np1 in np0"]]
    fallback = [["np2 at np1"], ["np1 by np2"]]
    names = ("anchor", "preposition", "complement")
    links = [
        [[dict(zip(names, link.split(), strict=True)) for link in document] for document in side]
        for side in (gold, system, fallback)
    ]
    rows = [
        {"id": str(i), "np_relations": of_gold, "relations": said, "fallback": back}
        for i, (of_gold, said, back) in enumerate(zip(*links, strict=True))
    ]
    return {"two documents": {"gold": rows, "system": rows}}
