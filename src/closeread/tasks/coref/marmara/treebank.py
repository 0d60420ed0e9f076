"""The treebank of the corpus, in any of three editions: extracted documents, fragments as distributed, or CoNLL-U.

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

To extract is to write the documents of fragments as extracted files.  Schüller et al. (2018) split one of the
treebank's 32 ids into two documents; which one is not told, so that users say where a document begins, or name the
document of every fragment.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from xml.sax.saxutils import escape

from closeread.exceptions import SHOWN, FormatError, Problem, ProblemList, join_names, quote
from closeread.files import creating_folder
from closeread.formats.folders import find_unwritable, list_files
from closeread.formats.text import BYTE_ORDER_MARK, read_bytes, read_lines
from closeread.formats.xml_tree import Element, check_characters, parse_xml
from closeread.records import Record
from closeread.tasks.coref.marmara.documents import Sentence, WordNumbers, collecting
from closeread.tasks.coref.marmara.universal_dependencies import read_sentences

SUFFIX = ".xml"
SUFFIXES = (".xml", ".xml.gz", ".conllu", ".conllu.gz")
FRAGMENT = re.compile(r"([0-9]{8})([0-9]{1,4})")
SENTENCE = re.compile(rf"{FRAGMENT.pattern}\.([0-9]*+)(\S*)(?<!\.)")
EXPECTED = "expected a number such as 77000112003.1"
FIRST_NUMBER = re.compile(rb"""<S\s[^<>]*?\bNo\s*=\s*["']([^"'<>]*)["']""")
IX = re.compile("[1-9][0-9]{0,8}")
RELATION = re.compile(r"\[\s*([1-9][0-9]{0,8})\s*,\s*([1-9][0-9]{0,8})\s*,\s*\(([^()]*)\)\s*\]")
NO_RELATION = re.compile(r"\[\s*,\s*\(\s*\)\s*\]")
NO_FORM = "_"
"""The form of a word without text: every word of a sentence is a token."""

DOCUMENT = re.compile(r"\w[\w.-]{0,99}")
"""The name of a document, and of its file."""

ORDER = ("IX", "LEM", "MORPH", "IG", "REL")
"""The order of the attributes of a word when it is written; others follow as they stand."""

AUTO = "auto"
WINDOWS = "windows-1254"
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
NAME = re.compile(r"\s+[A-Za-z_][\w.:-]*\s*=\s*([\"'])")
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


Files = Mapping[str, tuple[Path, bytes]]
"""The path of each file and its bytes, decompressed, by the names that messages show."""


class Treebank(NamedTuple):
    """The documents of a treebank, by name; problems and notices have a file."""

    kind: Kind | None  # its edition; None if there are no files, or files of several editions
    documents: Mapping[str, list[Record]]
    files: Mapping[str, str]  # the file of every document, or the first of its files
    word_numbers: WordNumbers  # of every sentence where these are not 1, 2, 3 …
    problems: list[Problem]
    notices: list[Problem]


def is_sentence_number(text: str) -> bool:
    """Return whether a text has the form of the number of a sentence."""
    return SENTENCE.fullmatch(text) is not None


def find_document_id(number: str) -> str:
    """Return the id of the document that a sentence belongs to."""
    return number[:8]


def sort_key(number: str) -> tuple[str, int, int]:
    """Return what sorts sentences by document, then by the numbers of fragment and sentence."""
    found = SENTENCE.fullmatch(number)
    return (number, 0, 0) if found is None else (found[1], int(found[2]), int(found[3][:9] or 0))


def number_names(ids: Iterable[str]) -> list[str]:
    """Return a name for each id: the id, and `ID_2`, `ID_3` … where it comes again."""
    seen: Counter[str] = Counter()
    names = []
    for one in ids:
        seen[one] += 1
        names.append(one if seen[one] == 1 else f"{one}_{seen[one]}")
    return names


def limit_notices(notices: Sequence[Problem], about: str) -> list[Problem]:
    """Return the first `SHOWN` notices in the order of their places; if there are more, also their total."""
    ordered = sorted(notices, key=lambda notice: notice.order)
    if len(ordered) <= SHOWN:
        return ordered
    return [Problem(f"{len(ordered):,} notes about {about} (first {SHOWN} shown)"), *ordered[:SHOWN]]


def read_treebank(paths: Mapping[str, Path]) -> Treebank:
    """Read the files of a treebank, all of one edition, by the names that messages show."""
    reader = Reader()
    files: dict[str, tuple[Path, bytes]] = {}
    kinds: dict[Kind | None, list[str]] = {}
    for name, path in paths.items():
        if not name.endswith(SUFFIXES):
            reader.note(f"is ignored (expected a name ending in {' or '.join(SUFFIXES[::2])})", None, name)
            continue
        with collecting(reader.problems, name):
            files[name] = (path, read_bytes(path))
            kinds.setdefault(find_kind(name, files[name][1]), []).append(name)
    if not files and not reader.problems:
        reader.report("contains no treebank files (expected files ending in .xml or .conllu)")
    unknown = kinds.pop(None, [])
    if not kinds and unknown:
        kinds[Kind.EXTRACTED] = unknown  # whose reader says what is wrong
    (kind, names), *more = kinds.items() or [(None, [])]
    for other, others in more:
        reader.report(f"is {other}, but {names[0]} is {kind} (expected files of one kind)", None, others[0])
    kind = None if more else kind
    documents: dict[str, list[Sentence]] = {}
    if kind is Kind.CONLLU:
        for name in unknown:  # the released folder has statistics in XML
            reader.note("is ignored (expected CoNLL-U)", None, name)
        for name in names:
            with collecting(reader.problems, name):
                for document, sentences in read_sentences(files[name][0], name).items():
                    if document in documents:
                        known = documents[document][0].file
                        reader.report(f"duplicate document {quote(document)} (first in {known})", None, name)
                    documents.setdefault(document, []).extend(sentences)
    elif kind:
        of_fragments = kind is Kind.FRAGMENT
        read = (
            list(reader.read_fragments(files).values())
            if of_fragments
            else [reader.read_file(name, *file) for name, file in files.items()]
        )
        read = sorted(filter(None, read), key=lambda sentences: sort_key(sentences[0].number))
        names = number_names(find_document_id(sentences[0].number) for sentences in read)
        documents = dict(zip(names, read, strict=True))
    reader.check_numbers(documents.values())
    if not documents and not reader.problems:
        reader.report("contains no words")
    every = [one for sentences in documents.values() for one in sentences]
    return Treebank(
        kind,
        {name: [{"number": one.number, "tokens": one.tokens} for one in of] for name, of in documents.items()},
        {name: of[0].file for name, of in documents.items()},
        {one.number: list(one.words) for one in every if one.words and max(one.words) != len(one.words)},
        reader.problems,
        reader.notices,
    )


def find_kind(name: str, data: bytes) -> Kind | None:
    """Find out by its contents what a file of a treebank is; return None if it has no sentences.

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
    is_extracted = is_sentence_number(number) and number.partition(".")[0] != PurePosixPath(name).name.partition(".")[0]
    return Kind.EXTRACTED if is_extracted else Kind.FRAGMENT


