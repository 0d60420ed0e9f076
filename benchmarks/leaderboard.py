"""Ranking of a board's systems: all pairs at once, beside `compare`, which draws resamples for one pair; and judging.

    CLOSEREAD_DATA=DIR python benchmarks/leaderboard.py

Writes `results/leaderboard.json` and prints it; the tables in README.md are made from it by `python
tools/documentation.py`.  The counts that are ranked are invented: systems of different quality, with as many blocks as
the test splits of McTaco (355 sentences) and TNE (500 documents), and 100 documents of coreference.  What is judged are
submissions to the test split of McTaco that are right about a random part of the candidates.
"""

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from measure import calls, kept, process, processes

from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus
from closeread.counts.procedure import GoldSpec
from closeread.counts.resampling import compare_pairs
from closeread.counts.table import CountTable
from closeread.leaderboard.declaration import Leaderboard, Limits, make_board
from closeread.leaderboard.ranking import rank
from closeread.leaderboard.store import FolderStore
from closeread.leaderboard.submission import make_submission
from closeread.tasks import load_procedure

RUNS = 5
SYSTEMS = 1000
PAIRS = 100
ONE = "closeread score mctaco, 1 system"
DRAWING = {"n_resamples": 1000, "confidence": 0.95, "seed": 0}


def mctaco(n, rng):
    """Questions of a sentence, and the sum of their F1, in thirds."""
    questions = rng.integers(1, 7, 355)
    f1 = rng.binomial(3 * np.broadcast_to(questions, (n, 355)), rng.uniform(0.3, 0.9, (n, 1))) / 3
    return "f1", {"questions": np.broadcast_to(questions, f1.shape), "f1_sum": f1}


def tne(n, rng):
    """Links of a document: correct ones, those of the system and those of gold."""
    gold = np.broadcast_to(rng.integers(50, 400, 500), (n, 500))
    right = rng.binomial(gold, rng.uniform(0.1, 0.6, (n, 1)))
    system = right + rng.poisson(right / rng.uniform(1, 4, (n, 1)))
    return "links/f1", {"links/right": right, "links/system": system, "links/gold": gold}


def coref(n, rng):
    """Counts of MUC, B³ and CEAFe of a document."""
    columns = {}
    for name in ("muc", "b3", "ceafe"):
        key = np.broadcast_to(rng.integers(5, 60, 100), (n, 100))
        common = rng.binomial(key, rng.uniform(0.3, 0.9, (n, 1)))
        response = common + rng.poisson(key * rng.uniform(0.1, 0.7, (n, 1)))
        columns |= {f"{name}/common": common, f"{name}/response": response, f"{name}/key": key}
    return "conll/f1", columns


BOARDS = {"mctaco": mctaco, "tne": tne, "coref": coref}


def invent(task, n):
    """The headline metric of a task, the names of its counts, and the counts of n systems, (n, n_blocks, k)."""
    name, columns = BOARDS[task](n, np.random.default_rng(0))
    metric = next(metric for metric in load_procedure(task).metrics if metric.name == name)
    return metric, tuple(columns), np.stack(list(columns.values()), axis=2).astype(np.float64)


def compare_all(metric, names, blocks):
    """Compare all pairs of systems, as `closeread compare` does."""
    units = [str(unit) for unit in range(blocks.shape[1])]
    tables = [CountTable(units, np.arange(len(units)), names, counts) for counts in blocks]
    return compare_pairs(tables, [metric], **DRAWING)


def measure_calls():
    """Seconds of every step within a process."""
    boards = {task: invent(task, SYSTEMS) for task in BOARDS}
    few = {
        task: (metric, names, blocks[:PAIRS]) for task, (metric, names, blocks) in boards.items()
    }
    metric, names, blocks = boards["mctaco"]
    return calls(
        {
            "compare, 1 pair, mctaco f1": lambda: compare_all(metric, names, blocks[:2]),
            **{
                f"ranks of {SYSTEMS:,} systems, {task} {board[0].name}": lambda board=board: rank(
                    *board
                )
                for task, board in boards.items()
            },
            **{
                f"differences of {PAIRS} systems, {task} {board[0].name}": lambda board=board: (
                    compare_all(*board)
                )
                for task, board in few.items()
            },
        },
        RUNS,
    )


def write_predictions(path, records, quality, rng):
    """Write predictions that are right about a part of the candidates."""
    other = {"yes": "no", "no": "yes"}
    right = rng.random(len(records)) < quality
    rows = (
        {"id": record["id"], "label": record["label"] if is_right else other[record["label"]]}
        for record, is_right in zip(records, right.tolist(), strict=True)
    )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def submit_systems(folder, predictions):
    """Create a store with a board of McTaco's test split, and submit a thousand systems."""
    board = make_board("mctaco", GoldSpec(), limits=Limits(per_day=SYSTEMS))
    store = FolderStore(folder)
    store.write_leaderboard(Leaderboard("McTaco", {board.name: board}))
    records, rng = list(read_gold(load_corpus("mctaco")).records), np.random.default_rng(0)
    for number in range(SYSTEMS):
        write_predictions(predictions, records, rng.uniform(0.5, 1), rng)
        submission = make_submission(
            board, predictions, system=f"System {number}", code="https://example.org/code"
        )
        store.send(submission.files, "", "")


def measure_judging():
    """Seconds and memory of a judge with a thousand submissions, and of the page of a thousand systems."""
    with TemporaryDirectory() as scratch:
        place, predictions, page = (
            Path(scratch) / name for name in ("board", "predictions.jsonl", "index.html")
        )
        submit_systems(place, predictions)
        run = [
            sys.executable,
            "-c",
            "import sys; from closeread.cli import main; main(sys.argv[1:])",
        ]
        judge = [
            *run,
            "leaderboard",
            "judge",
            str(place),
            "--cache",
            str(Path(scratch) / "counts"),
            "--json",
        ]
        build = [*run, "leaderboard", "build", str(place), "-o", str(page)]
        measured = {
            ONE: process([*run, "score", "mctaco", str(predictions), "--json"]),
            f"closeread leaderboard judge, {SYSTEMS:,} submissions": process(judge),
            "closeread leaderboard judge again, nothing new": process(judge),
        }
        seconds, peak = process(build)
        size = page.stat().st_size / 1000
        measured[f"closeread leaderboard build, {SYSTEMS:,} systems, {size:.0f} kB"] = (
            seconds,
            peak,
        )
    return {
        name: {"seconds": seconds, "peak_mib": peak} for name, (seconds, peak) in measured.items()
    }


def main():
    """Measure everything and keep it; with the name of a task, only rank its systems, to measure its memory."""
    if len(sys.argv) > 1:
        rank(*invent(sys.argv[1], SYSTEMS))
        return
    commands = {
        "python -c 'import numpy, scipy.special'": [
            sys.executable,
            "-c",
            "import numpy, scipy.special",
        ],
        **{
            f"ranks of {SYSTEMS:,} systems, {task}": [sys.executable, __file__, task]
            for task in BOARDS
        },
    }
    tables = {
        "ranking": ("compare, 1 pair, mctaco f1", measure_calls()),
        "judging": (ONE, measure_judging()),
        "ranking_processes": ("python -c 'import numpy, scipy.special'", processes(commands, RUNS)),
    }
    print(json.dumps(kept("leaderboard", tables), indent=1))


if __name__ == "__main__":
    main()
