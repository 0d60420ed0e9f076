"""closeread's scoring of possessions: the released corpus, and articles of many possessors.

    CLOSEREAD_DATA=… python benchmarks/possession.py

Writes `results/possession.json` and prints it; the tables in README.md are made from it by `python
tools/documentation.py`.  No other scorer of the task was released, so there is nothing to compare with but the two
settings.
"""

import json
import sys
import tempfile
from pathlib import Path

import numpy as np
from measure import calls, kept, processes

from closeread.corpora.gold import load_corpus, read_gold
from closeread.formats.json_lines import dump_json_lines
from closeread.tasks.wikipossessions.procedure import count

CLOSEREAD = Path(sys.executable).parent / "closeread"
RUNS = 5
POSSESSORS = 2000
VOCABULARIES = {
    "names of their own": None,
    "names of three of 1,000 words": 1000,
    "names of three of 200 words": 200,
    "names that share a word": 1,
}
FIELDS = ("possessor", "certainty", "order", "anchor", "relation", "relation_certainty")


def predictions(gold):
    """The gold without every fifth possession, as a system would send it."""
    for record in gold:
        said = [p for i, p in enumerate(record["possessions"]) if i % 5]
        yield {"article": record["article"], "possessions": [{name: p[name] for name in FIELDS} for p in said]}


def article(vocabulary, seed):
    """An article of many possessors, each at an order of its own."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(POSSESSORS):
        if vocabulary is None:
            words = [f"name{i}"]
        elif vocabulary == 1:
            words = ["word0", f"name{seed}x{i}"]
        else:
            words = [f"word{n}" for n in rng.choice(vocabulary, 3, replace=False)]
        year = str(int(rng.integers(1500, 2000)))
        row = {"possessor": " ".join(words), "certainty": "certain", "order": str(i + 1), "anchor": year}
        rows.append({**row, "relation": "during", "relation_certainty": "certain"})
    return [{"article": "The Jug", "possessions": rows}]


def main():
    """Measure everything and keep it."""
    gold = read_gold(load_corpus("wikipossessions")).records
    system = list(predictions(gold))
    settings = ("exact", "partial")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "system.jsonl"
        file.write_text(dump_json_lines(system), "utf-8")
        commands = {
            f"closeread score wikipossessions, {setting}": [
                *(CLOSEREAD, "score", "wikipossessions", file, "--setting", setting)
            ]
            for setting in settings
        }
        tables = {"processes": ("closeread score wikipossessions, exact", processes(commands, RUNS))}
    released = {
        f"the released corpus, {setting}": lambda setting=setting: count(gold=gold, system=system, setting=setting)
        for setting in settings
    }
    large = {
        f"{POSSESSORS:,} possessors, {what}, {setting}": lambda sides=sides, setting=setting: count(
            gold=sides[0], system=sides[1], setting=setting
        )
        for what, vocabulary in VOCABULARIES.items()
        for sides in [(article(vocabulary, 1), article(vocabulary, 2))]
        for setting in settings
    }
    tables["scoring"] = "the released corpus, exact", calls({**released, **large}, RUNS)
    print(json.dumps(kept("possession", tables), indent=1))


if __name__ == "__main__":
    main()
