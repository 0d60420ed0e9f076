"""The treebank of the corpus: extracted documents, fragments as distributed, which are to be extracted, or CoNLL-U.

Source: the METU-Sabanci Turkish Treebank (Oflazer et al., 2003); for CoNLL-U see `universal_dependencies`.

Conventions: the number of a sentence, such as `77000112003.1`, is a document id of 8 digits, the number of a fragment
(1 to 4 digits), and that of the sentence in the fragment, which may be anything without blanks.  An extracted file, as
the authors of the corpus made them, is well-formed XML and holds a document, whatever the file is called; a second file
of the same id, in the order of the numbers, is `ID_2`.  A fragment is named by its number; its sentences are numbered
in the file, and the fragments of a document are in the order of their numbers.  Fragments are in windows-1254, and
often not well-formed: attributes and texts of words (`W`) hold quotation marks, `<`, `>` and `&` as they are.  Only
words are repaired, and lines keep their numbers.

IG of a word is `[(1,"LEMMA+TAG+TAG")(2,"TAG+TAG")]`, nothing in which is escaped: a group ends at a `")` before `(` or
before the final `]`, so that `(1,""+Punc")` is a quotation mark.  REL is `[WORD,GROUP,(RELATION)]`, or `[,( )]` where
there is no head.

Errors are what makes a sentence or a word of it impossible to refer to.  Whatever else is odd is a notice, since it is
better to have a word without its head than no treebank: a gap in IX, a head that is no word, an IG or a REL of another
form, a word without text.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from closeread.exceptions import (
    MAX_PROBLEMS_SHOWN,
    FormatError,
    Problem,
    ProblemList,
    join_names,
    quote,
)
from closeread.formats.text import BYTE_ORDER_MARK, read_bytes
from closeread.formats.xml_tree import Element, parse_xml
from closeread.records import Record
from closeread.tasks.marmara.documents import WordNumbers
from closeread.tasks.marmara.universal_dependencies import UdTreebank

SUFFIXES = (".xml", ".xml.gz", ".conllu", ".conllu.gz")
FRAGMENT = re.compile(r"([0-9]{8})([0-9]{1,4})")
SENTENCE = re.compile(rf"{FRAGMENT.pattern}\.([0-9]*+)(\S*)(?<!\.)")
EXPECTED = "expected a number such as 77000112003.1"
FIRST_NUMBER = re.compile(rb"""<S\s[^<>]*?\bNo\s*=\s*["']([^"'<>]*)["']""")
IX = re.compile("[1-9][0-9]{0,8}")
GROUP = re.compile(r'\(([0-9]{1,4}),"(.*?)"\)(?=\(|\Z)', re.DOTALL)
RELATION = re.compile(r"\[\s*([1-9][0-9]{0,8})\s*,\s*([1-9][0-9]{0,8})\s*,\s*\(([^()]*)\)\s*\]")
NO_RELATION = re.compile(r"\[\s*,\s*\(\s*\)\s*\]")
NO_FORM = "_"
"""The form of a word without text: every word of a sentence is a token."""

UTF_8, WINDOWS = "utf-8", "windows-1254"
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
WORD_START = re.compile(r"<W(?=\s)")
NAME = re.compile(r"\s+([A-Za-z_][\w.:-]*)\s*=\s*([\"'])")
TAG_END = re.compile(r"\s*(/?)>")
LIST_END = {quote: re.compile(rf"\]{quote}(?=\s+[A-Za-z_][\w.:-]*\s*=|\s*/?>)") for quote in "\"'"}
"""Where a value that is a list ends: its quotation marks may also stand inside."""

AMPERSAND = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#[0-9]+|#x[0-9A-Fa-f]+);)")
"""An `&` that does not begin an entity that XML defines."""


class Kind(StrEnum):
    """What a file of a treebank is, in words."""

    EXTRACTED = "an extracted file"
    FRAGMENT = "a fragment as distributed"
    CONLLU = "CoNLL-U"


class Sentence(NamedTuple):
    """A sentence of a file in XML, and where it stands."""

    file: str
    line: int
    number: str  # in a fragment, that of the extracted treebank
    words: Mapping[int, Element]  # by IX, at least one, in ascending order
    tokens: list[Record]  # from the attributes of the words


class Treebank(NamedTuple):
    """The documents of a treebank, by name; problems and notices have a file."""

    kind: Kind | None  # its edition; None if there are no files, or files of several editions
    documents: dict[str, list[Record]]
    files: dict[str, str]  # the file of every document, or the first of its files
    word_numbers: WordNumbers  # of every sentence where these are not 1, 2, 3 …
    problems: list[Problem]
    notices: list[Problem]


def is_sentence_number(text: str) -> bool:
    """Return whether a text has the form of the number of a sentence.

    >>> [is_sentence_number(text) for text in ("77000112003.1", "77000112003", "1", "77000112003.")]
    [True, False, False, False]
    """
    return SENTENCE.fullmatch(text) is not None


def find_document_id(number: str) -> str:
    """Return the id of the document that a sentence belongs to."""
    return number[:8]


def sort_key(number: str) -> tuple[str, int, int]:
    """Return the key that sorts sentences by document, then by the numbers of fragment and sentence.

    >>> sorted(["77000112010.1", "77000112009.10", "77000112009.9"], key=sort_key)
    ['77000112009.9', '77000112009.10', '77000112010.1']
    """
    parts = SENTENCE.fullmatch(number)
    if parts is None:
        return number, 0, 0
    return parts[1], int(parts[2]), int(parts[3][:9] or 0)


def number_names(ids: Iterable[str]) -> list[str]:
    """Return a name for each id: the id, and `ID_2`, `ID_3` … where it comes again.

    >>> number_names(["77000112", "77000112", "77000113"])
    ['77000112', '77000112_2', '77000113']
    """
    times: dict[str, int] = {}
    names = []
    for document_id in ids:
        number = times.get(document_id, 0) + 1
        times[document_id] = number
        names.append(document_id if number == 1 else f"{document_id}_{number}")
    return names


def limit_notices(notices: Sequence[Problem], about: str) -> list[Problem]:
    """Return the first `MAX_PROBLEMS_SHOWN` notices in the order of their places; if there are more, also their total."""
    ordered = sorted(notices, key=lambda notice: notice.order)
    if len(ordered) <= MAX_PROBLEMS_SHOWN:
        return ordered
    return [
        Problem(f"{len(ordered):,} notes about {about} (first {MAX_PROBLEMS_SHOWN} shown)"),
        *ordered[:MAX_PROBLEMS_SHOWN],
    ]


def read_treebank(paths: Mapping[str, Path]) -> Treebank:
    """Read the files of a treebank, all of one edition, by the names that messages show."""
    reader = XmlReader()
    files: dict[str, tuple[Path, bytes]] = {}
    kinds: dict[Kind | None, list[str]] = {}
    for name, path in paths.items():
        if not name.endswith(SUFFIXES):
            problem = f"is ignored (expected a name ending in {' or '.join(SUFFIXES[::2])})"
            reader.notices.append(Problem(problem, None, name))
            continue
        try:
            files[name] = (path, read_bytes(path))
        except FormatError as error:
            reader.problems += [problem._replace(file=name) for problem in error.problems]
            continue
        kinds.setdefault(find_kind(name, files[name][1]), []).append(name)
    if not files and not reader.problems:
        reader.problems.append(
            Problem("contains no treebank files (expected files ending in .xml or .conllu)")
        )
    unknown = kinds.pop(None, [])
    if not kinds and unknown:
        kinds[Kind.EXTRACTED] = unknown  # whose reader reports the errors
    elif Kind.CONLLU in kinds:  # the released folder has statistics in XML
        reader.notices += [Problem("is ignored (expected CoNLL-U)", None, name) for name in unknown]
        files = {name: file for name, file in files.items() if name not in set(unknown)}
    fragments = kinds.pop(Kind.FRAGMENT, None)
    if fragments is not None:
        expected = "expected an extracted file; see closeread prepare marmara_coref treebank"
        problem = f"is {Kind.FRAGMENT} ({expected})"
        reader.problems.append(Problem(problem, None, fragments[0]))
    (kind, names), *more = kinds.items() or [(None, [])]
    for other, names_of_other in more:
        problem = f"is {other}, but {names[0]} is {kind} (expected files of one kind)"
        reader.problems.append(Problem(problem, None, names_of_other[0]))
    kind = None if more else kind
    if kind is Kind.CONLLU:
        read_ud = UdTreebank(files)
        return Treebank(
            kind,
            read_ud.documents,
            read_ud.files,
            {},
            reader.problems + read_ud.problems,
            reader.notices,
        )
    read: list[list[Sentence]] = []
    if kind is Kind.EXTRACTED:
        read = [reader.read_extracted(name, *file) for name, file in files.items()]
    reader.check_numbers(read)
    read = sorted(filter(None, read), key=lambda sentences: sort_key(sentences[0].number))
    if not read and not reader.problems:
        reader.problems.append(Problem("contains no words"))
    names = number_names(find_document_id(sentences[0].number) for sentences in read)
    word_numbers: dict[str, Sequence[int]] = {}
    treebank = Treebank(kind, {}, {}, word_numbers, reader.problems, reader.notices)
    for name, sentences in zip(names, read, strict=True):
        treebank.files[name] = sentences[0].file
        treebank.documents[name] = []
        for sentence in sentences:
            record = {"number": sentence.number, "tokens": sentence.tokens}
            treebank.documents[name].append(record)
            if max(sentence.words) != len(sentence.words):
                word_numbers[sentence.number] = list(sentence.words)
    return treebank


def find_kind(name: str, data: bytes) -> Kind | None:
    """Return the kind of a file of a treebank by its content; None if it has no sentences.

    In an extracted file, sentences have numbers with a fragment; in a fragment, they have none, or that of the file's
    own name.
    """
    start = data[:1000].removeprefix(BYTE_ORDER_MARK).lstrip()
    if not start.startswith(b"<") and name.endswith(SUFFIXES[2:]):
        return Kind.CONLLU
    first = FIRST_NUMBER.search(data)
    if first is None:
        return None
    number = first[1].decode("latin-1").strip()
    is_extracted = (
        is_sentence_number(number)
        and number.partition(".")[0] != PurePosixPath(name).name.partition(".")[0]
    )
    return Kind.EXTRACTED if is_extracted else Kind.FRAGMENT


class XmlReader:
    """Reads files of the treebank in XML; files are named as messages show them.

    Attributes:
        problems, notices: what is wrong with the files, and what is odd about them, with file and line.
    """

    def __init__(self) -> None:
        self.problems: list[Problem] = ProblemList()
        self.notices: list[Problem] = []

    def read_extracted(self, name: str, path: Path, data: bytes) -> list[Sentence]:
        """Read the document of an extracted file."""
        try:
            root = parse_xml(path, data)
        except FormatError as error:
            self.problems += [problem._replace(file=name) for problem in error.problems]
            return []
        sentences = self._read_sentences(name, root, "")
        ids = list(dict.fromkeys(find_document_id(sentence.number) for sentence in sentences))
        if len(ids) > 1:
            what = f"has sentences of {join_names(ids)}, and is named by the first"
            self.notices.append(Problem(what, None, name))
        return sentences

    def read_fragments(self, files: Mapping[str, tuple[Path, bytes]]) -> dict[str, list[Sentence]]:
        """Read the documents that fragments make up, by name, in order; the document of each is in its name."""
        documents: dict[str, list[Sentence]] = {}
        numbered: list[tuple[str, int, str]] = []
        for name in files:
            match = FRAGMENT.fullmatch(PurePosixPath(name).stem)
            if match is None:
                expected = "expected 8 digits of the document and 1 to 4 of the fragment"
                what = f"is not the name of a fragment ({expected})"
                self.problems.append(Problem(what, None, name))
            else:
                numbered.append((match[1], int(match[2]), name))
        for document, _, name in sorted(numbered):
            sentences = self._read_fragment(name, *files[name])
            documents.setdefault(document, []).extend(sentences)
        return documents

    def _read_fragment(self, name: str, path: Path, data: bytes) -> list[Sentence]:
        try:
            text = repair(decode(data))
            root = parse_xml(path, text.encode(), "utf-8")
        except FormatError as error:
            for problem in error.problems:  # columns are those of the repaired text
                self.problems.append(
                    problem._replace(message=problem.message.partition(" at column ")[0], file=name)
                )
        except UnicodeDecodeError as error:
            self.problems.append(describe_decoding_error(error)._replace(file=name))
        else:
            return self._read_sentences(name, root, PurePosixPath(name).stem)
        return []

    def check_numbers(self, documents: Iterable[Sequence[Sentence]]) -> None:
        """Find sentences with the number of an earlier one."""
        first: dict[str, Sentence] = {}
        for sentence in (sentence for sentences in documents for sentence in sentences):
            other = first.setdefault(sentence.number, sentence)
            if other is not sentence:
                where = (
                    f"line {other.line}"
                    if other.file == sentence.file
                    else f"line {other.line} of {other.file}"
                )
                what = f"the sentence number {quote(sentence.number)} is already used on {where}"
                self.problems.append(Problem(what, sentence.line, sentence.file))

    def _read_sentences(self, file: str, root: Element, fragment: str) -> list[Sentence]:
        """Return the sentences of a file that have words; `fragment` is the name of a fragment."""
        sentences = []
        if root.name != "Set":
            self.problems.append(
                Problem(f"the root element is {quote(root.name)} (expected Set)", root.line, file)
            )
            return []
        for child in list_children(
            [root], "S", file=file, outside="a sentence", notices=self.notices
        ):
            given = child.attributes.get("No", "").strip()
            number = (
                given if given.startswith(f"{fragment}.") or not fragment else f"{fragment}.{given}"
            )
            if not given:
                self.problems.append(
                    Problem("a sentence has no number (expected an attribute No)", child.line, file)
                )
            elif not is_sentence_number(number):
                expected = "expected a number such as 1" if fragment else EXPECTED
                what = f"the sentence number {quote(given)} has another form ({expected})"
                self.problems.append(Problem(what, child.line, file))
            elif (sentence := self._read_sentence(file, child, number)).words:
                sentences.append(sentence)
        if not any(root.elements("S")):
            self.problems.append(Problem("contains no sentences", root.line, file))
        return sentences

    def _read_sentence(self, file: str, element: Element, number: str) -> Sentence:
        """Return a sentence with its valid words; note attributes that can't be read."""
        about = f"sentence {quote(number)}: "
        words: dict[int, Element] = {}
        last = 0
        for word in list_children(
            [element], "W", file=file, outside="a word", notices=self.notices, about=about
        ):
            given = word.attributes.get("IX")
            if given is None:
                self.problems.append(Problem(f"{about}a word has no IX", word.line, file))
            elif IX.fullmatch(given.strip()) is None:
                self.problems.append(
                    Problem(f"{about}IX {quote(given)} is not a positive integer", word.line, file)
                )
            elif (ix := int(given)) <= last:
                what = f"IX {ix} is not above the one before, {last}"
                self.problems.append(Problem(f"{about}{what}", word.line, file))
            else:
                words[ix], last = word, ix
        if not any(element.elements("W")):
            self.notices.append(Problem(f"{about}is left out: it has no words", element.line, file))
        positions = {ix: position for position, ix in enumerate(words, start=1)}
        tokens = []
        for before, (ix, word) in zip([0, *words], words.items(), strict=False):
            odd: list[str] = []
            if ix != before + 1:
                odd.append(f"IX {ix} follows {before}" if before else f"the first IX is {ix}")
            form = get_form(word) or NO_FORM
            token: Record = {
                "form": form,
                "lemma": form,
                "groups": [],
                "head": None,
                "head_group": None,
            }
            token["relation"] = None
            groups, relation = word.attributes.get("IG"), word.attributes.get("REL")
            if groups is None:
                odd.append("has no IG")
            elif (analysis := parse_groups(groups)) is None:
                odd.append(f"IG {quote(groups)} can't be read")
            else:
                token |= {"lemma": analysis[0], "groups": list(map(list, analysis[1]))}
            if relation is None:
                odd.append("has no REL")
            elif (parsed := parse_relation(relation)) is None:
                odd.append(f"REL {quote(relation)} can't be read")
            elif parsed[0] in positions:
                token |= {
                    "head": positions[parsed[0]],
                    "head_group": parsed[1],
                    "relation": parsed[2],
                }
            elif parsed[0]:
                odd.append(f"the head {parsed[0]} is not a word of the sentence")
            if not get_form(word):
                odd.append(f"has no text (read as {NO_FORM})")
            self.notices += [Problem(f"{about}word {ix}: {what}", word.line, file) for what in odd]
            tokens.append(token)
        return Sentence(file, element.line, number, words, tokens)


