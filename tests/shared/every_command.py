"""A line for every command, with small inputs in a folder `in`; what it writes is below `out`.

A new command needs a line here, and its files in `write_inputs`; `REASONS` has those that can't have one.
"""

import shutil
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from unittest import mock

import click
from click.testing import CliRunner
from shared import json_lines
from shared.annotated_cat import write_voyage
from shared.boards import judge_here, make_store, sample_board, score_here, send_answers
from shared.commands import list_commands
from shared.entry_points import CORPORA, TIMEML_FILES, sample_gold, system_rows, write_key
from shared.file_faults import drop_hidden, file_faults, read_tree
from shared.marmara_sample import SAMPLE as MARMARA
from shared.marmara_xml import SENTENCES, write_fragment
from shared.tne_annotated import ANNA, BEN

from closeread.cli import main
from closeread.leaderboard import store
from closeread.leaderboard.names import read_now
from closeread.leaderboard.store import FolderStore
from closeread.tasks.wikipossessions.articles import WikiPage

CONFIG = ("--config", "sample")
FEW = ("--resamples", "2")
PAIRS = {"coref": ("in/key.conll", "in/response.conll"), "tlinks": ("in/key", "in/response")}
TREEBANK = ("--treebank", "in/marmara/treebank")
COREFERENCE = "in/marmara/coreference/77000112.xml"
NAMES = {"ARTICLE": "The Blue Kettle (painting)", "ENTITY": "Mara Lindqvist"}
"""Words of lines that stand for names with spaces."""

HUB = "writes to the Hub, and to a temporary folder; tests/hub has its faults"
TORCH = "needs torch and a training run; tests/neural and tests/mctaco have its faults"
SPACY = "loads a model of spaCy; writes as `convert` does"
REASONS = {
    ("baseline", "wikipossessions"): SPACY,
    ("prepare", "tne", "documents"): SPACY,
    ("llm", "rows"): "needs inspect-ai; writes as `merge` does",
    ("publish", "dataset"): HUB,
    ("publish", "leaderboard"): HUB,
    ("publish", "model"): HUB,
    ("publish", "metric"): HUB,
    ("train",): TORCH,
    ("predict",): TORCH,
    ("plot", "training"): TORCH,
    ("plot", "learning-curve"): TORCH,
}
"""Why commands have no line."""

