"""The baseline of the corpus: every document by a model that is trained on all the others.

Conventions: records are documents of the corpus; rows of the result have the fields `document` and `clusters`.
Mentions are those of one document, in document order, and count from 0.  Two mentions that share a token are never in
one chain.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

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

PAIRS_PER_CHUNK = 2**18
"""How many pairs are scored at a time."""


def iterate_scores(model: Model, mentions: Mentions) -> Iterator[tuple[Codes, Floats, Mask]]:
    """Yield the codes and scores of each mention's pairs with all earlier ones, and which may be linked."""
    n = len(mentions)
    vectors = mentions.vectors
    start = 0
    while start < n:
        stop = min(n, start + max(1, PAIRS_PER_CHUNK // n))
        second = np.arange(start, stop)[:, None]
        first = np.arange(stop - 1)[None, :]
        codes = encode_pairs(mentions, first, second)
        values = model.codes[codes]
        if vectors is not None:
            firsts = slice(stop - 1)
            seconds = slice(start, stop)
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
    for second, (scores_of_pairs, is_candidate) in enumerate(scores):
        linked = np.flatnonzero(is_candidate & (scores_of_pairs > THRESHOLDS[learner]))[::-1]
        if learner == "svr" and len(linked):
            linked = linked[np.argmax(scores_of_pairs[linked], keepdims=True)]
        # One mention of a chain stands for all: overlapping chains still overlap when they have grown.
        _, nearest = np.unique(chain[linked], return_index=True)
        for first in linked[np.sort(nearest)].tolist():
            earlier, later = sorted((int(chain[first]), int(chain[second])))
            if earlier != later and not tokens[earlier] & tokens[later]:
                chain[members[later]] = earlier
                members[earlier] += members[later]
                tokens[earlier] |= tokens[later]
                members[later] = []
    chains = []
    for places in members:
        if len(places) > 1:
            places.sort()
            chains.append([list(spans[place]) for place in places])
    return chains


class DocumentPairs(NamedTuple):
    """A document.

    Attributes:
        name: its name.
        linked: the mentions to be linked.
        trained: those that are trained on.
        examples: which pairs of these are.
    """

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
        name_once = cache(name_features)
        name, mentions, _, _ = self.document
        spans = [list(span) for span in mentions.spans]
        scored = iterate_scores(self.model, mentions)
        for second, (codes, scores, is_candidate) in enumerate(scored):
            for first in np.flatnonzero(is_candidate).tolist():
                pair = {"document": name, "first": spans[first], "second": spans[second]}
                features = name_once(int(codes[first]))
                yield {**pair, "features": features, "score": float(scores[first])}


def _learn_from_counts(method: str, documents: Sequence[DocumentPairs]) -> Callable[[int], Model]:
    """Return a function that trains on all documents but one, whose counts of codes are subtracted from all."""
    counts = [count_examples(document.trained, document.examples) for document in documents]
    total = np.sum(counts, axis=0)
    return lambda left_out: Model(score_codes(method, total - counts[left_out]))


def _learn_from_vectors(method: str, documents: Sequence[DocumentPairs]) -> Callable[[int], Model]:
    """Return a function that trains on all documents but one: on single examples, since vectors make each different."""
    examples: dict[int, tuple[NDArray[Any], ...]] = {}
    values = []
    n_before = 0
    for number, (_, _, mentions, (first, second, is_positive)) in enumerate(documents):
        if mentions.vectors is not None:
            codes = encode_pairs(mentions, first, second)
            cosines = find_cosines(mentions.vectors, first, second)
            places = (first + n_before, second + n_before)
            examples[number] = (is_positive, codes, *places, *cosines)
            values.append(mentions.vectors.values)
            n_before += len(mentions)
    vectors = np.concatenate(values)

    def train(left_out: int) -> Model:
        used = [examples[number] for number in examples if number != left_out]
        is_positive, codes, first, second, *cosines = map(np.concatenate, zip(*used, strict=True))
        matrix = PairMatrix(codes, first, second, np.stack(cosines), vectors)
        return fit_pairs(method, matrix, is_positive)

    return train


def _read_vectors(learner: ChainLearner, documents: Sequence[Sequence[Token]]) -> Vectors | None:
    """Read the vectors that the features need; None if they need none."""
    if learner.features == "T" and learner.vectors is None:
        return None
    if learner.features == "T":
        raise RequestError("features T use no word vectors (expected TF or TP)")
    if learner.vectors is None:
        raise RequestError(
            f"features {learner.features} need word vectors "
            f"(expected a file with {name_option('vectors')})"
        )
    n_components = N_COMPONENTS if learner.features == "TP" else None
    vectors = read_vectors(learner.vectors, find_words(documents), n_components=n_components)
    if not vectors.words:
        raise FormatError(
            learner.vectors,
            [
                Problem(
                    "has no word of the documents "
                    "(expected words in lower case, without suffixes after an apostrophe)"
                )
            ],
        )
    return vectors


def select_documents(records: Sequence[Record], only: Collection[str]) -> Sequence[Record]:
    """Return the documents of these names, in the order of the records; all if there are no names."""
    names = [record["document"] for record in records]
    unknown = [name for name in dict.fromkeys(only) if name not in names]
    if unknown:
        message = "".join(f"no such document: {quote(name)}; " for name in unknown[:-1])
        raise RequestError(message + describe_unknown("document", unknown[-1], names))
    return [record for record in records if record["document"] in only] if only else records


def predict(records: Sequence[Record], method: str, learner: ChainLearner) -> Iterator[Prediction]:
    """Predict documents, or only some, each by a model that is trained on all others; in the order of the records.

    The method is "svc" (link a mention with all that the classifier says) or "svr" (link it with the best one).
    """
    wanted = {record["document"] for record in select_documents(records, learner.only)}
    if len(records) < 2:
        raise RequestError(
            f"there is only {pluralize(len(records), 'document')} (expected two or more, to leave one out)"
        )
    documents, has_vectors = _describe_documents(records, learner)
    learn = _learn_from_vectors if has_vectors else _learn_from_counts
    train = learn(method, documents)
    for number, document in enumerate(documents):
        if document.name not in wanted:
            continue
        try:
            model = train(number)
        except ValueError as error:
            documents_named = f"document {quote(document.name)} on the other documents"
            raise RequestError(f"cannot train a model for {documents_named}: {error}") from None
        scored = iterate_scores(model, document.linked)
        scores = ((scores, is_candidate) for _, scores, is_candidate in scored)
        yield Prediction(document, model, build_chains(method, document.linked.spans, scores))


def _describe_documents(
    records: Sequence[Record], learner: ChainLearner
) -> tuple[list[DocumentPairs], bool]:
    """Return the mentions and the examples of documents, and whether there are word vectors."""
    pronouns = PRONOUNS if learner.pronouns is None else read_pronouns(learner.pronouns)
    tokens_by_document = [read_tokens(record) for record in records]
    vectors = _read_vectors(learner, tokens_by_document)
    documents = []
    for record, tokens in zip(records, tokens_by_document, strict=True):
        name = record["document"]
        chains = list_gold(record)
        with name_documents([name]):
            if learner.mentions == "predicted":
                detected = detect_mentions(tokens, learner.derived_modifiers)
                wrong = draw_wrong(name, chains, detected, learner.seed)
                spans = sorted([*chains, *wrong], key=document_order)
                linked = describe_mentions(tokens, detected, pronouns, vectors)
                trained = describe_mentions(tokens, spans, pronouns, vectors)
            else:
                spans = list(chains)
                linked = trained = describe_mentions(tokens, spans, pronouns, vectors)
        documents.append(DocumentPairs(name, linked, trained, list_examples(spans, chains)))
    return documents, vectors is not None


def predict_mentions(
    records: Sequence[Record], *, derived_modifiers: str = "exclude"
) -> list[Record]:
    """Detect the mentions of documents, each in a chain of its own."""
    rows = []
    for record in records:
        spans = detect_mentions(read_tokens(record), derived_modifiers)
        clusters = [[list(span)] for span in spans]
        rows.append({"document": record["document"], "clusters": clusters})
    return rows
