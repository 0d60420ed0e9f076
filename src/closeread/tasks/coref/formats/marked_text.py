"""CRAC's text, with marked mentions, and that of other language models: a document per line, in the order of the key.

Three notations are read, and the first of them is written.  That of the CRAC shared task has tags after the words,
``Los|[e1 jugadores|e1]``: ``[e1`` opens a mention, ``e1]`` closes the one of the entity that was opened last, and
``[e1]`` does both; ``##`` begins an empty node, and blanks inside words are written ``_``.  The others are
``<e1>Los jugadores</e1>`` and ``[Los jugadores](#e1)``.  A file is read in the notation that it has more of.

Conventions: tags are processed in their order.  A tag divides words, so that ``<e1>Ann</e1>'s`` is two words.
Documents are numbered from 1 and have no names; a blank line is an empty document.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from closeread.exceptions import ProblemList, advise, pluralize, quote
from closeread.formats import Format
from closeread.formats.text import UNSAFE_IN_ROWS, describe_unsafe, read_lines
from closeread.records import Parsed
from closeread.tasks.coref.documents import (
    ListedWords,
    MentionTable,
    are_known,
    count_notice,
    make_table,
    split_table,
    table_of,
)
from closeread.tasks.coref.formats.coref_json import EMPTY, mark_empty_nodes
from closeread.tasks.coref.formats.lines import FoundMention, make_document

CRAC_TAG = r"(?:\[\w+\]?|\w+\])"
TAGGED = re.compile(rf"(.+?)\|({CRAC_TAG}(?:,{CRAC_TAG})*)", re.DOTALL)
# what a model may write in place of tags
INVENTED = re.compile(r"(.+?)\|(\S*[\[\]]\S*|e[0-9]+(?:,e[0-9]+)*)")
MARKUP = re.compile(r"<(/?)([A-Za-z]\w*)>|(\[)|\]\(#([^()\s]*)\)|(\])")


class MarkedWords(ListedWords):
    """The words of documents without names, which are those of the key in its order; their blanks may be ``_``."""


class _Marks:
    """The mentions of a document, and what is wrong with its tags."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.found: list[FoundMention] = []
        self.wrong: list[str] = []
        self._open: defaultdict[str, list[int]] = defaultdict(list)

    def open(self, entity: str, token: int) -> None:
        self._open[entity].append(token)

    def close(self, entity: str, token: int, tag: str) -> None:
        if not self._open[entity]:
            self.wrong.append(f"the tag {quote(tag)} closes a mention that was never opened")
        elif (start := self._open[entity].pop()) > token:
            self.wrong.append(f"the mention of {quote(entity)} has no words")
        else:
            self.found.append(FoundMention(entity, ((start, token),)))

    def finish(self) -> None:
        for entity, starts in self._open.items():
            self.wrong += [
                f"the mention of {quote(entity)} from token {start} is never closed"
                for start in starts
            ]


def _read_crac(line: str) -> _Marks:
    """Read a line with tags after the words."""
    marks = _Marks()
    for token, cell in enumerate(line.split()):
        word, tags = cell, ""
        if match := TAGGED.fullmatch(cell):
            word, tags = match.groups()
        elif match := INVENTED.fullmatch(cell):
            word = match[1]
            marks.wrong.append(f"{quote(match[2])} after the word {quote(word)} is no tag")
        marks.words.append(word)
        for tag in tags.split(",") if tags else ():
            entity = tag.strip("[]")
            if tag[0] == "[":
                marks.open(entity, token)
            if tag[-1] == "]":
                marks.close(entity, token, tag)
    marks.finish()
    return marks


