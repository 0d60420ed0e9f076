"""The recipes of CONTRIBUTING.md, followed in a copy of the repository: a corpus of a known task, and a new task.

What they add is below `shared/recipe/`, laid out as in the repository.  No file that was there before is changed.
"""

import json
import shutil
from pathlib import Path

import pages
import pytest
from shared.package_copy import MAPPED, copy_package, run_with

pytestmark = pytest.mark.gate

ROOT = Path(__file__).parent.parent
RECIPE = Path(__file__).parent / "shared" / "recipe"
PLACEHOLDERS = {
    "harbour": "<corpus>",
    "shipwords": "<corpus>",
    "spelling_accuracy": "<metric>",
    "spelling": "<task>",
    "edits": "<kernel>",
    "words_txt": "<format>",
}
"""The names of what is added, and what CONTRIBUTING.md writes for them."""

COPIED = ("tests", "tools")
SELECTED = "harbour or shipwords or spelling or metric_cards or examples_run or help_teaches"
"""The tests of what is added, as pytest selects tests by name, and those that a new corpus may break for others."""

COMMANDS = """
import json, shlex, sys
from click.testing import CliRunner
from closeread.cli import main
results = {}
for command in sys.argv[1:]:
    result = CliRunner().invoke(main, shlex.split(command), catch_exceptions=False)
    results[command] = {"exit_code": result.exit_code, "stdout": result.stdout, "stderr": result.stderr}
print(json.dumps(results))
"""
LOAD_AND_EVALUATE = """
import json, sys, closeread, datasets, evaluate
datasets.disable_progress_bars()
results = {}
for corpus, (metric, predictions, options) in json.loads(sys.argv[1]).items():
    references, bare = (load(corpus, split="test") for load in (closeread.load_dataset, datasets.load_dataset))
    assert references.to_list() == bare.to_list()
    module = evaluate.load(metric)
    scores = module.compute(predictions=predictions, references=references, **options)
    report = module.report(predictions=predictions, references=references, **options)
    report = {"scores": scores, "signature": report.provenance.signature}
    results[corpus] = {"records": references.to_list(), "report": report}
print(json.dumps(results))
"""
LINT = "from importlinter.cli import lint_imports_command; lint_imports_command()"


GOLD = [
    {"id": "test-0", "page": "1", "written": "anckor", "word": "anchor"},
    {"id": "test-1", "page": "1", "written": "sale", "word": "sail"},
    {"id": "test-2", "page": "2", "written": "maast", "word": "mast"},
    {"id": "test-3", "page": "2", "written": "kompass", "word": "Compass"},
    {"id": "test-4", "page": "3", "written": "ropp", "word": "rope"},
]
PREDICTED = ["anchor", "sale", "mast", "compass", "rope"]


