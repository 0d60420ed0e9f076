"""Every door suggests what was probably meant: commands, choices, keywords, metrics, attributes, keys."""

import pytest

import closeread

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
    assert result.stderr.endswith("'exact', 'head', 'partial', 'minimum', 'craft'.\n")


@pytest.mark.parametrize(
    ("options", "meant"),
    [({"matching": "heads"}, "head"), ({"keep_singletons": "no"}, "false")],
)
def test_choices_in_python(options, meant):
    with pytest.raises(closeread.RequestError, match=rf" Did you mean '{meant}'\?$"):
        closeread.score("coref", KEY, gold=KEY, **options)
