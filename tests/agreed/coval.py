"""Run coval on its own test files and on random trees, and keep what it counts.

    python tests/agreed/coval.py COVAL GUM [PYTHON]

COVAL is a checkout of github.com/ns-moosavi/coval at the commit named below, GUM one of github.com/amir-zeldes/gum,
PYTHON one that has numpy and scipy.
Writes `coval.json` beside this file.  Its own files are kept as clusters of spans, without their words.  The random
pairs, some with constituents to find minimum spans in, some with annotated minimum spans in the columns of ARRAU, are
made here from their seeds, so that a test can make them again.
"""

import json
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
COMMIT = "87071a6293dc2e786dcfe2ed78e9369c17e41b3b"
GUM_COMMIT = "72ce5ac14978a324c2fd18d49484e65292cbe316"
N_RANDOM, N_ARRAU = 250, 60
MATCHINGS = ("exact", "minimum")
NON_REFERRING = 100
"""Entities from this number on are non-referring."""
FOLDERS = (
    "boundary",
    "boundary_with_singletons",
    "correct_entities",
    "correct_links",
    "extra_mention",
    "merge",
)
FOLDERS = (*FOLDERS, "mention_identification", "split")

MISREAD = ("TC-A-8", "TC-A-9")
"""Pairs that coval has no test for: of cells such as ``(1(3`` it reads the last bracket only."""

# One process for all pairs.  The evaluator keeps its sums in full precision.
DRIVER = """
import contextlib, json, os, sys
sys.path.insert(0, sys.argv[1])
from coval.arrau import reader as arrau
from coval.conll import reader
from coval.eval import evaluator
metrics = {"mentions": evaluator.mentions, "muc": evaluator.muc, "bcub": evaluator.b_cubed}
metrics |= {"ceafe": evaluator.ceafe, "lea": evaluator.lea}
for line in sys.stdin:
    name, key, response, keep, minimum = json.loads(line)
    with open(os.devnull, "w") as null, contextlib.redirect_stdout(null):
        if name.startswith("arrau "):
            infos, _ = arrau.get_coref_infos(key, response, keep, False, minimum)
        else:
            infos = reader.get_coref_infos(key, response, False, False, keep, minimum)
    figures = {}
    for metric, function in metrics.items():
        sums = evaluator.Evaluator(function)
        for info in infos.values():
            sums.update(info)
        figures[metric] = [float(f"{n:.13g}") for n in (sums.r_num, sums.r_den, sums.p_num, sums.p_den)]
    print(json.dumps([name, figures]))
"""

WORDS = [
    *[
        ("tea", "NN"),
        ("lamp", "NN"),
        ("lamp", "NN"),
        ("lamp", "VB"),
        ("Oslo", "NNP"),
        ("old", "JJ"),
        ("said", "VBD"),
    ],
    *[
        ("seven", "CD"),
        ("5", "CD"),
        ("5.5", "CD"),
        ("%", "NN"),
        ("U.S.", "NNP"),
        ("'s", "POS"),
        ("NPR", "NNP"),
    ],
    *[
        ("VP", "NN"),
        ("the", "DT"),
        ("that", "DT"),
        ("that", "DT"),
        ("that", "WDT"),
        ("of", "IN"),
        ("in", "IN"),
    ],
    *[
        ("and", "CC"),
        (",", ","),
        (".", "."),
        ("--", ":"),
        ("-LRB-", "-LRB-"),
        ("-RRB-", "-RRB-"),
        ("they", "PRP"),
    ],
    ("their", "PRP$"),
]
LABELS = (
    "NP",
    "NP",
    "NP",
    "NP-SBJ",
    "NML",
    "QP",
    "NX",
    "VP",
    "VP",
    "S",
    "SBAR",
    "PP",
    "ADJP",
    "PRN",
)


