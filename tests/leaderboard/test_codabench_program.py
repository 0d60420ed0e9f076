"""The scoring program of a bundle, run as Codabench's worker runs it.

The environment has the libraries that scoring needs, and no closeread: it comes from the bundle.
"""

import gzip
import html
import json
import os
import re
import shutil
import zipfile
from functools import partial
from pathlib import Path

import pytest
from shared.balanced_html import Page
from shared.boards import make_store, run_judge, send
from shared.codabench import add_submission, lay_out, make_environment, run, run_here, zip_files
from shared.entry_points import CORPORA, TIMEML_FILES, system_rows, write_key

from closeread.corpus.names import load_corpus
from closeread.corpus.submissions import write_submission
from closeread.exceptions import SubmissionError
from closeread.formats.json_lines import dump_json_lines
from closeread.leaderboard.codabench.bundle import LIBRARIES, PACKAGE, BundleSettings, make_bundle
from closeread.leaderboard.codabench.program import SOURCE
from closeread.leaderboard.declaration import make_board
from closeread.leaderboard.scoring import UNFIT
from closeread.tasks import load_procedure

pytestmark = pytest.mark.gate

CANARY = "CANARY-7f3a"


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """A Python with what the package requires."""
    return make_environment(tmp_path_factory.mktemp("environment") / "venv", LIBRARIES)


@pytest.fixture
def score(here, python):
    """Scores the files of a submission, or an archive of them, by a bundle, in a process as Codabench does."""

    def call(bundle, files, change=lambda app: None, run=lambda app: run(app, python)):
        app = here / f"app{len(list(here.glob('app*')))}"
        lay_out(bundle, app)
        add_submission(
            app, zip_files(here / "submission.zip", files) if isinstance(files, dict) else files
        )
        change(app)
        return run(app)

    return call


@pytest.fixture
def score_here(score):
    """Scores as `score` does, in this process, which is much faster."""
    return partial(score, run=run_here)


