"""Run the organisers' scorer of TimeLine and keep what it counts.

    python tests/agreed/timeline_cdeo.py TOOL PYTHON2

TOOL is `code/evaluation_tool` of a clone of github.com/savac/cdeo at the commit named below, PYTHON2 a Python 2.7;
CLOSEREAD_DATA must name the corpora, with all three evaluation corpora.  Writes `timeline_cdeo.json` beside this file.
Most systems are made here, from gold or from nothing, with seeds, so that a test can make them again; the others are
the clone's own outputs for the evaluation corpora.  Of corpora and outputs only numbers are kept.

A side is a list of entries [position, anchor, mentions].  Of three or more copies of a mention in gold the tool takes
the third for the second, unless the second is the first's neighbour: the random gold here has two at most.
"""

import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
COMMIT = "2c2a49318002a5bb0030b3da57f216637b457c33"
SCRIPTS = {"full": "evaluation_timeline.py", "ordering": "evaluation_timeline_ord.py"}
FOLDERS = {
    "trial": "TimeLines_trial_data_task4_v1.2",
    "corpus_1": "SemEval_Task4_data/corpus_1/TimeLines_Gold_Standard",
    "corpus_2": "SemEval_Task4_data/corpus_2/TimeLines_Gold_Standard",
    "corpus_3": "SemEval_Task4_data/corpus_3/TimeLines_Gold_Standard",
}
EVALUATION = ("corpus_1", "corpus_2", "corpus_3")
COMBINED = "data/evaluation/combined"
"""The folder of the clone with gold and outputs of all three evaluation corpora, where two names were the same."""
OUTPUTS = ("results_perceptron", "results_structured")
RENAMED = {
    "general_motors_0": "corpus_2/general_motors",
    "general_motors": "corpus_3/general_motors",
}
EMPTY = "general_motors_creditors"
"""The timeline without entries, which the organisers left out; of it the tool takes every relation as spurious."""
N_RANDOM = 400

# The tool's scripts, run as they are in one process, with counts taken from their namespace before they are rounded.
# What they would start as another process is run here instead.
DRIVER = r"""
import os, sys
tool, folder = sys.argv[1:]
sys.path.insert(0, tool)
os.system = lambda command: 0
scripts = {}
for name in ("evaluation_timeline.py", "evaluation_timeline_ord.py", "temporal_evaluation.py"):
    scripts[name] = compile(open(os.path.join(tool, name)).read(), name, "exec")
said, nowhere = sys.stdout, open(os.devnull, "w")
for line in sys.stdin:
    name, script = line.split()
    sys.stdout = nowhere
    sys.argv = [script, folder, name + ".gold", name + ".system"]
    exec(scripts[script], {})
    graphs = [os.path.join(folder, name + end) for end in (".gold_gold.tml", ".system_sys.tml")]
    sys.argv = ["temporal_evaluation.py"] + graphs + ["0"]
    found = {}
    exec(scripts["temporal_evaluation.py"], found)
    sys.stdout = said
    counts = ("prec_matched", "system_total", "rec_matched", "gold_total")
    print(" ".join(str(found["global_" + count]) for count in counts))
"""


def entries_of(path):
    """The entries of a timeline file, split as the tool splits them."""
    rows = [
        line.rstrip(" \t\r\n\v\f").split("\t") for line in path.read_text("utf-8").split("\n")[1:]
    ]
    return [[int(row[0]), row[1], row[2:]] for row in rows if len(row) > 2]


def named_gold(corpora, name):
    """The timelines of a corpus that have entries, by the names of their files; one is there under two names."""
    paths = sorted((Path(corpora) / "semeval2015_timeline" / FOLDERS.get(name, name)).glob("*.txt"))
    return {
        path.stem: entries
        for path in paths
        if "&" not in path.name and (entries := entries_of(path))
    }


def gold_of(corpora, name):
    """The timelines of a corpus that have entries, in the order of the names of their files."""
    return list(named_gold(corpora, name).values())


def dropped(entries, rng):
    """Without a fifth of the entries."""
    return [entry for entry in entries if rng.random() < 0.8]


