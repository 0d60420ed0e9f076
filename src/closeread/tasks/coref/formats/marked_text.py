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
from itertools import accumulate
from pathlib import Path

from closeread.exceptions import ProblemList, advise, pluralize, quote
from closeread.formats.text import UNSAFE_IN_ROWS, describe_unsafe, read_lines
from closeread.tasks.coref.documents import (
    NO_WORDS,
    Document,
    Documents,
    Entity,
    ListedWords,
    Mention,
    are_known,
)
from closeread.tasks.coref.formats import CRAC_TAG
from closeread.tasks.coref.formats.coref_json import EMPTY, mark_empty_nodes
from closeread.tasks.coref.formats.lines import (
    check_continuous,
    group_mentions,
    place_mentions,
    sort_spans,
)
from closeread.tasks.coref.formats.reading import DEFAULT_READING, CorefFormat, Reading
from closeread.tasks.coref.notices import count_notice

TAGGED = re.compile(rf"(.+?)\|({CRAC_TAG}(?:,{CRAC_TAG})*)", re.DOTALL)
# What a model may write in place of tags.
INVENTED = re.compile(r"(.+?)\|(\S*[\[\]]\S*|e[0-9]+(?:,e[0-9]+)*)")
MARKUP = re.compile(r"<(/?)([A-Za-z]\w*)>|(\[)|\]\(#([^()\s]*)\)|(\])")


class MarkedWords(ListedWords):
    """The words of a line, which is a document without a name."""

    replaces_blanks = True
    has_line_per_document = True


class _Marks:
    """The mentions of a document, and what is wrong with its tags."""

    def __init__(self) -> None:
        self.words: list[str] = []
        # With the ids of their entities, in the order in which they close.
        self.mentions: list[tuple[str, Mention]] = []
        self.wrong: list[str] = []
        self._open: defaultdict[str, list[int]] = defaultdict(list)

    def open(self, entity: str, token: int) -> None:
        self._open[entity].append(token)

    def close(self, entity: str, token: int, tag: str) -> None:
        if not self._open[entity]:
            self.wrong.append(f"the tag {quote(tag)} closes a mention that was never opened")
            return
        start = self._open[entity].pop()
        if start > token:
            self.wrong.append(f"the mention of {quote(entity)} has no words")
        else:
            self.mentions.append((entity, Mention(start, token)))

    def finish(self) -> None:
        for entity, starts in self._open.items():
            for start in starts:
                mention = f"the mention of {quote(entity)} from token {start}"
                self.wrong.append(f"{mention} is never closed")


def _read_crac(line: str) -> _Marks:
    """Read a line with tags after the words."""
    marks = _Marks()
    for token, cell in enumerate(line.split()):
        tagged = TAGGED.fullmatch(cell)
        invented = None if tagged else INVENTED.fullmatch(cell)
        if tagged:
            marks.words.append(tagged[1])
            for tag in tagged[2].split(","):
                entity = tag.strip("[]")
                if tag[0] == "[":
                    marks.open(entity, token)
                if tag[-1] == "]":
                    marks.close(entity, token, tag)
        elif invented:
            word, tags = invented.groups()
            marks.words.append(word)
            marks.wrong.append(f"{quote(tags)} after the word {quote(word)} is no tag")
        else:
            marks.words.append(cell)
    marks.finish()
    return marks


def _read_markup(line: str) -> _Marks:
    """Read a line with tags around mentions, or with links."""
    marks = _Marks()
    # Words and brackets; brackets that turn out to be of links are blanked.
    pieces: list[str] = []
    # The pieces that are open brackets.
    brackets: list[int] = []
    end = 0
    for match in MARKUP.finditer(line):
        pieces += line[end : match.start()].split()
        end = match.end()
        closes, tag, opening, link, _ = match.groups()
        if opening:
            brackets.append(len(pieces))
            pieces.append("[")
        elif link is not None:
            if not brackets:
                marks.wrong.append(
                    f"the link {quote(match[0])} closes a mention that was never opened"
                )
                continue
            place = brackets.pop()
            pieces[place] = ""
            if link:
                marks.mentions.append((link, Mention(place, len(pieces) - 1)))
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
    # The number of words before each piece, and before the end.
    n_words = list(accumulate(map(bool, pieces), initial=0))
    mentions = marks.mentions
    marks.mentions = []
    for entity, mention in mentions:
        start = n_words[mention.start]
        last = n_words[mention.end + 1] - 1
        if start > last:
            marks.wrong.append(f"the mention of {quote(entity)} has no words")
        else:
            marks.mentions.append((entity, Mention(start, last)))
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
    n_crac = 0
    for line in lines:
        n_crac += sum(TAGGED.fullmatch(cell) is not None for cell in line.split())
    tags = r"<e[0-9]+>|\]\(#" if n_crac else r"<e[0-9]+>|</[A-Za-z]\w*[0-9]>|\]\(#"
    return sum(len(re.findall(tags, line)) for line in lines) > n_crac


