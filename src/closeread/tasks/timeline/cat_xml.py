"""Documents in CAT XML, the format of the Content Annotation Tool: tokens, creation time and event mentions.

Source: Bartalesi Lenzi, Moretti and Sprugnoli (2012); the files of SemEval-2015 Task 4.

Conventions: a token's number is its position in the document, from 0, whatever its `t_id` is; sentences keep the
numbers of the file, in which 0 is the title and 1 the date line.  Events are named as in timelines,
`docid-sentid-extent`: the sentence of the first token, and the tokens joined by `_`.  Documents of track A have no
events.  The title comes from the TimeML file of the document, if there is one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import NamedTuple, TypeVar

from closeread.exceptions import FormatError, Problem, ProblemList, pluralize, quote
from closeread.formats import Format, FormatFolder
from closeread.formats.folders import list_files
from closeread.formats.timeml import read_timeml
from closeread.formats.xml_tree import Element, read_xml
from closeread.records import Parsed, Record

SUFFIX = ".xml"
TITLES_SUFFIX = ".tml"
CREATION_TIME = "CREATION_TIME"
EVENT_MENTION, ENTITY_MENTION, TIME = "EVENT_MENTION", "ENTITY_MENTION", "TIMEX3"

NUMBER = re.compile("[0-9]{1,9}")

T = TypeVar("T")


class CatDocument(NamedTuple):
    """A document, and the oddities of its file."""

    document: Record
    notices: list[Problem]


def read_each(
    files: Mapping[str, Path], suffix: str, read: Callable[[Path], T]
) -> tuple[dict[str, T], list[Problem]]:
    """Read the files whose names end in a suffix; return their contents by file, and errors."""
    found: dict[str, T] = {}
    problems: list[Problem] = ProblemList()
    for name, path in files.items():
        if name.endswith(suffix):
            try:
                found[name] = read(path)
            except FormatError as error:
                problems += [problem._replace(file=name) for problem in error.problems]
    return found, problems


def read_documents(
    files: Mapping[str, Path],
) -> tuple[dict[str, Record], list[Problem], list[Problem]]:
    """Read the CAT files among these; return documents by file, errors and notices."""
    found, problems = read_each(files, SUFFIX, read_document)
    notices = [
        notice._replace(file=name) for name, read in found.items() for notice in read.notices
    ]
    return {name: read.document for name, read in found.items()}, problems, notices


def read_files(files: Mapping[str, Path], split: str) -> Parsed:
    """Read the documents of CAT files, with titles from the TimeML files among them."""
    del split
    documents, problems, oddities = read_documents(files)
    texts, wrong = read_each(files, TITLES_SUFFIX, read_timeml)
    titles = {text.id or "": text.title for text in texts.values()}
    for document in documents.values():
        document["title"] = titles.get(document["id"])
    return Parsed(
        list(documents.values()), list(documents), problems + wrong, [], oddities=oddities
    )


def read_records(path: Path, split: str) -> Parsed:
    """Read the document of a file."""
    del split
    return Parsed([read_document(path).document], [1], [])


def read_folder(path: Path) -> Parsed:
    """Read the documents of a folder that contains only CAT and TimeML files."""
    files, problems, others = list_files(path, "document", SUFFIX, TITLES_SUFFIX)
    parsed = read_files(files, "")
    return parsed._replace(problems=problems + parsed.problems, notices=others)


def holds_documents(path: Path) -> bool:
    """Return whether a file is in CAT, or a folder has such files."""
    return any(file.suffix == SUFFIX for file in (path.iterdir() if path.is_dir() else [path]))


def read_document(path: Path) -> CatDocument:
    """Read the document of a file, without its title, and find all errors and oddities."""
    root, problems = read_xml(path), ProblemList()
    read = read_element(root, list_times(root) + list_markables(root, EVENT_MENTION), problems)
    problems.raise_any(path)
    return read


def list_markables(root: Element, name: str | None = None) -> list[Element]:
    """Return the markables of a document, or those with a name."""
    return [
        element for markables in root.elements("Markables") for element in markables.elements(name)
    ]


def list_times(root: Element) -> list[Element]:
    """Return the times that are marked as the creation time of a document."""
    return [
        one
        for one in list_markables(root, TIME)
        if one.attributes.get("functionInDocument") == CREATION_TIME
    ]


def read_element(root: Element, checked: Sequence[Element], problems: ProblemList) -> CatDocument:
    """Read the document that is the root element of a file; errors in it and in the checked markables are problems."""
    notices: list[Problem] = []
    if root.name != "Document":
        problems.add(f"the root element is {quote(root.name)} (expected Document)", root.line)
    if not root.attributes.get("doc_id"):
        problems.add("Document has no doc_id", root.line)
    tokens = list(root.elements("token"))
    _check_tokens(tokens, problems)
    numbers = number_tokens(root)
    _check_markables(checked, numbers, problems)
    times, events = list_times(root), list_markables(root, EVENT_MENTION)
    if not times:
        notices.append(Problem("has no creation time", root.line))
    problems += (
        Problem("is a second creation time (expected only one)", time.line) for time in times[1:]
    )
    known = {id(one) for one in (*times, *events)}
    others = [one for one in list_markables(root) if id(one) not in known]
    others += [element for element in root.elements() if element.name not in ("token", "Markables")]
    if others:
        names = ", ".join(sorted({quote(other.name) for other in others}))
        found = f"{pluralize(len(others), 'element')} ignored, starting here: {names}"
        notices.append(Problem(found, others[0].line))
    if problems:
        return CatDocument({}, notices)
    time = next(iter(times), None)
    value = None if time is None else time.attributes.get("value", "")
    if time is not None and value is not None and not is_date(value):
        notices.append(
            Problem(f"the creation time {quote(value)} is not a date such as 2009-03-02", time.line)
        )
    record: Record = {
        "id": root.attributes["doc_id"],
        "name": root.attributes.get("doc_name"),
        "url": root.attributes.get("src_url"),
        "title": None,
        "creation_time": value,
        "creation_time_id": None if time is None else time.attributes["m_id"],
        "creation_time_tokens": [] if time is None else find_tokens(time, numbers),
        "tokens": [token.text() for token in tokens],
        "sentences": [int(token.attributes["sentence"]) for token in tokens],
    }
    record["events"] = [
        name_event(record, event.attributes["m_id"], find_tokens(event, numbers))
        for event in events
    ]
    return CatDocument(record, notices)


def is_date(text: str) -> bool:
    """Test whether a text is a valid date of the form `YYYY-MM-DD`.

    >>> [is_date(text) for text in ("2009-03-02", "03-02-2009", "2009-02-30")]
    [True, False, False]
    """
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def mention_name(document: Record, numbers: Sequence[int]) -> str:
    """Return the name that timelines have for a mention, given the numbers of its tokens in a document."""
    extent = "_".join(document["tokens"][number] for number in numbers)
    return f"{document['id']}-{document['sentences'][numbers[0]]}-{extent}"


def name_event(document: Record, name: str, numbers: list[int]) -> Record:
    """Return an event mention of a document, given its id and the numbers of its tokens."""
    return {"id": name, "mention": mention_name(document, numbers), "tokens": numbers}


def number_tokens(root: Element) -> Mapping[str, int]:
    """Map every `t_id` to its token's number; return nothing if a `t_id` is missing or repeated."""
    names = [token.attributes.get("t_id", "") for token in root.elements("token")]
    numbers = {name: number for number, name in enumerate(names)}
    return numbers if len(numbers) == len(names) and "" not in numbers else {}


