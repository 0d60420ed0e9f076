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
    from closeread.neural.links import Predictions, SpanDocument
    from closeread.tasks.tne.operations import LinkModelSettings


def find_spans(documents: Sequence[Record], *, with_links: bool = False) -> list[SpanDocument]:
    """Return documents with their noun phrases as spans of tokens, and with their gold links if a model learns from them."""
    from closeread.neural.links import SpanDocument

    for name in ("tokens", "nps"):
        require_layer(documents, name, name, "a model needs them")
    if with_links:
        require_layer(documents, "np_relations", *SCORED)
    found = []
    for document in documents:
        last_token = len(document["tokens"]) - 1
        spans = []
        for phrase in list_phrases(document):
            last = min(phrase["last_token"], last_token)
            spans.append((min(phrase["first_token"], last), last))
        links = {}
        if with_links:
            for pair, preposition in list_links(document["np_relations"]):
                links[sort_key(pair)] = LABELS[preposition]
        found.append(SpanDocument(document["tokens"], spans, links))
    return found


def score_links(
    documents: Sequence[Record], predictions: Predictions
) -> Mapping[str, float | None]:
    """Return the scores of predictions by their names, from 0 to 1; None for those that are undefined."""
    table = count(gold=documents, system=to_rows(documents, predictions))
    return table.scores(PROCEDURE.metrics)


def to_rows(
    documents: Sequence[Record],
    predictions: Predictions,
    *,
    link_all: bool = False,
    fallbacks: bool = True,
) -> list[Record]:
    """Return predictions as rows of a submission, one per document."""
    rows: list[Record] = []
    for document, pairs in zip(documents, predictions, strict=True):
        relations = []
        unlinked = []
        for pair in pairs:
            ends = {"anchor": f"np{pair.anchor}", "complement": f"np{pair.complement}"}
            link = {**ends, "preposition": PREPOSITIONS[pair.label]}
            if pair.is_linked or link_all:
                relations.append(link)
            else:
                unlinked.append(link)
        row: Record = {"id": document["id"], "relations": relations}
        if fallbacks:
            row["fallback"] = unlinked
        rows.append(row)
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
    data = {"training": training.digest, "validation": validation.digest}
    train_links(
        RunFolder(run),
        LinkChoice(settings.variant, kind, name, labels, settings.encoder_dropout),
        settings,
        find_spans(training.records, with_links=True),
        find_spans(validation.records, with_links=True),
        score=partial(score_links, validation.records),
        criterion=CRITERION,
        metadata={"task": TASK, "data": data},
        resume=resume,
    )


def _require_pairs(documents: Sequence[Record], purpose: str) -> None:
    """Refuse documents without any pair of noun phrases."""
    require_layer(documents, "nps", "nps", "a model needs them")
    if not any(len(document["nps"]) > 1 for document in documents):
        raise RequestError(
            f"{purpose} has no document with two noun phrases (expected at least one)"
        )


def predict(
    gold: Gold, run: Path, hardware: Hardware, *, decoding: str = "links", fallbacks: bool = True
) -> list[Record]:
    """Predict the links of documents, and return the rows of a submission."""
    from closeread.neural.links import predict_links
    from closeread.neural.run_folders import RunFolder

    read_run(run, TASK)
    documents = find_spans(gold.records)
    predictions = predict_links(RunFolder(run), documents, hardware)
    link_all = decoding == "printed"
    return to_rows(gold.records, predictions, link_all=link_all, fallbacks=fallbacks)
