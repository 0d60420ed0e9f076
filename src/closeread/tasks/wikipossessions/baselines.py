"""The baseline of WikiPossessions: every name is a possessor, anchored at the nearest date.

Source: Chinnappa, Palmer and Blanco (2020), Table 5.

Conventions: a person, organisation or place that a spaCy pipeline finds is a possessor, once an article, in the order
of first appearance.  Its anchor is the date nearest to that appearance, before or after, among those that tell a year;
nothing is uncertain, and every relation is during.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from closeread.corpora.baselines import Baseline, path_option, text_option
from closeread.errors import (
    FormatError,
    MissingExtraError,
    Problem,
    RequestError,
    UnavailableError,
    join_names,
    pluralize,
    quote,
    shorten,
)
from closeread.records import Record
from closeread.tasks.wikipossessions.kernels.dates import year_of
from closeread.tasks.wikipossessions.kernels.names import normalised
from closeread.tasks.wikipossessions.possession_csv import article_texts

TYPES = {"PERSON": "PER", "PER": "PER", "ORG": "ORG", "GPE": "LOC", "LOC": "LOC"}
DATE = "DATE"
NO_SUCH_PIPELINE = "[E050]"
"""What spaCy's message begins with where no pipeline has the name."""


def heuristics(records: Sequence[Record], *, spacy_model: str, articles: str) -> list[Record]:
    """Every named entity of every article that has a text; others are left out, with a warning.

    Raises:
        RequestError: no pipeline is named, there is none of that name, or it can't be loaded.
        FormatError: a text can't be read.
        UnavailableError: no article has a text.
        MissingExtraError: spaCy is not installed.
    """
    texts = _texts(records, Path(articles) if articles else None)
    titles = [record["article"] for record in records if record["article"] in texts]
    documents = _pipeline(spacy_model or None).pipe([texts[title] for title in titles])
    return [
        {"article": title, "possessions": possessions_in(document)}
        for title, document in zip(titles, documents, strict=True)
    ]


def possessions_in(document: Any) -> list[Record]:
    """The possessions of a text that a spaCy pipeline has read."""
    dates = [(entity, anchor) for entity in document.ents if entity.label_ == DATE and (anchor := year_of(entity.text))]
    first: dict[tuple[str, ...], Any] = {}
    for entity in document.ents:
        if entity.label_ in TYPES:
            first.setdefault(normalised(entity.text, "all").tokens, entity)
    found = []
    for order, entity in enumerate(first.values(), start=1):
        # Of two dates that are as near the earlier one.
        anchor = min(dates, key=lambda date: (_gap(entity, date[0]), date[0].start))[1] if dates else None
        found.append(
            {
                "type": TYPES[entity.label_],
                "possessor": " ".join(entity.text.split()),
                "certainty": "certain",
                "order": str(order),
                "anchor": anchor,
                "relation": "during" if anchor else None,
                "relation_certainty": "certain" if anchor else None,
            }
        )
    return found


def _gap(entity: Any, date: Any) -> int:
    """How many tokens lie between two entities."""
    return int(date.start - entity.end if date.start >= entity.end else entity.start - date.end)


def _texts(records: Sequence[Record], articles: Path | None) -> Mapping[str, str]:
    """The texts of the articles that have one; which have none is warned of.

    Raises:
        FormatError: a text can't be read; all of them are told.
        UnavailableError: there is no such folder, or no article has a text.
    """
    titles = [record["article"] for record in records]
    texts: Mapping[str, str] = {r["article"]: r["text"] for r in records if r.get("text") is not None}
    if articles is not None:
        texts = _texts_in(articles, titles)
    lacking = [title for title in titles if title not in texts]
    if not texts:
        found = f"has no text of any of {pluralize(len(titles), 'article')}: {join_names(lacking)}"
        problem = Problem(f"{found}; needed: a file <title>.txt for each that is to be read")
        raise UnavailableError(articles or "the corpus's folder of articles", [problem])
    if lacking:
        found = f"{len(lacking):,} of {len(titles):,} articles have no text and are left out: {join_names(lacking)}"
        warnings.warn(f"{found}; they can be scored where missing is skip or empty", stacklevel=3)
    return texts


def _texts_in(folder: Path, titles: Sequence[str]) -> Mapping[str, str]:
    if not folder.is_dir():
        raise UnavailableError(folder, [Problem("is no folder; needed: one of texts, <title>.txt each")])
    texts, unreadable = article_texts(folder, titles)
    if unreadable:
        problems = [(Path(error.source).name, problem) for _, error in unreadable for problem in error.problems]
        raise FormatError(folder, [Problem(problem.what, None, name) for name, problem in problems])
    return texts


def _pipeline(name: str | None) -> Any:
    if name is None:
        raise RequestError("this baseline reads texts with a spaCy pipeline; name one with --spacy-model")
    try:
        import spacy
    except ImportError:
        raise MissingExtraError("the baseline of WikiPossessions", "spacy") from None
    try:
        return spacy.load(name)
    except Exception as error:  # a pipeline is code and settings of others, which may fail in any way
        said = " ".join(str(error).split())
        if said.startswith(NO_SUCH_PIPELINE):
            found = f"there is no spaCy pipeline {quote(name)}; needed: an installed one, or a folder"
        else:
            found = f"the spaCy pipeline {quote(name)} can't be loaded: {shorten(said) or type(error).__name__}"
        raise RequestError(found) from None


BASELINES = (
    Baseline(
        "heuristics",
        heuristics,
        "Predict every named entity as a possessor, anchored at the nearest date.",
        (
            text_option("spacy_model", "Use this spaCy pipeline, installed or in a folder (required)."),
            path_option("articles", "Read the texts of the articles from this folder, one <title>.txt each."),
        ),
    ),
)
