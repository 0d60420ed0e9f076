"""Run the reference scorer of coreference and keep what it counts.

    python tests/agreed/coref_reference.py SCORER LEA

SCORER is a checkout of github.com/conll/reference-coreference-scorers at tag v8.01, LEA one at the commit named below,
where the scorer knows LEA.  Writes `coref_reference.json` beside this file.  The other pairs are made here, the random
ones from their seeds, so that a test can make them again.
"""

import hashlib
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
TAG_COMMIT = "61e8e660e2c5154a56ac830ba2f33a99a76edf53"
LEA_COMMIT = "772e5a3fb76bea6c69e8cd7eb019b0eae5fcd970"
N_RANDOM = 400
N_MIXED = 200

# Key and response, a cell a token, in which the order of brackets matters.
BRACKETS = {
    "single tokens first": (["(1", "1)", "(1)"], ["(1|(2)", "1)", "(1)|(2)"]),
    "single tokens in order": (["(1)", "(1)"], ["(1|(2)|(1)", "1)|(2)"]),
    "open before close": (["(1", "(1)", "1)"], ["(1", "1)|(1", "1)"]),
}

# One process for all pairs.  The module returns its sums in full precision; the mentions and the BLANC of the sums it
# only prints.  It refuses to score once it has met ten repeated mentions, over all calls, unless told to forget them.
DRIVER = r"""
use CorScorer;
my @metrics = split(/,/, shift @ARGV);
while (my $line = <STDIN>) {
  chomp $line;
  my ($name, $key, $response) = split(/\t/, $line);
  for my $metric (@metrics) {
    $main::repeated_mentions = 0;
    print "\n>$name\t$metric\n";
    my @counts = CorScorer::Score($metric, $key, $response, 'none');
    print "\nCOUNTS ", join(" ", map { sprintf("%.13g", $_) } @counts), "\n";
    next if $metric ne 'blanc';
    my @scores = CorScorer::ComputeBLANCFromCounts(@counts[0, 1, 3, 4, 5, 7]);
    print "SCORES ", join(" ", map { sprintf("%.13g", $_) } @scores), "\n";
  }
}
"""


def clusters(text):
    """The documents of CoNLL text: {name: clusters of [start, end]}, clusters in the order in which they open.

    As in the scorer, mentions of one token come before the others that open at it.
    """
    documents = {}
    token = 0
    for line in text.split("\n"):
        if begin := re.match(r"#\s*begin document (.*)", line):
            token, entities, opened = 0, {}, {}
            documents[begin[1]] = entities
        elif line and not re.match(r"#\s*end document", line):
            cell = line.rstrip("\t").split("\t")[-1]
            for number in re.findall(r"\((\d+)\)", cell):
                entities.setdefault(number, []).append([token, token])
            rest = re.sub(r"\(\d+\)", "", cell)
            for number in re.findall(r"\((\d+)", rest):
                entities.setdefault(number, [])
                opened.setdefault(number, []).append(token)
            for number in re.findall(r"(\d+)\)", rest):
                entities[number].append([opened[number].pop(), token])
            token += 1
    return {name: list(entities.values()) for name, entities in documents.items()}


def random_pair(seed):
    """Key and response as CoNLL text: one to four documents, some without a mention; every third seed repeats some."""
    rng = random.Random(seed)

    def below(n):
        return int(rng.random() * n)

    key, response = [], []
    for number in range(1 + below(4)):
        n = 1 + below(12)
        for side in (key, response):
            kept = rng.random() * 1.3 - 0.1
            n_entities = 1 + below(n)
            mentions = [(i, below(n_entities)) for i in range(n) if rng.random() < kept]
            if seed % 3 == 0:
                # Ten is what the scorer bears.
                mentions += [(i, below(n_entities)) for i, _ in mentions if rng.random() < 0.15][:2]
            side.append(conll(f"(d{number}); part 000", 2 * n, mentions))
    return "".join(key), "".join(response)


def mixed_pair(seed):
    """Key and response as CoNLL text: one document whose cells hold brackets of all kinds in any order."""
    rng = random.Random(seed)

    def below(n):
        return int(rng.random() * n)

    def side(n):
        cells, still_open = [], []
        for token in range(n):
            opened = [below(3) for _ in range(below(3))]
            pieces = [f"({below(3)})" for _ in range(below(3))] + [
                f"({entity}" for entity in opened
            ]
            still_open += opened
            n_closed = len(still_open) if token == n - 1 else min(below(3), len(still_open))
            pieces += [f"{still_open.pop(below(len(still_open)))})" for _ in range(n_closed)]
            cells.append(sorted(pieces, key=lambda _: rng.random()))
        return text_of("(mixed); part 000", cells)

    n = 1 + below(6)
    return side(n), side(n)


