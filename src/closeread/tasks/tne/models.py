"""Models of links between noun phrases: training them, and predicting with them.

Source: Elazar, Basmov, Goldberg and Tsarfaty (2021, preprint), section 8.

Conventions: a span is a noun phrase with all its words.  Where gold gives several prepositions to a pair, a model
learns the last one, as the authors' does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from closeread.corpus.gold import Gold
from closeread.counts.results import Result
from closeread.counts.table import CountTable
from closeread.exceptions import RequestError, fill_options
from closeread.neural.run_files import SHOWN as DRAWN
from closeread.neural.run_files import read_run
from closeread.records import Record
from closeread.tables import Grid, Style, percent
from closeread.tasks.tne.columns import (
    COUNTS,
    PREPOSITIONS,
    SCORED,
    Documents,
    count_by_group,
    document_of,
    documents_of,
    group_labels,
    pairs,
    phrases_of,
    tallies,
)
from closeread.tasks.tne.procedure import PROCEDURE

if TYPE_CHECKING:
    from closeread.neural.devices import Hardware
    from closeread.neural.links import Examples, LabeledPairs, PredictedPairs, Spans
    from closeread.tasks.tne.operations import LinkModelSettings


def find_spans(documents: Documents) -> Spans:
    """Return the noun phrases of documents as spans of their tokens."""
    from closeread.neural.links import Spans

    for name in ("tokens", "nps"):
        documents.require(name, name, "a model needs them")
    phrases = documents.noun_phrases
    words = documents.column("tokens")
    n_words = np.array([len(tokens) for tokens in words], np.int64)[phrases.document]
    last = np.minimum(phrases.last_token, n_words - 1)
    return Spans(words, phrases.starts, np.minimum(phrases.first_token, last), last)


def find_links(documents: Documents) -> LabeledPairs:
    """Return the gold links of documents, each pair once."""
    from closeread.neural.links import LabeledPairs

    documents.require("np_relations", *SCORED)
    labeled = documents.links.labeled
    return LabeledPairs(document_of(labeled.pair), *phrases_of(labeled.pair), labeled.last)


def score_links(
    documents: Documents, predicted: Iterator[PredictedPairs]
) -> Mapping[str, float | None]:
    """Return the scores of predictions by their names, from 0 to 1; None for those that are undefined."""
    packed = []
    for part in predicted:
        pair = pairs(part.document, part.anchor, part.complement)
        packed.append((pair, part.label, part.is_linked))
    pair, label, is_linked = (np.concatenate(column) for column in zip(*packed, strict=True))
    system = group_labels(pair[is_linked], label[is_linked])
    fallback = group_labels(pair[~is_linked], label[~is_linked])
    tally = tallies(system, documents.links.labeled, fallback)
    counts = count_by_group(tally, len(documents))[0]
    table = CountTable(documents.column("id"), np.arange(len(documents)), COUNTS, counts)
    return table.scores(PROCEDURE.metrics)


def to_rows(
    documents: Documents,
    predicted: Iterator[PredictedPairs],
    *,
    link_all: bool = False,
    fallbacks: bool = True,
) -> list[Record]:
    """Return predictions as rows of a submission, one per document."""
    rows: list[Record] = []
    for name in documents.column("id"):
        row: Record = {"id": name, "relations": []}
        if fallbacks:
            row["fallback"] = []
        rows.append(row)
    names = [f"np{number}" for number in range(int(documents.sizes.max(initial=0)))]
    for part in predicted:
        is_linked = part.is_linked | link_all
        columns = (part.document, part.anchor, part.complement, part.label, is_linked)
        lists = [column.tolist() for column in columns]
        for document, anchor, complement, label, is_relation in zip(*lists, strict=True):
            if not (is_relation or fallbacks):
                continue
            ends = {"anchor": names[anchor], "complement": names[complement]}
            link = {**ends, "preposition": PREPOSITIONS[label]}
            rows[document]["relations" if is_relation else "fallback"].append(link)
    return rows


SHOWN = ("links/precision", "links/recall", "links/f1", "unlabeled/f1", "iprep", "uprep")


@dataclass(frozen=True, repr=False)
class TrainedLinkModel(Result):
    """The results of a training run.

    Attributes:
        folder: of the run.
        run: what its `run.json` holds.
    """

    folder: Path
    run: Mapping[str, Any]

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read it from its folder."""
        return cls(folder, read_run(folder))

    @property
    def best(self) -> Mapping[str, Any]:
        """The scores on validation of the best epoch, from 0 to 1, and its number, `epoch`."""
        best: Mapping[str, Any] = self.run["best"]
        return best

    def __repr__(self) -> str:
        return f"<TrainedLinkModel {self.folder}: best epoch {self.best['epoch']} of {len(self.run['epochs'])}>"

    def describe(self) -> str:
        """The scores of the best epoch, in a line."""
        best = self.best
        names = [name for name in DRAWN if best.get(name) is not None]
        scores = [f"{name} {100 * best[name]:.1f}" for name in names]
        epoch = f"{self.folder}: best epoch {best['epoch']} of {len(self.run['epochs'])}"
        return ", ".join([epoch, *scores])

    def _to_grids(self, style: Style = "table") -> Iterator[Grid]:
        """Yield the table of epochs."""
        del style
        titles = {metric.name: metric.title for metric in PROCEDURE.metrics}
        rows = []
        for epoch in self.run["epochs"]:
            scores = [percent(epoch["scores"][name]) for name in SHOWN]
            rows.append([str(epoch["number"]), f"{epoch['loss']:.4f}", *scores])
        header = ["epoch", "loss", *(titles[name] for name in SHOWN)]
        title = f"Scores on validation; the best epoch is {self.best['epoch']}"
        yield Grid(title, header, rows, labels=1)

    def _to_rows(self) -> tuple[list[str], list[list[object]]]:
        """Return a row for each epoch, with all scores from 0 to 1."""
        names = [metric.name for metric in PROCEDURE.metrics]
        rows = []
        for epoch in self.run["epochs"]:
            scores = map(epoch["scores"].get, names)
            rows.append([epoch["number"], epoch["loss"], epoch["seconds"], *scores])
        return ["epoch", "loss", "seconds", *names], rows

    def to_dict(self) -> dict[str, Any]:
        """Return the content of `run.json`."""
        return dict(self.run)


