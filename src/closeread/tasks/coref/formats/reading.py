"""What the module of a format offers, and how files are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from closeread.corpus.declaration import Repair
from closeread.tasks.coref.documents import Documents


class Reading(NamedTuple):
    """How files are read.

    Attributes:
        is_response: whether they are the output of a system, whose predictions may be next to gold annotation.
        word_column: the column of the words of CoNLL files, from 1; "auto" to guess it.
        is_tolerant: whether wrong tags of language models cost only their mention.
        is_reread: whether the file can be read again, so that its text takes no memory until then.
        repairs: cells of files of a corpus that are read in another way.
    """

    is_response: bool = False
    word_column: str = "auto"
    is_tolerant: bool = False
    is_reread: bool = False
    repairs: Sequence[Repair] = ()


DEFAULT_READING = Reading()


class CorefFormat(NamedTuple):
    """A format as its module offers it.

    Attributes:
        read: reads the documents of a file.
        write: returns documents as the text of a file; a ValueError names content that the format can't express.  None
            if files of the format are only read.
        can_be_blind: whether `write` has an argument `blind`, to leave out the entities, which a language model is to
            find.
    """

    read: Callable[[Path, Reading], Documents]
    write: Callable[..., str] | None = None
    can_be_blind: bool = False