class Reader:
    """Reads files of the treebank in XML; files are named as messages show them.

    Attributes:
        problems, notices: what is wrong with the files, and what is odd about them, with file and line.
    """

    def __init__(self) -> None:
        self.problems = ProblemList()
        self.notices: list[Problem] = []

    def report(self, what: str, line: int | None = None, file: str | None = None) -> None:
        """Add a problem."""
        self.problems.add(what, line, file=file)

    def note(self, what: str, line: int | None, file: str) -> None:
        """Add a notice."""
        self.notices.append(Problem(what, line, file))

    def read_fragments(
        self, files: Files, encoding: str = AUTO, documents: Mapping[str, str] | None = None
    ) -> dict[str, list[Sentence]]:
        """Read the documents that fragments make up, by name, in order.

        The document of a fragment is the one in its name, unless `documents` names that of each; for the encoding, see
        `decode`.
        """
        found: dict[str, list[Sentence]] = {}
        ordered = []  # the document or the name, its number there, the name, the file
        for name in files:
            fragment = PurePosixPath(name).name.removesuffix(".gz").removesuffix(SUFFIX)
            if match := FRAGMENT.fullmatch(fragment):
                ordered.append((match[1], int(match[2]), fragment, name))
            else:
                what = "is not the name of a fragment (expected 8 digits of the document and 1 to 4 of the fragment)"
                self.report(what, None, name)
        for document, _, fragment, name in sorted(ordered):
            if documents is not None and fragment not in documents:
                self.report(f"fragment {quote(fragment)} has no document in the map", None, name)
            else:
                home = document if documents is None else documents[fragment]
                found.setdefault(home, []).extend(self.read_file(name, *files[name], fragment, encoding))
        return dict(sorted(found.items()))

    def check_numbers(self, documents: Iterable[Sequence[Sentence]]) -> None:
        """Find sentences with the number of an earlier one."""
        first: dict[str, Sentence] = {}
        for sentence in (sentence for sentences in documents for sentence in sentences):
            other = first.setdefault(sentence.number, sentence)
            if other is not sentence:
                where = f"line {other.line}" if other.file == sentence.file else f"line {other.line} of {other.file}"
                what = f"the sentence number {quote(sentence.number)} is already used on {where}"
                self.report(what, sentence.line, sentence.file)

    def read_file(self, file: str, path: Path, data: bytes, fragment: str = "", encoding: str = AUTO) -> list[Sentence]:
        """Return the sentences of an extracted file, or of a fragment if it is given its name, that have words."""
        found: list[Problem] = []
        with collecting(found, file):
            if fragment:
                data = repair(decode(path, data, encoding)).encode("utf-8", "surrogatepass")
            root = parse_xml(path, data, "utf-8" if fragment else None)
        if found:
            for one in found:  # columns are those of the repaired text
                self.problems.append(one._replace(what=one.what.partition(" at column ")[0]) if fragment else one)
            return []
        if root.name != "Set":
            self.report(f"the root element is {quote(root.name)} (expected Set)", root.line, file)
            return []
        sentences = []
        for child in list_children([root], "S", file=file, notices=self.notices):
            given = child.attributes.get("No", "").strip()
            number = given if given.startswith(f"{fragment}.") or not fragment else f"{fragment}.{given}"
            if not given:
                self.report("a sentence has no number (expected an attribute No)", child.line, file)
            elif not is_sentence_number(number):
                expected = "expected a number such as 1" if fragment else EXPECTED
                self.report(f"the sentence number {quote(given)} has another form ({expected})", child.line, file)
            elif (sentence := self._read_sentence(file, child, number)).words:
                sentences.append(sentence)
        if not any(root.elements("S")):
            self.report("contains no sentences", root.line, file)
        ids = list(dict.fromkeys(find_document_id(sentence.number) for sentence in sentences))
        if len(ids) > 1:
            self.note(f"has sentences of {join_names(ids)}, and is named by the first", None, file)
        return sentences

    def _read_sentence(self, file: str, element: Element, number: str) -> Sentence:
        """Return a sentence with its valid words; note what their attributes say that can't be read."""
        about = f"sentence {quote(number)}: "
        words: dict[int, Element] = {}
        last = 0
        for word in list_children([element], "W", file=file, notices=self.notices, about=about):
            given = word.attributes.get("IX")
            if given is None:
                self.report(f"{about}a word has no IX", word.line, file)
            elif IX.fullmatch(given.strip()) is None:
                self.report(f"{about}IX {quote(given)} is not a positive integer", word.line, file)
            elif (ix := int(given)) <= last:
                self.report(f"{about}IX {ix} is not above the one before, {last}", word.line, file)
            else:
                words[ix], last = word, ix
        if not any(element.elements("W")):
            self.note(f"{about}is left out: it has no words", element.line, file)
        positions = {ix: position for position, ix in enumerate(words, start=1)}
        tokens = []
        for before, (ix, word) in zip([0, *words], words.items(), strict=False):
            odd: list[str] = []
            if ix != before + 1:
                odd.append(f"IX {ix} follows {before}" if before else f"the first IX is {ix}")
            form = get_form(word) or NO_FORM
            token: Record = {"form": form, "lemma": form, "groups": [], "head": None, "head_group": None}
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
                token |= {"head": positions[parsed[0]], "head_group": parsed[1], "relation": parsed[2]}
            elif parsed[0]:
                odd.append(f"the head {parsed[0]} is not a word of the sentence")
            if not get_form(word):
                odd.append(f"has no text (read as {NO_FORM})")
            for what in odd:
                self.note(f"{about}word {ix}: {what}", word.line, file)
            tokens.append(token)
        return Sentence(file, element.line, number, tokens, words)


