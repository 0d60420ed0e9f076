"""The formats of coreference files: each reads documents, checks as it goes, and writes them.

Help texts, options, messages and pages name formats as the table here does.  The module of a format is imported when a
file of it is read or written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from closeread.formats import Format
from closeread.formats.json_lines import SUFFIXES
from closeread.records import Parsed, Record

WrittenFormat = Literal["conll", "corefud", "jsonl", "crac-text", "crac-json", "coref-data"]
"""The names of the formats that can be written, for options."""


class Reading(NamedTuple):
    """How files are read.

    Attributes:
        is_response: whether they are the output of a system, whose predictions may be next to gold annotation.
        word_column: the column of the words of CoNLL files, from 1; "auto" to guess it.
        is_tolerant: whether wrong tags of language models cost only their mention.
    """

    is_response: bool = False
    word_column: str = "auto"
    is_tolerant: bool = False


@dataclass(frozen=True)
class CorefFormat(Format):
    """A format as its module offers it.

    Attributes:
        read_with: reads a file as told, if that makes a difference.
        write_blind: returns the text of a file without entities, which a language model is to find.
    """

    read_with: Callable[[Path, Reading], Parsed] | None = None
    write_blind: Callable[[Sequence[Record]], str] | None = None


class NamedFormat(NamedTuple):
    """A format that people and options name.

    Attributes:
        title: its name in texts.
        module: the module that reads and writes it.
        first_line: how the first line that is not blank begins.
        suffixes: the suffixes of files whose first line tells nothing.
        is_for_models: whether it is written for language models.
    """

    title: str
    module: str
    first_line: re.Pattern[str]
    suffixes: tuple[str, ...] = ()
    is_for_models: bool = False


CRAC_TAG = r"(?:\[\w+\]?|\w+\])"
"""A tag of CRAC's text."""

FORMATS = {
    "conll": NamedFormat(
        "CoNLL", "conll", re.compile(r"#\s*begin\s+document", re.ASCII), (".conll",)
    ),
    "universal-anaphora": NamedFormat(
        "Universal Anaphora",
        "conllua",
        re.compile(r"#\s*global\.columns\s*=(?:.*\s)?IDENTITY(?:\s|$)", re.ASCII),
        (".conllua",),
    ),
    "corefud": NamedFormat(
        "CorefUD",
        "conllu",
        re.compile(r"#\s*(?:global\.|newdoc|newpar|sent_id|text\b|generator\b|meta::)", re.ASCII),
        (".conllu",),
    ),
    "crac-json": NamedFormat(
        "CRAC's JSON",
        "crac_json",
        re.compile(r"\[\s*(?:\{|$|\])"),
        (".json",),
        is_for_models=True,
    ),
    "jsonl": NamedFormat(
        "JSON Lines",
        "coref_json",
        # A list is not JSON Lines, but nothing else either, save a link.
        re.compile(r"\{|\[(?!.*\]\(#)"),
        SUFFIXES,
    ),
    "coref-data": NamedFormat(
        "coref-data",
        "coref_data",
        re.compile("PAR1"),
        (".parquet",),
        is_for_models=True,
    ),
    "arrau": NamedFormat(
        "ARRAU", "arrau", re.compile(r"TOKEN(?:\s|$)|\S+[ \t]+[BI]-markable_[0-9]", re.ASCII)
    ),
    "crac-text": NamedFormat(
        "CRAC's text",
        "marked_text",
        re.compile(rf".*(?:\S\|{CRAC_TAG}(?:,|\s|$)|<[A-Za-z]\w*[0-9]>|\]\(#)"),
        (".txt",),
        is_for_models=True,
    ),
}
"""The formats by their names for options, in the order in which they are tried."""
