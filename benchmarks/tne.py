"""closeread beside TNE's official evaluator, and beside the spaCy pipeline by which it builds documents, in one run.

    CLOSEREAD_DATA=… python benchmarks/tne.py EVALUATOR

EVALUATOR is a checkout of github.com/allenai/tne-evaluator; torch has to be installed, and what the evaluator needs of
allennlp is made by `tests/agreed/tne_official.py`.  Writes `results/tne.json` and prints it; the tables in README.md
are made from it by `python tools/documentation.py`.

Large files are copies of the test split with other names of documents.

The system is the gold of the test split with a tenth of the pairs dropped and a fifth called otherwise, and a third of
what it drops fallen back on.  The official evaluator is given its own files, made beforehand and not counted.

Documents are built from invented texts by the stand-in for a spaCy model that the tests use: it takes next to no time,
so that what closeread does around spaCy is seen.  A statistical model takes many times as long.
"""

import gzip
import json
import sys
import tempfile
from pathlib import Path

import numpy as np
import orjson
import pyarrow as pa
from measure import calls, kept, processes

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "agreed"))
import tne_official
from shared.noun_phrase_pipeline import LEXICON, make_pipeline

from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus
from closeread.corpus.schema import RowValidator, load_schema
from closeread.corpus.sources import locate
from closeread.formats.json_lines import dump_json_lines
from closeread.hf.builder import features
from closeread.records import as_columns
from closeread.tasks.tne.columns import PREPOSITIONS, rows_of
from closeread.tasks.tne.procedure import count
from closeread.tasks.tne.rules import find_inconsistencies
from closeread.tasks.tne.tne_arrays import dump_submission
from closeread.tasks.tne.tne_jsonl import read_records

TESTS = Path(__file__).parent.parent / "tests"
CLOSEREAD = Path(sys.executable).parent / "closeread"
RUNS = 7
SHARE_DROPPED, SHARE_RELABELLED = 0.1, 0.2
OFFICIAL = """
import sys
sys.path.insert(0, sys.argv[1])
import tne_official
evaluate = tne_official.loaded(sys.argv[2])["evaluate"]
sys.argv[1:] = sys.argv[3:]
evaluate.main()
"""
N_TEXTS, BUILDING_RUNS = 10_000, 3
COPIES, LARGE_RUNS = {"3000": 6, "30000": 60}, 2
PARSE = """
import sys, orjson
for name in sys.argv[1:]:
    with open(name, "rb") as file:
        for line in file:
            orjson.loads(line)
"""
ALONE = """
import sys
sys.path.insert(0, sys.argv[1])
import shared.noun_phrase_pipeline, spacy
from pathlib import Path
texts = (path.read_text("utf-8") for path in sorted(Path(sys.argv[2]).iterdir()))
for document in spacy.load(sys.argv[3]).pipe(texts):
    list(document.noun_chunks)
"""
BUILD = """
import sys
sys.path.insert(0, sys.argv[1])
import shared.noun_phrase_pipeline
from closeread.cli import main
sys.argv[1:] = ["build", "tne", sys.argv[2], "--spacy-model", sys.argv[3], "--output", sys.argv[4]]
main()
"""


def predictions(gold, seed=0):
    """A system's rows for documents."""
    rng = np.random.default_rng(seed)
    for record in gold:
        row = {"id": record["id"], "relations": [], "fallback": []}
        seen = set()
        for link in record["np_relations"]:
            pair = link["anchor"], link["complement"]
            chance = rng.random()
            if pair in seen:
                continue
            seen.add(pair)
            said = (
                link["preposition"]
                if chance > SHARE_RELABELLED
                else str(rng.choice(PREPOSITIONS[1:]))
            )
            place = "relations" if rng.random() > SHARE_DROPPED else "fallback"
            row[place].append({"anchor": pair[0], "complement": pair[1], "preposition": said})
        yield row


def reading(path):
    """Ways to read a file, by name: bare parsing, and to an Arrow table with the schema, and with all rules."""
    schema = load_schema("tne")
    columns = features(schema)
    validator = RowValidator(schema, "document")

    def table(records):
        return pa.Table.from_pydict(as_columns(records, list(columns)), schema=columns.arrow_schema)

    def checked():
        parsed = read_records(path, "test")
        problems = parsed.problems + validator.problems(parsed.records, parsed.lines)
        assert not problems
        return parsed.records

    def with_rules():
        records = checked()
        assert not list(find_inconsistencies(records))
        return table(records)

    def bare():
        with gzip.open(path) as lines:
            return [orjson.loads(line) for line in lines]

    return {
        "gunzip and orjson": bare,
        "closeread, to an Arrow table, with the schema": lambda: table(checked()),
        "closeread, to an Arrow table, with all rules": with_rules,
    }


def write_texts(folder, number=N_TEXTS, seed=0):
    """Write invented texts: a title, a subtitle and three paragraphs, with 39 noun phrases and 191 tokens."""
    rng = np.random.default_rng(seed)
    words = {tag: of_tag.split() for tag, of_tag in LEXICON.items()}

    def phrase():
        return " ".join(str(rng.choice(words[tag])) for tag in ("DET", "ADJ", "NOUN"))

    def sentence():
        # Numbers that are in one text only, as names are: spaCy has to learn them.
        verb = str(rng.choice(words["VERB"]))
        return f"{phrase()} {verb} {phrase()}, {rng.integers(10**6)} miles off {phrase()}.".capitalize()

    for index in range(number):
        paragraphs = [" ".join(sentence() for _ in range(4)) for _ in range(3)]
        text = "\n".join([f"Ferry hits {phrase()}", "May 4", *paragraphs]) + "\n"
        (folder / f"text{index:05}.txt").write_text(text, "utf-8")


