"""The public surface: what is public says so, has types without `Any`, and answers wrong types in one sentence."""

import ast
import inspect
import pickle
import pydoc
import re
import sys
import typing
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import closeread
from closeread.exceptions import FormatError, RequestError, SubmissionError

ROOT = Path(closeread.__file__).parent


def list_public():
    """Yield the name and the object of everything that is public, the functions behind called modules as well."""
    for name in closeread.__all__:
        yield f"closeread.{name}", getattr(closeread, name)


def list_functions():
    """Yield the name and the function of every public function and method, with the names that its module knows."""
    for name, one in list_public():
        if inspect.isfunction(one):
            yield name, inspect.unwrap(one)
        elif inspect.isclass(one):
            for key, member in inspect.getmembers(one, callable):
                home = inspect.unwrap(member)
                if not key.startswith("_") and getattr(home, "__module__", "").startswith("closeread"):
                    yield f"{name}.{key}", getattr(home, "__func__", home)


@cache
def find_names(home):
    """Return what a module knows, with what it imports only for annotations; libraries may be missing."""
    module, names = sys.modules[home], {}
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for statement in node.body:
                try:
                    exec(ast.unparse(statement), names)  # noqa: S102
                except ImportError:
                    names |= {alias.name: type(alias.name, (), {"DataFrame": object}) for alias in statement.names}
    return {**names, **vars(module)}


def list_types(hint):
    """Yield an annotation and everything inside it."""
    yield hint
    for inner in typing.get_args(hint):
        yield from list_types(inner)


def test_no_annotation_is_any_or_missing():
    wrong = []
    for name, function in list_functions():
        hints = typing.get_type_hints(function, find_names(function.__module__))
        expected = {one for one in inspect.signature(function).parameters if one not in ("self", "cls")} | {"return"}
        wrong += [f"{name}: {one} has no annotation" for one in expected - hints.keys()]
        wrong += [f"{name}: {key} is {hint}" for key, hint in hints.items() if typing.Any in list_types(hint)]
    for name, one in list_public():
        if inspect.isclass(one) and not issubclass(one, Warning):
            hints = typing.get_type_hints(one, find_names(one.__module__))
            wrong += [f"{name}.{key} is {hint}" for key, hint in hints.items() if typing.Any in list_types(hint)]
    assert wrong == [], "\n".join(wrong)


ANNOTATED = """
from typing import Any
def plain(a: dict[str, list[Any]]) -> None: ...
"""


def test_any_is_found_inside_an_annotation():
    found = {}
    exec(ANNOTATED, found)  # noqa: S102
    assert typing.Any in list_types(typing.get_type_hints(found["plain"])["a"])


def test_help_and_completion_list_what_is_public():
    assert dir(closeread) == sorted(closeread.__all__)
    text = pydoc.plain(pydoc.render_doc(closeread))
    assert [name for name in closeread.__all__ if name not in text] == ["__version__"]
    functions = text[text.index("\nFUNCTIONS") :].partition("\nDATA")[0]
    found = set(re.findall(r"^    (\w+)\(", functions, re.MULTILINE))
    expected = {name for name in closeread.__all__ if inspect.isfunction(getattr(closeread, name))}
    assert found == expected
    assert closeread._HOMES.keys() == set(closeread.__all__) - {"__version__"}


def test_only_the_package_lists_what_is_public():
    listing = [path for path in ROOT.rglob("*.py") if "\n__all__ =" in path.read_text("utf-8")]
    assert listing == [ROOT / "__init__.py"]


