"""Invented possessions: articles from short rows, and rows of the released format."""

from closeread.tasks.wikipossessions.possession_csv import read_records

FIELDS = ("possessor", "order", "certainty", "anchor", "relation", "relation_certainty")

HEADER = "Article#Type#Possessor#psr_c#order#Duration#TP#Dur_c"
ROW = "A Vase#PER#Ann#PC#1#1888#Dur#C"


def make_articles(sides):
    """Make records of articles, each given as rows of `FIELDS`, which may be shorter; None is no record."""
    return [
        None
        if rows is None
        else {
            "article": f"Work {i}",
            "possessions": [dict(zip(FIELDS, row, strict=False)) for row in rows],
        }
        for i, rows in enumerate(sides)
    ]


def make_record(**changes):
    """Make a gold record of one possession, with some of its fields changed."""
    possession = {
        "type": "PER",
        "possessor": "Ann",
        "certainty": "certain",
        "order": "1",
        "anchor": "1530-1545",
        "anchor_kind": "years",
        "lower": 1530,
        "upper": 1545,
        "open_start": False,
        "open_end": False,
        "relation": "during",
        "relation_certainty": "certain",
    }
    return {"article": "A Vase", "possessions": [{**possession, **changes}], "text": None}


def read_released(file, *rows, header=HEADER):
    """Write a file in the released format and read it back."""
    file.write_text("\n".join((header, *rows)) + "\n", "utf-8", newline="")
    return read_records(file, "test")
