"""`closeread baseline`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from closeread.cli import options
from closeread.cli.derived import TaskGroup, to_keywords
from closeread.cli.names import NamesGroup
from closeread.cli.options import format_examples
from closeread.cli.printing import warnings_as_notes
from closeread.exceptions import RequestError
from closeread.suggestions import describe_unknown

if TYPE_CHECKING:
    from closeread.corpus.baselines import Baseline


class BaselineGroup(NamesGroup):
    """Subcommands by corpus, each a group of the corpus's baselines."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the corpora that have baselines."""
        from closeread.corpus.baselines import corpora_with_baselines

        return corpora_with_baselines()

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        """Return the group of a corpus.

        Raises:
            RequestError: there is no such corpus, or it has no baselines.
        """
        from closeread.corpus.baselines import corpora_with_baselines, has_baselines
        from closeread.corpus.names import find_corpus

        corpus = find_corpus(cmd_name)
        if not has_baselines(corpus.name):
            known = ", ".join(corpora_with_baselines()) or "none"
            raise RequestError(f"{corpus.name} has no baselines (corpora with baselines: {known})")
        return CorpusGroup(
            cmd_name,
            corpus=corpus.name,
            help=f"Write the predictions of a baseline of {corpus.title}.\n\n"
            + format_examples([f"closeread baseline {cmd_name} NAME --config sample -o predictions.jsonl"]),
            short_help=f"Write the predictions of a baseline of {corpus.title}.",
        )


class CorpusGroup(NamesGroup):
    """Subcommands by baseline: those that its task declares, with their options, and those of its operations.

    Args:
        corpus: the corpus's own name; that of the group is the name that was typed.
    """

    def __init__(self, *args: Any, corpus: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._corpus = corpus

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the baselines, the declared ones first, in declared order."""
        from closeread.corpus.baselines import load_baselines

        return [*load_baselines(self._corpus), *self._commands.list_commands(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        """Return the command of a baseline.

        Raises:
            RequestError: there is no such baseline.
        """
        from closeread.corpus.baselines import load_baselines

        declared = load_baselines(self._corpus)
        if cmd_name in declared:
            return build(self._corpus, declared[cmd_name], str(self.name))
        found = self._commands.get_command(ctx, cmd_name)
        if found is None:
            known = [*declared, *self._commands.list_commands(ctx)]
            raise RequestError(describe_unknown(f"baseline of {self._corpus}", cmd_name, known))
        return found

    @property
    def _commands(self) -> TaskGroup:
        return TaskGroup(f"baseline {self._corpus}")


def build(corpus: str, baseline: Baseline, name: str) -> click.Command:
    """Return the command that writes the predictions of a baseline.

    Args:
        corpus: the corpus's own name.
        baseline: the baseline.
        name: the corpus's name on the command line.
    """
    from closeread.corpus.names import load_corpus

    example = f"closeread baseline {name} {baseline.name}"
    for option in baseline.required_options:
        example += f" --{option.name.replace('_', '-')} NAME"

    @click.command(
        cls=options.WritingCommand,
        name=baseline.name,
        help=f"{baseline.description}\n\n"
        + format_examples([f"{example} -o predictions.jsonl", f"{example} --config sample -o predictions.jsonl"]),
        short_help=baseline.description,
    )
    @options.gold_options
    @options.output
    def command(output: Path, **values: Any) -> None:
        from closeread.exceptions import escape_line
        from closeread.operations.tasks import run_baseline

        with warnings_as_notes():
            click.echo(escape_line(str(run_baseline(corpus, baseline.name, to_keywords(values), output))))

    files = options.file_options([load_corpus(corpus)])
    command.params = options.declared_options(baseline.options) + command.params + files
    return command


command = BaselineGroup(
    "baseline",
    help="""Write the predictions of a baseline.

    The suffix of the output decides its format: JSON Lines (.jsonl), or the corpus's own text format.  Timelines are
    written to a folder, one file each, if the name has no suffix.

    \b
    Examples:
      closeread baseline mctaco always-positive -o yes.jsonl
      closeread baseline mctaco random --seed 7 --split validation -o coin.txt
      closeread baseline tne surface --definition described -o surface.jsonl
      closeread baseline semeval2015_timeline creation-time --split corpus_2 \\
        -o predictions
      closeread baseline marmara_coref svr --mentions predicted -o chains.conll
      closeread baseline wikipossessions heuristics --spacy-model NAME \\
        -o out.jsonl
    """,
)