def list_children(
    parents: Iterable[Element],
    *names: str,
    file: str,
    outside: str,
    notices: list[Problem],
    about: str = "",
) -> list[Element]:
    """List the children with one of some names, and note all else, such as text `outside` of them."""
    found = []
    for parent in parents:
        for child in parent.content:
            if isinstance(child, str):
                if child.strip():
                    what = f"the text {quote(child.strip())} outside {outside} is ignored"
                    notices.append(Problem(f"{about}{what}", parent.line, file))
            elif child.name in names:
                found.append(child)
            else:
                what = (
                    f"the element {quote(child.name)} is ignored (expected {' and '.join(names)})"
                )
                notices.append(Problem(f"{about}{what}", child.line, file))
    return found


def get_form(word: Element) -> str:
    """Return the text of a word, without the blanks around it."""
    return " ".join(word.text().split())


@lru_cache(100_000)
def parse_groups(text: str) -> tuple[str, tuple[tuple[str, ...], ...]] | None:
    """Return the lemma and the groups in IG; None if it has another form, or no groups.

    >>> parse_groups('[(1,"ev+Noun+A3sg+P3sg+Loc")(2,"Adj+Rel")]')
    ('ev', (('Noun', 'A3sg', 'P3sg', 'Loc'), ('Adj', 'Rel')))
    >>> [parse_groups(text)[0] for text in ('[(1,""+Punc")]', '[(1,"++Punc")]')]
    ['"', '+']
    """
    text = text.strip()
    if not (text.startswith("[(") and text.endswith(")]")):
        return None
    inner = text[1:-1]
    lemma, place = "", 0
    groups: list[tuple[str, ...]] = []
    while place < len(inner):
        found = GROUP.match(inner, place)
        if found is None or int(found[1]) != len(groups) + 1:
            return None
        if groups:
            tags = found[2].split("+")
        elif found[2].startswith("+"):  # the lemma, not a separator
            lemma, tags = "+", found[2][1:].removeprefix("+").split("+") if found[2] != "+" else []
        else:
            lemma, *tags = found[2].split("+")
        if not lemma or any(not tag or '"' in tag for tag in tags):
            return None
        groups.append(tuple(tags))
        place = found.end()
    return lemma, tuple(groups)


