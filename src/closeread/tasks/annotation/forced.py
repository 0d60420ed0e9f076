"""What a person has decided about some tokens: the cells with ``=`` in the last column of a CoNLL file.

Conventions: ``=-`` says that no mention of the result begins or ends on the token; ``=`` and brackets, such as
``=(1|2)``, that exactly these mentions do.  They are in chains of two or more, those with the same id in one chain,
those with different ids in different chains.  Cells without ``=`` are ignored, and so are all other columns except
one with the words.  As in other CoNLL files, opening brackets of a token are processed before closing ones.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, count
from pathlib import Path
from typing import NamedTuple

from closeread.exceptions import Problem, ProblemList, pluralize, quote
from closeread.formats.text import read_lines
from closeread.tasks.annotation.annotators import AnnotatedDocument, order_of
from closeread.tasks.coref.documents import Document, Mention, are_known
from closeread.tasks.coref.formats.conll import MARKER, parse_name
from closeread.tasks.coref.spans import count_common_tokens, count_tokens

NUMBER = r"(?:0|[1-9][0-9]{0,17})(?![0-9])"
PIECE = re.compile(rf"(\()?({NUMBER})(\))?")
CELL = re.compile(rf"=(?:-|_|(?:\({NUMBER}\)?|{NUMBER}\))(?:\|?(?:\({NUMBER}\)?|{NUMBER}\)))*)")
NO_MENTION = ("-", "_", "")
EXPECTED = "expected '=-', or '=' and mentions whose chains have numbers, such as '=(1', '=1)' or '=(1)|(2)'"


class Row(NamedTuple):
    """The row of a token: its cells, and its line in the file."""

    cells: Sequence[str]
    line: int


@dataclass(frozen=True, eq=False)
class ForcedDocument:
    """What is decided about a document.

    Attributes:
        bound: the tokens about which something is decided.
        chain_of: the id of the chain of each mention that begins and ends there.
        line: the line on which the document begins.
        rows: the row of each token.
        lines: the line of each mention's first token.
        file: the file.
    """

    bound: set[int] = field(default_factory=set)
    chain_of: dict[Mention, str] = field(default_factory=dict)
    line: int = 0
    rows: list[Row] = field(default_factory=list)
    lines: dict[Mention, int] = field(default_factory=dict)
    file: str = ""

    def allows(self, first: Mention, second: Mention) -> bool:
        """Return whether two mentions may be in one chain.

        Those may not that begin or end where others are decided on, or that are decided to be in different chains.
        """
        if not self.bound:
            return True
        chains = set()
        for mention in (first, second):
            if mention in self.chain_of:
                chains.add(self.chain_of[mention])
            elif mention.start in self.bound or mention.end in self.bound:
                return False
        return len(chains) < 2

    def choose_ids(self, document: AnnotatedDocument, chains: Sequence[Sequence[int]]) -> list[str]:
        """Choose the ids of the result's chains: those that are decided, and the smallest free numbers from 1."""
        taken = set(self.chain_of.values())
        free_ids = (str(number) for number in count(1) if str(number) not in taken)
        ids = []
        for chain in chains:
            mentions = {document.mentions[number] for number in chain}
            decided = mentions & self.chain_of.keys()
            ids.append(self.chain_of[decided.pop()] if decided else next(free_ids))
        return ids


NOTHING_FORCED = ForcedDocument()


def are_compatible(first: Mention, second: Mention, incompatible: str) -> bool:
    """Return whether two different mentions may be in one chain.

    Those may not that share a token ("overlap"), or of which one has all tokens of the other ("containment").
    """
    if first.end < second.start or second.end < first.start:
        return True
    n_common = count_common_tokens(first.spans, second.spans)
    if incompatible == "overlap":
        return n_common == 0
    return n_common < min(count_tokens(first.spans), count_tokens(second.spans))


