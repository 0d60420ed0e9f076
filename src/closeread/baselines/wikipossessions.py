"""The baseline of WikiPossessions: every name is a possessor, anchored at the nearest date.

Source: Chinnappa, Palmer and Blanco (2020), Table 5.

Conventions: a person, organisation or place that a spaCy pipeline finds is a possessor, once an article, in the order
of first appearance.  Its anchor is the date nearest to that appearance, before or after, among those that tell a year;
nothing is uncertain, and every relation is during.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from closeread.baselines import Baseline, Resources
from closeread.errors import MissingExtraError, Problem, RequestError, UnavailableError, quoted
from closeread.formats.possession_csv import article_texts
from closeread.kernels.possession_names import normalised
from closeread.records import Record

TYPES = {"PERSON": "PER", "PER": "PER", "ORG": "ORG", "GPE": "LOC", "LOC": "LOC"}
DATE = "DATE"

DASH = r"\s*(?:-|–|—|to|until|and)\s*"
RANGE = re.compile(rf"\b(\d{{3,4}}){DASH}(\d{{2,4}})\b")
DECADE = re.compile(r"\b(\d{3}0)s\b")
CENTURY = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)[ -]century\b", re.IGNORECASE)
YEAR = re.compile(r"\b(\d{4}|\d{3}(?=\s*(?:AD|CE)\b))\b")


def heuristics(records: Sequence[Record], resources: Resources) -> list[Record]:
    """Every named entity of every article.

    Raises:
        RequestError: no pipeline is named, or there is none of that name.
        UnavailableError: an article has no text.
        MissingExtraError: spaCy is not installed.
    """
    texts = _texts(records, resources.articles)
    pipeline = _pipeline(resources.spacy_model)
    documents = pipeline.pipe(texts)
    return [
        {"article": record["article"], "possessions": possessions_in(document)}
        for record, document in zip(records, documents, strict=True)
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


def year_of(text: str) -> str | None:
    """The year or the range of years that a date tells; None where it tells none.

    >>> [year_of(text) for text in ("May 1888", "1530–45", "the 1880s", "the 18th century", "last May")]
    ['1888', '1530-1545', '1880-1889', '1701-1800', None]
    """
    if found := RANGE.search(text):
        first, last = found.groups()
        last = first[: len(first) - len(last)] + last if len(last) < len(first) else last
        return f"{int(first)}-{int(last)}" if int(first) < int(last) else str(int(first))
    if found := DECADE.search(text):
        return f"{found[1]}-{int(found[1]) + 9}"
    if found := CENTURY.search(text):
        return f"{100 * int(found[1]) - 99}-{100 * int(found[1])}"
    found = YEAR.search(text)
    return str(int(found[1])) if found else None


def _texts(records: Sequence[Record], articles: Path | None) -> list[str]:
    """The text of every article.

    Raises:
        UnavailableError: some have none; all of them are named.
    """
    texts: dict[str, str] = {r["article"]: r["text"] for r in records if r.get("text") is not None}
    problems: list[Problem] = []
    if articles is not None:
        texts, problems = article_texts(articles, dict.fromkeys(record["article"] for record in records))
    for title in (record["article"] for record in records if record["article"] not in texts):
        problems.append(Problem(f"has no text of {quoted(title)}; needed: a file {quoted(title + '.txt')}"))
    if problems:
        raise UnavailableError(articles or "the corpus's folder of articles", problems)
    return [texts[record["article"]] for record in records]


def _pipeline(name: str | None) -> Any:
    if name is None:
        raise RequestError("this baseline reads texts with a spaCy pipeline; name one with --spacy-model")
    try:
        import spacy
    except ImportError:
        raise MissingExtraError("the baseline of WikiPossessions", "spacy") from None
    try:
        return spacy.load(name)
    except OSError:
        raise RequestError(
            f"there is no spaCy pipeline {quoted(name)}; needed: an installed one, or a folder"
        ) from None


BASELINES: Mapping[str, Baseline] = {"heuristics": heuristics}
