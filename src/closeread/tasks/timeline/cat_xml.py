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
from pathlib import Path
from typing import NamedTuple, TypeVar

from closeread.exceptions import FormatError, Problem, ProblemList, pluralize, quote
from closeread.formats import Format, FormatFolder
from closeread.formats.folders import list_files
from closeread.formats.timeml import read_timeml
from closeread.formats.xml_tree import Element, read_xml
from closeread.records import Parsed, Record
from closeread.tasks.timeline.timeline_mentions import date_of

SUFFIX = ".xml"
TITLES_SUFFIX = ".tml"
CREATION_TIME = "CREATION_TIME"
EVENT_MENTION = "EVENT_MENTION"
ENTITY_MENTION = "ENTITY_MENTION"
TIME = "TIMEX3"

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
    contents: dict[str, T] = {}
    problems = ProblemList()
    for name, path in files.items():
        if name.endswith(suffix):
            try:
                contents[name] = read(path)
            except FormatError as error:
                problems += [problem._replace(file=name) for problem in error.problems]
    return contents, problems


def read_documents(
    files: Mapping[str, Path],
) -> tuple[dict[str, Record], list[Problem], list[Problem]]:
    """Read the CAT files among these; return documents by file, errors and notices."""
    contents, problems = read_each(files, SUFFIX, read_document)
    documents = {}
    notices: list[Problem] = []
    for name, content in contents.items():
        documents[name] = content.document
        notices += [notice._replace(file=name) for notice in content.notices]
    return documents, problems, notices


def read_files(files: Mapping[str, Path], split: str) -> Parsed:
    """Read the documents of CAT files, with titles from the TimeML files among them."""
    del split
    documents, problems, oddities = read_documents(files)
    texts, title_problems = read_each(files, TITLES_SUFFIX, read_timeml)
    titles = {text.id or "": text.title for text in texts.values()}
    for document in documents.values():
        document["title"] = titles.get(document["id"])
    return Parsed(
        list(documents.values()),
        list(documents),
        problems + title_problems,
        [],
        oddities=oddities,
    )


def read_records(path: Path, split: str) -> Parsed:
    """Read the document of a file."""
    del split
    return Parsed([read_document(path).document], [1], [])


def read_folder(path: Path) -> Parsed:
    """Read the documents of a folder that contains only CAT and TimeML files."""
    files, problems, notices = list_files(path, "document", SUFFIX, TITLES_SUFFIX)
    parsed = read_files(files, "")
    return parsed._replace(problems=problems + parsed.problems, notices=notices)


def holds_documents(path: Path) -> bool:
    """Return whether a file is in CAT, or a folder has such files."""
    files = path.iterdir() if path.is_dir() else [path]
    return any(file.suffix == SUFFIX for file in files)


def read_document(path: Path) -> CatDocument:
    """Read the document of a file, without its title, and find all errors and oddities."""
    root = read_xml(path)
    problems = ProblemList()
    content = read_element(root, problems)
    problems.raise_any(path)
    return content


def list_markables(root: Element) -> list[Element]:
    """Return the markables of a document."""
    markables: list[Element] = []
    for parent in root.elements("Markables"):
        markables += parent.elements()
    return markables


def read_element(root: Element, problems: ProblemList, *, checks_all: bool = False) -> CatDocument:
    """Read the document that is the root element of a file; errors in it are problems.

    Markables that are neither creation times nor events are ignored, unless all are checked.
    """
    if root.name != "Document":
        problems.add(f"the root element is {quote(root.name)} (expected Document)", root.line)
    if not root.attributes.get("doc_id"):
        problems.add("Document has no doc_id", root.line)
    tokens = list(root.elements("token"))
    _check_tokens(tokens, problems)
    numbers = number_tokens(root)
    times = []
    events = []
    ignored = []
    markables = list_markables(root)
    for markable in markables:
        function = markable.attributes.get("functionInDocument")
        if markable.name == EVENT_MENTION:
            events.append(markable)
        elif markable.name == TIME and function == CREATION_TIME:
            times.append(markable)
        else:
            ignored.append(markable)
    _check_markables(markables if checks_all else [*times, *events], numbers, problems)
    for time in times[1:]:
        problems.add("is a second creation time (expected only one)", time.line)
    if problems:
        return CatDocument({}, [])
    notices = []
    if not times:
        notices.append(Problem("has no creation time", root.line))
    ignored += [child for child in root.elements() if child.name not in ("token", "Markables")]
    if ignored:
        names = ", ".join(sorted({quote(child.name) for child in ignored}))
        message = f"{pluralize(len(ignored), 'element')} ignored, starting here: {names}"
        notices.append(Problem(message, ignored[0].line))
    record: Record = {
        "id": root.attributes["doc_id"],
        "name": root.attributes.get("doc_name"),
        "url": root.attributes.get("src_url"),
        "title": None,
        "creation_time": None,
        "creation_time_id": None,
        "creation_time_tokens": [],
        "tokens": [token.text() for token in tokens],
        "sentences": [int(token.attributes["sentence"]) for token in tokens],
    }
    for time in times:
        value = time.attributes.get("value", "")
        record["creation_time"] = value
        record["creation_time_id"] = time.attributes["m_id"]
        record["creation_time_tokens"] = find_tokens(time, numbers)
        if len(date_of(value)) < 3:
            message = f"the creation time {quote(value)} is not a date such as 2009-03-02"
            notices.append(Problem(message, time.line))
    record["events"] = []
    for event in events:
        tokens_of_event = find_tokens(event, numbers)
        name = mention_name(record, tokens_of_event)
        event_id = event.attributes["m_id"]
        record["events"].append({"id": event_id, "mention": name, "tokens": tokens_of_event})
    return CatDocument(record, notices)


