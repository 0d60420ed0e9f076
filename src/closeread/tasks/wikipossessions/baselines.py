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
from typing import Any
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
    every = [record["article"] for record in records]
    texts: Mapping[str, str] = {
        r["article"]: r["text"] for r in records if r.get("text") is not None
    }
    if articles:
        texts = read_folder(Path(articles), every)
    if not texts:
        found = (
            f"contains no text for any of {pluralize(len(every), 'article')}: {join_names(every)}"
        )
        problem = Problem(f"{found} (expected files named <title>.txt)")
        raise UnavailableError(articles or "the corpus's folder of articles", [problem])
    plain = {title: strip_marks(texts[title]) for title in every if title in texts}
    pipeline = load_pipeline(spacy_model, "this baseline")
    long = [
        Problem(
            f"has {len(text):,} characters (limit of spaCy: {pipeline.max_length:,})",
            None,
            f"{title}.txt",
        )
        for title, text in plain.items()
        if len(text) > pipeline.max_length
    ]
    if long:
        raise FormatError(articles or ARTICLES, long)
    documents = dict(zip(plain, parse(pipeline, plain.values(), "ENT_IOB"), strict=True))
    lacking = [title for title in every if title not in documents]
    if lacking:
        found = f"{len(lacking):,} of {len(every):,} articles have no text and are left out: {join_names(lacking)}"
        warn(f"{found}; score the rest with {name_option('missing', 'skip', 'empty')}")
    return documents


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
    first: dict[tuple[str, ...], Any] = {}
    for entity in document.ents:
        if entity.label_ in TYPES:
            first.setdefault(normalize_name(entity.text).tokens, entity)
    return [
        _make_possession(
            TYPES[entity.label_],
            " ".join(entity.text.split()),
            order,
            _find_nearest(entity, dates),
        )
        for order, entity in enumerate(first.values(), start=1)
    ]


def place_names(gold: Sequence[Record], document: Any) -> list[Record]:
    """Predict the names of gold possessions, in the order in which a spaCy document mentions them first."""
    dates, words = _find_dates(document), _find_words(document.text)
    names = {normalize_name(row["possessor"]).tokens: row for row in reversed(gold)}
    placed = [(_find_mention(row["possessor"], document, words), row) for row in names.values()]

    def order(one: tuple[Any, Record]) -> tuple[bool, int, int, str]:
        mention, row = one
        place = (mention.start, -mention.end) if mention is not None else (0, 0)
        return mention is None, *place, str(row["possessor"])

    return [
        _make_possession(
            row["type"],
            row["possessor"],
            number,
            None if mention is None else _find_nearest(mention, dates),
        )
        for number, (mention, row) in enumerate(sorted(placed, key=order), start=1)
    ]


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

    def distance(date: Any) -> tuple[int, int]:
        is_after = date.start >= mention.end
        n_between = date.start - mention.end if is_after else mention.start - date.end
        return n_between, date.start

    return " ".join(min(dates, key=distance).text.split()) if dates else None


def _find_words(text: str) -> list[tuple[str, int, int]]:
    """Return the words that matter when names are compared, each with its first and last place in the text."""
    found = (
        (normalize("NFKC", word[0]).casefold(), word.start(), word.end())
        for word in WORD.finditer(text)
    )
    return [word for word in found if word[0] not in FUNCTION_WORDS]


def _find_mention(name: str, document: Any, words: Sequence[tuple[str, int, int]]) -> Any:
    """Return the first span of a document with the words of a name; None if there is none."""
    wanted = [word for word, _, _ in _find_words(name)]
    if not wanted:
        return None
    for start in range(len(words) - len(wanted) + 1):
        if all(words[start + step][0] == word for step, word in enumerate(wanted)):
            first, last = words[start][1], words[start + len(wanted) - 1][2]
            return document.char_span(first, last, alignment_mode="expand")
    return None


def read_folder(folder: Path, titles: Sequence[str]) -> Mapping[str, str]:
    """Return the texts of a folder by title, of the articles that have one."""
    if not folder.is_dir():
        raise UnavailableError(
            folder, [Problem("is not a folder (expected a folder of texts named <title>.txt)")]
        )
    texts, unreadable = article_texts(folder, titles)
    if unreadable:
        problems = [
            (Path(error.source).name, problem)
            for _, error in unreadable
            for problem in error.problems
        ]
        raise FormatError(folder, [Problem(problem.text, None, name) for name, problem in problems])
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
