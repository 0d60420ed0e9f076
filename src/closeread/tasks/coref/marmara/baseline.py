"""The baseline of the corpus: every document by a model that is trained on all the others.

Conventions: records are documents of the corpus; rows of the result have the fields `document` and `clusters`.
Mentions are those of one document, in document order, and count from 0.  Two mentions that share a token are never in
one chain.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from closeread.arrays import Floats, Ints, Mask
from closeread.counts.procedure import name_documents
from closeread.exceptions import FormatError, Problem, RequestError, describe_unknown, name_option, pluralize, quote
from closeread.records import Record
from closeread.tasks.coref.marmara.conll import format_document, make_rows
from closeread.tasks.coref.marmara.documents import Span, Token, document_order, read_tokens
from closeread.tasks.coref.marmara.learning import PairMatrix, PairWeights, fit_pairs, score_codes
from closeread.tasks.coref.marmara.mentions import PRONOUNS, detect_mentions, read_pronouns
from closeread.tasks.coref.marmara.pairs import (
    Codes,
    Mentions,
    Pairs,
    count_examples,
    describe_mentions,
    draw_wrong,
    encode_pairs,
    list_examples,
    list_gold,
    mark_candidates,
    name_features,
)
from closeread.tasks.coref.marmara.vectors import (
    N_COMPONENTS,
    Vectors,
    find_cosines,
    find_words,
    read_vectors,
)

if TYPE_CHECKING:
    from closeread.tasks.coref.marmara.operations import Learner


THRESHOLDS = {"svc": 0.0, "svr": 0.1}
"""The scores above which a pair is linked."""


class Chains:
    """The chains of a document, at first one a mention."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self.chain: Ints = np.arange(len(spans))
        """The chain of each mention, (n_mentions,)."""
        self._spans = spans
        self._members = [[place] for place in range(len(spans))]
        # The tokens of a chain as bits of one number, so that two chains overlap if they have a bit in common.
        self._tokens = [(1 << end + 1) - (1 << start) for start, end in spans]

    def link(self, first: int, second: int) -> None:
        """Join the chains of two mentions, unless mentions of theirs overlap."""
        kept, joined = sorted((int(self.chain[first]), int(self.chain[second])))
        if kept == joined or self._tokens[kept] & self._tokens[joined]:
            return
        self.chain[self._members[joined]] = kept
        self._members[kept] += self._members[joined]
        self._tokens[kept] |= self._tokens[joined]
        self._members[joined] = []

    def list_chains(self) -> list[list[list[int]]]:
        """List the spans of chains of two or more mentions, as records of coreference have them."""
        return [
            [list(self._spans[place]) for place in sorted(members)] for members in self._members if len(members) > 1
        ]


def link_all(chains: Chains, second: int, scores: Floats, is_candidate: Mask) -> None:
    """Link a mention with all earlier ones whose score, (second,), is positive and that it may be linked with."""
    linked = np.flatnonzero(is_candidate & (scores > THRESHOLDS["svc"]))[::-1]
    # One mention of a chain stands for all: what overlapped still overlaps when the chains have grown.
    _, nearest = np.unique(chains.chain[linked], return_index=True)
    for first in linked[np.sort(nearest)].tolist():
        chains.link(first, second)


def link_best(chains: Chains, second: int, scores: Floats, is_candidate: Mask) -> None:
    """Link a mention with the earlier one of the best score, the nearest of equals, if that is above the threshold."""
    allowed = np.where(is_candidate, scores, -np.inf)[::-1]
    if len(allowed) and allowed[best := int(np.argmax(allowed))] > THRESHOLDS["svr"]:
        chains.link(second - 1 - best, second)


_CELLS = 2**18
"""How many pairs are scored at a time."""


class Model(NamedTuple):
    """A trained model: the score of each code, and the weights of vectors if it was trained with any."""

    codes: Floats
    weights: PairWeights | None


