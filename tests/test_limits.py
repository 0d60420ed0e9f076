"""All limits are on one page, with their values, and say what they limit."""

import ast
import importlib
import re
from itertools import pairwise
from pathlib import Path

import pytest
from shared.for_each import for_each

from closeread import limits
from closeread.leaderboard.declaration import Limits

PAGE = Path(__file__).parent.parent / "docs" / "limits.md"
SOURCE = Path(limits.__file__).resolve().parent  # where the files are, also if the package is made of links
NAME = re.compile(r"[A-Z_]*(?<![A-Z])(MAX|MOST|LONGEST|LARGEST|LIMIT|SECONDS|TRIES|ATTEMPTS)(?![A-Z])[A-Z_]*")

INSIDE = {
    "cli.options.MOST_CHOICES": "what fits on a line of the help",
    "corpus.validation.LARGEST": "larger integers are left to the schema",
    "corpus.validation.LARGEST_FLOAT": "larger floats are left to the schema",
    "counts.resampling.LARGEST": "what is larger has no chance",
    "formats.fast_json.LONGEST": "longer lines are parsed in another way",
    "hub.client.MAX_PATHS": "how many paths are asked for at once",
    "leaderboard.page.NAME_LIMIT": "longer names are cut in tables",
    "leaderboard.page.TEXT_LIMIT": "longer names are cut in tables",
    "neural.link_model.MAX_PAIRS": "pairs that are decoded at once",
    "tasks.coref.conll_cells.MAX_ID_BYTES": "longer ids are read in another way",
    "tasks.coref.error_report.LIMIT": "the default of an option",
    "tasks.mctaco.label_error_report.LIMIT": "the default of an option",
    "tasks.tne.link_error_report.LIMIT": "the default of an option",
    "tasks.coref.marmara.examples.MAX_DISTANCE": "part of the method",
    "tasks.coref.marmara.learning.MAX_ITERATIONS": "part of the method",
    "tasks.coref.marmara.pair_learning.MAX_STEPS": "part of the method",
    "tasks.coref.marmara.sentence_alignment.MAX_WEIGHT": "part of the method",
    "tasks.mctaco.event_phrases.pool.MAX_WORDS": "part of the method",
    "tasks.mctaco.perturbation.number_rules._MOST_WORDS": "longer texts are no numbers",
    "tasks.mctaco.perturbation.number_words._MOST_WORDS": "longer texts are no numbers",
    "tasks.mctaco.perturbation.units.UNIT_SECONDS": "lengths of units",
    "tasks.mctaco.perturbation.units._MOST_WORDS_OF_A_NUMBER": "longer texts are no quantities",
    "tasks.mctaco.perturbation.units._MOST_DIGITS": "longer texts are no quantities",
    "tasks.mctaco.perturbation.units._MOST_WORDS": "longer texts are no quantities",
    "tasks.timeline.plot_dates._MOST_TICKS": "what fits on an axis",
    "tasks.timeline.reproduction.MOST_ORDERED": "what a paper prints",
    "tasks.tne.columns.MAX_DIGITS": "follows from another limit",
    "tasks.tne.reproduction_text.MOST_PHRASES": "what the paper prints",
    "tasks.wikipossessions.mediawiki.MAX_LAG": "what a server is asked to keep",
}
"""Constants that are named like limits but refuse nothing that a user has, with the reason."""


def read_rows():
    """Return the cells of the rows of the page, without the names of columns."""
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in PAGE.read_text("utf-8").splitlines()]
    return [row for row in rows if row and row[0] != "limit" and set(row[0]) != {"-"}]


def find_constants(path):
    """Yield the constants of a module that are named like limits."""
    for statement in ast.parse(path.read_text("utf-8")).body:
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        names = [node.id for target in targets if target for node in ast.walk(target) if isinstance(node, ast.Name)]
        yield from filter(NAME.fullmatch, names)


def find_all_constants():
    modules = {path: path.relative_to(SOURCE).with_suffix("").as_posix().replace("/", ".") for path in walk_source()}
    return sorted(f"{module}.{name}" for path, module in modules.items() for name in find_constants(path))


def walk_source():
    return [path for path in SOURCE.rglob("*.py") if "__pycache__" not in path.parts]


ON_PAGE = {row[2].strip("`"): row[1] for row in read_rows() if len(row) == 3}


def test_every_limit_is_on_the_page_or_is_none():
    found = find_all_constants()
    assert len(found) > 70
    assert sorted(set(found) - set(ON_PAGE)) == sorted(INSIDE)
    assert not set(ON_PAGE) & set(INSIDE)


def test_no_limit_is_on_the_page_twice():
    assert len(ON_PAGE) == len([row for row in read_rows() if len(row) == 3])
    assert len({row[0] for row in read_rows()}) == len(read_rows())


@for_each("name", ON_PAGE)
def test_a_limit_has_the_value_on_the_page(name):
    module, _, constant = name.rpartition(".")
    if module.startswith("neural."):
        pytest.importorskip("torch")
    assert ON_PAGE[name].split()[0] == f"{int(getattr(importlib.import_module(f'closeread.{module}'), constant)):,}"


def test_limits_of_boards_have_the_values_on_the_page():
    values = [row[1].split()[0] for row in read_rows() if len(row) == 2]
    assert values == [f"{getattr(Limits(), name):,}" for name in ("bytes", "rows", "per_day", "seconds", "memory")]


def test_every_limit_has_a_docstring():
    body = ast.parse(Path(limits.__file__).read_text("utf-8")).body
    for one, following in pairwise(body):
        if isinstance(one, ast.Assign):
            assert isinstance(following, ast.Expr)
            assert isinstance(following.value, ast.Constant)
