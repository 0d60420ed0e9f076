"""closeread beside libraries that compute Krippendorff's alpha with sets as values, in one run.

    python benchmarks/agreement.py

Needs krippendorff and nltk (both are installed for the tests).  Writes `results/agreement.json` and prints it; the
tables in README.md are made from it by `python tools/documentation.py`.

Documents are invented: annotators have the chains of a document with mistakes in a quarter of the mentions.  The peers
are given the values of the mentions, which they don't make, and compute one distance, MASI; closeread is given clusters
and computes three.
"""

import json
import random
import tempfile
from pathlib import Path
from sys import executable

import krippendorff
import numpy as np
from measure import calls, kept, processes
from nltk.metrics import masi_distance
from nltk.metrics.agreement import AnnotationTask

from closeread.formats.json_lines import dump_json_lines
from closeread.tasks.coref.agreement import measure_clusters, resolve
from closeread.tasks.coref.documents import mention_table
from closeread.tasks.coref.errors import find_chain_errors

CLOSEREAD = Path(executable).parent / "closeread"
RUNS = 5
MISTAKES = 0.25
ONE = {"mentions": 300, "chains": 45, "annotators": 12}
ALL = {"mentions": 170, "chains": 30, "annotators": 10}
DOCUMENTS = 33


def annotations(mentions, chains, annotators, seed):
    """The true clusters of a document, and those of its annotators."""
    rng = random.Random(seed)  # noqa: S311
    truth = [rng.randrange(chains) for _ in range(mentions)]
    drawn = [
        [t if rng.random() > MISTAKES else rng.randrange(2 * chains) for t in truth]
        for _ in range(annotators)
    ]
    return clusters(truth), [clusters(one) for one in drawn]


def clusters(numbers):
    """The mentions, one token each, by number."""
    found = {}
    for mention, number in enumerate(numbers):
        found.setdefault(number, []).append([mention, mention])
    return list(found.values())


def values(annotation):
    """The value of each mention: its cluster as a set."""
    return {
        start: frozenset(s for s, _ in cluster) for cluster in annotation for start, _ in cluster
    }


def by_krippendorff(document):
    """Alpha by krippendorff, with MASI as the distance, for all pairs of values at once."""
    tables = [values(annotation) for annotation in document]
    known = list(dict.fromkeys(value for table in tables for value in table.values()))
    number = {value: i for i, value in enumerate(known)}
    counts = np.zeros((len(tables[0]), len(known)))
    for table in tables:
        for mention, value in table.items():
            counts[mention, number[value]] += 1
    member = np.zeros((len(known), len(tables[0])))
    for value, row in number.items():
        member[row, list(value)] = 1
    shared, size = member @ member.T, member.sum(axis=1)
    least = np.minimum(size[:, None], size)
    score = np.select(
        [shared == np.maximum(size[:, None], size), shared == least, shared > 1],
        [1, 2 / 3, 1 / 3],
        0,
    )
    distance = 1 - score * shared / (size[:, None] + size - shared)
    return krippendorff.alpha(value_counts=counts, level_of_measurement=lambda *_, **__: distance)


def masi(one, other):
    """NLTK's distance; sets that cross in one mention, which it takes for near, are apart."""
    is_crossed = len(one & other) == 1 and not (one <= other or other <= one)
    return 1 if is_crossed else masi_distance(one, other)


def by_nltk(document):
    """Alpha by NLTK with its MASI."""
    rows = [
        (i, mention, value)
        for i, annotation in enumerate(document)
        for mention, value in values(annotation).items()
    ]
    return AnnotationTask(rows, distance=masi).alpha()


def of_one_document():
    """Seconds for one document, with the same result by all."""
    gold, document = annotations(**ONE, seed=0)
    options = resolve({})
    functions = {
        "closeread, three distances": lambda: measure_clusters([document], options).alpha["iaa2"],
        "krippendorff, MASI as matrices": lambda: by_krippendorff(document),
        "NLTK, MASI": lambda: by_nltk(document),
    }
    found = [function() for function in functions.values()]
    assert np.allclose(found, found[0], atol=1e-12), found
    tables = [mention_table(["d"], [one]) for one in (gold, *document)]
    functions["closeread, mistakes in chains"] = lambda: find_chain_errors(tables[0], tables[1:])
    return "NLTK, MASI", calls(functions, RUNS)


def of_all_documents(folder):
    """Seconds and peak of the command, from files to the table."""
    paths = []
    for number in range(DOCUMENTS):
        gold, document = annotations(**ALL, seed=number)
        for annotator, found in enumerate([gold, *document]):
            path = folder / f"{number}_{annotator}.jsonl"
            path.write_text(
                dump_json_lines([{"document": f"d{number}", "clusters": found}]), "utf-8"
            )
            if annotator:
                paths.append(path)
    (folder / "gold.jsonl").write_text(
        "".join((folder / f"{n}_0.jsonl").read_text() for n in range(DOCUMENTS))
    )
    commands = {
        "closeread --version": [CLOSEREAD, "--version"],
        "closeread agreement coref": [CLOSEREAD, "agreement", "coref", *paths],
        "closeread errors chains": [CLOSEREAD, "errors", "chains", folder / "gold.jsonl", *paths],
    }
    return "closeread agreement coref", processes(commands, RUNS)


def main():
    """Measure, store and print."""
    with tempfile.TemporaryDirectory() as folder:
        tables = {"document": of_one_document(), "documents": of_all_documents(Path(folder))}
    print(json.dumps(kept("agreement", tables), indent=1))


if __name__ == "__main__":
    main()