LINES = {
    "adjudicate coref": "in/anna.conll in/ben.conll -o out/a.conll --report out/r.json --worksheet out/w.conll",
    "adjudicate mctaco": "in/likely.jsonl in/unlikely.jsonl -o out/a.jsonl --dropped out/d.jsonl",
    "adjudicate mctaco-questions": "in/accepted.jsonl in/accepted2.jsonl --config sample -o out/a.tsv "
    "--dropped out/d.jsonl",
    "adjudicate tne": "in/tne-anna.jsonl in/tne-ben.jsonl -o out/a.jsonl --conflicts out/c.jsonl",
    "agreement coref": "in/anna.conll in/ben.conll",
    "agreement timeline": "in/voyage in/voyage2",
    "agreement tlinks": "in/key in/response",
    "agreement tne": "in/tne-anna.jsonl in/tne-ben.jsonl",
    "agreement wikipossessions": "in/possessions.jsonl in/possessions2.jsonl",
    "prepare wikipossessions articles": "out/texts --config sample --as-of 2017-06-12 --delay 0",
    "prepare semeval2015_timeline gold": "in/events.jsonl -o out/a",
    "convert coref": "in/key.conll -o out/a.conllu",
    "prepare marmara_coref mentions": f"{COREFERENCE} --treebank in/marmara/treebank -o out/a.conll",
    "convert marmara_coref": f"{COREFERENCE} --treebank in/marmara/treebank -o out/a.jsonl",
    "convert timeline": "in/timeline.jsonl -o out/a.jsonl",
    "convert tne": "in/tne.jsonl --config sample --to arrays -o out/a.jsonl",
    "errors chains": "in/key.conll in/response.conll",
    "errors coref": "in/key.conll in/response.conll",
    "errors mctaco": "in/mctaco.jsonl --config sample --no-ci",
    "errors tne": "in/tne.jsonl --config sample --no-ci",
    "export": "mctaco out/new/a --config sample",
    "prepare marmara_coref treebank": "in/fragments -o out/a",
    "info": "mctaco",
    "install-modules": "",
    "leaderboard build": "in/judged -o out/a.html",
    "leaderboard download": "in/judged SUBMISSION -o out/a.jsonl",
    "leaderboard init": "out/init --corpus mctaco --config sample",
    "leaderboard judge": "out/store --cache out/cache --workers 1",
    "leaderboard show": "in/judged",
    "leaderboard status": "in/judged",
    "leaderboard choose": "out/store SUBMISSION --author ann",
    "leaderboard disqualify": "out/store ann --reason unfair",
    "leaderboard extend": "out/store ann --until 2100-01-02",
    "leaderboard withdraw": "out/store SUBMISSION --author ann",
    "list": "",
    "llm lm-eval-tasks": "",
    "merge": "in/counts.parquet -o out/a.parquet",
    "prepare mctaco candidates": "--gold in/questions.jsonl --phrases in/phrases.txt -o out/a.jsonl",
    "prepare mctaco units": "--gold in/questions.jsonl -o out/a.tsv",
    "plot scores": "mctaco in/mctaco.jsonl --config sample -o out/a.svg",
    "plot confusion": "in/tne.jsonl --config sample -o out/a.pdf",
    "plot agreement": "in/key.conll in/anna2.conll -o out/a.svg",
    "plot link-support": "in/key.conll in/anna2.conll in/response.conll -o out/a.svg",
    "plot mistakes": "in/key.conll in/response.conll -o out/a.svg",
    "plot possession": "ARTICLE --config sample -o out/a.svg",
    "plot stats": "tne --config sample -o out/a.svg",
    "plot timeline": "ENTITY --config sample -o out/a.svg",
    "publish codabench": "mctaco out/new/a --config sample --zip",
    "show": "mctaco --config sample",
    "submit": "mctaco in/mctaco.jsonl --to out/store --system Ours --config sample",
    "leaderboard submit": "mctaco in/mctaco.jsonl --to out/store --system Ours --config sample",
}
MORE = {
    "info of what to cite": "info mctaco --cite",
    "info of a schema": "info mctaco --schema",
    "info with figures": "info mctaco --stats --config sample",
    "convert coref to JSON Lines": "convert coref in/key.conll -o out/a.jsonl",
    "convert marmara_coref to XML": f"convert marmara_coref {COREFERENCE} --treebank in/marmara/treebank -o out/a",
    "export as CSV": "export mctaco out/a --config sample_flat --format csv",
    "export as JSON Lines": "export mctaco out/a --config sample --format jsonl",
    "prepare to JSON Lines": "prepare mctaco units --config sample -o out/a.jsonl",
    "table as HTML": "table mctaco in/mctaco.jsonl --config sample --resamples 2 --format html -o out/a.html",
    "baseline of timelines in a folder": "baseline timeline text-order --config sample -o out/new/a",
}
"""Other lines of commands that write in several ways."""

STORES = {
    "leaderboard judge": "in/store",
    "leaderboard choose": "in/judged",
    "leaderboard disqualify": "in/judged",
    "leaderboard extend": "in/judged",
    "leaderboard withdraw": "in/judged",
    "submit": "in/store",
    "leaderboard submit": "in/store",
}
"""What `out/store` is a copy of before commands that change it."""

LOCKS = {"store/.judge.lock"}
"""Hidden files that stay."""

FAMILIES = ("baseline", "score", "compare", "table", "plot", "convert", "export", "prepare")
"""Groups of commands that write alike."""

