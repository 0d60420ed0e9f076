"""closeread beside the scorers of timelines and of temporal links that people use, in one run.

    CLOSEREAD_DATA=… python benchmarks/timeline.py --cdeo DIR --tempeval3 DIR --python2 PYTHON --tieval PYTHON

The folders are checkouts of savac/cdeo, which has the organisers' tool of TimeLine, and of
naushadzaman/tempeval3_toolkit; `--python2` is a Python 2.7, in which both run, and `--tieval` a Python with tieval
(PyPI).  Writes `results/timeline.json` and prints it; the tables in README.md are made from it by `python
tools/documentation.py`.

All times are taken within a process, without its start, so the peers' scripts are run as they are in one process of
their own.  A time is the median of five runs, or of as many as fit into `LONG` seconds, at least one; what does not end
within `LIMIT` seconds, or ends with an error, is said to, and larger sizes are not tried with it.
"""

import argparse
import json
import random
import statistics
import subprocess
import tempfile
import time
from datetime import date
from itertools import accumulate, pairwise
from pathlib import Path

from measure import kept

from closeread import scoring
from closeread.corpus.gold import read_gold, splits_at_hand
from closeread.corpus.names import load_corpus
from closeread.counts.estimates import Resampling
from closeread.formats.timeml import Document, Entry, Passage, Span, Tlink, dump_timeml
from closeread.tasks.timeline.procedure import PROCEDURE
from closeread.tasks.timeline.timeline_txt import dump_timeline, write_folder

RUNS, LONG, LIMIT = 5, 5, 60
SIZES = (10, 25, 50, 100, 200, 400, 800, 2_000, 10_000, 100_000)
LARGEST = 2_000  # that peers are tried with
SIZES_OF_TIES = (10, 25, 50, 100, 10_000, 100_000)
INTERVALS = (50, 100, 200, 500, 1_000, 2_000, 5_000)
FIRST = date(1900, 1, 1).toordinal()
CORPUS = load_corpus("semeval2015_timeline")
EVALUATION = ("corpus_1", "corpus_2", "corpus_3")
OURS = "closeread"
TOOL = "code/evaluation_tool"
VERB = {"pos": "VERB", "tense": "PAST", "aspect": "NONE", "polarity": "POS"}

# Runs scripts of Python 2 as they are, again and again; what they would start as other processes is run here instead.
# Reads lines of scripts and arguments, those of one run in a line; prints seconds.
PYTHON2 = r"""
import json, os, sys, time
runs, long = int(sys.argv[1]), float(sys.argv[2])
os.system = lambda command: 0
said, nowhere, scripts, taken = sys.stdout, open(os.devnull, "w"), {}, []
steps = [[str(word) for word in step] for step in json.load(sys.stdin)]
for step in steps:
    scripts[step[0]] = compile(open(step[0]).read(), step[0], "exec")
sys.path.insert(0, os.path.dirname(steps[-1][0]))
while len(taken) < runs and sum(taken) < long:
    sys.stdout, start = nowhere, time.time()
    for step in steps:
        sys.argv = step
        exec(scripts[step[0]], {"__name__": "__main__"})
    taken.append(time.time() - start)
    sys.stdout = said
print(json.dumps(taken))
"""

TIEVAL = """
import json, sys, time
from tieval.evaluate import tlink_classification
from tieval.links import TLink
runs, long = int(sys.argv[1]), float(sys.argv[2])
gold, system = json.load(sys.stdin)
taken = []
while len(taken) < runs and sum(taken) < long:
    start = time.perf_counter()
    sides = [{name: [TLink(one, other, kind) for one, kind, other in links] for name, links in side.items()}
             for side in (gold, system)]
    tlink_classification(*sides)
    taken.append(time.perf_counter() - start)
print(json.dumps(taken))
"""


def timeline(n):
    """The entries of n events, each at a position and on a day of its own."""
    days = (date.fromordinal(FIRST + i).isoformat() for i in range(n))
    return [
        {"position": i, "anchor": day, "mentions": [f"{i % 97}-{i}-go"]}
        for i, day in enumerate(days, start=1)
    ]


def turned(entries, seed=0):
    """Without a fifth of the entries, and with a third of neighbours turned round."""
    rng = random.Random(seed)  # noqa: S311
    positions = [entry["position"] for entry in entries]
    for i in range(len(entries) - 1):
        if rng.random() < 0.33 and 0 < positions[i] < positions[i + 1]:
            positions[i : i + 2] = positions[i + 1], positions[i]
    placed = [
        {**entry, "position": position} for entry, position in zip(entries, positions, strict=True)
    ]
    return [entry for entry in placed if rng.random() < 0.8]


