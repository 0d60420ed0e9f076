"""Where annotators of coreference are divided: about what a mention is, or about who is who.

For each pair of annotators there are precision, recall and F1 of mentions alone, and alpha on the chains of these two;
for each mention, how far apart the chains are in which annotators have it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain as concatenate
from itertools import combinations
from math import comb

from closeread.arrays import ratio
from closeread.counts.agreement import Pair
from closeread.counts.annotators import Annotator, find_repeated_paths
from closeread.exceptions import RequestError
from closeread.tasks.annotation.agreement import (
    MEASURES,
    Agreement,
    DividedMention,
    PairDivision,
    list_values,
    measure_agreement,
    resolve,
)
from closeread.tasks.annotation.annotators import (
    AnnotatedDocument,
    check_given,
    find_token_sources,
    gather_documents,
    list_notices,
    make_document,
    read_annotators,
    select_given,
)
from closeread.tasks.coref.documents import Document, Mention
from closeread.tasks.coref.formats import ALL_ANNOTATION, StandoffOptions

RANKED_BY = MEASURES.index("iaa2")
"""The measure whose distances rank mentions: the only one that tells how far apart chains are."""


def compare_pairs(
    documents: Sequence[AnnotatedDocument], n_annotators: int, options: Mapping[str, str]
) -> dict[Pair, PairDivision]:
    """Compare every two annotators, given the value of every option of agreement."""
    pairs = {}
    for pair in combinations(range(n_annotators), 2):
        shared = [document for document in documents if set(pair) <= document.chains.keys()]
        restricted = [_restrict(document, pair) for document in shared]
        n_common = 0
        n_first = 0
        n_second = 0
        for document in restricted:
            first, second = (_list_mentions(document, annotator) for annotator in pair)
            n_common += len(first & second)
            n_first += len(first)
            n_second += len(second)
        precision = _divide(n_common, n_second)
        recall = _divide(n_common, n_first)
        f1 = _divide(2 * n_common, n_first + n_second)
        alpha = measure_agreement(restricted, options).alpha
        pairs[pair] = PairDivision(len(shared), precision, recall, f1, alpha)
    return pairs


def _divide(numerator: int, denominator: int) -> float | None:
    return float(ratio(numerator, denominator)) if denominator else None


def _restrict(document: AnnotatedDocument, pair: Pair) -> AnnotatedDocument:
    """Return a document with the chains of two annotators only, and their mentions."""
    chains = document.list_mentions()
    return make_document(document.name, {annotator: chains[annotator] for annotator in pair})


def _list_mentions(document: AnnotatedDocument, annotator: int) -> set[int]:
    """Return the numbers of an annotator's mentions."""
    return set(concatenate.from_iterable(document.chains[annotator]))


def find_divided_mentions(
    documents: Sequence[AnnotatedDocument],
    sources: Mapping[str, Document],
    options: Mapping[str, str],
) -> list[DividedMention]:
    """Return the mentions whose chains differ between annotators, those with the largest distances first.

    Args:
        documents: the annotators' chains.
        sources: documents with their words, by name.
        options: the value of every option of agreement.
    """
    divided = []
    for document in documents:
        if len(document.chains) < 2:
            continue
        words = sources[document.name].words.read()
        marked: Counter[int] = Counter()
        for annotator in document.chains:
            marked.update(_list_mentions(document, annotator))
        for number, distance in enumerate(_measure_mentions(document, options)):
            if distance > 0:
                mention = document.mentions[number]
                place = (document.name, mention.start, mention.end)
                text = _join_words(mention, words)
                sizes = (marked[number], len(document.chains))
                divided.append(DividedMention(*place, text, *sizes, distance))
    return sorted(divided, key=_rank)


def _rank(mention: DividedMention) -> tuple[float, str, int, int]:
    return -mention.distance, mention.document, mention.start, mention.end


def _join_words(mention: Mention, words: Sequence[str]) -> str:
    parts = [" ".join(words[start : end + 1]) for start, end in mention.spans]
    return " … ".join(filter(None, parts))


def _measure_mentions(document: AnnotatedDocument, options: Mapping[str, str]) -> Iterator[float]:
    """Yield the mean distance between the chains in which two annotators have each mention."""
    values = list_values(document, options["unannotated"])
    distances = values.measure_distances()
    for counts in values.by_mention:
        n_pairs = comb(counts.total(), 2)
        total = 0.0
        for first, second in combinations(sorted(counts), 2):
            distance = float(distances[first, second][RANKED_BY])
            total += counts[first] * counts[second] * distance
        yield total / n_pairs if n_pairs else 0.0


def compare_annotators(
    annotators: Sequence[Annotator],
    *,
    given: Annotator | None = None,
    standoff: StandoffOptions = ALL_ANNOTATION,
    **options: str,
) -> Agreement:
    """Measure the agreement of annotators of coreference.

    Args:
        annotators: files, folders or documents in memory; each may have some of the documents.
        given: the mentions that annotators were given, to measure agreement about these instead of about all mentions
            of any annotator.
        standoff: what is read of files of annotation tools.
        **options: values of `OPTIONS` that differ from the defaults.
    """
    resolved = resolve(options)
    sources = annotators if given is None else (*annotators, given)
    files = read_annotators(sources, standoff, given=given)
    annotated = [file.documents for file in files]
    documents = gather_documents(annotated)
    words = find_token_sources(annotated)
    if given is not None:
        check_given(files[:-1], files[-1])
        documents = [select_given(document, len(files) - 1) for document in documents]
    agreement = measure_agreement(documents, resolved)
    if all(document.annotators < 2 for document in agreement.documents):
        raise RequestError(
            "no document has two annotators (expected two files or more with the same document)"
        )
    notices = [*list_notices(files), *find_repeated_paths(annotators), *agreement.describe()]
    names = [file.name for file in files]
    if given is not None:
        names.pop()
    return replace(
        agreement,
        notices=notices,
        annotators=names,
        pairs=compare_pairs(documents, len(names), resolved),
        divided=find_divided_mentions(documents, words, resolved),
    )