def iterate_scores(model: Model, mentions: Mentions) -> Iterator[tuple[Codes, Floats, Mask]]:
    """Yield the codes and scores of each mention's pairs with all earlier ones, and which may be linked."""
    start, n = 0, len(mentions)
    while start < n:
        stop = min(n, start + max(1, _CELLS // n))
        second, first = np.arange(start, stop)[:, None], np.arange(stop - 1)[None, :]
        codes = encode_pairs(mentions, first, second)
        values = model.codes[codes]
        vectors = mentions.vectors
        if model.weights is not None and vectors is not None:
            head, mean = model.weights.cosines
            firsts, seconds = slice(stop - 1), slice(start, stop)
            values += head * (vectors.head[seconds] @ vectors.head[firsts].T)
            values += mean * (vectors.mean[seconds] @ vectors.mean[firsts].T)
            values += vectors.values[firsts] @ model.weights.first
            values += (vectors.values[seconds] @ model.weights.second)[:, None]
        allowed = mark_candidates(mentions, first, second)
        for row, n_earlier in enumerate(range(start, stop)):
            yield codes[row, :n_earlier], values[row, :n_earlier], allowed[row, :n_earlier]
        start = stop


def build_chains(learner: str, model: Model, mentions: Mentions) -> list[list[list[int]]]:
    """Return the chains of two or more mentions: of all links of the classifier, or the best of the regression."""
    link = link_all if learner == "svc" else link_best
    chains = Chains(mentions.spans)
    for second, (_, scores, is_candidate) in enumerate(iterate_scores(model, mentions)):
        link(chains, second, scores, is_candidate)
    return chains.list_chains()


class Prepared(NamedTuple):
    """A document: its name, the mentions to be linked, those that are trained on, and which pairs of these."""

    name: str
    linked: Mentions
    trained: Mentions
    examples: Pairs


class Prediction(NamedTuple):
    """The chains of a document, and what they were made with."""

    document: Prepared
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
        for second, (codes, scores, allowed) in enumerate(iterate_scores(self.model, self.document.linked)):
            columns = (np.flatnonzero(allowed), codes[allowed], scores[allowed])
            for first, code, score in zip(*(column.tolist() for column in columns), strict=True):
                pair = {"document": self.document.name, "first": spans[first], "second": spans[second]}
                yield {**pair, "features": named(code), "score": score}


def _learn_from_counts(method: str, documents: Sequence[Prepared]) -> Callable[[int], Model]:
    """Return what trains on all documents but one: the counts of their codes are a difference."""
    counts = [count_examples(one.trained, one.examples) for one in documents]
    total = np.sum(counts, axis=0)
    return lambda left_out: Model(score_codes(method, total - counts[left_out]), None)


def _learn_from_vectors(method: str, documents: Sequence[Prepared]) -> Callable[[int], Model]:
    """Return what trains on all documents but one: on all examples, since vectors make each different."""
    offsets = np.cumsum([0, *(len(one.trained) for one in documents)]).tolist()
    values, columns = [], []
    for number, (_, _, mentions, pairs) in enumerate(documents):
        if mentions.vectors:
            values.append(mentions.vectors.values)
            codes = encode_pairs(mentions, pairs.first, pairs.second)
            cosines = find_cosines(mentions.vectors, pairs.first, pairs.second)
            first, second = pairs.first + offsets[number], pairs.second + offsets[number]
            columns.append((codes, first, second, *cosines, pairs.is_positive, np.full(len(first), number)))
    codes, first, second, head, mean, is_positive, document = map(np.concatenate, zip(*columns, strict=True))
    cosines, of_mentions = np.stack([head, mean]), np.concatenate(values)

    def train(left_out: int) -> Model:
        kept = document != left_out
        matrix = PairMatrix(codes[kept], first[kept], second[kept], cosines[:, kept], of_mentions)
        weights = fit_pairs(method, matrix, is_positive[kept])
        return Model(weights.codes, weights)

    return train


def _read_vectors(learner: Learner, documents: Sequence[Sequence[Token]]) -> Vectors | None:
    """Read the vectors that the features need; None if they need none."""
    if learner.features == "T":
        if learner.vectors is not None:
            raise RequestError("features T use no word vectors (expected TF or TP)")
        return None
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


def predict(records: Sequence[Record], method: str, learner: Learner) -> Iterator[Prediction]:
    """Predict documents, or only some, each by a model that is trained on all others; in the order of the records.

    The method is "svc" (link a mention with all that the classifier says) or "svr" (link it with the best one).  The
    result does not depend on the number of threads (`jobs`).
    """
    wanted = {record["document"] for record in select_documents(records, learner.only)}
    if len(records) < 2:
        raise RequestError(
            f"there is only {pluralize(len(records), 'document')} (expected two or more, to leave one out)"
        )
    pronouns = PRONOUNS if learner.pronouns is None else read_pronouns(learner.pronouns)
    tokens = [read_tokens(record) for record in records]
    vectors = _read_vectors(learner, tokens)

    def prepare(record: Record, of_record: Sequence[Token]) -> Prepared:
        name, chains = record["document"], list_gold(record)
        gold = list(chains)
        if learner.mentions == "gold":
            described = describe_mentions(of_record, gold, pronouns, vectors)
            return Prepared(name, described, described, list_examples(gold, chains))
        detected = detect_mentions(of_record, learner.derived_modifiers)
        trained = sorted([*gold, *draw_wrong(name, chains, detected, learner.seed)], key=document_order)
        linked, examples = describe_mentions(of_record, detected, pronouns, vectors), list_examples(trained, chains)
        return Prepared(name, linked, describe_mentions(of_record, trained, pronouns, vectors), examples)

    documents = []
    for record, of_record in zip(records, tokens, strict=True):
        with name_documents([record["document"]]):
            documents.append(prepare(record, of_record))
    train = (_learn_from_vectors if vectors else _learn_from_counts)(method, documents)

    def predict_one(number: int) -> Prediction:
        document = documents[number]
        try:
            model = train(number)
        except ValueError as error:
            found = f"cannot train a model for document {quote(document.name)} on the other documents"
            raise RequestError(f"{found}: {error}") from None
        return Prediction(document, model, build_chains(method, model, document.linked))

    numbers = [number for number, record in enumerate(records) if record["document"] in wanted]
    if learner.jobs == 1:
        yield from map(predict_one, numbers)
        return
    with ThreadPoolExecutor(learner.jobs) as pool:
        yield from pool.map(predict_one, numbers)


def predict_mentions(records: Sequence[Record], *, derived_modifiers: str = "exclude") -> list[Record]:
    """Detect the mentions of documents, each in a chain of its own."""
    detected = ((record["document"], detect_mentions(read_tokens(record), derived_modifiers)) for record in records)
    return [{"document": name, "clusters": [[list(span)] for span in spans]} for name, spans in detected]


def dump_conll(records: Sequence[Record], rows: Sequence[Record]) -> str:
    """Return predictions for some records of the corpus as CoNLL, with their sentences."""
    sentences = {record["document"]: record["sentences"] for record in records}
    try:
        return "".join(
            format_document(row["document"], make_rows(sentences[row["document"]]), row["clusters"]) for row in rows
        )
    except ValueError as error:
        raise RequestError(f"{error}; choose a file name that ends in .jsonl") from None
