"""Help pages at 80 columns: nothing cut, nothing broken, many options in groups."""

import re
from itertools import pairwise

import click

from closeread.cli import main
from closeread.cli.groups import HELP_ALL, SHOWS_ALL, is_rare


def every_context(command=main, parent=None, name="closeread"):
    """The contexts of all commands."""
    context = click.Context(command, info_name=name, parent=parent, **main.context_settings)
    yield context
    if isinstance(command, click.Group):
        for one in command.list_commands(context):
            yield from every_context(command.get_command(context, one), context, one)


def read_groups(text):
    """The names of options by the title above them."""
    groups, names = {}, []
    for line in text.splitlines():
        if line.endswith(":") and not line.startswith(" "):
            names = groups.setdefault(line[:-1], [])
        elif line.startswith("  -"):
            names.append(next(word.rstrip(",") for word in line.split() if word.startswith("--")))
    return groups


def list_names(text):
    return {name for names in read_groups(text).values() for name in names}


def test_no_help_is_cut_or_too_wide_at_80_columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    contexts = list(every_context())
    assert len(contexts) > 60
    for context in contexts:
        context.meta[SHOWS_ALL] = True
        _, *lines = context.command.get_help(context).splitlines()
        where = context.command_path
        assert [line for line in lines if len(line) > 79] == [], where
        commands = lines[lines.index("Commands:") :] if "Commands:" in lines else []
        assert [line for line in commands if line.endswith(("...", "…"))] == [], where


def test_broken_examples_go_on_in_the_next_line(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    for context in every_context():
        context.meta[SHOWS_ALL] = True
        lines = context.command.get_help(context).splitlines()
        for line, following in pairwise(lines):
            if line.startswith("    closeread "):
                assert line.endswith(" \\") == following.startswith("      "), (line, following)


def test_help_of_an_option_names_options_of_the_same_command():
    for context in every_context():
        options = [
            param
            for param in context.command.get_params(context)
            if isinstance(param, click.Option)
        ]
        own = {name for option in options for name in option.opts}
        for option in options:
            without_commands = re.sub("`[^`]*`", "", option.help or "")
            # those of `closeread score`
            named = set(re.findall("--[a-z][a-z-]*", without_commands)) - {"--counts"}
            assert named <= own, (context.command_path, option.name)


def test_help_of_coreference_is_a_screen_and_a_half(ran, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = ran("score", "coref", "--help").splitlines()
    assert len(lines) <= 66
    assert lines[-1].startswith("  --help-all ")
    text = ran("score", "coref", "--help-all")
    for option in ("--words", "--zeros", "--blanc-edge", "--interval", "--fields", "--metrics"):
        assert f"  {option} " in text
    assert "CoNLL-2012 has them in the fourth column" in " ".join(text.split())


def test_help_all_shows_every_option_and_help_what_is_not_rare():
    for context in every_context():
        command = context.command
        params = command.get_params(context)
        options = [one for one in params if isinstance(one, click.Option) and not one.hidden]
        rare = [option for option in options if is_rare(option)] if command.has_sections else []
        assert (HELP_ALL in options) == bool(rare or command.full_help), context.command_path
        assert not [option.name for option in rare if option.required]
        # The oldest click orders -h and --help by chance.
        names = {max(option.opts, key=len) for option in options}
        hidden = {max(option.opts, key=len) for option in rare}
        context.meta[SHOWS_ALL] = False  # it is the same object for all contexts
        assert list_names(command.get_help(context)) == names - hidden, context.command_path
        context.meta[SHOWS_ALL] = True
        assert list_names(command.get_help(context)) == names, context.command_path


def test_seeds_without_intervals_belong_to_the_procedure(run):
    groups = read_groups(run("prepare", "mctaco", "candidates", "--help").stdout)
    assert "--seed" in groups["Procedure"]
    assert "Intervals" not in groups
    assert groups["Output"][-1] == "--output"
