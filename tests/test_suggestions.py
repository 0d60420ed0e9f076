"""Every door suggests what was probably meant: commands, choices, keywords, metrics, attributes, keys."""

import pytest

import closeread
from closeread.hf.modules import suggest_module

FILES = ["key.conll", "response.conll"]
KEY = [[[[0, 0], [1, 1]]]]


@pytest.mark.parametrize(
    ("option", "value", "meant"),
    [
        ("--preset", "corefut", "corefud"),
        ("--format", "tex", "latex"),
        ("--matching", "heads", "head"),
        ("--keep-singletons", "no", "false"),
        ("--missing", "emtpy", "empty"),
    ],
)
def test_choices_on_the_command_line(run, option, value, meant):
    result = run("score", "coref", *FILES, option, value)
    assert result.exit_code == 2
    assert result.stderr.endswith(f" Did you mean '{meant}'?\n")


def test_choices_that_are_like_nothing_are_only_listed(run):
    result = run("score", "coref", *FILES, "--matching", "zzz")
    assert result.stderr.endswith("'exact', 'head', 'partial', 'minimum'.\n")


@pytest.mark.parametrize(
    ("options", "meant"),
    [({"matching": "heads"}, "head"), ({"keep_singletons": "no"}, "false")],
)
def test_choices_in_python(options, meant):
    with pytest.raises(closeread.RequestError, match=rf" Did you mean '{meant}'\?$"):
        closeread.score("coref", KEY, gold=KEY, **options)


@pytest.mark.parametrize(
    ("call", "meant"),
    [
        (lambda: closeread.score("mctaco", [], confg="sample"), "config"),
        (lambda: closeread.score("coref", KEY, gold=KEY, metric="lea"), "metrics"),
        (lambda: closeread.score("coref", KEY, gold=KEY, matchin="head"), "matching"),
        (lambda: closeread.table("mctaco", ["a"], confg="sample"), "config"),
        (lambda: closeread.count("mctaco", "a", confg="sample"), "config"),
        (lambda: closeread.validate("mctaco", "a", confg="sample"), "config"),
        (lambda: closeread.errors("coref", KEY, gold=KEY, confg="sample"), "config"),
        (lambda: closeread.baseline("mctaco", "random", confg="sample"), "config"),
        (lambda: closeread.stats("mctaco", confg="sample"), "config"),
        (lambda: closeread.show("mctaco", confg="sample"), "config"),
    ],
)
def test_parameters_of_functions_are_suggested_with_options(call, meant):
    with pytest.raises(closeread.RequestError, match=rf"\. Did you mean '{meant}'\?") as raised:
        call()
    choices = str(raised.value).partition("(choose from: ")[2].split(", ")
    assert meant in choices


@pytest.mark.parametrize("name", ["key", "references"])
def test_other_names_of_parameters(name):
    with pytest.raises(closeread.RequestError, match=rf"^{name} is .*\. Did you mean 'gold'\?$"):
        closeread.score("coref", KEY, **{name: KEY})


def test_arguments_of_functions_without_options(here):
    with pytest.raises(
        TypeError, match=r"^no such argument of schema: 'corpsu'\. Did you mean 'corpus'"
    ):
        closeread.schema(corpsu="mctaco")
    with pytest.raises(TypeError) as raised:
        closeread.score("coref", "key.conll", "response.conll")
    assert str(raised.value) == (
        "score takes name and predictions by position, but 3 arguments were given; "
        "name the others, such as gold="
    )


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("lea", "coref_lea"),
        ("bcubed", "coref_b3"),
        ("coref_leaa", "coref_lea"),
        ("coref_bcub", "coref_b3"),
        ("mctacoo", "mctaco"),
        ("posession", "possession"),
        ("precision", None),
        ("rouge", None),
    ],
)
def test_modules_of_evaluate(name, meant):
    assert suggest_module(name) == (f" Did you mean '{meant}'?" if meant else "")