SLOW = (
    "plot",
    "publish",
    "leaderboard build",
    "baseline marmara_coref svc",
    "baseline marmara_coref svr",
)
"""Beginnings of lines that take long, and write as others do."""


def find_name(path):
    """The name of a command, as a key of `LINES`."""
    return " ".join(path)


@cache
def list_lines():
    """The arguments of every command that has a line, by a name that begins with that of the command."""
    found = {}
    for path, command in list_commands():
        if isinstance(command, click.Group) or has_reason(path):
            continue
        name = find_name(path)
        found[name] = (*path, *(_make_line(path) if name not in LINES else _split(LINES[name])))
    return {**found, **{name: _split(line) for name, line in MORE.items()}}


def has_reason(path):
    """Tell whether a command, or its group, is in `REASONS`."""
    return any(path[: len(one)] == one for one in REASONS)


def _split(line):
    return tuple(NAMES.get(word, word) for word in line.split())


def _make_line(path):
    """The arguments of a command that every procedure, corpus or baseline has."""
    kind, name = path[0], path[1]
    if kind == "baseline":
        return (
            *CONFIG,
            "-o",
            "out/a.jsonl",
            *(("--links", "out/l.jsonl") if path[2] in ("svc", "svr") else ()),
        )
    sides = PAIRS.get(name) or (f"in/{name}.jsonl", *CONFIG)
    if kind == "validate":
        return sides
    sides = (*sides, sides[1] if name in PAIRS else sides[0]) if kind == "compare" else sides
    more = {
        "score": ("--json", "-o", "out/a.json", "--counts", "out/c.parquet"),
        "compare": ("-o", "out/a.txt"),
        "table": ("--format", "csv", "-o", "out/a.csv"),
        "view": ("-o", "out/a.html"),
    }
    return (*sides, *FEW, *more[kind])


@cache
def list_writing():
    """The lines of commands that write files."""
    lines = list_lines()
    return {
        name: line for name, line in lines.items() if any(word.startswith("out/") for word in line)
    } | {"install-modules": lines["install-modules"]}


def fill_in(line, submission):
    """A line with the id of the submission that `write_inputs` returned."""
    return tuple(submission if word == "SUBMISSION" else word for word in line)


def write_inputs():
    """Write all inputs into `in`, in the working folder; return the id of the submission in its stores."""
    folder = Path("in")
    folder.mkdir()
    short = {"semeval2015_timeline": "timeline"}
    for corpus in CORPORA:
        json_lines.write(folder / f"{short.get(corpus, corpus)}.jsonl", system_rows(corpus))
    _write_annotators(folder)
    _write_coreference(folder)
    for side, files in TIMEML_FILES.items():
        (folder / side).mkdir()
        for name, text in files.items():
            (folder / side / f"{name}.tml").write_text(text, "utf-8")
    for name in ("voyage", "voyage2"):
        (folder / name).mkdir()
        write_voyage(folder / name)
    event = {"entity": "bo", "mention": "7-1-sailed", "anchor": "2010-05-03", "coreference": None}
    json_lines.write(
        folder / "events.jsonl", [event, {**event, "mention": "7-2-met", "anchor": "2010-05-XX"}]
    )
    json_lines.write(folder / "questions.jsonl", sample_gold("mctaco")[:6])
    (folder / "phrases.txt").write_text("she sold the boat\nhe left for 30 months\n", "utf-8")
    return _write_results(folder)


BEGIN = read_now()
"""The time at which the tests began."""


@contextmanager
def standing_in():
    """Have no command start processes, ask the web, or write below the home folder, in the block."""
    import evaluate.loading  # takes half a second

    pages = "closeread.tasks.wikipossessions.articles.fetch_page"
    with ExitStack() as stack:
        for target, new in (
            ("closeread.leaderboard.judge.score_all", score_here),
            (
                pages,
                lambda wiki, title, day: WikiPage(title, 2, "2017-01-01T00:00:00Z", "A text.\n"),
            ),
        ):
            stack.enter_context(mock.patch(target, new))
        stack.enter_context(
            mock.patch.object(evaluate.loading, "init_dynamic_modules", return_value="out/modules")
        )
        # A line that is run twice sends the same, even if a second ends between the runs.
        stack.enter_context(mock.patch.object(store, "read_now", return_value=BEGIN))
        yield


