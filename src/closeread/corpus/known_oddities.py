"""The oddities of a corpus's released files, all splits of all configs together."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from closeread.corpus.declaration import Corpus
from closeread.corpus.gold import read_gold, splits_at_hand
from closeread.exceptions import UnavailableError


class Part(NamedTuple):
    """The oddities of a split.

    Attributes:
        config, split: their names.
        texts: one sentence for each.
    """

    config: str
    split: str
    texts: list[str]


class KnownOddities(NamedTuple):
    """The oddities of a corpus.

    Attributes:
        parts: the splits with oddities.
        notices: which splits were not read, or are not the released ones, one sentence each.
    """

    parts: list[Part]
    notices: list[str]


def find_known_oddities(corpus: Corpus, data_dir: Path | None = None) -> KnownOddities:
    """Read all splits of a corpus, and list the oddities of its released files.

    Args:
        corpus: the declaration.
        data_dir: a folder with the corpus's files; None to look in the usual places.

    Raises:
        InputError: files differ from the released ones though they are in the usual places, or are invalid.
    """
    parts: list[Part] = []
    absent: list[str] = []
    others: list[str] = []
    for config, declared in corpus.configs.items():
        if declared.flattens:  # the same files as another config
            continue
        ships = any(source.url is None for source in declared.splits.values())
        folder = None if ships else data_dir
        here = splits_at_hand(corpus, config, folder)
        for split in declared.splits:
            name = f"{split} ({config})"
            try:
                gold = read_gold(corpus, config, split, folder) if split in here else None
            except UnavailableError:
                gold = None
            if gold is None:
                absent.append(name)
            elif gold.released is not True:
                others.append(name)
            elif gold.known_oddities:
                parts.append(Part(config, split, gold.known_oddities))
    notices = [f"left out, since the files are not here: {', '.join(absent)}"] if absent else []
    notices += (
        [f"left out, since the files are not known to be the released ones: {', '.join(others)}"] if others else []
    )
    return KnownOddities(parts, notices)
