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
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import NamedTuple, TypeVar

from closeread.exceptions import MAX_PROBLEMS_SHOWN, FormatError, Problem, join_names, quote
from closeread.formats.text import BYTE_ORDER_MARK, read_bytes
from closeread.formats.xml_tree import Element, parse_xml
from closeread.records import Record
from closeread.tasks.marmara.documents import Notes
from closeread.tasks.marmara.universal_dependencies import UdTreebank

SUFFIXES = (".xml", ".xml.gz", ".conllu", ".conllu.gz")
CONLLU_SUFFIXES = SUFFIXES[2:]
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

UTF_8 = "utf-8"
WINDOWS = "windows-1254"
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
WORD_START = re.compile(r"<W(?=\s)")
NAME = re.compile(r"\s+([A-Za-z_][\w.:-]*)\s*=\s*([\"'])")
TAG_END = re.compile(r"\s*(/?)>")
LIST_END = {mark: re.compile(rf"\]{mark}(?=\s+[A-Za-z_][\w.:-]*\s*=|\s*/?>)") for mark in "\"'"}
"""Where a value that is a list ends: its quotation marks may also stand inside."""

AMPERSAND = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#[0-9]+|#x[0-9A-Fa-f]+);)")
"""An `&` that does not begin an entity that XML defines."""

Files = dict[str, tuple[Path, bytes]]
"""The path of each file, and its bytes, by the name that messages show."""

T = TypeVar("T")


class Kind(StrEnum):
    """What a file of a treebank is, in words."""

    EXTRACTED = "an extracted file"
    FRAGMENT = "a fragment as distributed"
    CONLLU = "CoNLL-U"


class Sentence(NamedTuple):
    """A sentence of a file in XML, and where it stands.

    Attributes:
        file: the file.
        line: its line there.
        number: its number in the extracted treebank.
        words: the words by IX, at least one, in ascending order.
        tokens: the tokens, from the attributes of the words.
    """

    file: str
    line: int
    number: str
    words: Mapping[int, Element]
    tokens: list[Record]


class Treebank(NamedTuple):
    """The documents of a treebank, by name.

    Attributes:
        kind: its edition; None if there are no files, or files of several editions.
        documents: the sentences of each document.
        files: the file of every document, or the first of its files.
        word_numbers: the numbers of the words of every sentence where these are not 1, 2, 3 …
        notes: what is wrong with the files, and what is odd about them.
    """

    kind: Kind | None
    documents: dict[str, list[Record]]
    files: dict[str, str]
    word_numbers: dict[str, Sequence[int]]
    notes: Notes


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


def limit_notices(notices: Sequence[Problem], subject: str) -> list[Problem]:
    """Return the first `MAX_PROBLEMS_SHOWN` notices in the order of their places; if there are more, also their total."""
    ordered = sorted(notices, key=lambda notice: notice.order)
    if len(ordered) <= MAX_PROBLEMS_SHOWN:
        return ordered
    total = Problem(f"{len(ordered):,} notes about {subject} (first {MAX_PROBLEMS_SHOWN} shown)")
    return [total, *ordered[:MAX_PROBLEMS_SHOWN]]


def read_treebank(paths: Mapping[str, Path]) -> Treebank:
    """Read the files of a treebank, all of one edition, by the names that messages show."""
    notes = Notes()
    files = read_files(paths, notes)
    names_by_kind: dict[Kind | None, list[str]] = {}
    for name, (_, data) in files.items():
        names_by_kind.setdefault(find_kind(name, data), []).append(name)
    unknown = names_by_kind.pop(None, [])
    if Kind.CONLLU in names_by_kind:
        # The released folder has statistics in XML.
        for name in unknown:
            notes.on(name).note("is ignored (expected CoNLL-U)")
            del files[name]
    elif unknown and not names_by_kind:
        # The reader of extracted files says what is wrong with them.
        names_by_kind[Kind.EXTRACTED] = unknown
    kind = _choose_edition(names_by_kind, notes)
    if kind is Kind.CONLLU:
        ud = UdTreebank(files, notes)
        return Treebank(kind, ud.documents, ud.files, {}, notes)
    documents: list[list[Sentence]] = []
    if kind is Kind.EXTRACTED:
        for name, (path, data) in files.items():
            documents.append(read_extracted(path, data, notes.on(name)))
    check_numbers(documents, notes)
    return _name_documents(kind, documents, notes)


