"""What shells complete: names of corpora, configs, splits, fields, metrics and modules.

Declarations are read for it, and nothing heavier: a shell waits for each answer.  Whatever is unknown completes to
nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import click

from closeread.corpus.names import corpus_names, find_corpus, list_scored, load_corpus
from closeread.exceptions import RequestError
from closeread.files import package_folder
from closeread.tasks import procedure_names

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from closeread.corpus.declaration import Corpus


def complete(kind: str, ctx: click.Context, incomplete: str, others: Sequence[str] = ()) -> list[CompletionItem]:
    """Return the names of a kind, and other words, that begin so."""
    return next(filter(None, (_select(names, incomplete) for names in _offer(kind, ctx, others))), [])


def complete_list(names: Sequence[str], incomplete: str) -> list[CompletionItem]:
    """Return what completes the last of several names that are separated by commas."""
    before, comma, last = incomplete.rpartition(",")
    given = before.split(",")
    return _select([f"{before}{comma}{name}" for name in names if name not in given], f"{before}{comma}{last}")


def _select(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    """Return the names that begin so, those of corpora with their titles; in bash, with spaces escaped."""
    from click.shell_completion import CompletionItem

    corpora = corpus_names()
    space = "\\ " if os.environ.get("_CLOSEREAD_COMPLETE", "").startswith("bash") else " "
    near = [name for name in names if name.startswith(incomplete)]
    return [
        CompletionItem(name.replace(" ", space), help=load_corpus(name).title if name in corpora else None)
        for name in near
    ]


def _offer(kind: str, ctx: click.Context, others: Sequence[str]) -> Iterator[Iterable[str]]:
    """Yield the names of a kind; if none of them begins as it should, those that are tried next."""
    corpus = _find_corpus(ctx)
    match kind:
        case "corpora":
            yield [*corpus_names(), *others]
            yield (name for name in procedure_names() if len(list_scored(name)) == 1)
        case "scored":
            yield sorted({*corpus_names(), *procedure_names()})
        case "configs":  # every corpus has a sample
            yield ["sample"] if corpus is None else corpus.configs
        case "splits" if corpus is not None:
            given = ctx.params.get("config")
            if config := corpus.configs.get(given if isinstance(given, str) else corpus.default_config):
                yield config.split_names
        case "modules" | "cited":
            from closeread.hf.modules import module_names

            scored = sorted({*corpus_names(), *procedure_names()}) if kind == "cited" else []
            yield dict.fromkeys([*scored, *module_names(), *(["closeread"] if scored else [])])
        case "paper_tables" if corpus is not None:  # by number, or name
            import json

            # The module beside this file recomputes the tables, and imports a lot.
            printed = package_folder("closeread.tasks").joinpath(*corpus.task.split("."), "reproduction.json")
            tables = json.loads(printed.read_text("utf-8"))["tables"] if printed.is_file() else []
            yield [table["name"].removeprefix("Table ") for table in tables]
            yield [table["name"] for table in tables]


def _find_corpus(ctx: click.Context) -> Corpus | None:
    """Return the corpus that a command is about: its argument, or as its name or its module's says; None if unknown."""
    # An option that still lacks its value keeps click from assigning arguments: they are in ctx.args.
    words = [*reversed(ctx.command_path.split()), ctx.params.get("corpus"), *ctx.args]
    words.append(getattr(ctx.command, "corpus", None))
    known = {*corpus_names(), *procedure_names()}
    for word in words:
        if word in known:
            try:
                return find_corpus(word)
            except RequestError:  # of a procedure that scores no corpus, or several
                continue
    return None


ASKED = 'response=$(env COMP_WORDS="${COMP_WORDS[*]}" COMP_CWORD=$COMP_CWORD '
"""How click's script for bash passes on what was typed."""

REJOINED = """local words=() i
    for ((i = 0; i <= COMP_CWORD; i++)); do  # to bash, the = in --config=NAME is a word of its own
        [[ ${COMP_WORDS[i]} == = && ${COMP_WORDS[i - 1]} == --* && i -lt COMP_CWORD ]] || words+=("${COMP_WORDS[i]}")
    done
    response=$(env COMP_WORDS="${words[*]}" COMP_CWORD=$((${#words[@]} - 1)) """
"""The same without the equals signs between options and their values, which click takes for the values."""


def write_script(shell: str) -> str:
    """Return the script that completes commands in a shell."""
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    if found is None:
        raise click.UsageError(f"this version of click completes nothing in {shell}.")
    shown = found(click.get_current_context().find_root().command, {}, "closeread", "_CLOSEREAD_COMPLETE")
    script = shown.source_template % shown.source_vars()  # source() would run bash to see how old it is
    # A completed list of names has commas; without this, fish would cut it at the first.
    return script.replace('string split ","', 'string split --max 1 ","').replace(ASKED, REJOINED)
