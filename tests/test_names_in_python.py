"""Each public function takes the names that the command of the same name takes: tried with all names that there are."""

import re

import click
import pytest
from click.testing import CliRunner

import closeread
from closeread.cli import main
from closeread.corpus.names import corpus_names
from closeread.exceptions import InputError, RequestError
from closeread.tasks import procedure_names

ALIASES = (
    "timeline_awareness",
    "possession",
    "tne_links",
    "mctaco_metric",
    "coref_b3",
    "chess",
    "",
    "Coref",
)
"""Names of modules, of which some are the only ones of their procedures, and of nothing."""

OUT = "out.jsonl"
KINDS_OF_COMMANDS = (
    *(
        "adjudicate",
        "agreement",
        "convert",
        "errors",
        "plot",
    ),
)
NOTHING = "nothing.jsonl"
REFUSED = re.compile(
    r"no such (procedure|corpus|kind|subcommand)| is a metric of |no such measure|may be |procedure \w+ scores "
    r"|has nothing to |has no baselines "
)

CALLS = {
    "adjudicate": lambda name: closeread.adjudicate(name, NOTHING, output=OUT),
    "export": lambda name: closeread.export(name, NOTHING, configs=["nothing"]),
    "prepare": lambda name: closeread.prepare(name, "nothing"),
    "agreement": lambda name: closeread.agreement(name, NOTHING, NOTHING),
    "baseline": lambda name: closeread.baseline(name, "nothing"),
    "compare": lambda name: closeread.compare(name, NOTHING, NOTHING, gold=NOTHING),
    "convert": lambda name: closeread.convert(name, NOTHING),
    "errors": lambda name: closeread.errors(name, NOTHING, gold=NOTHING),
    "predict": lambda name: closeread.predict(name, NOTHING, nothing=1),
    "plot": lambda name: closeread.plot(name, NOTHING, NOTHING, NOTHING, nothing=1),
    "score": lambda name: closeread.score(name, NOTHING, gold=NOTHING),
    "show": lambda name: closeread.show(name, gold=NOTHING),
    "table": lambda name: closeread.table(name, [NOTHING], gold=NOTHING),
    "train": lambda name: closeread.train(name, NOTHING, encoder=NOTHING, nothing=1),
    "validate": lambda name: closeread.validate(name, NOTHING, gold=NOTHING),
    "view": lambda name: closeread.view(name, NOTHING, gold=NOTHING),
}
WORDS = {"export": [NOTHING, "--config", "nothing"], "show": ["--gold", NOTHING]}
"""What follows the name in the command line of commands without subcommands."""

NO_NAMES = {"merge", "submit"}
"""What takes names of other things, too; both sides call one function."""


def get_command(name):
    return main.get_command(click.Context(main), name)


def list_names(command):
    """All names: of corpora, procedures, some modules, subcommands, and whatever Python has of this kind."""
    names = [*corpus_names(), *procedure_names(), *ALIASES, "all"]
    if command in KINDS_OF_COMMANDS:
        names += get_command(command).list_commands(click.Context(main))
    return dict.fromkeys(name for name in names)


def get_subcommands(command):
    found = get_command(command)
    return found.list_commands(click.Context(main)) if isinstance(found, click.Group) else []


def is_taken_in_python(command, name):
    try:
        CALLS[command](name)
    except (RequestError, InputError) as error:
        return not REFUSED.search(str(error))
    return True


def is_taken_on_the_command_line(command, name):
    found = get_command(command)
    context = click.Context(found, info_name=command)
    try:
        if isinstance(found, click.Group):
            return found.get_command(context, name) is not None
    except RequestError:
        return False
    done = CliRunner().invoke(main, [command, name, *WORDS[command]])
    return not REFUSED.search(done.output)


def test_all_functions_that_are_commands_are_tried():
    commands = main.list_commands(click.Context(main))
    shared = {
        name
        for name in closeread.__all__
        if name in commands and callable(getattr(closeread, name))
    }
    assert shared - NO_NAMES == CALLS.keys()


@pytest.mark.parametrize("command", CALLS)
def test_names_of_functions_and_commands(command, here):
    names = list_names(command)
    in_python = {name for name in names if is_taken_in_python(command, name)}
    assert in_python == {name for name in names if is_taken_on_the_command_line(command, name)}
    assert in_python >= {"coref"} or "coref" not in get_subcommands(command)
    assert not {"chess", "", "Coref"} & in_python


def test_errors_of_a_corpus_are_those_of_its_procedure():
    key, response = {"a": [[[0, 0], [1, 1]]]}, {"a": [[[0, 0], [2, 2]]]}
    found = [str(closeread.errors(name, response, gold=key)) for name in ("marmara_coref", "coref")]
    assert found[0] == found[1]


@pytest.mark.parametrize("kind", ["coref", "chains"])
def test_errors_take_the_key_as_gold(kind):
    key, response = {"a": [[[0, 0], [1, 1]]]}, {"a": [[[0, 0], [2, 2]]]}
    with pytest.raises(RequestError, match=f"errors {kind} needs gold: the key"):
        closeread.errors(kind, key, response)


def test_figures_without_options_are_drawn():
    pytest.importorskip("matplotlib")
    assert closeread.plot("stats", "tne", config="sample").axes
