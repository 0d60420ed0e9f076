"""Remarks on the links of a key and a response: those that are contradictory or not counted, and sides without any."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from closeread.exceptions import advise, pluralize, quote
from closeread.formats.timeml import EVENT, NO_RELATION, TIMEX, Tlink
from closeread.tasks.tlinks.counting import find_contradictions
from closeread.tasks.tlinks.documents import TimeMLDocuments, list_links, select_links
from closeread.tasks.tlinks.temporal_graph import DURINGS, SYMMETRIC, TYPES

MAX_LINKS_NAMED = 3
"""How many contradictory links of a side, and how many that are true of any interval, are named."""

MAX_RELATIONS_NAMED = 5
"""How many relations that TimeML does not have are named."""


def describe_links(
    side: TimeMLDocuments, inconsistent: Collection[str], during: str
) -> Iterator[str]:
    """Describe a side's first links that are contradictory, those that are true of any interval, and vague ones.

    Contradictory links are looked for in documents that may be inconsistent.
    """
    contradictory = []
    tautologies = []
    n_links = Counter[str]()
    for name, path, document in side.read():
        n_links.update(tlink.relation for tlink in document.tlinks)
        tlinks = select_links(document)
        if name in inconsistent:
            indices = find_contradictions(list_links(tlinks), during)
            contradictory += [_describe_contradiction(path, tlinks[index]) for index in indices]
        for tlink in tlinks:
            if tlink.source == tlink.target and DURINGS[during][tlink.relation] in SYMMETRIC:
                link = _describe_link(path, tlink)
                tautologies.append(f"{link} links an interval with itself; not counted")
    yield from _show_first(side.path, contradictory, "links are contradictory")
    not_counted = "links of an interval with itself are not counted"
    yield from _show_first(side.path, tautologies, not_counted)
    n_vague = sum(n_links[relation] for relation in NO_RELATION)
    if n_vague:
        vague = f"{pluralize(n_vague, 'link')} without a relation ({' or '.join(NO_RELATION)})"
        yield f"{side.path}: {vague}; not counted"
    for relation in (*TYPES, *NO_RELATION):
        del n_links[relation]
    if n_links:
        foreign = f"{pluralize(n_links.total(), 'link')} with a relation that TimeML does not have"
        commonest = n_links.most_common(MAX_RELATIONS_NAMED)
        numbers = ", ".join(f"{quote(relation)} {n:,}" for relation, n in commonest)
        yield f"{side.path}: {foreign} ({numbers}); not counted"


def _describe_contradiction(path: Path, tlink: Tlink) -> str:
    reason = "contradicts earlier links"
    if tlink.source == tlink.target:
        reason = "links an interval with itself"
    return f"{_describe_link(path, tlink)} {reason}; still counted, but ignored for inference"


def _describe_link(path: Path, tlink: Tlink) -> str:
    return f"{path}:{tlink.line}: {tlink.source} {tlink.relation} {tlink.target}"


def _show_first(path: Path, remarks: Sequence[str], summary: str) -> Iterator[str]:
    """Yield the first remarks on a side, and their number if there are more."""
    yield from remarks[:MAX_LINKS_NAMED]
    if len(remarks) > MAX_LINKS_NAMED:
        yield f"{path}: {len(remarks):,} {summary} (the first {MAX_LINKS_NAMED} are shown)"


def describe_silence(key: TimeMLDocuments, response: TimeMLDocuments) -> Iterator[str]:
    """Say that a side has no links."""
    for side in (key, response):
        if not any(select_links(document) for _, _, document in side.read()):
            yield f"{side.path}: no link states a relation (expected TLINK elements)"


def describe_foreign_ids(key: TimeMLDocuments, response: TimeMLDocuments) -> Iterator[str]:
    """Say that no event in the response's links is one of the key, by id."""
    key_events = set()
    for name, _, document in key.read():
        for interval, (_, span) in document.intervals.items():
            if span.name == EVENT:
                key_events.add((name, interval))
    events = set()
    for name, _, document in response.read():
        times = {time.id for _, time in document.spans(TIMEX)}
        for tlink in select_links(document):
            events.update({(name, end) for end in (tlink.source, tlink.target) if end not in times})
    if events and key_events and events.isdisjoint(key_events):
        _, event = min(events)
        _, key_event = min(key_events)
        example = f"no event of its links, such as {quote(event)}, has the id of one of the key"
        advice = advise("; if only the ids differ, use {matching=strict}")
        yield f"{response.path}: {example}, such as {quote(key_event)}{advice}"
