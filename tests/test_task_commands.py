"""The operations of tasks are found by walking their packages, and nothing heavy is imported to list them."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from closeread.cli import main
from closeread.cli.groups import Group
from closeread.corpus.baselines import corpora_with_baselines
from closeread.corpus.names import corpus_names
from closeread.operations import COMMANDS, HIDDEN, TASKS, TOPICS
from closeread.parameters import Sources, Written, describe, list_fields
from closeread.tasks import find_all, load_procedure

BY_CORPUS = ("baseline", "prepare")
NAMES = [name for name, (home, _) in COMMANDS.items() if home == TASKS and name not in BY_CORPUS]


def test_every_command_is_in_the_list_or_hidden():
    listed = [name for names in TOPICS.values() for name in names.split()]
    assert sorted([*listed, *HIDDEN]) == sorted(COMMANDS)


def test_the_page_of_the_command_line_has_every_command():
    page = Path(__file__).parent.parent / "docs" / "command-line.md"
    cells = re.findall(r"^\| (`.+?`) \|", page.read_text("utf-8"), re.MULTILINE)
    names = {name for cell in cells for name in re.findall(r"`([\w-]+)`", cell)}
    assert sorted(names | set(HIDDEN)) == sorted(COMMANDS)


def acrostic(words: Sources, *, reverse: bool = False, lines: int = 3) -> Written:
    """Build an acrostic.

    Args:
        reverse: Reverse it.
        lines: Write N lines.
    """
    return Written(None, f"{lines} lines of {len(words)} words" + (", reversed" if reverse else ""))


@pytest.fixture
def add_operation(monkeypatch):
    """Adds an operation to a group of a task for the time of a test."""
    module = find_all("operations")[0]

    def add(group, name):
        offered = {**module.OPERATIONS, group: {**module.OPERATIONS.get(group, {}), name: acrostic}}
        monkeypatch.setattr(module, "OPERATIONS", offered)

    return add


def test_a_new_operation_is_a_new_subcommand(run, add_operation):
    assert run("prepare", "tne", "acrostic").exit_code == 2
    add_operation("prepare tne", "acrostic")
    assert (
        run("prepare", "tne", "acrostic", "a.txt", "b.txt", "--reverse").stdout
        == "3 lines of 2 words, reversed\n"
    )
    assert "Build an acrostic." in run("prepare", "tne", "--help").stdout
    assert "--lines INTEGER" in run("prepare", "tne", "acrostic", "--help").stdout
    assert "acrostic" not in run("convert", "--help").stdout


def test_two_tasks_can_not_offer_the_same_operation(run, add_operation):
    add_operation("plot", "confusion")
    with pytest.raises(ValueError, match="and another task both offer `plot confusion`"):
        run("plot", "confusion")


@pytest.mark.parametrize("name", NAMES)
def test_every_group_finds_its_subcommands(name):
    group = main.get_command(None, name)
    assert isinstance(group, Group)
    assert group.list_commands(None)
    assert group.get_command(None, "nothing") is None


def test_every_operation_is_in_a_group_and_says_what_its_parameters_are():
    groups = {
        *NAMES,
        *(f"prepare {corpus}" for corpus in corpus_names()),
        *(f"baseline {corpus}" for corpus in corpora_with_baselines()),
    }
    for module in find_all("operations"):
        assert set(module.OPERATIONS) <= groups
        for operation in (
            one for of_group in module.OPERATIONS.values() for one in of_group.values()
        ):
            for one in describe(operation):
                several = one.is_options or list_fields(one) != (one,)
                assert one.is_argument or one.help or several, one.name


def test_messages_name_the_option(run):
    wrong = run("errors", "mctaco", "yes.jsonl", "--config", "sample", "--by", "unti")
    assert "no such --by: 'unti'. Did you mean 'unit'?" in wrong.stderr
    assert [
        f"batches of N {noun}" in run("train", task, "--help").stdout
        for task, noun in (("tne", "documents"), ("mctaco", "candidate"))
    ] == [True, True]


@pytest.mark.gate
@pytest.mark.parametrize("name", NAMES)
def test_help_imports_only_what_is_light(name):
    look = "import atexit, sys; from closeread.cli import main\n"
    look += "list_all = lambda: [name + '/' * hasattr(one, '__path__') for name, one in sys.modules.items()]\n"
    look += "atexit.register(lambda: print(*list_all(), file=sys.stderr))\n"
    command = [sys.executable, "-c", f"{look}main([{name!r}, '--help'])"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    heavy = {
        "numpy",
        "scipy",
        "pyarrow",
        "matplotlib",
        "datasets",
        "torch",
        "wcwidth",
        "jsonschema",
    }
    imported = set(done.stderr.split())
    assert not {module.split(".")[0].rstrip("/") for module in imported} & heavy
    of_tasks = {
        one for one in imported if one.startswith("closeread.tasks.") and not one.endswith("/")
    }
    assert all(one.endswith(".operations") for one in of_tasks)


@pytest.mark.parametrize("procedure", ["coref", "mctaco", "tne"])
def test_errors_have_the_options_of_scores(procedure, ran):
    text = ran("errors", procedure, "--help-all")
    declared = load_procedure(procedure)
    names = [option.name for option in declared.options] + ["preset"] * bool(declared.presets)
    assert [name for name in names if f"--{name.replace('_', '-')}" not in text] == []


def test_errors_of_coreference_name_the_fields_of_scores(ran):
    choices = "Choose from: {},".format(
        ", ".join([*load_procedure("coref").fields, *load_procedure("coref").breakdowns])
    )
    words = [
        " ".join(ran(command, "coref", "--help-all").split()) for command in ("errors", "score")
    ]
    assert [choices in text for text in words] == [True, True]


def test_names_are_separated_by_commas_or_given_one_by_one(ran):
    ran("export", "mctaco", "a", "--config", "sample", "--config", "sample_flat")
    ran("export", "mctaco", "b", "--config", "sample,sample_flat")
    files = [
        {path.relative_to(folder).as_posix() for path in Path(folder).rglob("*.parquet")}
        for folder in ("a", "b")
    ]
    assert files[0] == files[1]
    assert {name.split("/")[0] for name in files[0]} == {"sample", "sample_flat"}


def test_a_day_is_a_date(run):
    words = ("prepare", "wikipossessions", "articles", "texts", "--config", "sample")
    message = "--as-of is 'May' (expected a day, such as 2017-06-12)"
    assert message in run(*words, "--as-of", "May").stderr
