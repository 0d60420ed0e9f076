"""The released file of WikiPossessions: one possession per line, eight cells separated by `#`, without quoting.

Conventions: spaces and no-break spaces around a cell are stripped; everything inside a cell is kept, including stray
punctuation and quotation marks.  `GPE` is read as LOC, as the paper calls it.  All rows of an article, adjacent or not,
make one record, in the order of the file.  The years of an anchor are parsed from its text by
`closeread.tasks.wikipossessions.dates`; in JSON Lines, which this module also reads, they may be left out.

The articles themselves were never released.  If a folder `articles` next to the file contains `<title>.txt`, that is
the text of the record.  Titles are looked up in the listing of the folder, so no title can lead outside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any
from unicodedata import normalize

from closeread.corpus.schema import RowValidator, load_schema
from closeread.corpus.validation import fit_numbers
from closeread.exceptions import FormatError, Problem, ProblemList, escape, quote
from closeread.files import text_suffix
from closeread.formats import Format
from closeread.formats.json_lines import SUFFIXES, parse_json_lines
from closeread.formats.text import BYTE_ORDER_MARK, UNSAFE, UNSAFE_IN_TEXTS, read_bytes, read_lines
from closeread.records import Parsed, Record
from closeread.tasks.wikipossessions.rules import DERIVED, derive_anchor, is_padded

HEADER = ["Article", "Type", "Possessor", "psr_c", "order", "Duration", "TP", "Dur_c"]
CODES = {
    "type": {"PER": "PER", "ORG": "ORG", "GPE": "LOC"},
    "certainty": {"PC": "certain", "PUC": "uncertain"},
    "relation": {"Bef": "before", "Dur": "during", "Aft": "after"},
    "relation_certainty": {"C": "certain", "UC": "uncertain"},
}
"""The meanings of the codes of a column, by the field of a record."""

ORDER = re.compile(r"[1-9][0-9]{0,5}(\.[1-9][0-9]{0,5})*")
"""Numbers don't begin with 0, so that `1.0`, an order that was converted to a float, is not read as nested in 1."""

SEPARATOR = "#"
ARTICLES = "articles"


def read_records(path: Path, split: str) -> Parsed:
    """Read the articles of a file with their possessions; ids are titles, whatever the split."""
    del split
    if text_suffix(path) not in SUFFIXES:
        return _read_rows(path)
    parsed = parse_json_lines(read_lines(path), UNSAFE_IN_TEXTS)
    return parsed._replace(records=complete_rows(parsed.records).records)


def complete_rows(rows: Sequence[Any]) -> Parsed:
    """Add the fields derived from anchors to possessions that have none of them."""
    rows = fit_numbers(RowValidator(load_schema("wikipossessions"), "document"), rows)
    return Parsed([_complete_row(row) for row in rows], None, [])


def _complete_row(row: Any) -> Any:
    if isinstance(row, dict) and isinstance(row.get("possessions"), list):
        return {**row, "possessions": list(map(_complete, row["possessions"]))}
    return row


def _complete(possession: Any) -> Any:
    if not isinstance(possession, dict):
        return possession
    anchor = possession.get("anchor")
    is_derived = any(possession.get(name) is not None for name in DERIVED)
    if is_derived or not isinstance(anchor, str | None):
        return possession
    return {**possession, **derive_anchor(anchor)}


def _read_rows(path: Path) -> Parsed:
    """Read a file in the released format."""
    lines = read_lines(path)
    header = _split_line(lines[0])
    problems = ProblemList()
    if header != HEADER:
        problems.add(f"the header is {quote(lines[0])} (expected {SEPARATOR.join(HEADER)})", 1)
        if len(header) != len(HEADER):
            return Parsed([], [], problems)  # a different kind of file
    if len(lines) == 1:
        problems.add("there are no rows after the header (expected one per possession)", 1)
    records: dict[str, Record] = {}
    line_numbers: dict[str, int] = {}
    for number, line in islice(enumerate(lines, start=1), 1, None):
        cells = _split_line(line)
        article = cells[0]
        messages = list(_check_row(cells))
        prefix = f"article {quote(article)}: " if article and len(cells) > 1 else ""
        for message in messages:
            problems.add(prefix + message, number)
        if messages:
            continue
        if article not in records:
            line_numbers[article] = number
            records[article] = {"article": article, "possessions": [], "text": None}
        records[article]["possessions"].append(_parse_row(cells))
    texts, unreadable = article_texts(path.parent / ARTICLES, records)
    for article, text in texts.items():
        records[article]["text"] = text
    for article, error in unreadable:
        for problem in error.problems:
            problems.add(f"{escape(error.source)}: {problem.text}", line_numbers[article])
    return Parsed(list(records.values()), list(line_numbers.values()), problems)


def _split_line(line: str) -> list[str]:
    return [cell.strip() for cell in line.split(SEPARATOR)]


