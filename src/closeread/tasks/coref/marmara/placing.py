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
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple, TypeVar
from unicodedata import normalize

from closeread.exceptions import Problem, ProblemList, join_names, name_option, pluralize, quote
from closeread.records import Record
from closeread.tasks.coref.marmara.documents import Annotation, Mention, Span, make_document
from closeread.tasks.coref.marmara.mentions import lower
from closeread.tasks.coref.marmara.treebank import (
    EXPECTED,
    find_document_id,
    is_sentence_number,
    number_names,
    sort_key,
)

T = TypeVar("T", bound=Hashable)

IGNORED = re.compile(r"[\s_'’‘`´ʼ\"“”„‟«»]+")
"""What editions write in different ways: blanks, which `_` may stand for, apostrophes and quotation marks."""

MAX_WEIGHT = 3.0
DISTANCE_WEIGHT = 0.3
UNLIMITED = 2**62
ADVANTAGE = 1.2
"""How many times the score of the second best a sentence must have that is found on its own."""

UdDocuments = Mapping[str, Sequence[Record]]
"""The sentences of each document of UD, by id."""


def make_key(text: str) -> str:
    """Return what two editions of a Turkish text have in common, for comparing.

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
    if is_ignored(text[:1]) and not is_ignored(tokens[first][:1]) and first and not make_key(tokens[first - 1]):
        first -= 1
    after = tokens[last + 1 : last + 2]
    if is_ignored(text[-1:]) and not is_ignored(tokens[last][-1:]) and after and not make_key(after[0]):
        last += 1
    return first, last


class Stretch(NamedTuple):
    """A stretch of words of the sentence that is sought.

    Attributes:
        key: the key of its text, never empty.
        first, last: its first and its last token there.
    """

    key: str
    first: int
    last: int


class Match(NamedTuple):
    """A sentence in which all stretches are found.

    Attributes:
        score: how well, above 0.
        spans: the span of each stretch; what is before another stays before it.
    """

    score: float
    spans: Sequence[Span]


class SentenceIndex:
    """The sentences, as lists of tokens, in which stretches are sought."""

    def __init__(self, sentences: Iterable[Sequence[str]]) -> None:
        keys: list[str] = []
        # The token that begins or ends at a position of the text; tokens without a key do neither.
        self._beginning: dict[int, int] = {}
        self._ending: dict[int, int] = {}
        self._sentence: list[int] = []  # of each token
        self._first: list[int] = []  # token of each sentence
        self._found: dict[str, dict[int, list[Span]]] = {}
        position = 0
        for number, tokens in enumerate(sentences):
            self._first.append(len(self._sentence))
            for key in map(make_key, tokens):
                token = len(self._sentence)
                self._sentence.append(number)
                if key:
                    keys.append(key)
                    self._beginning[position] = token
                    position += len(key)
                    self._ending[position] = token
            keys.append("\n")  # no key has one
            position += 1
        self._text = "".join(keys)

    def find_spans(self, key: str) -> Mapping[int, Sequence[Span]]:
        """Return all spans of a stretch between the borders of tokens, by sentence; all in order."""
        if (found := self._found.get(key)) is not None:
            return found
        found = self._found[key] = {}
        position = self._text.find(key)
        while position >= 0:
            token, last = self._beginning.get(position), self._ending.get(position + len(key))
            if token is not None and last is not None:
                sentence = self._sentence[token]
                begin = self._first[sentence]
                found.setdefault(sentence, []).append((token - begin, last - begin))
            position = self._text.find(key, position + 1)
        return found

    def find_matches(self, stretches: Sequence[Stretch]) -> dict[int, Match]:
        """Return the sentences in which all of at least one stretch are found, in order."""
        by_key: dict[str, list[int]] = {}
        for i in sorted(range(len(stretches)), key=lambda i: stretches[i].first):
            by_key.setdefault(stretches[i].key, []).append(i)
        spans = {key: self.find_spans(key) for key in by_key}
        fewest = min(spans.values(), key=len)
        fits = [s for s in fewest if all(len(spans[key].get(s, ())) >= len(n) for key, n in by_key.items())]
        matches = {s: _match(stretches, by_key, {key: spans[key][s] for key in by_key}) for s in fits}
        return {sentence: match for sentence, match in matches.items() if match}


def _match(
    stretches: Sequence[Stretch], by_key: Mapping[str, Sequence[int]], spans: Mapping[str, Sequence[Span]]
) -> Match | None:
    """Find the spans of the stretches in a sentence; None if they can't stay in their order."""
    score = 0.0
    found: dict[int, Span] = {}
    # What is certain first: the others must be before or after it.
    for key in sorted(by_key, key=lambda key: (len(spans[key]) - len(by_key[key]), -len(key))):
        numbers = by_key[key]
        bounds = []
        for stretch in (stretches[i] for i in numbers):
            before = [span[1] + 1 for i, span in found.items() if stretches[i].last < stretch.first]
            after = [span[0] - 1 for i, span in found.items() if stretches[i].first > stretch.last]
            bounds.append((max(before, default=0), min(after, default=UNLIMITED)))
        chosen = choose_spans([stretches[i].first for i in numbers], spans[key], bounds)
        if chosen is None:
            return None
        found.update(zip(numbers, chosen, strict=True))
        weight = min(MAX_WEIGHT, math.sqrt(len(key)))
        score += sum(weight / (1 + DISTANCE_WEIGHT * abs(found[i][0] - stretches[i].first)) for i in numbers)
    return Match(score, [found[i] for i in range(len(stretches))])