def random_pair(seed):
    """Key and response as CoNLL-2012 text with trees, one to three documents; every third seed repeats mentions."""
    rng = random.Random(seed)
    sides = [], []
    for number in range(rng.randint(1, 3)):
        sentences = [random_sentence(rng) for _ in range(rng.randint(1, 3))]
        n_entities = rng.randint(1, 5)
        key = [
            (i, *random_span(rng, len(sentence)), rng.randrange(n_entities))
            for i, sentence in enumerate(sentences)
            for _ in range(rng.randint(0, 4))
        ]
        response = [
            shift(rng, mention, len(sentences[mention[0]]), n_entities)
            for mention in key
            if rng.random() < 0.9
        ]
        for side, mentions in zip(sides, (key, response), strict=True):
            # If two entities had a mention of the same words, the order of its brackets would decide which counts.
            entity = {mention[:3]: mention[3] for mention in mentions}
            repeated = [(*mention[:3], entity[mention[:3]]) for mention in mentions]
            side.append(
                document_text(f"d{number}", sentences, repeated if seed % 3 == 0 else set(repeated))
            )
    return tuple(map("".join, sides))


def random_sentence(rng):
    """Rows of a sentence: word, tag and part of the tree."""
    rows = [[*rng.choice(WORDS), "", ""] for _ in range(rng.randint(1, 9))]
    spans = [(0, len(rows) - 1, "TOP")]
    for _ in range(rng.randint(0, 20)):
        start = rng.randrange(len(rows))
        spans.append(
            (
                start,
                min(len(rows) - 1, start + rng.choice((0, 0, 1, 1, 2, 3, 5, 8))),
                rng.choice(LABELS),
            )
        )
    # Spans that cross others are dropped, so that the rest are a tree.
    kept = []
    for start, end, label in spans:
        if not any(a < start <= b < end or start < a <= end < b for a, b, _ in kept):
            kept.append((start, end, label))
    for start, end, label in sorted(kept, key=lambda span: (span[0], -span[1])):
        rows[start][2] += f"({label}"
        rows[end][3] += ")"
    return [(word, tag, f"{opening}*{closing}") for word, tag, opening, closing in rows]


def random_span(rng, length):
    start = rng.randrange(length)
    return start, min(length - 1, start + rng.choice((0, 0, 1, 2, 3, 5)))


def shift(rng, mention, length, n_entities):
    """A mention with other borders or another entity, or the same."""
    sentence, start, end, entity = mention
    if rng.random() < 0.6:
        start = max(0, start + rng.choice((-1, 0, 0, 1)))
        end = min(length - 1, max(start, end + rng.choice((-2, -1, -1, 0, 1, 2))))
        start = min(start, end)
    return sentence, start, end, entity if rng.random() < 0.8 else rng.randrange(n_entities + 1)


def document_text(name, sentences, mentions):
    """A document; mentions are (sentence, first word, last word, entity)."""
    cells = [[[] for _ in sentence] for sentence in sentences]
    opened = set()
    for sentence, start, end, entity in sorted(mentions, key=lambda m: (m[0], m[1], -m[2], m[3])):
        # An entity that closes and opens on one token is not read alike by all.
        if not {(sentence, start, entity, "closes"), (sentence, end, entity, "opens")} & opened:
            opened |= (
                {(sentence, start, entity, "opens"), (sentence, end, entity, "closes")}
                if start < end
                else set()
            )
            cells[sentence][start].append(f"({entity})" if start == end else f"({entity}")
            if start < end:
                cells[sentence][end].insert(0, f"{entity})")
    lines = [f"#begin document ({name}); part 000"]
    for i, sentence in enumerate(sentences):
        for j, row in enumerate(sentence):
            lines.append(
                "\t".join([name, "0", str(j), *row, "-", "-", "|".join(cells[i][j]) or "-"])
            )
        lines.append("")
    return "\n".join([*lines, "#end document\n"])