def add(folder, tree):
    """Add the files of a recipe to a copy of the package."""
    for part in (RECIPE / tree).iterdir():
        if part.name == "src":
            shutil.copytree(part, folder, dirs_exist_ok=True)
        else:
            place = f"closeread/{MAPPED[part.name]}" if part.name in MAPPED else part.name
            shutil.copytree(part, folder / place, dirs_exist_ok=True)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A copy of the repository and of the package, with a corpus and a task more."""
    folder = copy_package(tmp_path_factory.mktemp("checkout"))
    for entry in ROOT.iterdir():
        if entry.name in COPIED:
            shutil.copytree(entry, folder / entry.name)
        elif entry.name not in ("src", ".git"):
            inside = folder / "closeread" / MAPPED.get(entry.name, "")
            (folder / entry.name).symlink_to(inside if entry.name in MAPPED else entry)
    add(folder, "corpus")
    add(folder, "task")
    shutil.copy(pages.HIDDEN / "transformers.py", folder)
    return folder


def run_code(folder, code, *arguments):
    """Run Python code with a copy of the package; its JSON output."""
    offline = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "hf")}
    return json.loads(run_with(folder, "-c", code, *arguments, **offline))


def run_commands(folder, *commands):
    """Run `closeread` commands in one process; exit code and output of each, by command."""
    return run_code(folder, COMMANDS, *commands)


@pytest.fixture(scope="module")
def loaded(checkout):
    """The records of both corpora, and the report of an evaluate module on each."""
    asked = {
        "harbour": ("mctaco", ["yes"] * 8, {}),
        "shipwords": ("spelling_accuracy", PREDICTED, {"case": "fold"}),
    }
    return run_code(checkout, LOAD_AND_EVALUATE, json.dumps(asked))


def values(output):
    """The scores in a report in JSON."""
    return {name: score["value"] for name, score in json.loads(output)["scores"].items()}


def essence(output):
    """The scores and the signature of a report in JSON."""
    return {"scores": values(output), "signature": json.loads(output)["signature"]}


def list_files(tree):
    """The files of a recipe, as paths below the repository."""
    paths = [
        path.relative_to(RECIPE / tree)
        for path in (RECIPE / tree).rglob("*")
        if path.suffix != ".pyc"
    ]
    return sorted(path for path in paths if (RECIPE / tree / path).is_file())


@pytest.mark.parametrize("tree", ["corpus", "task"])
def test_nothing_is_overwritten(tree):
    assert len(list_files(tree)) > 5
    assert [path for path in list_files(tree) if (ROOT / path).exists()] == []


@pytest.mark.parametrize(
    "path", [path for tree in ("corpus", "task") for path in list_files(tree)], ids=str
)
def test_contributing_names_what_is_added(path):
    if path.stem == "sample":
        return
    name = path.as_posix()
    for own, placeholder in PLACEHOLDERS.items():
        name = name.replace(own, placeholder)
    parts = name.split("/")
    endings = ["/".join(parts[i:]) for i in range(len(parts))]
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    assert any(f"`{ending}`" in text for ending in endings)


@pytest.mark.timeout(1500)
def test_the_tests_that_walk_folders_accept_them(checkout):
    # Tests of one task walk no folders, and those of other tiers take long to collect.
    files = [
        path.relative_to(ROOT)
        for path in (ROOT / "tests").glob("test_*.py")
        if path != Path(__file__)
    ]
    options = (
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "-m",
        "not gate and not extended",
        "-k",
        SELECTED,
    )
    # Some look for the corpora only where there are any; the samples are always there.
    output = run_with(
        checkout,
        "-m",
        "pytest",
        *options,
        "tests/hf",
        *files,
        CLOSEREAD_DATA=str(checkout / "data"),
    )
    assert " skipped" not in output
    assert int(output.split(" passed")[0].split()[-1]) >= 80


def test_the_import_rules_hold(checkout):
    assert "0 broken" in run_with(checkout, "-c", LINT, "--config", ".importlinter", "--no-cache")


HARBOUR = {
    "list": ["harbour  ", "Harbour"],
    "info harbour": [
        "Invented questions about the time",
        "closeread score harbour",
        "sample.tsv",
        "always-positive",
    ],
    "info harbour --stats --json": ['"candidates": 8'],
    "info harbour --cite": ["@misc{harbour,"],
    "baseline harbour always-positive -o yes.jsonl": ["yes.jsonl: 8 rows"],
    "baseline harbour always-negative -o no.txt": ["no.txt: 8 rows"],
    "validate harbour no.txt": [
        "no.txt: valid; 8 of 8 gold records of harbour test (sample) have predictions"
    ],
    "score harbour yes.jsonl --no-ci --json": ['"corpus": "harbour"'],
    "score harbour no.txt --by category": ["Event Ordering"],
    "compare harbour yes.jsonl no.txt --resamples 10": ["yes", "no"],
    "export harbour exported": ["exported/sample/test-00000-of-00001.parquet"],
    "baseline mctaco always-positive --config sample -o mctaco.jsonl": ["mctaco.jsonl: 103 rows"],
    "score mctaco mctaco.jsonl --config sample --no-ci --json": ['"corpus": "mctaco"'],
}
"""Commands, and what each prints."""


@pytest.fixture(scope="module")
def harbour(checkout):
    return run_commands(checkout, *HARBOUR)


@pytest.mark.parametrize("command", HARBOUR)
def test_commands_find_a_new_corpus(harbour, command):
    result = harbour[command]
    assert result["exit_code"] == 0, result["stderr"]
    assert [words for words in HARBOUR[command] if words not in result["stdout"]] == []


def test_a_new_corpus_is_scored_by_its_task(harbour, loaded):
    output = harbour["score harbour yes.jsonl --no-ci --json"]["stdout"]
    # Three questions with one of two answers labelled yes (F1 2/3 each), one with both.
    assert values(output) == {"exact_match": 1 / 4, "f1": 3 / 4}
    assert loaded["harbour"]["report"] == essence(output)


def test_a_new_corpus_loads_by_its_bare_name(loaded):
    rows = loaded["harbour"]["records"]
    assert [row["question_id"] for row in rows] == [f"test-q000{i // 2}" for i in range(8)]
    assert [row["label"] for row in rows] == ["yes", "no", "yes", "no", "yes", "no", "yes", "yes"]


FOLD = "--case fold --no-ci --json"
SPELLING = {
    "list": ["shipwords  ", "closeread score spelling FILE"],
    "list --json": ['"spelling_accuracy"'],
    "info shipwords": ["closeread score shipwords", "spelling accuracy", "unchanged"],
    "info shipwords --stats --json": ['"characters": 25'],
    "info shipwords --cite": ["@misc{shipwords,", "@article{levenshtein-1966-binary,"],
    "baseline shipwords unchanged -o unchanged.txt": ["unchanged.txt: 5 rows"],
    "validate spelling words.txt": [
        "words.txt: valid; 5 of 5 gold records of shipwords test (sample)"
    ],
    "score spelling --help": ["--case", "Distinguish capital letters", "--explain"],
    "score spelling unchanged.txt --no-ci --json": ['"procedure": "spelling"'],
    "score shipwords words.txt --no-ci --json": ['"procedure": "spelling"'],
    f"score shipwords words.txt {FOLD} --counts all.parquet": ["case:fold"],
    f"score --from-counts all.parquet {FOLD.removeprefix('--case fold ')}": ["case:fold"],
    "score shipwords words.txt --by page --per-unit --no-ci --json": ['"slices"', '"units"'],
    "score shipwords words.txt --explain --no-ci": [
        "test-1: 2 edits",
        "An edit changes one character.",
    ],
    "compare spelling unchanged.txt words.txt --resamples 10": ["words", "Word accuracy"],
    f"score spelling 0.jsonl --gold gold-0.jsonl {FOLD} --counts 0.parquet": ["case:fold"],
    f"score spelling 1.jsonl --gold gold-1.jsonl {FOLD} --counts 1.parquet": ["case:fold"],
    "merge 1.parquet 0.parquet -o merged.parquet": ["merged.parquet"],
    "score --from-counts merged.parquet --no-ci --json": ["case:fold"],
    "convert spelling closeread/loaders/shipwords/sample.txt -o converted.jsonl": [
        "converted.jsonl: 5 words"
    ],
    "export shipwords exported-words": ["exported-words/sample/test-00000-of-00001.parquet"],
}
"""Commands, and what each prints."""


@pytest.fixture(scope="module")
def spelling(checkout):
    (checkout / "words.txt").write_text("".join(f"{word}\n" for word in PREDICTED), "utf-8")
    for number, rows in enumerate((slice(0, 2), slice(2, 5))):
        gold = GOLD[rows]
        system = [
            {"id": record["id"], "word": word}
            for record, word in zip(gold, PREDICTED[rows], strict=True)
        ]
        for name, records in ((f"gold-{number}.jsonl", gold), (f"{number}.jsonl", system)):
            (checkout / name).write_text(
                "".join(f"{json.dumps(record)}\n" for record in records), "utf-8"
            )
    return run_commands(checkout, *SPELLING)


@pytest.mark.parametrize("command", SPELLING)
def test_commands_find_a_new_task(spelling, command):
    result = spelling[command]
    assert result["exit_code"] == 0, result["stderr"]
    assert [words for words in SPELLING[command] if words not in result["stdout"]] == []


def test_a_new_task_scores_by_the_corpus_and_by_its_own_name(spelling):
    # Edits of the unchanged words: 1 of 6 characters, 2 of 4, 1 of 5, 1 of 7 and 1 of 4.
    unchanged = values(spelling["score spelling unchanged.txt --no-ci --json"]["stdout"])
    assert unchanged == {"word_accuracy": 0, "character_accuracy": 1 - 6 / 26}
    kept = values(spelling["score shipwords words.txt --no-ci --json"]["stdout"])
    assert kept == {"word_accuracy": 3 / 5, "character_accuracy": 1 - 3 / 25}
    folded = values(spelling[f"score shipwords words.txt {FOLD} --counts all.parquet"]["stdout"])
    assert folded == {"word_accuracy": 4 / 5, "character_accuracy": 1 - 2 / 25}


def test_slices_and_units_of_a_new_task(spelling):
    report = json.loads(
        spelling["score shipwords words.txt --by page --per-unit --no-ci --json"]["stdout"]
    )
    pages = {
        page: part["scores"]["word_accuracy"]["value"]
        for page, part in report["slices"]["page"].items()
    }
    assert pages == {"1": 1 / 2, "2": 1 / 2, "3": 1}
    assert [unit["character_accuracy"] for unit in report["units"]] == [
        1,
        1 - 2 / 4,
        1,
        1 - 1 / 7,
        1,
    ]


def test_counts_of_a_new_task_are_stored_and_merged(spelling):
    report = spelling[f"score shipwords words.txt {FOLD} --counts all.parquet"]["stdout"]
    assert spelling["score --from-counts all.parquet --no-ci --json"]["stdout"] == report
    assert essence(
        spelling["score --from-counts merged.parquet --no-ci --json"]["stdout"]
    ) == essence(report)


def test_evaluate_gives_the_same_scores_and_signature(spelling, loaded):
    report = spelling[f"score shipwords words.txt {FOLD} --counts all.parquet"]["stdout"]
    assert loaded["shipwords"]["report"] == essence(report)


def test_the_corpus_of_a_new_task_loads_and_converts(spelling, loaded, checkout):
    assert loaded["shipwords"]["records"] == GOLD
    converted = (checkout / "converted.jsonl").read_text("utf-8").splitlines()
    assert list(map(json.loads, converted)) == GOLD


def test_formats_and_rules_of_a_new_task_report_all_problems(checkout):
    (checkout / "ragged.txt").write_text("1\tanckor\tanchor\n1\tsale\n", "utf-8")
    (checkout / "right.txt").write_text("1\tanchor\tanchor\n1\tsail\tsail\n", "utf-8")
    (checkout / "short.txt").write_text("anchor\n", "utf-8")
    commands = [f"score spelling words.txt --gold {name}.txt" for name in ("ragged", "right")]
    ragged, right, short = run_commands(checkout, *commands, "validate spelling short.txt").values()
    assert (ragged["exit_code"], right["exit_code"], short["exit_code"]) == (1, 1, 1)
    assert (
        "ragged.txt:2: the number of columns is 2 (expected 3: page, written, word)"
        in ragged["stderr"]
    )
    assert "right.txt:1: 'anchor' is not misspelt" in right["stderr"]
    assert "right.txt:2: 'sail' is not misspelt" in right["stderr"]
    assert "short.txt: the number of lines is 1 (expected 5, one for each word)" in short["stderr"]


def test_with_two_corpora_a_task_asks_for_the_corpus(tmp_path):
    folder = copy_package(tmp_path)
    add(folder, "task")
    package = folder / "closeread"
    shutil.copytree(package / "loaders/shipwords", package / "loaders/seawords")
    (package / "loaders/seawords/shipwords.py").rename(package / "loaders/seawords/seawords.py")
    declaration = package / "loaders/seawords/declaration.py"
    shared = declaration.read_text("utf-8").replace('"shipwords"', '"seawords"')
    assert 'name="seawords"' in shared
    declaration.write_text(
        shared.replace('name="seawords"', 'name="seawords", schema="shipwords"'), "utf-8"
    )
    (folder / "words.txt").write_text("".join(f"{word}\n" for word in PREDICTED), "utf-8")
    commands = (
        "score spelling words.txt",
        "score seawords words.txt --no-ci",
        "info seawords --schema",
        "info shipwords --schema",
    )
    unclear, clear, *schemas = run_commands(folder, *commands).values()
    assert unclear["exit_code"] == 2
    assert (
        "procedure spelling scores seawords and shipwords; give the name of a corpus"
        in unclear["stderr"]
    )
    assert clear["exit_code"] == 0, clear["stderr"]
    assert "seawords" in clear["stdout"]
    assert schemas[0]["exit_code"] == 0, schemas[0]["stderr"]
    assert schemas[0]["stdout"] == schemas[1]["stdout"]


FAMILY = {
    "list": ["pebbles  ", "Pebbles"],
    "info pebbles": ["Put train.conll and test.conll into a folder", "conll2012"],
    "info pebbles --cite": ["@misc{pebbles,"],
    "info pebbles --stats --data-dir mine --format json": ['"tokens": 4', '"tokens": 3'],
    "score pebbles mine/test.conll --data-dir mine --no-ci": ["pebbles test", "Preset: conll2012"],
}
"""Commands for a corpus of coreference that is one file of facts, and what each prints."""

LOAD = """
import json, closeread, datasets
datasets.disable_progress_bars()
print(json.dumps([datasets.load_dataset("pebbles", "sample", split="test").num_rows]))
"""


def test_a_corpus_of_coreference_is_one_file(tmp_path):
    (path,) = list_files("family")
    assert path.as_posix() == "loaders/coref/pebbles.py"
    assert not (ROOT / path).exists()
    folder = copy_package(tmp_path)
    add(folder, "family")
    mine = folder / "mine"
    mine.mkdir()
    for split, words in {"train": "a b c d", "test": "e f g"}.items():
        rows = [f"{split} 0 {number} {word} (1)\n" for number, word in enumerate(words.split())]
        text = f"#begin document ({split}); part 000\n{''.join(rows)}\n#end document\n"
        (mine / f"{split}.conll").write_text(text, "utf-8")
    for command, result in run_commands(folder, *FAMILY).items():
        assert result["exit_code"] == 0, result["stderr"]
        assert [words for words in FAMILY[command] if words not in result["stdout"]] == []
    # Three invented documents, in the package.
    assert run_code(folder, LOAD) == [3]
