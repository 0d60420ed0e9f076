"""Records of JSON that other tools write: their shape, and the names of the documents in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from closeread.exceptions import FormatError, Problem, ProblemList, RequestError, quote
from closeread.formats.json_lines import decode_json, parse_json_lines
from closeread.records import Record
from closeread.tasks.coref.formats.coref_json import SURROGATES
from closeread.tasks.coref.formats.standoff.records import Positions, StandoffFile

Shape = TypeVar("Shape")


class Extent(msgspec.Struct):
    """Where a token or a span begins and ends, in characters."""

    start: int
    end: int

    @property
    def positions(self) -> Positions:
        """Both numbers."""
        return self.start, self.end


def find_outside(text: str, places: Iterable[Positions]) -> Iterator[str]:
    """Yield where tokens or spans are that no part of the text has, and what was expected."""
    for begin, end in places:
        if not 0 <= begin <= end <= len(text):
            yield f"{begin} to {end} (expected characters from 0 to {len(text):,})"


NAME_FIELDS = (
    "document",
    "doc_id",
    "doc_key",
    "document_id",
    "file_name",
    "filename",
    "title",
    "name",
)
"""The fields with a document's name, in the order in which they are looked for."""

PARENTS_OF_FIELDS = ("", "data.", "meta.")
"""Where these fields may be."""


def load_records(file: StandoffFile) -> list[tuple[Record, int | None]]:
    """Return the objects of JSON Lines, or of a list, or the only one, each with its line."""
    text = file.text
    lines = text.removesuffix("\n").split("\n")
    parsed = parse_json_lines(lines, SURROGATES)
    if not parsed.problems:
        return list(zip(parsed.records, parsed.lines, strict=True))
    is_whole = text.lstrip().startswith("[") or len(parsed.records) == 0
    if not is_whole:
        raise FormatError(file.name, parsed.problems)
    content = decode_json(text, file.name)
    records: list[Any] = content if isinstance(content, list) else [content]
    for record in records:
        if not isinstance(record, Mapping):
            problem = Problem(f"{quote(str(record))} is no document (expected objects of JSON)")
            raise FormatError(file.name, [problem])
    return [(record, None) for record in records]


def convert_records(
    file: StandoffFile, records: Iterable[tuple[Record, int | None]], shape: type[Shape]
) -> list[Shape]:
    """Return records as objects of a class that declares their fields; others are left out.

    Raises:
        FormatError: a field is missing, or of another type.
    """
    converted = []
    problems = ProblemList()
    for number, (record, line) in enumerate(records):
        try:
            converted.append(msgspec.convert(record, shape))
        except msgspec.ValidationError as error:
            place = "" if line else f"[{number}]: "
            problems.add(place + _word(error), line)
    problems.raise_any(file.name)
    return converted


def _word(error: msgspec.ValidationError) -> str:
    """Return the message of an error in lower case, without the sign that stands for the record."""
    message = str(error).replace("`$.", "`").replace("`", "'")
    return message[:1].lower() + message[1:]


def name_records(
    records: Sequence[tuple[Record, int | None]],
    chosen_field: str,
    fallbacks: Sequence[str],
    owners: Sequence[str] = (),
) -> list[str]:
    """Return the names of documents: the first field that all of them have, with other values for each of an owner's.

    Args:
        records: the documents, and the line of each.
        chosen_field: the field with the name, which may be inside others, as in "meta.title"; empty to look for it.
        fallbacks: fields that are tried last; without any, documents are numbered from 1.
        owners: who annotated each of them, if they are of several annotators, who may have documents of the same names.
    """
    if chosen_field:
        values = [_find_field(record, chosen_field) for record, _ in records]
        if None in values:
            number = values.index(None) + 1
            raise RequestError(f"document {number:,} has no field {quote(chosen_field)}")
        return [str(value) for value in values]
    fields = [f"{parent}{field}" for field in NAME_FIELDS for parent in PARENTS_OF_FIELDS]
    for field in [*fields, *fallbacks]:
        values = [_find_field(record, field) for record, _ in records]
        are_names = all(isinstance(value, str | int) and value != "" for value in values)
        names = list(zip(owners, values, strict=True)) if owners else values
        if are_names and len(set(names)) == len(records):
            return [str(value) for value in values]
    return [str(number) for number in range(1, len(records) + 1)]


def _find_field(record: Record, path: str) -> Any:
    """Return the value of a field, perhaps inside others; None if it is not there."""
    value: Any = record
    for name in path.split("."):
        if not isinstance(value, Mapping):
            return None
        value = value.get(name)
    return value
