"""The formats of coreference files: each reads documents to a table of mentions, checks as it goes, and writes them.

Help texts, options, messages and pages name formats as the table here does.
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
    """

    title: str
    module: str


FORMATS = {
    "conll": NamedFormat("CoNLL", "conll"),
    "universal-anaphora": NamedFormat("Universal Anaphora", "conllua"),
    "corefud": NamedFormat("CorefUD", "conllu"),
    "crac-json": NamedFormat("CRAC's JSON", "crac_json"),
    "jsonl": NamedFormat("JSON Lines", "coref_json"),
    "coref-data": NamedFormat("coref-data", "coref_data"),
    "arrau": NamedFormat("ARRAU", "arrau"),
    "crac-text": NamedFormat("CRAC's text", "marked_text"),
}
"""The formats by their names for options, in the order in which they are tried."""
