"""Two versions of closeread on the same files, in one run: is the newer one slower?

    python benchmarks/versions.py OLD NEW

OLD and NEW are the `closeread` commands of two environments, and `CLOSEREAD_DATA` names the corpora.  Writes
`results/versions.json` and prints it; the table in README.md is made from it by `python tools/documentation.py`.

Times are CPU seconds of the whole process, user and system.  The two run in turns; a ratio is the median of the ratios
of each turn, new divided by old.
"""

import argparse
import json
import statistics
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from measure import cpu, cpu_process

from closeread import __version__

RUNS = 9


def write_documents(path, seed, n_documents=500, n_tokens=600, n_mentions=200, n_entities=60):
    """Invented coreference as JSON Lines; the entities of a mention depend on the seed, the mentions do not."""
    rng, spans = np.random.default_rng(seed), np.random.default_rng(0)
    with path.open("w", encoding="utf-8") as file:
        for number in range(n_documents):
            starts = np.sort(spans.choice(n_tokens, n_mentions, replace=False)).tolist()
            clusters = [[] for _ in range(n_entities)]
            for start, entity in zip(
                starts, rng.integers(n_entities, size=n_mentions).tolist(), strict=True
            ):
                clusters[entity].append([start, start])
            row = {
                "document": f"d{number}",
                "clusters": [cluster for cluster in clusters if cluster],
            }
            file.write(json.dumps(row) + "\n")


def write_timeml(folder, seed, n_documents=40, n_events=40, n_links=80):
    """Invented temporal links, consistent with the order of the events."""
    rng = np.random.default_rng(seed)
    folder.mkdir()
    for number in range(n_documents):
        words = " ".join(f'<EVENT eid="e{i}">ran</EVENT>' for i in range(n_events))
        instances = "\n".join(
            f'<MAKEINSTANCE eiid="ei{i}" eventID="e{i}"/>' for i in range(n_events)
        )
        pairs = [sorted(rng.choice(n_events, 2, replace=False).tolist()) for _ in range(n_links)]
        links = "\n".join(
            f'<TLINK lid="l{i}" eventInstanceID="ei{a}" relatedToEventInstance="ei{b}" relType="BEFORE"/>'
            for i, (a, b) in enumerate(pairs)
        )
        text = f"<TimeML>\n<TEXT>{words}</TEXT>\n{instances}\n{links}\n</TimeML>\n"
        (folder / f"{number}.tml").write_text(text, "utf-8")


def commands(folder, closeread):
    """The arguments of every command that is compared, by what it does; inputs are made in a folder."""

    def predict(output, *arguments):
        subprocess.run(
            [closeread, "baseline", *arguments, "-o", folder / output],
            check=True,
            capture_output=True,
        )
        return folder / output

    for seed, name in enumerate(("key.jsonl", "response.jsonl")):
        write_documents(folder / name, seed)
    for seed, name in enumerate(("key", "response")):
        write_timeml(folder / name, seed)
    random_labels = predict("mctaco.jsonl", "mctaco", "random", "--seed", "1")
    links = predict("tne.jsonl", "tne", "surface")
    timelines = predict(
        "timelines.jsonl", "semeval2015_timeline", "creation-time", "--split", "corpus_1"
    )
    coreference = (folder / "key.jsonl", folder / "response.jsonl")
    return {
        "--help": ["--help"],
        "score mctaco": ["score", "mctaco", random_labels],
        "compare mctaco": ["compare", "mctaco", random_labels, random_labels],
        "score tne": ["score", "tne", links],
        "score tne --by expressed": ["score", "tne", links, "--by", "expressed"],
        "score timeline": ["score", "timeline", timelines, "--split", "corpus_1"],
        "score tlinks": ["score", "tlinks", folder / "key", folder / "response"],
        "score coref": ["score", "coref", *coreference],
        "score coref --duplicates reference": [
            "score",
            "coref",
            *coreference,
            "--duplicates",
            "reference",
        ],
    }


def main():
    """Measure both versions and keep the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("old", type=Path, metavar="OLD")
    parser.add_argument("new", type=Path, metavar="NEW")
    given = parser.parse_args()
    rows = {}
    with tempfile.TemporaryDirectory() as scratch:
        for what, arguments in commands(Path(scratch), given.new).items():
            sides = [[path, *arguments] for path in (given.old, given.new)]
            for side in sides:
                cpu_process(side)  # fills the page cache and the byte code's
            turns = [[cpu_process(side) for side in sides] for _ in range(RUNS)]
            old, new = ([turn[side] for turn in turns] for side in (0, 1))
            rows[f"closeread {what}"] = {
                "old": statistics.median(seconds for seconds, _ in old),
                "new": statistics.median(seconds for seconds, _ in new),
                "ratio": statistics.median(b / a for (a, _), (b, _) in zip(old, new, strict=True)),
                "peak_ratio": max(peak for _, peak in new) / max(peak for _, peak in old),
            }
    result = {"machine": cpu(), "closeread": __version__, "runs": RUNS, "commands": rows}
    (Path(__file__).parent / "results" / "versions.json").write_text(
        json.dumps(result, indent=1) + "\n", "utf-8"
    )
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
