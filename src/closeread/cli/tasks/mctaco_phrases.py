"""Subcommands that make event phrases for McTaco."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from closeread.cli import options
from closeread.cli.notes import tell
from closeread.exceptions import escape_line

if TYPE_CHECKING:
    from closeread.cli.task_group import Commands

max_words = click.option(
    "--max-words",
    type=click.IntRange(min=2),
    default=10,
    show_default=True,
    help="Leave out phrases with more words.",
)


@click.command("text", cls=options.WritingCommand, short_help="Collect the event phrases of plain texts.")
@options.files
@click.option(
    "--spacy-model",
    metavar="NAME",
    required=True,
    help="Use this spaCy pipeline with a parser, installed or in a folder.",
)
@max_words
@options.output
def from_texts(files: tuple[Path, ...], spacy_model: str, max_words: int, output: Path) -> None:
    """Collect the event phrases of plain texts with a spaCy parser: verbs with subjects and objects.

    Paragraphs are separated by blank lines.  A line of the output is a phrase; none occurs twice.

    \b
    Example:
      closeread phrases text novel.txt letters.txt \\
        --spacy-model en_core_web_sm -o events.txt
    """
    from closeread.cli.printing import track
    from closeread.corpus.pipelines import load_pipeline, parse
    from closeread.exceptions import pluralize, read_all
    from closeread.tasks.mctaco.event_phrases.parsed import find_event_phrases, read_paragraphs
    from closeread.tasks.mctaco.event_phrases.pool import make_pool

    pipeline = load_pipeline(spacy_model, "closeread phrases text")
    texts = read_all(files, lambda path: read_paragraphs(path, pipeline.max_length))
    paragraphs = [paragraph for text in texts for paragraph in text]
    documents = track(parse(pipeline, paragraphs, "DEP", "POS"), "Parsing", len(paragraphs))
    pool = make_pool((phrase for document in documents for phrase in find_event_phrases(document)), max_words=max_words)
    _write(output, pool)
    click.echo(
        escape_line(f"{output}: {pluralize(len(pool), 'phrase')} from {pluralize(len(paragraphs), 'paragraph')}")
    )


@click.command("propbank", cls=options.WritingCommand, short_help="Collect the event phrases in PropBank's frames.")
@click.argument("frames", type=options.FILE, nargs=-1, required=True)
@click.option(
    "--invalid",
    type=click.Choice(["error", "skip"]),
    default="error",
    show_default=True,
    help="How to treat files that can't be read or are not well-formed: report an error, or skip them with a note.",
)
@max_words
@options.output
def from_propbank(frames: tuple[Path, ...], invalid: Any, max_words: int, output: Path) -> None:
    """Collect the event phrases of the examples in PropBank's frames: files, or folders of them.

    PropBank's frames are on GitHub: propbank/propbank-frames.  A line of the output is a phrase; none occurs twice.

    \b
    Examples:
      closeread phrases propbank propbank-frames/frames --invalid skip \\
        -o events.txt
      closeread phrases propbank build.xml leave.xml -o events.txt
    """
    from closeread.exceptions import pluralize
    from closeread.tasks.mctaco.event_phrases.pool import make_pool
    from closeread.tasks.mctaco.event_phrases.propbank import read_frames

    found = read_frames(frames, invalid=invalid)
    pool = make_pool(found.phrases, max_words=max_words)
    tell(f"skipped {error}" for error in found.skipped)
    if found.without_places:
        lacking = pluralize(found.without_places, "example")
        tell([f"{lacking} left out: the places of predicate or arguments are unknown or not in the text."])
    _write(output, pool)
    sources = f"{pluralize(found.examples, 'example')} in {pluralize(found.files, 'file')}"
    click.echo(escape_line(f"{output}: {pluralize(len(pool), 'phrase')} from {sources}"))


def _write(output: Path, pool: list[str]) -> None:
    from closeread.files import write_text

    write_text(output, "".join(f"{phrase}\n" for phrase in pool))


COMMANDS: Commands = {"phrases": {"text": from_texts, "propbank": from_propbank}}