def choose_spans(firsts: Sequence[int], spans: Sequence[Span], bounds: Sequence[Span]) -> list[Span] | None:
    """Choose spans for stretches with the same key that don't overlap and are nearest to where they should be.

    Args:
        firsts: where each should begin, in ascending order; their spans have the same order.
        spans: all spans, in order.
        bounds: the first and the last token that each may have.

    Returns:
        A span for each, with the least sum of distances, the earlier ones of several such choices; None if there is
        none within the bounds.
    """
    ends = [last for _, last in spans]
    before = [bisect_left(ends, first) for first, _ in spans]  # how many spans are before each
    # The least cost of the first stretches in the first spans; the last of these is chosen, or not.
    cost = [[0.0] * (len(spans) + 1)]
    for first, (low, high) in zip(firsts, bounds, strict=True):
        row = [math.inf]
        for j, (begin, end) in enumerate(spans):
            is_allowed = low <= begin and end <= high
            row.append(min(row[j], cost[-1][before[j]] + abs(begin - first) if is_allowed else math.inf))
        cost.append(row)
    if math.isinf(cost[-1][-1]):
        return None
    chosen: list[Span] = []
    j = len(spans)
    for row in reversed(cost[1:]):
        while row[j - 1] == row[j]:
            j -= 1
        chosen.append(spans[j - 1])
        j = before[j - 1]
    return chosen[::-1]


class _Chain(NamedTuple):
    row: int
    column: int
    before: _Chain | None


def align(scores: Sequence[Mapping[int, float]]) -> list[int | None]:
    """Assign columns to rows so that both ascend and the sum of the scores is greatest.

    Args:
        scores: the columns that each row may have, with their scores, above 0.

    Returns:
        The column of each row, or None.
    """
    # For the rows so far: chains of (column, chain before); of those that end before a column, the best.
    ends: list[int] = []
    totals: list[float] = []
    chains: list[_Chain] = []
    for row, options in enumerate(scores):
        # From the right, so that no chain has two columns of a row.
        for column in sorted(options, reverse=True):
            at = bisect_left(ends, column)
            before = chains[at - 1] if at else None
            total = (totals[at - 1] if at else 0.0) + options[column]
            worse = at
            while worse < len(ends) and totals[worse] <= total:
                worse += 1
            if at < len(ends) and ends[at] == column and worse == at:
                continue
            ends[at:worse], totals[at:worse], chains[at:worse] = [column], [total], [_Chain(row, column, before)]
    found: list[int | None] = [None] * len(scores)
    chain = chains[-1] if chains else None
    while chain:
        found[chain.row], chain = chain.column, chain.before
    return found


def pick_best(scores: Mapping[T, float]) -> T | None:
    """Return what scores `ADVANTAGE` times the second best, or what alone has a score; None if nothing does."""
    ranked = sorted(scores, key=lambda i: -scores[i])
    if not ranked or (len(ranked) > 1 and scores[ranked[0]] < ADVANTAGE * scores[ranked[1]]):
        return None
    return ranked[0]


class Target(NamedTuple):
    """A sentence of UD: the id of its document, and its number there, from 0."""

    document: str
    sentence: int