def random_arrau_pair(seed):
    """Key and response as ARRAU's columns: disjoint mentions, some with a minimum span, in the response shifted."""
    rng = random.Random(seed)
    sides, n_tokens = ([], []), 1
    for _ in range(rng.randint(0, 8)):
        start = n_tokens + rng.randint(1, 2)
        end = start + rng.choice((0, 0, 1, 2, 4))
        n_tokens = end + 2
        first = rng.randint(start, end)
        minimum = (first, rng.randint(first, end)) if not sides[0] or rng.random() < 0.8 else None
        sides[0].append((start, end, rng.choice((0, 1, 2, 3, NON_REFERRING + start)), minimum))
        if rng.random() < 0.9:
            begin = start + rng.choice((-1, 0, 0, 0, 1))
            end = max(begin, end + rng.choice((-2, -1, 0, 0, 0, 1)))
            sides[1].append((begin, end, rng.choice((0, 1, 2, 3, NON_REFERRING + start)), None))
    return tuple(arrau_text(n_tokens, mentions) for mentions in sides)


def arrau_text(n_tokens, mentions):
    """A file; mentions are (first word, last word, entity, minimum span), words numbered from 0."""
    rows = [[f"w{token}"] for token in range(n_tokens)]
    for number, (start, end, entity, minimum) in enumerate(mentions):
        for token in range(start, end + 1):
            rows[token].append(f"{'B' if token == start else 'I'}-markable_{number}=set_{entity}")
            rows[token] += (
                ["..".join(f"word_{word + 1}" for word in sorted(set(minimum)))] if minimum else []
            )
            rows[token].append("referring" if entity < NON_REFERRING else "non_referring")
    return "".join("\t".join(row) + "\n" for row in [["TOKEN", "MARKABLE", "MIN", "COREF"], *rows])


def gum_pair(gum):
    """OntoGUM with GUM's trees as CoNLL-2012 text, and a response to it; without masked texts and two faulty ones."""
    rng = random.Random(0)
    sides = [], []
    for path in sorted((Path(gum) / "const").glob("*.ptb")):
        if "reddit" in path.stem or path.stem in ("GENTLE_poetry_road", "GUM_news_iodine"):
            continue
        sentences = list(tree_rows(path.read_text("utf-8")))
        text = (Path(gum) / "coref" / "ontogum" / "conll" / f"{path.stem}.conll").read_text("utf-8")
        place = [(i, j) for i, sentence in enumerate(sentences) for j in range(len(sentence))]
        key = [
            (*place[start], place[end][1], entity)
            for entity, cluster in enumerate(clusters(text))
            for start, end in cluster
        ]
        entity = {mention[:3]: mention[3] for mention in key}
        key = [(*span, number) for span, number in entity.items()]
        found = [
            cut(rng, mention, sentences[mention[0]], 1 + key[-1][3])
            for mention in key
            if rng.random() < 0.9
        ]
        entity = {mention[:3]: mention[3] for mention in found}
        for side, mentions in zip(
            sides, (key, [(*span, number) for span, number in entity.items()]), strict=True
        ):
            side.append(document_text(path.stem, sentences, mentions))
    return tuple(map("".join, sides))


def tree_rows(text):
    """Rows of the sentences of a Penn Treebank file: word, tag and part of the tree."""
    tokens = re.findall(r"[()]|[^\s()]+", text)
    depth, opening, rows, i = 0, "", [], 0
    while i < len(tokens):
        if tokens[i] == "(" and tokens[i + 2] not in "()" and tokens[i + 3] == ")":
            rows.append((tokens[i + 2], tokens[i + 1], f"{opening}*"))
            opening, i = "", i + 4
        elif tokens[i] == "(":
            opening, depth, i = f"{opening}({tokens[i + 1]}", depth + 1, i + 2
        else:
            rows[-1] = (*rows[-1][:2], rows[-1][2] + ")")
            depth, i = depth - 1, i + 1
        if not depth:
            yield rows
            rows = []


