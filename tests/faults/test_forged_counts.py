"""Stored counts that no system can have, or that somebody changed, are refused; all that is stored is read back."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from shared.random_systems import DRAWN, FROM_FILES, draw_table

from closeread.counts.checking import find_problems
from closeread.counts.counted import Counted, Provenance
from closeread.counts.files import read_any_counts, write_counts
from closeread.counts.identities import When, select_identities
from closeread.counts.merging import merge_counts
from closeread.counts.metrics import F1, Ratio
from closeread.exceptions import FormatError, RequestError
from closeread.tasks import load_procedure, procedure_names

KINDS = (*DRAWN, *FROM_FILES)
SEEDS = range(12)


def keep(path, table, procedure, options, **changes):
    """Store counts, with made-up gold, and return them."""
    table = replace(table, digests=[bytes([i]) * 32 for i in range(len(table.units))])
    signature = procedure.signature(options, table.gold_digest)
    about = Provenance(procedure.name, procedure.version, options, signature, "own", None, None, None, 0)
    counted = Counted(table, procedure, replace(about, **changes))
    write_counts(Path(path), counted)
    return counted


def read(path="kept.parquet"):
    return read_any_counts(Path(path), load_procedure)


def refusal(path="kept.parquet"):
    with pytest.raises(FormatError) as caught:
        read(path)
    return str(caught.value)


@pytest.mark.parametrize("kind", KINDS)
def test_true_counts_are_read_back(kind, here):
    """Of random systems by random options: none breaks an identity, and all are the same when read."""
    for seed in SEEDS:
        drawn = draw_table(kind, seed, here)
        if drawn is None:
            continue
        procedure, options, table = drawn
        before, after = keep("kept.parquet", table, procedure, options), read()
        assert after.provenance == before.provenance, seed
        assert list(after.table.units) == list(before.table.units)
        assert after.table.names == before.table.names
        assert np.array_equal(after.table.values, before.table.values)
        for name, parts in before.table.breakdowns.items():
            assert np.array_equal(after.table.breakdowns[name].values, parts.values), (seed, name)
        scores = {metric.name for metric in procedure.metrics if metric.is_defined(table.names)}
        assert {metric.name for metric in after.procedure.metrics} >= scores


@pytest.mark.parametrize("name", procedure_names())
def test_every_value_of_every_option_is_drawn(name, here):
    wanted = {(o.name, value) for o in load_procedure(name).options if not o.reading for value in o.choices}
    seen = set()
    for kind in (name, *(FROM_FILES if name == "coref" else ())):
        for seed in range(60):
            drawn = draw_table(kind, seed, here, count=False)
            seen |= set(drawn[1].items())
    assert seen >= wanted


@pytest.mark.parametrize("name", procedure_names())
def test_identities_name_all_counts(name):
    """Of every procedure, a new one included: whatever is stored has to be one of these."""
    procedure = load_procedure(name)
    every = procedure.with_metrics(procedure.families)

    def walk(identities):
        for one in identities:
            if isinstance(one, When):
                option = next(option for option in procedure.options if option.name == one.option)
                assert set(one.values) < set(option.choices), one
                walk(one.identities)

    walk(procedure.identities)
    defaults = {option.name: option.default for option in procedure.options}
    named = {count for one in select_identities(procedure.identities, defaults) for count in one.names}
    assert all(metric.is_defined(sorted(named)) for metric in every.metrics)


def draw(kind, folder, **wanted):
    """The first random system of some units that is scored with these options."""
    for seed in range(100):
        drawn = draw_table(kind, seed, folder)
        if drawn is not None and len(drawn[2].units) and drawn[1].items() >= wanted.items():
            return drawn
    raise AssertionError(f"no seed draws {wanted}")


def forge(drawn, change, **given):
    """The problems of a system's counts after a change of its values or of its options."""
    procedure, options, table = drawn
    values = table.values.copy()
    assert not list(find_problems(table, about(procedure, options), procedure))
    change(values, table.names.index)
    forged = replace(table, values=values)
    return [problem.what for problem in find_problems(forged, about(procedure, options | given), procedure)]


def about(procedure, options):
    return Provenance(procedure.name, procedure.version, options, "", "own", None, None, None, 0)


def add(name, number):
    """Add to a count of the first unit."""

    def change(values, place):
        values[0, place(name)] += number

    return change


