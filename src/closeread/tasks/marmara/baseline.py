"""The baseline of the corpus: every document by a model that is trained on all the others.

Conventions: records are documents of the corpus; rows of the result have the fields `document` and `clusters`.
Mentions are those of one document, in document order, and count from 0.  Two mentions that share a token are never in
one chain.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from closeread.arrays import Floats, Ints, Mask
from closeread.counts.procedure import name_documents
from closeread.exceptions import (
    FormatError,
    Problem,
    RequestError,
    describe_unknown,
    name_option,
    pluralize,
    quote,
)
from closeread.records import Record
from closeread.tasks.marmara.documents import Span, Token, document_order, read_tokens
from closeread.tasks.marmara.mentions import PRONOUNS, detect_mentions, read_pronouns
from closeread.tasks.marmara.pairs import (
    N_COMPONENTS,
    Codes,
    Mentions,
    Model,
    PairMatrix,
    Pairs,
    Vectors,
    count_examples,
    describe_mentions,
    draw_wrong,
    encode_pairs,
    find_cosines,
    find_words,
    fit_pairs,
    list_examples,
    list_gold,
    mark_candidates,
    name_features,
    read_vectors,
    score_codes,
)

if TYPE_CHECKING:
    from closeread.tasks.marmara.operations import ChainLearner

THRESHOLDS = {"svc": 0.0, "svr": 0.1}
"""The scores above which a pair is linked."""

_CELLS = 2**18
"""How many pairs are scored at a time."""


def iterate_scores(model: Model, mentions: Mentions) -> Iterator[tuple[Codes, Floats, Mask]]:
    """Yield the codes and scores of each mention's pairs with all earlier ones, and which may be linked."""
    start, n, vectors = 0, len(mentions), mentions.vectors
    while start < n:
        stop = min(n, start + max(1, _CELLS // n))
        second, first = np.arange(start, stop)[:, None], np.arange(stop - 1)[None, :]
        codes = encode_pairs(mentions, first, second)
        values = model.codes[codes]
        if vectors is not None:
            firsts, seconds = slice(stop - 1), slice(start, stop)
            values += model.cosines[0] * (vectors.head[seconds] @ vectors.head[firsts].T)
            values += model.cosines[1] * (vectors.mean[seconds] @ vectors.mean[firsts].T)
            values += vectors.values[firsts] @ model.first
            values += (vectors.values[seconds] @ model.second)[:, None]
        allowed = mark_candidates(mentions, first, second)
        for row, n_earlier in enumerate(range(start, stop)):
            yield codes[row, :n_earlier], values[row, :n_earlier], allowed[row, :n_earlier]
        start = stop


def build_chains(
    learner: str, spans: Sequence[Span], scores: Iterator[tuple[Floats, Mask]]
) -> list[list[list[int]]]:
    """Return the chains of two or more mentions: of all links of the classifier, or the best of the regression.

    Given are, for each mention, its scores with all earlier ones, and which of these it may be linked with.  The
    classifier links it with all whose score is above the threshold, the nearest first; the regression with the one of
    the best score, the nearest of equals, if that is above it.  Chains are not joined if mentions of theirs overlap.
    """
    chain: Ints = np.arange(len(spans))
    members = [[place] for place in range(len(spans))]
    # The tokens of a chain as bits of one number, so that two chains overlap if they have a bit in common.
    tokens = [(1 << end + 1) - (1 << start) for start, end in spans]
    for second, (of_pairs, is_candidate) in enumerate(scores):
        linked = np.flatnonzero(is_candidate & (of_pairs > THRESHOLDS[learner]))[::-1]
        if learner == "svr":
            linked = linked[np.argmax(of_pairs[linked], keepdims=True)] if len(linked) else linked
        # One mention of a chain stands for all: overlapping chains still overlap when they have grown.
        _, nearest = np.unique(chain[linked], return_index=True)
        for first in linked[np.sort(nearest)].tolist():
            kept, joined = sorted((int(chain[first]), int(chain[second])))
            if kept != joined and not tokens[kept] & tokens[joined]:
                chain[members[joined]] = kept
                members[kept] += members[joined]
                tokens[kept] |= tokens[joined]
                members[joined] = []
    return [
        [list(spans[place]) for place in sorted(of_chain)]
        for of_chain in members
        if len(of_chain) > 1
    ]


class DocumentPairs(NamedTuple):
    """A document: its name, the mentions to be linked, those that are trained on, and which pairs of these."""

    name: str
    linked: Mentions
    trained: Mentions
    examples: Pairs


class Prediction(NamedTuple):
    """The chains of a document, and the links and scores from which they were made."""

    document: DocumentPairs
    model: Model
    clusters: list[list[list[int]]]

    @property
    def row(self) -> Record:
        """The prediction as coreference is submitted."""
        return {"document": self.document.name, "clusters": self.clusters}

    def iterate_links(self) -> Iterator[Record]:
        """Yield the candidate links of the document, in order of their second mentions, then of the first.

        A link has the spans of both mentions, the names of the features of A and B that are 1, and its score.
        """
        named = cache(name_features)
        spans = [list(span) for span in self.document.linked.spans]
        for second, (codes, scores, allowed) in enumerate(
            iterate_scores(self.model, self.document.linked)
        ):
            for first in np.flatnonzero(allowed).tolist():
                pair = {
                    "document": self.document.name,
                    "first": spans[first],
                    "second": spans[second],
                }
                yield {**pair, "features": named(int(codes[first])), "score": float(scores[first])}


def _learn_from_counts(method: str, documents: Sequence[DocumentPairs]) -> Callable[[int], Model]:
    """Return a function that trains on all documents but one, whose counts of codes are subtracted from all."""
    counts = [count_examples(one.trained, one.examples) for one in documents]
    total = np.sum(counts, axis=0)
    return lambda left_out: Model(score_codes(method, total - counts[left_out]))


def _learn_from_vectors(method: str, documents: Sequence[DocumentPairs]) -> Callable[[int], Model]:
    """Return a function that trains on all documents but one: on single examples, since vectors make each different."""
    n_before, values, columns = 0, [], []
    for number, (_, _, mentions, (first, second, is_positive)) in enumerate(documents):
        if mentions.vectors:
            values.append(mentions.vectors.values)
            cosines = find_cosines(mentions.vectors, first, second)
            places = (first + n_before, second + n_before)
            document = np.full(len(first), number)
            columns.append(
                (encode_pairs(mentions, first, second), *places, *cosines, is_positive, document)
            )
            n_before += len(mentions)
    codes, first, second, head, mean, is_positive, document = map(
        np.concatenate, zip(*columns, strict=True)
    )
    both, of_mentions = np.stack([head, mean]), np.concatenate(values)

    def train(left_out: int) -> Model:
        kept = document != left_out
        matrix = PairMatrix(codes[kept], first[kept], second[kept], both[:, kept], of_mentions)
        return fit_pairs(method, matrix, is_positive[kept])

    return train


def _read_vectors(learner: ChainLearner, documents: Sequence[Sequence[Token]]) -> Vectors | None:
    """Read the vectors that the features need; None if they need none."""
    if learner.features == "T" and learner.vectors is None:
        return None
    if learner.features == "T":
        raise RequestError("features T use no word vectors (expected TF or TP)")
    if learner.vectors is None:
        expected = f"expected a file with {name_option('vectors')}"
        raise RequestError(f"features {learner.features} need word vectors ({expected})")
    n_components = N_COMPONENTS if learner.features == "TP" else None
    vectors = read_vectors(learner.vectors, find_words(documents), n_components=n_components)
    if not vectors.words:
        expected = "expected words in lower case, without suffixes after an apostrophe"
        raise FormatError(learner.vectors, [Problem(f"has no word of the documents ({expected})")])
    return vectors


def select_documents(records: Sequence[Record], only: Collection[str]) -> Sequence[Record]:
    """Return the documents of these names, in the order of the records; all if there are no names."""
    names = [record["document"] for record in records]
    if unknown := [name for name in dict.fromkeys(only) if name not in names]:
        found = "".join(f"no such document: {quote(name)}; " for name in unknown[:-1])
        raise RequestError(found + describe_unknown("document", unknown[-1], names))
    return [record for record in records if record["document"] in only] if only else records


def predict(records: Sequence[Record], method: str, learner: ChainLearner) -> Iterator[Prediction]:
    """Predict documents, or only some, each by a model that is trained on all others; in the order of the records.

    The method is "svc" (link a mention with all that the classifier says) or "svr" (link it with the best one).
    """
    wanted = {record["document"] for record in select_documents(records, learner.only)}
    if len(records) < 2:
        found = f"there is only {pluralize(len(records), 'document')}"
        raise RequestError(f"{found} (expected two or more, to leave one out)")
    pronouns = PRONOUNS if learner.pronouns is None else read_pronouns(learner.pronouns)
    tokens = [read_tokens(record) for record in records]
    vectors = _read_vectors(learner, tokens)
    documents = []
    for record, of_record in zip(records, tokens, strict=True):
        name, chains = record["document"], list_gold(record)
        linked = trained = list(chains)
        if learner.mentions == "predicted":
            linked = detect_mentions(of_record, learner.derived_modifiers)
            trained = sorted(
                [*chains, *draw_wrong(name, chains, linked, learner.seed)], key=document_order
            )
        with name_documents([name]):
            described = describe_mentions(of_record, linked, pronouns, vectors)
            of_trained = (
                described
                if trained is linked
                else describe_mentions(of_record, trained, pronouns, vectors)
            )
        documents.append(DocumentPairs(name, described, of_trained, list_examples(trained, chains)))
    train = (_learn_from_vectors if vectors else _learn_from_counts)(method, documents)

    def predict_one(number: int) -> Prediction:
        document = documents[number]
        try:
            model = train(number)
        except ValueError as error:
            found = (
                f"cannot train a model for document {quote(document.name)} on the other documents"
            )
            raise RequestError(f"{found}: {error}") from None
        scores = (
            (scores, allowed) for _, scores, allowed in iterate_scores(model, document.linked)
        )
        return Prediction(document, model, build_chains(method, document.linked.spans, scores))

    numbers = [number for number, record in enumerate(records) if record["document"] in wanted]
    yield from map(predict_one, numbers)


def predict_mentions(
    records: Sequence[Record], *, derived_modifiers: str = "exclude"
) -> list[Record]:
    """Detect the mentions of documents, each in a chain of its own."""
    detected = (
        (record["document"], detect_mentions(read_tokens(record), derived_modifiers))
        for record in records
    )
    return [
        {"document": name, "clusters": [[list(span)] for span in spans]} for name, spans in detected
    ]
