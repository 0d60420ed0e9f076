"""Run the toolkit of TempEval-3 and keep what it counts.

    PYTHONPATH=tests python tests/agreed/tempeval3.py TOOLKIT PYTHON2 RELEASED

TOOLKIT is github.com/naushadzaman/tempeval3_toolkit at the commit named below, PYTHON2 a Python 2.7; its normalizer
needs Java.  RELEASED is github.com/qiangning/StructTempRel-EMNLP17 at the commit named below, which has TempEval-3's
platinum, the test documents of TimeBank-Dense, the training documents of QA-TempEval, and what systems said of them.
CLOSEREAD_DATA must name the corpora.  Writes `tempeval3.json` beside this file.  Links of random pairs are made here,
with seeds or from the corpus's timelines, so that a test can make them again; of all corpora only numbers are kept.

A side is a list of links (source, type, target) between events, which are numbers, or between events and times, which
are negative numbers.
"""

import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path

from shared.timeml_files import dump_timeml
from twins import point_algebra as twin

from closeread.formats.timeml import (
    RELATION_TYPES,
    EmptyElement,
    Passage,
    Span,
    TimeMLDocument,
    Tlink,
    read_timeml,
)

HERE = Path(__file__).parent
COMMIT = "e02eb2da9bee680693cd13ba7abfda03ac429133"
SCRIPTS = (
    "evaluation-relations/temporal_evaluation.py",
    "evaluation-relations/relation_to_timegraph.py",
)
FOLDERS = {
    "trial": "TimeLines_trial_data_task4_v1.2",
    "corpus_1": "SemEval_Task4_data/corpus_1/TimeLines_Gold_Standard",
    "corpus_2": "SemEval_Task4_data/corpus_2/TimeLines_Gold_Standard",
}
N_RANDOM = 500
N_ANNOTATED = 100
SIDES = ("gold", "system")
DATE = {"type": "DATE", "value": "2010"}
VERB = {"pos": "VERB", "tense": "PAST", "aspect": "NONE", "polarity": "POS"}
SAME = ("SIMULTANEOUS", "IDENTITY", "DURING", "DURING_INV")
ANY = (
    *SAME,
    "BEFORE",
    "AFTER",
    "IBEFORE",
    "IAFTER",
    "INCLUDES",
    "IS_INCLUDED",
    "BEGUN_BY",
    "ENDS",
    "ENDED_BY",
)


def relation(one, other):
    """What an interval is to another, as TimeML says it; None where they overlap, for which it has no word."""
    (a, b), (c, d) = one, other
    starts, ends = (a > c) - (a < c), (b > d) - (b < d)
    if b <= c or d <= a:
        return {(True, False): "BEFORE", (False, True): "AFTER"}.get(
            (b < c, d < a), "IBEFORE" if b == c else "IAFTER"
        )
    return {
        (0, 0): "SIMULTANEOUS",
        (0, -1): "BEGINS",
        (0, 1): "BEGUN_BY",
        (1, 0): "ENDS",
        (-1, 0): "ENDED_BY",
        (-1, 1): "INCLUDES",
        (1, -1): "IS_INCLUDED",
    }.get((starts, ends))


def true_links(rng, intervals, n_links):
    """Links that are true of intervals: of random ones, or first of each with one that is linked already."""
    order = rng.sample(range(len(intervals)), len(intervals))
    grown = (
        [(order[i], rng.choice(order[:i])) for i in range(1, len(order))]
        if rng.random() < 0.5
        else []
    )
    pairs = grown + [tuple(rng.sample(order, 2)) for _ in range(n_links - len(grown))]
    links = []
    for x, y in pairs:
        name = relation(intervals[x], intervals[y])
        if name == "BEGINS":  # which the toolkit can't do
            x, y, name = y, x, "BEGUN_BY"
        if name == "SIMULTANEOUS":
            name = rng.choice(SAME)
        if name is not None and (x, name, y) not in links:
            links.append((x, name, y))
    return links


