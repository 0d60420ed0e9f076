"""What shells complete: names of corpora, configs, splits, fields, metrics and modules.

Declarations are read for it, and nothing heavier: a shell waits for each answer.  Whatever is unknown completes to
nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import click

from closeread.corpus.names import corpus_names, find_corpus, list_scored, load_corpus
from closeread.exceptions import RequestError
from closeread.files import package_folder
from closeread.tasks import procedure_names

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from closeread.corpus.declaration import Corpus

    Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def _select(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    """Return the names that begin so; those of corpora with their titles."""
    from click.shell_completion import CompletionItem

    corpora = corpus_names()
    near = [name for name in names if name.startswith(incomplete)]
    return [CompletionItem(name, help=load_corpus(name).title if name in corpora else None) for name in near]


def complete_corpora(incomplete: str, others: Iterable[str] = ()) -> list[CompletionItem]:
    """Return the corpora, and other words, that begin so; procedures that score one corpus only if there are none."""
    found = _select([*corpus_names(), *others], incomplete)
    return found or [one for one in _select(procedure_names(), incomplete) if len(list_scored(one.value)) == 1]


def complete_scored(incomplete: str) -> list[CompletionItem]:
    """Return the corpora and procedures whose names begin so, sorted."""
    return _select(sorted({*corpus_names(), *procedure_names()}), incomplete)


def complete_configs(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the configs of the command's corpus; if it is unknown, the sample, which every corpus has."""
    corpus = _find_corpus(ctx)
    return _select(["sample"] if corpus is None else corpus.configs, incomplete)


def complete_splits(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the splits of the config that is given, or of the default one."""
    corpus, given = _find_corpus(ctx), ctx.params.get("config")
    if corpus is None:
        return []
    config = corpus.configs.get(given if isinstance(given, str) else corpus.default_config)
    return [] if config is None else _select(config.split_names, incomplete)


def complete_paper_tables(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the tables of the paper of the command's corpus, by number, or name; in bash, with spaces escaped."""
    corpus = _find_corpus(ctx)
    if corpus is None:
        return []
    import json

    # The module beside this file recomputes the tables, and imports a lot.
    printed = package_folder("closeread.tasks").joinpath(*corpus.task.split("."), "reproduction.json")
    if not printed.is_file():
        return []
    tables: list[str] = [table["name"] for table in json.loads(printed.read_text("utf-8"))["tables"]]
    found = _select([name.removeprefix("Table ") for name in tables], incomplete) or _select(tables, incomplete)
    if os.environ.get("_CLOSEREAD_COMPLETE", "").startswith("bash"):  # other shells escape what they are told
        for one in found:
            one.value = one.value.replace(" ", "\\ ")
    return found


def complete_modules(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the evaluate modules."""
    from closeread.hf.modules import module_names

    return _select(module_names(), incomplete)


def complete_cited(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the corpora, procedures and evaluate modules that begin so, and closeread itself; metrics need imports."""
    modules = complete_modules(ctx, param, incomplete)
    found = [*complete_scored(incomplete), *modules, *_select(["closeread"], incomplete)]
    return list({one.value: one for one in found}.values())


def find(name: str) -> Complete | None:
    """Return a completion of this module by its name, such as "configs"; None for no name."""
    return globals()[f"complete_{name}"] if name else None


def complete_list(names: Sequence[str]) -> Complete:
    """Return what completes the last of several names that are separated by commas."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        before, comma, last = incomplete.rpartition(",")
        given = before.split(",")
        return _select([f"{before}{comma}{name}" for name in names if name not in given], f"{before}{comma}{last}")

    return complete


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
