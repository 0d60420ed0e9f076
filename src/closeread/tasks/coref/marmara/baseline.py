"""The baseline of the corpus: every document by a model that is trained on all the others.

Conventions: records are documents of the corpus; rows of the result have the fields `document` and `clusters`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from closeread.counts.procedure import name_documents
from closeread.exceptions import FormatError, Problem, RequestError, describe_unknown, name_option, pluralize, quote
from closeread.files import open_text, replacing
from closeread.formats.json_lines import dump_json_lines
from closeread.records import Record
from closeread.tasks.coref.marmara.conll import format_document, make_rows
from closeread.tasks.coref.marmara.documents import Tokens, document_order, read_tokens
from closeread.tasks.coref.marmara.learning import PairMatrix, fit_pairs, score_codes
from closeread.tasks.coref.marmara.linking import Model, build_chains, iterate_links
from closeread.tasks.coref.marmara.mentions import PRONOUNS, detect_in_tokens, detect_mentions
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
    MentionVectors,
    Vectors,
    find_cosines,
    find_words,
    look_up,
    read_vectors,
)


@dataclass(frozen=True)
class Settings:
    """How the baseline is run.

    Attributes:
        learner: "svc" (link a mention with all that the classifier says) or "svr" (link it with the best one).
        mentions: whose mentions are linked: those of "gold", or "predicted" ones.
        features: "T" (features of the treebank), "TF" (with word vectors, too) or "TP" (with their principal
            components, too).
        vectors: the file of word vectors, for TF and TP.
        pronouns: lemmas of pronouns, in lower case.
        derived_modifiers: as `detect_mentions`.
        seed: draws the wrong mentions that are trained on.
    """

    learner: str
    mentions: str = "gold"
    features: str = "T"
    vectors: Path | None = None
    pronouns: Collection[str] = PRONOUNS
    derived_modifiers: str = "exclude"
    seed: int = 0

    @property
    def notices(self) -> list[str]:
        """What is known to go wrong."""
        if (self.learner, self.mentions) != ("svc", "predicted"):
            return []
        return ["svc on predicted mentions links nearly all of them in a single chain (svr does not)"]


class Prepared(NamedTuple):
    """A document, ready to be trained on and to be predicted.

    Attributes:
        name: its name.
        mentions, vectors: the mentions that are to be linked, and their vectors.
        trained, trained_vectors: those that are trained on, and their vectors.
        examples: the pairs that are trained on.
    """

    name: str
    mentions: Mentions
    vectors: MentionVectors | None
    trained: Mentions
    trained_vectors: MentionVectors | None
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
        return iterate_links(self.document.name, self.model, self.document.mentions, self.document.vectors)


def _learn_from_counts(learner: str, documents: Sequence[Prepared]) -> Callable[[int], Model]:
    """Return what trains on all documents but one: the counts of their codes are a difference."""
    counts = [count_examples(one.trained, one.examples) for one in documents]
    total = np.sum(counts, axis=0)
    return lambda left_out: Model(score_codes(learner, total - counts[left_out]), None)


def _learn_from_vectors(learner: str, documents: Sequence[Prepared]) -> Callable[[int], Model]:
    """Return what trains on all documents but one: on all examples, since vectors make each different."""
    vectors = [one.trained_vectors for one in documents if one.trained_vectors is not None]
    offsets = np.cumsum([0, *(len(one.trained) for one in documents)])
    pairs = [one.examples for one in documents]
    values = np.concatenate([one.values for one in vectors])
    first = np.concatenate([one.first + offset for one, offset in zip(pairs, offsets, strict=False)])
    second = np.concatenate([one.second + offset for one, offset in zip(pairs, offsets, strict=False)])
    is_positive = np.concatenate([one.is_positive for one in pairs])
    codes = np.concatenate([encode_pairs(one.trained, one.examples.first, one.examples.second) for one in documents])
    cosines = np.hstack([find_cosines(of, one.first, one.second) for of, one in zip(vectors, pairs, strict=True)])
    document = np.repeat(np.arange(len(documents)), [len(one.first) for one in pairs])

    def train(left_out: int) -> Model:
        kept = document != left_out
        matrix = PairMatrix(codes[kept], first[kept], second[kept], cosines[:, kept], values)
        weights = fit_pairs(learner, matrix, is_positive[kept])
        return Model(weights.codes, weights)

    return train


def _read_vectors(settings: Settings, documents: Sequence[Tokens]) -> Vectors | None:
    """Read the vectors that the features need; None if they need none."""
    if settings.features == "T":
        if settings.vectors is not None:
            raise RequestError("features T use no word vectors (expected TF or TP)")
        return None
    if settings.vectors is None:
        expected = f"expected a file with {name_option('vectors')}"
        raise RequestError(f"features {settings.features} need word vectors ({expected})")
    n_components = N_COMPONENTS if settings.features == "TP" else None
    vectors = read_vectors(settings.vectors, find_words(documents), n_components=n_components)
    if not vectors.words:
        expected = "expected words in lower case, without suffixes after an apostrophe"
        raise FormatError(settings.vectors, [Problem(f"has no word of the documents ({expected})")])
    return vectors


def _prepare(record: Record, tokens: Tokens, vectors: Vectors | None, settings: Settings) -> Prepared:
    """Return what the models need of a document."""
    with name_documents([record["document"]]):
        chains = list_gold(record)
        linked = trained = list(chains)
        if settings.mentions == "predicted":
            linked = detect_in_tokens(tokens, settings.derived_modifiers)
            wrong = draw_wrong(record["document"], chains, linked, settings.seed)
            trained = sorted([*chains, *wrong], key=document_order)
        of_linked = describe_mentions(tokens, linked, settings.pronouns)
        of_trained = of_linked if trained is linked else describe_mentions(tokens, trained, settings.pronouns)
        return Prepared(
            record["document"],
            of_linked,
            look_up(tokens, of_linked, vectors) if vectors else None,
            of_trained,
            look_up(tokens, of_trained, vectors) if vectors else None,
            list_examples(trained, chains),
        )


def select_documents(records: Sequence[Record], only: Collection[str]) -> Sequence[Record]:
    """Return the documents of these names, in the order of the records; all if there are no names."""
    names = [record["document"] for record in records]
    if unknown := [name for name in dict.fromkeys(only) if name not in names]:
        found = "".join(f"no such document: {quote(name)}; " for name in unknown[:-1])
        raise RequestError(found + describe_unknown("document", unknown[-1], names))
    return [record for record in records if record["document"] in only] if only else records


def predict(
    records: Sequence[Record], settings: Settings, *, only: Collection[str] = (), jobs: int = 1
) -> Iterator[Prediction]:
    """Predict documents, or only some, each by a model that is trained on all others; in the order of the records.

    The result does not depend on the number of threads (`jobs`).
    """
    wanted = {record["document"] for record in select_documents(records, only)}
    if len(records) < 2:
        raise RequestError(
            f"there is only {pluralize(len(records), 'document')} (expected two or more, to leave one out)"
        )
    tokens = [read_tokens(record) for record in records]
    vectors = _read_vectors(settings, tokens)
    documents = [_prepare(record, of, vectors, settings) for record, of in zip(records, tokens, strict=True)]
    learner = settings.learner
    train = (_learn_from_vectors if vectors else _learn_from_counts)(learner, documents)

    def predict_one(number: int) -> Prediction:
        document = documents[number]
        try:
            model = train(number)
        except ValueError as error:
            found = f"cannot train a model for document {quote(document.name)} on the other documents"
            raise RequestError(f"{found}: {error}") from None
        return Prediction(document, model, build_chains(learner, model, document.mentions, document.vectors))

    numbers = [number for number, record in enumerate(records) if record["document"] in wanted]
    if jobs == 1:
        yield from map(predict_one, numbers)
        return
    with ThreadPoolExecutor(jobs) as pool:
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


@contextmanager
def writing_links(path: Path | None) -> Iterator[Callable[[Prediction], None]]:
    """Yield what writes the candidate links of a prediction to a file (JSON Lines), if there is one.

    The file appears if the block succeeds.
    """
    if path is None:
        yield lambda prediction: None
        return
    with replacing(path) as partial, open_text(partial, path) as file:
        # One by one: a document may have hundreds of thousands.
        yield lambda prediction: file.writelines(dump_json_lines([link]) for link in prediction.iterate_links())
