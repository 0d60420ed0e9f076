"""The formats of coreference files: each reads documents, checks as it goes, and writes them.

Help texts, options, messages and pages name formats as the table here does.  The module of a format is imported when a
file of it is read or written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple

from closeread.parameters import Param

WrittenFormat = Literal[
    "conll", "corefud", "jsonl", "crac-text", "crac-json", "coref-data", "webanno-tsv"
]
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


STANDOFF_HELP = {
    "layer": "Read entities from these layers of chains; with another choice, mentions are the spans of these layers.",
    "relation": "Read entities from these relations of an annotation tool's files: NAME, or NAME=LABEL,LABEL.",
    "entity_feature": "Read entities from this feature of an annotation tool's files, or from numbered labels (label).",
    "annotator": "Read this annotator of an export that has several.",
    "document_field": "Name the documents of an annotation tool's JSON by this field, such as meta.title.",
    "text_field": "Read the texts of Label Studio's tasks from this field.",
}
"""What options say about files of annotation tools, and their names."""


@dataclass(frozen=True)
class StandoffOptions:
    """What of an annotation tool's files is read; the files decide where a field is empty."""

    layer: Annotated[str, Param(metavar="NAMES", help=STANDOFF_HELP["layer"])] = ""
    relation: Annotated[str, Param(metavar="NAMES", help=STANDOFF_HELP["relation"])] = ""
    entity_feature: Annotated[str, Param(metavar="NAME", help=STANDOFF_HELP["entity_feature"])] = ""
    annotator: Annotated[str, Param(metavar="NAME", help=STANDOFF_HELP["annotator"])] = ""
    document_field: Annotated[str, Param(metavar="FIELD", help=STANDOFF_HELP["document_field"])] = (
        ""
    )
    text_field: Annotated[str, Param(metavar="FIELD", help=STANDOFF_HELP["text_field"])] = ""


ALL_ANNOTATION = StandoffOptions()
"""Nothing is chosen."""

STANDOFF_FORMATS = {
    "webanno-tsv": NamedFormat(
        "WebAnno TSV", "webanno_tsv.read_webanno_tsv", "#FORMAT=WebAnno TSV 3"
    ),
    "cas-xmi": NamedFormat("UIMA CAS XMI", "cas.read_xmi", r"(?:<\?xml[^>]*>\s*)?<xmi:XMI"),
    "cas-json": NamedFormat(
        "UIMA CAS JSON",
        "cas.read_cas_json",
        r'\{\s*"%(?:TYPES|HEADER|FEATURE_STRUCTURES|VIEWS)"',
    ),
    "brat": NamedFormat("brat", "brat.read_brat", r"T\d+\t\S+ \d+ \d+"),
    "label-studio": NamedFormat(
        "Label Studio",
        "json_tools.read_label_studio",
        r'(?s)[\[{](?=.*"(?:annotations|completions)"\s*:\s*\[)(?=.*"(?:result|data)"\s*:)',
    ),
    "doccano": NamedFormat(
        "doccano",
        "json_tools.read_doccano",
        r'\{(?=.*"text"\s*:)(?=.*"entities"\s*:)(?=.*"relations"\s*:)',
    ),
    "prodigy": NamedFormat(
        "Prodigy",
        "json_tools.read_prodigy",
        r'\{(?=.*"text"\s*:)(?=.*"tokens"\s*:)(?=.*"(?:relations|_input_hash)"\s*:)',
    ),
    "spacy": NamedFormat(
        "spaCy",
        "systems.read_spacy",
        r'(?s)\{(?=.*"text"\s*:)(?=.*"coref_(?:head_)?clusters_\d+"\s*:)',
    ),
    "fastcoref": NamedFormat("fastcoref", "systems.read_fastcoref", r'\{.*"clusters_strings"\s*:'),
    "corenlp": NamedFormat(
        "CoreNLP",
        "systems.read_corenlp",
        r'(?s)\{(?=.*"sentences"\s*:)(?=.*"(?:corefs|originalText)"\s*:)',
    ),
}
"""The formats of annotation tools, and of systems that count characters, which can only be read.

Their modules are those of `standoff`; the patterns are of how a file begins, not only of its first line.
"""
LINE_OF_BRAT = re.compile(r"[TREAMN#]\d+\t|\*\t")

ZIP_MAGIC = b"PK\x03\x04"

ARCHIVE = "archive"
"""An archive, whose files are of an annotation tool."""

MAX_START_BYTES = 2**16
"""How much of a file decides its format."""


def recognise(start: bytes, name: str) -> str:
    """Return the format of a file from its first bytes and its name: one of the tables, `ARCHIVE`, or "" if unknown."""
    if start.startswith(ZIP_MAGIC):
        return ARCHIVE
    text = start[:MAX_START_BYTES].decode("utf-8", "replace").lstrip("\ufeff \t\r\n\v\f")
    for form, named in STANDOFF_FORMATS.items():
        if re.match(named.first_line, text):
            return form
    # An annotator may have found nothing, or begun with something else.
    if name.lower().endswith(".ann") and (not text or LINE_OF_BRAT.match(text)):
        return "brat"
    first_line = text.partition("\n")[0]
    for form, named in FORMATS.items():
        if re.match(named.first_line, first_line):
            return form
    return ""