class Location(NamedTuple):
    """Where a sentence was found.

    Attributes:
        target: the sentence of UD.
        is_aligned: whether it stands there in order with others; False if it was found on its own.
        spans: the span of each mention; None if it can't be told from that of another.
    """

    target: Target
    is_aligned: bool
    spans: Sequence[Span | None]


Sought = tuple[str, Sequence[Mention]]
"""A sentence that is sought: the id of its document, and its mentions, at least one; all have a key."""


def find_sentences(treebank: UdDocuments, sought: Sequence[Sought]) -> list[Location | None]:
    """Find sentences, those of a document together, and in order, each in another sentence of UD.

    Returns:
        Where each was found; None if it fits nowhere, or several sentences about equally well.
    """
    distinct: list[list[Stretch]] = []
    stretch_of: list[list[int]] = []
    for _, mentions in sought:
        stretches, numbers = _list_stretches(mentions)
        distinct.append(stretches)
        stretch_of.append(numbers)
    found: list[Location | None] = [None] * len(sought)
    matches: dict[int, dict[Target, Match]] = {}
    used: set[Target] = set()

    def settle(i: int, target: Target, *, is_aligned: bool) -> None:
        """Keep where a sentence was found; quotation marks that are tokens of their own belong to the mentions."""
        forms = _list_forms(treebank[target.document][target.sentence])
        spans: list[Span | None] = []
        for mention, number in zip(sought[i][1], stretch_of[i], strict=True):
            span = find_quotes(mention.text, matches[i][target].spans[number], forms)
            spans.append(None if span in spans else span)
        used.add(target)
        found[i] = Location(target, is_aligned, spans)

    def pick_unused(i: int) -> Target | None:
        return pick_best({target: match.score for target, match in matches[i].items() if target not in used})

    for document, group in groupby(range(len(sought)), key=lambda i: sought[i][0]):
        index = SentenceIndex(map(_list_forms, treebank[document]))
        rows = list(group)
        for i in rows:
            fits = index.find_matches(distinct[i])
            matches[i] = {Target(document, sentence): match for sentence, match in fits.items()}
        aligned = align([{target.sentence: m.score for target, m in matches[i].items()} for i in rows])
        for i, sentence in zip(rows, aligned, strict=True):
            if sentence is not None:
                settle(i, Target(document, sentence), is_aligned=True)
    targets = [Target(name, i) for name, sentences in treebank.items() for i in range(len(sentences))]
    everywhere: SentenceIndex | None = None
    for i in (i for i, one in enumerate(found) if one is None):
        best = pick_unused(i)
        if best is None:
            if everywhere is None:
                everywhere = SentenceIndex(_list_forms(treebank[one.document][one.sentence]) for one in targets)
            matches[i] = {targets[number]: match for number, match in everywhere.find_matches(distinct[i]).items()}
            best = pick_unused(i)
        if best is not None:
            settle(i, best, is_aligned=False)
    return found


def _list_forms(sentence: Record) -> list[str]:
    return [token["form"] for token in sentence["tokens"]]


def _list_stretches(mentions: Sequence[Mention]) -> tuple[list[Stretch], list[int]]:
    """Return the stretches of mentions, and the number of that of each; a quotation mark makes no difference."""
    distinct: list[Stretch] = []
    number = [0] * len(mentions)
    last: dict[str, int] = {}
    for i in sorted(range(len(mentions)), key=lambda i: (mentions[i].first, mentions[i].last)):
        mention = mentions[i]
        key = make_key(mention.text)
        same = last.get(key)
        if same is None or distinct[same].last < mention.first - 1:
            same = last[key] = len(distinct)
            distinct.append(Stretch(key, mention.first - 1, mention.last - 1))
        number[i] = same
    return distinct, number


class Placement(NamedTuple):
    """Documents with mentions put in place.

    Attributes:
        documents: the documents, without genre, in the order of their names; one without sentences is left out.
        files: the coreference file of each.
        problems: what is wrong with the files, with file and line.
        notices: what was dropped, left out or divided.
        lost: the mentions without a place, with their file.
        rest: a notice about the documents of the treebank without coreference, if there are any.
    """

    documents: list[Record]
    files: list[str]
    problems: list[Problem]
    notices: list[Problem]
    lost: list[tuple[str, Mention]]
    rest: list[Problem]


class _Part(NamedTuple):
    """A document: its name, the id in its sentence numbers, and its coreference file."""

    name: str
    id: str
    annotation: Annotation