def prepare(name, old=()):
    """Have nothing in `out` but old versions of files, or the store that a command changes; return the tree."""
    shutil.rmtree("out", ignore_errors=True)
    Path("out").mkdir()
    if name in STORES:
        shutil.copytree(STORES[name], "out/store")
    for path in old:
        Path("out", path).write_bytes(b"old")
    return read_tree("out")


def watch(call, name):
    """Call a line that succeeds; return the old versions of its files, and its events with all trees on the way."""
    prepare(name)
    assert call(name).exit_code == 0
    complete = read_tree("out")
    old = [] if None in complete.values() else list(complete)
    prepare(name, old)
    with file_faults("out", is_watched=True) as faults:
        assert call(name).exit_code == 0
    assert not find_leftovers()
    assert drop_hidden(read_tree("out")) == drop_hidden(complete)
    return old, faults.events, [*faults.trees, drop_hidden(complete)]


def find_leftovers():
    tree = read_tree("out")
    return tree.keys() - drop_hidden(tree).keys() - LOCKS


def find_files(tree):
    return {name: data for name, data in tree.items() if data is not None}


def _write_annotators(folder):
    gold = sample_gold("mctaco")[:8]
    for name, other in (("likely", "likely"), ("unlikely", "unlikely")):
        rows = [
            {"id": row["id"], "label": "likely" if i % 3 else other} for i, row in enumerate(gold)
        ]
        json_lines.write(folder / f"{name}.jsonl", rows)
    questions = {row["question_id"]: row["category"] for row in sample_gold("mctaco")}
    for name in ("accepted", "accepted2"):
        rows = [
            {"question_id": question, "category": category, "from_sentence": "no", "correct": "yes"}
            for question, category in questions.items()
        ]
        json_lines.write(folder / f"{name}.jsonl", [*rows[:-1], {**rows[-1], "correct": "no"}])
    json_lines.write(folder / "tne-anna.jsonl", ANNA)
    json_lines.write(folder / "tne-ben.jsonl", BEN)
    for name in ("possessions", "possessions2"):
        json_lines.write(folder / f"{name}.jsonl", sample_gold("wikipossessions"))


def _write_coreference(folder):
    for side in ("key", "response"):
        shutil.copy(write_key(side, "conll"), folder / f"{side}.conll")
    shutil.copy(folder / "key.conll", folder / "anna2.conll")
    text = "#begin document (d); part 000\nd\t0\t0\ta\t(0)\nd\t0\t1\tb\t(0)\n\n#end document\n"
    (folder / "anna.conll").write_text(text, "utf-8")
    (folder / "ben.conll").write_text(text.replace("b\t(0)", "b\t(1)"), "utf-8")
    shutil.copytree(MARMARA, folder / "marmara")
    (folder / "fragments").mkdir()
    (folder / "fragments" / "770001121.xml").write_text(
        write_fragment([SENTENCES[min(SENTENCES)]]), "utf-8"
    )


def _write_results(folder):
    """Stored counts, a store with a submission, and one that was judged; return the id of the submission."""
    line = (
        "score",
        "mctaco",
        "in/mctaco.jsonl",
        *CONFIG,
        "--no-ci",
        "--counts",
        "in/counts.parquet",
    )
    assert CliRunner().invoke(main, line).exit_code == 0
    store = make_store(folder / "store", sample_board(counting="chosen", closes="2099-12-31"))
    submission = send_answers(store, folder, "First", right=30, author="ann")
    shutil.copytree(folder / "store", folder / "judged")
    judge_here(FolderStore(folder / "judged"), folder / "cache")
    return submission