@pytest.fixture
def submit(here, ran, score):
    """Publishes a bundle, and returns a function that scores the files of a submission."""

    def publish(scored, *arguments):
        ran("publish", "codabench", scored, "task", "--zip", *arguments)
        return partial(score, here / "task.zip")

    return publish


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A bundle of two questions with two answers each: the first one yes and no, the second one yes twice."""
    folder = tmp_path_factory.mktemp("small")
    gold = folder / "gold.jsonl"
    gold.write_text(
        dump_json_lines([*question(0, ("yes", "no")), *question(1, ("yes", "yes"))]), "utf-8"
    )
    make_bundle("mctaco", folder / "task", BundleSettings(), gold=gold, archive=True)
    return folder / "task.zip"


def question(number, answers, category="Frequency", **texts):
    """The gold rows of a question: answers by label."""
    fields = {
        "sentence": f"Ana ran {number} times.",
        "question": "How often?",
        "category": category,
        **texts,
    }
    return [
        {
            "id": f"own-{number:03}{place:02}",
            "question_id": f"own-q{number:04}",
            "sentence_id": f"own-s{number:04}",
            **fields,
            "answer": f"{fields.get('answer', '')} {place} times",
            "label": label,
        }
        for place, label in enumerate(answers)
    ]


def write_gold(*questions):
    """Write own gold for McTaco."""
    rows = [row for rows in questions for row in rows]
    Path("gold.jsonl").write_text(dump_json_lines(rows), "utf-8")
    return ["--gold", "gold.jsonl"]


def labels(ids, *values):
    return dump_json_lines(
        {"id": name, "label": label} for name, label in zip(ids, values, strict=True)
    )


IDS = ("own-00000", "own-00001", "own-00100", "own-00101")


def read_scores(done):
    assert done.code == 0, done.said
    return json.loads((done.output / "scores.json").read_text("utf-8"))


def read_details(done):
    return (done.output / "detailed_results.html").read_text("utf-8")


def expect_failure(done, *expected):
    """A submission is refused: with all reasons where participants look, and without scores."""
    assert done.code == 1
    assert [path.name for path in done.output.iterdir()] == ["detailed_results.html"]
    for what in expected:
        assert what in done.said
        assert html.escape(what) in read_details(done)


def test_scores_are_those_worked_out_by_hand(score, small):
    # The first question is right: F1 of its "yes" is 1.  Of the second, one of two "yes" is found: P 1, R 1/2, F1 2/3.
    # Exact match: 1 of 2 questions.  F1: (1 + 2/3) / 2 = 5/6.
    done = score(small, {"p.jsonl": labels(IDS, "yes", "no", "yes", "no")})
    assert read_scores(done) == {"exact_match": 50.0, "f1": 83.33}
    rows = [row[1:] for row in Page(read_details(done)).rows]
    assert ["Exact match", "50.00"] in [row[:2] for row in rows]
    assert ["F1", "83.33"] in [row[:2] for row in rows]


@pytest.mark.parametrize("corpus", CORPORA)
@pytest.mark.extended
def test_scores_are_those_of_the_command(submit, ran, corpus):
    write_submission(Path("predictions.jsonl"), system_rows(corpus), load_corpus(corpus))
    expected = json.loads(ran("score", corpus, "predictions.jsonl", "--config", "sample", "--json"))
    done = submit(corpus, "--config", "sample")(
        {"predictions.jsonl": Path("predictions.jsonl").read_bytes()}
    )
    values = {name: score["value"] for name, score in expected["scores"].items()}
    rounded = {
        name.replace("/", "_"): round(100 * (value or 0), 2) for name, value in values.items()
    }
    assert read_scores(done) == rounded
    details = read_details(done)
    assert expected["signature"] in details
    headline = expected["scores"][load_headline(corpus)]
    if load_corpus(corpus).procedure == "coref":
        shown = json.loads(re.search(r'id="data">(.*?)</script>', details)[1])["systems"][0]
        score = shown["scores"][0]
        assert [score["low"], score["high"]] == [
            pytest.approx(headline[end], abs=5e-5) for end in ("low", "high")
        ]
    else:
        low, high = (100 * headline[end] for end in ("low", "high"))
        assert f"{low:.2f} to {high:.2f}" in details


def load_headline(corpus):
    return load_procedure(load_corpus(corpus).procedure).headline


@pytest.mark.parametrize("form", ["conll", "ontonotes", "conllu", "coref_json"])
@pytest.mark.extended
def test_coreference_is_scored_against_a_key(submit, ran, form):
    key, response = write_key("key", form), write_key("response", form)
    expected = json.loads(ran("score", "coref", key, response, "--json"))["scores"]
    found = read_scores(
        submit("coref", "--gold", key)({f"inside/{response.name}": response.read_bytes()})
    )
    assert found == {
        name.replace("/", "_"): round(100 * score["value"], 2) for name, score in expected.items()
    }


@pytest.mark.extended
def test_folders_are_scored_where_the_procedure_takes_them(submit, ran):
    for side, files in TIMEML_FILES.items():
        Path(side).mkdir()
        for name, text in files.items():
            Path(side, f"{name}.tml").write_text(text)
    expected = json.loads(ran("score", "tlinks", "key", "response", "--json"))["scores"]
    score = submit("tlinks", "--gold", "key")
    files = {f"{name}.tml": text for name, text in TIMEML_FILES["response"].items()}
    for prefix in ("", "my system/output/"):
        found = read_scores(score({prefix + name: text for name, text in files.items()}))
        assert found == {
            name.replace("/", "_"): round(100 * one["value"], 2) for name, one in expected.items()
        }


RIGHT = ("yes", "no", "yes", "yes")


@pytest.mark.parametrize(
    "files",
    [
        {"p.jsonl": labels(IDS, *RIGHT)},
        {"deep/er/p.jsonl": labels(IDS, *RIGHT)},
        {
            "p.jsonl": labels(IDS, *RIGHT),
            "__MACOSX/._p.jsonl": "x",
            ".DS_Store": "x",
            "a/.hidden/b": "x",
        },
        {"labels.txt": "yes\nno\nyes\nyes\n"},
        {"metadata": "x", "p": labels(IDS, *RIGHT)},
    ],
)
def test_predictions_are_found(score_here, small, files):
    assert read_scores(score_here(small, files)) == {"exact_match": 100.0, "f1": 100.0}


def test_all_problems_are_told_at_once(score, small):
    files = {"p.jsonl": labels((*IDS[:2], "x"), "yes", "maybe", "no") + "{\n"}
    done = score(small, files)
    expect_failure(
        done,
        "submission/p.jsonl: 4 problems:",
        "submission/p.jsonl: 2 of 4 ids have no prediction: 'own-00100', 'own-00101'",
        "submission/p.jsonl:2: id 'own-00001': label: 'maybe' is not one of 'no', 'yes'",
        "submission/p.jsonl:3: id 'x' is not in the gold",
        "submission/p.jsonl:4: is not valid JSON",
    )
    assert "/app" not in done.shown
    assert "/tmp" not in done.shown  # noqa: S108


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, "submission: contains no files (expected a zip file with the predictions)"),
        (
            {".DS_Store": "x"},
            "submission: contains no files (expected a zip file with the predictions)",
        ),
        ({"p.jsonl": ""}, "submission/p.jsonl: is empty"),
        (
            {"b.jsonl": "{}", "a/c": "{}"},
            "has 2 files (expected one file of predictions): 'a/c', 'b.jsonl'",
        ),
        ({"p.jsonl": "[" * 100_000}, "submission/p.jsonl:1: "),
        ({"p.jsonl": "\0"}, "submission/p.jsonl: is a binary file"),
        (
            {"<script>alert(1)</script>": "{}"},
            "submission/<script>alert(1)</script>:1: field 'id' is missing",
        ),
        (
            {"a\x1b[31m.jsonl": "{}"},
            r"submission/a\x1b[31m.jsonl: has control characters or invalid bytes in its name",
        ),
        (
            {"p.jsonl": '{"id": "<img src=x onerror=alert(1)>", "label": "yes"}\n'},
            "'<img src=x onerror=alert(1)>'",
        ),
        ({"../../../p.jsonl": "{}\n", "a/../b.jsonl": "{}\n"}, "has 2 files"),
    ],
)
def test_hostile_submissions_are_refused(score_here, small, files, expected):
    done = score_here(small, files)
    expect_failure(done, expected)
    assert "\x1b" not in done.shown
    assert {tag for tag, _ in Page(read_details(done)).elements}.isdisjoint(
        {"script", "img", "a", "link", "iframe"}
    )


@pytest.mark.parametrize("target", ["../ref/gold.jsonl", "/etc/passwd", "../ref"])
def test_links_are_refused(score_here, small, target):
    # Unpacking makes no links, but nothing should depend on it.
    def link(app):
        (app / "input" / "res" / "p.jsonl").symlink_to(target)

    done = score_here(small, {}, link)
    expect_failure(done, "submission/p.jsonl: is a symbolic link (expected a file)")


def test_pipes_are_refused(score_here, small):
    done = score_here(small, {}, lambda app: os.mkfifo(app / "input" / "res" / "p.jsonl"))
    expect_failure(done, "submission/p.jsonl: is not a regular file")


@pytest.mark.extended
def test_large_submissions_are_refused_before_they_are_read(score_here, small):
    def grow(app):
        with (app / "input" / "res" / "p.jsonl").open("wb") as file:
            file.truncate(2**40)

    limit = "submission/p.jsonl: is larger than 50,000,000 bytes, the limit of this board"
    expect_failure(score_here(small, {}, grow), limit)

    def exceed(app):
        with (app / "input" / "res" / "p.jsonl").open("wb") as file:
            file.truncate(50_000_001)

    expect_failure(
        score_here(small, {}, exceed), "p.jsonl: is larger than 50,000,000 bytes, the limit"
    )
    with zipfile.ZipFile("many.zip", "w") as archive:
        for number in range(10_001):
            archive.writestr(f"{number}", "")
    expect_failure(
        score_here(small, Path("many.zip")), "submission: contains more than 10,000 files"
    )


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    """Keys whose words are canaries: of coreference in a file, of temporal links in a folder with one document."""
    folder = tmp_path_factory.mktemp("keys")
    (folder / "coref.conll").write_text(CONLL.format(f"{CANARY}-word"))
    (folder / "tlinks").mkdir()
    (folder / "tlinks" / "a.tml").write_text(
        TIMEML_FILES["key"]["a"].replace(">ran<", f">{CANARY}<", 1)
    )
    return {"coref": folder / "coref.conll", "tlinks": folder / "tlinks"}


CONLL = "#begin document (d); part 000\nd 0 0 {} (1)\nd 0 1 b (2)\nd 0 2 c (1)\n\n#end document\n"
LONG = gzip.compress(b"\n" * 1_000_001)


@pytest.mark.usefixtures("workers")
@pytest.mark.parametrize(
    ("scored", "files", "expected"),
    [
        ("coref", {"r.conll": CONLL.format("x")}, UNFIT),
        (
            "coref",
            {"r.conll": CONLL.format("a").replace("(d)", "(e)")},
            "'e; part 000' is not in the key",
        ),
        ("coref", {"r.conll": CONLL.format("a").replace("(2)", "(2")}, ":3: "),
        ("coref", {"r.conll.gz": LONG}, "has 1,000,001 lines (limit: 1,000,000)"),
        ("tlinks", {"a.tml": TIMEML_FILES["response"]["a"]}, UNFIT),
        (
            "tlinks",
            {"a.tml": TIMEML_FILES["response"]["a"].replace("<TLINK", "<TLINK x", 1)},
            "a.tml",
        ),
        ("tlinks", {"a.tml": "\n" * 1_000_001}, "has 1,000,001 lines (limit: 1,000,000)"),
        ("tlinks", {"a b.tml": "x", "a.tml": "x\0"}, "a.tml: is a binary file"),
    ],
)
@pytest.mark.extended
def test_both_judges_say_the_same(here, score_here, keys, scored, files, expected):
    make_bundle(scored, here / "task", BundleSettings(), gold=keys[scored], archive=True)
    done = score_here(here / "task.zip", files)
    source = SOURCE if scored == "tlinks" else f"{SOURCE}/{next(iter(files))}"
    lines = [line for line in done.said.splitlines() if not line.endswith(" problems:")]
    assert expected in done.said
    assert CANARY not in done.shown
    sent = here / "sent"
    sent.mkdir()
    for name, content in files.items():
        (sent / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    board = make_board(scored, gold=keys[scored])
    try:
        store = make_store(here / "board", board)
        submission = send(store, sent if scored == "tlinks" else sent / name, "Bad")
        run_judge(store, here, {board.name: keys[scored]})
        told = store.read_results(store.read_leaderboard()).entries[submission].problems
    except SubmissionError as error:  # refused before it was sent
        told = [problem.at("predictions") for problem in error.problems]
    assert sorted(told) == sorted(line.replace(source, "predictions", 1) for line in lines)


def test_a_file_is_a_folder_of_one_where_the_key_is_a_folder(here, ran, score_here, keys):
    make_bundle("tlinks", here / "task", BundleSettings(), gold=keys["tlinks"], archive=True)
    text = (keys["tlinks"] / "a.tml").read_text()
    (here / "sent").mkdir()
    (here / "sent" / "a.tml").write_text(text.replace("BEFORE", "AFTER", 1))
    expected = json.loads(ran("score", "tlinks", keys["tlinks"], here / "sent", "--json"))["scores"]
    for name in ("a.tml", "output/a.tml"):
        found = read_scores(
            score_here(here / "task.zip", {name: (here / "sent" / "a.tml").read_bytes()})
        )
        assert found == {
            name.replace("/", "_"): round(100 * one["value"], 2) for name, one in expected.items()
        }


def canaries():
    """Gold in which every free text is a canary."""
    texts = {name: f"{CANARY} {name}" for name in ("sentence", "question", "answer")}
    return [question(number, ("yes", "no", "yes"), **texts) for number in range(12)]


@pytest.mark.extended
def test_nothing_of_the_gold_is_shown(submit):
    gold = canaries()
    score = submit("mctaco", *write_gold(*gold))
    ids = [row["id"] for rows in gold for row in rows]
    assert CANARY in Path("task/reference_data/gold.jsonl").read_text("utf-8")
    right = {"p.jsonl": labels(ids, *("yes", "no", "yes") * 12)}
    runs = [
        score(right),
        score({"p.jsonl": labels(ids[:-1], *["yes"] * 35)}, run=run_here),
        score({"p.jsonl": labels(ids, *["maybe"] * 36) + "{\n"}, run=run_here),
        score({}, run=run_here),
        score(right, break_gold),
        score(right, copy_gold, run=run_here),
        score(right, break_code),
    ]
    assert [done.code for done in runs] == [0, 1, 1, 1, 1, 1, 1]
    for done in runs:
        assert CANARY not in done.shown
    for done in runs[-3:]:
        expect_failure(done, "The submission is not at fault; please tell the organisers.")
    assert "The gold can't be read (FormatError, " in runs[-3].said
    assert "Scoring failed (ValueError, counting.py:" in runs[-1].said


def copy_gold(app):
    """Put a second file beside the gold."""
    shutil.copy(app / "input/ref/gold.jsonl", app / "input/ref/second.jsonl")


def break_gold(app):
    """Make the gold invalid in a way that its reader quotes."""
    path = app / "input" / "ref" / "gold.jsonl"
    path.write_text(
        path.read_text("utf-8").replace('"label": "yes"', f'"label": "{CANARY}"'), "utf-8"
    )


def break_code(app):
    """Replace a module in the package by one whose error quotes the gold."""
    package = app / "program" / PACKAGE
    with zipfile.ZipFile(package) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    name = "closeread/tasks/mctaco/procedure.py"
    files["closeread/tasks/mctaco/counting.py"] = (
        b"def count(gold, **rest):\n    raise ValueError(str(list(gold)))\n"
    )
    files[name] = files[name].replace(
        b"count=", b"count=__import__('closeread.tasks.mctaco.counting', fromlist=['x']).count, #"
    )
    with zipfile.ZipFile(package, "w") as archive:
        for path, data in files.items():
            archive.writestr(path, data)


def test_an_undefined_score_is_zero_and_told(submit):
    # Without links, no preposition is chosen for a linked pair: IPrep is 0/0.
    rows = [{"id": row["id"], "relations": []} for row in system_rows("tne")]
    done = submit("tne", "--config", "sample")({"p.jsonl": dump_json_lines(rows)}, run=run_here)
    assert read_scores(done)["iprep"] == 0
    assert (
        "Undefined (0/0), and 0 on the leaderboard: IPrep accuracy, UPrep accuracy."
        in read_details(done)
    )


def test_the_details_ask_nobody_for_anything(score_here, small):
    done = score_here(small, {"labels.txt": "yes\nno\nyes\nyes\n"})
    page = Page(read_details(done))
    assert not any(
        name in ("src", "href") for _, attributes in page.elements for name in attributes
    )
    assert ("meta", {"name": "color-scheme", "content": "light dark"}) in page.elements
    assert "script" not in {tag for tag, _ in page.elements}
