"""Input beside the fastest library that takes it in unchecked: JSON Lines beside orjson, clusters beside Arrow.

    CLOSEREAD_DATA=DIR python benchmarks/parsing.py

Writes `results/parsing.json` and prints it; the tables in README.md are made from it by `python
tools/documentation.py`.  Rows and clusters are invented, but for the documents of TNE.
"""

import gzip
import json
import os
from pathlib import Path

import numpy as np
import orjson
import pyarrow as pa
from measure import calls, kept

import closeread
from closeread.formats.json_lines import parse_json_lines
from closeread.formats.text import split_lines
from closeread.tasks.tne.tne_jsonl import FORMAT

RUNS = 5
SHAPES = {"many": (100_000, 2, 2), "large": (100, 60, 5), "few": (12, 4, 3)}


def clusters(n_documents, n_entities, n_mentions):
    """Documents with mentions of a token each, at random."""
    size = n_entities * n_mentions
    tokens = np.random.default_rng(1).permuted(
        np.tile(np.arange(2 * size), (n_documents, 1)), axis=1
    )[:, :size]
    return np.repeat(tokens.reshape(n_documents, n_entities, n_mentions, 1), 2, axis=3).tolist()


def measure_lines(data):
    """Lines parsed by orjson, and by our strict reader, the check of the encoding included."""

    def parse_own():
        assert not parse_json_lines(split_lines(Path("lines.jsonl"), data)).problems

    return calls(
        {"orjson": lambda: list(map(orjson.loads, data.splitlines())), "closeread": parse_own}, RUNS
    )


def measure_documents(path):
    """The documents of TNE, decompressed, and changed to one form."""

    def parse():
        return list(map(orjson.loads, gzip.decompress(path.read_bytes()).splitlines()))

    return calls(
        {"gunzip and orjson": parse, "closeread": lambda: FORMAT.read(path, "train")}, RUNS
    )


def measure_clusters(module, shape):
    """Our `compute`, beside turning the same lists into Arrow."""
    sides = [clusters(*shape), clusters(*shape)]
    return calls(
        {
            "pyarrow.array": lambda: [pa.array(side) for side in sides],
            "compute of closeread": lambda: module.compute(
                predictions=sides[0], references=sides[1]
            ),
        },
        RUNS,
    )


def dump(rows):
    """Rows as JSON Lines."""
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def main():
    """Measure and keep the result."""
    labels = [{"id": f"test-{i:06d}", "label": "yes" if i % 3 else "no"} for i in range(100_000)]
    documents = [
        {"document": f"d{i}", "clusters": one} for i, one in enumerate(clusters(5_000, 60, 5))
    ]
    module = closeread.load_metric("coref_lea")
    tables = {
        "labels": ("orjson", measure_lines(dump(labels))),
        "clusters": ("orjson", measure_lines(dump(documents))),
        "documents": (
            "gunzip and orjson",
            measure_documents(
                Path(os.environ["CLOSEREAD_DATA"], "tne", "train_recovered.jsonl.gz")
            ),
        ),
        **{
            name: ("pyarrow.array", measure_clusters(module, shape))
            for name, shape in SHAPES.items()
        },
    }
    print(json.dumps(kept("parsing", tables), indent=1))


if __name__ == "__main__":
    main()