def read_files(paths: Mapping[str, Path], notes: Notes) -> Files:
    """Read the files of a treebank, or its fragments, by the names that messages show."""
    files: Files = {}
    for name, path in paths.items():
        of_file = notes.on(name)
        if name.endswith(SUFFIXES):
            with of_file.catching():
                files[name] = (path, read_bytes(path))
        else:
            of_file.note("is ignored (expected a name ending in .xml or .conllu)")
    if not files and not notes.problems:
        notes.report("contains no treebank files (expected files ending in .xml or .conllu)")
    return files


def _choose_edition(names_by_kind: dict[Kind | None, list[str]], notes: Notes) -> Kind | None:
    """Return the only kind of the files, fragments apart, which must be extracted before; None if there is none."""
    fragments = names_by_kind.pop(Kind.FRAGMENT, [])
    if fragments:
        notes.on(fragments[0]).report(
            f"is {Kind.FRAGMENT} "
            "(expected an extracted file; see closeread prepare marmara_coref treebank)"
        )
    if not names_by_kind:
        return None
    (kind, names), *further = names_by_kind.items()
    for other, names_of_other in further:
        notes.on(names_of_other[0]).report(
            f"is {other}, but {names[0]} is {kind} (expected files of one kind)"
        )
    return None if further else kind


def _name_documents(
    kind: Kind | None, documents: Iterable[list[Sentence]], notes: Notes
) -> Treebank:
    """Return documents, in the order of their first sentences, by their names."""
    ordered = [sentences for sentences in documents if sentences]
    ordered.sort(key=lambda sentences: sort_key(sentences[0].number))
    if not ordered and not notes.problems:
        notes.report("contains no words")
    names = number_names(find_document_id(sentences[0].number) for sentences in ordered)
    treebank = Treebank(kind, {}, {}, {}, notes)
    for name, sentences in zip(names, ordered, strict=True):
        treebank.files[name] = sentences[0].file
        treebank.documents[name] = []
        for sentence in sentences:
            record = {"number": sentence.number, "tokens": sentence.tokens}
            treebank.documents[name].append(record)
            if max(sentence.words) != len(sentence.words):
                treebank.word_numbers[sentence.number] = list(sentence.words)
    return treebank


def find_kind(name: str, data: bytes) -> Kind | None:
    """Return the kind of a file of a treebank by its content; None if it has no sentences.

    In an extracted file, sentences have numbers with a fragment; in a fragment, they have none, or that of the file's
    own name.
    """
    start = data[:1000].removeprefix(BYTE_ORDER_MARK).lstrip()
    if not start.startswith(b"<") and name.endswith(CONLLU_SUFFIXES):
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


def read_extracted(path: Path, data: bytes, notes: Notes) -> list[Sentence]:
    """Read the document of an extracted file."""
    sentences: list[Sentence] = []
    with notes.catching():
        sentences = _read_sentences(parse_xml(path, data), "", notes)
    ids = list(dict.fromkeys(find_document_id(sentence.number) for sentence in sentences))
    if len(ids) > 1:
        notes.note(f"has sentences of {join_names(ids)}, and is named by the first")
    return sentences


def read_fragments(files: Files, notes: Notes) -> dict[str, list[Sentence]]:
    """Read the documents that fragments make up, by name, in order; the document of each is in its name."""
    numbered: list[tuple[str, int, str]] = []
    for name in files:
        match = FRAGMENT.fullmatch(PurePosixPath(name).stem)
        if match is None:
            notes.on(name).report(
                "is not the name of a fragment "
                "(expected 8 digits of the document and 1 to 4 of the fragment)"
            )
        else:
            numbered.append((match[1], int(match[2]), name))
    documents: dict[str, list[Sentence]] = {}
    for document, _, name in sorted(numbered):
        sentences = _read_fragment(*files[name], notes.on(name))
        documents.setdefault(document, []).extend(sentences)
    return documents


def _read_fragment(path: Path, data: bytes, notes: Notes) -> list[Sentence]:
    try:
        text = repair(decode(data))
        root = parse_xml(path, text.encode(), "utf-8")
    except FormatError as error:
        # Columns are those of the repaired text.
        for problem in error.problems:
            notes.report(problem.message.partition(" at column ")[0], problem.line)
    except UnicodeDecodeError as error:
        problem = describe_decoding_error(error)
        notes.report(problem.message, problem.line)
    else:
        return _read_sentences(root, PurePosixPath(notes.file).stem, notes)
    return []


