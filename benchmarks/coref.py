"""closeread beside the coreference scorers that people use, in one run.

    python benchmarks/coref.py --litbank DIR --gum DIR --perl SCORER.PL --coval DIR --corefud DIR \\
        --evaluate-coval DIR --python PEERS_PYTHON

The folders are checkouts of dbamman/litbank, amir-zeldes/gum, conll/reference-coreference-scorers (v8.01: its
scorer.pl), ns-moosavi/coval and ufal/corefud-scorer, and a folder `coval` that holds evaluate's metrics/coval/coval.py;
PEERS_PYTHON has scorch, udapi, numpy and scipy.  Writes `results/coref.json` and prints it; the tables in README.md are
made from it by `python tools/documentation.py`.

The key is LitBank; the response is the key with a tenth of the mentions dropped and a fifth of them in other entities.
A time is the median of five runs, or of as many as fit into `LONG` seconds, at least one; what does not end within
`LIMIT` seconds is said not to.
"""

import argparse
import contextlib
import io
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
from measure import calls, cpu, process

from closeread import __version__
from closeread.counts.estimates import Resampling, score
from closeread.counts.procedure import GoldSpec
from closeread.scoring import open_scorer
from closeread.tasks.coref.formats.conll import dump_conll, read_conll
from closeread.tasks.coref.formats.conllu import dump_conllu

CLOSEREAD = Path(sys.executable).parent / "closeread"
RUNS, LONG, LIMIT = 5, 60, 75
COPIES = 20
PERL_METRICS = ("muc", "bcub", "ceafm", "ceafe", "blanc")
EVALUATE = """
import sys, evaluate
metric = evaluate.load(sys.argv[1])
texts = [open(name, encoding="utf-8").read() for name in sys.argv[2:]]
lines = [[line for line in text.splitlines() if line and not line.startswith("#")] for text in texts]
print(metric.compute(references=[lines[0]], predictions=[lines[1]], keep_singletons=True))
"""
READ_BY_UDAPI = """
import sys
from udapi.core.document import Document
from udapi.block.read.conllu import Conllu
document = Document()
Conllu(files=[sys.argv[1]]).apply_on_document(document)
document.coref_entities
"""
READ_BY_CLOSEREAD = """
import sys
from pathlib import Path
from closeread.tasks.coref.formats.conllu import read_conllu
read_conllu(Path(sys.argv[1]))
"""


def litbank(folder, target):
    """LitBank's coreference as one file, byte for byte."""
    files = sorted((folder / "coref" / "conll").glob("*.conll"))
    target.write_bytes(b"".join(file.read_bytes() for file in files))


def perturbed(table, seed=0):
    """A response to a key."""
    rng = np.random.default_rng(seed)
    n = len(table.entity)
    first = table.entity[np.searchsorted(table.document, table.document)]
    last = table.entity[np.searchsorted(table.document, table.document, side="right") - 1]
    entity = table.entity.copy()
    moved, alone = rng.random(n) < 0.15, rng.random(n) < 0.05
    entity[moved] = (first + rng.random(n) * (last - first + 1)).astype(np.int64)[moved]
    entity[alone] = table.n_entities + np.arange(int(alone.sum()))
    return clustered(table, entity, rng.random(n) > 0.1)


def clustered(table, entity, kept):
    """The table with other entities, and some of its mentions only."""
    order = np.lexsort((entity, table.document))
    order = order[kept[order]]
    _, number = np.unique(
        np.column_stack([table.document, entity])[order], axis=0, return_inverse=True
    )
    columns = {name: getattr(table, name)[order] for name in ("document", "start", "end")}
    return replace(table, **columns, entity=number, n_entities=int(number.max()) + 1, labels=None)


def by_strings(table):
    """A response that links all mentions of a document that have the same words."""
    words = [[word.lower() for word in table.words(document)] for document in range(len(table))]
    numbers = defaultdict(lambda: len(numbers))
    spans = zip(table.document.tolist(), table.start.tolist(), table.end.tolist(), strict=True)
    entity = np.array([numbers[d, tuple(words[d][start : end + 1])] for d, start, end in spans])
    return clustered(table, entity, np.ones(len(entity), bool))


def copies(text, n):
    """A file n times over, its documents under other names."""
    return "".join(text.replace("#begin document (", f"#begin document ({i}_") for i in range(n))


