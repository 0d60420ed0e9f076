"""CONTRIBUTING.md names what there is, and its recipes end with what keeps the records of the repository."""

import re
from functools import cache
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
FOLDERS = ("src", "loaders", "metrics", "schemas", "cards", "tests", "tools")
SUFFIXES = (".py", ".md", ".json", ".toml")
LAST = "Then `python tools/contract.py`, `python tools/recording.py` and `python tools/documentation.py`,"
CODE = [code for code in re.findall(r"`([^`\n]+)`", TEXT) if "<" not in code]
"""What is in backticks, without what stands for names that a reader chooses."""


@cache
def find_words():
    """Every identifier in the repository, and every part of a file's name; but not those of this file or the page."""
    words = set()
    files = [path for path in ROOT.iterdir() if path.is_file() and path.name != "CONTRIBUTING.md"]
    files.append(ROOT / ".ci" / "run")
    for path in chain(*((ROOT / folder).rglob("*") for folder in FOLDERS)):
        is_text = path.suffix in SUFFIXES and path.is_file()
        if is_text and path != Path(__file__) and "recorded" not in path.parts:
            files.append(path)
    for path in files:
        words |= set(re.findall(r"[A-Za-z_]\w*", f"{path.relative_to(ROOT)} {path.read_text()}"))
    return words


@pytest.mark.parametrize("code", dict.fromkeys(CODE))
def test_identifiers_are_those_of_the_repository(code):
    unknown = set(re.findall(r"[A-Za-z_]\w*", code)) - find_words()
    assert not unknown, f"CONTRIBUTING.md names {sorted(unknown)} in `{code}`, and no file has it"


def test_an_identifier_that_there_is_not_is_noticed():
    assert "CorpusReader" in find_words()
    assert f"Corpus{'Sides'}" not in find_words()


def test_every_recipe_ends_with_the_same_line():
    recipes = [part for part in TEXT.split("\n## ") if part.startswith("Add a ")]
    assert len(recipes) == 5
    for recipe in recipes:
        assert recipe.strip().splitlines()[-1].startswith(LAST), recipe.splitlines()[0]