@pytest.mark.parametrize(
    ("kind", "change", "found"),
    [
        ("mctaco", add("exact", 0.5), "exact is"),
        ("mctaco", add("candidates", -0.5), "candidates is"),
        ("mctaco", add("questions", 1), "questions is 2 (expected 1)"),
        ("mctaco", add("both_yes", 30), "(expected at most gold_yes"),
        ("mctaco", add("correct", 30), "correct + gold_yes + system_yes is"),
        ("mctaco", add("f1_sum", 1e-6), "f1_sum is"),
        ("tne", add("links/right", 100), "(expected at most linked/system"),
        ("tne", add("linked/gold", 1), "linked/gold is"),
        ("tne", add("triplets/right", 1000), "(expected at most triplets/gold"),
        ("tne", add("fallback/gold", 1000), "fallback/gold + linked/gold is"),
        ("tlinks", add("awareness/system", -100), "awareness/system is"),
        ("tlinks", add("contradictory/gold", 100), "(expected at most awareness/gold"),
        ("timeline", add("anchors/right", 100), "(expected at most events/shared"),
        ("timeline", add("awareness/gold", 1000), "(expected at most 2 events/gold"),
        ("wikipossessions", add("ordering/gold", 1000), "(expected at most the"),
        ("wikipossessions", add("anchor/found_of_gold", 50), "(expected at most anchor/gold"),
        ("wikipossessions", add("relation/system", 1), "relation/system is"),
        ("coref", add("b3/found_of_key", 50), "(expected at most b3/key"),
        ("coref", add("muc/key", 1), "muc/key + ceafe/key is"),
        ("coref", add("lea/response", 1), "lea/response is"),
        ("coref", add("mentions/common", 0.5), "mentions/common is"),
    ],
)
def test_counts_that_no_system_has(kind, change, found, here):
    wanted = {"average": "micro"} if kind in ("timeline", "wikipossessions", "coref") else {}
    problems = forge(draw(kind, here, **wanted), change)
    assert any(found in problem for problem in problems), problems


def test_half_a_candidate_is_no_exact_match(here):
    """The smallest forgery that was taken: all scores of all units 1, and no system behind them."""

    def change(values, place):
        values[:] = 0
        values[:, [place("questions"), place("exact"), place("f1_sum")]] = 1
        values[:, [place("candidates"), place("correct")]] = 0.5

    problems = forge(draw("mctaco", here), change)
    assert any("candidates is 0.5 (expected a whole number)" in problem for problem in problems)
    assert any("1 is 1 (expected at most candidates, 0.5)" in problem for problem in problems)


def test_counts_by_other_options(here):
    """Averaged counts are not summed ones, nor is BLANC by one rule BLANC by the other."""
    drawn = draw("coref", here, average="micro", blanc_edge="reference")
    nothing = add("mentions/key", 0)
    assert "'mentions/common' is not counted with these options" in forge(drawn, nothing, average="macro")
    expected = "'blanc/coreference_common' is not counted with these options"
    assert expected in forge(drawn, nothing, blanc_edge="luo2014")
    drawn = draw("timeline", here, average="events")
    assert "'units' is not counted with these options" in forge(drawn, add("units", 0), average="micro")


@pytest.fixture
def kept(here):
    """A file of TNE's counts, with breakdowns."""
    procedure, options, table = draw_table("tne", 1, here)
    return keep("kept.parquet", table, procedure, options)


def rewrite(change=lambda table: table, about=lambda about: about):
    """Write the kept file again with other columns and other metadata."""
    table = change(pq.read_table("kept.parquet"))
    metadata = about(json.loads(table.schema.metadata[b"closeread"]))
    pq.write_table(table.replace_schema_metadata({"closeread": json.dumps(metadata)}), "kept.parquet")


def unsigned(about):
    """The metadata of a file of format 1."""
    return {name: value for name, value in about.items() if name not in ("format", "digest")}


def test_a_file_of_format_1_is_read(kept):
    rewrite(about=unsigned)
    assert read().provenance == kept.provenance


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (4, "kept.parquet: has format 4 (expected 1 to 3): it was written by a newer closeread; update closeread"),
        (0, "kept.parquet: has format 0 (expected 1 to 3)"),
        ("3", "kept.parquet: has format '3' (expected 1 to 3)"),
        (True, "kept.parquet: has format true (expected 1 to 3)"),
    ],
)
def test_an_unknown_format_is_one_error(kept, number, message):
    rewrite(about=lambda about: {"format": number, "unknown": about})
    assert refusal() == message


@pytest.mark.parametrize("column", ["unit", "block", "gold", "part", "breakdown", "field:domain", "count:links/right"])
def test_each_column_is_in_the_digest(kept, column):
    """Two rows change places in one column."""

    def swap(table):
        values = table[column].to_pylist()
        known = [i for i, value in enumerate(values) if value is not None and value != values[0]]
        first = next(i for i, value in enumerate(values) if value is not None)
        other = next((i for i in known if values[i] != values[first]), None)
        if other is None:  # all alike: replace one
            values[first] = {"field:domain": "x", "breakdown": "expressed"}.get(column, values[first])
        else:
            values[first], values[other] = values[other], values[first]
        place = table.column_names.index(column)
        return table.set_column(place, column, pa.array(values, table.schema.field(column).type))

    rewrite(swap)
    with pytest.raises(FormatError):
        read()


