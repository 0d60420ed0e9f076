"""TNE's rules and oddities the slow way: one document at a time, with sets."""


def is_sound(record):
    """Whether a document keeps every rule."""
    nps = {noun_phrase["id"]: noun_phrase for noun_phrase in record["nps"]}
    clusters = {cluster["id"]: cluster["members"] for cluster in record["coref"]}
    if set(nps) != {f"np{i}" for i in range(len(record["nps"]))} or len(clusters) < len(record["coref"]):
        return False
    for np in nps.values():
        first, last = np["first_char"], np["last_char"]
        if not 0 <= first < last <= len(record["text"]) or record["text"][first:last] != np["text"]:
            return False
        if not 0 <= np["first_token"] <= np["last_token"] < len(record["tokens"]):
            return False
    if sorted(member for members in clusters.values() for member in members) != sorted(nps):
        return False
    links = {(one["anchor"], one["preposition"], one["complement"]) for one in record["np_relations"]}
    for one in record["np_relations"]:
        if one["anchor"] not in nps or one["complement"] not in nps or one["anchor"] == one["complement"]:
            return False
        (of_complement,) = [name for name, members in clusters.items() if one["complement"] in members]
        if one["anchor"] in clusters[of_complement] or one["complement_coref_cluster_id"] != of_complement:
            return False
        if not all((one["anchor"], one["preposition"], other) in links for other in clusters[of_complement]):
            return False
    return True


def count_oddities(records):
    """How many there are of each oddity that occurs."""
    repeated = cut = equal = untitled = padded = times = 0
    for record in records:
        links = [(one["anchor"], one["preposition"], one["complement"]) for one in record.get("np_relations") or ()]
        repeated += len(links) - len(set(links))
        spans = [(np["first_char"], np["last_char"]) for np in record["nps"]]
        equal += len(spans) - len(set(spans))
        edges, place = [], 0
        for token in record["tokens"]:
            place = record["text"].index(token, place)
            edges.append((place, place + len(token)))
            place += len(token)
        # White space at an edge is told on its own.
        cut += sum(
            edges[np["first_token"]][0] < np["first_char"] or np["last_char"] < edges[np["last_token"]][1]
            for np in record["nps"]
        )
        title = record["text"].find("\n\n")
        untitled += title >= 0 and not any(np["last_char"] <= title for np in record["nps"])
        padded += sum(np["text"] != np["text"].strip() for np in record["nps"])
        linked = {end for anchor, _, complement in links for end in (anchor, complement)}
        of_time = [c["members"] for c in record["coref"] if c.get("np_type") == "time/date/measurement"]
        times += len(linked & {member for members in of_time for member in members})
    return [n for n in (repeated, cut, equal, untitled, padded, times) if n]