@lru_cache(100_000)
def parse_relation(text: str) -> tuple[int, int, str] | None:
    """Return the IX of the head in REL, the number of its group, from 1, and the relation; None if it can't be read.

    >>> parse_relation("[2,1,(POSSESSOR)]"), parse_relation("[,( )]"), parse_relation("[2,1]")
    ((2, 1, 'POSSESSOR'), (0, 0, ''), None)
    """
    found = RELATION.fullmatch(text.strip())
    if found is not None and (name := found[3].strip()):
        return int(found[1]), int(found[2]), name
    return (0, 0, "") if NO_RELATION.fullmatch(text.strip()) else None


def decode(data: bytes) -> str:
    """Return the text of a fragment, without a byte order mark.

    It is UTF-8 if the bytes begin with its byte order mark, or are valid UTF-8 with characters beyond ASCII, else
    windows-1254, whatever the file declares.
    """
    if data.startswith(UTF_16):  # any bytes are text in windows-1254
        raise UnicodeDecodeError(UTF_8, data, 0, 1, "byte order mark of UTF-16")
    try:
        return data.decode(UTF_8).removeprefix("\ufeff")  # nothing beyond ASCII is the same in both
    except UnicodeDecodeError:
        if data.startswith(codecs.BOM_UTF8):
            raise
        return data.decode(WINDOWS)