class _Row(NamedTuple):
    """A sentence of a coreference file: its document, by number, its mentions with a key, and where it was found."""

    part: int
    mentions: Sequence[Mention]
    found: Location | None


def place_annotations(
    treebank: UdDocuments, annotations: Sequence[Annotation], *, unaligned: str = "drop"
) -> Placement:
    """Put the mentions of coreference files, each valid in itself, into the documents of Universal Dependencies.

    Args:
        treebank: the documents of UD.
        annotations: the coreference files.
        unaligned: `"drop"` to drop mentions without a place, with a notice about each; `"error"` to make each a
            problem.
    """
    parts, problems, notices = _find_parts(treebank, annotations)
    sought: list[Sought] = []
    numbers = []
    for number, part in enumerate(parts):
        by_sentence: dict[str, list[Mention]] = {}
        for mention in part.annotation.mentions:
            if make_key(mention.text):
                by_sentence.setdefault(mention.sentence, []).append(mention)
        sought += [(part.id, by_sentence[sentence]) for sentence in sorted(by_sentence, key=sort_key)]
        numbers += [number] * len(by_sentence)
    located = find_sentences(treebank, sought)
    rows = [_Row(number, one[1], found) for number, one, found in zip(numbers, sought, located, strict=True)]
    homes = _find_homes(treebank, parts, rows)
    owners = homes | {row.found.target: row.part for row in rows if row.found}
    placement = Placement([], [], problems, notices, [], [])
    broken: list[Problem] = ProblemList()
    for number, part in enumerate(parts):
        own = [target for target, home in homes.items() if home == owners[target] == number]
        located_rows = [(row.mentions, row.found) for row in rows if row.part == number and row.found]
        targets = order_sentences(own, [found.target for _, found in located_rows])
        place = {target: i for i, target in enumerate(targets)}
        placed = [
            (mention.id, place[found.target], span)
            for mentions, found in located_rows
            for mention, span in zip(mentions, found.spans, strict=True)
            if span is not None
        ]
        in_place = {m_id for m_id, _, _ in placed}
        chains: list[list[str]] = []
        for ids in part.annotation.chains:
            left = [one for one in ids if one in in_place]
            if len(left) > 1:
                chains.append(left)
            else:
                what = f"the chain of mentions {join_names(ids)} is left with {pluralize(len(left), 'mention')}"
                broken.append(Problem(f"{what}; dropped", None, part.annotation.file))
        if targets:
            sentences = [treebank[target.document][target.sentence] for target in targets]
            placement.documents.append(make_document(part.name, sentences, placed, chains))
            placement.files.append(part.annotation.file)
        else:
            what = f"no sentence of document {quote(part.name)} was found; left out"
            notices.append(Problem(what, None, part.annotation.file))
        placement.lost.extend((part.annotation.file, one) for one in part.annotation.mentions if one.id not in in_place)
    notices += _describe_cuts(treebank, parts, homes)
    lost = [_describe_lost(file, mention, unaligned) for file, mention in placement.lost]
    if unaligned == "error":
        problems += lost
    elif lost:
        n_mentions = sum(len(part.annotation.mentions) for part in parts)
        n_chains = sum(len(part.annotation.chains) for part in parts)
        of_chains = f" and {len(broken):,} of {pluralize(n_chains, 'chain')}" if broken else ""
        dropped = f"{len(lost):,} of {pluralize(n_mentions, 'mention')} ({len(lost) / n_mentions:.1%}){of_chains}"
        what = f"{dropped} dropped, since they were not found in the treebank by their text"
        notices += [Problem(what), *lost, *broken]
    if rest := sorted(treebank.keys() - {part.id for part in parts}):
        what = f"{pluralize(len(rest), 'document')} of the treebank without a coreference file left out"
        placement.rest.append(Problem(f"{what}: {join_names(rest)}"))
    return placement


