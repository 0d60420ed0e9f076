"""Run the CoNLL readers of three scorers on made cells, and keep the entities that they read.

    cd tests; python -m agreed.conll_readers SCORER COVAL COREFUD [PYTHON]

SCORER, COVAL and COREFUD are checkouts of github.com/conll/reference-coreference-scorers at tag v8.01, of
github.com/ns-moosavi/coval and of github.com/ufal/corefud-scorer at the commits named below; PYTHON is one with NumPy
and SciPy.  Writes `conll_readers.json` beside this file.  The files are made from their seeds, so that a test can make
them again.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from agreed import coref_reference as maker

HERE = Path(__file__).parent
COVAL_COMMIT = "87071a6293dc2e786dcfe2ed78e9369c17e41b3b"
COREFUD_COMMIT = "4fd7b0e0c661aeeff88bc60c19ef507b84d1b590"

# The readers print what they discard, so a line of ours begins with ">".
PERL = r"""
use CorScorer;
while (my $file = <STDIN>) {
  chomp $file;
  my $documents = eval { CorScorer::GetCoreference($file, -1) };
  if ($@) { print "\n> refused\n"; next; }
  my @entities = map { @$_ } values %$documents;
  print "\n> ", join(" ", map { join(",", map { "$_->[0]-$_->[1]" } @{$_ // []}) } @entities), "\n";
}
"""
COVAL = """
import sys
from coval.conll import reader
for file in sys.stdin.read().split("\\n")[:-1]:
    entities = []
    for name, lines in reader.get_doc_lines(file).items():
        entities += reader.get_doc_mentions(name, lines, True)[0]
    print("\\n> " + " ".join(",".join(f"{m.start}-{m.end}" for m in entity) for entity in entities))
"""
COREFUD = """
import sys
from scorer.conll.reader import CoNLLReader
for file in sys.stdin.read().split("\\n")[:-1]:
    reader, entities = CoNLLReader(keep_singletons=True), []
    for lines in reader.get_doc_lines(file).values():
        entities += reader.get_doc_mentions(lines)[0]
    print("\\n> " + " ".join(",".join(f"{m.start[1]}-{m.end[1]}" for m in entity) for entity in entities))
"""

# Without a bar, the readers are not of one mind; 8.01 makes one number of two, and coval forgets what opens.
WITHOUT_BARS = [
    ["(1", "1)(1", "1)"],
    ["(1", "1)(2)"],
    ["(0(1", "1)0)"],
    ["(3", "(1(2)3)", "1)"],
    ["(1(2)3)"],
]


def commands(scorer, coval, corefud, python=sys.executable):
    """How to run each reader: its command and its folder, by name."""
    return {
        "reference scorer": (["perl", "-I", Path(scorer).resolve() / "lib", "-e", PERL], None),
        "coval": ([python, "-c", COVAL], coval),
        "corefud-scorer": ([python, "-c", COREFUD], corefud),
    }


def read_texts(command, folder, texts):
    """The entities of CoNLL texts as a reader sees them: ``0-1,3-3 2-2``, or ``refused``."""
    with tempfile.TemporaryDirectory() as made:
        files = [Path(made) / f"{i}.conll" for i in range(len(texts))]
        for file, text in zip(files, texts, strict=True):
            file.write_text(text, "utf-8")
        names = "".join(f"{file}\n" for file in files)
        done = subprocess.run(
            command, cwd=folder, input=names, check=True, capture_output=True, text=True
        )
    found = re.findall(r"^> (.*)$", done.stdout, re.MULTILINE)
    if len(found) != len(texts):
        raise ValueError(f"{len(texts)} texts, {len(found)} answers: {done.stderr}")
    return [shown(line.split()) if line != "refused" else line for line in found]


def shown(entities):
    """Entities in a canonical order; each is its mentions, separated by commas."""
    ordered = [
        sorted(tuple(map(int, span.split("-"))) for span in entity.split(","))
        for entity in entities
        if entity
    ]
    return " ".join(
        sorted(",".join(f"{start}-{end}" for start, end in entity) for entity in ordered)
    )


def made_texts():
    """The files with bars, by name."""
    mixed = {
        f"mixed {seed}, {side}": text
        for seed in range(maker.N_MIXED)
        for side, text in zip(("key", "response"), maker.mixed_pair(seed), strict=True)
    }
    return mixed | {f"{name}, response": maker.bracket_pair(name)[1] for name in maker.BRACKETS}


def texts_without_bars():
    """The files without bars, by their cells."""
    return {
        " ".join(cells): maker.text_of("(a)", [[cell] for cell in cells]) for cells in WITHOUT_BARS
    }


def main(*given):
    """Ask all readers for all texts."""
    texts, others = made_texts(), texts_without_bars()
    read = {
        name: read_texts(*command, [*texts.values(), *others.values()])
        for name, command in commands(*given).items()
    }
    answers = {
        text: dict(zip(read, row, strict=True))
        for text, *row in zip([*texts, *others], *read.values(), strict=True)
    }
    written = {
        "tools": "github.com/conll/reference-coreference-scorers, ns-moosavi/coval, ufal/corefud-scorer",
        "version": f"tag v8.01, commit {maker.TAG_COMMIT}; commit {COVAL_COMMIT}; commit {COREFUD_COMMIT}",
        "command": "CorScorer::GetCoreference, coval.conll.reader.get_doc_mentions, CoNLLReader.get_doc_mentions",
        "figures": "the entities, a blank between two; a mention is its first and its last token",
        "said": {
            text: answers[text] if len(set(answers[text].values())) > 1 else answers[text]["coval"]
            for text in texts
        },
        "without_bars": {text: answers[text] for text in others},
    }
    (HERE / "conll_readers.json").write_text(maker.shown(written, 2) + "\n", "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
