"""Training models of links between noun phrases, and predicting with them.

Source: Elazar, Basmov, Goldberg and Tsarfaty (2021, preprint), section 8.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from closeread.corpus.gold import Gold
from closeread.exceptions import FormatError, Problem, RequestError
from closeread.records import Record
from closeread.tasks.tne.columns import PREPOSITIONS, Documents, documents_of
from closeread.tasks.tne.trained_links import find_links, find_spans, score_links, to_rows
from closeread.wording import fill_options

if TYPE_CHECKING:
    from closeread.neural.link_learning import PredictedPairs
    from closeread.neural.training import Setting

CRITERION = "links/f1"
"""The score on held-out documents by which the best epoch is chosen."""

TASK = "tne"


def train(
    training: Gold,
    validation: Gold,
    run: Path,
    *,
    encoder: str,
    setting: Setting,
    variant: str = "coupled",
    encoder_dropout: float | None = None,
    resume: bool,
) -> None:
    """Train a model of links in a folder, which `predict` reads.

    Args:
        training: documents with links to learn from.
        validation: documents with links on which every epoch is scored.
        run: a new folder; or that of a run to continue.
        encoder: as `closeread.neural.link_runs.parse_encoder` reads it.
        setting: how to train.
        variant: "coupled" or "decoupled".
        encoder_dropout: the dropout inside an encoder that is trained; None for its own.
        resume: continue the run that is in the folder, if there is one.

    Raises:
        RequestError: documents have no links, or the folder is in use by another run.
    """
    from closeread.neural.link_runs import Examples, LinkChoice, parse_encoder, train_links
    from closeread.neural.run_folders import RunFolder

    learnt, held_out = documents_of(training.records), documents_of(validation.records)
    kind, name = parse_encoder(encoder)
    if encoder_dropout is not None and kind != "tuned":
        raise RequestError(
            fill_options(f"{{encoder_dropout}} applies only to a fine-tuned encoder (this one is {kind})")
        )
    examples = (
        Examples(find_spans(documents), find_links(documents), gold.digest)
        for documents, gold in ((learnt, training), (held_out, validation))
    )
    train_links(
        RunFolder(run),
        LinkChoice(variant, kind, name, len(PREPOSITIONS), encoder_dropout),
        setting,
        *examples,
        score=lambda predicted: score_links(held_out, predicted),
        criterion=CRITERION,
        about={"task": TASK},
        resume=resume,
    )


def predict(
    gold: Gold,
    run: Path,
    *,
    decoding: str = "links",
    fallbacks: bool = True,
    device: str = "cpu",
    precision: str = "float32",
) -> list[Record]:
    """Predict the links of documents, and return the rows of a submission.

    Args:
        gold: the documents; their links are not looked at.
        run: the folder of a trained model.
        decoding: "links" or "printed".
        fallbacks: also give the most probable preposition of the pairs that are not linked, for UPrep.
        device: such as "cpu" or "cuda:0".
        precision: "float32" or "bfloat16".

    Raises:
        RequestError: documents have no tokens or noun phrases.
    """
    documents = documents_of(gold.records)
    predicted = _predict_pairs(documents, run, device, precision)
    return to_rows(documents, predicted, link_all=decoding == "printed", fallbacks=fallbacks)


def score_decodings(documents: Documents, run: Path) -> dict[str, Mapping[str, float | None]]:
    """Predict the links of documents with a trained model, and return the scores of each way to decode them.

    Args:
        documents: with gold links.
        run: the folder of a trained model.

    Returns:
        The scores by name, from 0 to 1, by each way of decoding: "links" and "printed".
    """
    from closeread.neural.devices import check_libraries, choose_device, choose_precision

    check_libraries("a trained model")
    device = choose_device(None)
    parts = list(_predict_pairs(documents, run, device, choose_precision("auto", device)))
    every = (part._replace(is_linked=np.ones_like(part.is_linked)) for part in parts)
    return dict(
        zip(("links", "printed"), (score_links(documents, iter(parts)), score_links(documents, every)), strict=True)
    )


def _predict_pairs(documents: Documents, run: Path, device: str, precision: str) -> Iterator[PredictedPairs]:
    """Yield the predictions of a trained model for all pairs of noun phrases.

    Raises:
        FormatError: the folder does not hold a run of this task, or it is damaged.
    """
    from closeread.neural.link_learning import predict_pairs
    from closeread.neural.link_runs import load_system
    from closeread.neural.run_files import RUN, read_run
    from closeread.neural.run_folders import RunFolder
    from closeread.neural.training import use_precision

    described = read_run(run)
    if described["task"] != TASK:
        raise FormatError(run / RUN, [Problem(f"is a run of {described['task']} (expected {TASK})")])
    spans = find_spans(documents)
    with use_precision(device, precision):
        yield from predict_pairs(load_system(RunFolder(run), spans, device), spans, device)
