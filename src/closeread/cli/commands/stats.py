"""`closeread stats`."""

from __future__ import annotations

from typing import Any

import click

from closeread.cli import names, options, printing
from closeread.cli.notes import tell


@click.command(cls=options.CorpusCommand, short_help="Count documents, annotations and other figures of a corpus.")
@names.corpus
@options.config
@options.data_dir
@options.style_options
def command(corpus: str, config: str | None, style: Any, **files: Any) -> None:
    """Count documents, annotations and other figures of a corpus, split by split.

    \b
    Examples:
      closeread stats mctaco
      closeread stats mctaco --config sample --json
    """
    from closeread.corpus.facts import count_corpus

    found = count_corpus(corpus, config, options.take_files(files))
    tell(found.notices)
    printing.show_result(style, found)
