"""Links between spans, compared with a model that looks at one pair at a time."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from shared.tiny_encoder import make_encoder  # noqa: E402
from twins import link_model as twin  # noqa: E402

from closeread.exceptions import RequestError  # noqa: E402
from closeread.formats.word_vectors import WordVectors  # noqa: E402
from closeread.neural.devices import Hardware  # noqa: E402
from closeread.neural.links import (  # noqa: E402
    LinkChoice,
    LinkConfig,
    LinkModel,
    LinkSystem,
    SpanDocument,
    label_pairs,
    make_system,
    name_pairs,
    train_links,
)
from closeread.neural.run_folders import RunFolder  # noqa: E402
from closeread.parameters import TrainingSettings  # noqa: E402

SIZE = 6
SIZES = [3, 0, 4, 1]  # of the documents, in spans
LINKS = [{(0, 2): 3, (2, 1): 1}, {}, {(1, 0): 2}, {}]  # of the pairs of each
LABELS = ["no link", "of", "in", "at"]


@pytest.fixture(params=("coupled", "decoupled"))
def variant(request):
    return request.param


@pytest.fixture
def documents():
    generator = torch.Generator().manual_seed(1)
    return [torch.randn(n, SIZE, generator=generator, dtype=torch.float64) for n in SIZES]


def make_model(variant, **options):
    sizes = {"span_size": SIZE, "end_size": 8, "head_size": 5} | options
    torch.manual_seed(2)
    config = LinkConfig(variant=variant, id2label=dict(enumerate(LABELS)), **sizes)
    return LinkModel(config).double().eval()


def make_spans(sizes, links):
    """Documents of one word with as many spans of it."""
    return [SpanDocument(["word"], [(0, 0)] * n, of) for n, of in zip(sizes, links, strict=True)]


@pytest.mark.parametrize("items", [[0, 1, 2, 3], [2, 0], [3], [1]])
def test_the_loss_is_that_of_the_twin(documents, variant, items):
    model = make_model(variant)
    labels = list(map(label_pairs, make_spans(SIZES, LINKS)))
    chosen = [documents[item] for item in items]
    with torch.no_grad():
        loss = model(
            torch.tensor([SIZES[item] for item in items]),
            torch.cat(chosen),
            torch.cat([labels[item] for item in items]),
        )["loss"]
    links = {}
    for number, item in enumerate(items):
        links |= {(number, *pair): label for pair, label in LINKS[item].items()}
    with torch.no_grad():
        of_pairs, of_links = twin.find_losses(model, chosen, links)
    n_pairs = sum(SIZES[item] * (SIZES[item] - 1) for item in items)
    expected = float(of_pairs) / max(n_pairs, 1) + float(of_links) / max(len(links), 1)
    assert float(loss) == pytest.approx(expected)


def test_predictions_are_those_of_the_twin(documents, variant):
    model = make_model(variant)
    with torch.no_grad():
        outputs = [
            model(torch.tensor(SIZES[:2]), torch.cat(documents[:2])),
            model(torch.tensor(SIZES[2:]), torch.cat(documents[2:])),
        ]
    predictions = name_pairs(outputs, make_spans(SIZES, LINKS))
    assert [len(pairs) for pairs in predictions] == [3 * 2, 0, 4 * 3, 0]
    predicted = {}
    for number, pairs in enumerate(predictions):
        for anchor, complement, label, is_linked in pairs:
            predicted[number, anchor, complement] = (label, is_linked)
    assert predicted == twin.decode(model, documents)


def list_layers(model):
    """The layers of a model as (name, kind, sizes or dropout)."""
    layers = []
    for name, module in model.named_modules():
        if isinstance(module, torch.nn.Linear):
            has_bias = module.bias is not None
            layers.append((name, "linear", module.in_features, module.out_features, has_bias))
        elif isinstance(module, torch.nn.Dropout):
            layers.append((name, "dropout", module.p))
    return layers


def test_the_layers_are_those_of_the_paper():
    """With 25 labels, of which one is no link: the decoupled head of prepositions has the other 24."""
    labels = dict(enumerate(map(str, range(25))))
    ends = [
        ("dropout", "dropout", 0.2),
        ("anchor.0", "linear", 1536, 500, True),
        ("anchor.2", "dropout", 0.3),
        ("complement.0", "linear", 1536, 500, True),
        ("complement.2", "dropout", 0.3),
        ("label_head.anchor", "linear", 500, 100, True),
        ("label_head.complement", "linear", 500, 100, False),
    ]
    coupled = LinkModel(LinkConfig(variant="coupled", span_size=1536, id2label=labels))
    assert list_layers(coupled) == [*ends, ("label_head.scores", "linear", 100, 25, True)]
    decoupled = LinkModel(LinkConfig(variant="decoupled", span_size=1536, id2label=labels))
    assert list_layers(decoupled) == [
        *ends,
        ("label_head.scores", "linear", 100, 24, True),
        ("link_head.anchor", "linear", 500, 100, True),
        ("link_head.complement", "linear", 500, 100, False),
        ("link_head.scores", "linear", 100, 2, True),
    ]


def test_the_first_layer_begins_as_one_matrix_for_both_ends():
    head = make_model("coupled", end_size=200).label_head
    for weight in (head.anchor.weight, head.complement.weight):
        assert weight.abs().max() <= 400**-0.5 < 200**-0.5


@pytest.mark.parametrize("kind", ["tuned", "frozen"])
def test_a_model_is_loaded_as_it_was_saved(kind, tmp_path):
    encoder = make_encoder(tmp_path / "encoder", ["the", "barn"])
    hardware = Hardware("cpu", "float32")
    system = make_system(LinkChoice("decoupled", kind, str(encoder), LABELS), [], hardware)
    system.model.save_pretrained(tmp_path / "model")
    loaded = LinkModel.from_pretrained(tmp_path / "model").eval()
    assert loaded.config.id2label == dict(enumerate(LABELS))
    spans = [(0, 0), (1, 1), (3, 3), (40, 40)]
    documents = [
        SpanDocument(["the", "barn", "\n", "barns"] * 30, spans, {}),
        SpanDocument(["a"], [(0, 0)], {}),
    ]
    batch = system.collate(system.prepare(documents))
    with torch.no_grad():
        first, second = (model.eval()(**batch) for model in (system.model, loaded))
    assert {name: tensor.tolist() for name, tensor in first.items()} == {
        name: tensor.tolist() for name, tensor in second.items()
    }
    for name, parameter in system.model.named_parameters():
        assert torch.equal(parameter, loaded.get_parameter(name))
    # Only an encoder that is tuned learns, also in a run that is continued.
    again = LinkSystem(loaded, system.tokenizer, None, hardware)
    again.prepare(documents)
    for name, parameter in loaded.named_parameters():
        assert parameter.requires_grad == (kind == "tuned" or not name.startswith("encoder."))


def test_labels_out_of_range_are_refused_before_training(tmp_path):
    examples = make_spans([2], [{(0, 1): 4}])
    choice = LinkChoice("coupled", "tuned", "no encoder", LABELS)
    with pytest.raises(RequestError, match=r"a label is 4 \(expected 0 to 3\)"):
        train_links(
            RunFolder(tmp_path / "run"),
            choice,
            TrainingSettings(device="cpu"),
            examples,
            examples,
            score=lambda pairs: {},
            criterion="f1",
            metadata={},
            resume=False,
        )
    assert not (tmp_path / "run").exists()


def test_a_span_has_the_sum_of_the_vectors_of_its_words():
    """1 + 4 and 2 + 8 for the first span; the second has an unknown word, which adds nothing."""
    matrix = np.array([[1, 2], [4, 8]], np.float32)
    vectors = WordVectors(matrix, {"red": 0, "barn": 1})
    model = LinkModel(LinkConfig(span_size=2, end_size=3, head_size=3))
    system = LinkSystem(model, None, vectors, Hardware("cpu", "float32"))
    document = SpanDocument(["red", "barn", "roof"], [(0, 1), (1, 2)], {})
    (example,) = system.prepare([document])
    assert example["vectors"].tolist() == [[5, 10], [4, 8]]