def list_children(
    parents: Iterable[Element], *names: str, file: str, notices: list[Problem], about: str = ""
) -> list[Element]:
    """List the children with one of some names, and note all else but blanks."""
    found = []
    for parent in parents:
        for child in parent.content:
            if isinstance(child, Element) and child.name in names:
                found.append(child)
            elif isinstance(child, Element) or child.strip():
                if isinstance(child, Element):
                    what, line = f"the element {quote(child.name)}", child.line
                else:
                    what, line = f"the text {quote(child.strip())}", parent.line
                notices.append(Problem(f"{about}{what} is ignored (expected {' and '.join(names)})", line, file))
    return found


def get_form(word: Element) -> str:
    """Return the text of a word, without the blanks around it."""
    return " ".join(word.text().split())


@lru_cache(100_000)
def parse_groups(text: str) -> tuple[str, tuple[tuple[str, ...], ...]] | None:
    """Return the lemma and the groups in IG; None if it has another form, or no groups."""
    text = text.strip()
    if not (text.startswith("[(") and text.endswith('")]')):
        return None
    lemma = ""
    groups: list[tuple[str, ...]] = []
    for number, piece in enumerate(text[2:-3].split('")('), 1):
        given, _, content = piece.partition(',"')
        if given != str(number):
            return None
        if groups:
            tags = content.split("+")
        elif content.startswith("+"):  # the lemma, not a separator
            lemma, tags = "+", content[1:].removeprefix("+").split("+") if content != "+" else []
        else:
            lemma, *tags = content.split("+")
        if not lemma or any(not tag or '"' in tag for tag in tags):
            return None
        groups.append(tuple(tags))
    return lemma, tuple(groups)


