"""Unlabelled documents from plain texts, with the noun phrases that a spaCy pipeline finds.

Source: Elazar, Basmov, Goldberg and Tsarfaty (2022), sections 4 and 5.1: base noun phrases of spaCy that are not
pronouns, in texts with 25 to 50 of them in title, subtitle and first three paragraphs.

Conventions: a sentence never goes beyond its line.  Noun phrases are numbered in the order of the text.  Each is a
coreference cluster of its own, since nobody has annotated coreference; links are missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from closeread.errors import RequestError, join_names, pluralize, quote, shorten
from closeread.records import Record
from closeread.tasks.tne.columns import MAX_DIGITS
from closeread.tasks.tne.plain_texts import PlainText

PRONOUN = "PRON"
MAX_PHRASES = 10**MAX_DIGITS
"""The most noun phrases that ids can number."""

SHOWN = 10
"""How many texts a message names."""


@dataclass(frozen=True)
class Filter:
    """Which texts are kept, and how much of them.

    Attributes:
        n_paragraphs: how many paragraphs of each text to keep, from 1; None for all.
        min_phrases, max_phrases: a text with fewer or more noun phrases is left out.
    """

    n_paragraphs: int | None = None
    min_phrases: int = 0
    max_phrases: int = MAX_PHRASES

    def __post_init__(self) -> None:
        """Check the bounds.

        Raises:
            RequestError: the lower one is above the upper one.
        """
        if self.min_phrases > self.max_phrases:
            found = f"the least number of noun phrases, {self.min_phrases:,}, is above the greatest"
            raise RequestError(f"{found}, {self.max_phrases:,} (expected a range such as 25 to 50)")


class Built(NamedTuple):
    """Documents, and what was left out.

    Attributes:
        records: the documents, in the order of their texts.
        left_out: the ids of the texts that the filter left out, each with its number of noun phrases.
        broken: the number of noun phrases that were left out because they go beyond their line.
    """

    records: list[Record]
    left_out: list[tuple[str, int]]
    broken: int

    def notices(self, chosen: Filter) -> Iterator[str]:
        """Describe what was left out, one sentence each."""
        if self.left_out:
            total = len(self.left_out) + len(self.records)
            found = f"{len(self.left_out):,} of {pluralize(total, 'text')} left out"
            yield f"{found}: {_describe_sizes(self.left_out)} (expected {_describe_range(chosen)})."
        if self.broken:
            yield f"{pluralize(self.broken, 'noun phrase')} left out: they go beyond their line."
        empty = [record["id"] for record in self.records if not record["nps"]]
        if empty:
            yield f"{pluralize(len(empty), 'document')} without noun phrases: {join_names(empty)}."


def build_records(
    texts: Sequence[PlainText],
    pipeline: Any,
    name: str,
    chosen: Filter,
    track: Callable[[Iterable[Any]], Iterable[Any]] = iter,
) -> Built:
    """Build a document from every text that the filter keeps.

    Args:
        texts: the texts; their ids are distinct.
        pipeline: a spaCy pipeline that sets parts of speech and finds noun chunks.
        name: its name, for messages.
        chosen: which texts to keep.
        track: wraps the texts while they are processed, such as in a progress bar.

    Raises:
        RequestError: a text is too long for the pipeline, the pipeline lacks a component or fails, or no text is kept.
    """
    written = [text.lay_out(chosen.n_paragraphs) for text in texts]
    _check_lengths(texts, written, pipeline, name)
    built = Built([], [], 0)
    broken = 0
    documents = _process(texts, (_tokenize(pipeline, text) for text in written), pipeline, name)
    for text, characters, document in zip(texts, written, track(documents), strict=True):
        if document.text != characters:
            found = f"spaCy pipeline {quote(name)} changes the characters of text {quote(text.id)}"
            raise RequestError(f"{found} (expected a tokenizer that keeps them)")
        found_here = find_phrases(document, name)
        phrases = [(start, end) for start, end in found_here if "\n" not in document[start:end].text]
        broken += len(found_here) - len(phrases)
        if chosen.min_phrases <= len(phrases) <= chosen.max_phrases:
            built.records.append(_make_record(text, document, phrases))
        else:
            built.left_out.append((text.id, len(phrases)))
    if not built.records:
        raise RequestError(f"no text has {_describe_range(chosen)}: {_describe_sizes(built.left_out)}")
    return built._replace(broken=broken)


def _check_lengths(texts: Sequence[PlainText], written: Sequence[str], pipeline: Any, name: str) -> None:
    """Check that no text is too long for the pipeline."""
    limit = int(pipeline.max_length)
    too_long = [
        f"{quote(text.id)} ({len(characters):,})"
        for text, characters in zip(texts, written, strict=True)
        if len(characters) > limit
    ]
    if too_long:
        found = f"{pluralize(len(too_long), 'text')} too long for spaCy pipeline {quote(name)}: {_list(too_long)}"
        raise RequestError(f"{found} (expected at most {limit:,} characters); shorten with --paragraphs")


def _tokenize(pipeline: Any, text: str) -> Any:
    """Return a spaCy document whose sentences begin on every line anew.

    Otherwise parsers join titles and dates with what follows, and their noun phrases go beyond lines.
    """
    document = pipeline.make_doc(text)
    for token in document[:-1]:
        if "\n" in token.text:
            document[token.i + 1].is_sent_start = True
    return document


def _process(texts: Sequence[PlainText], documents: Iterable[Any], pipeline: Any, name: str) -> Iterator[Any]:
    """Yield the processed documents.

    Raises:
        RequestError: the pipeline fails.
    """
    processed = iter(pipeline.pipe(documents))
    for text in texts:
        try:
            document = next(processed)
        except Exception as error:  # third-party code, which may fail in any way
            # Documents are processed in batches, so that a later one may be the cause.
            found = f"spaCy pipeline {quote(name)} fails on text {quote(text.id)} or a later one"
            message = " ".join(str(error).split())
            raise RequestError(f"{found}: {shorten(message) or type(error).__name__}") from None
        yield document


def find_phrases(document: Any, name: str) -> list[tuple[int, int]]:
    """Return the tokens of base noun phrases that are not pronouns, sorted, each once; ends are exclusive.

    White space at their edges is dropped.

    Args:
        document: a spaCy document.
        name: the pipeline's name, for messages.

    Raises:
        RequestError: the document has no parts of speech or no parse, or spaCy knows no noun phrases of its language.
    """
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
        raise RequestError(f"{found} (expected a pipeline with a tagger and a parser, such as en_core_web_sm)")
    spans = set()
    for chunk in chunks:
        if chunk.root.pos_ != PRONOUN:
            words = [token.i for token in chunk if not token.is_space]
            spans.update([(words[0], words[-1] + 1)] if words else [])
    return sorted(spans)


def _make_record(text: PlainText, document: Any, phrases: Sequence[tuple[int, int]]) -> Record:
    """Return the document of a text, with noun phrases given by their tokens, ends exclusive."""
    nps = []
    for number, (start, end) in enumerate(phrases):
        span = document[start:end]
        nps.append(
            {
                "text": span.text,
                "first_char": span.start_char,
                "last_char": span.end_char,
                "first_token": start,
                "last_token": end - 1,
                "id": f"np{number}",
            }
        )
    clusters = [{"id": f"cc{n}", "members": [np["id"]], "np_type": None} for n, np in enumerate(nps)]
    return {
        "id": text.id,
        "text": document.text,
        "tokens": [token.text for token in document],
        "nps": nps,
        "coref": clusters,
        "metadata": {"annotators": None, "url": None, "source": text.source},
    }


def _describe_range(chosen: Filter) -> str:
    low, high = chosen.min_phrases, chosen.max_phrases
    if high == MAX_PHRASES:
        return f"at least {pluralize(low, 'noun phrase')}"
    return f"{low:,} to {high:,} noun phrases" if low else f"at most {pluralize(high, 'noun phrase')}"


def _describe_sizes(sizes: Sequence[tuple[str, int]]) -> str:
    return _list([f"{quote(name)} has {size:,}" for name, size in sizes])


def _list(names: Sequence[str]) -> str:
    """Join the first names and count the rest."""
    return ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else "")
