"""Refusals name options as the door does through which they come: `--missing` in the shell, `missing=` in Python.

They advise only options of the command that was typed.
"""

import re
import shlex
from pathlib import Path

import click
import pytest

import closeread
from closeread.cli import main
from closeread.exceptions import InputError, RequestError

OF_SHELL = re.compile(r"(?<![\w-])--[a-z]")
OF_PYTHON = re.compile(r"\b[a-z_]+=(?!FILE\b)|\bcloseread\.[a-z_]+|\b[a-z_]+\(")

KEY = """#begin document (a); part 000
a 0 0 Ann - (1)
a 0 1 sees - -
a 0 2 her - (1)
#end document
#begin document (b); part 000
b 0 0 Bob - (2)
#end document
"""
REPEATED = KEY.replace("(2)", "(2)|(3)")
OTHER = KEY.replace("(b)", "(c)").replace("b 0 0", "c 0 0")
YES = '{"id": "test-00000", "label": "yes"}\n'
FILES = {
    "key": KEY,
    "one": KEY[: KEY.index("#begin document (b)")],
    "other": OTHER,
    "twice": REPEATED,
}


def score_coref(response, **options):
    return closeread.score("coref", f"{response}.conll", gold="key.conll", **options)


def score_mctaco(predictions, **options):
    return closeread.score("mctaco", predictions, config="sample", **options)