@lru_cache(100_000)
def parse_relation(text: str) -> tuple[int, int, str] | None:
    """Return the IX of the head in REL, the number of its group, from 1, and the relation; None if it can't be read."""
    found = RELATION.fullmatch(text.strip())
    if found is not None and (name := found[3].strip()):
        return int(found[1]), int(found[2]), name
    return (0, 0, "") if NO_RELATION.fullmatch(text.strip()) else None


def is_encoding(name: str) -> bool:
    """Return whether a name is that of an encoding of text."""
    try:
        "".encode(name)  # refuses codecs that are not of text
    except (LookupError, ValueError):
        return False
    return True


def decode(path: Path, data: bytes, encoding: str = AUTO) -> str:
    """Return the text of a fragment, without a byte order mark.

    `AUTO` is UTF-8 if the bytes begin with its byte order mark, or are valid UTF-8 with characters beyond ASCII, else
    windows-1254, whatever the file declares.
    """
    if encoding == AUTO and data.startswith(UTF_16):  # any bytes are text in windows-1254
        raise FormatError(path, [Problem(f"is UTF-16 text (expected UTF-8 or {WINDOWS})")])
    tried = "utf-8" if encoding == AUTO else encoding
    try:
        return data.decode(tried).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        if encoding == AUTO and not data.startswith(BYTE_ORDER_MARK):
            return decode(path, data, WINDOWS)
        before = data[: error.start]
        column = len(before) - before.rfind(b"\n")
        what = f"byte {column} (0x{data[error.start]:02x}) is not valid {tried}"
        raise FormatError(path, [Problem(what, before.count(b"\n") + 1)]) from None
    except UnicodeError as error:
        raise FormatError(path, [Problem(f"can't be decoded as {tried}: {error}")]) from None


