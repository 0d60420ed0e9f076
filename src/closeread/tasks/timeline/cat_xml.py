"""Documents in CAT XML, the format of the Content Annotation Tool: tokens, creation time and event mentions.

Source: Bartalesi Lenzi, Moretti and Sprugnoli (2012); the files of SemEval-2015 Task 4.

Conventions: a token's number is its position in the document, from 0, whatever its `t_id` is; sentences keep the
numbers of the file, in which 0 is the title and 1 the date line.  Events are named as in timelines,
`docid-sentid-extent`: the sentence of the first token, and the tokens joined by `_`.  Documents of track A have no
events.  The title comes from the TimeML file of the document, if there is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

from closeread.exceptions import FormatError, Problem, ProblemList, pluralize, quote
from closeread.formats import Format, FormatFolder
from closeread.formats.folders import list_files
from closeread.formats.timeml import read_timeml
from closeread.formats.xml_tree import Element, check_characters, read_xml
from closeread.records import Parsed, ParsedFolder, Record

SUFFIX = ".xml"
TITLES_SUFFIX = ".tml"
CREATION_TIME = "CREATION_TIME"
OF_TOKENS = ("EVENT_MENTION", "ENTITY_MENTION")  # mentions that need tokens; a time may be known without any

NUMBER = re.compile("[0-9]{1,9}")


class Read(NamedTuple):
    """The contents of a file."""

    document: Record  # the record; empty if there are problems
    problems: list[Problem]  # errors
    notices: list[Problem]  # oddities


class _Mentions(NamedTuple):
    """The elements of `Markables` that are read, in order."""

    times: Sequence[Element]
    events: Sequence[Element]
    others: Sequence[Element]


def read_files(files: Mapping[str, Path], split: str) -> ParsedFolder:
    """Read the documents of CAT files, with titles from the TimeML files among them."""
    del split
    documents, problems, notices = read_documents(files)
    titles, title_problems = _read_titles(files)
    for document in documents.values():
        document["title"] = titles.get(document["id"])
    return ParsedFolder(list(documents.values()), list(documents), problems + title_problems, notices)


def read_documents(files: Mapping[str, Path]) -> tuple[dict[str, Record], list[Problem], list[Problem]]:
    """Read the CAT files among these; return documents by file, errors and notices."""
    documents: dict[str, Record] = {}
    problems: list[Problem] = ProblemList()
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


def holds_documents(path: Path) -> bool:
    """Return whether a file is in CAT, or a folder has such files."""
    return any(file.suffix == SUFFIX for file in (path.iterdir() if path.is_dir() else [path]))


def read_records(path: Path, split: str) -> Parsed:
    """Read the document of a file."""
    del split
    read = read_document(path)
    return Parsed([] if read.problems else [read.document], [] if read.problems else [1], read.problems)


def read_folder(path: Path) -> ParsedFolder:
    """Read the documents of a folder that contains only CAT and TimeML files."""
    files, problems = list_files(path, "document", SUFFIX, TITLES_SUFFIX)
    found = read_files(files, "")
    return found._replace(problems=problems + found.problems)


def read_document(path: Path) -> Read:
    """Read the document of a file, without its title, and find all errors and oddities."""
    return read_element(read_xml(path))


def read_element(root: Element) -> Read:
    """Read the document that is the root element of a file, as `read_document` does."""
    problems: list[Problem] = ProblemList()
    notices: list[Problem] = []
    if root.name != "Document":
        problems.append(Problem(f"the root element is {quote(root.name)} (expected Document)", root.line))
    if not root.attributes.get("doc_id"):
        problems.append(Problem("Document has no doc_id", root.line))
    tokens = list(root.elements("token"))
    problems += _check_tokens(tokens)
    numbers = number_tokens(tokens)
    mentions = _find_mentions(root)
    problems += check_mentions((*mentions.times, *mentions.events), numbers)
    if not mentions.times:
        notices.append(Problem("has no creation time", root.line))
    problems += [Problem("is a second creation time (expected only one)", time.line) for time in mentions.times[1:]]
    if mentions.others:
        names = ", ".join(sorted({quote(other.name) for other in mentions.others}))
        found = f"{pluralize(len(mentions.others), 'element')} ignored, starting here: {names}"
        notices.append(Problem(found, mentions.others[0].line))
    if problems:
        return Read({}, problems, notices)
    notices += [
        Problem(f"the creation time {quote(value)} is not a date such as 2009-03-02", time.line)
        for time in mentions.times
        if not is_date(value := time.attributes.get("value", ""))
    ]
    return Read(_make_record(root, tokens, mentions, numbers), problems, notices)


def is_date(text: str) -> bool:
    """Test whether a text is a valid date of the form `YYYY-MM-DD`.

    >>> [is_date(text) for text in ("2009-03-02", "03-02-2009", "2009-02-30")]
    [True, False, False]
    """
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def mention_name(document: str, sentence: int, tokens: Iterable[str]) -> str:
    """Return the name of a mention in timelines.

    >>> mention_name("3307", 3, ["take", "away"])
    '3307-3-take_away'
    """
    return f"{document}-{sentence}-{'_'.join(tokens)}"


def number_tokens(tokens: Sequence[Element]) -> Mapping[str, int]:
    """Map every `t_id` to its token's number; return nothing if a `t_id` is missing or repeated."""
    numbers = {token.attributes.get("t_id", ""): number for number, token in enumerate(tokens)}
    return numbers if len(numbers) == len(tokens) and "" not in numbers else {}