def mention_name(document: Record, numbers: Sequence[int]) -> str:
    """Return the name that timelines have for a mention, given the numbers of its tokens in a document."""
    extent = "_".join(document["tokens"][number] for number in numbers)
    return f"{document['id']}-{document['sentences'][numbers[0]]}-{extent}"


def number_tokens(root: Element) -> Mapping[str, int]:
    """Map every `t_id` to its token's number; return nothing if a `t_id` is missing or repeated."""
    names = [token.attributes.get("t_id", "") for token in root.elements("token")]
    numbers = {name: number for number, name in enumerate(names)}
    return numbers if len(numbers) == len(names) and "" not in numbers else {}


def find_tokens(mention: Element, numbers: Mapping[str, int]) -> list[int]:
    """Return the numbers of the tokens of a mention."""
    return [numbers[anchor.attributes["t_id"]] for anchor in mention.elements("token_anchor")]


def _check_tokens(tokens: Sequence[Element], problems: ProblemList) -> None:
    lines_of_ids: dict[str, int] = {}
    last_sentence = 0
    for position, token in enumerate(tokens):
        number = token.attributes.get("number", "")
        sentence = token.attributes.get("sentence", "")
        t_id = token.attributes.get("t_id", "")
        if number != str(position):
            expected = f"expected {position}, its position"
            problems.add(f"the token's number is {quote(number)} ({expected})", token.line)
        if NUMBER.fullmatch(sentence) and int(sentence) >= last_sentence:
            last_sentence = int(sentence)
        else:
            expected = f"a whole number of at least {last_sentence}, since sentences are in order"
            message = f"the token's sentence is {quote(sentence)} (expected {expected})"
            problems.add(message, token.line)
        if not t_id:
            problems.add("the token has no t_id", token.line)
        elif t_id in lines_of_ids:
            message = f"the token's t_id {quote(t_id)} is already used on line {lines_of_ids[t_id]}"
            problems.add(message, token.line)
        lines_of_ids.setdefault(t_id, token.line)
        if not token.text():
            problems.add("the token is empty", token.line)
    if not tokens:
        problems.add("contains no tokens")


def _check_markables(
    markables: Sequence[Element], numbers: Mapping[str, int], problems: ProblemList
) -> None:
    """Find errors in the ids and tokens of markables; only a time may be known without tokens."""
    lines_of_ids: dict[str, int] = {}
    for markable in markables:
        name = markable.name
        m_id = markable.attributes.get("m_id", "")
        if not m_id:
            problems.add(f"{name} has no m_id", markable.line)
        elif m_id in lines_of_ids:
            message = f"the m_id {quote(m_id)} of {name} is already used"
            problems.add(f"{message} on line {lines_of_ids[m_id]}", markable.line)
        lines_of_ids.setdefault(m_id, markable.line)
        anchors = list(markable.elements("token_anchor"))
        if not anchors and name in (EVENT_MENTION, ENTITY_MENTION):
            message = f"{name} {quote(m_id)} has no token_anchor (expected at least one)"
            problems.add(message, markable.line)
        for anchor in anchors:
            t_id = anchor.attributes.get("t_id", "")
            if numbers and t_id not in numbers:
                problems.add(f"token_anchor: no token has the t_id {quote(t_id)}", anchor.line)


FORMAT = Format(read=read_records, folder=FormatFolder(read_files, read_folder))
