"""Subcommands by task are found by walking `closeread.cli.tasks`, and nothing heavy is imported to list them."""

import subprocess
import sys

import pytest

from closeread.cli import main, tasks
from closeread.cli.task_group import TaskGroup
from closeread.corpus.baselines import corpora_with_baselines

GROUPS = (
    *("adjudicate", "agreement", "articles", "build", "convert", "errors", "extract", "perturb", "phrases", "plot"),
    *("predict", "timeline", "train"),
)

ACROSTICS = '''
import click


@click.command()
def plot() -> None:
    """Draw an acrostic."""
    click.echo("drawn")


COMMANDS = {"plot": {"acrostic": plot}, "build": {"acrostics": plot}}
'''


@pytest.fixture
def add_task(monkeypatch, tmp_path):
    """Adds a module to `closeread.cli.tasks` for the time of a test."""
    monkeypatch.setattr(tasks, "__path__", [*tasks.__path__, str(tmp_path)])

    def add(name, source):
        (tmp_path / f"{name}.py").write_text(source, "utf-8")
        monkeypatch.delitem(sys.modules, f"{tasks.__name__}.{name}", raising=False)

    yield add
    for path in tmp_path.glob("*.py"):
        sys.modules.pop(f"{tasks.__name__}.{path.stem}", None)


def test_a_new_module_is_a_new_subcommand(run, add_task):
    assert run("plot", "acrostic").exit_code == 2
    add_task("acrostics", ACROSTICS)
    assert run("plot", "acrostic").stdout == "drawn\n"
    assert run("build", "acrostics").stdout == "drawn\n"
    assert "Draw an acrostic." in run("plot", "--help").stdout
    assert "timeline" in run("plot", "--help").stdout
    assert "acrostic" not in run("convert", "--help").stdout


def test_two_tasks_can_not_offer_the_same_subcommand(run, add_task):
    add_task("acrostics", ACROSTICS.replace('"acrostic"', '"confusion"'))
    with pytest.raises(ValueError, match="acrostics and another task both offer `plot confusion`"):
        run("plot", "confusion")


@pytest.mark.parametrize("name", GROUPS)
def test_every_group_finds_its_subcommands(name):
    group = main.get_command(None, name)
    assert isinstance(group, TaskGroup)
    assert group.list_commands(None)
    assert group.get_command(None, "nothing") is None


def test_every_module_offers_to_groups_that_exist():
    from importlib import import_module
    from pkgutil import iter_modules

    groups = {*GROUPS, *(f"baseline {corpus}" for corpus in corpora_with_baselines())}
    for module in iter_modules(tasks.__path__):
        assert set(import_module(f"{tasks.__name__}.{module.name}").COMMANDS) <= groups


def test_build_timeline_has_an_alias(run):
    groups = {name: main.get_command(None, name) for name in ("build", "timeline")}
    assert groups["build"].get_command(None, "timeline") is groups["timeline"].get_command(None, "build")
    assert "\n  timeline " not in run("--help").stdout
    assert "\n  build " in run("--help").stdout


@pytest.mark.gate
@pytest.mark.parametrize("name", GROUPS)
def test_help_imports_only_what_is_light(name):
    look = "import atexit, sys; from closeread.cli import main\n"
    look += "atexit.register(lambda: print(*sys.modules, file=sys.stderr))\n"
    command = [sys.executable, "-c", f"{look}main([{name!r}, '--help'])"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    heavy = {"numpy", "scipy", "pyarrow", "matplotlib", "datasets", "torch", "rich", "jsonschema"}
    imported = set(done.stderr.split())
    assert not {module.split(".")[0] for module in imported} & heavy
    assert not any(module.startswith("closeread.tasks.") for module in imported)