def read_records(path: Path, reading: Reading = DEFAULT_READING) -> Documents:
    """Read the documents of a file; a notice counts the wrong tags that cost their mention."""
    lines = list(read_lines(path))
    while len(lines) > 1 and not lines[-1].strip():
        lines.pop()
    is_marked_up = is_markup(lines)
    problems = ProblemList()
    wrong = Counter[int]()
    documents = []
    for number, line in enumerate(lines, start=1):
        unsafe = describe_unsafe(line, UNSAFE_IN_ROWS)
        if unsafe:
            problems.add(f"the text {unsafe}", number)
        marks = _read_markup(line) if is_marked_up else _read_crac(line)
        wrong[number] += len(marks.wrong)
        if not reading.is_tolerant:
            for message in marks.wrong:
                problems.add(message + advise(" ({words=align} leaves such mentions out)"), number)
        words, nodes = mark_empty_nodes(marks.words)
        document = Document(
            name=str(number),
            entities=group_mentions(marks.mentions),
            n_tokens=len(words),
            words=MarkedWords(words, [number] * len(words)),
            nodes=nodes,
            is_named=False,
        )
        documents.append(document)
    problems.raise_any(path)
    notices = []
    n_wrong = sum(wrong.values())
    if n_wrong:
        counts = {"tags": n_wrong, "documents": sum(map(bool, wrong.values()))}
        notices.append(count_notice(describe_wrong_tags, counts))
    return Documents(documents, notices)


def list_tokens(
    documents: Sequence[Document], kind: str, *, mark: bool = True
) -> Iterator[list[str]]:
    """Yield the tokens of each document, with `##` before empty nodes if `mark`.

    Raises:
        ValueError: a mention is discontinuous, or a document has no name or no words; `kind` names the format in the
            message.
    """
    check_continuous(documents, kind)
    if any(not document.name for document in documents):
        raise ValueError(f"a document has no name, which {kind} needs")
    for document in documents:
        tokens = list(document.words.read())
        nodes = document.map_nodes()
        words = [token for number, token in enumerate(tokens) if number not in nodes]
        has_words = bool(tokens) and (not mark or not words or are_known(words))
        if not has_words and (document.n_tokens or document.entities):
            raise ValueError(f"document {quote(document.name)} has no words, which {kind} needs")
        if mark:
            stray = next((word for word in words if word.startswith(EMPTY)), None)
            if stray is not None:
                raise ValueError(f"{kind} would have the word {quote(stray)} as an empty node")
            tokens = [token.replace(" ", "_") for token in tokens]
            for node in nodes:
                form = tokens[node]
                tokens[node] = EMPTY if form == "_" else EMPTY + form
        yield tokens


def list_spans(document: Document) -> list[list[list[int]]]:
    """Return the first and the last token of the mentions of each entity."""
    return list(map(_list_spans_of, document.entities))


def _list_spans_of(entity: Entity) -> list[list[int]]:
    return [[mention.start, mention.end] for mention in entity.mentions]


def dump_marked_text(documents: Sequence[Document], *, blind: bool = False) -> str:
    """Convert documents to lines of CRAC's text, with entities numbered from e1; without tags if `blind`.

    Raises:
        ValueError: a mention is discontinuous, or two of one entity cross; a word can't be written; there are no words.
    """
    lines = []
    for document, tokens in zip(documents, list_tokens(documents, "CRAC's text"), strict=True):
        _check_tokens(document, tokens)
        cells = list(tokens)
        if not blind:
            spans = sort_spans(document, "CRAC's text", may_touch=True)
            labels = [f"e{number}" for number in range(1, len(document.entities) + 1)]
            for token, tags in enumerate(place_mentions(spans, labels, "[]", len(cells))):
                if tags:
                    cells[token] += f"|{','.join(tags)}"
        lines.append(" ".join(cells) + "\n")
    if is_markup(lines):
        raise ValueError("CRAC's text can't express words such as <e1>, which would be tags")
    if lines and lines[0].startswith(("{", "[", "\ufeff")):
        raise ValueError("CRAC's text can't begin with {, [ or U+FEFF: it would be read as JSON")
    return "".join(lines)


def _check_tokens(document: Document, tokens: Sequence[str]) -> None:
    """Check that the tokens would be read back as they are."""
    for token in tokens:
        is_tagged = TAGGED.fullmatch(token) or INVENTED.fullmatch(token)
        if token.split() != [token] or is_tagged or describe_unsafe(token):
            message = f"the word {quote(token)} of {quote(document.name)}"
            raise ValueError(f"CRAC's text can't express {message}")


def keep_head_parts(documents: Documents) -> Documents:
    """Cut discontinuous mentions to the part with the head, or the first one, with a notice."""
    n_cut = sum(bool(mention.subspans) for mention in documents.list_mentions())
    if not n_cut:
        return documents
    notice = f"{pluralize(n_cut, 'discontinuous mention')} cut to the part with the head."
    cut = [
        replace(document, entities=list(map(_cut_mentions, document.entities)))
        for document in documents.documents
    ]
    return documents.replaced(cut, notice)


def _cut_mentions(entity: Entity) -> Entity:
    return Entity(entity.label, [_cut_mention(mention) for mention in entity.mentions])


def _cut_mention(mention: Mention) -> Mention:
    head = mention.head_or_start
    start, end = next(span for span in mention.spans if span[0] <= head <= span[1])
    return mention._replace(start=start, end=end, subspans=())


def name_in_order(response: Documents, names: Sequence[str]) -> Documents:
    """Give documents without names those of the key, in its order, if both have as many."""
    documents = response.documents
    has_names = any(document.is_named for document in documents)
    has_words = any(document.words is not NO_WORDS for document in documents)
    if has_names or not has_words or len(documents) != len(names):
        return response
    named = [
        replace(document, name=name, is_named=True)
        for document, name in zip(documents, names, strict=True)
    ]
    return response.replaced(named)


FORMAT = CorefFormat(read_records, dump_marked_text, can_be_blind=True)