def find_tokens(mention: Element, numbers: Mapping[str, int]) -> list[int]:
    """Return the numbers of the tokens of a mention."""
    return [numbers[anchor.attributes["t_id"]] for anchor in mention.elements("token_anchor")]


def _check_tokens(tokens: Sequence[Element], problems: ProblemList) -> None:
    seen: dict[str, int] = {}
    last = 0
    for number, token in enumerate(tokens):
        given, sentence, t_id = (
            token.attributes.get(name, "") for name in ("number", "sentence", "t_id")
        )
        if given != str(number):
            problems.add(
                f"the token's number is {quote(given)} (expected {number}, its position)",
                token.line,
            )
        if not NUMBER.fullmatch(sentence) or int(sentence) < last:
            expected = f"a whole number of at least {last}, since sentences are in order"
            problems.add(
                f"the token's sentence is {quote(sentence)} (expected {expected})", token.line
            )
        else:
            last = int(sentence)
        if not t_id:
            problems.add("the token has no t_id", token.line)
        elif t_id in seen:
            problems.add(
                f"the token's t_id {quote(t_id)} is already used on line {seen[t_id]}", token.line
            )
        seen.setdefault(t_id, token.line)
        if not token.text():
            problems.add("the token is empty", token.line)
    if not tokens:
        problems.add("contains no tokens")


def _check_markables(
    markables: Sequence[Element], numbers: Mapping[str, int], problems: ProblemList
) -> None:
    """Find errors in the ids and tokens of markables; only a time may be known without tokens."""
    seen: dict[str, int] = {}
    for one in markables:
        m_id = one.attributes.get("m_id", "")
        if not m_id:
            problems.add(f"{one.name} has no m_id", one.line)
        elif m_id in seen:
            problems.add(
                f"the m_id {quote(m_id)} of {one.name} is already used on line {seen[m_id]}",
                one.line,
            )
        seen.setdefault(m_id, one.line)
        anchors = list(one.elements("token_anchor"))
        if not anchors and one.name in (EVENT_MENTION, ENTITY_MENTION):
            problems.add(
                f"{one.name} {quote(m_id)} has no token_anchor (expected at least one)", one.line
            )
        for anchor in anchors:
            t_id = anchor.attributes.get("t_id", "")
            if numbers and t_id not in numbers:
                problems.add(f"token_anchor: no token has the t_id {quote(t_id)}", anchor.line)


FORMAT = Format(read=read_records, folder=FormatFolder(read_files, read_folder))