DOORS = {
    "no response": (
        "score coref key.conll one.conll --missing error",
        lambda: score_coref("one", missing="error"),
    ),
    "not in the key": ("score coref key.conll other.conll", lambda: score_coref("other")),
    "repeated": (
        "errors coref key.conll twice.conll --duplicates error",
        lambda: closeread.errors("coref", "twice.conll", gold="key.conll", duplicates="error"),
    ),
    "averaged slices": (
        "score coref key.conll key.conll --average documents --by distance",
        lambda: score_coref("key", average="documents", by="distance"),
    ),
    "no prediction": (
        "score mctaco yes.jsonl --config sample",
        lambda: score_mctaco("yes.jsonl"),
    ),
    "several names": (
        "score mctaco yes.jsonl --config sample --missing empty --metrics 'f1 exact_match'",
        lambda: score_mctaco("yes.jsonl", missing="empty", metrics="f1 exact_match"),
    ),
    "counts as predictions": (
        "score mctaco counts.parquet --config sample",
        lambda: score_mctaco("counts.parquet"),
    ),
    "a metric as a procedure": (
        "score lea key.conll key.conll",
        lambda: closeread.score("lea", "key.conll", gold="key.conll"),
    ),
    "an unknown record": (
        "show mctaco nothing --config sample",
        lambda: closeread.show("mctaco", "nothing", config="sample"),
    ),
    "no such files": (
        "info tne --stats --data-dir .",
        lambda: closeread.stats("tne", data_dir="."),
    ),
    "a licensed corpus": ("info marmara_coref --stats", lambda: closeread.stats("marmara_coref")),
    "clusters without a use": (
        "convert tne yes.jsonl --config sample --to jsonl --clusters key.conll -o out",
        lambda: closeread.convert("tne", "yes.jsonl", "out", config="sample", clusters="key.conll"),
    ),
    "no trained model": ("predict mctaco -o out", lambda: closeread.predict("mctaco")),
    "no spaCy pipeline": (
        "baseline wikipossessions heuristics --config sample -o out --spacy-model ''",
        lambda: closeread.baseline(
            "wikipossessions", "heuristics", config="sample", spacy_model=""
        ),
    ),
    "no board": ("leaderboard init new", lambda: closeread.init_leaderboard("new")),
    "no gold for a board": (
        "leaderboard init new --procedure coref",
        lambda: closeread.init_leaderboard("new", procedure="coref"),
    ),
    "a board that skips": (
        "leaderboard init new --corpus mctaco --config sample --option missing=skip",
        lambda: closeread.init_leaderboard(
            "new", corpus="mctaco", config="sample", option={"missing": "skip"}
        ),
    ),
    "a changed board": (
        "leaderboard init board --corpus mctaco --config sample --title Other",
        lambda: closeread.init_leaderboard(
            "board", corpus="mctaco", config="sample", title="Other"
        ),
    ),
    "gold of no board": (
        "leaderboard judge board --gold key.conll",
        lambda: closeread.judge_leaderboard("board", gold=["key.conll"]),
    ),
    "one of two boards": (
        "submit mctaco yes.jsonl --to board --system mine --author me",
        lambda: closeread.submit("mctaco", "yes.jsonl", to="board", system="mine", author="me"),
    ),
    "a corpus for a board": (
        "leaderboard init new --corpus marmara_coref",
        lambda: closeread.init_leaderboard("new", corpus="marmara_coref"),
    ),
    "no prediction to draw": (
        "plot scores mctaco yes.jsonl --config sample --by category -o out.png",
        lambda: closeread.plot("scores", "mctaco", "yes.jsonl", config="sample", by="category"),
    ),
    "no prediction to submit": (
        "submit mctaco yes.jsonl --to board --config sample --system mine --author me",
        lambda: closeread.submit(
            "mctaco", "yes.jsonl", to="board", config="sample", system="mine", author="me"
        ),
    ),
    "not in the key of a board": (
        "submit coref other.conll --to private --system mine --author me",
        lambda: closeread.submit("coref", "other.conll", to="private", system="mine", author="me"),
    ),
    "repeated by an annotator": (
        "agreement coref key.conll twice.conll",
        lambda: closeread.agreement("coref", "key.conll", "twice.conll"),
    ),
    "a broken file of a folder": (
        "score coref folder folder",
        lambda: closeread.score("coref", "folder", gold="folder"),
    ),
    "a broken file of an annotator": (
        "agreement coref folder folder",
        lambda: closeread.agreement("coref", "folder", "folder"),
    ),
    "no counts to merge": ("merge yes.jsonl -o out", lambda: closeread.merge(["yes.jsonl"])),
    "no gold to judge by": (
        "leaderboard judge private",
        lambda: closeread.judge_leaderboard("private"),
    ),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder with the files and boards of the refusals."""
    folder = tmp_path_factory.mktemp("files")
    for name, text in FILES.items():
        (folder / f"{name}.conll").write_text(text)
    (folder / "folder").mkdir()
    (folder / "folder" / "good.conll").write_text(KEY)
    (folder / "folder" / "bad.conll").write_text(KEY.replace("(1)", "(1"))
    (folder / "yes.jsonl").write_text(YES)
    counts = closeread.count("mctaco", folder / "yes.jsonl", config="sample", missing="empty")
    counts.save(folder / "counts.parquet")
    for title in ("first", "second"):
        gold = {"gold": folder / "gold.jsonl"} if title == "second" else {"config": "sample"}
        if title == "second":
            rows = closeread.load_dataset("mctaco", "sample", split="test")
            rows.to_json(folder / "gold.jsonl")
        closeread.init_leaderboard(folder / "board", corpus="mctaco", **gold, split="test")
    closeread.init_leaderboard(folder / "private", procedure="coref", gold=folder / "key.conll")
    return folder


def list_flags(words):
    """The options of the command that these words call, with its groups."""
    command, flags = main, set()
    for word in words:
        flags |= {flag for param in command.params for flag in (*param.opts, *param.secondary_opts)}
        if not isinstance(command, click.Group):
            break
        command = command.get_command(click.Context(command), word)
    return flags


@pytest.mark.parametrize("refusal", [name for name in DOORS if name != "a metric as a procedure"])
def test_the_shell_advises_what_the_command_has(refusal, run, files, monkeypatch):
    monkeypatch.chdir(files)
    words = shlex.split(DOORS[refusal][0])
    message = re.sub(r"`closeread [^`]+`|run: closeread [^;]+", "", run(*words).stderr)
    named = re.findall(r"(?<![\w-])--[a-z][a-z-]*", message.partition("Error: ")[2])
    assert {*named} <= list_flags(words), message


@pytest.mark.parametrize("refusal", DOORS)
def test_neither_door_speaks_the_language_of_the_other(refusal, run, files, monkeypatch):
    monkeypatch.chdir(files)
    command, call = DOORS[refusal]
    done = run(*shlex.split(command))
    message = done.stderr.partition("Error: ")[2]
    assert (done.exit_code != 0, OF_PYTHON.findall(message)) == (True, []), message
    with pytest.raises((InputError, RequestError, TypeError)) as error:
        call()
    assert OF_SHELL.findall(str(error.value)) == [], str(error.value)
    assert not Path("out").exists()


def test_python_advises_what_the_function_has(files, monkeypatch):
    monkeypatch.chdir(files)
    lacking = {
        "no prediction to draw": "missing=",
        "no prediction to submit": "missing=",
        "not in the key of a board": "extra=",
        "repeated by an annotator": "duplicates=",
        "a broken file of an annotator": "skip_invalid=",
    }
    for refusal, advice in lacking.items():
        with pytest.raises((InputError, RequestError)) as error:
            DOORS[refusal][1]()
        assert advice not in str(error.value)
    with pytest.raises(InputError, match=r"leave out files with errors by skip_invalid='true'$"):
        DOORS["a broken file of a folder"][1]()
