"""`closeread compare` of twenty systems, from files and from kept counts, beside scoring them one after the other.

    CLOSEREAD_DATA=… python benchmarks/many_systems.py --litbank DIR

DIR is a checkout of dbamman/litbank.  Writes `results/many_systems.json` and prints it; the tables in README.md are
made from it by `python tools/documentation.py`.  A system is the gold, disturbed at random.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import coref
import numpy as np
import possession
from measure import cpu_process, kept

from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus
from closeread.formats.json_lines import dump_json_lines
from closeread.tasks.coref.formats.conll import dump_conll, read_conll

CLOSEREAD = Path(sys.executable).parent / "closeread"
RUNS = 5
SYSTEMS, FEW = 20, 2
SHARE = 0.2
"""The share of the gold that a system gets wrong."""

ONE, NUMPY = "closeread score, 1 system", "python -c 'import numpy'"
PEER = f"{SYSTEMS} times that"


def disturb_labels(records, rng):
    """Rows of McTaco with some of the labels turned round."""
    turned = {"yes": "no", "no": "yes"}
    for record, wrong in zip(records, rng.random(len(records)) < SHARE, strict=True):
        yield {"id": record["id"], "label": turned[record["label"]] if wrong else record["label"]}


def drop_links(records, rng):
    """Rows of TNE without some of the links."""
    for record in records:
        pairs = {
            (link["anchor"], link["complement"]): link["preposition"]
            for link in record["np_relations"]
        }
        linked = [
            {"anchor": anchor, "complement": complement, "preposition": preposition}
            for (anchor, complement), preposition in pairs.items()
            if rng.random() > SHARE
        ]
        yield {"id": record["id"], "relations": linked}


def drop_events(records, rng):
    """Timelines without some of the events."""
    for record in records:
        known = [entry for entry in record["entries"] if rng.random() > SHARE]
        entries = [
            {name: entry[name] for name in ("position", "anchor", "mentions")} for entry in known
        ]
        yield {"id": record["id"], "entity": record["entity"], "entries": entries}


def drop_possessions(records, rng):
    """Rows of WikiPossessions without some of the possessions."""
    for record in records:
        known = [said for said in record["possessions"] if rng.random() > SHARE]
        possessions = [{name: said[name] for name in possession.FIELDS} for said in known]
        yield {"article": record["article"], "possessions": possessions}


CORPORA = {
    "mctaco": ("mctaco", "test", disturb_labels),
    "tne": ("tne", "test", drop_links),
    "timeline": ("semeval2015_timeline", "corpus_1", drop_events),
    "wikipossessions": ("wikipossessions", "test", drop_possessions),
}
"""The corpus of each task, its split, and what makes a system's rows."""


def write_systems(task, folder):
    """What `closeread` is given before the systems' files, and these files."""
    corpus, split, disturb = CORPORA[task]
    records = read_gold(load_corpus(corpus), split=split).records
    systems = [folder / f"{task}{seed}.jsonl" for seed in range(SYSTEMS)]
    for seed, path in enumerate(systems):
        path.write_text(
            dump_json_lines(list(disturb(records, np.random.default_rng(seed)))), "utf-8"
        )
    return ["--split", split], systems


def write_responses(litbank, folder):
    """What `closeread` is given before the responses, the key, and the responses."""
    key = folder / "key.conll"
    coref.litbank(litbank, key)
    table = read_conll(key)
    systems = [folder / f"response{seed}.conll" for seed in range(SYSTEMS)]
    for seed, path in enumerate(systems):
        path.write_text(dump_conll(coref.perturbed(table, seed)), "utf-8")
    return [key], systems


def keep_counts(task, given, systems):
    """Files of the counts of all systems."""
    found = [system.with_suffix(".parquet") for system in systems]
    for system, counts in zip(systems, found, strict=True):
        command = [CLOSEREAD, "score", task, *given, system, "--counts", counts, "--no-ci"]
        subprocess.run(command, check=True, capture_output=True)
    return found


def measure(task, given, systems):
    """Median CPU seconds, and the largest peak, of every command by name, run in turns."""
    counts = keep_counts(task, given, systems)
    compare = [CLOSEREAD, "compare", task]
    commands = {
        NUMPY: [sys.executable, "-c", "import numpy"],
        ONE: [CLOSEREAD, "score", task, *given, systems[0]],
        f"closeread compare, {FEW} systems, files": [*compare, *given, *systems[:FEW]],
        f"closeread compare, {SYSTEMS} systems, files": [*compare, *given, *systems],
        f"closeread compare, {FEW} systems, kept counts": [*compare, *counts[:FEW]],
        f"closeread compare, {SYSTEMS} systems, kept counts": [*compare, *counts],
    }
    for command in commands.values():
        cpu_process(command)  # fills the page cache and the byte code's
    turns = [
        {name: cpu_process(command) for name, command in commands.items()} for _ in range(RUNS)
    ]
    found = {}
    for name in commands:
        seconds = statistics.median(turn[name][0] for turn in turns)
        found[name] = {"cpu_seconds": seconds, "peak_mib": max(turn[name][1] for turn in turns)}
        if name == ONE:
            found[PEER] = {"cpu_seconds": SYSTEMS * seconds, "peak_mib": found[name]["peak_mib"]}
    return found


def main():
    """Measure every task and keep the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--litbank", type=Path, required=True)
    litbank = parser.parse_args().litbank
    tables = {}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        tables["coref"] = PEER, measure("coref", *write_responses(litbank, folder))
        for task in CORPORA:
            tables[task] = PEER, measure(task, *write_systems(task, folder))
    print(json.dumps(kept("many_systems", tables), indent=1))


if __name__ == "__main__":
    main()