def moved(entries, rng):
    """A third of the entries a place or two away, never to position 0."""
    return [
        [max(1, p + rng.choice((-2, -1, 1, 2))) if p and rng.random() < 0.33 else p, a, m]
        for p, a, m in entries
    ]


def anchored(entries, rng):
    """A quarter of the entries with the anchor of any other, or with one that gold does not have."""
    anchors = [a for _, a, _ in entries]
    return [
        [p, rng.choice([*anchors, "1999-12-31"]) if rng.random() < 0.25 else a, m]
        for p, a, m in entries
    ]


def repeated(entries, rng):
    """A sixth of the entries once more, where they are or somewhere else."""
    copies = [
        [max(1, p + rng.choice((-1, 0, 2))), a, m] for p, a, m in entries if rng.random() < 0.16
    ]
    return entries + copies


def unplaced(entries, rng):
    """A fifth of the entries at position 0, and a third of those that were there somewhere else."""
    last = max((p for p, *_ in entries), default=0)
    return [
        [
            (rng.randint(1, last + 1) if rng.random() < 0.33 else 0)
            if not p
            else p * (rng.random() < 0.8),
            a,
            m,
        ]
        for p, a, m in entries
    ]


def invented(entries, rng):
    """With entries that gold does not have, about as many as a quarter."""
    made = [
        [rng.randint(1, 9), rng.choice(entries)[1], [f"1-{i}-x"]]
        for i, _ in enumerate(entries)
        if i % 4 == 0
    ]
    return rng.sample(entries + made, len(entries + made))


def everything(entries, rng):
    """All of these, one after the other."""
    for change in (dropped, moved, anchored, unplaced, repeated, invented):
        entries = change(entries, rng)
    return entries


CHANGES = {
    "gold": lambda entries, rng: entries,
    "nothing": lambda entries, rng: [],
    **{f.__name__: f for f in (dropped, moved, anchored, repeated, unplaced, invented, everything)},
}


def system_of(entries, change, number):
    """The system that a change makes of the timeline with this number."""
    return CHANGES[change](entries, random.Random(f"{change} {number}"))


