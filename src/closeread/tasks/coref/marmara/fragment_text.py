"""The text of a fragment as distributed: decoded, and repaired until it is XML.

Conventions: fragments are in windows-1254, and often not well-formed: attributes of words hold quotation marks, `<`,
`>` and `&` as they are, and so does the text.  Only words (`W`) are repaired, and lines keep their numbers.
"""

from __future__ import annotations

import codecs
import re

from closeread.exceptions import Problem

AUTO = "auto"
UTF_8, WINDOWS = "utf-8", "windows-1254"
MARK = "\ufeff"
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

WORD_START = re.compile(r"<W(?=\s)")
WORD_END = "</W>"
NAME = re.compile(r"\s+([A-Za-z_][\w.:-]*)\s*=\s*([\"'])")
TAG_END = re.compile(r"\s*(/?)>")
LIST_END = {quote: re.compile(rf"\]{quote}(?=\s+[A-Za-z_][\w.:-]*\s*=|\s*/?>)") for quote in "\"'"}
"""Where a value that is a list ends: its quotation marks may also stand inside."""

AMPERSAND = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#[0-9]+|#x[0-9A-Fa-f]+);)")
"""An `&` that does not begin an entity that XML defines."""


def is_encoding(name: str) -> bool:
    """Return whether a name is that of an encoding of text.

    >>> [is_encoding(name) for name in ("latin5", "rot13", "none")]
    [True, False, False]
    """
    try:
        "".encode(name)  # refuses codecs that are not of text
    except (LookupError, ValueError):
        return False
    return True


def decode(data: bytes, encoding: str = AUTO) -> str:
    """Return the text of a fragment, without a byte order mark.

    Args:
        data: its bytes.
        encoding: their encoding; `auto` for UTF-8 if they begin with its byte order mark, or are valid UTF-8 with
            characters beyond ASCII, else windows-1254, whatever the file declares.

    Raises:
        UnicodeError: the bytes are not in the encoding.
    """
    if encoding != AUTO:
        return data.decode(encoding).removeprefix(MARK)
    if data.startswith(UTF_16):  # any bytes are text in windows-1254
        raise UnicodeDecodeError(UTF_8, data, 0, 1, "byte order mark of UTF-16")
    if data.startswith(codecs.BOM_UTF8):
        return data.decode(UTF_8).removeprefix(MARK)
    try:
        return data.decode(UTF_8)  # nothing beyond ASCII is the same in both
    except UnicodeDecodeError:
        return data.decode(WINDOWS)


def describe_decoding_error(error: UnicodeError, encoding: str = AUTO) -> Problem:
    """Return what is wrong with the bytes of a fragment, with the line.

    Args:
        error: the error.
        encoding: the encoding that `decode` was given.
    """
    if not isinstance(error, UnicodeDecodeError):
        return Problem(f"can't be decoded as {encoding}: {error}")
    if encoding == AUTO and error.object.startswith(UTF_16):
        return Problem(f"is UTF-16 text (expected UTF-8 or {WINDOWS})")
    before = error.object[: error.start]
    column = len(before) - (before.rfind(b"\n") + 1) + 1
    tried = encoding if encoding != AUTO else UTF_8 if error.encoding == UTF_8 else WINDOWS
    found = f"byte {column} (0x{error.object[error.start]:02x}) is not valid {tried}"
    return Problem(found, before.count(b"\n") + 1)


def repair(text: str) -> str:
    """Escape whatever is not XML in the attributes and the text of words; the rest is left as it is.

    >>> print(repair('''<W IX="1" IG="[(1,""+Punc")]" REL="[,( )]"> " </W>'''))
    <W IX="1" IG="[(1,&quot;&quot;+Punc&quot;)]" REL="[,( )]"> &quot; </W>
    """
    starts = [found.start() for found in WORD_START.finditer(text)]
    if not starts:
        return text
    parts = [text[: starts[0]]]
    # A word ends before the next one, so that one that can't be repaired takes no other with it.
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        parts.append(_repair_word(text[start:end]))
    return "".join(parts)


def _repair_word(text: str) -> str:
    """Repair a word at the start of a text; return the text as it is if its tag has another form."""
    place = len("<W")
    parts = [text[:place]]
    while (found := NAME.match(text, place)) is not None:
        quotation = found[2]
        value_start = found.end()
        if text.startswith("[", value_start):
            end = LIST_END[quotation].search(text, value_start)
            value_end = -1 if end is None else end.start() + 1
        else:
            value_end = text.find(quotation, value_start)
        if value_end < 0:
            return text
        parts += [text[place:value_start], escape_all(text[value_start:value_end]), quotation]
        place = value_end + 1
    tag_end = TAG_END.match(text, place)
    if tag_end is None:
        return text
    parts.append(tag_end[0])
    place = tag_end.end()
    if not tag_end[1]:
        word_end = text.find(WORD_END, place)
        if word_end < 0:
            return text
        parts.append(escape_all(text[place:word_end]))
        place = word_end
    return "".join([*parts, text[place:]])


def escape_all(text: str) -> str:
    """Escape `<`, `>`, `&` and quotation marks, except in entities that XML defines."""
    escaped = AMPERSAND.sub("&amp;", text).replace("<", "&lt;").replace(">", "&gt;")
    return escaped.replace('"', "&quot;").replace("'", "&apos;")
