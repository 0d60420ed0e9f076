"""`closeread compare` of twenty systems, from files and from kept counts, beside scoring them one after the other.

    CLOSEREAD_DATA=… python benchmarks/many_systems.py

A system is the gold of McTaco or TNE, disturbed at random.
"""

import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from measure import CLOSEREAD, MEASURES, keep, measure_commands

import closeread

N_SYSTEMS = 20
SHARE_WRONG = 0.2
ONE = "closeread score, 1 system"
PEER = f"{N_SYSTEMS} times that"


def turn_labels(records, rng):
    """Return rows of McTaco with some of the labels turned round."""
    turned = {"yes": "no", "no": "yes"}
    rows = []
    for record in records:
        label = record["label"]
        if rng.random() < SHARE_WRONG:
            label = turned[label]
        rows.append({"id": record["id"], "label": label})
    return rows


def drop_links(records, rng):
    """Return rows of TNE without some of the links."""
    rows = []
    for record in records:
        links = {}
        for link in record["np_relations"]:
            names = ("anchor", "complement", "preposition")
            links[link["anchor"], link["complement"]] = {name: link[name] for name in names}
        relations = [link for link in links.values() if rng.random() > SHARE_WRONG]
        rows.append({"id": record["id"], "relations": relations})
    return rows


def write_systems(corpus, disturb, folder):
    """Write the systems' files and those of their counts."""
    records = closeread.load_dataset(corpus, split="test").to_list()
    systems, counts = [], []
    for seed in range(N_SYSTEMS):
        system = folder / f"{corpus}{seed}.jsonl"
        rows = disturb(records, np.random.default_rng(seed))
        system.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        systems.append(system)
        counts.append(system.with_suffix(".parquet"))
        command = [CLOSEREAD, "score", corpus, system, "--counts", counts[-1], "--no-ci"]
        subprocess.run(command, check=True, capture_output=True)
    return systems, counts


def measure(corpus, disturb, folder):
    """Measure the commands for a corpus."""
    systems, counts = write_systems(corpus, disturb, folder)
    compare = [CLOSEREAD, "compare", corpus]
    commands = {
        ONE: [CLOSEREAD, "score", corpus, systems[0]],
        "closeread compare, 2 systems, files": [*compare, *systems[:2]],
        f"closeread compare, {N_SYSTEMS} systems, files": [*compare, *systems],
        f"closeread compare, {N_SYSTEMS} systems, kept counts": [*compare, *counts],
    }
    rows = measure_commands(commands)
    times = dict(zip(MEASURES, (N_SYSTEMS, N_SYSTEMS, 1), strict=True))
    rows[PEER] = {name: times[name] * rows[ONE][name] for name in MEASURES}
    return rows


def main():
    """Measure and keep the result."""
    tables = {}
    with tempfile.TemporaryDirectory() as scratch:
        for corpus, disturb in (("mctaco", turn_labels), ("tne", drop_links)):
            tables[corpus] = (PEER, measure(corpus, disturb, Path(scratch)))
    keep("many_systems", tables)


if __name__ == "__main__":
    main()
