"""The released file of WikiPossessions: a possession a line, eight cells separated by `#`, without quoting.

Conventions: cells are padded with blanks and no-break spaces, which are no part of them; everything inside a cell is
kept, stray punctuation and quotation marks included.  `GPE` is read as LOC, the paper's name for it.  All rows of an
article make one record, in the order of the file and wherever they stand.  What the anchor's text says of years is
read off by `closeread.tasks.wikipossessions.kernels.anchors`, and in JSON Lines, which this module reads too, need not
be written down.

The articles themselves were never released.  Where a folder `articles` beside the file holds `<title>.txt`, that is
the record's text.  Titles are looked up among the names that the folder lists, so no title, whatever it holds,
leads anywhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from unicodedata import normalize

from closeread.errors import FormatError, Problem, escape, quote
from closeread.formats import Format
from closeread.formats.json_lines import SUFFIXES, read_json_lines
from closeread.formats.text import BYTE_ORDER_MARK, UNSAFE, read_bytes, read_lines
from closeread.records import Parsed, Record
from closeread.tasks.wikipossessions.rules import DERIVED, derive_anchor, is_padded

HEADER = ("Article", "Type", "Possessor", "psr_c", "order", "Duration", "TP", "Dur_c")
SEPARATOR = "#"
TYPES = {"PER": "PER", "ORG": "ORG", "GPE": "LOC"}
CERTAINTIES = {"PC": "certain", "PUC": "uncertain"}
RELATIONS = {"Bef": "before", "Dur": "during", "Aft": "after"}
RELATION_CERTAINTIES = {"C": "certain", "UC": "uncertain"}
ORDER = re.compile(r"[1-9][0-9]{0,5}(\.[1-9][0-9]{0,5})*")
"""Nothing begins with 0, so that `1.0`, an order that went through a number, is not taken for a part of 1."""

ARTICLES = "articles"


def read_records(path: Path, split: str) -> Parsed:
    """The articles of a file, each with its possessions; their names are their titles, whatever the split.

    Raises:
        FormatError: the file can't be read as text (see `closeread.formats.text`).
    """
    del split
    if path.suffix not in SUFFIXES:
        return _read_rows(path)
    parsed = read_json_lines(path)
    for record in parsed.records:
        _derive(record.get("possessions"))
    return parsed


def _derive(possessions: object) -> None:
    """Add what anchors say to the possessions that say nothing of it."""
    for possession in possessions if isinstance(possessions, list) else ():
        if isinstance(possession, dict) and all(possession.get(name) is None for name in DERIVED):
            anchor = possession.get("anchor")
            if anchor is None or isinstance(anchor, str):
                possession.update(derive_anchor(anchor))


def _read_rows(path: Path) -> Parsed:
    """The articles of a file as it was released."""
    header, *lines = read_lines(path)
    found = [cell.strip() for cell in header.split(SEPARATOR)]
    problems = []
    if found != list(HEADER):
        problems.append(Problem(f"the header is {quote(header)}; needed: {SEPARATOR.join(HEADER)}", 1))
        if len(found) != len(HEADER):
            return Parsed([], [], problems)  # some other file
    possessions: dict[str, list[Record]] = {}
    first: dict[str, int] = {}
    for number, line in enumerate(lines, start=2):
        cells = [cell.strip() for cell in line.split(SEPARATOR)]
        wrong = list(_wrong_with(cells))
        article = f"article {quote(cells[0])}: " if cells[0] and len(cells) > 1 else ""
        problems += [Problem(article + what, number) for what in wrong]
        if not wrong:
            first.setdefault(cells[0], number)
            possessions.setdefault(cells[0], []).append(_possession(cells))
    if not lines:
        problems.append(Problem("there is no row after the header; needed: one for every possession", 1))
    texts, unreadable = article_texts(path.parent / ARTICLES, first)
    for article, error in unreadable:
        problems += [Problem(f"{escape(error.source)}: {p.what}", first[article]) for p in error.problems]
    records = [
        {"article": article, "possessions": of_article, "text": texts.get(article)}
        for article, of_article in possessions.items()
    ]
    return Parsed(records, list(first.values()), problems)


def _wrong_with(cells: Sequence[str]) -> Iterator[str]:
    """Everything that is wrong with a row."""
    if len(cells) != len(HEADER):
        yield f"the number of cells is {len(cells)}; needed: {len(HEADER)} ({SEPARATOR.join(HEADER)})"
        return
    row = dict(zip(HEADER, cells, strict=True))
    for name, cell in row.items():
        if unsafe := UNSAFE.search(cell):
            yield f"{name} {quote(cell)} holds the control character U+{ord(unsafe[0]):04X}"
    for name in ("Article", "Possessor"):
        if not row[name]:
            yield f"{name} is empty; needed: a name"
    for name, codes in (("Type", TYPES), ("psr_c", CERTAINTIES)):
        if row[name] not in codes:
            yield f"{name} is {quote(row[name])}; needed: {' or '.join(codes)}"
    if not ORDER.fullmatch(row["order"]):
        needed = "a number such as 6, or 6.1 for a possession inside possession 6"
        yield f"order is {quote(row['order'])}; needed: {needed}"
    for name, codes in (("TP", RELATIONS), ("Dur_c", RELATION_CERTAINTIES)):
        if row[name] not in codes and row[name]:
            yield f"{name} is {quote(row[name])}; needed: {', '.join(codes)} or nothing"
    if bool(row["TP"]) != bool(row["Dur_c"]):
        there, absent = ("TP", "Dur_c") if row["TP"] else ("Dur_c", "TP")
        yield f"{there} is {quote(row[there])} and {absent} is empty; needed: both or neither"
    if row["TP"] and not row["Duration"]:
        yield f"TP is {quote(row['TP'])} and Duration is empty; needed: a time, or no TP"


def _possession(cells: Sequence[str]) -> Record:
    _, kind, possessor, certainty, order, anchor, relation, relation_certainty = cells
    return {
        "type": TYPES[kind],
        "possessor": possessor,
        "certainty": CERTAINTIES[certainty],
        "order": order,
        "anchor": anchor or None,
        **derive_anchor(anchor),
        "relation": RELATIONS.get(relation),
        "relation_certainty": RELATION_CERTAINTIES.get(relation_certainty),
    }


def article_texts(folder: Path, articles: Iterable[str]) -> tuple[dict[str, str], list[tuple[str, FormatError]]]:
    """The texts of the articles that the folder has, and the articles whose files can't be read, with the reason.

    Args:
        folder: where texts may be; it need not exist.
        articles: their titles.
    """
    if not folder.is_dir():
        return {}, []
    # Some file systems take names apart into letters and accents.
    files = {normalize("NFC", file.name): file for file in sorted(folder.iterdir())}
    texts: dict[str, str] = {}
    unreadable: list[tuple[str, FormatError]] = []
    for article in articles:
        file = files.get(normalize("NFC", f"{article}.txt"))
        if file is None:
            continue
        try:
            texts[article] = _text(file)
        except FormatError as error:
            unreadable.append((article, error))
    return texts, unreadable


def _text(path: Path) -> str:
    try:
        text = read_bytes(path).removeprefix(BYTE_ORDER_MARK).decode("utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(path, [Problem(f"byte {error.start + 1} is not UTF-8; needed: UTF-8 text")]) from None
    text = text.replace("\r\n", "\n")
    if unsafe := UNSAFE.search(re.sub("[\n\t]", "", text)):
        raise FormatError(path, [Problem(f"holds the control character U+{ord(unsafe[0]):04X}")])
    return text


def dump_records(records: Iterable[Record]) -> str:
    """The records as the text of a released file, padded as the release is; article texts are dropped.

    Raises:
        ValueError: a record holds what the format can't express: no possession, or a cell that holds `#` or a
            control character, or is padded.
    """
    lines = [SEPARATOR.join(HEADER)]
    for record in records:
        if not record["possessions"]:
            raise ValueError(f"{quote(record['article'])}: there is no possession, which this format can't express")
        lines += [_line(record["article"], possession) for possession in record["possessions"]]
    return "".join(line + "\n" for line in lines)


def _line(article: str, possession: Mapping[str, Any]) -> str:
    codes = {
        name: {word: code for code, word in table.items()}
        for name, table in (
            ("type", TYPES),
            ("certainty", CERTAINTIES),
            ("relation", RELATIONS),
            ("relation_certainty", RELATION_CERTAINTIES),
        )
    }
    written = {name: table.get(possession[name], "") for name, table in codes.items()}
    possessor, order, anchor = possession["possessor"], possession["order"], possession["anchor"]
    for cell in (article, possessor, anchor or "none"):
        if is_padded(cell) or SEPARATOR in cell or UNSAFE.search(cell):
            raise ValueError(f"{quote(article)}: this format can't express the cell {quote(cell)}")
    # The release pads everything but orders, years and what is empty.
    padded = [f"{article} ", f" {written['type']} ", f" {possessor} ", f" {written['certainty']} ", order]
    padded.append(anchor if anchor and anchor.isdecimal() else f" {anchor} " if anchor else "")
    padded += [f" {written[name]} " if written[name] else "" for name in ("relation", "relation_certainty")]
    return SEPARATOR.join(padded)


FORMAT = Format(read=read_records, write=dump_records, suffixes=SUFFIXES)
