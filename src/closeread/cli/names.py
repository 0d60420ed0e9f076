"""Names on the command line: of a corpus, or of what is scored, each by any of its names."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

import click
from click.types import StringParamType

from closeread.cli.printing import QuietGroup
from closeread.exceptions import RequestError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class CorpusName(StringParamType):
    """The name of a corpus, or of the procedure that scores only this corpus; the value is the corpus's own name.

    Args:
        others: words that are no corpus, but accepted as they are.
    """

    name = "corpus"

    def __init__(self, *others: str) -> None:
        self.others = others

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the corpus's own name.

        Raises:
            RequestError: there is no such corpus, or the procedure scores several.
        """
        from closeread.corpus.names import find_corpus

        return value if value in self.others else find_corpus(value).name

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the corpora whose names begin so; other names only if there are none."""
        from closeread.cli.completion import complete_corpora

        return complete_corpora(incomplete, self.others)


class ScoredName(StringParamType):
    """The name of a corpus or a procedure; the value is the procedure's name if its only module is named."""

    name = "corpus or procedure"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name of a corpus or a procedure.

        Raises:
            RequestError: there is no such name.
        """
        from closeread.corpus.names import find_task

        procedure, corpus = find_task(value)
        return corpus or procedure

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the corpora and procedures whose names begin so."""
        from closeread.cli.completion import complete_scored

        return complete_scored(incomplete)


CORPUS = CorpusName()
SCORED = ScoredName()
corpus = click.argument("corpus", type=CORPUS)


class NamesGroup(QuietGroup):
    """A group that finds its subcommands by the names of corpora and procedures."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return a subcommand with its name and its arguments; none while a shell completes an unknown name.

        Raises:
            RequestError: there is no such subcommand.
        """
        try:
            return super().resolve_command(ctx, args)
        except RequestError:
            if ctx.resilient_parsing:
                return None, None, []
            raise


def rename(command: click.Command, name: str) -> click.Command:
    """Return a command under another name."""
    renamed = copy(command)
    renamed.name = name
    return renamed
