"""`closeread completion`."""

from __future__ import annotations

import click

from closeread.cli.options import GroupedCommand

SHELLS = ("bash", "zsh", "fish")

ASKED = 'response=$(env COMP_WORDS="${COMP_WORDS[*]}" COMP_CWORD=$COMP_CWORD '
"""How click's script for bash passes on what was typed."""

REJOINED = """local words=() i
    for ((i = 0; i <= COMP_CWORD; i++)); do  # to bash, the = in --config=NAME is a word of its own
        [[ ${COMP_WORDS[i]} == = && ${COMP_WORDS[i - 1]} == --* && i -lt COMP_CWORD ]] || words+=("${COMP_WORDS[i]}")
    done
    response=$(env COMP_WORDS="${words[*]}" COMP_CWORD=$((${#words[@]} - 1)) """
"""The same without the equals signs between options and their values, which click takes for the values."""


@click.command(cls=GroupedCommand, short_help="Print the script that completes commands in a shell.")
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Print the script that completes commands, options, and names of corpora, configs, splits and metrics in a shell.

    \b
    Examples:
      eval "$(closeread completion bash)"    # in ~/.bashrc
      eval "$(closeread completion zsh)"     # in ~/.zshrc, after compinit
      closeread completion fish > ~/.config/fish/completions/closeread.fish
    """
    from click.shell_completion import get_completion_class

    from closeread.cli import main

    found = get_completion_class(shell)
    if found is None:
        raise click.UsageError(f"this version of click completes nothing in {shell}.")
    shown = found(main, {}, "closeread", "_CLOSEREAD_COMPLETE")
    script = shown.source_template % shown.source_vars()  # source() would run bash to see how old it is
    # A completed list of names has commas; without this, fish would cut it at the first.
    script = script.replace('string split ","', 'string split --max 1 ","')
    click.echo(script.replace(ASKED, REJOINED), nl=False)
