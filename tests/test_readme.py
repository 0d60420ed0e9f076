"""Every fenced block of the README does what it says; nothing generated has drifted."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from closeread.corpora.gold import corpus_names, load_corpus

ROOT = Path(__file__).parent.parent
DATA = os.environ.get("CLOSEREAD_DATA")
TEXT = (ROOT / "README.md").read_text("utf-8")


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


readme = load(Path(__file__).parent / "readme.py")
documentation = load(ROOT / "tools" / "documentation.py")


def test_every_block_is_of_a_kind_that_is_run():
    assert {block["kind"] for block in readme.blocks(TEXT)} == {"sh", "console", "python"}


def test_the_commands_for_a_fresh_clone_are_those_of_the_gate():
    # They build an environment of their own, so the gate runs them, not this test.
    gate = (ROOT / ".ci" / "run").read_text("utf-8")
    shell = [block["body"].strip() for block in readme.blocks(TEXT) if block["kind"] == "sh"]
    assert shell == ["make score", "make test"]
    assert all(f"\n{command} " in gate for command in shell)


def test_blocks_print_what_they_say(tmp_path, monkeypatch):
    # In order and in one folder, since later blocks use the files of earlier ones.
    if DATA:
        monkeypatch.setenv("CLOSEREAD_DATA", DATA)
    skipped = 0
    for block in readme.blocks(TEXT):
        if block["needs"] and not DATA:
            skipped += 1
        elif block["kind"] == "console":
            assert readme.console(block["body"], tmp_path) == block["body"]
        elif block["kind"] == "python":
            subprocess.run([sys.executable, "-c", block["body"]], cwd=tmp_path, check=True, capture_output=True)
    if skipped:
        pytest.skip(f"CLOSEREAD_DATA is not set: {skipped} block(s) not run")


@pytest.mark.parametrize("name", corpus_names())
def test_cards_have_not_drifted(name):
    text = (ROOT / "cards" / f"{name}.md").read_text("utf-8")
    assert documentation.filled(text, documentation.card_parts(load_corpus(name))) == text


@pytest.mark.parametrize("path", sorted((ROOT / "metrics").glob("*/README.md")), ids=lambda path: path.parent.name)
def test_metric_cards_have_not_drifted(path):
    text = path.read_text("utf-8")
    assert documentation.filled(text, documentation.metric_parts(documentation.procedure_of(path.parent.name))) == text


def test_the_readme_has_not_drifted():
    assert documentation.filled(TEXT, documentation.readme_parts(ROOT)) == TEXT


def test_the_benchmarks_page_has_not_drifted():
    text = (ROOT / "benchmarks" / "README.md").read_text("utf-8")
    assert documentation.filled(text, documentation.benchmark_parts(ROOT)) == text
