"""Put the mentions of coreference files into Universal Dependencies, which have the same text in other sentences.

UD_Turkish-IMST is the same treebank with other tokens, and some of its sentences stand in other documents; so mentions
are put in place by their text.  Of a sentence some stretches are known (its mentions), each with its text and about
where it stands.  Most sentences are found under the id of their document, in order; a few stand elsewhere.

Conventions: sentences of UD and their tokens count from 0; a span is the first and the last token of a stretch.  A
document is that of a coreference file.  Its sentences are those of UD's document of that id, in the order and with the
numbers of UD, except those that were found to belong to another document; a sentence that was found under another id
follows the sentence that it follows in the coreference file.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple
from unicodedata import normalize

from closeread.exceptions import Problem, ProblemList, advise, join_names, pluralize, quote
from closeread.records import Record
from closeread.tasks.marmara.coreference import AnnotatedDocument, find_interleaving
from closeread.tasks.marmara.documents import (
    Annotation,
    Mention,
    Notes,
    PlacedMention,
    Span,
    make_document,
)
from closeread.tasks.marmara.mentions import lower
from closeread.tasks.marmara.treebank import (
    EXPECTED,
    find_document_id,
    is_sentence_number,
    number_names,
    sort_key,
)

IGNORED = re.compile(r"[\s_'’‘`´ʼ\"“”„‟«»]+")
"""What editions write in different ways: blanks, which `_` may stand for, apostrophes and quotation marks."""

MAX_WEIGHT = 3.0
DISTANCE_WEIGHT = 0.3
ADVANTAGE = 1.2
"""How many times the score of the second best a sentence must have that is found on its own."""

UdDocuments = Mapping[str, Sequence[Record]]
"""The sentences of each document of UD, by id."""


def make_key(text: str) -> str:
    """Normalize a Turkish text so that two editions of it can be compared.

    >>> make_key("Ayşe’nin IŞIĞI"), make_key("İyi_ki")
    ('ayşeninışığı', 'iyiki')
    """
    return IGNORED.sub("", lower(normalize("NFC", text)))


def find_quotes(text: str, span: Span, tokens: Sequence[str]) -> Span:
    """Add the quotation marks around a stretch that are tokens of their own, if its text has them.

    >>> find_quotes('"Ev"', (1, 1), ['"', "Ev", '"', "dedi"]), find_quotes("Ev", (1, 1), ['"', "Ev", '"', "dedi"])
    ((0, 2), (1, 1))
    """
    first, last = span
    text = text.strip()
    begins_outside = _is_ignored(text[:1]) and not _is_ignored(tokens[first][:1])
    ends_outside = _is_ignored(text[-1:]) and not _is_ignored(tokens[last][-1:])
    if begins_outside and first > 0 and not make_key(tokens[first - 1]):
        first -= 1
    if ends_outside and last + 1 < len(tokens) and not make_key(tokens[last + 1]):
        last += 1
    return first, last


def _is_ignored(character: str) -> bool:
    return IGNORED.fullmatch(character) is not None


class Stretch(NamedTuple):
    """A stretch of words of the sentence that is sought: the key of its text, and its first and last token there."""

    key: str
    first: int
    last: int


class SentenceKey(NamedTuple):
    """The text of a sentence, in which stretches are searched.

    Attributes:
        tokens: its tokens.
        text: their keys together.
        begins, ends: the tokens that begin and end at places of it; tokens without a key do neither.
    """

    tokens: Sequence[str]
    text: str
    begins: Mapping[int, int]
    ends: Mapping[int, int]


class Match(NamedTuple):
    """How well all stretches are found in a sentence, above 0, and their spans, in the order of the stretches."""

    score: float
    spans: Sequence[Span]


def key_sentence(tokens: Sequence[str]) -> SentenceKey:
    """Return the key of a sentence."""
    text = ""
    begins: dict[int, int] = {}
    ends: dict[int, int] = {}
    for number, token in enumerate(tokens):
        key = make_key(token)
        if key:
            begins[len(text)] = number
            text += key
            ends[len(text)] = number
    return SentenceKey(tokens, text, begins, ends)


def find_spans(sentence: SentenceKey, key: str) -> list[Span]:
    """Return all spans of a stretch between the borders of tokens, in order."""
    spans = []
    place = sentence.text.find(key)
    while place >= 0:
        if place in sentence.begins and place + len(key) in sentence.ends:
            spans.append((sentence.begins[place], sentence.ends[place + len(key)]))
        place = sentence.text.find(key, place + 1)
    return spans


def match_sentence(sentence: SentenceKey, stretches: Sequence[Stretch]) -> Match | None:
    """Find the spans of stretches, at least one; None if they are not all there, in their order."""
    numbers_by_key: dict[str, list[int]] = {}
    for number in sorted(range(len(stretches)), key=lambda number: stretches[number].first):
        numbers_by_key.setdefault(stretches[number].key, []).append(number)
    spans_by_key = {key: find_spans(sentence, key) for key in numbers_by_key}

    def rank_key(key: str) -> tuple[int, int]:
        """Certain ones first: the others must be before or after them."""
        return len(spans_by_key[key]) - len(numbers_by_key[key]), -len(key)

    score = 0.0
    placed: dict[int, Span] = {}
    for key in sorted(numbers_by_key, key=rank_key):
        numbers = numbers_by_key[key]
        bounds = [_find_bounds(stretches[number], stretches, placed) for number in numbers]
        firsts = [stretches[number].first for number in numbers]
        spans = choose_spans(firsts, spans_by_key[key], bounds)
        if spans is None:
            return None
        placed.update(zip(numbers, spans, strict=True))
        weight = min(MAX_WEIGHT, math.sqrt(len(key)))
        score += sum(
            weight / (1 + DISTANCE_WEIGHT * abs(span[0] - first))
            for first, span in zip(firsts, spans, strict=True)
        )
    return Match(score, [placed[number] for number in range(len(stretches))])


def _find_bounds(
    stretch: Stretch, stretches: Sequence[Stretch], placed: Mapping[int, Span]
) -> tuple[float, float]:
    """Return the first and the last token that a stretch may have, between those that are placed."""
    before = [span[1] for number, span in placed.items() if stretches[number].last < stretch.first]
    after = [span[0] for number, span in placed.items() if stretches[number].first > stretch.last]
    return max(before, default=-1) + 1, min(after, default=math.inf) - 1


def choose_spans(
    firsts: Sequence[int], spans: Sequence[Span], bounds: Sequence[tuple[float, float]]
) -> Sequence[Span] | None:
    """Choose spans for stretches with the same key that don't overlap and are nearest to where they should be.

    `firsts` is where each should begin, in ascending order, which is that of their spans; `bounds` are the first and
    the last token that each may have.  Of several choices with the least sum of distances the earlier spans are taken.
    """
    ends = [last for _, last in spans]
    # The best choice of the first stretches in the first spans, with its cost.
    best: list[tuple[float, tuple[Span, ...]]] = [(0.0, ())] * (len(spans) + 1)
    for first, (low, high) in zip(firsts, bounds, strict=True):
        row: list[tuple[float, tuple[Span, ...]]] = [(math.inf, ())]
        for begin, end in spans:
            cost, chosen = best[bisect_left(ends, begin)]
            cost = cost + abs(begin - first) if low <= begin and end <= high else math.inf
            row.append(min(row[-1], (cost, (*chosen, (begin, end))), key=itemgetter(0)))
        best = row
    cost, chosen = best[-1]
    return None if math.isinf(cost) else chosen


def align(scores: Sequence[Mapping[int, float]]) -> list[int | None]:
    """Assign columns to rows, or None, so that both ascend and the sum of the scores, above 0, is greatest."""
    # Of the assignments of the rows so far that end before a column, the best: its last column, its total, and a chain
    # of (row, column, chain before).
    best: list[tuple[int, float, Any]] = [(-1, 0.0, None)]
    for row, options in enumerate(scores):
        # From the right, so that no assignment has two columns of a row.
        for column in sorted(options, reverse=True):
            at = bisect_left(best, column, key=itemgetter(0))
            _, total, before = best[at - 1]
            total += options[column]
            worse = at
            while worse < len(best) and best[worse][1] <= total:
                worse += 1
            if worse > at or at == len(best) or best[at][0] != column:
                best[at:worse] = [(column, total, (row, column, before))]
    columns: list[int | None] = [None] * len(scores)
    chain = best[-1][2]
    while chain:
        row, columns[row], chain = chain
    return columns


class Target(NamedTuple):
    """A sentence of UD: the id of its document, and its number there, from 0."""

    document: str
    sentence: int


def pick_best(matches: Mapping[Target, Match]) -> Target | None:
    """Return the candidate that scores `ADVANTAGE` times the second best, or alone has a score; None if none does."""
    ranked = sorted(matches, key=lambda target: -matches[target].score)
    scores = [matches[target].score for target in ranked]
    is_best = len(scores) == 1 or (len(scores) > 1 and scores[0] >= ADVANTAGE * scores[1])
    return ranked[0] if is_best else None


class Location(NamedTuple):
    """Where a sentence of a coreference file was found.

    Attributes:
        mentions: its mentions.
        target: the sentence of UD.
        is_aligned: whether it stands there in order with others; False if it was found on its own.
        spans: that of each mention; None if it can't be distinguished from that of another.
    """

    mentions: Sequence[Mention]
    target: Target
    is_aligned: bool
    spans: Sequence[Span | None]


Sought = tuple[str, Sequence[Mention]]
"""A sentence that is sought: the id of its document, and its mentions, at least one, each with a key."""


def find_sentences(treebank: UdDocuments, sought: Sequence[Sought]) -> list[Location | None]:
    """Find sentences, each in another sentence of UD; None if one fits nowhere, or several about equally well.

    The sentences of a document are together, and in order.
    """
    # Of each document, the sentences in which none was found so far.
    keys: dict[str, dict[Target, SentenceKey]] = {}
    for document, sentences in treebank.items():
        keys[document] = {}
        for number, sentence in enumerate(sentences):
            tokens = [token["form"] for token in sentence["tokens"]]
            keys[document][Target(document, number)] = key_sentence(tokens)
    stretches = [_list_stretches(mentions) for _, mentions in sought]
    locations: list[Location | None] = [None] * len(sought)

    def settle(number: int, target: Target, match: Match, *, is_aligned: bool) -> None:
        mentions = sought[number][1]
        tokens = keys[target.document].pop(target).tokens
        spans = _find_mentions(mentions, stretches[number][1], match, tokens)
        locations[number] = Location(mentions, target, is_aligned, spans)

    # First in order, under the id of the document.
    for document, group in groupby(range(len(sought)), key=lambda number: sought[number][0]):
        numbers = list(group)
        matches = [find_matches(stretches[number][0], keys[document]) for number in numbers]
        scores = []
        for candidates in matches:
            by_place = {target.sentence: match.score for target, match in candidates.items()}
            scores.append(by_place)
        for number, candidates, place in zip(numbers, matches, align(scores), strict=True):
            if place is not None:
                target = Target(document, place)
                settle(number, target, candidates[target], is_aligned=True)
    # Then alone: under the id of the document, or else of any.
    for number, (document, _) in enumerate(sought):
        for documents in ([document], keys):
            if locations[number] is None:
                candidates = {}
                for name in documents:
                    candidates |= find_matches(stretches[number][0], keys[name])
                best = pick_best(candidates)
                if best is not None:
                    settle(number, best, candidates[best], is_aligned=False)
    return locations


def find_matches(
    stretches: Sequence[Stretch], keys: Mapping[Target, SentenceKey]
) -> dict[Target, Match]:
    """Return the sentences that have all stretches."""
    # Few sentences have the longest, and it is sought faster than all.
    longest = max((stretch.key for stretch in stretches), key=len)
    matches = {}
    for target, key in keys.items():
        if longest in key.text:
            match = match_sentence(key, stretches)
            if match is not None:
                matches[target] = match
    return matches


def _find_mentions(
    mentions: Sequence[Mention], numbers: Sequence[int], match: Match, tokens: Sequence[str]
) -> list[Span | None]:
    """Return the spans of mentions, given the numbers of their stretches; they have quotation marks that are tokens."""
    spans: list[Span | None] = []
    for mention, number in zip(mentions, numbers, strict=True):
        span = find_quotes(mention.text, match.spans[number], tokens)
        spans.append(None if span in spans else span)
    return spans


def _list_stretches(mentions: Sequence[Mention]) -> tuple[list[Stretch], list[int]]:
    """Return the stretches of mentions, and the number of that of each; a quotation mark makes no difference."""
    stretches: list[Stretch] = []
    numbers = [0] * len(mentions)
    last_of_key: dict[str, int] = {}
    spans = [(mention.first, mention.last) for mention in mentions]
    for place in sorted(range(len(mentions)), key=spans.__getitem__):
        mention = mentions[place]
        key = make_key(mention.text)
        number = last_of_key.get(key)
        if number is None or stretches[number].last < mention.first - 1:
            number = last_of_key[key] = len(stretches)
            stretches.append(Stretch(key, mention.first - 1, mention.last - 1))
        numbers[place] = number
    return stretches, numbers


@dataclass(eq=False)
class _Part:
    """A document that a coreference file makes of one of the treebank, or of a part of it.

    Attributes:
        name: its name.
        id: the id in its sentence numbers.
        annotation: its coreference file.
        notes: the notes on this file.
        locations: where its sentences were found.
        mentions: those that were found, by id.
        broken: chains that are left with fewer than two mentions.
    """

    name: str
    id: str
    annotation: Annotation
    notes: Notes
    locations: list[Location] = field(default_factory=list)
    mentions: dict[str, PlacedMention] = field(default_factory=dict)
    broken: list[Problem] = field(default_factory=list)

    def list_sentences(self) -> list[list[Mention]]:
        """Return the mentions that have a key, sentence by sentence, in order."""
        by_sentence: dict[str, list[Mention]] = {}
        for mention in self.annotation.mentions:
            if make_key(mention.text):
                by_sentence.setdefault(mention.sentence, []).append(mention)
        return [by_sentence[number] for number in sorted(by_sentence, key=sort_key)]

    def keep_chains(self) -> list[list[str]]:
        """Return the chains with two or more mentions that were found, and keep notes about the others."""
        chains = []
        for ids in self.annotation.chains:
            chain = [mention_id for mention_id in ids if mention_id in self.mentions]
            if len(chain) > 1:
                chains.append(chain)
            else:
                size = pluralize(len(chain), "mention")
                message = f"the chain of mentions {join_names(ids)} is left with {size}; dropped"
                self.broken.append(Problem(message, None, self.annotation.file))
        return chains


def place_annotations(
    treebank: UdDocuments,
    annotations: Sequence[Annotation],
    notes: Notes,
    *,
    unaligned: str = "drop",
    annotated_only: bool = False,
) -> list[AnnotatedDocument]:
    """Put the mentions of coreference files, each valid in itself, into the documents of Universal Dependencies.

    Args:
        treebank: the documents of UD.
        annotations: the coreference files.
        notes: the notes to which errors and changes are added.
        unaligned: `"drop"` to drop mentions without a place, with a note about each; `"error"` to make each an error.
        annotated_only: whether to leave out the note about documents without a coreference file.
    """
    parts = _find_parts(treebank, annotations, notes)
    _locate_sentences(treebank, parts)
    homes = _find_homes(treebank, parts)
    owners = dict(homes)
    for part in parts:
        owners |= {location.target: part for location in part.locations}
    documents = []
    for part in parts:
        at_home = [target for target, home in homes.items() if home is part]
        staying = [target for target in at_home if owners[target] is part]
        targets = _order_sentences(staying, [location.target for location in part.locations])
        chains = part.keep_chains()
        if targets:
            sentences = [treebank[document][sentence] for document, sentence in targets]
            record = make_document(part.name, sentences, part.mentions.values(), chains)
            documents.append(AnnotatedDocument(record, part.annotation.file))
        else:
            part.notes.note_change(
                f"no sentence of document {quote(part.name)} was found; left out"
            )
        if part.name != part.id:
            message = f"document {quote(part.id)} is not cut, since no sentence of this file was found there in order"
            if at_home:
                before = quote(treebank[part.id][at_home[0].sentence]["number"])
                message = f"document {quote(part.id)} is cut before sentence {before}, where this file begins"
            part.notes.note_change(message)
    _note_lost(parts, notes, is_error=unaligned == "error")
    without = sorted(treebank.keys() - {part.id for part in parts})
    if without and not annotated_only:
        notes.note_change(
            f"{pluralize(len(without), 'document')} of the treebank without a coreference file left out: "
            f"{join_names(without)}"
        )
    return documents


def _find_parts(
    treebank: UdDocuments, annotations: Sequence[Annotation], notes: Notes
) -> list[_Part]:
    """Return the documents of coreference files, in order; several of one document of the treebank divide it."""
    by_id: dict[str, list[Annotation]] = {}
    for annotation in annotations:
        document_id = _find_document(treebank, annotation, notes.on(annotation.file))
        if document_id is not None:
            by_id.setdefault(document_id, []).append(annotation)
    parts: list[_Part] = []
    for document_id, of_document in sorted(by_id.items()):
        located = []
        for annotation in of_document:
            keys = [sort_key(mention.sentence) for mention in annotation.mentions]
            located.append((min(keys), max(keys), annotation))
        located.sort(key=itemgetter(0, 1))
        notes.problems.extend(find_interleaving(document_id, located))
        names = number_names([document_id] * len(located))
        for name, (_, _, annotation) in zip(names, located, strict=True):
            parts.append(_Part(name, document_id, annotation, notes.on(annotation.file)))
    return parts


def _find_document(treebank: UdDocuments, annotation: Annotation, notes: Notes) -> str | None:
    """Return the id of the document of a coreference file; None if it has none, or several."""
    if not annotation.mentions:
        notes.note_change("has no mentions, so it belongs to no document")
        return None
    first = annotation.mentions[0]
    document_id = find_document_id(first.sentence)
    is_known = is_sentence_number(first.sentence)
    errors: list[Problem] = ProblemList()
    for mention in annotation.mentions:
        if not is_sentence_number(mention.sentence):
            message = f"the sentence number has another form ({EXPECTED})"
        elif is_known and find_document_id(mention.sentence) != document_id:
            message = (
                f"is of another document than sentence {quote(first.sentence)} "
                "(expected one document a file)"
            )
        else:
            continue
        errors.append(Problem(f"{mention.name}: {message}", mention.line, annotation.file))
    notes.problems.extend(errors)
    if errors or document_id in treebank:
        return None if errors else document_id
    notes.report(
        f"no document of the treebank has the id {quote(document_id)} "
        f"(expected '# newdoc id = {document_id}')",
        first.line,
    )
    return None


def _locate_sentences(treebank: UdDocuments, parts: Sequence[_Part]) -> None:
    """Find the sentences of all documents, and place their mentions."""
    sought: list[Sought] = []
    seekers: list[_Part] = []
    for part in parts:
        for mentions in part.list_sentences():
            sought.append((part.id, mentions))
            seekers.append(part)
    for part, location in zip(seekers, find_sentences(treebank, sought), strict=True):
        if location is not None:
            part.locations.append(location)
            document, sentence = location.target
            number = treebank[document][sentence]["number"]
            for mention, span in zip(location.mentions, location.spans, strict=True):
                if span is not None:
                    part.mentions[mention.id] = (mention.id, number, span)


def _find_homes(treebank: UdDocuments, parts: Sequence[_Part]) -> dict[Target, _Part]:
    """Return the document to which each sentence belongs that stands under the id of one.

    UD's document is divided before the first sentence that was found, in order, for the next file.
    """
    homes: dict[Target, _Part] = {}
    for part in parts:
        size = len(treebank[part.id])
        start = 0
        if part.name != part.id:
            aligned = (
                location.target.sentence for location in part.locations if location.is_aligned
            )
            start = next(aligned, size)
        for number in range(start, size):
            homes[Target(part.id, number)] = part
    return homes


def _order_sentences(staying: Sequence[Target], located: Iterable[Target]) -> list[Target]:
    """Put the sentences of a document in order: those of its id, and after each those found elsewhere that follow it."""
    inserted: dict[Target | None, list[Target]] = {}
    is_staying = set(staying)
    before: Target | None = None
    for target in located:
        if target in is_staying:
            before = target
        else:
            inserted.setdefault(before, []).append(target)
    targets = inserted.get(None, [])
    for target in staying:
        targets += [target, *inserted.get(target, ())]
    return targets


def _note_lost(parts: Sequence[_Part], notes: Notes, *, is_error: bool) -> None:
    """Make an error of each mention without a place, or note that it is dropped."""
    lost: list[Problem] = []
    broken: list[Problem] = []
    for part in parts:
        for mention in part.annotation.mentions:
            if mention.id in part.mentions:
                continue
            reason = "it has no text to look for"
            if make_key(mention.text):
                reason = "its place in the treebank was not found"
            message = f"dropped, since {reason}"
            if is_error:
                message = reason + advise(" (use {unaligned=drop} to drop such mentions)")
            message = f"{mention.name}, {quote(mention.text)}: {message}"
            lost.append(Problem(message, mention.line, part.annotation.file))
        broken += part.broken
    if is_error:
        notes.problems.extend(lost)
    elif lost:
        n_mentions = sum(len(part.annotation.mentions) for part in parts)
        n_chains = sum(len(part.annotation.chains) for part in parts)
        message = (
            f"{len(lost):,} of {pluralize(n_mentions, 'mention')} ({len(lost) / n_mentions:.1%})"
        )
        if broken:
            message += f" and {len(broken):,} of {pluralize(n_chains, 'chain')}"
        notes.note_change(
            f"{message} dropped, since they were not found in the treebank by their text"
        )
        notes.changes.extend(lost + broken)