def one_document(text):
    """A file's documents as one; entities of different documents get different numbers."""
    lines, entities, number = ["#begin document (all); part 000\n"], {}, 0
    for line in text.splitlines(keepends=True):
        if line.startswith("#begin"):
            number += 1
        elif not line.startswith("#"):
            cells = line.rstrip("\n").rsplit("\t", 1)
            if len(cells) == 2 and cells[1] not in ("_", "-", ""):
                cells[1] = renumbered(cells[1], number, entities)
            lines.append("\t".join(cells) + "\n")
    return "".join([*lines, "#end document\n"])


def renumbered(cell, document, entities):
    """A coreference cell with the numbers that its entities have over all documents."""
    parts = cell.split("|")
    numbers = [entities.setdefault((document, part.strip("()")), len(entities)) for part in parts]
    return "|".join(
        part.replace(part.strip("()"), str(number), 1)
        for part, number in zip(parts, numbers, strict=True)
    )


def for_scorch(table, folder):
    """A folder of scorch's JSON, a file a document."""
    folder.mkdir()
    for i, record in enumerate(table):
        clusters = {str(j): [f"{s}-{e}" for s, e in c] for j, c in enumerate(record["clusters"])}
        (folder / f"{i}.json").write_text(json.dumps({"type": "clusters", "clusters": clusters}))


def timed(command, **options):
    """Seconds, peak MiB and runs of a command; None where it does not end."""
    measured = []
    while len(measured) < RUNS and (not measured or sum(s for s, _ in measured) < LONG):
        try:
            measured.append(process(command, timeout=LIMIT, **options))
        except subprocess.TimeoutExpired:
            return {"seconds": None, "peak_mib": None, "runs": 1}
    return {
        "seconds": statistics.median(s for s, _ in measured),
        "peak_mib": max(peak for _, peak in measured),
        "runs": len(measured),
    }


def peers(given, key, response, perl_metrics=PERL_METRICS):
    """The peers' commands on two CoNLL files, by name."""
    perl = {f"Perl, {m}": (["perl", given.perl, m, key, response], {}) for m in perl_metrics}
    coval = {"coval": ([given.python, given.coval / "scorer.py", key, response], {})}
    return {**coval, **perl}


def ours(key, response):
    """Our commands on two files, by name."""
    command = [CLOSEREAD, "score", "coref", key, response]
    return {
        "closeread, all metrics": ([*command, "--no-ci"], {}),
        "closeread, with intervals": (command, {}),
    }


def other_peers(given, folder, key, response):
    """The commands of peers with formats of their own."""
    files = []
    for name, table in (("key", key), ("response", response)):
        for_scorch(table, folder / f"{name}-json")
        # corefud-scorer wants ids that no two documents share.
        heads = replace(
            table, head=table.end.copy(), labels=[f"e{i}" for i in range(table.n_entities)]
        )
        (folder / f"{name}.conllu").write_text(dump_conllu(heads), "utf-8")
        files.append(folder / f"{name}.conllu")
    scorch = [Path(given.python).parent / "scorch", folder / "key-json", folder / "response-json"]
    scorer = [given.python, given.corefud / "corefud-scorer.py", *files, "-s", "-x", "-m", "all"]
    metric = [
        sys.executable,
        "-c",
        EVALUATE,
        given.evaluate_coval,
        folder / "key.conll",
        folder / "response.conll",
    ]
    environment = {**os.environ, "PYTHONPATH": str(given.coval), "HF_HUB_OFFLINE": "1"}
    return {
        "scorch": (scorch, {}),
        "corefud-scorer": (scorer, {}),
        "evaluate's coval": (metric, {"env": environment}),
        "closeread, CorefUD files": ([CLOSEREAD, "score", "coref", *files, "--no-ci"], {}),
    }


def measured(commands):
    """Every command's figures by name."""
    return {name: timed(command, **options) for name, (command, options) in commands.items()}


