"""Unlabelled documents from plain texts, with the noun phrases that a spaCy pipeline finds.

Source: Elazar, Basmov, Goldberg and Tsarfaty (2022), sections 4 and 5.1: base noun phrases of spaCy that are not
pronouns, in texts with 25 to 50 of them in title, subtitle and first three paragraphs.

Texts: a file holds a title, any number of subtitles, and at least one paragraph.  These parts are lines, or
blocks of lines between blank lines; further blank lines and white space around a part don't matter.  The corpus puts a
blank line after the title, a space and a blank line after each subtitle, and a space and a line end between paragraphs.

Noun phrases: a sentence never goes beyond its line.  Noun phrases are numbered in the order of the text.  Each is a
coreference cluster of its own, since nobody has annotated coreference; links are missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from closeread import limits
from closeread.corpus.notices import warn_all
from closeread.corpus.pipelines import list_unneeded
from closeread.exceptions import (
    FormatError,
    ProblemList,
    RequestError,
    describe_problems,
    join_names,
    name_option,
    pluralize,
    quote,
    read_all,
    shorten,
)
from closeread.formats.folders import list_files
from closeread.formats.text import UNSAFE as UNSAFE_NAME
from closeread.formats.text import read_lines
from closeread.progress import track
from closeread.records import Record
from closeread.tasks.tne.columns import TITLE_END
from closeread.tasks.tne.tne_jsonl import UNSAFE

LINE, BLANK_LINE = "line", "blank-line"
PARTS = {LINE: "non-blank line", BLANK_LINE: "block"}
"""The name of a part, by the separator of parts: line ends, or blank lines."""

SUFFIX = re.compile(r"(?<=.)(\.txt)?(\.gz)?$", re.IGNORECASE)

PARAGRAPH_END = " \n"


@dataclass(frozen=True)
class PlainText:
    """A text in its parts, none of which is empty or has white space around it."""

    id: str  # the id of its document: the name of the file without `.txt`
    source: str  # the name of the file
    title: str
    subtitles: tuple[str, ...]  # the subtitles, possibly none
    paragraphs: tuple[str, ...]  # the paragraphs, at least one

    def lay_out(self, n_paragraphs: int | None = None) -> str:
        """Return the text as the corpus writes it.

        >>> PlainText("x", "x.txt", "Ferry sinks", ("May 4",), ("One.", "Two.", "Three.")).lay_out(2)
        'Ferry sinks\\n\\nMay 4 \\n\\nOne. \\nTwo.'
        """
        # A text without subtitles has an empty one, so that the paragraphs follow the second blank line in any text.
        above = "".join(f"{part} {TITLE_END}" for part in self.subtitles or ("",))
        return self.title + TITLE_END + above + PARAGRAPH_END.join(self.paragraphs[:n_paragraphs])


def read_texts(
    paths: Sequence[Path], separator: str = LINE, n_subtitles: int = 1
) -> list[PlainText]:
    """Read files, and the files of folders whose names end in `.txt` or `.txt.gz`; ids must be distinct.

    Parts are separated as one of `PARTS` says; the title and `n_subtitles` subtitles come first.
    """

    files: list[Path] = []
    # folders with errors of their own, besides those of their texts
    wrong: dict[Path, FormatError] = {}
    for path in paths:
        if not path.is_dir():
            files.append(path)
            continue
        try:
            found, problems, others = list_files(path, "plain text", ".txt", ".txt.gz")
            warn_all(describe_problems(str(path), others))
        except FormatError as error:
            found, problems = {}, list(error.problems)
        files += found.values()
        if problems:
            wrong[path] = FormatError(path, problems)
    seen: dict[str, Path] = {}

    def read_one(path: Path) -> PlainText:
        if path in wrong:
            raise wrong[path]
        return _read_text(path, separator, n_subtitles, seen)

    return read_all([*files, *wrong], read_one)


def _read_text(path: Path, separator: str, n_subtitles: int, seen: dict[str, Path]) -> PlainText:
    own = SUFFIX.sub("", path.name)
    problems = ProblemList()
    if (before := seen.setdefault(own, path)) is not path:
        found = (
            f"gives its document the same id as {before}" if before != path else "is given twice"
        )
        problems.add(f"{found} (expected files with distinct names)")
    if UNSAFE_NAME.search(path.name):
        problems.add(
            "has control characters or invalid bytes in its name (expected printable ones)"
        )
    try:
        lines = read_lines(path)
    except FormatError as error:
        raise FormatError(path, [*problems, *error.problems]) from None
    for number, line in enumerate(lines, start=1):
        if unsafe := UNSAFE.search(line):
            character = (
                f"character {unsafe.start() + 1} is the control character U+{ord(unsafe[0]):04X}"
            )
            problems.add(f"{character} (expected plain text)", number)
    parts = split_parts(lines, separator)
    n_above = 1 + n_subtitles
    if len(parts) <= n_above:
        above = (
            f"a title, {pluralize(n_subtitles, 'subtitle')} and" if n_subtitles else "a title and"
        )
        problems.add(
            f"has {pluralize(len(parts), PARTS[separator])} (expected {above} at least one paragraph)"
        )
    if problems:
        raise FormatError(path, problems)
    return PlainText(own, path.name, parts[0], tuple(parts[1:n_above]), tuple(parts[n_above:]))


def split_parts(lines: Sequence[str], separator: str) -> list[str]:
    r"""Return the parts of a text, without white space around them; the lines of a block are joined by a space.

    >>> split_parts(["Ferry sinks", "", "May", " 4 "], "line")
    ['Ferry sinks', 'May', '4']
    >>> split_parts(["Ferry sinks", " ", "May", " 4 "], "blank-line")
    ['Ferry sinks', 'May 4']
    """
    stripped = [line.strip() for line in lines]
    if separator == LINE:
        return [line for line in stripped if line]
    return [" ".join(block) for is_text, block in groupby(stripped, bool) if is_text]


# the most characters that are processed together; spaCy's models take up to 1 GB of memory for so
# many
BATCH = 100_000


@dataclass(frozen=True)
class Filter:
    """The number of paragraphs to keep of each text, and the sizes of texts to keep."""

    # how many paragraphs of each text to keep, from 1; None for all
    n_paragraphs: int | None = None
    min_phrases: int = 0  # a text with fewer or more noun phrases is left out
    max_phrases: int = limits.MAX_NOUN_PHRASES

    def __post_init__(self) -> None:
        """Check that the lower bound is not above the upper one."""
        if self.min_phrases > self.max_phrases:
            found = f"the least number of noun phrases, {self.min_phrases:,}, is above the greatest"
            raise RequestError(f"{found}, {self.max_phrases:,} (expected a range such as 25 to 50)")

    def __str__(self) -> str:
        """The numbers of noun phrases in words."""
        low, high = self.min_phrases, self.max_phrases
        if high == limits.MAX_NOUN_PHRASES:
            return f"at least {pluralize(low, 'noun phrase')}"
        return (
            f"{low:,} to {high:,} noun phrases"
            if low
            else f"at most {pluralize(high, 'noun phrase')}"
        )


def build_documents(
    texts: Sequence[PlainText], pipeline: Any, name: str, chosen: Filter
) -> tuple[list[Record], list[str]]:
    """Return a document for every text that the filter keeps, in order, and notices on left-out texts and phrases.

    The spaCy pipeline, called by its name in messages, sets parts of speech and finds noun chunks.
    """
    limit = int(pipeline.max_length)
    lengths = [(text.id, len(text.lay_out(chosen.n_paragraphs))) for text in texts]
    if too_long := [f"{quote(text)} ({length:,})" for text, length in lengths if length > limit]:
        found = f"{pluralize(len(too_long), 'text')} too long for spaCy pipeline {quote(name)}"
        shorter = f"shorten with {name_option('paragraphs')}"
        raise RequestError(
            f"{found}: {_join(too_long)} (expected at most {limit:,} characters); {shorter}"
        )
    records: list[Record] = []
    left_out, empty, untitled, n_broken = list[str](), list[str](), list[str](), 0
    processed = _process(texts, pipeline, name, chosen.n_paragraphs)
    for text, characters, document in track(processed, "finding noun phrases", len(texts)):
        words = [token.text for token in document]
        spans = find_phrases(document, words, name)
        nps = _make_phrases(characters, words, document.to_array("IDX").tolist(), spans)
        n_broken += len(spans) - len(nps)
        if not chosen.min_phrases <= len(nps) <= chosen.max_phrases:
            left_out.append(f"{quote(text.id)} has {len(nps):,}")
            continue
        if not nps:
            empty.append(text.id)
        elif nps[0]["first_char"] >= len(text.title):
            untitled.append(text.id)
        coref = [
            {"id": f"cc{n}", "members": [np["id"]], "np_type": None} for n, np in enumerate(nps)
        ]
        metadata = {"annotators": None, "url": None, "source": text.source}
        about = {"id": text.id, "text": characters, "tokens": words}
        records.append({**about, "nps": nps, "coref": coref, "metadata": metadata})
    if not records:
        raise RequestError(f"no text has {chosen}: {_join(left_out)}")
    notices = []
    if left_out:
        found = f"{len(left_out):,} of {pluralize(len(texts), 'text')} left out"
        notices.append(f"{found}: {_join(left_out)} (expected {chosen}).")
    if n_broken:
        where = "it goes beyond its line" if n_broken == 1 else "they go beyond their line"
        notices.append(f"{pluralize(n_broken, 'noun phrase')} left out because {where}.")
    for lacking, names in (("noun phrases", empty), ("noun phrases in the title", untitled)):
        if names:
            notices.append(
                f"{pluralize(len(names), 'document')} without {lacking}: {join_names(names)}."
            )
    return records, notices


def _process(
    texts: Sequence[PlainText], pipeline: Any, name: str, n_paragraphs: int | None
) -> Iterator[tuple[PlainText, str, Any]]:
    """Yield each text with its characters and its processed document."""
    unneeded = list_unneeded(pipeline)
    for batch in _batch((text, text.lay_out(n_paragraphs)) for text in texts):
        tokenized = (_tokenize(pipeline, characters) for _, characters in batch)
        documents = pipeline.pipe(tokenized, batch_size=len(batch), disable=unneeded)
        for text, characters in batch:
            try:
                document = next(documents)
            except Exception as error:  # third-party code, which may fail in any way
                # All of a batch is processed together, so that a later text may be the cause.
                found = (
                    f"spaCy pipeline {quote(name)} fails on text {quote(text.id)} or a later one"
                )
                message = " ".join(str(error).split())
                raise RequestError(f"{found}: {shorten(message) or type(error).__name__}") from None
            if document.text != characters:
                found = (
                    f"spaCy pipeline {quote(name)} changes the characters of text {quote(text.id)}"
                )
                raise RequestError(f"{found} (expected a tokenizer that keeps them)")
            yield text, characters, document


def _batch(texts: Iterable[tuple[PlainText, str]]) -> Iterator[list[tuple[PlainText, str]]]:
    """Yield batches of at most `BATCH` characters, or of a longer text alone."""
    batch: list[tuple[PlainText, str]] = []
    size = 0
    for text, characters in texts:
        if batch and size + len(characters) > BATCH:
            yield batch
            batch, size = [], 0
        batch.append((text, characters))
        size += len(characters)
    if batch:
        yield batch


def _tokenize(pipeline: Any, text: str) -> Any:
    """Return a spaCy document in which every line begins a new sentence.

    Otherwise parsers join titles and dates with what follows, and their noun phrases go beyond lines.
    """
    document = pipeline.make_doc(text)
    for number, token in enumerate(document, start=1):
        if "\n" in token.text and number < len(document):
            document[number].is_sent_start = True
    return document


def find_phrases(document: Any, words: Sequence[str], name: str) -> list[tuple[int, int]]:
    """Return first and last tokens of base noun phrases that are not pronouns, without white space at their edges."""
    lacking = [] if document.has_annotation("POS") else ["parts of speech"]
    chunks = []
    try:
        chunks = list(document.noun_chunks)
    except NotImplementedError:
        found = f"spaCy knows no noun phrases of the language of pipeline {quote(name)}, {quote(document.lang_)}"
        raise RequestError(f"{found} (expected an English pipeline)") from None
    except ValueError:  # there is no parse
        lacking.append("a dependency parse")
    if lacking:
        found = f"spaCy pipeline {quote(name)} does not set {' and '.join(lacking)}"
        raise RequestError(
            f"{found} (expected a pipeline with a tagger and a parser, such as en_core_web_sm)"
        )
    spans = set()
    for chunk in chunks:
        tokens = [place for place in range(chunk.start, chunk.end) if not words[place].isspace()]
        if tokens and chunk.root.pos_ != "PRON":
            spans.add((tokens[0], tokens[-1]))
    return sorted(spans)


def _make_phrases(
    characters: str, words: Sequence[str], starts: Sequence[int], spans: Iterable[tuple[int, int]]
) -> list[Record]:
    """Return noun phrases, given their first and last tokens, except those that go beyond their line."""
    phrases: list[Record] = []
    for first, last in spans:
        begin, end = starts[first], starts[last] + len(words[last])
        text = characters[begin:end]
        if "\n" not in text:
            place = {
                "first_char": begin,
                "last_char": end,
                "first_token": first,
                "last_token": last,
            }
            phrases.append({"text": text, **place, "id": f"np{len(phrases)}"})
    return phrases


def _join(found: Sequence[str], shown: int = 10) -> str:
    """Join the first few and count the rest."""
    return ", ".join(found[:shown]) + (
        f" and {len(found) - shown:,} more" if len(found) > shown else ""
    )
