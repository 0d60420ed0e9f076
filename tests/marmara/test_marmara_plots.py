"""Figures of the corpus and of its annotators: the numbers that are drawn, and the same bytes every time."""

from shared.marmara_sample import SAMPLE

from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus
from closeread.counts.annotators import Annotator
from closeread.drawing.charts import draw_distributions
from closeread.tasks.annotation.annotators import read_annotators
from closeread.tasks.annotation.chain_errors import find_chain_errors, group_numbers
from closeread.tasks.annotation.plots import count_support, draw_link_support, draw_mistakes
from closeread.tasks.marmara.records import distributions

CLUSTERS = [[[0, 0], [2, 3], [5, 9]], [[1, 1], [4, 4]], [[6, 7], [8, 8]], [[3, 5]]]
ANNOTATORS = [
    Annotator(name, SAMPLE / f"annotations/77000112/{name}.conll")
    for name in ("anna", "ben", "cleo")
]


def heights(axes):
    return [bar.get_height() for bar in axes.patches]


def label_texts(axes):
    return [text.get_text() for text in axes.texts]


def test_lengths():
    token = read_gold(load_corpus("marmara_coref"), "sample").records[0]["sentences"][0]["tokens"][
        0
    ]
    records = [{"clusters": CLUSTERS, "sentences": [{"tokens": [token] * 10}]}]
    types, mentions, chains = distributions(records).values()
    assert sum(types.values()) == 7  # a chain of one counts as none
    assert mentions == {2: 2, 5: 1}
    assert chains == {2: 2, 3: 1}


def test_types_of_the_sample():
    records = read_gold(load_corpus("marmara_coref"), "sample").records
    types, lengths, _ = distributions(records).values()
    assert sum(types.values()) == 113
    assert list(types)[-1] == "several tokens"
    assert types["several tokens"] == sum(lengths.values())
    single = sum(
        start == end for record in records for chain in record["clusters"] for start, end in chain
    )
    assert sum(types.values()) - types["several tokens"] == single


def test_few_numbers_apart():
    assert group_numbers({"1": 2, "2": 1, "4": 1, "9": 3}) == {"1": 2, "2": 1, "3": 0, "more": 4}


def test_annotators_beside_gold():
    gold, *others = (file.documents for file in read_annotators(ANNOTATORS))
    support = count_support(gold, others)
    (axes,) = draw_link_support(support).axes
    assert heights(axes) == support.ravel().tolist()
    # Two annotators: each link is drawn by half of them or by both.
    assert {place for place, height in enumerate(heights(axes)) if height} <= {4, 9, 14, 19}
    errors = find_chain_errors(gold, others)
    kinds, missing, foreign = draw_mistakes(errors).axes
    assert [int(text.split("\n")[1]) for text in label_texts(kinds)] == list(errors.kinds.values())[
        1:
    ]
    for axes, counts in ((missing, errors.missing), (foreign, errors.foreign)):
        assert [int(text.split("\n")[1]) for text in label_texts(axes)] == list(
            group_numbers(counts).values()
        )


def test_nothing_is_cut_off_and_no_texts_overlap():
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    records = read_gold(load_corpus("marmara_coref"), "sample").records
    gold, *others = (file.documents for file in read_annotators(ANNOTATORS))
    for figure in (
        draw_distributions(distributions(records)),
        draw_link_support(count_support(gold, others)),
        draw_mistakes(find_chain_errors(gold, others)),
    ):
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        for axes in figure.axes:
            low, high = axes.get_xlim()
            ticks = [
                tick.label1
                for tick in axes.xaxis.get_major_ticks()
                if low <= tick.get_loc() <= high
            ]
            boxes = [text.get_window_extent() for text in (*axes.texts, *ticks) if text.get_text()]
            assert all(
                figure.bbox.containsx(box.x0) and figure.bbox.containsx(box.x1) for box in boxes
            )
            assert not any(
                one.overlaps(other) for n, one in enumerate(boxes) for other in boxes[:n]
            )


def test_nothing_to_draw(run, here):
    result = run("plot", "stats", "marmara_coref", "--config", "sample", "-o", "types.txt")
    assert (
        result.stderr
        == "Error: types.txt: '.txt' is not a picture format (expected .png, .svg or .pdf)\n"
    )
    given = SAMPLE / "annotations/77000345/anna.conll"
    first = ANNOTATORS[0].source
    result = run("plot", "mistakes", first, given, "-o", "mistakes.svg")
    assert result.stderr == f"Error: {given}: document '77000345' is not in {first}\n"
    assert not list(here.iterdir())