def describe_decoding_error(error: UnicodeDecodeError) -> Problem:
    """Return the problem, with its line, of a fragment's bytes that can't be decoded."""
    if error.object.startswith(UTF_16):
        return Problem(f"is UTF-16 text (expected UTF-8 or {WINDOWS})")
    before = error.object[: error.start]
    column = len(before) - before.rfind(b"\n")
    encoding = UTF_8 if error.encoding == UTF_8 else WINDOWS
    what = f"byte {column} (0x{error.object[error.start]:02x}) is not valid {encoding}"
    return Problem(what, before.count(b"\n") + 1)


def repair(text: str) -> str:
    """Escape characters that are not XML in the attributes and the text of words; leave the rest as it is.

    >>> print(repair('''<W IX="1" IG="[(1,""+Punc")]" REL="[,( )]"> " </W>'''))
    <W IX="1" IG="[(1,&quot;&quot;+Punc&quot;)]" REL="[,( )]"> &quot; </W>
    """
    # A word ends before the next one, so that one that can't be repaired takes no other with it.
    starts = [found.start() for found in WORD_START.finditer(text)]
    words = [
        _repair_word(text[start:end])
        for start, end in zip(starts, [*starts[1:], len(text)], strict=False)
    ]
    return "".join([text[: starts[0]] if starts else text, *words])


def _repair_word(text: str) -> str:
    """Repair a word at the start of a text; return the text as it is if its tag has another form."""
    place = len("<W")
    parts = [text[:place]]
    while (found := NAME.match(text, place)) is not None:
        value_start = found.end()
        if text.startswith("[", value_start):
            end = LIST_END[found[2]].search(text, value_start)
            value_end = -1 if end is None else end.start() + 1
        else:
            value_end = text.find(found[2], value_start)
        if value_end < 0:
            return text
        parts += [text[place:value_start], _escape(text[value_start:value_end]), found[2]]
        place = value_end + 1
    tag_end = TAG_END.match(text, place)
    if tag_end is None:
        return text
    parts.append(tag_end[0])
    place = tag_end.end()
    if not tag_end[1]:
        word_end = text.find("</W>", place)
        if word_end < 0:
            return text
        parts.append(_escape(text[place:word_end]))
        place = word_end
    return "".join([*parts, text[place:]])


def _escape(text: str) -> str:
    """Escape `<`, `>`, `&` and quotation marks, except in entities that XML defines."""
    escaped = AMPERSAND.sub("&amp;", text).replace("<", "&lt;").replace(">", "&gt;")
    return escaped.replace('"', "&quot;").replace("'", "&apos;")
