"""A command with one subcommand for every procedure, whose options come from the procedure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from closeread.corpora.gold import corpus_names, load_corpus
from closeread.errors import RequestError, describe_unknown
from closeread.tasks import load_procedure, procedure_names

if TYPE_CHECKING:
    from closeread.counts.table import Procedure

    Build = Callable[[Procedure, str], click.Command]
    """From a procedure and the corpus that it scores to the subcommand."""


class Paired(NamedTuple):
    """How a procedure is called that is given its gold as a file of the user's, the key, before the response.

    Attributes:
        module: what reads and counts the two.
        key_options, response_options: the options that decide what may be read.
        least: what else is said to `count_pair` where nothing is asked but whether a pair can be counted.
    """

    module: str
    key_options: tuple[str, ...]
    response_options: tuple[str, ...]
    least: Mapping[str, Any]

    def load(self) -> ModuleType:
        """The module, imported now."""
        return import_module(self.module)

    def read_key(self, path: Path, settled: Mapping[str, str]) -> Any:
        """The key, by these options."""
        return self.load().read_key(path, **{name: settled[name] for name in self.key_options})

    def align(self, key: Any, path: Path, settled: Mapping[str, str]) -> Any:
        """A response beside its key, by these options."""
        return self.load().align(key, path, **{name: settled[name] for name in self.response_options})


PAIRED = {
    "coref": Paired(
        "closeread.tasks.coref.sides", ("duplicates",), ("missing", "duplicates"), {"metrics": ("mentions",)}
    ),
    "tlinks": Paired("closeread.tasks.tlinks.sides", (), ("missing", "matching"), {}),
}


class ProcedureGroup(click.Group):
    """Subcommands named by procedure; a corpus's name stands for the procedure that scores it, on that corpus.

    Args:
        build: makes the subcommand.
        paired: makes that of a procedure which is given key and response.
    """

    def __init__(self, *args: Any, build: Build, paired: Callable[[Procedure], click.Command], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._build = build
        self._paired = paired

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the procedures."""
        return procedure_names()

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        """The subcommand of a procedure, or of a corpus.

        Raises:
            RequestError: there is neither, the message names the nearest; or it is not clear which corpus is meant.
        """
        if cmd_name in PAIRED:
            return self._paired(load_procedure(cmd_name))
        corpus = _corpus(cmd_name)
        return self._build(load_procedure(load_corpus(corpus).procedure), corpus)


def _corpus(name: str) -> str:
    """The corpus that is meant by its own name or by that of a procedure."""
    corpora = corpus_names()
    if name in corpora:
        return name
    if name not in procedure_names():
        raise RequestError(describe_unknown("procedure", name, procedure_names()))
    scored = [corpus for corpus in corpora if load_corpus(corpus).procedure == name]
    if len(scored) != 1:
        raise RequestError(f"procedure {name} scores {' and '.join(scored) or 'no corpus'}; name the corpus instead")
    return scored[0]


def procedure_options(procedure: Procedure, corpus: str | None = None) -> list[click.Parameter]:
    """The procedure's options as the command line's; None where nothing is said, so that defaults stay in one place."""
    defaults = procedure.resolve_options({} if corpus is None else load_corpus(corpus).procedure_defaults)
    return [
        click.Option(
            [f"--{option.name.replace('_', '-')}", option.name],
            type=click.Choice(option.choices) if option.choices else str,
            help=f"{option.help}  [default: {defaults[option.name]}]",
        )
        for option in procedure.options
    ]


def given_options(procedure: Procedure, values: Mapping[str, Any]) -> dict[str, str]:
    """The values of the procedure's options among a command's parameters, where something was said."""
    return {option.name: values[option.name] for option in procedure.options if values[option.name] is not None}
