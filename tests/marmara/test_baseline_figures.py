"""The baseline on data of the corpus's formats and size, whose annotation is simulated, beside another implementation.

The expected figures are those of a program in plain Python that was written for the specification, without this code.
"""

import pytest
from shared.coreference import score_records

from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus
from closeread.tasks.marmara.baseline import predict, predict_mentions
from closeread.tasks.marmara.operations import ChainLearner

METRICS = ("muc", "b3", "ceafm", "ceafe", "blanc", "lea", "conll")
FIGURES = {
    ("svc", "gold"): (0.3, (73.2, 59.6, 63.1, 74.1, 54.3, 55.6, 69.0)),
    ("svr", "gold"): (0.3, (72.2, 61.3, 67.2, 77.1, 55.2, 57.4, 70.2)),
    # Here chance plays a part: which wrong mentions are drawn.
    ("svr", "predicted"): (1.5, (31.6, 22.0, 29.1, 25.5, 15.1, 18.6, 26.4)),
}


@pytest.fixture(scope="module")
def read_once():
    """Reads the corpus once for all tests."""
    return {}


@pytest.fixture
def records(corpora, read_once):
    if not (corpora / "marmara_coref" / "treebank").is_dir():
        pytest.skip("marmara_coref is not there")
    if not read_once:
        read_once["records"] = read_gold(load_corpus("marmara_coref")).records
    return read_once["records"]


def as_key(rows):
    return {row["document"]: row["clusters"] for row in rows}


@pytest.mark.extended
def test_mention_detection(records):
    scores = score_records(as_key(records), as_key(predict_mentions(records)), ["mentions"])
    assert scores["mentions/recall"] == pytest.approx(0.851, abs=5e-4)
    assert scores["mentions/precision"] == pytest.approx(0.238, abs=5e-4)


@pytest.mark.extended
@pytest.mark.parametrize(("learner", "mentions"), FIGURES)
def test_leave_one_document_out(records, learner, mentions):
    tolerance, figures = FIGURES[learner, mentions]
    rows = [
        prediction.row for prediction in predict(records, learner, ChainLearner(mentions=mentions))
    ]
    scores = score_records(as_key(records), as_key(rows))
    found = {name: 100 * scores[f"{name}/f1"] for name in METRICS}
    assert found == pytest.approx(dict(zip(METRICS, figures, strict=True)), abs=tolerance)
