"""Counts that gold alone determines: they are the same for every system, and forged ones are noticed beside others."""

import random
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from shared import random_systems

import closeread
from closeread.cli import main
from closeread.counts.comparison import make_comparison
from closeread.counts.files import read_any_counts, write_counts
from closeread.exceptions import RequestError
from closeread.tasks import load_procedure, procedure_names


def count(procedure, gold, rows, options):
    try:
        return procedure.count(gold=gold, system=rows, **options)
    except (IndexError, KeyError, ValueError):  # options exclude each other, or a row is none of a submission
        return None


@pytest.mark.parametrize("name", procedure_names())
def test_any_system_has_the_counts_of_gold(name):
    procedure, n_compared = load_procedure(name), 0
    seed = random.randrange(10**6)
    for number in range(seed, seed + 12):
        gold, rows, options = random_systems.DRAWN[name](random.Random(number))
        systems = [rows, list(gold), [rows[-1], *rows[:-1]], [None] * len(gold)]
        if options["missing"] == "error":
            systems.pop()
        tables = [table for rows in systems if (table := count(procedure, gold, rows, options)) is not None]
        for other in tables[1:]:
            shared = sorted(set(tables[0].units) & set(other.units))
            for column in procedure.of_gold:
                if column in tables[0].names:
                    one, two = (
                        [table.values[list(table.units).index(unit), table.names.index(column)] for unit in shared]
                        for table in (tables[0], other)
                    )
                    assert one == two, (column, number)
                    n_compared += len(shared)
    assert n_compared, seed


@pytest.fixture
def forged(tmp_path):
    """Counts of a baseline, and counts in which every question has one candidate, which is right."""
    rows = closeread.baseline("mctaco", "always-positive", config="sample")
    honest, made = tmp_path / "honest.parquet", tmp_path / "forged.parquet"
    report = closeread.score("mctaco", rows, config="sample")
    write_counts(honest, report.units.counted if hasattr(report.units, "counted") else report.unit_rows.counted)
    counted = read_any_counts(honest, lambda name: load_procedure("mctaco"))
    values = np.ones_like(counted.table.values)
    write_counts(made, replace(counted, table=replace(counted.table, values=values)))
    return honest, made


MESSAGE = "they were not scored on the same gold as 'honest':"


def test_forged_counts_are_no_rival(forged):
    done = CliRunner().invoke(main, ["table", "mctaco", *map(str, forged)])
    assert done.exit_code == 2, done.output
    assert MESSAGE in done.stderr
    assert "question 'test-q0000': candidates is 1 (expected " in done.stderr


def test_they_are_not_compared(forged):
    one, other = (read_any_counts(path, load_procedure) for path in forged)
    with pytest.raises(RequestError, match="they were not scored on the same gold as 'a':"):
        make_comparison(("a", "b"), one, other)


def test_forged_counts_are_no_rival_of_predictions(forged, tmp_path):
    honest = tmp_path / "honest.jsonl"
    CliRunner().invoke(main, ["baseline", "mctaco", "always-negative", "--config", "sample", "-o", str(honest)])
    done = CliRunner().invoke(main, ["table", "mctaco", "--config", "sample", str(honest), str(forged[1])])
    assert done.exit_code == 2, done.output
    assert MESSAGE in done.stderr
