"""What a person has decided about some tokens: the cells with ``=`` in the last column of a CoNLL file.

Conventions: ``=-`` says that no mention of the result begins or ends on the token; ``=`` and brackets, such as
``=(1|2)``, that exactly these mentions do.  They are in chains of two or more, those with the same id in one chain,
those with different ids in different chains.  Cells without ``=`` are ignored, and so are all other columns except
one with the words.  As in other CoNLL files, opening brackets of a token are processed before closing ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, count
from pathlib import Path

import numpy as np

from closeread.arrays import Ints, Mask
from closeread.exceptions import FormatError, Problem, ProblemList, pluralize, quote
from closeread.formats.text import read_lines
from closeread.tasks.coref.adjudication.annotators import AnnotatedDocument, Mention, are_compatible
from closeread.tasks.coref.formats.conll import MARKER, parse_name

NUMBER = r"(?:0|[1-9][0-9]{0,17})(?![0-9])"
PIECE = re.compile(rf"(\()?({NUMBER})(\))?")
CELL = re.compile(rf"=(?:-|_|(?:\({NUMBER}\)?|{NUMBER}\))(?:\|?(?:\({NUMBER}\)?|{NUMBER}\)))*)")
NOTHING = ("-", "_", "")
EXPECTED = "expected '=-', or '=' and mentions whose chains have numbers, such as '=(1', '=1)' or '=(1)|(2)'"


@dataclass(frozen=True, eq=False)
class ForcedDocument:
    """What is decided about a document.

    Attributes:
        bound: the tokens about which something is decided.
        chain_of: the id of the chain of each mention that begins and ends there.
        line: the line on which the document begins.
        rows: the cells of each token, and its line.
        lines: the line of each mention's first token.
        file: the file.
    """

    bound: set[int] = field(default_factory=set)
    chain_of: dict[Mention, str] = field(default_factory=dict)
    line: int = 0
    rows: list[tuple[Sequence[str], int]] = field(default_factory=list)
    lines: dict[Mention, int] = field(default_factory=dict)
    file: str = ""

    def find_excluded(self, mentions: Sequence[Mention]) -> Mask:
        """Return which mentions are not in the result because they begin or end where others are decided on."""
        borders = (
            (mention.start in self.bound or mention.end in self.bound, mention)
            for mention in mentions
        )
        return np.array(
            [is_bound and mention not in self.chain_of for is_bound, mention in borders], bool
        )

    def number_chains(self, mentions: Sequence[Mention]) -> Ints:
        """Return the number of the chain of each mention; -1 for mentions about which nothing is decided."""
        ids = [self.chain_of.get(mention) for mention in mentions]
        numbers = {
            name: number for number, name in enumerate(dict.fromkeys(ids)) if name is not None
        }
        return np.array([-1 if name is None else numbers[name] for name in ids], np.int64)

    def choose_ids(self, chains: Sequence[Sequence[Mention]]) -> list[str]:
        """Choose the ids of the result's chains: those that are decided, and the smallest free numbers from 1."""
        given = [
            {self.chain_of[mention] for mention in chain if mention in self.chain_of}
            for chain in chains
        ]
        taken = set().union(*given)
        free = (str(number) for number in count(1) if str(number) not in taken)
        return [min(names) if names else next(free) for names in given]


NOTHING_FORCED = ForcedDocument()


@dataclass(frozen=True, eq=False)
class ForcedFile:
    """The decisions of a file, by the names of documents, and the number of cells with mentions that are ignored."""

    path: Path
    documents: Mapping[str, ForcedDocument]
    n_ignored: int

    @property
    def notices(self) -> list[str]:
        """Notices for the user."""
        if not self.n_ignored:
            return []
        return [f"{self.path}: {pluralize(self.n_ignored, 'cell')} without '=' ignored."]

    def check(self, documents: Iterable[AnnotatedDocument], incompatible: str) -> None:
        """Compare the file with the documents that it is about, and find incompatible mentions in its chains."""
        known = {document.name: document for document in documents}
        problems = ProblemList()
        for name, forced in self.documents.items():
            if name not in known:
                expected = "expected a document of the annotators' files"
                problems.append(
                    Problem(f"document {quote(name)} is unknown ({expected})", forced.line)
                )
            else:
                problems += _find_other_tokens(forced, known[name])
                problems += _find_incompatible(forced, incompatible)
        if problems:
            raise FormatError(self.path, sorted(problems, key=lambda problem: problem.order))


def _find_other_tokens(forced: ForcedDocument, document: AnnotatedDocument) -> Iterator[Problem]:
    """Find the first token that differs from the annotators'."""
    name, n_tokens = quote(document.name), len(forced.rows)
    if document.n_tokens is not None and document.n_tokens != n_tokens:
        has = f"document {name} has {pluralize(n_tokens, 'token')}"
        yield Problem(f"{has}, but {document.n_tokens:,} in the annotators' files", forced.line)
        return
    words = document.source.words.read()
    if not words or not any(word != "_" for word in words):
        return
    # The column of the words is the one that has most of them: worksheets of other tools may have none.
    # Rows of different sentences may have different numbers of cells.
    columns = list(zip(*(cells for cells, _ in forced.rows), strict=False))[:-1]
    same = [
        sum(one == other for one, other in zip(column, words, strict=True)) for column in columns
    ]
    if not same or 2 * max(same) < n_tokens:
        return
    column = columns[same.index(max(same))]
    for (_, line), word, expected in zip(forced.rows, column, words, strict=True):
        if word != expected:
            yield Problem(
                f"the word is {quote(word)}, but {quote(expected)} in the annotators' files", line
            )
            return


