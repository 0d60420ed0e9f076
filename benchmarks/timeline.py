"""closeread beside the organisers' tool of TimeLine and the toolkit of TempEval-3.

    python benchmarks/timeline.py --cdeo DIR --tempeval3 DIR --python2 PYTHON

The folders are checkouts of savac/cdeo, which has the organisers' tool, and of naushadzaman/tempeval3_toolkit; both run
in Python 2.7.  The files are invented.
"""

import argparse
import random
import tempfile
from datetime import date
from pathlib import Path

from measure import CLOSEREAD, keep, measure_commands

OURS = "closeread"
LIMIT = 60
EVENTS = (10, 100, 400, 10_000)
# From this number of events on, the organisers' tool does not end.
MAX_EVENTS_OF_TOOL = 1_000
INTERVALS = (50, 500, 5_000)
FIRST_DAY = date(1900, 1, 1).toordinal()


def write_timelines(folder, n_events):
    """Write a timeline of events on days of their own; the system's lacks a fifth and turns neighbours round."""
    rng = random.Random(n_events)  # noqa: S311
    gold = []
    for position in range(1, n_events + 1):
        day = date.fromordinal(FIRST_DAY + position).isoformat()
        gold.append((position, day, f"{position % 97}-{position}-go"))
    system = [
        (position + (1, -1)[position % 2], day, mention)
        for position, day, mention in gold
        if rng.random() < 0.8
    ]
    for side, entries in (("gold", gold), ("system", sorted(system))):
        (folder / side).mkdir(parents=True)
        lines = ["one", *("\t".join(map(str, entry)) for entry in entries)]
        (folder / side / "one.txt").write_text("\n".join(lines) + "\n", "utf-8")


def write_links(folder, n_intervals):
    """Write links that are true of random intervals, one and a half each; the system moves a tenth of the intervals."""
    rng = random.Random(n_intervals)  # noqa: S311
    gold = [draw_interval(rng, n_intervals) for _ in range(n_intervals)]
    system = [
        interval if rng.random() < 0.9 else draw_interval(rng, n_intervals) for interval in gold
    ]
    pairs = [(number, rng.randrange(number)) for number in range(1, n_intervals)]
    pairs += [tuple(rng.sample(range(n_intervals), 2)) for _ in range(n_intervals // 2)]
    for side, intervals in (("gold", gold), ("system", system)):
        links = []
        for source, target in pairs:
            relation = name_relation(intervals[source], intervals[target])
            if relation:
                links.append((source, target, relation))
        (folder / side).mkdir(parents=True)
        (folder / side / "one.tml").write_text(write_timeml(n_intervals, links), "utf-8")


def draw_interval(rng, n_intervals):
    """Draw the start and the end of an interval."""
    return sorted(rng.sample(range(4 * n_intervals), 2))


def name_relation(source, target):
    """Name the relation of two intervals; None if they overlap or share an end, which TimeML has no word for."""
    if source[1] < target[0]:
        return "BEFORE"
    if target[1] < source[0]:
        return "AFTER"
    if source[0] < target[0] and target[1] < source[1]:
        return "INCLUDES"
    if target[0] < source[0] and source[1] < target[1]:
        return "IS_INCLUDED"
    return None


def write_timeml(n_events, links):
    """Return the text of a document with these events and links."""
    events = "".join(
        f'<EVENT eid="e{number}" class="OCCURRENCE">ran</EVENT> ' for number in range(n_events)
    )
    verb = 'pos="VERB" tense="PAST" aspect="NONE" polarity="POS"'
    instances = "".join(
        f'<MAKEINSTANCE eiid="ei{number}" eventID="e{number}" {verb}/>\n'
        for number in range(n_events)
    )
    tlinks = "".join(
        f'<TLINK lid="l{number}" eventInstanceID="ei{source}" relatedToEventInstance="ei{target}" '
        f'relType="{relation}"/>\n'
        for number, (source, target, relation) in enumerate(links)
    )
    time = (
        '<TIMEX3 tid="t0" type="DATE" value="2010" functionInDocument="CREATION_TIME">2010</TIMEX3>'
    )
    head = f"<DOCID>one</DOCID>\n<DCT>{time}</DCT>\n<TEXT>{events}</TEXT>\n"
    return f"<TimeML>\n{head}{instances}{tlinks}</TimeML>\n"


def main():
    """Measure and keep the result."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    for name in ("--cdeo", "--tempeval3", "--python2"):
        parser.add_argument(name, type=Path, required=True)
    arguments = parser.parse_args()
    python = arguments.python2.resolve()
    tool = arguments.cdeo.resolve() / "code" / "evaluation_tool"
    # The tool starts another of its scripts, as `python`, in the folder it is in.
    start_tool = f"cd {tool} && PATH={python.parent}:$PATH && exec python evaluation_all.py"
    toolkit = arguments.tempeval3.resolve() / "evaluation-relations" / "temporal_evaluation.py"
    tables = {}
    with tempfile.TemporaryDirectory() as scratch:
        for size in EVENTS:
            folder = Path(scratch, f"events{size}")
            write_timelines(folder, size)
            ours = [CLOSEREAD, "score", "timeline", folder / "system", "--gold", folder / "gold"]
            commands = {OURS: [*ours, "--no-ci"]}
            if size <= MAX_EVENTS_OF_TOOL:
                theirs = f"{start_tool} {folder / 'gold'} {folder / 'system'}"
                commands["organisers' tool"] = ["sh", "-c", theirs]
            tables[f"events_{size}"] = (OURS, measure_commands(commands, limit=LIMIT))
        for size in INTERVALS:
            folder = Path(scratch, f"intervals{size}")
            write_links(folder, size)
            sides = [f"{folder}/gold/", f"{folder}/system/"]
            commands = {
                OURS: [CLOSEREAD, "score", "tlinks", *sides, "--no-ci"],
                "TempEval-3 toolkit": [python, toolkit, *sides, "0"],
            }
            tables[f"intervals_{size}"] = (OURS, measure_commands(commands, limit=LIMIT))
    keep("timeline", tables, LIMIT)


if __name__ == "__main__":
    main()
