"""Links between spans, compared with a model that looks at one pair at a time."""

from unittest import mock

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from twins import link_model as twin  # noqa: E402

from closeread.neural import links  # noqa: E402
from closeread.neural.links import (  # noqa: E402
    LabeledPairs,
    LinkLearner,
    LinkModel,
    LinkSystem,
    Spans,
    predict_pairs,
)

SIZE = 6
LINKS = {(0, 0, 2): 3, (0, 2, 1): 1, (2, 1, 0): 2}


class GivenVectors:
    """Vectors of spans that are simply there."""

    size = SIZE

    def __init__(self, of_documents):
        self._of_documents = of_documents

    def prepare(self, spans):
        return lambda documents: torch.cat([self._of_documents[d] for d in documents])


@pytest.fixture(params=("coupled", "decoupled"))
def variant(request):
    return request.param


@pytest.fixture
def documents():
    generator = torch.Generator().manual_seed(1)
    return [torch.randn(n, SIZE, generator=generator, dtype=torch.float64) for n in (3, 0, 4, 1)]


@pytest.fixture
def learner(variant, documents):
    torch.manual_seed(2)
    model = LinkModel(variant, SIZE, 4, ends=8, head=5).double().eval()
    sizes = [len(vectors) for vectors in documents]
    none = np.zeros(sum(sizes), np.int64)
    spans = Spans([["word"]] * len(sizes), np.concatenate([[0], np.cumsum(sizes)]), none, none)
    document, anchor, complement = (np.array(column) for column in zip(*LINKS, strict=True))
    links = LabeledPairs(document, anchor, complement, np.array(list(LINKS.values())))
    system = LinkSystem(GivenVectors(documents), model)
    return LinkLearner(
        system, spans, links, held_out=spans, score=lambda predicted: {}, criterion="f1"
    )


@pytest.mark.parametrize("items", [[0, 1, 2, 3], [2, 0], [3], [1]])
def test_losses_are_those_of_the_twin(learner, documents, variant, items):
    batch = learner.gather(np.array(items))
    with torch.no_grad():
        found = learner.find_losses(batch)
        links = {(items.index(d), a, c): label for (d, a, c), label in LINKS.items() if d in items}
        of_pairs, of_links = twin.find_losses(
            learner.model.model, [documents[i] for i in items], links
        )
    expected = {"pairs": of_pairs} | ({"links": of_links} if variant == "decoupled" else {})
    assert {name: float(value) for name, value in found.items()} == pytest.approx(
        {name: float(value) for name, value in expected.items()}
    )
    pairs = sum(len(documents[i]) * (len(documents[i]) - 1) for i in items)
    assert batch.totals == {"pairs": pairs, "links": len(links)}


@pytest.mark.parametrize("at_once", [2**20, 8, 1])
def test_predictions_are_those_of_the_twin(learner, documents, at_once):
    system = learner.model
    spans = learner._spans
    with mock.patch.object(links, "MAX_PAIRS", at_once):
        parts = list(predict_pairs(system, spans))
    found = {
        (d, a, c): (label, linked)
        for part in parts
        for d, a, c, label, linked in zip(*(column.tolist() for column in part), strict=True)
    }
    assert sum(len(part.document) for part in parts) == len(found)
    assert found == twin.decode(system.model, documents)


def test_the_first_layer_begins_as_one_matrix_for_both_ends():
    torch.manual_seed(3)
    head = LinkModel("coupled", SIZE, 4, ends=200).label_head
    for weight in (head.anchor.weight, head.complement.weight):
        assert weight.abs().max() <= 400**-0.5 < 200**-0.5