def _find_incompatible(forced: ForcedDocument, incompatible: str) -> Iterator[Problem]:
    """Find mentions of a chain that may not be together."""
    chains: dict[str, list[Mention]] = {}
    for mention, name in forced.chain_of.items():
        chains.setdefault(name, []).append(mention)
    for name, mentions in chains.items():
        pairs = np.array(list(combinations(range(len(mentions)), 2)), np.int64).reshape(-1, 2)
        allowed = are_compatible(mentions, pairs[:, 0], pairs[:, 1], incompatible)
        for one, other in pairs[~allowed].tolist():
            first, second = sorted(
                (mentions[one], mentions[other]), key=lambda mention: mention.order
            )
            what = f"chain {name} has a mention of tokens {second.start} to {second.end}, which overlaps that of tokens"
            yield Problem(f"{what} {first.start} to {first.end}", forced.lines[second])


def read_forced(path: Path) -> ForcedFile:
    """Read a file of decisions."""
    problems = ProblemList()
    documents: dict[str, ForcedDocument] = {}
    n_ignored = 0
    name, document = "", None
    width = 0
    for line, text in enumerate(read_lines(path), start=1):
        data = text.encode("utf-8")
        if marker := MARKER.match(data):
            begins, rest = marker[1] == b"begin", data[marker.end() :].rstrip()
            if begins != (document is None):
                expected = "'#end document' before it" if begins else "'#begin document' before it"
                problems.add(
                    f"a document {'begins' if begins else 'ends'} here (expected {expected})", line
                )
            if not begins:
                if document is not None:
                    documents[name] = document
                    _read_decisions(document, problems)
                document = None
                continue
            # Without a name, it is the number of the document, as in annotators' files.
            given = parse_name(rest) if rest else str(len(documents) + 1)
            if given is None:
                problems.add("the document has no name (expected '#begin document (NAME)')", line)
            elif given in documents:
                problems.add(
                    f"duplicate document {quote(given)} (first on line {documents[given].line})",
                    line,
                )
            name, document = given or "without a name", ForcedDocument(line=line, file=str(path))
        elif not text.strip():
            width = 0
        elif not text.startswith("#") or len(text.split()) == width:
            if document is None:
                problems.add(
                    "token outside a document (expected '#begin document (NAME)' before it)", line
                )
                continue
            cells = text.split()
            width = width or len(cells)
            if len(cells) == width - 1 and text.endswith("\t"):
                cells.append("")
            if len(cells) != width:
                what = f"the number of columns is {len(cells)} (expected {width}, as in other rows of the sentence)"
                problems.add(what, line)
                cells = [*cells, *[""] * width][:width]
            elif not cells[-1].startswith("="):
                n_ignored += cells[-1] not in NOTHING
            document.rows.append((cells, line))
    if document is not None:
        problems.add(f"document {quote(name)} never ends (expected '#end document')", document.line)
    elif not documents and not problems.total:
        problems.add(
            "contains no document (expected '#begin document (NAME)' before the first token)"
        )
    problems.raise_any(path)
    return ForcedFile(path, documents, n_ignored)


def _read_decisions(document: ForcedDocument, problems: ProblemList) -> None:
    """Read the cells of a document's rows."""
    # by chain, the token and the line where mentions begin
    opened: dict[str, list[tuple[int, int]]] = {}

    def add(mention: Mention, name: str, begin: int, line: int) -> None:
        if mention in document.chain_of:
            other = document.chain_of[mention]
            where = f"in chains {other} and {name}" if other != name else "twice"
            what = f"the mention of tokens {mention.start} to {mention.end} is {where}"
            problems.add(f"{what} (expected every mention in one chain)", line)
        document.chain_of[mention] = name
        document.lines[mention] = begin

    for token, (cells, line) in enumerate(document.rows):
        cell = cells[-1]
        if not cell.startswith("="):
            continue
        document.bound.add(token)
        if not CELL.fullmatch(cell):
            problems.add(f"{quote(cell)} is not a valid cell ({EXPECTED})", line)
            continue
        for opens, name, closes in sorted(PIECE.findall(cell), key=lambda piece: not piece[0]):
            if opens and closes:
                add(Mention(token, token), name, line, line)
            elif opens:
                opened.setdefault(name, []).append((token, line))
            elif opened.get(name):
                start, begin = opened[name].pop()
                add(Mention(start, token), name, begin, line)
            else:
                what = f"a mention of chain {name} ends here, but does not begin in a cell with '='"
                problems.add(f"{what} (expected '=' on both ends)", line)
    for name, places in opened.items():
        for _, begin in places:
            what = f"a mention of chain {name} begins here, but does not end in a cell with '='"
            problems.add(f"{what} (expected '=' on both ends)", begin)