def _read_markup(line: str) -> _Marks:
    """Read a line with tags around mentions, or with links."""
    marks, brackets, end = _Marks(), list[tuple[int, int]](), 0
    pieces: list[str] = []  # words and brackets; brackets that turn out to be of links are blanked
    for match in MARKUP.finditer(line):
        pieces += line[end : match.start()].split()
        end = match.end()
        closes, tag, opening, link, _ = match.groups()
        if opening:
            brackets.append((len(pieces), match.start()))
            pieces.append("[")
        elif link is not None:
            if not brackets:
                marks.wrong.append(
                    f"the link {quote(match[0])} closes a mention that was never opened"
                )
                continue
            place, _ = brackets.pop()
            pieces[place] = ""
            if link:
                marks.found.append(FoundMention(link, ((place, len(pieces) - 1),)))
        elif tag is None:
            if brackets:
                brackets.pop()
            pieces.append("]")
        elif not re.search("[0-9]", tag):
            marks.wrong.append(
                f"{quote(match[0])} is no tag of an entity (expected one with a number, such as <e1>)"
            )
        elif closes:
            marks.close(tag, len(pieces) - 1, match[0])
        else:
            marks.open(tag, len(pieces))
    pieces += line[end:].split()
    marks.finish()
    number, n = [], 0  # of the first word at or after each piece
    for piece in pieces:
        number.append(n)
        n += bool(piece)
    number.append(n)
    mentions, marks.found = marks.found, []
    for mention in mentions:
        start, last = number[mention.parts[0][0]], number[mention.parts[0][1] + 1] - 1
        if start > last:
            marks.wrong.append(f"the mention of {quote(mention.entity)} has no words")
        else:
            marks.found.append(mention._replace(parts=((start, last),)))
    marks.words = [piece for piece in pieces if piece]
    return marks


def describe_wrong_tags(counts: Mapping[str, int]) -> str:
    """Say how many tags of a language model are left out."""
    tags = pluralize(counts["tags"], "tag")
    documents = pluralize(counts["documents"], "document")
    return f"{tags} in {documents} left out: unclosed, unopened or invented."


def is_markup(lines: Sequence[str]) -> bool:
    """Tell whether lines have tags around mentions, or links, rather than tags after words.

    Where both are, there must be more of the former; a word such as ``<h1>`` may be of the text.
    """
    n_crac = sum(TAGGED.fullmatch(cell) is not None for line in lines for cell in line.split())
    tags = r"<e[0-9]+>|\]\(#" if n_crac else r"<e[0-9]+>|</[A-Za-z]\w*[0-9]>|\]\(#"
    return sum(len(re.findall(tags, line)) for line in lines) > n_crac


def read_records(path: Path, split: str, *, tolerant: bool = False) -> Parsed:
    """Read the documents of a file; if `tolerant`, wrong tags cost their mention, and a notice counts them."""
    del split
    lines = list(read_lines(path))
    while len(lines) > 1 and not lines[-1].strip():
        lines.pop()
    is_marked_up = is_markup(lines)
    problems, wrong, documents = ProblemList(), Counter[int](), []
    words = []
    for number, line in enumerate(lines, start=1):
        if unsafe := describe_unsafe(line, UNSAFE_IN_ROWS):
            problems.add(f"the text {unsafe}", number)
        marks = _read_markup(line) if is_marked_up else _read_crac(line)
        wrong[number] += len(marks.wrong)
        for what in marks.wrong if not tolerant else ():
            problems.add(what + advise(" ({words=align} leaves such mentions out)"), number)
        found, empty = mark_empty_nodes(marks.words)
        words.append(found)
        documents.append(make_document(str(number), len(found), marks.found, empty=empty))
    problems.raise_any(path)
    notices = []
    n_wrong = sum(wrong.values())
    if n_wrong:
        counts = {"tags": n_wrong, "documents": sum(map(bool, wrong.values()))}
        notices.append(count_notice(describe_wrong_tags, counts))
    rows = [[number] * len(found) for number, found in enumerate(words, start=1)]
    table = make_table(
        documents,
        words=MarkedWords(words, rows),
        unnamed=frozenset(range(len(documents))),
        notices=notices,
    )
    return Parsed(table, range(1, len(lines) + 1), [])


