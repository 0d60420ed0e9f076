"""The public surface: what is public says so, has types without `Any`, and answers wrong types in one sentence."""

import ast
import inspect
import pickle
import pydoc
import re
import sys
import typing
from functools import cache

import numpy as np
import pytest

import closeread
from closeread.exceptions import SubmissionError


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
                if not key.startswith("_") and getattr(home, "__module__", "").startswith(
                    "closeread"
                ):
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
                    names |= {
                        alias.name: type(alias.name, (), {"DataFrame": object})
                        for alias in statement.names
                    }
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
        expected = {
            one for one in inspect.signature(function).parameters if one not in ("self", "cls")
        } | {"return"}
        wrong += [f"{name}: {one} has no annotation" for one in expected - hints.keys()]
        wrong += [
            f"{name}: {key} is {hint}"
            for key, hint in hints.items()
            if typing.Any in list_types(hint)
        ]
    for name, one in list_public():
        if inspect.isclass(one) and not issubclass(one, Warning):
            hints = typing.get_type_hints(one, find_names(one.__module__))
            wrong += [
                f"{name}.{key} is {hint}"
                for key, hint in hints.items()
                if typing.Any in list_types(hint)
            ]
    assert wrong == [], "\n".join(wrong)


def test_help_and_completion_list_what_is_public():
    assert dir(closeread) == sorted(closeread.__all__)
    text = pydoc.plain(pydoc.render_doc(closeread))
    assert [name for name in closeread.__all__ if name not in text] == ["__version__"]
    functions = text[text.index("\nFUNCTIONS") :].partition("\nDATA")[0]
    found = set(re.findall(r"^    (\w+)\(", functions, re.MULTILINE))
    expected = {name for name in closeread.__all__ if inspect.isfunction(getattr(closeread, name))}
    assert found == expected
    assert closeread._HOMES.keys() == set(closeread.__all__) - {"__version__"}


def test_what_other_libraries_have_instead_is_accepted():
    resampling = closeread.Resampling(np.int64(5), np.float32(0.5))
    rows = closeread.baseline("mctaco", "always-positive", config=np.str_("sample"))
    found = closeread.score(
        "mctaco", rows, config="sample", by=np.array(["category"]), resampling=resampling
    )
    assert list(found.slices) == ["category"]
    assert found.to_dict()["config"] == "sample"
    table = closeread.table(
        "mctaco", {"a": rows}, config="sample", pairs=np.bool_(False), digits=np.int32(1)
    )
    assert table.digits == 1


def test_a_public_function_is_pickled_by_its_public_name():
    for name in ("score", "table", "load_metric"):
        function = getattr(closeread, name)
        assert function is getattr(closeread, name)
        assert pickle.loads(pickle.dumps(function)) is function


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
    # the command line is left again
    with pytest.raises(SubmissionError, match=r"use missing='empty'"):
        closeread.score("mctaco", place, config="sample")