def repair(text: str) -> str:
    """Escape whatever is not XML in the attributes and the text of words; the rest is left as it is."""
    # A word ends before the next one, so that one that can't be repaired takes no other with it.
    before, *words = re.split(r"(?=<W\s)", text)
    return "".join([before, *map(_repair_word, words)])


def _repair_word(text: str) -> str:
    """Repair a word at the start of a text; return the text as it is if its tag has another form."""
    place = len("<W")
    parts = [text[:place]]
    while (found := NAME.match(text, place)) is not None:
        start = found.end()
        if text.startswith("[", start):
            list_end = LIST_END[found[1]].search(text, start)
            end = -1 if list_end is None else list_end.start() + 1
        else:
            end = text.find(found[1], start)
        if end < 0:
            return text
        parts += [text[place:start], _escape(text[start:end]), found[1]]
        place = end + 1
    tag_end = TAG_END.match(text, place)
    word_end = place if tag_end is None else tag_end.end()
    if tag_end is not None and not tag_end[1]:
        word_end = text.find("</W>", tag_end.end())
    if tag_end is None or word_end < 0:
        return text
    return "".join([*parts, tag_end[0], _escape(text[tag_end.end() : word_end]), text[word_end:]])


def _escape(text: str) -> str:
    """Escape `<`, `>`, `&` and quotation marks, except in entities that XML defines."""
    escaped = AMPERSAND.sub("&amp;", text).replace("<", "&lt;").replace(">", "&gt;")
    return escaped.replace('"', "&quot;").replace("'", "&apos;")


def extract(
    folder: Path, *, encoding: str = AUTO, splits: Iterable[str] = (), documents: Mapping[str, str] | None = None
) -> tuple[Mapping[str, Sequence[Sentence]], list[Problem]]:
    """Extract the documents of a folder of fragments, which are all files ending in `.xml`.

    The encoding is `decode`'s; `splits` are the numbers of sentences that begin a new document; `documents` has the
    document of each fragment, if it is not the one in its name.

    Returns:
        The sentences of every document by its name, in order, and what is odd about the fragments, with its file.
    """
    files, misfits = list_files(folder, "fragment", SUFFIX)
    if not files:
        raise FormatError(folder, [Problem(f"contains no fragment (expected files ending in {SUFFIX})")])
    reader = Reader()
    reader.notices += [Problem(f"is ignored: {one.what}", None, one.file) for one in misfits]
    read: dict[str, tuple[Path, bytes]] = {}
    for name, path in files.items():
        with collecting(reader.problems, name):
            read[name] = (path, read_bytes(path))
    found = reader.read_fragments(read, encoding, documents)
    reader.check_numbers(found.values())
    split = split_documents(found, splits, reader)
    if not split and not reader.problems:
        reader.report("contains no words")
    reader.problems.raise_any(folder)
    fragments = {name.removesuffix(SUFFIX) for name in files}
    for fragment in (fragment for fragment in documents or () if fragment not in fragments):
        reader.notices.append(Problem(f"the map names fragment {quote(fragment)}, which has no file"))
    return split, limit_notices(reader.notices, "the fragments")