def check_numbers(documents: Iterable[Sequence[Sentence]], notes: Notes) -> None:
    """Find sentences with the number of an earlier one."""
    first_of_number: dict[str, Sentence] = {}
    for sentences in documents:
        for sentence in sentences:
            first = first_of_number.setdefault(sentence.number, sentence)
            if first is not sentence:
                place = f"line {first.line}"
                if first.file != sentence.file:
                    place += f" of {first.file}"
                notes.on(sentence.file).report(
                    f"the sentence number {quote(sentence.number)} is already used on {place}",
                    sentence.line,
                )


def _read_sentences(root: Element, fragment: str, notes: Notes) -> list[Sentence]:
    """Return the sentences of a file that have words; `fragment` is the name of a fragment."""
    sentences: list[Sentence] = []
    if root.name != "Set":
        notes.report(f"the root element is {quote(root.name)} (expected Set)", root.line)
        return sentences
    expected = "expected a number such as 1" if fragment else EXPECTED
    for node in list_children([root], "S", outside="a sentence", notes=notes):
        number = node.attributes.get("No", "").strip()
        full_number = number
        if fragment and not number.startswith(f"{fragment}."):
            full_number = f"{fragment}.{number}"
        if not number:
            notes.report("a sentence has no number (expected an attribute No)", node.line)
        elif not is_sentence_number(full_number):
            notes.report(
                f"the sentence number {quote(number)} has another form ({expected})", node.line
            )
        else:
            sentence = _read_sentence(node, full_number, notes)
            if sentence.words:
                sentences.append(sentence)
    if not any(root.elements("S")):
        notes.report("contains no sentences", root.line)
    return sentences


def _read_sentence(node: Element, number: str, notes: Notes) -> Sentence:
    """Return a sentence with its valid words; note attributes that can't be read."""
    name = f"sentence {quote(number)}"
    words = _read_words(node, name, notes)
    positions = {ix: position for position, ix in enumerate(words, start=1)}
    tokens = []
    before = 0
    for ix, word in words.items():
        oddities: list[str] = []
        if ix != before + 1:
            oddities.append(f"IX {ix} follows {before}" if before else f"the first IX is {ix}")
        tokens.append(_make_token(word, positions, oddities))
        for oddity in oddities:
            notes.note(f"{name}: word {ix}: {oddity}", word.line)
        before = ix
    return Sentence(notes.file, node.line, number, words, tokens)


def _read_words(node: Element, name: str, notes: Notes) -> dict[int, Element]:
    """Return the words of a sentence with a valid IX, by IX."""
    words: dict[int, Element] = {}
    last = 0
    children = list_children([node], "W", outside="a word", notes=notes, prefix=f"{name}: ")
    for word in children:
        text = word.attributes.get("IX")
        if text is None:
            notes.report(f"{name}: a word has no IX", word.line)
        elif IX.fullmatch(text.strip()) is None:
            notes.report(f"{name}: IX {quote(text)} is not a positive integer", word.line)
        elif int(text) <= last:
            notes.report(f"{name}: IX {int(text)} is not above the one before, {last}", word.line)
        else:
            last = int(text)
            words[last] = word
    if not children:
        notes.note(f"{name}: is left out: it has no words", node.line)
    return words


def _make_token(word: Element, positions: Mapping[int, int], oddities: list[str]) -> Record:
    """Return the token of a word, given the positions of words by IX; add what is odd about it."""
    form = get_form(word)
    token: Record = {"form": form or NO_FORM, "lemma": form or NO_FORM, "groups": []}
    token |= {"head": None, "head_group": None, "relation": None}
    analysis = _parse_attribute(word, "IG", parse_groups, oddities)
    if analysis is not None:
        lemma, groups = analysis
        token |= {"lemma": lemma, "groups": list(map(list, groups))}
    dependency = _parse_attribute(word, "REL", parse_relation, oddities)
    if dependency is not None:
        head, group, relation = dependency
        if head in positions:
            token |= {"head": positions[head], "head_group": group, "relation": relation}
        elif head:
            oddities.append(f"the head {head} is not a word of the sentence")
    if not form:
        oddities.append(f"has no text (read as {NO_FORM})")
    return token


def _parse_attribute(
    word: Element, name: str, parse: Callable[[str], T | None], oddities: list[str]
) -> T | None:
    """Return the value of an attribute; None, with an oddity, if it is missing or can't be read."""
    text = word.attributes.get(name)
    if text is None:
        oddities.append(f"has no {name}")
        return None
    value = parse(text)
    if value is None:
        oddities.append(f"{name} {quote(text)} can't be read")
    return value