def list_tokens(table: MentionTable, kind: str, *, mark: bool = True) -> Iterator[list[str]]:
    """Yield the tokens of each document, with `##` before empty nodes if `mark`.

    Raises:
        ValueError: a mention is discontinuous, or a document has no name or no words; `kind` names the format in the
            message.
    """
    if table.parts:
        raise ValueError(f"{kind} can't express discontinuous mentions")
    if "" in table.names:
        raise ValueError(f"a document has no name, which {kind} needs")
    for i, document in enumerate(split_table(table)):
        tokens = list(table.words(i)) if table.words is not None else []
        nodes = {node.token for node in document.empty}
        words = [token for number, token in enumerate(tokens) if number not in nodes]
        has_words = bool(tokens) and (not mark or not words or are_known(words))
        if not has_words and (document.n_tokens or len(document.start)):
            raise ValueError(f"document {quote(document.name)} has no words, which {kind} needs")
        if mark:
            tokens = [token.replace(" ", "_") for token in tokens]
            for node in document.empty:
                tokens[node.token] = EMPTY + (
                    "" if tokens[node.token] == "_" else tokens[node.token]
                )
        yield tokens


def dump_marked_text(table: MentionTable, *, blind: bool = False) -> str:
    """Convert documents to lines of CRAC's text, with entities numbered from e1; without tags if `blind`.

    Raises:
        ValueError: a mention is discontinuous, or two of one entity cross; a word can't be written; there are no words.
    """
    lines = []
    for document, tokens in zip(split_table(table), list_tokens(table, "CRAC's text"), strict=True):
        for i, token in enumerate(tokens):
            if (
                not token
                or token.split() != [token]
                or TAGGED.fullmatch(token)
                or INVENTED.fullmatch(token)
                or describe_unsafe(token)
            ):
                raise ValueError(
                    f"CRAC's text can't express the word {quote(token)} of {quote(document.name)}"
                )
            if token.startswith(EMPTY) and all(node.token != i for node in document.empty):
                raise ValueError(f"CRAC's text would have the word {quote(token)} as an empty node")
        closes, opens, singles = (defaultdict[int, list[str]](list) for _ in range(3))
        stacks: defaultdict[int, list[int]] = defaultdict(list)
        rows = zip(
            document.start.tolist(), (-document.end).tolist(), document.entity.tolist(), strict=True
        )
        for start, negative, entity in sorted(rows) if not blind else ():
            end, name, stack = -negative, f"e{entity + 1}", stacks[entity]
            if start == end:
                singles[start].append(f"[{name}]")
                continue
            while stack and stack[-1] <= start:
                stack.pop()
            if stack and stack[-1] < end:
                what = f"the mention of tokens {start} to {end} crosses another of its entity"
                raise ValueError(
                    f"CRAC's text can't express document {quote(document.name)}: {what}"
                )
            stack.append(end)
            opens[start].append(f"[{name}")
            closes[end].append(f"{name}]")
        cells = [
            f"{token}|{','.join(tags)}" if (tags := [*closes[i], *opens[i], *singles[i]]) else token
            for i, token in enumerate(tokens)
        ]
        lines.append(" ".join(cells) + "\n")
    if is_markup(lines):
        raise ValueError("CRAC's text can't express words such as <e1>, which would be tags")
    if lines and lines[0].startswith(("{", "[", "\ufeff")):
        raise ValueError("CRAC's text can't begin with {, [ or U+FEFF: it would be read as JSON")
    return "".join(lines)


def keep_head_parts(table: MentionTable) -> MentionTable:
    """Cut discontinuous mentions to the part with the head, or the first one, with a notice."""
    if not table.parts:
        return table
    start, end = table.start.copy(), table.end.copy()
    for row, parts in table.parts.items():
        head = int(parts[0][0] if table.head is None else table.head[row])
        start[row], end[row] = next(part for part in parts if part[0] <= head <= part[1])
    notice = (
        f"{pluralize(len(table.parts), 'discontinuous mention')} cut to the part with the head."
    )
    return replace(table, start=start, end=end, parts={}, notices=[*table.notices, notice])


def name_in_order(response: MentionTable, names: Sequence[str]) -> MentionTable:
    """Give documents without names those of the key, in its order, if both have as many."""
    if response.words is None or len(response.unnamed) != len(names):
        return response
    return replace(response, names=list(names), unnamed=frozenset())


FORMAT = Format(
    read_records,
    lambda records: dump_marked_text(table_of(records)),
    suffixes=(".txt",),
    first_line=re.compile(rf".*(?:\S\|{CRAC_TAG}(?:,|\s|$)|<[A-Za-z]\w*[0-9]>|\]\(#)"),
)
