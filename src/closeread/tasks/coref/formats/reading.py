"""What the module of a format offers, and how files are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from closeread.corpus.declaration import Repair
from closeread.formats import Format
from closeread.records import Parsed, Record
from closeread.tasks.coref.documents import documents_of


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


@dataclass(frozen=True)
class CorefFormat(Format):
    """A format as its module offers it.

    Attributes:
        read_with: reads a file in one of several ways.
        write_blind: returns the text of a file without entities, which a language model is to find; None if it is not
            written for them.
    """

    read_with: Callable[[Path, Reading], Parsed] = field(kw_only=True)
    write_blind: Callable[[Sequence[Record]], str] | None = None


def make_format(
    read_with: Callable[[Path, Reading], Parsed], *writers: Callable[[Sequence[Record]], str]
) -> CorefFormat:
    """Return a format, given how it is read, and how it is written with entities and without them."""
    write, write_blind = (*writers, None, None)[:2]
    return CorefFormat(
        lambda path, _split: read_with(path, DEFAULT_READING),
        write,
        read_with=read_with,
        write_blind=write_blind,
    )


def make_writer(dump: Callable[..., str], **options: bool) -> Callable[[Sequence[Record]], str]:
    """Return a function that writes documents, whatever they are given as."""
    return lambda records: dump(documents_of(records).documents, **options)
