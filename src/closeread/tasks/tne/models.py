"""Models of links between noun phrases: training them, and predicting with them.

Source: Elazar, Basmov, Goldberg and Tsarfaty (2021, preprint), section 8.

Conventions: a span is a noun phrase with all its words.  Where gold gives several prepositions to a pair, a model
learns the last one, as the authors' does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from closeread.corpus.gold import Gold
from closeread.counts.results import Result
from closeread.exceptions import RequestError, fill_options
from closeread.neural.run_files import SHOWN as DRAWN
from closeread.neural.run_files import read_run
from closeread.records import Record
from closeread.tables import Grid, Style, percent
from closeread.tasks.tne.links import LABELS, PREPOSITIONS, SCORED, list_links, sort_key
from closeread.tasks.tne.phrases import list_phrases, require_layer
from closeread.tasks.tne.procedure import PROCEDURE, count

if TYPE_CHECKING:
    from closeread.neural.devices import Hardware
    from closeread.neural.links import Examples, LabeledPairs, PredictedPairs, Spans
    from closeread.tasks.tne.operations import LinkModelSettings


def find_spans(documents: Sequence[Record]) -> Spans:
    """Return the noun phrases of documents as spans of their tokens."""
    from closeread.neural.links import Spans

    for name in ("tokens", "nps"):
        require_layer(documents, name, name, "a model needs them")
    words = [document["tokens"] for document in documents]
    starts = [0]
    first_tokens = []
    last_tokens = []
    for document in documents:
        last_token = len(document["tokens"]) - 1
        for phrase in list_phrases(document):
            last = min(phrase["last_token"], last_token)
            first_tokens.append(min(phrase["first_token"], last))
            last_tokens.append(last)
        starts.append(len(first_tokens))
    columns = [np.array(column, np.int64) for column in (starts, first_tokens, last_tokens)]
    return Spans(words, *columns)


def find_links(documents: Sequence[Record]) -> LabeledPairs:
    """Return the gold links of documents, each pair once, sorted."""
    from closeread.neural.links import LabeledPairs

    require_layer(documents, "np_relations", *SCORED)
    rows: list[tuple[int, int, int, int]] = []
    for number, document in enumerate(documents):
        labels = dict(list_links(document["np_relations"]))
        pairs = sorted(labels, key=sort_key)
        rows += [(number, *sort_key(pair), LABELS[labels[pair]]) for pair in pairs]
    return LabeledPairs(*np.array(rows, np.int64).reshape(-1, 4).T)


def score_links(
    documents: Sequence[Record], predicted: PredictedPairs
) -> Mapping[str, float | None]:
    """Return the scores of predictions by their names, from 0 to 1; None for those that are undefined."""
    table = count(gold=documents, system=to_rows(documents, predicted))
    return table.scores(PROCEDURE.metrics)


def to_rows(
    documents: Sequence[Record],
    predicted: PredictedPairs,
    *,
    link_all: bool = False,
    fallbacks: bool = True,
) -> list[Record]:
    """Return predictions as rows of a submission, one per document."""
    rows: list[Record] = []
    for document in documents:
        row: Record = {"id": document["id"], "relations": []}
        if fallbacks:
            row["fallback"] = []
        rows.append(row)
    n_phrases = max((len(document["nps"]) for document in documents), default=0)
    names = [f"np{number}" for number in range(n_phrases)]
    is_relation = predicted.is_linked | link_all
    columns = (*predicted[:4], is_relation)
    lists = [column.tolist() for column in columns]
    for document, anchor, complement, label, is_linked in zip(*lists, strict=True):
        if not (is_linked or fallbacks):
            continue
        ends = {"anchor": names[anchor], "complement": names[complement]}
        link = {**ends, "preposition": PREPOSITIONS[label]}
        rows[document]["relations" if is_linked else "fallback"].append(link)
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
"""The score on validation documents by which the best epoch is chosen."""

TASK = "tne"


def train(
    training: Gold, validation: Gold, run: Path, settings: LinkModelSettings, *, resume: bool
) -> None:
    """Train a model of links in a folder, which `predict` reads.

    Raises:
        RequestError: a setting doesn't fit the encoder, or no document has a pair to learn from or to score.
    """
    _require_pairs(training.records, "training")
    _require_pairs(validation.records, "validation")
    from closeread.neural.links import LinkChoice, parse_encoder, train_links
    from closeread.neural.run_folders import RunFolder

    kind, name = parse_encoder(settings.encoder)
    if settings.encoder_dropout is not None and kind != "tuned":
        requirement = "{encoder_dropout} applies only to a fine-tuned encoder"
        raise RequestError(fill_options(f"{requirement} (this one is {kind})"))
    labels = ["no link", *PREPOSITIONS[1:]]
    train_links(
        RunFolder(run),
        LinkChoice(settings.variant, kind, name, labels, settings.encoder_dropout),
        settings,
        _make_examples(training),
        _make_examples(validation),
        score=partial(score_links, validation.records),
        criterion=CRITERION,
        metadata={"task": TASK},
        resume=resume,
    )


def _require_pairs(documents: Sequence[Record], purpose: str) -> None:
    """Refuse documents without any pair of noun phrases."""
    require_layer(documents, "nps", "nps", "a model needs them")
    if not any(len(document["nps"]) > 1 for document in documents):
        raise RequestError(
            f"{purpose} has no document with two noun phrases (expected at least one)"
        )


def _make_examples(gold: Gold) -> Examples:
    from closeread.neural.links import Examples

    return Examples(find_spans(gold.records), find_links(gold.records), gold.digest)


def predict(
    gold: Gold, run: Path, hardware: Hardware, *, decoding: str = "links", fallbacks: bool = True
) -> list[Record]:
    """Predict the links of documents, and return the rows of a submission."""
    predicted = _predict_pairs(gold.records, run, hardware)
    return to_rows(gold.records, predicted, link_all=decoding == "printed", fallbacks=fallbacks)


def _predict_pairs(documents: Sequence[Record], run: Path, hardware: Hardware) -> PredictedPairs:
    """Return the predictions of a trained model for all pairs of noun phrases."""
    from closeread.neural.links import load_system
    from closeread.neural.run_folders import RunFolder

    read_run(run, TASK)
    spans = find_spans(documents)
    return load_system(RunFolder(run), spans, hardware).predict(spans)
