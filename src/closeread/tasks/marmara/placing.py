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
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple
from unicodedata import normalize

from closeread.exceptions import Problem, ProblemList, advise, join_names, pluralize, quote
from closeread.records import Record
from closeread.tasks.marmara.coreference import AnnotatedTreebank, find_interleaving
from closeread.tasks.marmara.documents import Annotation, Mention, Span, make_document
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

    def is_ignored(character: str) -> bool:
        return IGNORED.fullmatch(character) is not None

    (first, last), text = span, text.strip()
    if (
        is_ignored(text[:1])
        and not is_ignored(tokens[first][:1])
        and first
        and not make_key(tokens[first - 1])
    ):
        first -= 1
    after = tokens[last + 1 : last + 2]
    if (
        is_ignored(text[-1:])
        and not is_ignored(tokens[last][-1:])
        and after
        and not make_key(after[0])
    ):
        last += 1
    return first, last


class Stretch(NamedTuple):
    """A stretch of words of the sentence that is sought: the key of its text, and its first and last token there."""

    key: str
    first: int
    last: int


class SentenceKey(NamedTuple):
    """The key of a sentence, and the tokens that begin and end at places of it; tokens without a key do neither."""

    text: str
    begins: Mapping[int, int]
    ends: Mapping[int, int]


class Match(NamedTuple):
    """How well all stretches are found in a sentence, above 0, and their spans, in the order of the stretches."""

    score: float
    spans: Sequence[Span]


def key_sentence(tokens: Iterable[str]) -> SentenceKey:
    """Return the text in which stretches are searched."""
    text, begins, ends = "", {}, {}
    for token, key in enumerate(map(make_key, tokens)):
        if key:
            begins[len(text)] = token
            text += key
            ends[len(text)] = token
    return SentenceKey(text, begins, ends)


def find_spans(sentence: SentenceKey, key: str) -> list[Span]:
    """Return all spans of a stretch between the borders of tokens, in order."""
    found = []
    place = sentence.text.find(key)
    while place >= 0:
        if place in sentence.begins and place + len(key) in sentence.ends:
            found.append((sentence.begins[place], sentence.ends[place + len(key)]))
        place = sentence.text.find(key, place + 1)
    return found


def match_sentence(sentence: SentenceKey, stretches: Sequence[Stretch]) -> Match | None:
    """Find the spans of stretches, at least one; None if they are not all there, in their order."""
    by_key: dict[str, list[int]] = {}
    for i in sorted(range(len(stretches)), key=lambda i: stretches[i].first):
        by_key.setdefault(stretches[i].key, []).append(i)
    spans = {key: find_spans(sentence, key) for key in by_key}
    score = 0.0
    found: dict[int, Span] = {}
    # Certain ones first: the others must be before or after them.
    for key in sorted(by_key, key=lambda key: (len(spans[key]) - len(by_key[key]), -len(key))):
        numbers = by_key[key]
        bounds: list[tuple[float, float]] = []
        for stretch in (stretches[i] for i in numbers):
            before = [span[1] + 1 for i, span in found.items() if stretches[i].last < stretch.first]
            after = [span[0] - 1 for i, span in found.items() if stretches[i].first > stretch.last]
            bounds.append((max(before, default=0), min(after, default=math.inf)))
        chosen = choose_spans([stretches[i].first for i in numbers], spans[key], bounds)
        if chosen is None:
            return None
        found.update(zip(numbers, chosen, strict=True))
        weight = min(MAX_WEIGHT, math.sqrt(len(key)))
        score += sum(
            weight / (1 + DISTANCE_WEIGHT * abs(found[i][0] - stretches[i].first)) for i in numbers
        )
    return Match(score, [found[i] for i in range(len(stretches))])


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
    found: list[int | None] = [None] * len(scores)
    chain = best[-1][2]
    while chain:
        row, found[row], chain = chain
    return found


class Target(NamedTuple):
    """A sentence of UD: the id of its document, and its number there, from 0."""

    document: str
    sentence: int


def pick_best(matches: Mapping[Target, Match]) -> Target | None:
    """Return the candidate that scores `ADVANTAGE` times the second best, or alone has a score; None if none does."""
    ranked = sorted(matches, key=lambda target: -matches[target].score)
    if not ranked or (
        len(ranked) > 1 and matches[ranked[0]].score < ADVANTAGE * matches[ranked[1]].score
    ):
        return None
    return ranked[0]


class Location(NamedTuple):
    """Where a sentence of a coreference file was found."""

    mentions: Sequence[Mention]
    target: Target
    # whether it stands there in order with others; False if it was found on its own
    is_aligned: bool
    # of each mention; None if it can't be distinguished from that of another
    spans: Sequence[Span | None]