def split_documents(
    documents: Mapping[str, Sequence[Sentence]], splits: Iterable[str], reader: Reader
) -> dict[str, Sequence[Sentence]]:
    """Split documents before the sentences of these numbers; the parts of NAME are NAME, NAME_2, NAME_3 and so on."""
    left = dict.fromkeys(splits)
    parts: dict[str, Sequence[Sentence]] = {}
    for name, sentences in documents.items():
        starts = [place for place, sentence in enumerate(sentences) if sentence.number in left]
        for place in starts:
            del left[sentences[place].number]
        if starts and not starts[0]:
            what = f"sentence {quote(sentences[0].number)} is the first of document {quote(name)}"
            reader.report(f"{what} (expected one that begins a new document)")
        ends = [*starts, len(sentences)]
        for part, start, end in zip(number_names([name] * len(ends)), [0, *starts], ends, strict=True):
            if part in parts or (part != name and part in documents):
                reader.report(f"document {quote(part)} exists already (expected another name for it)")
            elif start < end:
                parts[part] = sentences[start:end]
    for number in left:
        reader.report(f"there is no sentence {quote(number)} that a document could begin with")
    return parts


def read_map(path: Path) -> dict[str, str]:
    """Read the document of each fragment: rows of a fragment and a document, separated by a tab."""
    documents: dict[str, str] = {}
    lines: dict[str, int] = {}
    problems = ProblemList()
    for line, text in enumerate(read_lines(path), start=1):
        if not text.strip():
            continue
        fragment, *others = (cell.strip() for cell in text.split("\t"))
        if len(others) != 1:
            problems.add(f"{quote(text)} is not a fragment and a document, separated by a tab", line)
            continue
        if FRAGMENT.fullmatch(fragment) is None:
            problems.add(f"{quote(fragment)} is not a fragment (expected a name such as 77000112003)", line)
        if DOCUMENT.fullmatch(others[0]) is None:
            expected = "expected letters, digits, '_', '-' and '.'"
            problems.add(f"{quote(others[0])} is not a document's name ({expected})", line)
        if lines.setdefault(fragment, line) != line:
            problems.add(f"fragment {quote(fragment)} is already on line {lines[fragment]}", line)
        documents[fragment] = others[0]
    problems.raise_any(path)
    return documents


def write_documents(folder: Path, documents: Mapping[str, Sequence[Sentence]]) -> None:
    """Write documents into a new or an empty folder, a file each; all or none."""
    if problems := find_unwritable(documents, SUFFIX):
        raise FormatError(folder, problems)
    with creating_folder(folder) as partial:
        for name, sentences in documents.items():
            (partial / f"{name}{SUFFIX}").write_text(dump_document(sentences), "utf-8", newline="")


def dump_document(sentences: Sequence[Sentence]) -> str:
    """Return a document as the text of an extracted file; a ValueError if XML can't represent a character."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f'<Set sentences="{len(sentences)}">']
    for sentence in sentences:
        lines.append(f"<S No={_dump_value(sentence.number)}>")
        for word in sentence.words.values():
            names = [*(name for name in ORDER if name in word.attributes), *word.attributes]
            attributes = "".join(f" {name}={_dump_value(word.attributes[name])}" for name in dict.fromkeys(names))
            lines.append(f"<W{attributes}> {escape(get_form(word))} </W>")
        lines.append("</S>")
    text = "\n".join([*lines, "</Set>", ""])
    check_characters(text)
    return text


def _dump_value(value: str) -> str:
    """Return an attribute's value in quotes: in double ones unless these occur in it, as in the groups of a word."""
    escaped = escape(value, {"\t": "&#9;", "\n": "&#10;", "\r": "&#13;"})
    return "'{}'".format(escaped.replace("'", "&apos;")) if '"' in value else f'"{escaped}"'