def _check_row(cells: Sequence[str]) -> Iterator[str]:
    """Find all problems of a row."""
    if len(cells) != len(HEADER):
        yield f"the number of cells is {len(cells)} (expected {len(HEADER)}: {SEPARATOR.join(HEADER)})"
        return
    row = dict(zip(HEADER, cells, strict=True))
    for name, cell in row.items():
        unsafe = UNSAFE.search(cell)
        if unsafe:
            yield f"{name} {quote(cell)} contains the control character U+{ord(unsafe[0]):04X}"
    for name in ("Article", "Possessor"):
        if not row[name]:
            yield f"{name} is empty (expected a name)"
    if not ORDER.fullmatch(row["order"]):
        expected = "a number such as 6, or 6.1 for a possession within possession 6"
        yield f"order is {quote(row['order'])} (expected {expected})"
    for name, codes in zip(("Type", "psr_c", "TP", "Dur_c"), CODES.values(), strict=True):
        is_optional = name in ("TP", "Dur_c")
        if row[name] not in codes and (row[name] or not is_optional):
            expected = f"{', '.join(codes)} or nothing" if is_optional else " or ".join(codes)
            yield f"{name} is {quote(row[name])} (expected {expected})"
    if bool(row["TP"]) != bool(row["Dur_c"]):
        present, absent = ("TP", "Dur_c") if row["TP"] else ("Dur_c", "TP")
        yield f"{present} is {quote(row[present])} but {absent} is empty (expected both or neither)"
    if row["TP"] and not row["Duration"]:
        yield f"TP is {quote(row['TP'])} but Duration is empty (expected a time, or no TP)"


def _parse_row(cells: Sequence[str]) -> Record:
    _, kind, possessor, certainty, order, anchor, relation, relation_certainty = cells
    return {
        "type": CODES["type"][kind],
        "possessor": possessor,
        "certainty": CODES["certainty"][certainty],
        "order": order,
        "anchor": anchor or None,
        **derive_anchor(anchor),
        "relation": CODES["relation"].get(relation),
        "relation_certainty": CODES["relation_certainty"].get(relation_certainty),
    }


def article_texts(
    folder: Path, articles: Iterable[str]
) -> tuple[dict[str, str], list[tuple[str, FormatError]]]:
    """Read the texts of articles; return those found by title, and the titles of unreadable files with the error."""
    if not folder.is_dir():
        return {}, []
    # Some file systems store accents as separate characters.
    files = {normalize("NFC", file.name): file for file in sorted(folder.iterdir())}
    texts: dict[str, str] = {}
    unreadable: list[tuple[str, FormatError]] = []
    for article in articles:
        file = files.get(normalize("NFC", f"{article}.txt"))
        if file is None:
            continue
        try:
            texts[article] = _read_text(file)
        except FormatError as error:
            unreadable.append((article, error))
    return texts, unreadable


def _read_text(path: Path) -> str:
    try:
        text = read_bytes(path).removeprefix(BYTE_ORDER_MARK).decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"byte {error.start + 1} is not valid UTF-8 (expected UTF-8 text)"
        raise FormatError(path, [Problem(message)]) from None
    text = text.replace("\r\n", "\n")
    unsafe = UNSAFE_IN_TEXTS.search(text)
    if unsafe:
        raise FormatError(path, [Problem(f"contains the control character U+{ord(unsafe[0]):04X}")])
    return text


def dump_records(records: Iterable[Record]) -> str:
    """Return the records as the text of a released file, with its padding and without article texts."""
    lines = [SEPARATOR.join(HEADER)]
    for record in records:
        article = record["article"]
        possessions = record["possessions"]
        if not possessions:
            raise ValueError(
                f"{quote(article)}: has no possessions, which this format can't represent"
            )
        lines += [_format_row(article, possession) for possession in possessions]
    return "".join(line + "\n" for line in lines)


def _format_row(article: str, possession: Mapping[str, Any]) -> str:
    possessor = possession["possessor"]
    anchor = possession["anchor"]
    for cell in (article, possessor, anchor or "none"):
        if is_padded(cell) or SEPARATOR in cell or UNSAFE.search(cell):
            raise ValueError(
                f"{quote(article)}: this format can't represent the cell {quote(cell)}"
            )
    codes = {name: _find_code(name, possession[name]) for name in CODES}
    # The release pads all cells except orders, years and empty ones.
    time = anchor or ""
    if time and not time.isdecimal():
        time = f" {time} "
    cells = [
        f"{article} ",
        codes["type"],
        f" {possessor} ",
        codes["certainty"],
        possession["order"],
        time,
        codes["relation"],
        codes["relation_certainty"],
    ]
    return SEPARATOR.join(cells)


def _find_code(field: str, value: str | None) -> str:
    """Return the cell for the value of a field; empty if there is none."""
    for code, meaning in CODES[field].items():
        if meaning == value:
            return f" {code} "
    return ""


FORMAT = Format(
    read=read_records,
    write=dump_records,
    suffixes=SUFFIXES,
    unsafe=UNSAFE_IN_TEXTS,
    complete=complete_rows,
)
