"""Releases of TNE made of a few texts, and what is recomputed from them."""

import gzip
from functools import cache

from closeread.corpus.reproduction import Inputs, reproduce
from closeread.tasks.tne.tne_jsonl import dump_records

FILES = {
    "train": "train-v1.1",
    "dev": "dev-v1.1",
    "test": "test",
    "ood": "ood",
    "ood without links": "ood_unlabeled-v1.1",
}


def cells_of(table=None, folder=None):
    return {
        (t.name, c.row, c.column): c
        for t in reproduce("tne", table, Inputs(data_dir=folder))
        for c in t.cells
    }


def values_of(table, folder):
    """The recomputed values of a table by row and column."""
    cells = cells_of(table, folder)
    return {
        (row, column): c.recomputed
        for (_, row, column), c in cells.items()
        if c.recomputed is not None
    }


@cache
def read_release(folder):
    """The cells of the release at hand, which takes seconds."""
    return {(t.name, c.row, c.column): c for t in reproduce("tne") for c in t.cells}


def in_table(cells, table):
    return {(row, column): cell for (name, row, column), cell in cells.items() if name == table}


def write(folder, **splits):
    """A folder with these records, by the names in `FILES` with _ for a blank."""
    folder.mkdir(exist_ok=True)
    for name, records in splits.items():
        path = folder / f"{FILES[name.replace('_', ' ')]}.jsonl.gz"
        path.write_bytes(gzip.compress(dump_records(records).encode(), compresslevel=1))
    return folder
