"""Files of other tools, which are named instead of being judged as a broken form of ours."""

from __future__ import annotations

import re
from typing import NamedTuple

MAX_BYTES_CHECKED = 2**16
"""How many bytes of a file are looked at."""

COREFERENCE = "export or convert it to CoNLL-2012, CoNLL-U or JSON"
TEXT = "save it as text"


class ForeignFile(NamedTuple):
    """A kind of file that is not read.

    Attributes:
        beginning: a regular expression for how files of this kind begin.
        name: what it is called in messages.
        advice: what to do with it.
    """

    beginning: bytes
    name: str
    advice: str


FOREIGN_FILES = (
    ForeignFile(rb"PK\x03\x04(?s:.){0,4000}\[Content_Types\]", "an Office document", "save it as CSV or text"),
    ForeignFile(rb"(?i:\s*<(!DOCTYPE html|html)\b)", "a page in HTML", "download the file itself"),
    ForeignFile(rb"PK\x03\x04", "a zip archive", "unpack it; a log of inspect-ai ends in .eval"),
    ForeignFile(rb"(?s:.){257}ustar(  )?\0", "a tar archive", "unpack it"),
    ForeignFile(rb"%PDF-", "a PDF", TEXT),
    ForeignFile(rb"\x80[\x02-\x05]", "a pickle, which is never loaded", "write its content as JSON"),
    ForeignFile(rb"UIMA", "a binary CAS of UIMA", COREFERENCE),
    ForeignFile(
        rb"T[0-9]+\t\S+ [0-9]+ [0-9]|R[0-9]+\t\S+ Arg1:|(MENTION|COREF)\tT[0-9]+\t", "brat's standoff", COREFERENCE
    ),
    ForeignFile(rb"#FORMAT=WebAnno TSV| ?# ?webanno\.custom\.", "WebAnno's TSV (INCEpTION)", COREFERENCE),
    ForeignFile(rb"\s*(<\?xml[^>]*>\s*)?<xmi:XMI", "XMI of UIMA (INCEpTION)", COREFERENCE),
    ForeignFile(rb"\s*(<\?xml[^>]*>\s*)?<GateDocument", "a document of GATE", COREFERENCE),
    ForeignFile(rb"\s*(<\?xml[^>]*>\s*)?(<!DOCTYPE markables[^>]*>\s*)?<markables", "markables of MMAX2", COREFERENCE),
    ForeignFile(rb'\s*\{\s*"%(TYPES|HEADER|FEATURE_STRUCTURES|VIEWS)"', "CAS JSON of UIMA (INCEpTION)", COREFERENCE),
    ForeignFile(
        rb'\s*(\[\s*)?\{(?s:.){0,4000}"(annotations|completions)"\s*:\s*\[\s*\{(?s:.){0,4000}"result"',
        "an export of Label Studio",
        COREFERENCE,
    ),
    ForeignFile(rb'\s*\{.*"_input_hash"', "an export of Prodigy", COREFERENCE),
    ForeignFile(rb'\s*\{(?=.*"text":)(?=.*"entities": ?\[).*"relations": ?\[', "an export of doccano", COREFERENCE),
    ForeignFile(rb'\s*\{.*"tokens": ?\[\{"id": ?0, ?"start": ?0', "a document of spaCy", COREFERENCE),
    ForeignFile(rb'\s*\{(?s:.){0,4000}"corefs"\s*:\s*\{', "output of CoreNLP", COREFERENCE),
)  # fmt: skip


def describe_foreign_file(content: bytes) -> str:
    """Say which other tool has written a file with this content, and what to do; empty if none is known."""
    beginning = content[:MAX_BYTES_CHECKED]
    for kind in FOREIGN_FILES:
        if re.match(kind.beginning, beginning):
            return f"is {kind.name} (expected a file that closeread reads; {kind.advice})"
    return ""
