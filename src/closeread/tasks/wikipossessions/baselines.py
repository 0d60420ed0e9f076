"""The baseline of WikiPossessions: every name is a possessor, anchored at the nearest date.

Source: Chinnappa, Palmer and Blanco (2020), section 6.1 and Table 5; section 6.2 for the gold names (ORACLE).

Conventions: every person, organisation or place found by a spaCy pipeline is a possessor, once per article, in order of
first mention.  Its anchor is the date nearest to that mention, before or after, as it is written.  Everything is
certain, and every relation is during.  With the gold names given, a possessor is first mentioned where its words,
without articles and prepositions, follow each other in the text for the first time.  Names that the text does not
contain come last, by alphabet and without an anchor.  Marks of headings are not part of a text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from unicodedata import normalize

from closeread.corpus.baselines import Baseline, path_option, text_option
from closeread.corpus.notices import warn
from closeread.corpus.pipelines import load_pipeline, parse
from closeread.exceptions import (
    FormatError,
    Problem,
    UnavailableError,
    join_names,
    name_option,
    pluralize,
)
from closeread.records import Record
from closeread.tasks.wikipossessions.articles import strip_marks
from closeread.tasks.wikipossessions.matching import FUNCTION_WORDS, normalize_name
from closeread.tasks.wikipossessions.possession_csv import ARTICLES, article_texts

TYPES = {"PERSON": "PER", "PER": "PER", "ORG": "ORG", "GPE": "LOC", "LOC": "LOC"}
DATE = "DATE"
WORD = re.compile(r"(?:[^\W_]|[\u0300-\u036f])+")
"""A word of a text or a name, with accents that are characters of their own."""


def heuristics(records: Sequence[Record], *, spacy_model: str, articles: str) -> list[Record]:
    """Predict every named entity of every article with a text; other articles are left out, with a warning."""
    return predict_entities(read_documents(records, spacy_model, articles))


def oracle(records: Sequence[Record], *, spacy_model: str, articles: str) -> list[Record]:
    """Predict the gold names of every article with a text, once each; other articles are left out, with a warning."""
    return predict_names(records, read_documents(records, spacy_model, articles))


def read_documents(
    records: Sequence[Record], spacy_model: str, articles: Path | str | None
) -> dict[str, Any]:
    """Read the texts of articles with a spaCy pipeline; return the documents by title, in the order of the records.

    Texts are those of a folder, or else those of the records.  Articles without a text are left out, with a warning.
    """
    titles = [record["article"] for record in records]
    texts = read_folder(Path(articles), titles) if articles else _get_texts(records)
    if not texts:
        number = pluralize(len(titles), "article")
        message = f"contains no text for any of {number}: {join_names(titles)}"
        problem = Problem(f"{message} (expected files named <title>.txt)")
        raise UnavailableError(articles or "the corpus's folder of articles", [problem])
    plain_texts = {title: strip_marks(texts[title]) for title in titles if title in texts}
    pipeline = load_pipeline(spacy_model, "this baseline")
    problems = []
    for title, text in plain_texts.items():
        if len(text) > pipeline.max_length:
            limit = f"limit of spaCy: {pipeline.max_length:,}"
            message = f"has {len(text):,} characters ({limit})"
            problems.append(Problem(message, file=f"{title}.txt"))
    if problems:
        raise FormatError(articles or ARTICLES, problems)
    documents = parse(pipeline, plain_texts.values(), "ENT_IOB")
    lacking = [title for title in titles if title not in plain_texts]
    if lacking:
        number = f"{len(lacking):,} of {len(titles):,} articles"
        advice = f"score the rest with {name_option('missing', 'skip', 'empty')}"
        warn(f"{number} have no text and are left out: {join_names(lacking)}; {advice}")
    return dict(zip(plain_texts, documents, strict=True))


def _get_texts(records: Sequence[Record]) -> dict[str, str]:
    texts = {record["article"]: record.get("text") for record in records}
    return {title: text for title, text in texts.items() if text is not None}


def predict_entities(documents: Mapping[str, Any]) -> list[Record]:
    """Predict every named entity of articles, given as spaCy documents by title."""
    return [
        {"article": title, "possessions": find_possessions(document)}
        for title, document in documents.items()
    ]


def predict_names(records: Sequence[Record], documents: Mapping[str, Any]) -> list[Record]:
    """Predict the gold names of articles, given as spaCy documents by title."""
    predictions = []
    for record in records:
        title = record["article"]
        if title in documents:
            rows = place_names(record["possessions"], documents[title])
            predictions.append({"article": title, "possessions": rows})
    return predictions


def find_possessions(document: Any) -> list[Record]:
    """Predict the possessions of a spaCy document."""
    dates = _find_dates(document)
    entities: dict[tuple[str, ...], Any] = {}
    for entity in document.ents:
        if entity.label_ in TYPES:
            entities.setdefault(normalize_name(entity.text).tokens, entity)
    possessions = []
    for order, entity in enumerate(entities.values(), start=1):
        possessor = " ".join(entity.text.split())
        anchor = _find_nearest(entity, dates)
        possessions.append(_make_possession(TYPES[entity.label_], possessor, order, anchor))
    return possessions


def place_names(gold: Sequence[Record], document: Any) -> list[Record]:
    """Predict the names of gold possessions, in the order in which a spaCy document mentions them first."""
    dates = _find_dates(document)
    words = _find_words(document.text)
    rows = {normalize_name(row["possessor"]).tokens: row for row in reversed(gold)}
    mentions = []
    for row in rows.values():
        mention = _find_mention(row["possessor"], document, words)
        mentions.append((mention, row))
    mentions.sort(key=_order_mention)
    possessions = []
    for order, (mention, row) in enumerate(mentions, start=1):
        anchor = None if mention is None else _find_nearest(mention, dates)
        possessions.append(_make_possession(row["type"], row["possessor"], order, anchor))
    return possessions


def _order_mention(mention_and_row: tuple[Any, Record]) -> tuple[bool, int, int, str]:
    """Return the key by which first mentions are sorted: names that are not mentioned are last, by alphabet."""
    mention, row = mention_and_row
    if mention is None:
        return True, 0, 0, str(row["possessor"])
    return False, mention.start, -mention.end, str(row["possessor"])


def _make_possession(kind: str, possessor: str, order: int, anchor: str | None) -> Record:
    return {
        "type": kind,
        "possessor": possessor,
        "certainty": "certain",
        "order": str(order),
        "anchor": anchor,
        "relation": "during" if anchor else None,
        "relation_certainty": "certain" if anchor else None,
    }


def _find_dates(document: Any) -> list[Any]:
    return [entity for entity in document.ents if entity.label_ == DATE]


def _find_nearest(mention: Any, dates: Sequence[Any]) -> str | None:
    """Return the text of the nearest date; the earlier one of two at the same distance."""
    if not dates:
        return None

    def distance(date: Any) -> tuple[int, int]:
        is_after = date.start >= mention.end
        n_between = date.start - mention.end if is_after else mention.start - date.end
        return n_between, date.start

    nearest = min(dates, key=distance)
    return " ".join(nearest.text.split())


class WordOfText(NamedTuple):
    """A word of a text, as names are compared, with its place in the text."""

    text: str
    start: int
    end: int


def _find_words(text: str) -> list[WordOfText]:
    """Return the words that matter when names are compared."""
    words = []
    for match in WORD.finditer(text):
        word = normalize("NFKC", match[0]).casefold()
        if word not in FUNCTION_WORDS:
            words.append(WordOfText(word, match.start(), match.end()))
    return words


def _find_mention(name: str, document: Any, words: Sequence[WordOfText]) -> Any:
    """Return the first span of a document with the words of a name; None if there is none."""
    texts = [word.text for word in words]
    name_texts = [word.text for word in _find_words(name)]
    n_words = len(name_texts)
    if not name_texts:
        return None
    for index in range(len(texts) - n_words + 1):
        if texts[index : index + n_words] == name_texts:
            start = words[index].start
            end = words[index + n_words - 1].end
            return document.char_span(start, end, alignment_mode="expand")
    return None


def read_folder(folder: Path, titles: Sequence[str]) -> Mapping[str, str]:
    """Return the texts of a folder by title, of the articles that have one."""
    if not folder.is_dir():
        raise UnavailableError(
            folder, [Problem("is not a folder (expected a folder of texts named <title>.txt)")]
        )
    texts, unreadable = article_texts(folder, titles)
    if unreadable:
        problems = []
        for _, error in unreadable:
            file = Path(error.source).name
            problems += [Problem(problem.text, file=file) for problem in error.problems]
        raise FormatError(folder, problems)
    return texts


OPTIONS = (
    text_option("spacy_model", "Use this spaCy pipeline, installed or in a folder (required)."),
    path_option(
        "articles", "Read the texts of the articles from this folder, one <title>.txt each."
    ),
)

BASELINES = (
    Baseline(
        "heuristics",
        heuristics,
        "Predict every named entity as a possessor, anchored at the nearest date.",
        OPTIONS,
    ),
    Baseline(
        "oracle",
        oracle,
        "Predict the gold names in the order of their first mention, anchored at the nearest date.",
        OPTIONS,
    ),
)