def tied(entries):
    """Every two events at one position."""
    return [{**entry, "position": (entry["position"] + 1) // 2} for entry in entries]


def records(timelines):
    """Timelines, by name, as records."""
    return [{"id": name, "entity": name, "entries": entries} for name, entries in timelines.items()]


def relations(entries):
    """What a timeline says, as links between mentions and anchors."""
    placed = sorted(
        (e["position"], e["anchor"], m) for e in entries if e["position"] for m in e["mentions"]
    )
    links = [(mention, "SIMULTANEOUS", f"t {anchor}") for _, anchor, mention in placed]
    return links + [
        (e, "BEFORE" if p < q else "SIMULTANEOUS", f) for (p, _, e), (q, _, f) in pairwise(placed)
    ]


def repeated(function, *arguments, **options):
    """Seconds of some runs of a function of ours with these arguments."""
    taken = []
    while len(taken) < RUNS and sum(taken) < LONG:
        start = time.perf_counter()
        function(*arguments, **options)
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def asked(command, words):
    """Seconds that a driver found; None where it did not end, and the name of the error that it ended with."""
    command = [str(part) for part in (*command, RUNS, LONG)]
    try:
        done = subprocess.run(
            command, input=json.dumps(words), capture_output=True, text=True, timeout=LIMIT
        )
    except subprocess.TimeoutExpired:
        return None
    if done.returncode:
        return done.stderr.rstrip().rpartition("\n")[2].partition(":")[0]
    return statistics.median(json.loads(done.stdout))


class Peers:
    """How the other scorers are run.

    Args:
        arguments: the command line's.
    """

    def __init__(self, arguments):
        self._python2 = [arguments.python2, "-B", "-c", PYTHON2]
        self._tieval = [arguments.tieval, "-c", TIEVAL]
        self._tool, self._toolkit = (
            folder.resolve() for folder in (arguments.cdeo / TOOL, arguments.tempeval3)
        )

    def organisers(self, gold, system, track="full"):
        """The organisers' tool, on records of timelines, which it reads from files."""
        script = (
            self._tool
            / {"full": "evaluation_timeline.py", "ordering": "evaluation_timeline_ord.py"}[track]
        )
        steps = []
        with tempfile.TemporaryDirectory() as folder:
            for number, sides in enumerate(zip(gold, system, strict=True)):
                names = [f"{number}.gold", f"{number}.system"]
                for name, record in zip(names, sides, strict=True):
                    Path(folder, name).write_text(dump_timeline(record).partition("\n")[2], "utf-8")
                graphs = [f"{folder}/{names[0]}_gold.tml", f"{folder}/{names[1]}_sys.tml"]
                steps += [
                    [script, folder, *names],
                    [self._tool / "temporal_evaluation.py", *graphs, "0"],
                ]
            return asked(self._python2, [[str(word) for word in step] for step in steps])

    def tieval(self, gold, system):
        """tieval, on records of timelines, which it gets as links."""
        sides = (
            {record["id"]: relations(record["entries"]) for record in side}
            for side in (gold, system)
        )
        return asked(self._tieval, list(sides))

    def toolkit(self, gold, system):
        """TempEval-3's toolkit, on two folders of TimeML files."""
        script = self._toolkit / "evaluation-relations" / "temporal_evaluation.py"
        return asked(self._python2, [[str(script), f"{gold}/", f"{system}/", "0"]])


def of_timelines(peers, sizes, change):
    """Seconds for a timeline of each size and what a change makes of it, by size and scorer."""
    found = {}
    left = {"organisers' tool": peers.organisers, "tieval": peers.tieval}
    for n in sizes:
        gold, system = records({"one": timeline(n)}), records({"one": change(timeline(n))})
        with tempfile.TemporaryDirectory() as folder:
            for side, timelines in (("gold", gold), ("system", system)):
                write_folder(timelines, Path(folder, side))
            found[n] = {OURS: repeated(scored, Path(folder))}
        found[n][f"{OURS}, from records"] = repeated(PROCEDURE.count, gold=gold, system=system)
        if n <= LARGEST:
            found[n] |= {name: peer(gold, system) for name, peer in left.items()}
            left = {name: peer for name, peer in left.items() if isinstance(found[n][name], float)}
        print(n, found[n], flush=True)
    return found


def scored(folder):
    """The report on timelines in files."""
    return scoring.score(
        CORPUS.name, folder / "system", gold=folder / "gold", resampling=Resampling(0)
    )


def of_evaluation(peers):
    """Seconds for the evaluation timelines that are at hand, by scorer."""
    splits = [
        split for split in EVALUATION if split in splits_at_hand(CORPUS, CORPUS.default_config)
    ]
    gold = [
        {**record, "id": f"{split} {record['id']}"}
        for split in splits
        for record in read_gold(CORPUS, None, split).records
        if record["entries"]
    ]
    system = [{**record, "entries": turned(record["entries"], i)} for i, record in enumerate(gold)]
    found = {}
    for track in ("full", "ordering"):
        found[f"{OURS}, {track}"] = repeated(PROCEDURE.count, gold=gold, system=system, track=track)
        found[f"organisers' tool, {track}"] = peers.organisers(gold, system, track)
    found["tieval, full"] = peers.tieval(gold, system)
    of = f" ({len(gold)} timelines of {', '.join(splits)})"
    print(found, flush=True)
    return f"{OURS}, full{of}", {
        f"{name}{of}": {"seconds": seconds} for name, seconds in found.items()
    }


def score_links(key, response):
    """The report on links in TimeML files."""
    return scoring.score("tlinks", response, gold=key, resampling=Resampling(0))


def of_links(peers):
    """Seconds for links between intervals, by their number and scorer."""
    found = {}
    left = {"TempEval-3 toolkit": peers.toolkit}
    for n in INTERVALS:
        with tempfile.TemporaryDirectory() as folder:
            sides = Path(folder, "gold"), Path(folder, "system")
            for side, links in zip(sides, true_links(n), strict=True):
                side.mkdir()
                (side / "one.tml").write_text(dump_timeml(document(n, links)), "utf-8")
            found[n] = {OURS: repeated(score_links, *sides)}
            found[n] |= {name: peer(*sides) for name, peer in left.items()}
        left = {name: peer for name, peer in left.items() if isinstance(found[n][name], float)}
        print(n, found[n], flush=True)
    return found


def true_links(n, seed=0):
    """Links that are true of n random intervals, one and a half each; and of the same with a tenth of them moved."""
    rng = random.Random(seed)  # noqa: S311
    intervals = [tuple(sorted(rng.sample(range(4 * n), 2))) for _ in range(n)]
    others = [
        one if rng.random() < 0.9 else tuple(sorted(rng.sample(range(4 * n), 2)))
        for one in intervals
    ]
    pairs = [(i, rng.randrange(i)) for i in range(1, n)] + [
        tuple(rng.sample(range(n), 2)) for _ in range(n // 2)
    ]
    rng.shuffle(pairs)
    return [
        [(one, kind, other) for one, other in pairs if (kind := relation(side[one], side[other]))]
        for side in (intervals, others)
    ]


def relation(one, other):
    """What an interval is to another; None where they overlap or share an end, for which there is no word in TimeML or
    which the toolkit takes for a contradiction."""
    (a, b), (c, d) = one, other
    if len({a, b, c, d}) < 4:
        return None
    if b < c or d < a:
        return "BEFORE" if b < c else "AFTER"
    return {(True, False): "INCLUDES", (False, True): "IS_INCLUDED"}.get(
        (a < c and d < b, c < a and b < d)
    )


def document(n, links):
    """A TimeML document of n events with these links."""
    words = [f"w{i}" for i in range(n)]
    starts = [0, *accumulate(len(word) + 1 for word in words)]
    spans = [
        Span("EVENT", start, start + len(word), {"eid": f"e{i}", "class": "OCCURRENCE"})
        for i, (start, word) in enumerate(zip(starts, words, strict=False))
    ]
    instances = [
        Entry("MAKEINSTANCE", {"eiid": f"ei{i}", "eventID": f"e{i}", **VERB}) for i in range(n)
    ]
    tlinks = [
        Tlink(f"ei{one}", f"ei{other}", kind, {"lid": f"l{i}"})
        for i, (one, kind, other) in enumerate(links)
    ]
    creation = Span(
        "TIMEX3",
        0,
        4,
        {"tid": "t0", "type": "DATE", "value": "2010", "functionInDocument": "CREATION_TIME"},
    )
    passages = (Passage("DCT", "2010", (creation,)), Passage("TEXT", " ".join(words), tuple(spans)))
    return Document("d", passages, tuple(instances), tuple(tlinks))


def main():
    """Measure everything and keep it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ("--cdeo", "--tempeval3", "--python2", "--tieval"):
        parser.add_argument(name, type=Path, required=True)
    peers = Peers(parser.parse_args())
    growth = {
        "growth": (OURS, "events", LIMIT, of_timelines(peers, SIZES, turned)),
        "ties": (OURS, "events", LIMIT, of_timelines(peers, SIZES_OF_TIES, tied)),
        "links": (OURS, "intervals", LIMIT, of_links(peers)),
    }
    print(json.dumps(kept("timeline", {"evaluation": of_evaluation(peers)}, growth), indent=1))


if __name__ == "__main__":
    main()