def _check_tokens(tokens: Sequence[Element]) -> Iterator[Problem]:
    seen: dict[str, int] = {}
    last = 0
    for number, token in enumerate(tokens):
        given, sentence, t_id = (token.attributes.get(name, "") for name in ("number", "sentence", "t_id"))
        if given != str(number):
            yield Problem(f"the token's number is {quote(given)} (expected {number}, its position)", token.line)
        if not NUMBER.fullmatch(sentence) or int(sentence) < last:
            expected = f"a whole number of at least {last}, since sentences are in order"
            yield Problem(f"the token's sentence is {quote(sentence)} (expected {expected})", token.line)
        else:
            last = int(sentence)
        if not t_id:
            yield Problem("the token has no t_id", token.line)
        elif t_id in seen:
            yield Problem(f"the token's t_id {quote(t_id)} is already used on line {seen[t_id]}", token.line)
        seen.setdefault(t_id, token.line)
        if not token.text():
            yield Problem("the token is empty", token.line)
    if not tokens:
        yield Problem("contains no tokens")


def _find_mentions(root: Element) -> _Mentions:
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


def check_mentions(mentions: Iterable[Element], numbers: Mapping[str, int]) -> Iterator[Problem]:
    """Find errors in the ids and tokens of mentions."""
    seen: dict[str, int] = {}
    for mention in mentions:
        m_id = mention.attributes.get("m_id", "")
        if not m_id:
            yield Problem(f"{mention.name} has no m_id", mention.line)
        elif m_id in seen:
            found = f"the m_id {quote(m_id)} of {mention.name} is already used on line {seen[m_id]}"
            yield Problem(found, mention.line)
        seen.setdefault(m_id, mention.line)
        anchors = list(mention.elements("token_anchor"))
        if not anchors and mention.name in OF_TOKENS:
            yield Problem(f"{mention.name} {quote(m_id)} has no token_anchor (expected at least one)", mention.line)
        for anchor in anchors:
            t_id = anchor.attributes.get("t_id", "")
            if numbers and t_id not in numbers:
                yield Problem(f"token_anchor: no token has the t_id {quote(t_id)}", anchor.line)


def _make_record(root: Element, tokens: Sequence[Element], mentions: _Mentions, numbers: Mapping[str, int]) -> Record:
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


def _read_titles(files: Mapping[str, Path]) -> tuple[dict[str, str | None], list[Problem]]:
    """Read the titles of the TimeML files; return them by document, and errors."""
    titles: dict[str, str | None] = {}
    problems: list[Problem] = ProblemList()
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
    """Return the document as the text of a CAT file, without its title, which belongs to the TimeML file."""
    _check_writable(document)
    given = (("doc_id", document["id"]), ("doc_name", document["name"]), ("src_url", document["url"]))
    attributes = "".join(f" {name}={quoteattr(value)}" for name, value in given if value is not None)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<Document{attributes}>"]
    for number, (token, sentence) in enumerate(zip(document["tokens"], document["sentences"], strict=True)):
        text = escape(token, {"\r": "&#13;"})
        lines.append(f'<token number="{number}" sentence="{sentence}" t_id="{number + 1}">{text}</token>')
    lines.append("<Markables>")
    if document["creation_time"] is not None:
        about = f' functionInDocument="{CREATION_TIME}" type="DATE" value={quoteattr(document["creation_time"])}'
        lines += _dump_mention("TIMEX3", document["creation_time_id"], about, document["creation_time_tokens"])
    for event in document["events"]:
        lines += _dump_mention("EVENT_MENTION", event["id"], "", event["tokens"])
    text = "\n".join([*lines, "</Markables>", "</Document>", ""])
    check_characters(text)
    return text


def _check_writable(document: Record) -> None:
    """Raise a ValueError if a file of the document could not be read."""
    ids = [event["id"] for event in document["events"]]
    if document["creation_time"] is not None:
        ids.append(document["creation_time_id"])
    if not document["tokens"]:
        raise ValueError("there are no tokens (expected at least one)")
    for what, texts in (("document's id", [document["id"]]), ("token", document["tokens"]), ("id", ids)):
        if not all(texts):
            raise ValueError(f"a {what} is empty")
    if len(set(ids)) < len(ids):
        twice = next(name for name in ids if ids.count(name) > 1)
        raise ValueError(f"two of events and creation time have the id {quote(twice)} (expected distinct ids)")


def _dump_mention(name: str, m_id: str, attributes: str, tokens: Iterable[int]) -> list[str]:
    anchors = [f'  <token_anchor t_id="{number + 1}"/>' for number in tokens]
    return [f"<{name} m_id={quoteattr(m_id)}{attributes}>", *anchors, f"</{name}>"]


FORMAT = Format(read=read_records, folder=FormatFolder(read_files, read_folder))
