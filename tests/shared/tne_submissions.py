"""Submissions for the sample of TNE: rows of links, the leaderboard's arrays, and how they are read."""

import pytest
from hypothesis import strategies as st
from shared import json_lines

from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus
from closeread.exceptions import SubmissionError
from closeread.scoring import Scorer
from closeread.tasks.tne.procedure import PROCEDURE

GOLD = read_gold(load_corpus("tne"), "sample")
IDS = [record["id"] for record in GOLD.records]
SIZES = [len(record["nps"]) for record in GOLD.records]

ANY_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 30)
    | st.sampled_from(["np0", "np12", "np13", "of", "s1", "s2", ""]),
    lambda value: (
        st.lists(value, max_size=3) | st.dictionaries(st.sampled_from(["id", "anchor", "x"]), value)
    ),
    max_leaves=5,
)
"""Any JSON, with words of submissions in it."""


def submit(links=(), fallback=None, name=None):
    """A row for every document, of which the first (or the one of the name) has these links."""
    rows = [{"id": i, "relations": []} for i in IDS]
    rows[0 if name is None else IDS.index(name)]["relations"] = list(links)
    if fallback is not None:
        rows[0]["fallback"] = list(fallback)
    return rows


def arrays(changes=(), **keys):
    """The leaderboard's rows without a link, with changes: {line: {place: label}} or {line: a whole list}."""
    rows = [[0] * size**2 for size in SIZES]
    for line, change in dict(changes).items():
        if isinstance(change, dict):
            for place, label in change.items():
                rows[line - 1][place] = label
        else:
            rows[line - 1] = change
    return [{"predicted_prepositions": row, **keys} for row in rows]


def refuse(file, content, **options):
    """Write a bad submission and return its problems, each as its line and its words."""
    file.write_text(content if isinstance(content, str) else json_lines.dump(content), "utf-8")
    with pytest.raises(SubmissionError) as caught:
        scorer(GOLD, options).read(file)
    assert all(problem.text.isprintable() for problem in caught.value.problems)
    return [(problem.line, problem.text) for problem in caught.value.problems]


def read(file, content, **options):
    """Write a submission, given its text or its rows, and read it."""
    file.write_text(content if isinstance(content, str) else json_lines.dump(content), "utf-8")
    return scorer(GOLD, options).read(file)


def count(file, gold=GOLD, **options):
    """Count the links of a submission."""
    one = scorer(gold, options)
    return one.count(one.read(file)).table


def scorer(gold, options):
    """Return what scores submissions against gold."""
    return Scorer(PROCEDURE, PROCEDURE.resolve_options(options), gold)
