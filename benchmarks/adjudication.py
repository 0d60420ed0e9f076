"""Adjudication by HiGHS and OR-tools' CP-SAT, on the same parts of the same documents, in one run.

    CLOSEREAD_DATA=… PYTHONPATH=tests python benchmarks/adjudication.py

OR-tools (`pip install ortools`) is measured only; without it, its rows are left out.  Writes
`results/adjudication.json` and prints it; the tables in README.md are made from it by `python
tools/documentation.py`.

Annotators are invented (`shared.annotators`): ten of them, with few, some or many mistakes.  Times are seconds of
processor time within the process, from the annotators' chains to the result, and the median of three runs, or a single
one if it takes longer than `LONG` seconds; None if there is no result within `LIMIT` seconds.  CP-SAT finds a solution
of least cost and no more; ours also has the most links, and ties are settled.  The whole command is timed with the
documents of `CLOSEREAD_DATA/marmara_coref`, from its start to its end.
"""

import argparse
import json
import os
import random
import statistics
import sys
import tempfile
import time
from dataclasses import replace
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path

import numpy as np
from measure import kept, process
from shared.annotators import annotators_of, document_of

from closeread.corpus.sources import DATA_VARIABLE
from closeread.tasks.coref.adjudication import solver
from closeread.tasks.coref.adjudication.partition import number_chains
from closeread.tasks.coref.adjudication.results import Settings, adjudicate
from closeread.tasks.coref.documents import mention_table
from closeread.tasks.coref.files import read_documents, write_documents

RUNS, LONG, LIMIT = 3, 5, 60
SIZES = ((160, 30), (300, 45))
NOISES = {"few": 0.1, "some": 0.25, "many": 0.4}
N_ANNOTATORS = 10
CLOSEREAD, CP_SAT = "closeread", "OR-tools CP-SAT, without ties"
COMMAND = Path(sys.executable).parent / "closeread"


class CpSatSearch:
    """A search by CP-SAT, with one thread and all rules at once, without which it is slower."""

    def __init__(self, part, deadline):
        self.part, self.chain = part, None

    def find_best(self):
        """Find a solution of the greatest gain."""
        from ortools.sat.python import cp_model

        part = self.part
        pairs = list(map(tuple, np.argwhere(np.triu(part.allowed)).tolist()))
        model, program = cp_model.CpModel(), cp_model.CpSolver()
        variables = {}
        for first, second in pairs:
            variable = model.new_bool_var("")
            variables[first, second] = variable
            variables[second, first] = variable
        for between, allowed in enumerate(part.allowed):
            for first, last in combinations(np.flatnonzero(allowed).tolist(), 2):
                third = [variables[first, last]] if (first, last) in variables else []
                links = [~variables[first, between], ~variables[between, last]]
                model.add_bool_or([*links, *third])
        model.maximize(sum(int(part.gain[pair]) * variables[pair] for pair in pairs))
        program.parameters.num_workers = 1
        program.parameters.max_time_in_seconds = LIMIT
        if program.solve(model) != cp_model.OPTIMAL:
            raise TimeoutError
        together = np.zeros_like(part.allowed)
        for first, second in pairs:
            is_together = program.boolean_value(variables[first, second])
            together[first, second] = is_together
            together[second, first] = is_together
        self.chain = number_chains(together)

    def settle_ties(self):
        """None are looked for."""


def searches():
    """The searches by name."""
    by_name = {CLOSEREAD: solver._Search}
    if find_spec("ortools"):
        by_name[CP_SAT] = CpSatSearch
    return by_name


def seconds(document, objective, search):
    """Seconds until the result is there, and what it costs; None if there is none in time."""
    taken, cost = [], None
    solver._Search = search
    while len(taken) < RUNS and sum(taken) < LONG:
        start = time.process_time()
        found = adjudicate(document, Settings(objective), solver.Deadline(LIMIT))
        taken.append(time.process_time() - start)
        if not found.is_optimal:
            return None, None
        cost = found.cost
    return statistics.median(taken), cost


def compare(n_mentions, n_chains, objective):
    """Seconds by noise and solver."""
    timings, by_name = {}, searches()
    for label, noise in NOISES.items():
        rng = random.Random(n_mentions)  # noqa: S311
        gold = [min(int(n_chains * rng.random() ** 3), n_chains - 1) for _ in range(n_mentions)]
        document, costs = document_of(annotators_of(gold, N_ANNOTATORS, noise, 0)), set()
        for name, search in by_name.items():
            taken, cost = seconds(document, objective, search)
            timings[f"{name}; {label} mistakes"] = {"seconds": taken}
            costs |= {cost} - {None}
            print(n_mentions, objective, label, name, taken, flush=True)
        assert len(costs) < 2, costs
    return f"{CLOSEREAD}; few mistakes", timings


def convert(corpus, folder):
    """Write every annotation of the corpus, which are equalities between given mentions, as CoNLL; return the files."""
    files = []
    for given in sorted((corpus / "given").glob("*.conll")):
        table = read_documents(given)
        spans = {
            table.label(row): (int(table.start[row]), int(table.end[row]))
            for row in range(len(table.start))
        }
        for annotation in sorted((corpus / "annotations" / given.stem).glob("*.txt")):
            chains = []
            for line in annotation.read_text("utf-8").splitlines():
                if line.strip() and not line.startswith("#"):
                    chain = {name.strip() for name in line.split("=")}
                    joined = [own for own in chains if own & chain]
                    chains = [own for own in chains if own not in joined] + [chain.union(*joined)]
            spans_of_chains = [[list(spans[name]) for name in chain] for chain in chains]
            one = mention_table(table.names, [spans_of_chains])
            path = folder / f"{given.stem}.{annotation.stem}.conll"
            write_documents(
                replace(one, n_tokens=table.n_tokens, words=table.words, head=None), path
            )
            files.append(path)
    return files


def of_corpus(corpus):
    """Seconds and memory of the command, with all annotations in one call."""
    timings = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = convert(corpus, folder)
        command = [COMMAND, "adjudicate", "coref", *files, "-o", folder / "gold.jsonl"]
        command += ["--report", folder / "report.json"]
        runs = [process([str(word) for word in command]) for _ in range(RUNS)]
        seconds_of_runs, peaks = zip(*runs, strict=True)
        timings[CLOSEREAD] = {
            "seconds": statistics.median(seconds_of_runs),
            "peak_mib": max(peaks),
        }
        print(timings, flush=True)
    return CLOSEREAD, timings


def main():
    """Measure everything and keep it."""
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    tables = {
        f"{objective}_{n_mentions}": compare(n_mentions, n_chains, objective)
        for objective in ("v", "va")
        for n_mentions, n_chains in SIZES
    }
    if DATA_VARIABLE in os.environ:
        tables["corpus"] = of_corpus(Path(os.environ[DATA_VARIABLE]) / "marmara_coref")
    print(json.dumps(kept("adjudication", tables, limit=LIMIT), indent=1))


if __name__ == "__main__":
    main()