CRITERION = "links/f1"
"""The score on held-out documents by which the best epoch is chosen."""

TASK = "tne"


def train(
    training: Gold, validation: Gold, run: Path, settings: LinkModelSettings, *, resume: bool
) -> None:
    """Train a model of links in a folder, which `predict` reads.

    Raises:
        RequestError: a setting doesn't fit the encoder, or no document has a pair to learn from or to score.
    """
    training_documents = documents_of(training.records)
    validation_documents = documents_of(validation.records)
    _require_pairs(training_documents, "training")
    _require_pairs(validation_documents, "validation")
    from closeread.neural.links import LinkChoice, parse_encoder, train_links
    from closeread.neural.run_folders import RunFolder

    kind, name = parse_encoder(settings.encoder)
    if settings.encoder_dropout is not None and kind != "tuned":
        requirement = "{encoder_dropout} applies only to a fine-tuned encoder"
        raise RequestError(fill_options(f"{requirement} (this one is {kind})"))
    train_links(
        RunFolder(run),
        LinkChoice(settings.variant, kind, name, len(PREPOSITIONS), settings.encoder_dropout),
        settings,
        _make_examples(training_documents, training),
        _make_examples(validation_documents, validation),
        score=partial(score_links, validation_documents),
        criterion=CRITERION,
        about={"task": TASK},
        resume=resume,
    )


def _require_pairs(documents: Documents, purpose: str) -> None:
    """Refuse documents without any pair of noun phrases."""
    documents.require("nps", "nps", "a model needs them")
    if documents.sizes.max(initial=0) < 2:
        raise RequestError(
            f"{purpose} has no document with two noun phrases (expected at least one)"
        )


def _make_examples(documents: Documents, gold: Gold) -> Examples:
    from closeread.neural.links import Examples

    return Examples(find_spans(documents), find_links(documents), gold.digest)


def predict(
    gold: Gold, run: Path, hardware: Hardware, *, decoding: str = "links", fallbacks: bool = True
) -> list[Record]:
    """Predict the links of documents, and return the rows of a submission."""
    documents = documents_of(gold.records)
    predicted = _predict_pairs(documents, run, hardware)
    return to_rows(documents, predicted, link_all=decoding == "printed", fallbacks=fallbacks)


def _predict_pairs(documents: Documents, run: Path, hardware: Hardware) -> Iterator[PredictedPairs]:
    """Yield the predictions of a trained model for all pairs of noun phrases."""
    from closeread.neural.links import load_system, predict_pairs
    from closeread.neural.run_folders import RunFolder
    from closeread.neural.training import use_precision

    read_run(run, TASK)
    spans = find_spans(documents)
    with use_precision(hardware):
        system = load_system(RunFolder(run), spans, hardware.device)
        yield from predict_pairs(system, spans, hardware.device)
