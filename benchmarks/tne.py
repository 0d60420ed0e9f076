"""closeread beside TNE's official evaluator.

    CLOSEREAD_DATA=… python benchmarks/tne.py EVALUATOR

EVALUATOR is a checkout of github.com/allenai/tne-evaluator; torch has to be installed, and what the evaluator needs of
allennlp is made by `tests/agreed/tne_official.py`.  Its files of gold and predictions are made beforehand.
"""

import json
import sys
import tempfile
from pathlib import Path

import numpy as np
from measure import CLOSEREAD, keep, measure_calls, measure_commands

import closeread

TESTS = Path(__file__).parent.parent / "tests"
sys.path[:0] = [str(TESTS / "agreed")]
import tne_official  # noqa: E402

OFFICIAL = "official evaluator"
RUN_OFFICIAL = """
import sys
sys.path.insert(0, sys.argv[1])
import tne_official
evaluate = tne_official.loaded(sys.argv[2])["evaluate"]
sys.argv[1:] = sys.argv[3:]
evaluate.main()
"""
SHARE_DROPPED = 0.2


def drop_links(documents):
    """Return predictions that lack a fifth of the pairs, and say one preposition of each other."""
    rng = np.random.default_rng(0)
    rows = []
    for document in documents:
        links = {}
        for link in document["np_relations"]:
            names = ("anchor", "complement", "preposition")
            links[link["anchor"], link["complement"]] = {name: link[name] for name in names}
        relations = [link for link in links.values() if rng.random() > SHARE_DROPPED]
        rows.append({"id": document["id"], "relations": relations})
    return rows


def write_lines(path, rows):
    """Write JSON Lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def main(evaluator):
    """Measure and keep the result."""
    documents = closeread.load_dataset("tne", split="test").to_list()
    rows = drop_links(documents)
    modules = tne_official.loaded(evaluator)
    convert = modules["convert_data2leaderboard_eval"].data_conversion
    answers = []
    for document in documents:
        phrases = {phrase["id"]: phrase for phrase in document["nps"]}
        answers.append(convert({**document, "nps": phrases}))
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        links = write_lines(folder / "links.jsonl", rows)
        arrays = folder / "arrays.jsonl"
        closeread.convert("tne", links, to=arrays, form="arrays", split="test")
        gold = write_lines(folder / "gold.jsonl", answers)
        official = [sys.executable, "-c", RUN_OFFICIAL, TESTS / "agreed", evaluator]
        files = ["--gold_file", gold, "--predictions_file", arrays]
        commands = {
            "python -c 'import torch'": [sys.executable, "-c", "import torch"],
            "closeread score tne": [CLOSEREAD, "score", "tne", links],
            OFFICIAL: [*official, *files, "--output_file", folder / "scores.json"],
        }
        tables = {"processes": (OFFICIAL, measure_commands(commands))}
        predictions = [json.loads(line) for line in arrays.read_text("utf-8").splitlines()]
    evaluate = modules["evaluate"].evaluate_documents
    functions = {
        OFFICIAL: lambda: evaluate(answers, predictions),
        "closeread.count": lambda: closeread.count("tne", rows, gold=documents),
    }
    tables["scoring"] = (OFFICIAL, measure_calls(functions))
    keep("tne", tables)


if __name__ == "__main__":
    main(sys.argv[1])
