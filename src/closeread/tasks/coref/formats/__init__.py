"""The formats of coreference files: each reads documents, checks as it goes, and writes them.

Help texts, options, messages and pages name formats as the table here does.  The module of a format is imported when a
file of it is read or written.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

WrittenFormat = Literal["conll", "corefud", "jsonl", "crac-text", "crac-json", "coref-data"]
"""The names of the formats that can be written, for options."""


class NamedFormat(NamedTuple):
    """A format that people and options name.

    Attributes:
        title: its name in texts.
        module: the module that reads and writes it.
        first_line: a pattern of how the first line that is not blank begins.
        suffixes: the suffixes of files whose first line tells nothing.
    """

    title: str
    module: str
    first_line: str
    suffixes: tuple[str, ...] = ()


CRAC_TAG = r"(?:\[\w+\]?|\w+\])"
"""A tag of CRAC's text."""

FORMATS = {
    "conll": NamedFormat("CoNLL", "conll", r"(?a)#\s*begin\s+document", (".conll",)),
    "universal-anaphora": NamedFormat(
        "Universal Anaphora",
        "conllua",
        r"(?a)#\s*global\.columns\s*=(?:.*\s)?IDENTITY(?:\s|$)",
        (".conllua",),
    ),
    "corefud": NamedFormat(
        "CorefUD",
        "conllu",
        r"(?a)#\s*(?:global\.|newdoc|newpar|sent_id|text\b|generator\b|meta::)",
        (".conllu",),
    ),
    "crac-json": NamedFormat("CRAC's JSON", "crac_json", r"\[\s*(?:\{|$|\])", (".json",)),
    "jsonl": NamedFormat(
        "JSON Lines",
        "coref_json",
        # A list is not JSON Lines, but nothing else either, save a link.
        r"\{|\[(?!.*\]\(#)",
        (".jsonl", ".ndjson"),
    ),
    "coref-data": NamedFormat("coref-data", "coref_data", "PAR1", (".parquet",)),
    "arrau": NamedFormat("ARRAU", "arrau", r"(?a)TOKEN(?:\s|$)|\S+[ \t]+[BI]-markable_[0-9]"),
    "crac-text": NamedFormat(
        "CRAC's text",
        "marked_text",
        rf".*(?:\S\|{CRAC_TAG}(?:,|\s|$)|<[A-Za-z]\w*[0-9]>|\]\(#)",
        (".txt",),
    ),
}
"""The formats by their names for options, in the order in which they are tried."""
