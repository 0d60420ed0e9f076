"""Stored counts: all that is written is read back, and other files are one error."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from shared.random_systems import DRAWN, FROM_FILES, draw_table

from closeread.counts.counts import Counts, Provenance, merge_counts, sign
from closeread.exceptions import FormatError


def keep(path, table, procedure, options, **changes):
    """Store counts, with made-up gold, and return them."""
    table = replace(table, digests=[bytes([i]) * 32 for i in range(len(table.units))])
    signature = sign(procedure, options, table)
    about = Provenance(
        procedure.name, procedure.version, options, signature, "own", None, None, None, 0
    )
    counts = Counts(table, procedure, replace(about, **changes))
    counts.save(path)
    return counts


def refusal(path="kept.parquet"):
    with pytest.raises(FormatError) as caught:
        Counts.load(path)
    return str(caught.value)


@pytest.mark.parametrize("kind", [*DRAWN, *FROM_FILES])
def test_counts_are_read_back(kind, here):
    """Of random systems by random options."""
    for seed in range(12):
        drawn = draw_table(kind, seed, here)
        if drawn is None:
            continue
        procedure, options, table = drawn
        before, after = keep("kept.parquet", table, procedure, options), Counts.load("kept.parquet")
        assert after.provenance == before.provenance, seed
        assert list(after.table.units) == list(before.table.units)
        assert after.table.fields == {
            name: list(column) for name, column in before.table.fields.items()
        }
        assert after.table.names == before.table.names
        assert np.array_equal(after.table.values, before.table.values)
        for name, parts in before.table.breakdowns.items():
            for of_parts in ("unit", "part", "values"):
                found, expected = (
                    getattr(one, of_parts) for one in (after.table.breakdowns[name], parts)
                )
                assert np.array_equal(found, expected), (seed, name)
        scores = {metric.name for metric in procedure.metrics if metric.is_defined(table.names)}
        assert {metric.name for metric in after.procedure.metrics} >= scores
        # Other programs read the same values, in as many groups of rows as they write.
        pq.write_table(
            pq.read_table("kept.parquet"), "again.parquet", row_group_size=3, compression="none"
        )
        assert Counts.load("again.parquet").to_bytes() == after.to_bytes()


@pytest.fixture
def kept(here):
    """A file of TNE's counts, with breakdowns."""
    procedure, options, table = draw_table("tne", 1, here)
    return keep("kept.parquet", table, procedure, options)


def rewrite(change=lambda table: table, about=lambda about: about):
    """Write the kept file again with other columns and other metadata."""
    table = change(pq.read_table("kept.parquet"))
    metadata = about(json.loads(table.schema.metadata[b"closeread"]))
    pq.write_table(
        table.replace_schema_metadata({"closeread": json.dumps(metadata)}), "kept.parquet"
    )


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (
            2,
            "kept.parquet: has format 2 (expected 1): it was written by a newer closeread; update closeread",
        ),
        ("1", "kept.parquet: has format '1' (expected 1)"),
    ],
)
def test_an_unknown_format_is_one_error(kept, number, message):
    rewrite(about=lambda about: about | {"format": number})
    assert refusal() == message


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"uprep": "middle"}, "option uprep: 'middle' is not one of 'any', 'last'"),
        ({"other": "x"}, "option of tne"),
        ({"uprep": "last"}, "the signature does not match the options and the gold"),
    ],
)
def test_options_of_the_metadata(kept, changes, message):
    rewrite(about=lambda about: about | {"options": {**kept.provenance.options, **changes}})
    assert message in refusal()


def test_options_that_were_added_later_are_at_their_defaults(here):
    """Files of versions without them are read, and merged with new ones."""
    drawn = (draw_table("coref", seed, here) for seed in range(100))
    procedure, options, table = next(
        found
        for found in drawn
        if found
        and len(found[2].units)
        and (found[1]["average"], found[1]["zeros"]) == ("micro", "linear")
    )
    earlier = {
        name: value
        for name, value in options.items()
        if name not in ("zeros", "split_antecedents", "layer")
    }
    keep("kept.parquet", table, procedure, earlier)
    assert Counts.load("kept.parquet").provenance.options == options
    keep(
        "other.parquet",
        replace(table, units=[f"other {name}" for name in table.units]),
        procedure,
        options,
    )
    parts = [Counts.load("kept.parquet"), Counts.load("other.parquet")]
    assert merge_counts(parts, ["a", "b"]).provenance.options == options


def drop(name):
    return lambda table: table.drop_columns([name])


def cast(name, kind):
    return lambda table: table.set_column(
        table.column_names.index(name),
        name,
        pa.array([kind(value) for value in table[name].to_pylist()]),
    )


@pytest.mark.parametrize(
    ("change", "about"),
    [
        *[(drop(name), {}) for name in ("unit", "block", "gold", "breakdown", "part")],
        *[(cast(name, str), {}) for name in ("block", "count:links/right")],
        (lambda table: table, {"breakdowns": {"expressed": ["x"]}}),
    ],
)
def test_what_is_no_file_of_counts(kept, change, about):
    rewrite(change, lambda found: found | about)
    assert "is not a file of counts" in refusal()


@pytest.mark.parametrize("about", [{"missing": "none"}, {"options": []}, {"procedure": None}])
def test_metadata_of_other_types(kept, about):
    rewrite(about=lambda found: found | about)
    assert "is not a file of counts" in refusal()


def test_other_files(kept):
    pq.write_table(pa.table({"a": [1]}), "other.parquet")
    Path("cut.parquet").write_bytes(Path("kept.parquet").read_bytes()[:-9])
    Path("text.parquet").write_text("hello")
    for name in ("other", "cut", "text"):
        expected = "is not a file of counts (expected one written by counts= of closeread.score)"
        assert refusal(f"{name}.parquet") == f"{name}.parquet: {expected}"