def list_children(
    parents: Iterable[Element], *names: str, outside: str, notes: Notes, prefix: str = ""
) -> list[Element]:
    """List the children with one of some names, and note all else, such as text `outside` of them."""
    children = []
    for parent in parents:
        for child in parent.content:
            if isinstance(child, str):
                if child.strip():
                    notes.note(
                        prefix + f"the text {quote(child.strip())} outside {outside} is ignored",
                        parent.line,
                    )
            elif child.name in names:
                children.append(child)
            else:
                notes.note(
                    prefix
                    + f"the element {quote(child.name)} is ignored (expected {' and '.join(names)})",
                    child.line,
                )
    return children


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
    lemma = ""
    place = 0
    groups: list[tuple[str, ...]] = []
    while place < len(inner):
        match = GROUP.match(inner, place)
        if match is None or int(match[1]) != len(groups) + 1:
            return None
        tags = match[2].split("+")
        if not groups:
            lemma, *tags = tags
            if match[2].startswith("+"):
                # The first plus sign is the lemma, not a separator.
                lemma = "+"
                tags = match[2][1:].removeprefix("+").split("+") if match[2] != "+" else []
        if not lemma or any(not tag or '"' in tag for tag in tags):
            return None
        groups.append(tuple(tags))
        place = match.end()
    return lemma, tuple(groups)


@lru_cache(100_000)
def parse_relation(text: str) -> tuple[int, int, str] | None:
    """Return the IX of the head in REL, the number of its group, from 1, and the relation; None if it can't be read.

    >>> parse_relation("[2,1,(POSSESSOR)]"), parse_relation("[,( )]"), parse_relation("[2,1]")
    ((2, 1, 'POSSESSOR'), (0, 0, ''), None)
    """
    text = text.strip()
    match = RELATION.fullmatch(text)
    if match is not None and match[3].strip():
        return int(match[1]), int(match[2]), match[3].strip()
    return (0, 0, "") if NO_RELATION.fullmatch(text) else None


def decode(data: bytes) -> str:
    """Return the text of a fragment, without a byte order mark.

    It is UTF-8 if the bytes begin with its byte order mark, or are valid UTF-8 with characters beyond ASCII, else
    windows-1254, whatever the file declares.
    """
    # Any bytes are text in windows-1254.
    if data.startswith(UTF_16):
        raise UnicodeDecodeError(UTF_8, data, 0, 1, "byte order mark of UTF-16")
    try:
        # Text in ASCII is the same in both.
        return data.decode(UTF_8).removeprefix("\ufeff")
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
    byte = f"byte {column} (0x{error.object[error.start]:02x})"
    return Problem(f"{byte} is not valid {encoding}", before.count(b"\n") + 1)


def repair(text: str) -> str:
    """Escape characters that are not XML in the attributes and the text of words; leave the rest as it is.

    >>> print(repair('''<W IX="1" IG="[(1,""+Punc")]" REL="[,( )]"> " </W>'''))
    <W IX="1" IG="[(1,&quot;&quot;+Punc&quot;)]" REL="[,( )]"> &quot; </W>
    """
    # A word ends before the next one, so that one that can't be repaired takes no other with it.
    starts = [match.start() for match in WORD_START.finditer(text)]
    borders = [*starts, len(text)]
    parts = [text[: borders[0]]]
    for start, end in pairwise(borders):
        parts.append(_repair_word(text[start:end]))
    return "".join(parts)


def _repair_word(text: str) -> str:
    """Repair a word at the start of a text; return the text as it is if its tag has another form."""
    place = len("<W")
    parts = [text[:place]]
    name = NAME.match(text, place)
    while name is not None:
        mark = name[2]
        value_start = name.end()
        value_end = text.find(mark, value_start)
        if text.startswith("[", value_start):
            list_end = LIST_END[mark].search(text, value_start)
            value_end = -1 if list_end is None else list_end.start() + 1
        if value_end < 0:
            return text
        parts += [text[place:value_start], _escape(text[value_start:value_end]), mark]
        place = value_end + 1
        name = NAME.match(text, place)
    tag_end = TAG_END.match(text, place)
    if tag_end is None:
        return text
    parts.append(tag_end[0])
    place = tag_end.end()
    is_empty = bool(tag_end[1])
    if not is_empty:
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