def bracket_pair(name):
    """Key and response of `BRACKETS` as CoNLL text."""
    return tuple(
        text_of(f"({name}); part 000", [[cell] for cell in cells]) for cells in BRACKETS[name]
    )


def made_pairs():
    """The pairs that are made here, as CoNLL text by name."""
    return {
        **{f"random {seed}": random_pair(seed) for seed in range(N_RANDOM)},
        **{f"mixed {seed}": mixed_pair(seed) for seed in range(N_MIXED)},
        **{name: bracket_pair(name) for name in BRACKETS},
    }


def conll(name, n_tokens, mentions):
    """A document as CoNLL text; mention i starts at token 2 i and has one token, or two where i is odd."""
    cells = [[] for _ in range(n_tokens)]
    for i, entity in mentions:
        if i % 2:
            cells[2 * i].append(f"({entity}")
            cells[2 * i + 1].append(f"{entity})")
        else:
            cells[2 * i].append(f"({entity})")
    return text_of(name, cells)


def text_of(name, cells):
    """A document as CoNLL text; cells are lists of pieces."""
    rows = "".join(f"x\t{'|'.join(cell) or '-'}\n" for cell in cells)
    return f"#begin document {name}\n{rows}\n#end document\n"


def official(folder, metrics, pairs):
    """What the scorer in the folder counts of every pair of files: {name: {metric: figures}}."""
    listed = "".join(f"{name}\t{key}\t{response}\n" for name, (key, response) in pairs.items())
    # A fixed order of its hashes, so that sums over documents end in the same digits.
    environment = {**os.environ, "PERL_HASH_SEED": "0", "PERL_PERTURB_KEYS": "0"}
    command = ["perl", "-I", Path(folder) / "lib", "-e", DRIVER, ",".join(metrics)]
    done = subprocess.run(
        command, input=listed, env=environment, check=True, capture_output=True, text=True
    )
    figures = {}
    for part in done.stdout.split("\n>")[1:]:
        name, metric = part.split("\n", 1)[0].split("\t")
        found = figures.setdefault(name, {})
        found[metric] = numbers(re.search(r"\nCOUNTS (.*)", part)[1])
        shown = re.search(
            r"Mentions: Recall: \((\d+) / (\d+)\).*Precision: \((\d+) / (\d+)\)", part
        )
        found["mentions"] = numbers(" ".join(shown.groups()))
        if metric == "blanc":
            found["blanc_scores"] = numbers(re.search(r"\nSCORES (.*)", part)[1])
            found["blanc_printed"] = re.search(r"\nBLANC: (.*)", part)[1]
    return figures


def numbers(text):
    """Numbers, whole ones as integers."""
    return [int(number) if number == int(number) else number for number in map(float, text.split())]


def main(scorer, lea):
    """Score the scorer's own test pairs and those made here."""
    data = Path(scorer) / "test" / "DataFiles"
    with tempfile.TemporaryDirectory() as folder:
        pairs = {}
        for response in sorted(
            data.glob("TC-*.response"), key=lambda path: [p.zfill(3) for p in path.stem.split("-")]
        ):
            pairs[response.stem] = (data / f"{response.stem.rsplit('-', 1)[0]}.key", response)
        for name, texts in made_pairs().items():
            pairs[name] = tuple(Path(folder) / f"{name}.{side}" for side in ("key", "response"))
            for path, text in zip(pairs[name], texts, strict=True):
                path.write_text(text, "utf-8")
        said = official(scorer, ["muc", "bcub", "ceafm", "ceafe", "blanc"], pairs)
        for name, figures in official(lea, ["lea"], pairs).items():
            said[name]["lea"] = figures["lea"]
    cases = {
        name: {
            side: clusters(path.read_text("utf-8"))
            for side, path in zip(("gold", "system"), pairs[name], strict=True)
        }
        for name in pairs
        if name.startswith("TC-")
    }
    written = {
        "tool": "github.com/conll/reference-coreference-scorers lib/CorScorer.pm",
        "version": f"tag v8.01, commit {TAG_COMMIT}, {digest(scorer)}; for LEA commit {LEA_COMMIT}, {digest(lea)}",
        "command": "perl -I lib -e 'DRIVER of coref_reference.py' METRICS: counts as CorScorer::Score returns them",
        "figures": "recall's numerator and denominator, precision's; BLANC those of coreference links, then of others",
        "cases": cases,
        "said": said,
    }
    (HERE / "coref_reference.json").write_text(shown(written, 2) + "\n", "utf-8")


def digest(folder):
    """The sha256 of the scorer's module."""
    return (
        f"sha256 {hashlib.sha256((Path(folder) / 'lib' / 'CorScorer.pm').read_bytes()).hexdigest()}"
    )


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