@dataclass(frozen=True, eq=False)
class ForcedFile:
    """The decisions of a file.

    Attributes:
        path: the file.
        documents: the decisions about each document, by its name.
        n_ignored: the number of cells with mentions that are ignored.
    """

    path: Path
    documents: Mapping[str, ForcedDocument]
    n_ignored: int

    @property
    def notices(self) -> list[str]:
        """Notices for the user."""
        if not self.n_ignored:
            return []
        return [f"{self.path}: {pluralize(self.n_ignored, 'cell')} without '=' ignored."]

    def check(self, sources: Mapping[str, Document], incompatible: str) -> None:
        """Compare the file with the documents that it is about, and find incompatible mentions in its chains."""
        problems = ProblemList()
        for name, document in self.documents.items():
            if name in sources:
                problems += _find_other_tokens(document, name, sources[name])
                problems += _find_incompatible(document, incompatible)
            else:
                expected = "expected a document of the annotators' files"
                problems.add(f"document {quote(name)} is unknown ({expected})", document.line)
        problems.raise_any(self.path)


def _find_other_tokens(document: ForcedDocument, name: str, source: Document) -> Iterator[Problem]:
    """Find the first token that differs from the annotators'."""
    n_tokens = len(document.rows)
    if source.n_tokens is not None and source.n_tokens != n_tokens:
        has = f"document {quote(name)} has {pluralize(n_tokens, 'token')}"
        message = f"{has}, but {source.n_tokens:,} in the annotators' files"
        yield Problem(message, document.line)
        return
    words = source.words.read()
    if not are_known(words):
        return
    column = _find_word_column(document, words)
    if column is None:
        return
    for row, expected in zip(document.rows, words, strict=True):
        word = row.cells[column]
        if word != expected:
            message = f"the word is {quote(word)}, but {quote(expected)} in the annotators' files"
            yield Problem(message, row.line)
            return


def _find_word_column(document: ForcedDocument, words: Sequence[str]) -> int | None:
    """Return the column that has most of the words; None if none has half of them, as in files of other tools."""
    # Rows of different sentences may have different numbers of cells; the last has mentions.
    width = min((len(row.cells) for row in document.rows), default=1)
    n_equal = []
    for column in range(width - 1):
        pairs = zip(document.rows, words, strict=True)
        n_equal.append(sum(row.cells[column] == word for row, word in pairs))
    most = max(n_equal, default=0)
    return n_equal.index(most) if 2 * most >= len(words) else None


def _find_incompatible(document: ForcedDocument, incompatible: str) -> Iterator[Problem]:
    """Find mentions of a chain that may not be together."""
    chains: defaultdict[str, list[Mention]] = defaultdict(list)
    for mention, chain in document.chain_of.items():
        chains[chain].append(mention)
    for chain, mentions in chains.items():
        for pair in combinations(mentions, 2):
            if are_compatible(*pair, incompatible):
                continue
            first, second = sorted(pair, key=order_of)
            overlap = f"overlaps that of tokens {first.start} to {first.end}"
            message = f"a mention of tokens {second.start} to {second.end}, which {overlap}"
            yield Problem(f"chain {chain} has {message}", document.lines[second])


def read_forced(path: Path) -> ForcedFile:
    """Read a file of decisions."""
    return _Reader(path).read()


