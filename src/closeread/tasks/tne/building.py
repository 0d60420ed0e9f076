"""Unlabelled documents from plain texts, with the noun phrases that a spaCy pipeline finds.

Source: Elazar, Basmov, Goldberg and Tsarfaty (2022), sections 4 and 5.1: base noun phrases of spaCy that are not
pronouns, in title, subtitle and first three paragraphs.

Texts: a file holds a title, a subtitle, and at least one paragraph, each on a line; blank lines and white space around
a line don't matter.  The corpus puts a blank line after the title, a space and a blank line after the subtitle, and a
space and a line end between paragraphs.

Noun phrases: a sentence never goes beyond its line.  Noun phrases are numbered in the order of the text.  Each is a
coreference cluster of its own, since nobody has annotated coreference; links are missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from closeread.corpus.notices import warn_all
from closeread.corpus.pipelines import list_unneeded, parse
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
)
from closeread.formats.folders import list_files
from closeread.formats.text import UNSAFE as UNSAFE_NAME
from closeread.formats.text import read_lines
from closeread.progress import track
from closeread.records import Record
from closeread.tasks.tne.phrases import TITLE_END
from closeread.tasks.tne.tne_jsonl import UNSAFE

SUFFIX = re.compile(r"(?<=.)(\.txt)?(\.gz)?$", re.IGNORECASE)

PARAGRAPH_END = " \n"


@dataclass(frozen=True)
class PlainText:
    """A text in its parts, none of which is empty or has white space around it.

    Attributes:
        id: the id of its document, which is the name of the file without `.txt`.
        source: the name of the file.
        title: the title.
        subtitle: the subtitle.
        paragraphs: the paragraphs, at least one.
    """

    id: str
    source: str
    title: str
    subtitle: str
    paragraphs: tuple[str, ...]

    def lay_out(self, n_paragraphs: int | None = None) -> str:
        """Return the text as the corpus writes it.

        >>> PlainText("x", "x.txt", "Ferry sinks", "May 4", ("One.", "Two.", "Three.")).lay_out(2)
        'Ferry sinks\\n\\nMay 4 \\n\\nOne. \\nTwo.'
        """
        body = PARAGRAPH_END.join(self.paragraphs[:n_paragraphs])
        return f"{self.title}{TITLE_END}{self.subtitle} {TITLE_END}{body}"


def read_texts(paths: Sequence[Path]) -> list[PlainText]:
    """Read files, and the files of folders whose names end in `.txt` or `.txt.gz`; ids must be distinct."""
    files: list[Path] = []
    # Folders with errors of their own, besides those of their texts.
    wrong: dict[Path, FormatError] = {}
    for path in paths:
        if not path.is_dir():
            files.append(path)
            continue
        try:
            texts, problems, ignored = list_files(path, "plain text", ".txt", ".txt.gz")
        except FormatError as error:
            wrong[path] = FormatError(path, list(error.problems))
            continue
        warn_all(describe_problems(str(path), ignored))
        files += texts.values()
        if problems:
            wrong[path] = FormatError(path, problems)
    seen: dict[str, Path] = {}

    def read_path(path: Path) -> PlainText:
        if path in wrong:
            raise wrong[path]
        return _read_text(path, seen)

    return read_all([*files, *wrong], read_path)


def _read_text(path: Path, seen: dict[str, Path]) -> PlainText:
    name = SUFFIX.sub("", path.name)
    problems = ProblemList()
    before = seen.setdefault(name, path)
    if before is not path:
        message = f"gives its document the same id as {before}"
        if before == path:
            message = "is given twice"
        problems.add(f"{message} (expected files with distinct names)")
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
    parts = [line.strip() for line in lines if line.strip()]
    if len(parts) < 3:
        expected = "a title, a subtitle and at least one paragraph, each on a line"
        problems.add(f"has {pluralize(len(parts), 'non-blank line')} (expected {expected})")
    if problems:
        raise FormatError(path, problems)
    title, subtitle, *paragraphs = parts
    return PlainText(name, path.name, title, subtitle, tuple(paragraphs))


def build_documents(
    texts: Sequence[PlainText], pipeline: Any, name: str, n_paragraphs: int | None = None
) -> tuple[list[Record], list[str]]:
    """Return a document for every text, in order, and notices on left-out phrases and texts without any.

    The spaCy pipeline, called by its name in messages, sets parts of speech and finds noun chunks.
    """
    laid_out = [text.lay_out(n_paragraphs) for text in texts]
    limit = int(pipeline.max_length)
    too_long = [
        text.id for text, characters in zip(texts, laid_out, strict=True) if len(characters) > limit
    ]
    if too_long:
        number = f"{pluralize(len(too_long), 'text')} too long for spaCy pipeline {quote(name)}"
        shorter = f"expected at most {limit:,} characters; shorten with {name_option('paragraphs')}"
        raise RequestError(f"{number}: {join_names(too_long)} ({shorter})")
    records: list[Record] = []
    empty: list[str] = []
    untitled: list[str] = []
    n_broken = 0
    with pipeline.select_pipes(disable=list_unneeded(pipeline)):
        tokenized = (_tokenize(pipeline, characters) for characters in laid_out)
        documents = parse(pipeline, tokenized, "POS", "DEP")
        pairs = zip(texts, documents, strict=True)
        for text, document in track(pairs, "finding noun phrases", len(texts)):
            spans = find_phrases(document, name)
            nps = _make_phrases(document, spans)
            n_broken += len(spans) - len(nps)
            if not nps:
                empty.append(text.id)
            elif nps[0]["first_char"] >= len(text.title):
                untitled.append(text.id)
            coref = [
                {"id": f"cc{n}", "members": [np["id"]], "np_type": None} for n, np in enumerate(nps)
            ]
            record = {
                "id": text.id,
                "text": document.text,
                "tokens": [token.text for token in document],
                "nps": nps,
                "coref": coref,
                "metadata": {"annotators": None, "url": None, "source": text.source},
            }
            records.append(record)
    notices = []
    if n_broken:
        where = "it goes beyond its line" if n_broken == 1 else "they go beyond their line"
        notices.append(f"{pluralize(n_broken, 'noun phrase')} left out because {where}.")
    for lacking, names in (("noun phrases", empty), ("noun phrases in the title", untitled)):
        if names:
            notices.append(
                f"{pluralize(len(names), 'document')} without {lacking}: {join_names(names)}."
            )
    return records, notices


def _tokenize(pipeline: Any, text: str) -> Any:
    """Return a spaCy document in which every line begins a new sentence.

    Otherwise parsers join titles and dates with what follows, and their noun phrases go beyond lines.
    """
    document = pipeline.make_doc(text)
    for number, token in enumerate(document, start=1):
        if "\n" in token.text and number < len(document):
            document[number].is_sent_start = True
    return document


def find_phrases(document: Any, name: str) -> list[tuple[int, int]]:
    """Return first and last tokens of base noun phrases that are not pronouns, without white space at their edges."""
    try:
        chunks = list(document.noun_chunks)
    except NotImplementedError:
        problem = f"spaCy knows no noun phrases of the language of pipeline {quote(name)}, {quote(document.lang_)}"
        raise RequestError(f"{problem} (expected an English pipeline)") from None
    spans = set()
    for chunk in chunks:
        tokens = [token.i for token in chunk if not token.text.isspace()]
        if tokens and chunk.root.pos_ != "PRON":
            spans.add((tokens[0], tokens[-1]))
    return sorted(spans)


def _make_phrases(document: Any, spans: Iterable[tuple[int, int]]) -> list[Record]:
    """Return noun phrases, given their first and last tokens, except those that go beyond their line."""
    phrases: list[Record] = []
    for first, last in spans:
        phrase = document[first : last + 1]
        if "\n" not in phrase.text:
            place = {
                "first_char": phrase.start_char,
                "last_char": phrase.end_char,
                "first_token": first,
                "last_token": last,
            }
            phrases.append({"text": phrase.text, **place, "id": f"np{len(phrases)}"})
    return phrases
