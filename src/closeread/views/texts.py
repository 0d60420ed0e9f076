"""The text of a document as a page shows it: words, where no blank follows, sentences, and the direction of reading."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from closeread.tasks.coref.documents import Document

EMPTY_NODE = "∅"

MAX_WORDS_OF_NAME = 6
MAX_CHARACTERS_OF_NAME = 60

WITHOUT_BLANK_BEFORE = re.compile(
    r"[.,;:!?…)\]}%،؛؟。，、；：！？」』）”’]+|['’](?:s|S|d|m|re|ve|ll)|n['’]t|''"
)
"""Words that follow the word before without a blank, as English tokenizers split them off."""

WITHOUT_BLANK_AFTER = re.compile(r"[(\[{「『（“‘]+|``")
STRAIGHT_QUOTE = re.compile(r"[\"']")

SENTENCE_END = re.compile(r"[.!?…。！？؟।]+")
AFTER_SENTENCE_END = re.compile(r"[\"'”’)\]»」]+|''")


def find_glued(words: Sequence[str], sentences: Sequence[int]) -> list[int]:
    """Guess after which words there is no blank, where a file doesn't say it."""
    starts = set(sentences)
    glued = []
    is_quoted = False
    for number, word in enumerate(words):
        # A quotation may begin with the last token of a sentence.
        if number in starts and not (number and STRAIGHT_QUOTE.fullmatch(words[number - 1])):
            is_quoted = False
        is_quote = STRAIGHT_QUOTE.fullmatch(word) is not None
        if is_quote:
            is_quoted = not is_quoted
        following = words[number + 1] if number + 1 < len(words) else ""
        closes = is_quoted and not is_quote and STRAIGHT_QUOTE.fullmatch(following)
        opens = (is_quote and is_quoted) or WITHOUT_BLANK_AFTER.fullmatch(word)
        if closes or opens or WITHOUT_BLANK_BEFORE.fullmatch(following):
            glued.append(number)
    return glued


def find_sentences(words: Sequence[str]) -> list[int]:
    """Guess the first word of each sentence, where a file has no sentences."""
    starts = [0]
    is_after_end = False
    for number, word in enumerate(words):
        if SENTENCE_END.fullmatch(word):
            is_after_end = True
        elif is_after_end and not AFTER_SENTENCE_END.fullmatch(word):
            starts.append(number)
            is_after_end = False
    return starts


def find_direction(words: Sequence[str]) -> str:
    """Return whether a text is read from the left or from the right, by its letters."""
    letters = "".join(words[:200])
    directions = [unicodedata.bidirectional(letter) for letter in letters]
    n_from_right = sum(direction in ("R", "AL") for direction in directions)
    return "rtl" if n_from_right > directions.count("L") else "ltr"


def name_entities(document: Document, words: Sequence[str], sentences: set[int]) -> list[str]:
    """Return a mention of each entity that tells it from others: rather a name, and not too long."""
    names = []
    for entity in document.entities:
        best = (False, False, 0)
        name = ""
        for mention in entity.mentions:
            length = mention.end - mention.start + 1
            first_word = words[mention.start]
            is_name = first_word[:1].isupper() and mention.start not in sentences
            fitness = (
                length <= MAX_WORDS_OF_NAME,
                is_name and len(first_word) > 1,
                min(length, 3) if length <= MAX_WORDS_OF_NAME else -length,
            )
            if not name or fitness > best:
                best = fitness
                name = " ".join(words[mention.start : mention.end + 1])
        names.append(name[:MAX_CHARACTERS_OF_NAME])
    return names


class Text(NamedTuple):
    """The text of a document.

    Attributes:
        words: its tokens.
        glued: the tokens that no blank follows.
        empty: the tokens that are empty nodes.
        sentences: the first token of each sentence.
        direction: "ltr" or "rtl".
    """

    words: list[str]
    glued: list[int]
    empty: list[int]
    sentences: list[int]
    direction: str


def make_text(originals: Sequence[Document], numbered: Sequence[Document]) -> Text:
    """Return the text of a document, in the numbering of tokens that all sides share.

    Args:
        originals: the document on each side.
        numbered: the same in the shared numbering.
    """
    source = originals[0]
    words: Sequence[str] = ()
    for original in originals:
        words = original.words.read()
        if words:
            source = original
            break
    node_tokens = {node.token for node in source.nodes}
    nodes = {node.token for document in numbered for node in document.nodes}
    if not words:
        last_tokens = [mention.end for document in numbered for mention in document.mentions]
        n_tokens = 1 + max((*last_tokens, *nodes), default=-1)
        words = [str(token) for token in range(n_tokens)]
        node_tokens = nodes
    layout = source.words.read_layout()
    starts = layout.sentences
    if starts is None:
        starts = find_sentences(words)
    glued = layout.glued
    if glued is None:
        glued = find_glued(words, starts)
    direction = find_direction(words)
    if not nodes:
        return Text(list(words), list(glued), [], list(starts), direction)
    # Other sides may have more empty nodes, which stand between the words.
    shared_words: list[str] = []
    new_tokens: dict[int, int] = {}
    for token, word in enumerate(words):
        if token in node_tokens:
            continue
        while len(shared_words) in nodes:
            shared_words.append(EMPTY_NODE)
        new_tokens[token] = len(shared_words)
        shared_words.append(word)
    while len(shared_words) in nodes:
        shared_words.append(EMPTY_NODE)
    # A sentence may begin with an empty node.
    for token in sorted(node_tokens, reverse=True):
        new_tokens[token] = max(new_tokens.get(token + 1, len(shared_words)) - 1, 0)
    return Text(
        shared_words,
        [new_tokens[token] for token in glued],
        sorted(nodes),
        [new_tokens[token] for token in starts],
        direction,
    )