def find_sentences(
    treebank: UdDocuments, sought: Sequence[tuple[str, Sequence[Mention]]]
) -> list[Location | None]:
    """Find sentences, each in another sentence of UD; None if one fits nowhere, or several about equally well.

    What is sought is the id of the document of each sentence, and its mentions, at least one; all have a key.  Those
    of a document are together, and in order.
    """
    forms = {
        Target(name, number): [token["form"] for token in sentence["tokens"]]
        for name, sentences in treebank.items()
        for number, sentence in enumerate(sentences)
    }
    keys = {target: key_sentence(tokens) for target, tokens in forms.items()}
    stretches = [_list_stretches(mentions) for _, mentions in sought]
    found: list[Location | None] = [None] * len(sought)
    used: set[Target] = set()

    def find_matches(i: int, targets: Iterable[Target]) -> dict[Target, Match]:
        # which few sentences have
        longest = max((stretch.key for stretch in stretches[i][0]), key=len)
        likely = (
            target for target in targets if longest in keys[target].text and target not in used
        )
        matches = ((target, match_sentence(keys[target], stretches[i][0])) for target in likely)
        return {target: match for target, match in matches if match}

    def settle(i: int, target: Target, match: Match, *, is_aligned: bool) -> None:
        """Keep where a sentence was found; quotation marks that are tokens of their own belong to the mentions."""
        mentions, spans = sought[i][1], list[Span | None]()
        for mention, number in zip(mentions, stretches[i][1], strict=True):
            span = find_quotes(mention.text, match.spans[number], forms[target])
            spans.append(None if span in spans else span)
        used.add(target)
        found[i] = Location(mentions, target, is_aligned, spans)

    inside = {
        name: [Target(name, number) for number in range(len(of))] for name, of in treebank.items()
    }
    own = [inside[name] for name, _ in sought]
    for _, group in groupby(range(len(sought)), key=lambda i: sought[i][0]):
        matches = {i: find_matches(i, own[i]) for i in group}
        scores = [
            {target.sentence: match.score for target, match in of.items()}
            for of in matches.values()
        ]
        for (i, of), number in zip(matches.items(), align(scores), strict=True):
            if number is not None:
                settle(i, own[i][number], of[own[i][number]], is_aligned=True)
    for i, location in enumerate(found):
        for targets in (own[i], keys) if location is None else ():
            matches_of = find_matches(i, targets)
            if best := pick_best(matches_of):
                settle(i, best, matches_of[best], is_aligned=False)
                break
    return found


def _list_stretches(mentions: Sequence[Mention]) -> tuple[list[Stretch], list[int]]:
    """Return the stretches of mentions, and the number of that of each; a quotation mark makes no difference."""
    distinct: list[Stretch] = []
    number = [0] * len(mentions)
    last: dict[str, int] = {}
    for i, mention in sorted(enumerate(mentions), key=lambda one: (one[1].first, one[1].last)):
        key = make_key(mention.text)
        same = last.get(key)
        if same is None or distinct[same].last < mention.first - 1:
            same = last[key] = len(distinct)
            distinct.append(Stretch(key, mention.first - 1, mention.last - 1))
        number[i] = same
    return distinct, number


class _Part(NamedTuple):
    """A document: its name, the id in its sentence numbers, and its coreference file."""

    name: str
    id: str
    annotation: Annotation


