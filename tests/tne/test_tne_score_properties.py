"""TNE's scores: what must hold of any input."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared.count_tables import sum_counts
from shared.tne_documents import DOCUMENTS, SIDE, UPREP, inputs, references, rows
from shared.tne_links import scores

from closeread.tasks.tne.procedure import count


@given(st.lists(SIDE, min_size=1, max_size=4))
def test_perfect_is_one(sides):
    gold, system = references(sides), rows(sides)
    found = scores(count(gold=gold, system=system))
    linked = any(sides)
    assert {score for name, score in found.items() if "/" in name} == {float(linked)}
    assert found["iprep"] == (1 if linked else None)
    assert found["uprep"] is None


@given(DOCUMENTS, UPREP)
def test_identities(documents, uprep):
    found = scores(count(**inputs(documents), uprep=uprep))
    iprep = found["iprep"] or 0
    assert found["links/recall"] == pytest.approx(found["unlabeled/recall"] * iprep, abs=1e-12)
    assert found["links/precision"] == pytest.approx(found["unlabeled/precision"] * iprep, abs=1e-12)
    assert all(score is None or 0 <= score <= 1 for score in found.values())
    for family in ("links", "unlabeled", "triplets"):
        precision, recall, f1 = (found[f"{family}/{part}"] for part in ("precision", "recall", "f1"))
        assert min(precision, recall) - 1e-12 <= f1 <= max(precision, recall) + 1e-12


@given(DOCUMENTS, UPREP, st.data())
def test_names_and_order_of_documents_do_not_matter(documents, uprep, data):
    given_inputs = inputs(documents)
    order = data.draw(st.permutations(range(len(documents))))
    other = {side: [dict(records[i], id=f"x{i}") for i in order] for side, records in given_inputs.items()}
    table, back = count(**given_inputs, uprep=uprep), count(**other, uprep=uprep)
    assert np.array_equal(back.values, table.values[list(order)])
    assert list(back.units) == [f"x{i}" for i in order]


@given(DOCUMENTS, UPREP)
def test_a_fallback_changes_uprep_only(documents, uprep):
    with_it = scores(count(**inputs(documents), uprep=uprep))
    without = scores(count(**inputs([(gold, system, None) for gold, system, _ in documents]), uprep=uprep))
    assert without["uprep"] is None
    assert {**with_it, "uprep": None} == without


@given(DOCUMENTS, UPREP)
def test_a_fallback_changes_uprep_only_of_every_preposition(documents, uprep):
    unaided = inputs([(gold, system, None) for gold, system, _ in documents])
    with_it, without = (
        count(**sides, breakdowns=["preposition"], uprep=uprep).slices("preposition")
        for sides in (inputs(documents), unaided)
    )
    for name, table in without.items():
        assert {**scores(with_it[name]), "uprep": None} == scores(table)
    # What is fallen back on may be a preposition of gold that no link counts for; nothing but UPrep has it.
    for name in with_it.keys() - without.keys():
        assert {family for family, n in sum_counts(with_it[name]).items() if n} <= {"fallback/right", "fallback/gold"}


@given(DOCUMENTS, st.data())
def test_missing_documents(documents, data):
    present = data.draw(st.lists(st.booleans(), min_size=len(documents), max_size=len(documents)))
    sides = inputs(documents)
    system = [row if there else None for row, there in zip(sides["system"], present, strict=True)]
    empty = count(gold=sides["gold"], system=system, missing="empty")
    emptied = [row or {"id": record["id"], "relations": []} for row, record in zip(system, sides["gold"], strict=True)]
    assert np.array_equal(empty.values, count(gold=sides["gold"], system=emptied).values)
    skipped = count(gold=sides["gold"], system=system, breakdowns=["preposition"], missing="skip")
    assert list(skipped.units) == [record["id"] for record, there in zip(sides["gold"], present, strict=True) if there]
    assert np.array_equal(skipped.values, empty.values[np.array(present, np.bool_)])
    parts = skipped.slices("preposition").values()
    for name, whole in sum_counts(skipped).items():
        assert sum(sum_counts(part)[name] for part in parts) == whole
    if all(present):
        assert np.array_equal(count(gold=sides["gold"], system=system).values, empty.values)
    else:
        absent = present.count(False)
        with pytest.raises(ValueError, match=f"{absent} of {len(present)} documents have no prediction"):
            count(gold=sides["gold"], system=system)