class _Reader:
    """A file that is being read.

    Attributes:
        document: the document that is open; None between documents.
        name: its name.
        width: the number of cells of the rows of the sentence; 0 before its first row.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._problems = ProblemList()
        self._documents: dict[str, ForcedDocument] = {}
        self._n_ignored = 0
        self._document: ForcedDocument | None = None
        self._name = ""
        self._width = 0

    def read(self) -> ForcedFile:
        """Read the file; raises a FormatError with all of its problems."""
        for number, line in enumerate(read_lines(self._path), start=1):
            data = line.encode("utf-8")
            if marker := MARKER.match(data):
                if marker[1] == b"begin":
                    self._begin_document(data[marker.end() :].rstrip(), number)
                else:
                    self._end_document(number)
            elif not line.strip():
                self._width = 0
            elif not line.startswith("#") or len(line.split()) == self._width:
                self._take_row(line, number)
        if self._document is not None:
            message = f"document {quote(self._name)} never ends (expected '#end document')"
            self._problems.add(message, self._document.line)
        elif not self._documents and not self._problems:
            expected = "expected '#begin document (NAME)' before the first token"
            self._problems.add(f"contains no document ({expected})")
        self._problems.raise_any(self._path)
        return ForcedFile(self._path, self._documents, self._n_ignored)

    def _begin_document(self, title: bytes, line: int) -> None:
        """Begin a document; its title follows on the line."""
        if self._document is not None:
            self._problems.add("a document begins here (expected '#end document' before it)", line)
        # Without a name, it is the number of the document, as in annotators' files.
        name = parse_name(title) if title else str(len(self._documents) + 1)
        if name is None:
            expected = "expected '#begin document (NAME)'"
            self._problems.add(f"the document has no name ({expected})", line)
        elif name in self._documents:
            first = self._documents[name].line
            self._problems.add(f"duplicate document {quote(name)} (first on line {first})", line)
        self._name = name or "without a name"
        self._document = ForcedDocument(line=line, file=str(self._path))

    def _end_document(self, line: int) -> None:
        if self._document is None:
            self._problems.add("a document ends here (expected '#begin document' before it)", line)
            return
        self._documents[self._name] = self._document
        _read_cells(self._document, self._problems)
        self._document = None

    def _take_row(self, line: str, number: int) -> None:
        """Take the row of a token, all of whose cells its sentence must have."""
        if self._document is None:
            expected = "expected '#begin document (NAME)' before it"
            self._problems.add(f"token outside a document ({expected})", number)
            return
        cells = line.split()
        if self._width == 0:
            self._width = len(cells)
        if len(cells) == self._width - 1 and line.endswith("\t"):
            cells.append("")
        if len(cells) != self._width:
            expected = f"expected {self._width}, as in other rows of the sentence"
            self._problems.add(f"the number of columns is {len(cells)} ({expected})", number)
            padding = [""] * self._width
            cells = [*cells, *padding][: self._width]
        elif not cells[-1].startswith("=") and cells[-1] not in NO_MENTION:
            self._n_ignored += 1
        self._document.rows.append(Row(cells, number))


def _read_cells(document: ForcedDocument, problems: ProblemList) -> None:
    """Read what the cells of a document's rows decide."""
    # By chain, the token and the line where each open mention begins.
    opened: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    for token, row in enumerate(document.rows):
        cell = row.cells[-1]
        if not cell.startswith("="):
            continue
        document.bound.add(token)
        if not CELL.fullmatch(cell):
            problems.add(f"{quote(cell)} is not a valid cell ({EXPECTED})", row.line)
            continue
        opening_first = sorted(PIECE.findall(cell), key=lambda piece: not piece[0])
        for opens, chain, closes in opening_first:
            if opens:
                opened[chain].append((token, row.line))
            if not closes:
                continue
            if not opened[chain]:
                ends = f"a mention of chain {chain} ends here"
                message = (
                    f"{ends}, but does not begin in a cell with '=' (expected '=' on both ends)"
                )
                problems.add(message, row.line)
                continue
            start, first_line = opened[chain].pop()
            mention = Mention(start, token)
            if mention in document.chain_of:
                problems.add(
                    _describe_repeated(mention, document.chain_of[mention], chain), row.line
                )
            document.chain_of[mention] = chain
            document.lines[mention] = first_line
    for chain, places in opened.items():
        for _, line in places:
            begins = f"a mention of chain {chain} begins here"
            message = f"{begins}, but does not end in a cell with '=' (expected '=' on both ends)"
            problems.add(message, line)


def _describe_repeated(mention: Mention, chain: str, other_chain: str) -> str:
    """Say that a mention is in two chains, or twice in one."""
    where = "twice" if chain == other_chain else f"in chains {chain} and {other_chain}"
    tokens = f"tokens {mention.start} to {mention.end}"
    return f"the mention of {tokens} is {where} (expected every mention in one chain)"
