"""Links of TNE as rows of gold and of submissions, and the scores of a count table."""

from closeread.tasks.tne.procedure import PROCEDURE

ENDS = ("anchor", "complement", "preposition")


def link(anchor, preposition, complement):
    """A link as a system submits it, given the numbers of its noun phrases."""
    return {"anchor": f"np{anchor}", "complement": f"np{complement}", "preposition": preposition}


def gold_links(record):
    """The gold links of a record as a system submits them, each once."""
    links = dict.fromkeys(tuple(link[name] for name in ENDS) for link in record["np_relations"])
    return [dict(zip(ENDS, values, strict=True)) for values in links]


def gold_rows(records):
    """The gold links of all records as a submission."""
    return [{"id": record["id"], "relations": gold_links(record)} for record in records]


def scores(table):
    """The scores of a table, by name; None where one is undefined."""
    return table.scores(PROCEDURE.metrics)