ROWS = [{"id": "test-00000", "label": "yes"}]
CLUSTERS = {"letter": [[[0, 0], [1, 1]]]}
SAMPLE = {"config": "sample"}
FILES = "a file, a folder, rows"
CALLS = {
    "coref has no corpus of its own, so it takes no config": lambda: closeread.score(
        "coref", CLUSTERS, gold=CLUSTERS, config="sample"
    ),
    "seed is -1 (expected a whole number from 0)": lambda: closeread.Resampling(10, 0.9, -1),
    "split is 5 (expected a split, a list of splits or None)": lambda: closeread.load_dataset("mctaco", split=5),
    "no such argument for mctaco: 'token' (choose from: none)": lambda: closeread.load_dataset("mctaco", token=True),
    "config is 5 (expected a string or None)": lambda: closeread.score("mctaco", ROWS, config=5),
    "data_dir is 5 (expected a path or None)": lambda: closeread.score("mctaco", ROWS, data_dir=5),
    f"gold is 5 (expected {FILES}, a table or None)": lambda: closeread.score("mctaco", ROWS, gold=5),
    "metrics is 3 (expected a string, a list of strings or None)": lambda: closeread.score("mctaco", ROWS, metrics=3),
    "by[1] is 3 (expected a string)": lambda: closeread.score("mctaco", ROWS, by=["category", 3]),
    "resampling is 5 (expected a closeread.Resampling or None)": lambda: closeread.score("tne", [], resampling=5),
    "n_resamples is 'many' (expected a whole number)": lambda: closeread.Resampling("many"),
    "missing is ['skip'] (expected a string, a number or a path)": lambda: closeread.score("tne", [], missing=["skip"]),
    "treebank is True (expected a path)": lambda: closeread.stats("marmara_coref", treebank=True),
    f"predictions is '' (expected {FILES} or a table)": lambda: closeread.validate("mctaco", ""),
    f"second is 5 (expected {FILES}, a table, a closeread.Report, a closeread.Counts or None)": lambda: (
        closeread.compare("mctaco", ROWS, 5)
    ),
    "first is 'a' (expected systems by name, such as {'mine': rows}, or a list of files)": lambda: closeread.compare(
        "mctaco", "a"
    ),
    "name is 5 (expected a string)\nsplit is a bytes (expected a string or None)": lambda: closeread.score(
        5, ROWS, split=b"x"
    ),
    f"systems['a'] is None (expected {FILES}, a table, a closeread.Report or a closeread.Counts)": lambda: (
        closeread.table("mctaco", {"a": None})
    ),
    "digits is 1.5 (expected a whole number)": lambda: closeread.table("mctaco", {"a": ROWS}, digits=1.5),
    "pairs is 'yes' (expected True or False)": lambda: closeread.table("mctaco", {"a": ROWS}, pairs="yes"),
    f"annotators[1] is None (expected {FILES} or a table)": lambda: closeread.agreement("coref", CLUSTERS, None),
    f"pairs is 1.5 (expected a string, a list of strings, a whole number, {FILES} or a table)": lambda: (
        closeread.agreement("coref", CLUSTERS, CLUSTERS, pairs=1.5)
    ),
    "document is 5 (expected a string)": lambda: closeread.errors("coref", CLUSTERS, CLUSTERS, document=5),
    "to is 5 (expected a path or None)": lambda: closeread.convert("coref", CLUSTERS, to=5),
    "path is None (expected a path)": lambda: closeread.load_report(None),
    "name is None (expected a string)": lambda: closeread.load_metric(None),
    "kind is None (expected a string)": lambda: closeread.plot(None),
    "record_id is 5 (expected a string or None)": lambda: closeread.show("mctaco", 5),
    "names[0] is None (expected a string)": lambda: closeread.cite(None),
    "table is 1.5 (expected a string, a whole number or None)": lambda: closeread.reproduce("mctaco", 1.5),
    "streaming is 'yes' (expected True or False)": lambda: closeread.load_dataset("mctaco", streaming="yes"),
    "output is 5 (expected a path or None)": lambda: closeread.baseline("mctaco", "random", output=5),
}


@pytest.mark.parametrize("message", CALLS)
def test_a_wrong_type_is_told_at_the_door(message):
    with pytest.raises(RequestError) as error:
        CALLS[message]()
    assert str(error.value) == message


def test_what_other_libraries_have_instead_is_accepted():
    resampling = closeread.Resampling(np.int64(5), np.float32(0.5))
    rows = closeread.baseline("mctaco", "always-positive", config=np.str_("sample"))
    found = closeread.score("mctaco", rows, config="sample", by=np.array(["category"]), resampling=resampling)
    assert list(found.slices) == ["category"]
    table = closeread.table("mctaco", {"a": rows}, config="sample", pairs=np.bool_(False), digits=np.int32(1))
    assert table.digits == 1


def test_a_public_function_is_pickled_by_its_public_name():
    for name in ("score", "table", "load_metric"):
        function = getattr(closeread, name)
        assert function is getattr(closeread, name)
        assert pickle.loads(pickle.dumps(function)) is function


def test_gold_without_rows():
    for rows in ([], {}, iter(())):
        with pytest.raises(FormatError) as error:
            closeread.score("coref", CLUSTERS, gold=rows)
        assert str(error.value) == "gold: has no rows (expected at least one)"


MISSING = "missing='empty' or missing='skip'"


def test_messages_name_options_as_the_caller_writes_them(run, tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"id": "test-00000", "label": "yes"}\n')
    place = str(tmp_path / "rows.jsonl")
    with pytest.raises(SubmissionError) as error:
        closeread.score("mctaco", place, config="sample")
    said = str(error.value)
    assert said.endswith(f"Add them, or use {MISSING}")
    printed = run("score", "mctaco", place, "--config", "sample").stderr
    assert printed == f"Error: {said.replace(MISSING, '--missing empty or --missing skip')}\n"
    with pytest.raises(SubmissionError, match=r"use missing='empty'"):  # the command line is left again
        closeread.score("mctaco", place, config="sample")
