"""What a submission for TNE must be, the slow way: one link at a time."""

from closeread.tasks.tne.links import PREPOSITIONS


def is_valid(rows, sizes):
    """Whether rows can be scored, given the number of noun phrases of every document by its id."""
    if any(
        type(row) is not dict
        or not {"id", "relations"} <= row.keys() <= {"id", "relations", "fallback"}
        for row in rows
    ):
        return False
    if any(row["id"] not in list(sizes) for row in rows) or len({row["id"] for row in rows}) < len(
        rows
    ):
        return False
    for row in rows:
        known = [f"np{i}" for i in range(sizes[row["id"]])]
        for name in ("relations", "fallback"):
            links = row.get(name)
            if links is None and name == "fallback":
                continue
            if type(links) is not list or any(
                type(one) is not dict or len(one) != 3 for one in links
            ):
                return False
            if any(one.get(end) not in known for one in links for end in ("anchor", "complement")):
                return False
            if any(
                one.get("preposition") not in PREPOSITIONS[1:] or one["anchor"] == one["complement"]
                for one in links
            ):
                return False
            keys = [
                (one["anchor"], one["complement"], one["preposition"] * (name == "relations"))
                for one in links
            ]
            if len(set(keys)) < len(keys):
                return False
    return True
