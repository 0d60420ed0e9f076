"""Documents in CAT XML, the format of the Content Annotation Tool: tokens, the creation time and event mentions.

Source: Bartalesi Lenzi, Moretti and Sprugnoli (2012); the files of SemEval-2015 Task 4.

Conventions: a token's number is its place in the document, from 0, whatever its `t_id` is; sentences keep the numbers
of the file, in which 0 is the title and 1 the line with the date.  An event is named as timelines name it,
`docid-sentid-extent`: the sentence of its first token, and its tokens joined by `_`.  Documents of track A have no
events.  Where the TimeML file of a document is read with it, the title comes from there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

from closeread.errors import FormatError, Problem, quote
from closeread.formats import Format, FormatFolder
from closeread.formats.folders import list_files
from closeread.formats.text import UNSAFE
from closeread.formats.timeml import read_timeml
from closeread.formats.xml_tree import Element, read_xml
from closeread.records import Parsed, ParsedFolder, Record

SUFFIX = ".xml"
TITLES_SUFFIX = ".tml"
CREATION_TIME = "CREATION_TIME"
OF_TOKENS = ("EVENT_MENTION", "ENTITY_MENTION")
"""What has no meaning without tokens; a time may be known from elsewhere."""

NUMBER = re.compile("[0-9]{1,9}")


class Read(NamedTuple):
    """What a file holds.

    Attributes:
        document: the record.
        problems: what is wrong with the file.
        notices: what is odd about it.
    """

    document: Record
    problems: list[Problem]
    notices: list[Problem]


class _Mentions(NamedTuple):
    """The elements of `Markables` that are read, in order."""

    times: Sequence[Element]
    events: Sequence[Element]
    others: Sequence[Element]


def read_files(files: Mapping[str, Path], split: str) -> ParsedFolder:
    """The documents of CAT files, with the titles of the TimeML files that are among them.

    Args:
        files: the files by their path below their folder.
        split: of no use here, since every document has an id.
    """
    del split
    documents, problems, notices = read_documents(files)
    titles, title_problems = _titles(files)
    for document in documents.values():
        document["title"] = titles.get(document["id"])
    return ParsedFolder(list(documents.values()), list(documents), problems + title_problems, notices)


def read_documents(files: Mapping[str, Path]) -> tuple[dict[str, Record], list[Problem], list[Problem]]:
    """The documents of the CAT files among these, by file, what is wrong with them, and what is odd."""
    documents: dict[str, Record] = {}
    problems: list[Problem] = []
    notices: list[Problem] = []
    for name, path in files.items():
        if not name.endswith(SUFFIX):
            continue
        try:
            read = read_document(path)
        except FormatError as error:
            problems += [problem._replace(file=name) for problem in error.problems]
        else:
            problems += [problem._replace(file=name) for problem in read.problems]
            notices += [notice._replace(file=name) for notice in read.notices]
            if not read.problems:
                documents[name] = read.document
    return documents, problems, notices


def read_records(path: Path, split: str) -> Parsed:
    """The document of a file.

    Raises:
        FormatError: the file can't be read as XML (see `closeread.formats.xml_tree`).
    """
    del split
    read = read_document(path)
    return Parsed([] if read.problems else [read.document], [] if read.problems else [1], read.problems)


def read_folder(path: Path) -> ParsedFolder:
    """The documents of a folder of CAT and TimeML files that holds nothing else.

    Raises:
        FormatError: there is none, or the folder can't be read.
    """
    files, problems = list_files(path, "document", SUFFIX, TITLES_SUFFIX)
    found = read_files(files, "")
    return found._replace(problems=problems + found.problems)


def read_document(path: Path) -> Read:
    """The document of a file, without a title, and everything that is wrong or odd.

    Raises:
        FormatError: the file can't be read as XML (see `closeread.formats.xml_tree`).
    """
    root = read_xml(path)
    problems: list[Problem] = []
    notices: list[Problem] = []
    if root.name != "Document":
        problems.append(Problem(f"the outermost element is {quote(root.name)}; needed: Document", root.line))
    if not root.attributes.get("doc_id"):
        problems.append(Problem("Document has no doc_id; needed: one", root.line))
    tokens = list(root.elements("token"))
    problems += _token_problems(tokens)
    numbers = token_numbers(tokens)
    mentions = _mentions(root)
    problems += mention_problems((*mentions.times, *mentions.events), numbers)
    if not mentions.times:
        notices.append(Problem("has no creation time", root.line))
    problems += [Problem("is a second creation time; needed: one", time.line) for time in mentions.times[1:]]
    if mentions.others:
        names = ", ".join(sorted({quote(other.name) for other in mentions.others}))
        found = f"holds {names}, which are not read; the first of {len(mentions.others):,}"
        notices.append(Problem(found, mentions.others[0].line))
    if problems:
        return Read({}, problems, notices)
    notices += [
        Problem(f"the creation time is {quote(value)}, which is no date such as 2009-03-02", time.line)
        for time in mentions.times
        if not is_date(value := time.attributes.get("value", ""))
    ]
    return Read(_record(root, tokens, mentions, numbers), problems, notices)


def is_date(text: str) -> bool:
    """Whether a text is a day of the calendar, as `YYYY-MM-DD`.

    >>> [is_date(text) for text in ("2009-03-02", "03-02-2009", "2009-02-30")]
    [True, False, False]
    """
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def mention_name(document: str, sentence: int, tokens: Iterable[str]) -> str:
    """The name of a mention in timelines.

    >>> mention_name("3307", 3, ["take", "away"])
    '3307-3-take_away'
    """
    return f"{document}-{sentence}-{'_'.join(tokens)}"


def token_numbers(tokens: Sequence[Element]) -> Mapping[str, int]:
    """The number of the token of every `t_id`; none where some tokens have no `t_id` of their own."""
    numbers = {token.attributes.get("t_id", ""): number for number, token in enumerate(tokens)}
    return numbers if len(numbers) == len(tokens) and "" not in numbers else {}


def _token_problems(tokens: Sequence[Element]) -> Iterator[Problem]:
    seen: dict[str, int] = {}
    last = 0
    for number, token in enumerate(tokens):
        given, sentence, t_id = (token.attributes.get(name, "") for name in ("number", "sentence", "t_id"))
        if given != str(number):
            yield Problem(f"the token's number is {quote(given)}; needed: {number}, its place", token.line)
        if not NUMBER.fullmatch(sentence) or int(sentence) < last:
            needed = f"a whole number, {last} or more, since sentences stand in order"
            yield Problem(f"the token's sentence is {quote(sentence)}; needed: {needed}", token.line)
        else:
            last = int(sentence)
        if not t_id or t_id in seen:
            told = f", as on line {seen[t_id]}" if t_id in seen else ""
            yield Problem(f"the token's t_id is {quote(t_id)}{told}; needed: one of its own", token.line)
        seen.setdefault(t_id, token.line)
        if not token.text():
            yield Problem("the token is empty; needed: text", token.line)
    if not tokens:
        yield Problem("holds no token; needed: a text")


def _mentions(root: Element) -> _Mentions:
    marked = [element for markables in root.elements("Markables") for element in markables.elements()]
    times = [
        element
        for element in marked
        if element.name == "TIMEX3" and element.attributes.get("functionInDocument") == CREATION_TIME
    ]
    events = [element for element in marked if element.name == "EVENT_MENTION"]
    read = {id(element) for element in (*times, *events)}
    others = [element for element in marked if id(element) not in read]
    others += [element for element in root.elements() if element.name not in ("token", "Markables")]
    return _Mentions(times, events, others)


def mention_problems(mentions: Iterable[Element], numbers: Mapping[str, int]) -> Iterator[Problem]:
    """What is wrong with the ids and the tokens of mentions.

    Args:
        mentions: the elements of a document.
        numbers: the number of the token of every `t_id`; empty where that can't be told.
    """
    seen: dict[str, int] = {}
    for mention in mentions:
        m_id = mention.attributes.get("m_id", "")
        if not m_id or m_id in seen:
            told = f", as on line {seen[m_id]}" if m_id in seen else ""
            yield Problem(f"the m_id of {mention.name} is {quote(m_id)}{told}; needed: one of its own", mention.line)
        seen.setdefault(m_id, mention.line)
        anchors = list(mention.elements("token_anchor"))
        if not anchors and mention.name in OF_TOKENS:
            yield Problem(f"{mention.name} {quote(m_id)} has no token_anchor; needed: one or more", mention.line)
        for anchor in anchors:
            t_id = anchor.attributes.get("t_id", "")
            if numbers and t_id not in numbers:
                yield Problem(f"token_anchor: no token has the t_id {quote(t_id)}", anchor.line)


def _record(root: Element, tokens: Sequence[Element], mentions: _Mentions, numbers: Mapping[str, int]) -> Record:
    texts = [token.text() for token in tokens]
    sentences = [int(token.attributes["sentence"]) for token in tokens]
    document = root.attributes["doc_id"]

    def places(mention: Element) -> list[int]:
        return [numbers[anchor.attributes["t_id"]] for anchor in mention.elements("token_anchor")]

    time = next(iter(mentions.times), None)
    return {
        "id": document,
        "name": root.attributes.get("doc_name"),
        "url": root.attributes.get("src_url"),
        "title": None,
        "creation_time": None if time is None else time.attributes.get("value", ""),
        "creation_time_id": None if time is None else time.attributes["m_id"],
        "creation_time_tokens": [] if time is None else places(time),
        "tokens": texts,
        "sentences": sentences,
        "events": [
            {
                "id": event.attributes["m_id"],
                "mention": mention_name(document, sentences[of[0]], [texts[number] for number in of]),
                "tokens": of,
            }
            for event in mentions.events
            for of in [places(event)]
        ],
    }


def _titles(files: Mapping[str, Path]) -> tuple[dict[str, str | None], list[Problem]]:
    """The titles of the TimeML files, by document, and what is wrong with them."""
    titles: dict[str, str | None] = {}
    problems: list[Problem] = []
    for name, path in files.items():
        if not name.endswith(TITLES_SUFFIX):
            continue
        try:
            read = read_timeml(path)
        except FormatError as error:
            problems += [problem._replace(file=name) for problem in error.problems]
        else:
            titles[read.id or ""] = read.title
    return titles, problems


def dump_document(document: Record) -> str:
    """The document as the text of a CAT file; its title is that of the TimeML file and left out.

    Raises:
        ValueError: a text holds a control character, which XML can't.
    """
    given = (("doc_id", document["id"]), ("doc_name", document["name"]), ("src_url", document["url"]))
    attributes = "".join(f" {name}={quoteattr(value)}" for name, value in given if value is not None)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<Document{attributes}>"]
    for number, (token, sentence) in enumerate(zip(document["tokens"], document["sentences"], strict=True)):
        text = escape(token, {"\r": "&#13;"})
        lines.append(f'<token number="{number}" sentence="{sentence}" t_id="{number + 1}">{text}</token>')
    lines.append("<Markables>")
    if document["creation_time"] is not None:
        about = f' functionInDocument="{CREATION_TIME}" type="DATE" value={quoteattr(document["creation_time"])}'
        lines += _marked("TIMEX3", document["creation_time_id"], about, document["creation_time_tokens"])
    for event in document["events"]:
        lines += _marked("EVENT_MENTION", event["id"], "", event["tokens"])
    text = "\n".join([*lines, "</Markables>", "</Document>", ""])
    for unsafe in UNSAFE.finditer(text):
        if unsafe[0] not in "\t\n":
            raise ValueError(f"XML can't hold the character U+{ord(unsafe[0]):04X}")
    return text


def _marked(name: str, m_id: str, attributes: str, tokens: Iterable[int]) -> list[str]:
    anchors = [f'  <token_anchor t_id="{number + 1}"/>' for number in tokens]
    return [f"<{name} m_id={quoteattr(m_id)}{attributes}>", *anchors, f"</{name}>"]


FORMAT = Format(read=read_records, folder=FormatFolder(read_files, read_folder))
