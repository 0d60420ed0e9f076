"""Gold of annotators: files in a corpus's format, or records in memory."""

from __future__ import annotations

from pathlib import Path

from closeread.corpus.declaration import Corpus
from closeread.corpus.gold import Gold, read_own_gold, take_own_gold
from closeread.counts.annotators import Annotator


def read_annotator_gold(corpus: Corpus, annotator: Annotator) -> Gold:
    """Read the records of an annotator.

    Raises:
        InputError: they are missing or invalid; all problems at once.
    """
    source = annotator.source
    return read_own_gold(corpus, source) if isinstance(source, Path) else take_own_gold(corpus, source, annotator.name)
