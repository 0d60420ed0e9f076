"""The baseline of the corpus: every document by a model that is trained on all the others.

Conventions: records are documents of the corpus; rows of the result have the fields `document` and `clusters`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from closeread.counts.procedure import name_documents
from closeread.exceptions import FormatError, Problem, RequestError, describe_unknown, name_option, pluralize, quote
from closeread.records import Record
from closeread.tasks.coref.marmara.conll import format_document, make_rows
from closeread.tasks.coref.marmara.documents import Token, document_order, read_tokens
from closeread.tasks.coref.marmara.learning import PairMatrix, fit_pairs, score_codes
from closeread.tasks.coref.marmara.linking import Model, build_chains, iterate_links
from closeread.tasks.coref.marmara.mentions import PRONOUNS, detect_in_tokens, detect_mentions, read_pronouns
from closeread.tasks.coref.marmara.pairs import (
    Mentions,
    Pairs,
    count_examples,
    describe_mentions,
    draw_wrong,
    encode_pairs,
    list_examples,
    list_gold,
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
        """Yield the candidate links of the document, with their features and scores."""
        return iterate_links(self.document.name, self.model, self.document.linked)


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
        detected = detect_in_tokens(of_record, learner.derived_modifiers)
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
    return [
        {
            "document": record["document"],
            "clusters": [[list(span)] for span in detect_mentions(record, derived_modifiers=derived_modifiers)],
        }
        for record in records
    ]


def dump_conll(records: Sequence[Record], rows: Sequence[Record]) -> str:
    """Return predictions for some records of the corpus as CoNLL, with their sentences."""
    sentences = {record["document"]: record["sentences"] for record in records}
    try:
        return "".join(
            format_document(row["document"], make_rows(sentences[row["document"]]), row["clusters"]) for row in rows
        )
    except ValueError as error:
        raise RequestError(f"{error}; choose a file name that ends in .jsonl") from None
