"""Commands with one subcommand for every procedure, whose arguments and options come from the procedure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from closeread.cli import options
from closeread.cli.completion import complete_scored
from closeread.cli.names import NamesGroup
from closeread.cli.options import GroupedCommand, format_examples
from closeread.exceptions import RequestError, escape
from closeread.tasks import procedure_names

if TYPE_CHECKING:
    from pathlib import Path

    from click.shell_completion import CompletionItem

    from closeread.counts.procedure import GoldSpec, Procedure

    Build = Callable[[Procedure, str | None, str], click.Command]
    """Makes a subcommand from the procedure, the corpus that it scores (None if gold is a key given by the user), and
    the name on the command line."""


class ProcedureGroup(NamesGroup, GroupedCommand):
    """Subcommands by procedure; the name of a corpus or of an evaluate module selects the procedure that scores it.

    Args:
        build: makes the subcommand.
    """

    def __init__(self, *args: Any, build: Build, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._build = build

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the procedures."""
        return procedure_names()

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        """Return the subcommand of a procedure or a corpus.

        Raises:
            RequestError: there is no such procedure or corpus (the message suggests a similar name), or the procedure
                scores several corpora.
        """
        from closeread.scoring import find_procedure

        return self._build(*find_procedure(cmd_name), cmd_name)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the names of corpora and procedures, or of options; no procedure is imported."""
        return [*complete_scored(incomplete), *click.Command.shell_complete(self, ctx, incomplete)]


def gold_arguments(corpus: str | None) -> Callable[[options.F], options.F]:
    """Return the parameters for gold: the key as the first argument, or the options of a corpus."""
    if corpus is None:
        return click.argument("gold", type=options.FILE, metavar="KEY")
    return options.gold_options


def find_kinds(files: Sequence[Path]) -> list[str]:
    """Return what is in each file, as `detect_kind` does; in pipes, which can be read only once, predictions."""
    from closeread.counts.systems import detect_kind
    from closeread.formats.text import is_open_pipe

    return ["predictions" if is_open_pipe(path) else detect_kind(path) for path in files]


def take_key(files: tuple[Path, ...]) -> tuple[Path | None, tuple[Path, ...]]:
    """Return the key, if the first file is one, and the systems; counts and reports need no key.

    Raises:
        RequestError: there is no key, but a response.
    """
    are_stored = [kind != "predictions" for kind in find_kinds(files)]
    if all(are_stored):
        return None, files
    if are_stored[0]:
        raise RequestError(f"{escape(str(files[0]))} is not a key (expected the key before the systems)")
    return files[0], files[1:]


def corpus_options(corpus: str | None) -> list[click.Parameter]:
    """Return the options for the folders of a corpus that users get from their owners."""
    from closeread.corpus.names import load_corpus

    return [] if corpus is None else options.file_options([load_corpus(corpus)])


def read_place(values: Mapping[str, Any]) -> GoldSpec:
    """Return where gold is, from a command's parameters."""
    from closeread.counts.procedure import GoldSpec

    config, split, gold = (values.get(name) for name in ("config", "split", "gold"))
    return GoldSpec(None, config, split, gold, options.take_files(values))


def procedure_options(procedure: Procedure, corpus: str | None = None) -> list[click.Parameter]:
    """Return the flags of a procedure's options and presets, with the defaults of a corpus in their help."""
    from closeread.scoring import resolve_options

    declared = options.declared_options(procedure.options, resolve_options(procedure, corpus, {}))
    return [*([options.preset(procedure)] if procedure.presets else []), *declared]


def given_options(procedure: Procedure, values: Mapping[str, Any]) -> dict[str, str]:
    """Return the values of a procedure's options, and the name of a preset, that were given to a command."""
    given = {name: values.get(name) for name in ("preset", *(option.name for option in procedure.options))}
    return {name: value for name, value in given.items() if value is not None}


def examples(procedure: Procedure, corpus: str | None, command: str, *endings: str) -> str:
    """Return the examples of a command's help: the command on the procedure's files, with each of these endings."""
    files = procedure.help.response if corpus else f"{procedure.help.key} {procedure.help.response}"
    return format_examples([f"closeread {command} {files} {ending}".rstrip() for ending in endings])
