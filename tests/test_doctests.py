"""The examples in docstrings run."""

import doctest
import importlib
import inspect
import re
import warnings
from importlib.util import find_spec
from pathlib import Path

import contract
import documentation
import pytest

import closeread

EXTRAS = ("safetensors", "torch", "transformers")
"""Libraries of extras that a module may import as a whole."""


def list_modules():
    """The modules that have examples; the others need not be imported."""
    source = Path(closeread.__file__).parent
    paths = [
        path.relative_to(source)
        for path in source.glob("**/*.py")
        if ">>> " in path.read_text("utf-8")
    ]
    # What is a link in a checkout, glob does not follow.
    for folder in (source / "loaders", source / "evaluate_modules"):
        paths += [
            path.relative_to(source)
            for path in folder.glob("**/*.py")
            if ">>> " in path.read_text("utf-8")
        ]
    names = {
        ".".join(path.with_suffix("").parts).removesuffix("__init__").rstrip(".") for path in paths
    }
    return sorted(f"closeread.{name}".rstrip(".") for name in names)


BOARD = (
    "init_leaderboard",
    "submit",
    "judge_leaderboard",
    "show_leaderboard",
    "list_submissions",
    "build_leaderboard",
    "download_submission",
    "disqualify_submissions",
    "extend_deadline",
    "withdraw_submission",
)
"""Examples of one leaderboard's life, in this order."""

SLOW = {*BOARD, "export", "plot", "publish_codabench"}

OWN_USE = {"for_tests"}
"""Methods that the package has for itself, without examples."""


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run_all(tests):
    told, tried = [], 0
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", closeread.CloseReadWarning)
        for test in tests:
            tried += runner.run(test, out=told.append).attempted
    assert tried
    assert not told, "".join(told)


def find_examples(names):
    public = {f"{home}.{name}" for name, home in closeread._HOMES.items()}
    # Functions that were used before stand in the package, too.
    public |= {f"closeread.{name}" for name in closeread._HOMES}
    for name in names:
        try:
            module = importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name in EXTRAS:
                continue
            raise
        for examples in doctest.DocTestFinder().find(module):
            # Those of public functions are tried as users see them.
            is_home = name == "closeread" or name.startswith("closeread.operations.")
            if not (is_home and examples.name in public):
                yield examples


def find_functions():
    return {
        name: one
        for name in closeread.__all__
        if inspect.isfunction(one := getattr(closeread, name))
    }


def find_examples_of(names):
    """The examples of functions as users see them, which their modules have without what only Python needs."""
    functions = find_functions()
    parser = doctest.DocTestParser()
    return [
        parser.get_doctest(functions[name].__doc__, {"closeread": closeread}, name, None, 0)
        for name in names
    ]


def test_examples_run():
    run_all(
        find_examples(name for name in list_modules() if not name.startswith("closeread.neural"))
    )


def test_examples_of_functions_run():
    run_all(find_examples_of(sorted(find_functions().keys() - SLOW)))


@pytest.mark.gate
def test_examples_of_functions_that_take_long_run():
    found = [*BOARD, *sorted(SLOW - {*BOARD})]
    run_all(find_examples_of(found if find_spec("matplotlib") else found[:-2]))


@pytest.mark.gate
def test_examples_that_need_torch_run():
    pytest.importorskip("torch")
    run_all(find_examples(name for name in list_modules() if name.startswith("closeread.neural")))


def test_the_options_of_procedures_are_those_that_they_declare():
    assert documentation.list_options() in inspect.getdoc(closeread.score)


def names_arguments(function, text):
    documented = " ".join(
        re.findall(r"^ {4}(\*{0,2}\w[\w*, ]*):", text.partition("Args:\n")[2], re.MULTILINE)
    )
    return set(inspect.signature(function).parameters) - {"self"} <= set(
        re.findall(r"\w+", documented)
    )


def test_every_public_name_tells_arguments_results_and_an_example():
    every = contract.describe_python()
    shown = "".join(
        inspect.getdoc(getattr(closeread, name)) for name in every if name != "exceptions"
    )
    lacking = []
    for name, one in {
        name: getattr(closeread, name) for name in every if name != "exceptions"
    }.items():
        text = inspect.getdoc(one)
        if ">>> " not in text:
            lacking.append(f"{name}: example")
        if inspect.isfunction(one):
            if "\nReturns:\n" not in text and not text.startswith("Return "):
                lacking.append(f"{name}: Returns")
            if not names_arguments(one, text):
                lacking.append(f"{name}: Args")
            continue
        for member, sign in every[name].items():
            if sign == "attribute" or member in ("()", *OWN_USE):
                continue
            method = getattr(one, member)
            if f".{member}(" not in shown:
                lacking.append(f"{name}.{member}: example")
            if "return" not in inspect.getdoc(method).lower() and "None" not in str(
                inspect.signature(method)
            ):
                lacking.append(f"{name}.{member}: Returns")
    assert not lacking


def test_no_argument_is_described_twice():
    for name in closeread.__all__:
        text = inspect.getdoc(getattr(closeread, name)) or ""
        _, _, described = text.partition("\nArgs:\n")
        section = described.partition("\n\n")[0]
        arguments = re.findall(r"^    (\*{0,2}\w+(?:, \*{0,2}\w+)*): ", section, re.M)
        names = ", ".join(arguments).split(", ")
        assert len(set(names)) == len(names), name


def test_the_help_of_commands_has_nothing_for_python_alone():
    from click.testing import CliRunner

    from closeread.cli import main

    for words in ("score coref", "compare mctaco", "errors coref", "leaderboard init"):
        text = CliRunner().invoke(main, [*words.split(), "--help-all"]).output
        assert not re.search("Returns:|>>>|Args:|Options of", text), words