def random_pair(seed):
    """Gold and system of up to 12 entries, or of 40: ties, anchors that come back, copies of mentions, position 0."""
    rng = random.Random(seed)
    longest = rng.choice((12, 12, 12, 40))
    anchors = [
        "2010",
        "2010-07",
        "2010-07-XX",
        "2010-07-1",
        "2010-7-10",
        "XXXX-XX-XX",
        *(f"20{i}" for i in range(11, 30)),
    ]
    anchors = rng.sample(anchors, rng.randint(1, longest // 2))
    last = rng.randint(1, longest // 2 * rng.choice((1, 2)))
    words = ("Go", "go", "go2", "go10", "go_up", "re-open", "x", "X")
    mentions = [f"{i % 5}-{i}-{words[i % len(words)]}" for i in range(2 * longest)]

    def side():
        pool = rng.sample(mentions * 2, 3 * longest)
        return [
            [
                rng.randint(0, last),
                rng.choice(anchors),
                [pool.pop() for _ in range(rng.choice((1, 1, 1, 2, 3)))],
            ]
            for _ in range(rng.randint(0, longest))
        ]

    gold = side()
    return gold, side() if seed % 2 else everything(gold, rng)


def copies(entries):
    """How often the mention is there that is there most."""
    return max(
        Counter(mention for p, _, mentions in entries if p for mention in mentions).values(),
        default=0,
    )


def written(entries):
    """The lines of a timeline."""
    return "".join("\t".join([str(p), a, *m]) + "\n" for p, a, m in entries)


def counted(tool, python, pairs, track):
    """What the tool counts of pairs of gold and system: verified of the system's, the system's, and so gold's."""
    with tempfile.TemporaryDirectory() as folder:
        for number, pair in enumerate(pairs):
            for entries, end in zip(pair, ("gold", "system"), strict=True):
                (Path(folder) / f"{number}.{end}").write_text(written(entries), "utf-8")
        asked = "".join(f"{number} {SCRIPTS[track]}\n" for number in range(len(pairs)))
        command = [python, "-c", DRIVER, tool, folder]
        done = subprocess.run(command, input=asked, check=True, capture_output=True, text=True)
    return [[int(count) for count in line.split()] for line in done.stdout.splitlines()]


def printed(tool, python, pairs, track):
    """Precision, recall and F1 of all pairs together, in percent, as the tool prints them."""
    with tempfile.TemporaryDirectory() as folder:
        folders = [Path(folder) / side for side in ("gold", "system")]
        for side, place in enumerate(folders):
            place.mkdir()
            for number, pair in enumerate(pairs):
                (place / f"{number}.txt").write_text("Name\n" + written(pair[side]), "utf-8")
        return printed_of_folders(tool, python, folders, track)


def printed_of_folders(tool, python, folders, track):
    """Precision, recall and F1, in percent, as the tool prints them of the folders of gold and of a system."""
    with tempfile.TemporaryDirectory() as folder:
        # The tool starts whatever is called python.
        (Path(folder) / "python").symlink_to(python)
        environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
        options = ["--ord"] if track == "ordering" else []
        command = [python, "evaluation_all.py", *options, *map(str, folders)]
        done = subprocess.run(
            command, cwd=tool, env=environment, check=True, capture_output=True, text=True
        )
    _, f1, _, precision, _, recall = done.stdout.strip().split("\n")[-1].strip().split("\t")
    return [float(precision), float(recall), float(f1)]


def printed_of_output(tool, python, output, track):
    """What the tool prints of one of the clone's outputs."""
    combined = Path(tool).resolve().parents[1] / COMBINED
    with tempfile.TemporaryDirectory() as folder:
        gold = Path(folder) / "gold"
        shutil.copytree(combined / "gold", gold, ignore=shutil.ignore_patterns(f"{EMPTY}.txt"))
        return printed_of_folders(tool, python, [gold, combined / output], track)


def main(tool, python):
    """Score every change of every timeline, and the random pairs, in both tracks."""
    corpora, together, random_pairs = {}, {}, [random_pair(seed) for seed in range(N_RANDOM)]
    whole = []
    for name in FOLDERS:
        gold = gold_of(os.environ["CLOSEREAD_DATA"], name)
        for change in CHANGES:
            pairs = [
                (entries, system_of(entries, change, number)) for number, entries in enumerate(gold)
            ]
            whole += pairs if change == "everything" and name in EVALUATION else []
            for track in SCRIPTS:
                corpora[f"{name}, {change}, {track}"] = counted(tool, python, pairs, track)
                if change == "everything":
                    together[f"{name}, {change}, {track}"] = printed(tool, python, pairs, track)
    for track in SCRIPTS:
        together[f"evaluation, everything, {track}"] = printed(tool, python, whole, track)
        together |= {
            f"{name}, {track}": printed_of_output(tool, python, name, track) for name in OUTPUTS
        }
    kept = {
        "tool": "github.com/savac/cdeo code/evaluation_tool",
        "version": f"commit {COMMIT}, {digest(tool)}",
        "command": "python2 -c 'DRIVER of timeline_cdeo.py' TOOL FOLDER: the counts behind what it prints; "
        "python2 evaluation_all.py [--ord] GOLD SYSTEM: what it prints",
        "figures": "relations of the system that are verified, all of them reduced, and the same of gold",
        "corpora": corpora,
        "printed": together,
        "random": {track: counted(tool, python, random_pairs, track) for track in SCRIPTS},
    }
    (HERE / "timeline_cdeo.json").write_text(shown(kept, 2) + "\n", "utf-8")


def digest(folder):
    """The sha256 of the tool's scripts, one after the other."""
    names = (*SCRIPTS.values(), "temporal_evaluation.py", "relation_to_timegraph.py")
    return f"sha256 {hashlib.sha256(b''.join((Path(folder) / name).read_bytes() for name in names)).hexdigest()}"


def shown(value, depth):
    """JSON with a line for every entry of the outermost `depth` objects."""
    if not (depth and isinstance(value, dict)):
        return json.dumps(value)
    entries = ",\n".join(
        f"{json.dumps(name)}: {shown(entry, depth - 1)}" for name, entry in value.items()
    )
    return f"{{\n{entries}\n}}"


if __name__ == "__main__":
    main(*sys.argv[1:])
