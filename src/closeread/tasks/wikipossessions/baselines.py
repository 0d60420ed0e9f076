"""The baseline of WikiPossessions: every name is a possessor, anchored at the nearest date.

Source: Chinnappa, Palmer and Blanco (2020), section 6.1 and Table 5.

Conventions: every person, organisation or place found by a spaCy pipeline is a possessor, once per article, in order of
first mention.  Its anchor is the date nearest to that mention, before or after, among those with a year.  Everything is
certain, and every relation is during.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from closeread.corpora.baselines import Baseline, path_option, text_option
from closeread.corpora.pipelines import load_pipeline
from closeread.errors import (
    FormatError,
    Problem,
    UnavailableError,
    join_names,
    pluralize,
)
from closeread.records import Record
from closeread.tasks.wikipossessions.kernels.dates import date_to_anchor
from closeread.tasks.wikipossessions.kernels.names import normalize_name
from closeread.tasks.wikipossessions.possession_csv import article_texts

TYPES = {"PERSON": "PER", "PER": "PER", "ORG": "ORG", "GPE": "LOC", "LOC": "LOC"}
DATE = "DATE"


def heuristics(records: Sequence[Record], *, spacy_model: str, articles: str) -> list[Record]:
    """Predict every named entity of every article with a text; other articles are left out, with a warning.

    Raises:
        RequestError: no pipeline is given, or it does not exist or can't be loaded.
        FormatError: a text can't be read.
        UnavailableError: no article has a text.
        MissingExtraError: spaCy is not installed.
    """
    texts = _collect_texts(records, Path(articles) if articles else None)
    titles = [record["article"] for record in records if record["article"] in texts]
    documents = load_pipeline(spacy_model, "this baseline").pipe([texts[title] for title in titles])
    return [
        {"article": title, "possessions": find_possessions(document)}
        for title, document in zip(titles, documents, strict=True)
    ]


def find_possessions(document: Any) -> list[Record]:
    """Predict the possessions of a spaCy document."""
    dates = [
        (entity, anchor)
        for entity in document.ents
        if entity.label_ == DATE and (anchor := date_to_anchor(entity.text))
    ]
    first: dict[tuple[str, ...], Any] = {}
    for entity in document.ents:
        if entity.label_ in TYPES:
            first.setdefault(normalize_name(entity.text, "all").tokens, entity)
    found = []
    for order, entity in enumerate(first.values(), start=1):
        # Ties go to the earlier date.
        anchor = (
            min(dates, key=lambda date: (_count_tokens_between(entity, date[0]), date[0].start))[1] if dates else None
        )
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


def _count_tokens_between(entity: Any, date: Any) -> int:
    """Count the tokens between two entities."""
    return int(date.start - entity.end if date.start >= entity.end else entity.start - date.end)


def _collect_texts(records: Sequence[Record], articles: Path | None) -> Mapping[str, str]:
    """Return the texts by title; warn of articles without one.

    Raises:
        FormatError: texts can't be read; lists all of them.
        UnavailableError: the folder does not exist, or no article has a text.
    """
    titles = [record["article"] for record in records]
    texts: Mapping[str, str] = {r["article"]: r["text"] for r in records if r.get("text") is not None}
    if articles is not None:
        texts = _read_folder(articles, titles)
    lacking = [title for title in titles if title not in texts]
    if not texts:
        found = f"contains no text for any of {pluralize(len(titles), 'article')}: {join_names(lacking)}"
        problem = Problem(f"{found} (expected files named <title>.txt)")
        raise UnavailableError(articles or "the corpus's folder of articles", [problem])
    if lacking:
        found = f"{len(lacking):,} of {len(titles):,} articles have no text and are left out: {join_names(lacking)}"
        warnings.warn(f"{found}; score the rest with --missing skip or --missing empty", stacklevel=3)
    return texts


def _read_folder(folder: Path, titles: Sequence[str]) -> Mapping[str, str]:
    if not folder.is_dir():
        raise UnavailableError(folder, [Problem("is not a folder (expected a folder of texts named <title>.txt)")])
    texts, unreadable = article_texts(folder, titles)
    if unreadable:
        problems = [(Path(error.source).name, problem) for _, error in unreadable for problem in error.problems]
        raise FormatError(folder, [Problem(problem.what, None, name) for name, problem in problems])
    return texts


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