def consistent(seed):
    """Gold and system that are true of two random orders of points, most of whose intervals are the same."""
    rng = random.Random(f"consistent {seed}")
    n, span = rng.choice(((4, 6), (6, 8), (6, 40), (9, 30)))

    def interval():
        return tuple(sorted(rng.sample(range(span), 2)))

    gold = [interval() for _ in range(n)]
    system = [one if rng.random() < 0.7 else interval() for one in gold]
    return tuple(true_links(rng, side, rng.randint(1, n + 3)) for side in (gold, system))


def contradictory(seed):
    """Gold and system of random types; no two links of a side join the same two."""
    rng = random.Random(f"contradictory {seed}")
    n = rng.randint(3, 6)
    sides = []
    for _ in range(2):
        pairs = rng.sample(
            [(i, j) for i in range(n) for j in range(i)], rng.randint(1, n * (n - 1) // 2)
        )
        types = (
            ("SIMULTANEOUS", *ANY[len(SAME) :]) if seed % 2 else ("BEFORE", "AFTER", "SIMULTANEOUS")
        )
        sides.append([(*rng.sample(pair, 2), rng.choice(types)) for pair in pairs])
    return tuple([(source, name, target) for source, target, name in links] for links in sides)


FAMILIES = {"consistent": consistent, "contradictory": contradictory}


def timeline_links(entries, rng=None):
    """The links of a timeline: every event with its anchor, and with the event before it.

    Args:
        entries: (position, anchor, mention).
        rng: where it is given, a fifth of the entries is left out, and a third is moved by a place.
    """
    if rng is not None:
        entries = [
            (max(1, p + rng.choice((-1, 1))) if rng.random() < 0.33 else p, a, m)
            for p, a, m in entries
        ]
        entries = [entry for entry in entries if rng.random() < 0.8]
    ordered = sorted(entries, key=lambda entry: entry[0])
    links = [(event, "SIMULTANEOUS", anchor) for _, anchor, event in ordered]
    return links + [
        (e, "BEFORE" if p < q else "SIMULTANEOUS", f) for (p, _, e), (q, _, f) in pairwise(ordered)
    ]


def timelines(corpora, name):
    """The placed entries of the timelines of a corpus: (position, anchor, mention), anchors and mentions numbered."""
    found = []
    for path in sorted((Path(corpora) / "semeval2015_timeline" / FOLDERS[name]).glob("*.txt")):
        rows = [line.split("\t") for line in path.read_text("utf-8").splitlines()[1:]]
        anchors = {anchor: -1 - i for i, anchor in enumerate(dict.fromkeys(row[1] for row in rows))}
        cells = [(int(row[0]), anchors[row[1]]) for row in rows for _ in row[2:]]
        placed = [
            (position, anchor, event) for event, (position, anchor) in enumerate(cells) if position
        ]
        if placed:
            found.append(placed)
    return found


def timeline_pairs(corpora, name):
    """Gold and system of the timelines of a corpus."""
    pairs = {}
    for number, entries in enumerate(timelines(corpora, name)):
        rng = random.Random(f"{name} {number}")
        pairs[f"{name} {number}"] = (timeline_links(entries), timeline_links(entries, rng))
    return pairs


def document(links, words, name="t", *, shift=0):
    """A TimeML document with these links.

    Args:
        links: the links.
        words: of every event and time, by its number, the first and the last word that it is.
        name: its id.
        shift: what is added to the numbers in all ids.
    """
    ends = sorted(words, key=words.__getitem__)
    length = 1 + max((last for _, last in words.values()), default=0)
    tokens = [f"w{i}" for i in range(length)]
    starts = [sum(len(token) + 1 for token in tokens[:i]) for i in range(length)]
    ids = {end: (f"ei{end + shift}" if end >= 0 else f"t{shift - end}") for end in ends}
    spans = [
        Span(
            "EVENT" if end >= 0 else "TIMEX3",
            starts[words[end][0]],
            starts[words[end][1]] + len(tokens[words[end][1]]),
            {"eid": f"e{end + shift}", "class": "STATE"} if end >= 0 else {"tid": ids[end], **DATE},
        )
        for end in ends
    ]
    creation = Span("TIMEX3", 0, 4, {"tid": "t0", **DATE, "functionInDocument": "CREATION_TIME"})
    return TimeMLDocument(
        name,
        (Passage("DCT", "2010", (creation,)), Passage("TEXT", " ".join(tokens), tuple(spans))),
        tuple(
            EmptyElement("MAKEINSTANCE", {"eiid": ids[end], "eventID": f"e{end + shift}", **VERB})
            for end in ends
            if end >= 0
        ),
        tuple(
            Tlink(ids[s], ids[t], kind, {"lid": f"l{i}"}) for i, (s, kind, t) in enumerate(links)
        ),
    )


def annotated(seed):
    """Gold and system documents of one text, with ids of their own and extents that differ."""
    rng = random.Random(f"annotated {seed}")
    places = list(range(0, 24, 3))  # an event takes one word, a time up to three
    first_words = dict(
        zip(rng.sample([-3, -2, -1, 0, 1, 2, 3, 4], len(places)), places, strict=True)
    )
    gold = {end: (i, i if end >= 0 else i + rng.randint(0, 2)) for end, i in first_words.items()}
    system = {}
    for end, (first, last) in gold.items():
        if rng.random() < 0.85:
            within = rng.randint(first, last) if end < 0 else first
            system[end] = (first, first) if end >= 0 else (within, rng.randint(within, first + 2))
    made = []
    for shift, words in ((0, gold), (rng.choice((1, 20)), system)):
        known = {
            end: (first * 10, last * 10 + rng.randint(1, 40))
            for end, (first, last) in words.items()
        }
        pairs = [tuple(rng.sample(sorted(known), 2)) for _ in range(8)] if len(known) > 1 else []
        links = dict.fromkeys((x, relation(known[x], known[y]), y) for x, y in pairs)
        kept = [link for link in links if link[1] not in (None, "BEGINS")]
        whole = {**words, 99: (24, 24)}  # so that the texts are equally long
        made.append(document(kept, whole, f"a{seed}", shift=shift))
    return tuple(made)


OTHERWISE = {
    "two that come after two simultaneous ones": (
        [(0, "SIMULTANEOUS", 1), (2, "AFTER", 0), (3, "AFTER", 1)],
        [(2, "SIMULTANEOUS", 3)],
    ),
    "BEGINS that follows": ([(0, "BEGINS", 1), (1, "SIMULTANEOUS", 2)], [(0, "BEGINS", 2)]),
    "a contradiction and its inverse": (
        [(0, "BEFORE", 1), (1, "BEFORE", 0), (0, "AFTER", 1)],
        [(0, "BEFORE", 1)],
    ),
    "a contradictory IDENTITY": ([(0, "BEFORE", 1), (0, "IDENTITY", 1)], [(0, "SIMULTANEOUS", 1)]),
    "two that come before what is before another": (
        [(0, "BEFORE", 1), (2, "BEFORE", 1), (3, "BEFORE", 2), (4, "BEFORE", 2)],
        [(4, "BEFORE", 3)],
    ),
    "one of two that come before another": (
        [],
        [(0, "AFTER", 1), (2, "BEFORE", 0), (2, "AFTER", 3), (2, "AFTER", 1), (3, "AFTER", 1)],
    ),
    "a chain that is lost": (
        [],
        [
            *[
                (0, "BEFORE", 1),
                (2, "BEFORE", 1),
                (3, "AFTER", 4),
                (5, "BEFORE", 2),
                (5, "BEFORE", 6),
            ],
            *[(4, "BEFORE", 5), (6, "AFTER", 4)],
        ],
    ),
}
"""What the toolkit counts otherwise; the last three are what is left of real documents when links are left out as long
as it does."""
ALONE = {
    f"{name} {place}": (links, [(0, "BEFORE", 1)])
    for name in RELATION_TYPES
    for place, links in (
        ("after", [(0, "BEFORE", 1), (0, name, 0)]),
        ("first", [(0, name, 0), (0, "BEFORE", 1)]),
    )
}
"""Links of an interval with itself, after another link of it or before."""
RELEASED_COMMIT = "d6518a5a79d940d749c95ee5b72830714b132238"
PLATINUM = "data/TempEval3/Evaluation/te3-platinum"
DENSE = "output/Chambers/gold"
QA = "data/SemEval2015-Task5-QATempEval/qa-tempeval-train"
RELEASED = {
    "platinum": (PLATINUM, PLATINUM),
    "platinum, 0.6_1.4_1": (PLATINUM, "output/pred_0.6_1.4_1"),
    "platinum, 20_0.01_0.0": (PLATINUM, "output/pred_20_0.01_0.0"),
    "platinum, table3_SP+ILP": (PLATINUM, "output/pred_table3_SP+ILP"),
    "TimeBank-Dense": (DENSE, DENSE),
    "TimeBank-Dense, CAEVO": (DENSE, "output/Chambers/caveo"),
    "TimeBank-Dense, 0.3_1.4_1": (DENSE, "output/Chambers/codl/TD-Test/0.3_1.4_1"),
    "QA-TempEval": (f"{QA}/data/TBAQ-annotated", f"{QA}/data/TBAQ-annotated"),
    "QA-TempEval, TIPSem": (f"{QA}/data/TBAQ-annotated", f"{QA}/systems/TIPSem-fold1-original"),
    "QA-TempEval, TIPSem with links of times": (
        f"{QA}/data/TBAQ-annotated",
        f"{QA}/systems/TIPSem-fold1-with-timex",
    ),
}
"""Keys and responses; those of QA-TempEval have ids of their own."""
NORMALIZED = ("QA-TempEval, TIPSem", "QA-TempEval, TIPSem with links of times")


def counted(toolkit, python, pairs, *method, normalize=False):
    """What the toolkit counts of pairs of documents: verified of the system's, the system's, and so gold's.

    Args:
        toolkit, python: where they are.
        pairs: the documents.
        method: the toolkit's name for another way to count.
        normalize: whether its normalizer is to make ids the same by extents first.
    """
    with tempfile.TemporaryDirectory() as name:
        folders = [Path(name) / side for side in SIDES]
        for side, folder in enumerate(folders):
            folder.mkdir()
            for number, pair in enumerate(pairs):
                (folder / f"{number}.tml").write_text(dump_timeml(pair[side]), "utf-8")
        if normalize:
            folders = normalized(toolkit, folders)
        found = evaluated(toolkit, python, folders, *method)
    return [found[str(number)] for number in range(len(pairs))]


def normalized(toolkit, folders):
    """Folders beside these in which the toolkit's normalizer has made ids the same by extents."""
    command = [
        "java",
        "-jar",
        "TimeML-Normalizer/TimeML-Normalizer.jar",
        "-a",
        ";".join(map(str, folders)),
    ]
    subprocess.run(command, cwd=toolkit, check=True, capture_output=True)
    return [folder.with_name(f"{folder.name}-normalized") for folder in folders]


def evaluated(toolkit, python, folders, *method):
    """What the toolkit counts of two folders, by document."""
    command = [
        python,
        "-B",
        Path(toolkit) / SCRIPTS[0],
        *(f"{side}/" for side in folders),
        "2",
        *method,
    ]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = {}
    for part in re.split(r"\n ?Evaluate ", printed)[1:]:
        name = re.match(r"\S*/(\S+)\.tml", part)[1]
        shown = [
            re.search(rf"\n{ratio} (\d+) (\d+)\n", part).groups()
            for ratio in ("precision", "recall")
        ]
        found[name] = [int(count) for counts in shown for count in counts]
    return dict(sorted(found.items()))


def counted_of_released(toolkit, python, released, name):
    """What the toolkit counts of released documents, also with ids of its normalizer's.

    Where the point algebra counts otherwise, that is kept, too; for it ids don't matter.
    """
    with tempfile.TemporaryDirectory() as work:
        folders = [Path(work) / side for side in SIDES]
        for source, folder in zip(RELEASED[name], folders, strict=True):
            folder.mkdir()
            for path in (Path(released) / source).glob("*.tml"):
                shutil.copy(path, folder)
        renamed = normalized(toolkit, folders)
        if name in NORMALIZED:
            folders = renamed
        said = evaluated(toolkit, python, folders)
        exact = counted_exactly(folders)
        assert exact == counted_exactly(renamed)
        return {
            "toolkit": said,
            "toolkit, other ids": evaluated(toolkit, python, renamed),
            "point algebra": {
                document: exact[document] for document in said if said[document] != exact[document]
            },
        }


def counted_exactly(folders):
    """What the point algebra counts of two folders, by document."""
    return {
        path.stem: twin.link_counts(
            *(links_of(read_timeml(folder / path.name)) for folder in folders),
            network=twin.Matrices,
        )[:4]
        for path in folders[0].glob("*.tml")
    }


def links_of(document):
    """The links of a document as a list."""
    return [(link.source, link.relation, link.target) for link in document.tlinks]


def main(toolkit, python, released):
    """Score all pairs."""
    random_pairs = {
        name: [family(seed) for seed in range(N_RANDOM)] for name, family in FAMILIES.items()
    }
    said = {
        name: counted(toolkit, python, documents(pairs)) for name, pairs in random_pairs.items()
    }
    all_links = counted(toolkit, python, documents(random_pairs["consistent"]), "acl11")
    by_extent = counted(
        toolkit, python, [annotated(seed) for seed in range(N_ANNOTATED)], normalize=True
    )
    otherwise = counted(toolkit, python, documents(OTHERWISE.values()))
    corpora = {}
    for name in FOLDERS:
        pairs = timeline_pairs(os.environ["CLOSEREAD_DATA"], name)
        corpora |= dict(
            zip(pairs, counted(toolkit, python, documents(pairs.values())), strict=True)
        )
    of_released = {name: counted_of_released(toolkit, python, released, name) for name in RELEASED}
    written = {
        "tool": "github.com/naushadzaman/tempeval3_toolkit",
        "version": f"commit {COMMIT}, {digest(toolkit)}",
        "command": "python2 evaluation-relations/temporal_evaluation.py GOLD/ SYSTEM/ 2 [acl11]; of annotated texts "
        "after java -jar TimeML-Normalizer/TimeML-Normalizer.jar -a 'GOLD;SYSTEM'",
        "released": f"github.com/qiangning/StructTempRel-EMNLP17, commit {RELEASED_COMMIT}",
        "figures": "links of the system that are verified, all of them, and the same of gold",
        **said,
        "consistent, acl11": all_links,
        "annotated": by_extent,
        "otherwise": dict(zip(OTHERWISE, otherwise, strict=True)),
        "alone": dict(zip(ALONE, counted(toolkit, python, documents(ALONE.values())), strict=True)),
        "corpora": corpora,
        "released corpora": of_released,
    }
    (HERE / "tempeval3.json").write_text(shown(written) + "\n", "utf-8")


def documents(pairs):
    """A document for each side of each pair, of one word for each event and time of either."""
    made = []
    for pair in pairs:
        ends = sorted(
            {end for links in pair for source, _, target in links for end in (source, target)}
        )
        words = {end: (i, i) for i, end in enumerate(ends)}
        made.append(tuple(document(links, words) for links in pair))
    return made


def digest(toolkit):
    """The sha256 of the scripts that count."""
    whole = b"".join((Path(toolkit) / script).read_bytes() for script in SCRIPTS)
    return f"sha256 {hashlib.sha256(whole).hexdigest()}"


def shown(written):
    """JSON with a line for every entry."""
    return (
        "{\n"
        + ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in written.items())
        + "\n}"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