def test_a_bit_is_noticed(kept, here):
    """The last bit of a fraction breaks no identity."""
    procedure, options, table = draw("timeline", here, average="events", track="full")
    before = keep("kept.parquet", table, procedure, options)
    place = next(
        (row, column)
        for column in range(len(table.names))
        for row in range(len(table.units))
        if table.values[row, column] % 1
    )
    values = table.values.copy()
    values[place] = np.nextafter(values[place], 1)
    assert not list(find_problems(replace(table, values=values), before.provenance, procedure))
    digest = json.loads(pq.read_schema("kept.parquet").metadata[b"closeread"])["digest"]
    keep("kept.parquet", replace(table, values=values), procedure, options)
    rewrite(about=lambda about: about | {"digest": digest})
    assert refusal() == "kept.parquet: was changed after it was written: its content has another digest; score again"


def test_a_row_less_has_another_gold(kept):
    rewrite(lambda table: table.slice(1), unsigned)
    assert "the signature does not match the options and the gold" in refusal() or "not a file of counts" in refusal()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"uprep": "middle"}, "option uprep: 'middle' is not one of 'any', 'last'"),
        ({"other": "x"}, "option of tne"),
        ({"missing": None}, "option missing is missing"),
    ],
)
def test_options_of_the_metadata(kept, changes, message):
    options = {**kept.provenance.options, **changes}
    options = {name: value for name, value in options.items() if value is not None}
    rewrite(about=lambda about: about | {"options": options})
    assert message in refusal()


def test_options_that_are_written_otherwise(here):
    procedure, options, table = draw_table("wikipossessions", 1, here)
    keep("kept.parquet", table, procedure, options | {"tolerance": "0.10"})
    assert "option tolerance: '0.10' is not stored so (expected '0.1')" in refusal()


def test_options_that_were_added_later_are_at_their_defaults(here):
    """Files of versions without them are read, and merged with new ones."""
    procedure, options, table = draw("coref", here, average="micro", zeros="linear")
    earlier = {name: value for name, value in options.items() if name not in ("zeros", "split_antecedents", "layer")}
    keep("kept.parquet", table, procedure, earlier)
    assert read().provenance.options == options
    other = replace(table, units=[f"other {name}" for name in table.units])
    keep("other.parquet", other, procedure, options)
    assert merge_counts([read(), read("other.parquet")], ["a", "b"]).provenance.options == options


def test_units_that_are_missing_though_none_may_be(here):
    procedure, options, table = draw_table("tne", 1, here)
    keep("kept.parquet", table, procedure, options | {"missing": "error"}, missing=2)
    assert "2 records without a prediction (expected none: missing is error)" in refusal()


def test_parts_that_are_more_than_the_whole(kept):
    table = kept.table
    parts = table.breakdowns["expressed"]
    more = replace(parts, values=parts.values * 2)
    forged = replace(table, breakdowns={**table.breakdowns, "expressed": more})
    write_counts(Path("kept.parquet"), replace(kept, table=forged))
    assert "by expressed sums to" in refusal()


def test_blocks_of_units_that_are_resampled_one_by_one(kept):
    one = replace(kept.table, blocks=np.zeros(len(kept.table.units), np.int64))
    write_counts(Path("kept.parquet"), replace(kept, table=one))
    n = len(one.units)
    assert f"has 1 block of {n} documents (expected one for each document)" in refusal()


def test_names_that_can_not_be_shown_are_not_stored(kept):
    unsafe = replace(kept.table, units=["a\x1b[31m", *kept.table.units[1:]])
    with pytest.raises(RequestError, match=r"new.parquet: the counts can't be stored: document 'a\\x1b\[31m' contains"):
        write_counts(Path("new.parquet"), replace(kept, table=unsafe))
    assert not Path("new.parquet").exists()


def test_fields_that_the_procedure_does_not_have(kept):
    fields = {**kept.table.fields, "colour": ["red"] * len(kept.table.units)}
    write_counts(Path("kept.parquet"), replace(kept, table=replace(kept.table, fields=fields)))
    assert "'colour' is not a field of tne (expected domain, forum)" in refusal()


def test_an_f1_is_that_of_its_precision_and_recall():
    """1/2 and 1 give 2/3, by hand: the identity of McTaco's f1_sum uses the formula of reports."""
    formula = F1(Ratio("a", "b"), Ratio("a", "c"))
    assert formula({"a": np.ones(1), "b": np.full(1, 2.0), "c": np.ones(1)})[0] == pytest.approx(2 / 3)