def in_process(given, key, response):
    """Scoring alone, and reading alone, within this process."""
    sys.path.insert(0, str(given.coval))
    from coval.conll import reader
    from coval.eval import evaluator

    infos = reader.get_coref_infos(str(key), str(response), False, False, True, False)
    metrics = (evaluator.mentions, evaluator.muc, evaluator.b_cubed, evaluator.ceafe, evaluator.lea)

    def read():
        scorer = open_scorer("coref", GoldSpec(gold=key))
        return scorer, scorer.read(response)

    scorer, system = read()
    table = scorer.count(system).table

    def coval():
        for metric in metrics:
            evaluator.evaluate_documents(infos, metric, beta=1)

    def read_by_coval():
        with contextlib.redirect_stdout(io.StringIO()):
            reader.get_coref_infos(str(key), str(response), False, False, True, False)

    return {
        "scoring": calls(
            {"coval, 5 metrics": coval, "closeread, 8 metrics": lambda: scorer.count(system)}, RUNS
        ),
        "reading": calls({"coval": read_by_coval, "closeread": read}, RUNS),
        "resampling": calls(
            {
                "closeread, 1,000 resamples": lambda: score(
                    table, scorer.procedure.metrics, Resampling()
                )
            },
            RUNS,
        ),
    }


def reading_corefud(given, folder):
    """Reading GUM with all its annotation, twice over: seconds, and peak MiB of a process that does nothing else."""
    files = sorted((given.gum / "dep").glob("*.conllu"))
    texts = [file.read_text("utf-8").rstrip("\n") + "\n\n" for file in files]
    path = folder / "gum.conllu"
    path.write_text(
        "".join([*texts, *(text.replace("# newdoc id = ", "# newdoc id = 2_") for text in texts)]),
        "utf-8",
    )
    codes = {
        "udapi": (given.python, READ_BY_UDAPI),
        "closeread": (sys.executable, READ_BY_CLOSEREAD),
        "import numpy": (sys.executable, "import numpy"),
    }
    return {
        "mib": mib(path),
        "processes": measured({n: ([p, "-c", c, path], {}) for n, (p, c) in codes.items()}),
    }


def main(given):
    """Measure everything and keep it."""
    result = {
        "machine": f"{cpu()}, {os.cpu_count()} cores",
        "software": f"Python {platform.python_version()}, NumPy {np.__version__}",
        "closeread": __version__,
        "limit": LIMIT,
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        key, response = folder / "key.conll", folder / "response.conll"
        litbank(given.litbank, key)
        table = read_conll(key)
        texts = dump_conll(table), dump_conll(perturbed(table))  # before the key is written again
        for path, text in zip((key, response), texts, strict=True):
            path.write_text(text, "utf-8")
        start = {
            "python -c 'import numpy, scipy'": ([sys.executable, "-c", "import numpy, scipy"], {}),
            "closeread --version": ([CLOSEREAD, "--version"], {}),
        }
        tables = read_conll(key), read_conll(response)
        commands = {
            **ours(key, response),
            **peers(given, key, response),
            **other_peers(given, folder, *tables),
        }
        result["litbank"] = {
            "mib": mib(key, response),
            "processes": measured({**start, **commands}),
        }
        base = result["litbank"]["processes"]["python -c 'import numpy, scipy'"]["peak_mib"]
        result["in_process"] = in_process(given, key, response)
        result["corefud"] = reading_corefud(given, folder)

        many = folder / "key20.conll", folder / "response20.conll"
        for source, target in zip((key, response), many, strict=True):
            target.write_text(copies(source.read_text("utf-8"), COPIES), "utf-8")
        commands = {**ours(*many), **peers(given, *many, PERL_METRICS[:2])}
        result["copies"] = {"mib": mib(*many), "processes": measured(commands)}

        whole = folder / "key1.conll", folder / "response1.conll"
        for source, target in zip((key, response), whole, strict=True):
            target.write_text(one_document(source.read_text("utf-8")), "utf-8")
        result["one_document"] = {
            "mib": mib(*whole),
            "processes": measured({**ours(*whole), **peers(given, *whole)}),
        }

        strings = folder / "strings.conll"
        strings.write_text(dump_conll(by_strings(read_conll(whole[0]))), "utf-8")
        both = whole[0], strings
        result["strings"] = {
            "mib": mib(*both),
            "processes": measured({**ours(*both), **peers(given, *both)}),
        }
    for name in ("litbank", "copies", "one_document", "strings"):
        result[name]["base_mib"] = base
    path = Path(__file__).parent / "results" / "coref.json"
    path.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    print(path.read_text("utf-8"), end="")


def mib(*paths):
    """The size of files in MiB."""
    return sum(path.stat().st_size for path in paths) / 2**20


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for option in ("litbank", "gum", "perl", "coval", "corefud", "evaluate-coval", "python"):
        parser.add_argument(f"--{option}", type=Path, required=True)
    main(parser.parse_args())
