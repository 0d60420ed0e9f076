"""Zeros next to CorefUD's scorer: its anaphor-decomposable score of zeros is MUC in the slice of zeros."""

import json
from pathlib import Path

import numpy as np
import pytest
from agreed import corefud_anaphors as maker
from shared.coreference_tables import make_documents

from closeread.tasks.coref.procedure import PROCEDURE

AGREED = Path(__file__).parent.parent / "agreed"
FIGURES = json.loads((AGREED / "corefud_anaphors.json").read_text("utf-8"))["said"]


def side_of(documents, side):
    """Return one side of the documents as the reader of CorefUD files would."""
    clusters = []
    for document in documents:
        entities = {}
        for token, entity in getattr(document, side).items():
            entities.setdefault(entity, []).append([token, token])
        clusters.append(list(entities.values()))
    empty = [
        (i, token)
        for i, document in enumerate(documents)
        for token, it in enumerate(document.empty)
        if it
    ]
    return make_documents(clusters, empty=empty)


def test_there_are_zeros_of_every_quality():
    zeros = {tuple(scores["zero"]) for scores in FIGURES.values()}
    assert len(FIGURES) == maker.N_PAIRS
    assert len(zeros) > 20
    assert sum(scores["zero"] != scores["muc"] for scores in FIGURES.values()) > 50


@pytest.mark.parametrize("seed", range(maker.N_PAIRS))
def test_scores(seed):
    documents = maker.random_documents(seed)
    procedure = PROCEDURE.with_metrics("muc")
    counted = procedure.count(
        gold=side_of(documents, "key"), system=side_of(documents, "response"), breakdowns=["zero"]
    )
    zeros = counted.slices("zero").get(
        "zero", counted.select(np.zeros(len(counted.units), np.bool_))
    )
    for theirs, ours in (("muc", counted), ("zero", zeros)):
        scores = ours.scores(procedure.metrics)
        found = [100 * scores[f"muc/{part}"] for part in ("precision", "recall", "f1")]
        assert found == pytest.approx(FIGURES[str(seed)][theirs], abs=0.00501), theirs