def place_annotations(
    treebank: UdDocuments, annotations: Sequence[Annotation], *, unaligned: str = "drop"
) -> AnnotatedTreebank:
    """Put the mentions of coreference files, each valid in itself, into the documents of Universal Dependencies.

    Args:
        treebank: the documents of UD.
        annotations: the coreference files.
        unaligned: `"drop"` to drop mentions without a place, with a notice about each; `"error"` to make each a
            problem.
    """
    made = AnnotatedTreebank([], [], ProblemList(), [], [], [])
    parts = _find_parts(treebank, annotations, made)
    sought: list[tuple[str, list[Mention]]] = []
    numbers: list[int] = []
    for number, part in enumerate(parts):
        by_sentence: dict[str, list[Mention]] = {}
        for mention in part.annotation.mentions:
            if make_key(mention.text):
                by_sentence.setdefault(mention.sentence, []).append(mention)
        sought += [
            (part.id, by_sentence[sentence]) for sentence in sorted(by_sentence, key=sort_key)
        ]
        numbers += [number] * len(by_sentence)
    located: list[list[Location]] = [[] for _ in parts]
    for number, location in zip(numbers, find_sentences(treebank, sought), strict=True):
        if location:
            located[number].append(location)
    # The document to which each sentence belongs that stands under the id of one; UD's document is divided before the
    # first sentence that was found, in order, for the next file.
    homes: dict[Target, int] = {}
    for number, part in enumerate(parts):
        size = len(treebank[part.id])
        cut = next((one.target.sentence for one in located[number] if one.is_aligned), size)
        homes |= {
            Target(part.id, i): number for i in range(0 if part.name == part.id else cut, size)
        }
    owners = homes | {one.target: number for number, found in enumerate(located) for one in found}
    broken: list[Problem] = ProblemList()
    lost: list[Problem] = []
    for number, part in enumerate(parts):
        file = part.annotation.file
        at_home = [target for target, home in homes.items() if home == number]
        own = [target for target in at_home if owners[target] == number]
        targets = _order_sentences(own, [one.target for one in located[number]])
        place = {target: i for i, target in enumerate(targets)}
        placed = {
            mention.id: (place[one.target], span)
            for one in located[number]
            for mention, span in zip(one.mentions, one.spans, strict=True)
            if span is not None
        }
        chains = []
        for ids in part.annotation.chains:
            left = [one for one in ids if one in placed]
            if len(left) > 1:
                chains.append(left)
            else:
                what = f"the chain of mentions {join_names(ids)} is left with {pluralize(len(left), 'mention')}"
                broken.append(Problem(f"{what}; dropped", None, file))
        if targets:
            sentences = [treebank[target.document][target.sentence] for target in targets]
            spans = [(m_id, *where) for m_id, where in placed.items()]
            made.documents.append(make_document(part.name, sentences, spans, chains))
            made.files.append(file)
        else:
            what = f"no sentence of document {quote(part.name)} was found; left out"
            made.notices.append(Problem(what, None, file))
        if part.name != part.id:
            what = f"document {quote(part.id)} is not cut, since no sentence of this file was found there in order"
            if at_home:
                before = treebank[part.id][at_home[0].sentence]["number"]
                what = f"document {quote(part.id)} is cut before sentence {quote(before)}, where this file begins"
            made.notices.append(Problem(what, None, file))
        lost += [
            _describe_lost(file, one, unaligned)
            for one in part.annotation.mentions
            if one.id not in placed
        ]
    if unaligned == "error":
        made.problems.extend(lost)
    elif lost:
        n_mentions = sum(len(part.annotation.mentions) for part in parts)
        n_chains = sum(len(part.annotation.chains) for part in parts)
        of_chains = f" and {len(broken):,} of {pluralize(n_chains, 'chain')}" if broken else ""
        dropped = f"{len(lost):,} of {pluralize(n_mentions, 'mention')} ({len(lost) / n_mentions:.1%}){of_chains}"
        what = f"{dropped} dropped, since they were not found in the treebank by their text"
        made.notices.extend([Problem(what), *lost, *broken])
    if rest := sorted(treebank.keys() - {part.id for part in parts}):
        what = f"{pluralize(len(rest), 'document')} of the treebank without a coreference file left out"
        made.rest.append(Problem(f"{what}: {join_names(rest)}"))
    return made


def _find_parts(
    treebank: UdDocuments, annotations: Sequence[Annotation], made: AnnotatedTreebank
) -> list[_Part]:
    """Return the documents of coreference files, in order; several of one document of the treebank divide it."""
    by_id: dict[str, list[Annotation]] = {}
    for annotation in annotations:
        wrong: list[Problem] = ProblemList()
        first = annotation.mentions[0] if annotation.mentions else None
        for mention in annotation.mentions:
            what = ""
            if not is_sentence_number(mention.sentence):
                what = f"the sentence number has another form ({EXPECTED})"
            elif (
                first
                and is_sentence_number(first.sentence)
                and find_document_id(mention.sentence) != find_document_id(first.sentence)
            ):
                what = f"is of another document than sentence {quote(first.sentence)} (expected one document a file)"
            if what:
                wrong.append(Problem(f"{mention.name}: {what}", mention.line, annotation.file))
        if first is None:
            what = "has no mentions, so it belongs to no document"
            made.notices.append(Problem(what, None, annotation.file))
        elif not wrong and (name := find_document_id(first.sentence)) in treebank:
            by_id.setdefault(name, []).append(annotation)
        elif not wrong:
            what = f"no document of the treebank has the id {quote(name)} (expected '# newdoc id = {name}')"
            wrong.append(Problem(what, first.line, annotation.file))
        made.problems.extend(wrong)
    parts: list[_Part] = []
    for name, of_document in sorted(by_id.items()):
        keyed = [
            ([sort_key(mention.sentence) for mention in one.mentions], one) for one in of_document
        ]
        located = sorted(((min(keys), max(keys), one) for keys, one in keyed), key=itemgetter(0, 1))
        made.problems.extend(find_interleaving(name, located))
        names = number_names([name] * len(located))
        parts += [_Part(own, name, one) for own, (_, _, one) in zip(names, located, strict=True)]
    return parts


def _order_sentences(own: Sequence[Target], found: Iterable[Target]) -> list[Target]:
    """Put the sentences of a document in order: its own, and after each those found elsewhere that follow it."""
    inserted: dict[Target | None, list[Target]] = {}
    is_own = set(own)
    before: Target | None = None
    for target in found:
        if target in is_own:
            before = target
        else:
            inserted.setdefault(before, []).append(target)
    return [
        *inserted.get(None, ()),
        *(one for target in own for one in (target, *inserted.get(target, ()))),
    ]


def _describe_lost(file: str, mention: Mention, unaligned: str) -> Problem:
    what = (
        "its place in the treebank was not found"
        if make_key(mention.text)
        else "it has no text to look for"
    )
    if unaligned == "error":
        what += advise(" (use {unaligned=drop} to drop such mentions)")
    else:
        what = f"dropped, since {what}"
    return Problem(f"{mention.name}, {quote(mention.text)}: {what}", mention.line, file)