def cut(rng, mention, sentence, n_entities):
    """A mention up to the first constituent inside it, or with other borders or another entity, or the same."""
    number, start, end, entity = mention
    if rng.random() < 0.15:
        inner = (i for i in range(start + 1, end + 1) if "(" in sentence[i][2])
        end = next(inner, end + 1) - 1
    elif rng.random() < 0.15:
        end = min(len(sentence) - 1, end + rng.randint(1, 4))
    elif rng.random() < 0.05:
        start = max(0, start - 1)
    return number, start, end, entity if rng.random() < 0.8 else rng.randrange(n_entities)


def clusters(text):
    """The clusters of a document of CoNLL text, whose mentions don't cross."""
    token, entities, opened = 0, {}, {}
    for line in text.split("\n"):
        if line and not line.startswith("#"):
            for number, whole, closing in re.findall(
                r"\((\d+)(\)?)|(\d+)\)", line.rstrip("\t ").split("\t")[-1]
            ):
                if number and not whole:
                    opened.setdefault(number, []).append(token)
                else:
                    start = token if number else opened[closing].pop()
                    entities.setdefault(number or closing, []).append([start, token])
            token += 1
    return list(entities.values())


def own_pairs(coval):
    """Coval's own pairs of files, by the name of the response."""
    folder = Path(coval) / "tests"
    responses = (path for path in sorted(folder.glob("TC-*.response")) if path.stem not in MISREAD)
    pairs = {path.stem: (folder / f"{path.stem[:4]}.key", path) for path in responses}
    for name in FOLDERS:
        responses = (path for path in sorted((folder / name).iterdir()) if path.name != "key")
        pairs |= {f"{name}/{path.name}": (folder / name / "key", path) for path in responses}
    return pairs


def run(coval, python, pairs):
    """What coval counts of pairs of files: {name: {metric: figures}}."""
    lines = "".join(
        f"{json.dumps([name, *map(str, files), *setting])}\n"
        for name, (files, setting) in pairs.items()
    )
    command = [python, "-c", DRIVER, str(coval)]
    done = subprocess.run(command, input=lines, check=True, capture_output=True, text=True)
    return dict(map(json.loads, done.stdout.splitlines()))


def main(coval, gum, python=sys.executable):
    """Score all pairs."""
    own = own_pairs(coval)
    with tempfile.TemporaryDirectory() as folder:
        pairs = {name: (files, (True, False)) for name, files in own.items()}
        for seed in range(N_RANDOM):
            files = [Path(folder) / f"{seed}.{side}" for side in ("key", "response")]
            for path, text in zip(files, random_pair(seed), strict=True):
                path.write_text(text, "utf-8")
            pairs[f"random {seed}"] = (files, (seed % 5 > 0, True))
        for seed in range(N_ARRAU):
            files = [Path(folder) / side / f"{seed}.CONLL" for side in ("key", "response")]
            for path, text in zip(files, random_arrau_pair(seed), strict=True):
                path.parent.mkdir(exist_ok=True)
                path.write_text(text, "utf-8")
            pairs |= {
                f"arrau {seed} {match}": (files, (seed % 5 > 0, match == "minimum"))
                for match in MATCHINGS
            }
        files = [Path(folder) / f"gum.{side}" for side in ("key", "response")]
        for path, text in zip(files, gum_pair(gum), strict=True):
            path.write_text(text, "utf-8")
        pairs |= {f"gum {match}": (files, (True, match == "minimum")) for match in MATCHINGS}
        said = run(coval, python, pairs)
    paths = {path for files in own.values() for path in files}
    names = {path: path.relative_to(Path(coval) / "tests").as_posix() for path in sorted(paths)}
    written = {
        "tool": "github.com/ns-moosavi/coval",
        "version": f"commit {COMMIT}; GUM at commit {GUM_COMMIT}",
        "command": "python -c 'DRIVER of coval.py' COVAL: sums of evaluator.Evaluator; min_span for random pairs",
        "figures": "recall's numerator and denominator, precision's",
        "files": {name: clusters(path.read_text("utf-8")) for path, name in names.items()},
        "pairs": {name: [names[path] for path in files] for name, files in own.items()},
        "said": said,
    }
    (HERE / "coval.json").write_text(shown(written, 2) + "\n", "utf-8")


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