def building():
    """Seconds and MiB of building documents from texts, and of the pipeline alone."""
    with tempfile.TemporaryDirectory() as scratch:
        texts, pipeline = Path(scratch) / "texts", Path(scratch) / "pipeline"
        texts.mkdir()
        write_texts(texts)
        make_pipeline().to_disk(pipeline)
        given = [TESTS, texts, pipeline]
        commands = {
            "spaCy alone: the pipeline and its noun chunks": [sys.executable, "-c", ALONE, *given],
            "closeread build tne": [
                sys.executable,
                "-c",
                BUILD,
                *given,
                Path(scratch) / "documents.jsonl",
            ],
        }
        measured = processes(commands, BUILDING_RUNS)
    return {
        name: {**found, "per_second": N_TEXTS / found["seconds"]}
        for name, found in measured.items()
    }


def large(gold, files, official):
    """Seconds and MiB of scoring large files, by their number of documents.

    Args:
        gold: the documents.
        files: our file of the system's rows, and the official evaluator's of the system's arrays and of the gold.
        official: how to call the official evaluator.
    """
    for number, n in COPIES.items():
        with tempfile.TemporaryDirectory() as scratch:
            names = ("gold", "rows", "arrays", "answers", "scores")
            copied = {name: Path(scratch) / f"{name}.jsonl" for name in names}
            write_copies(copied["gold"], gold, n)
            write_copies(
                copied["rows"], map(orjson.loads, files["rows"].read_bytes().splitlines()), n
            )
            for name in ("arrays", "answers"):
                copied[name].write_bytes(files[name].read_bytes() * n)
            given = ["--gold_file", copied["answers"], "--predictions_file", copied["arrays"]]
            commands = {
                "parse each line with orjson": [
                    sys.executable,
                    "-c",
                    PARSE,
                    copied["gold"],
                    copied["rows"],
                ],
                "closeread score tne": [
                    CLOSEREAD,
                    "score",
                    "tne",
                    copied["rows"],
                    "--gold",
                    copied["gold"],
                ],
                "official evaluator": [*official, *given, "--output_file", copied["scores"]],
            }
            mib = sum(copied[name].stat().st_size for name in ("gold", "rows")) / 2**20
            print(f"{number} documents: {mib:.0f} MiB")
            yield f"large_{number}", ("official evaluator", processes(commands, LARGE_RUNS))


def write_copies(path, records, n):
    """Write records n times over, with other ids."""
    lines = [orjson.dumps(record) for record in records]
    with path.open("wb") as file:
        for copy in range(n):
            for line in lines:
                record = orjson.loads(line)
                file.write(orjson.dumps({**record, "id": f"{record['id']}-{copy}"}) + b"\n")


def main(evaluator):
    """Measure everything and keep it."""
    corpus = load_corpus("tne")
    gold = read_gold(corpus, split="test").records
    rows = list(predictions(gold))
    path = locate(corpus, corpus.configs["default"].splits["test"]).path
    modules = tne_official.loaded(evaluator)
    answers = [
        modules["convert_data2leaderboard_eval"].data_conversion(_as_released(record))
        for record in gold
    ]
    arrays = [json.loads(line) for line in dump_submission(rows, gold).splitlines()]
    ready = rows_of(rows)
    with tempfile.TemporaryDirectory() as folder:
        files = {
            name: Path(folder) / f"{name}.jsonl" for name in ("rows", "arrays", "answers", "scores")
        }
        files["rows"].write_text(dump_json_lines(rows), "utf-8")
        files["arrays"].write_text("".join(json.dumps(array) + "\n" for array in arrays), "utf-8")
        files["answers"].write_text(
            "".join(json.dumps(answer) + "\n" for answer in answers), "utf-8"
        )
        official = [sys.executable, "-c", OFFICIAL, Path(tne_official.__file__).parent, evaluator]
        given = ["--gold_file", files["answers"], "--predictions_file", files["arrays"]]
        commands = {
            "python -c 'import numpy'": [sys.executable, "-c", "import numpy"],
            "python -c 'import torch'": [sys.executable, "-c", "import torch"],
            "closeread score tne": [CLOSEREAD, "score", "tne", files["rows"]],
            "closeread score tne, the leaderboard's file": [
                CLOSEREAD,
                "score",
                "tne",
                files["arrays"],
            ],
            "official evaluator": [*official, *given, "--output_file", files["scores"]],
        }
        tables = {"processes": ("official evaluator", processes(commands, RUNS))}
        tables |= large(gold, files, official)
    peer = "official evaluator, arrays to scores"
    scoring = {
        peer: lambda: modules["evaluate"].evaluate_documents(answers, arrays),
        "closeread, rows to counts": lambda: count(gold=gold, system=rows),
        "closeread, rows as columns to counts": lambda: count(gold=gold, system=ready),
    }
    tables["scoring"] = peer, calls(scoring, RUNS)
    tables["reading"] = "gunzip and orjson", calls(reading(path), RUNS)
    tables["building"] = "closeread build tne", building()
    print(json.dumps(kept("tne", tables), indent=1))


def _as_released(record):
    """A document as the official script reads it."""
    return {**record, "nps": {noun_phrase["id"]: noun_phrase for noun_phrase in record["nps"]}}


if __name__ == "__main__":
    main(*sys.argv[1:])
