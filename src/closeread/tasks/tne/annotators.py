"""Documents of several annotators, aligned and checked: the same documents and noun phrases, fields and valid links."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from closeread.exceptions import FormatError, Problem, join_names, pluralize, quote
from closeread.records import Record
from closeread.tasks.tne import procedure as tne
from closeread.tasks.tne.columns import Documents, documents_of

CONTENTS = {"text": "character", "tokens": "token", "nps": "noun phrase"}
"""What annotators are given, and the units of each."""

FIELDS = ("domain", "forum")  # the fields of documents whose values agreement can be broken down by

EXTENT = ("first_char", "last_char", "first_token", "last_token", "text")


def align(annotators: Sequence[Sequence[Record]], names: Sequence[str]) -> list[Documents]:
    """Return the documents of every annotator in the order of the first."""
    first, *rest = map(documents_of, annotators)
    ids = first.column("id")
    known = {document: {name: (names[0], one[name]) for name in _list_contents(one)} for document, one in _by_id(first)}
    aligned = [first]
    problems: list[str] = []
    for documents, name in zip(rest, names[1:], strict=True):
        theirs = dict(_by_id(documents))
        problems += _compare_documents(ids, theirs, names[0], name)
        for document in (document for document in ids if document in theirs):
            for content in _list_contents(theirs[document]):
                # The first annotator whose document has a content is the one that the others are compared with.
                own, value = known[document].setdefault(content, (name, theirs[document][content]))
                problems += _compare_contents(document, content, (value, theirs[document][content]), own, name)
        aligned.append(Documents([theirs.get(document, {"id": document}) for document in ids]))
    if problems:
        raise FormatError("annotations", [Problem(what) for what in problems])
    return aligned


def _by_id(documents: Documents) -> Iterator[tuple[str, Record]]:
    return zip(documents.column("id"), documents, strict=True)


def _list_contents(record: Record) -> list[str]:
    """Return which contents a document has that annotators have in common."""
    return [name for name in CONTENTS if record.get(name) is not None]


def _compare_documents(ids: Sequence[str], theirs: Mapping[str, Record], own: str, other: str) -> Iterator[str]:
    """Find documents that only one of the two has."""
    known = set(ids)
    lacking = [name for name in ids if name not in theirs]
    extra = [name for name in theirs if name not in known]
    if lacking:
        yield f"{other} lacks {len(lacking):,} of the {len(ids):,} documents of {own}: {join_names(lacking)}"
    if extra:
        yield f"{other} has {pluralize(len(extra), 'document')} that {own} lacks: {join_names(extra)}"


def _compare_contents(
    document: str, content: str, values: tuple[Sequence[Any], Sequence[Any]], own: str, other: str
) -> Iterator[str]:
    """Find differences in a content of a document that both annotators have."""
    a, b = values
    if a == b:
        return
    of_document = f"document {quote(document)}"
    if content == "nps":
        yield from (f"{of_document}: {what}" for what in _compare_phrases(a, b, own, other))
    else:
        same = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
        place = f"{CONTENTS[content]} {same}"
        yield f"{of_document}: {own} and {other} differ in {content} from {place} on (counted from 0)"


def _compare_phrases(ours: Sequence[Record], theirs: Sequence[Record], own: str, other: str) -> Iterator[str]:
    a, b = ({phrase["id"]: phrase for phrase in side} for side in (ours, theirs))
    for name, phrase in a.items():
        if name not in b:
            yield f"{other} lacks {name}, which is {_describe(phrase)} in {own}"
        elif _span(phrase) != _span(b[name]):
            yield f"{name} is {_describe(b[name])} in {other} but {_describe(phrase)} in {own}"
    for name, phrase in b.items():
        if name not in a:
            yield f"{other} has {name}, {_describe(phrase)}, which {own} lacks"


def _span(phrase: Record) -> list[Any]:
    return [phrase[name] for name in EXTENT]


def _describe(phrase: Record) -> str:
    characters = f"characters {phrase['first_char']} to {phrase['last_char']}"
    last = "null" if phrase["last_token"] is None else phrase["last_token"]
    return f"{quote(phrase['text'])} ({characters}, tokens {phrase['first_token']} to {last})"


def gather_fields(
    aligned: Sequence[Documents], names: Sequence[str], by: Sequence[str]
) -> tuple[dict[str, list[str]], list[Problem]]:
    """Return the values of fields, each (n_documents,), and where annotators differ in them."""
    rows: list[Record] = []
    problems = []
    for records in zip(*aligned, strict=True):
        row: Record = {}
        for field in FIELDS:
            given = [(name, one[field]) for name, one in zip(names, records, strict=True) if one.get(field) is not None]
            first, row[field] = given[0] if given else ("", None)
            for name, value in given if field in by else ():
                if value != row[field]:
                    what = f"{field} is {quote(row[field])} in {first} but {quote(value)} in {name}"
                    problems.append(Problem(f"document {quote(records[0]['id'])}: {what}"))
        rows.append(row)
    known = tne.list_fields(Documents(rows))
    return {field: known[field] for field in by}, problems


def find_invalid(aligned: Sequence[Documents], names: Sequence[str]) -> Iterator[Problem]:
    """Find links in both fields, and links between noun phrases that don't exist."""
    known = [
        {"id": records[0]["id"], "nps": next((one["nps"] for one in records if one.get("nps") is not None), None)}
        for records in zip(*aligned, strict=True)
    ]
    for side, name in zip(aligned, names, strict=True):
        for record in side:
            if record.get("relations") is not None and record.get("np_relations") is not None:
                what = "has both np_relations and relations (expected one of them)"
                yield Problem(f"{name}: document {quote(record['id'])} {what}")
        rows = [None if _is_checked(record) else to_submission(record) for record in side]
        for each in tne.validate(gold=known, system=rows):
            yield Problem(f"{name}: document {quote(side[each.row]['id'])}: {each.problem.message}")


def _is_checked(record: Record) -> bool:
    """Return whether reading the file checked the links against the noun phrases, as it does for gold."""
    return record.get("nps") is not None and not record.get("relations") and not record.get("fallback")


def to_submission(record: Record) -> Record:
    """Return the links of a record as a row of a submission."""
    links = unify_links(record).get("np_relations") or []
    return {"id": record["id"], "relations": links, "fallback": record.get("fallback")}


def unify_links(record: Record) -> Record:
    """Return the record with its links in `np_relations`, wherever they are."""
    return record if record.get("relations") is None else {**record, "np_relations": record["relations"]}