def _find_parts(
    treebank: UdDocuments, annotations: Sequence[Annotation]
) -> tuple[list[_Part], list[Problem], list[Problem]]:
    """Return the documents of coreference files, in order, the files that have none, and notices.

    A document of the treebank that several files point into is divided.
    """
    by_id: dict[str, list[Annotation]] = {}
    problems: list[Problem] = ProblemList()
    notices: list[Problem] = []
    for annotation in annotations:
        wrong = _check_sentences(annotation)
        problems += wrong
        if not annotation.mentions:
            notices.append(Problem("has no mentions, so it belongs to no document", None, annotation.file))
        elif not wrong:
            name = find_document_id(annotation.mentions[0].sentence)
            if name in treebank:
                by_id.setdefault(name, []).append(annotation)
            else:
                what = f"no document of the treebank has the id {quote(name)} (expected '# newdoc id = {name}')"
                problems.append(Problem(what, annotation.mentions[0].line, annotation.file))
    parts: list[_Part] = []
    for name in sorted(by_id):
        keyed = [([sort_key(mention.sentence) for mention in one.mentions], one) for one in by_id[name]]
        keyed.sort(key=lambda one: min(one[0]))
        for (before, one), (after, other) in pairwise(keyed):
            if min(after) <= max(before):  # the document can't be cut
                what = f"its sentences interleave with those of {one.file}, in document {quote(name)}"
                problems.append(Problem(f"{what} (expected one file for each document)", None, other.file))
        names = number_names([name] * len(keyed))
        parts += [_Part(own, name, one) for own, (_, one) in zip(names, keyed, strict=True)]
    return parts, problems, notices


def _check_sentences(annotation: Annotation) -> list[Problem]:
    """Find mentions whose sentence has another form than numbers of sentences, or is of another document."""
    problems: list[Problem] = ProblemList()
    first = annotation.mentions[0].sentence if annotation.mentions else ""
    for mention in annotation.mentions:
        if not is_sentence_number(mention.sentence):
            what = f"the sentence number has another form ({EXPECTED})"
        elif is_sentence_number(first) and find_document_id(mention.sentence) != find_document_id(first):
            what = f"is of another document than sentence {quote(first)} (expected one document a file)"
        else:
            continue
        problems.append(Problem(f"{mention.name}: {what}", mention.line, annotation.file))
    return problems


def _find_homes(treebank: UdDocuments, parts: Sequence[_Part], rows: Sequence[_Row]) -> dict[Target, int]:
    """Return the document, by number, to which each sentence belongs that stands under the id of one.

    A document of UD is divided before the first sentence that was found, in order, for the next file.
    """
    cuts: dict[int, int] = {}
    for row in rows:
        if row.found and row.found.is_aligned:
            cuts.setdefault(row.part, row.found.target.sentence)
    homes: dict[Target, int] = {}
    for name, same in groupby(range(len(parts)), key=lambda number: parts[number].id):
        first, *others = same
        size = len(treebank[name])
        homes |= {Target(name, i): first for i in range(size)}
        for number in others:
            homes |= {Target(name, i): number for i in range(cuts.get(number, size), size)}
    return homes


def order_sentences(own: Sequence[Target], found: Iterable[Target]) -> list[Target]:
    """Put the sentences of a document in order.

    Args:
        own: the sentences that stand in it, in order.
        found: where its annotated sentences were found, in their order; those found elsewhere follow the one before.
    """
    inserted: dict[Target | None, list[Target]] = {}
    is_own = set(own)
    before: Target | None = None
    for target in found:
        if target in is_own:
            before = target
        else:
            inserted.setdefault(before, []).append(target)
    ordered = inserted.get(None, [])
    for target in own:
        ordered += [target, *inserted.get(target, ())]
    return ordered


def _describe_lost(file: str, mention: Mention, unaligned: str) -> Problem:
    what = "its place in the treebank was not found" if make_key(mention.text) else "it has no text to look for"
    if unaligned == "error":
        what += f" (use {name_option('unaligned', 'drop')} to drop such mentions)"
    else:
        what = f"dropped, since {what}"
    return Problem(f"{mention.name}, {quote(mention.text)}: {what}", mention.line, file)


def _describe_cuts(treebank: UdDocuments, parts: Sequence[_Part], homes: Mapping[Target, int]) -> list[Problem]:
    """Return notices about documents of the treebank that are cut."""
    firsts: dict[int, Target] = {}
    for target, number in homes.items():
        firsts.setdefault(number, target)
    notices: list[Problem] = []
    for number, part in enumerate(parts):
        if part.name != part.id:
            what = f"document {quote(part.id)} is not cut, since no sentence of this file was found there in order"
            if first := firsts.get(number):
                before = quote(treebank[part.id][first.sentence]["number"])
                what = f"document {quote(part.id)} is cut before sentence {before}, where this file begins"
            notices.append(Problem(what, None, part.annotation.file))
    return notices
