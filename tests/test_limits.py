"""The page of limits has their values, and what is as large as a limit is accepted."""

import importlib
from pathlib import Path

import pytest
from shared.tne_annotated import HOUSE, ROOF, annotate, consolidate

from closeread.counts.resampling import MAX_DRAWS, MAX_NULLS, MAX_SUMS, max_resamples
from closeread.exceptions import RequestError
from closeread.leaderboard.declaration import Limits
from closeread.tasks.tne import closure, consolidation
from closeread.tasks.wikipossessions.procedure import PROCEDURE as POSSESSIONS
from closeread.tasks.wikipossessions.procedure import validate

PAGE = Path(__file__).parent.parent / "docs" / "limits.md"


def read_rows():
    """Return the cells of the rows of the page, without the names of columns."""
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in PAGE.read_text("utf-8").splitlines()
    ]
    return [row for row in rows if row and row[0] != "limit" and set(row[0]) != {"-"}]


ON_PAGE = {row[2].strip("`"): row[1] for row in read_rows() if len(row) == 3}


@pytest.mark.parametrize("name", ON_PAGE)
def test_a_limit_has_the_value_on_the_page(name):
    module, _, constant = name.rpartition(".")
    assert (
        ON_PAGE[name].split()[0]
        == f"{int(getattr(importlib.import_module(f'closeread.{module}'), constant)):,}"
    )


def test_limits_of_boards_have_the_values_on_the_page():
    values = [row[1].split()[0] for row in read_rows() if len(row) == 2]
    assert values == [
        f"{getattr(Limits(), name):,}" for name in ("bytes", "rows", "per_day", "seconds", "memory")
    ]


def test_paired_tests_have_as_many_resamples_as_the_smallest_limit_allows():
    assert max_resamples(3, 2, 10**6, 1) == MAX_DRAWS // 10**6
    assert max_resamples(10, 2, 1, 10**4) == MAX_SUMS // 10**5
    assert max_resamples(2000, 8, 1, 1) == MAX_NULLS // (1000 * 1999 * 8)


def name_possessor(name):
    return {
        "possessor": name,
        "certainty": "certain",
        "order": "1",
        "anchor": None,
        "relation": None,
    }


def test_possessions_have_limits():
    gold = [{"article": "A", "possessions": [name_possessor(f"P{i}") for i in range(2001)]}]
    with pytest.raises(
        RequestError, match=r"article 'A': 2,001 possessions \(expected at most 2,000\)"
    ):
        POSSESSIONS.count(gold=gold, system=gold)
    found = [(one.side, one.what) for one in validate(gold=gold, system=gold) if one.path == ()]
    what = "2,001 possessions (expected at most 2,000)"
    assert found == [("gold", what), ("system", what)]
    long = [
        {"article": "A", "possessions": [name_possessor(" ".join(f"w{i}" for i in range(101)))]}
    ]
    with pytest.raises(
        RequestError, match=r"article 'A': 101 words in a possessor \(expected at most 100\)"
    ):
        POSSESSIONS.count(gold=long, system=long)


def test_links_that_are_spread_have_a_limit(monkeypatch):
    members = [f"np{i}" for i in range(1000)]
    links = [
        {"anchor": f"np{1000 + i}", "complement": "np0", "preposition": "of"} for i in range(1001)
    ]
    message = (
        r"'d': 1,001,000 links when they are spread over clusters \(expected at most 1,000,000\)"
    )
    with pytest.raises(RequestError, match=message):
        closure.close_rows(
            [{"id": "d", "relations": links}],
            [{"id": "d", "coref": [{"id": "c", "members": members}]}],
        )
    found = consolidate(*[annotate([(ROOF, "of", HOUSE)])] * 2)
    n_links = len(consolidation.keep_common_links(found)[0]["np_relations"])
    monkeypatch.setattr(closure, "MAX_LINKS", n_links - 1)
    with pytest.raises(
        RequestError, match=rf"{n_links} links when they are spread .*at most {n_links - 1}\)"
    ):
        consolidation.keep_common_links(found)
