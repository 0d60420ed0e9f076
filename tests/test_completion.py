"""Completion: what a shell is told in process, what the scripts are, and one true bash."""

import os
import shutil
import subprocess
import sys

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from closeread.cli import main
from closeread.corpus.citing import cite
from closeread.corpus.names import corpus_names, load_corpus
from closeread.corpus.reproduction import load_printed, reproducible
from closeread.tasks import load_procedure

VARIABLE = "_CLOSEREAD_COMPLETE"


def complete(line):
    """What completes the last word of a line."""
    *words, incomplete = line.split(" ")
    found = ShellComplete(main, {}, "closeread", VARIABLE).get_completions(words, incomplete)
    return [item.value for item in found]


def test_all_names_of_a_corpus_can_be_completed():
    for name in corpus_names():
        declared = load_corpus(name)
        assert complete(f"stats {name} --config ") == list(declared.configs)
        for config, one in declared.configs.items():
            assert complete(f"score {name} --config {config} --split ") == list(one.split_names)
        procedure = load_procedure(declared.procedure)
        if len(procedure.families) > 1:
            assert complete(f"compare {name} --metrics ") == list(procedure.families)


def test_whatever_is_completed_can_be_cited():
    names = complete("cite ")
    assert {"mctaco", "tlinks", "coref_lea", "closeread"} <= set(names)
    assert cite(*names)


@pytest.mark.parametrize(("shell", "says"), [
    ("bash", "complete -o nosort -F _closeread_completion closeread"),
    ("zsh", "compdef _closeread_completion closeread"),
    ("fish", 'string split --max 1 "," $completion'),
])  # fmt: skip
def test_scripts(run, shell, says):
    script = run("completion", shell)
    assert (script.exit_code, script.stderr) == (0, "")
    assert says in script.stdout
    assert f"{VARIABLE}={shell}_complete" in script.stdout


@pytest.mark.parametrize(("shell", "typed", "answer"), [
    ("bash", "mc", "plain,mctaco\n"), ("zsh", "mc", f"plain\nmctaco\n{load_corpus('mctaco').title}\n"),
    ("fish", "mc", f"plain,mctaco\t{load_corpus('mctaco').title}\n"),
])  # fmt: skip
def test_each_shell_is_answered_in_its_way(shell, typed, answer):
    asked = {VARIABLE: f"{shell}_complete", "COMP_WORDS": f"closeread stats {typed}"}
    asked["COMP_CWORD"] = typed if shell == "fish" else "2"
    assert CliRunner().invoke(main, [], prog_name="closeread", env=asked).stdout == answer


def test_an_unknown_shell(run):
    assert "'tcsh' is not one of 'bash', 'zsh', 'fish'\n" in run("completion", "tcsh").stderr


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_itself(run, tmp_path):
    """The script in a bash, which asks a closeread that says what it has imported."""
    (tmp_path / "script.bash").write_text(run("completion", "bash").stdout, "utf-8")
    look = "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr))"
    program = f'{look}; from closeread.cli import main; main(prog_name="closeread")'
    (tmp_path / "closeread").write_text(
        f"#!/bin/sh\nexec '{sys.executable}' -c '{program}'\n", "utf-8"
    )
    (tmp_path / "closeread").chmod(0o755)
    ask = "source script.bash; COMP_WORDS=(closeread score ma); COMP_CWORD=2; "
    ask += 'complete -p closeread; _closeread_completion closeread; echo "${COMPREPLY[@]}"; '
    # As bash divides `closeread show mctaco --config=sample --split=t`.
    ask += "COMP_WORDS=(closeread show mctaco --config = sample --split = t); COMP_CWORD=8; COMPREPLY=(); "
    ask += '_closeread_completion closeread; echo "${COMPREPLY[@]}"'
    path = {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "--norc", "-c", ask],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, **path},
    )
    assert (
        done.stdout
        == "complete -o nosort -F _closeread_completion closeread\nmarmara_coref\ntest\n"
    )
    heavy = {"numpy", "scipy", "datasets", "torch", "rich", "pandas", "jsonschema"}
    assert not {name.split(".")[0] for name in done.stderr.split()} & heavy


def test_bash_is_told_of_spaces(monkeypatch):
    monkeypatch.setenv(VARIABLE, "bash_complete")
    assert complete("reproduce timeline F") == ["Figure\\ 1", "Figure\\ 2"]


def test_tables_of_every_paper_are_completed():
    for name in reproducible():
        tables = [table["name"].removeprefix("Table ") for table in load_printed(name)["tables"]]
        assert complete(f"reproduce {name} ") == tables
