"""Where the gold of a corpus is, from the arguments of a function."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from closeread.corpus.declaration import Corpus
from closeread.corpus.objects import FileOrRows
from closeread.counts.procedure import GoldSpec, OptionValue
from closeread.exceptions import RequestError
from closeread.scoring import make_place


def take_place(
    corpus: Corpus,
    gold: FileOrRows | None = None,
    config: str | None = None,
    split: str | None = None,
    data_dir: str | Path | None = None,
    options: Mapping[str, OptionValue] | None = None,
) -> GoldSpec:
    """Return where the gold of a corpus is.

    Args:
        corpus: its declaration.
        gold, config, split, data_dir: as for `closeread.score`.
        options: folders of the corpus and options of reading it.

    Raises:
        RequestError: an option is neither; a FormatError if the gold is neither files nor rows.
    """
    place, rest = make_place(corpus.name, gold, config, split, data_dir, options)
    if rest:
        raise RequestError(f"unexpected arguments for {corpus.name}: {', '.join(rest)}")
    return place._replace(corpus=corpus.name)
