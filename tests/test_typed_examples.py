"""Type checkers accept every example of the documentation, from outside; signatures name what there is."""

import ast
import doctest
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pages
import pytest
from shared.package_copy import copy_package

import closeread
from closeread import public_names
from closeread.corpus.names import corpus_names
from closeread.hf.modules import module_names
from closeread.tasks import load_procedure, procedure_names

ROOT = Path(__file__).parent.parent


def test_names_in_signatures_are_those_that_there_are():
    tree = ast.parse(Path(public_names.__file__).read_text("utf-8"))
    listed = {
        node.target.id: {
            name.value for name in ast.walk(node.value) if isinstance(name, ast.Constant)
        }
        for node in ast.walk(tree)
        if isinstance(node, ast.AnnAssign)
    }
    procedures = list(map(load_procedure, procedure_names()))
    expected = {
        "Corpus": set(corpus_names()),
        "Procedure": set(procedure_names()),
        "Module": set(module_names()),
        "Family": {name for procedure in procedures for name in procedure.families},
        "Preset": {name for procedure in procedures for name in procedure.presets},
    }
    for kind, names in expected.items():
        assert listed[kind] == names, (
            f"src/closeread/public_names.py: {kind} lacks {sorted(names - listed[kind])}, "
            f"and should not have {sorted(listed[kind] - names)}"
        )


def write_examples(folder):
    """Write each Python block of a page, and the examples of each public name, as a program of its own."""
    for page in pages.find_pages(ROOT):
        blocks = [
            block["body"]
            for block in pages.find_blocks(page.read_text("utf-8"))
            if block["kind"] == "python"
        ]
        for number, body in enumerate(blocks, start=1):
            (folder / f"{page.stem.replace('-', '_')}_{number}.py").write_text(body, "utf-8")
    finder, parser = doctest.DocTestFinder(), doctest.DocTestParser()
    found = {"closeread": parser.get_examples(closeread.__doc__)}
    for name in closeread.__all__:
        if callable(one := getattr(closeread, name)):
            found |= {
                test.name: test.examples for test in finder.find(one, name, module=False, globs={})
            }
    for name, examples in found.items():
        if examples:
            code = "".join(example.source for example in examples)
            known = (
                ""
                if name == "closeread"
                else f"import closeread\nfrom closeread import {name.partition('.')[0]}\n"
            )
            (folder / f"example_{name.replace('.', '_')}.py").write_text(known + code, "utf-8")
    assert len(list(folder.iterdir())) > 30
    return folder


@pytest.fixture(scope="module")
def outside(tmp_path_factory):
    """A folder with the examples, and the environment in which closeread is installed beside it."""
    installed = copy_package(tmp_path_factory.mktemp("installed"))
    examples = write_examples(tmp_path_factory.mktemp("examples"))
    return examples, {**os.environ, "PYTHONPATH": str(installed)}


@pytest.mark.extended
@pytest.mark.timeout(3000)
@pytest.mark.skipif(find_spec("mypy") is None, reason="mypy is not installed")
def test_mypy_accepts_the_examples(outside):
    folder, environment = outside
    options = ["--config-file=", "--ignore-missing-imports", "--disable-error-code=import-untyped"]
    command = [sys.executable, "-m", "mypy", *options, "--cache-dir=.mypy"]
    done = subprocess.run(
        [*command, folder], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    wrong = 'import closeread\ncloseread.score("mctaco", "a.jsonl", ci="no", seed="2")\n'
    done = subprocess.run(
        [*command, "-c", wrong], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.stdout.count("<string>:2: error") == 2, done.stdout  # closeread's types are known
