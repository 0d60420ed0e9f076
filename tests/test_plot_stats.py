"""`closeread plot stats`: the frequencies of a corpus's annotations."""

import pytest

import closeread
from closeread.drawing.charts import draw_distributions
from closeread.exceptions import RequestError

LINKS = {"of": 33, "for": 6, "on": 5, "about": 5, "in": 4, "to": 4, "from": 3}


def heights(axes):
    return [bar.get_height() for bar in axes.patches]


def ticks(axes):
    return [label.get_text() for label in axes.get_xticklabels()]


def test_names_and_numbers():
    figure = draw_distributions({"by name": {"a": 3, "b": 1200}, "by length": {2: 7, 5: 1}})
    named, numbered = figure.axes
    assert [axes.get_title() for axes in figure.axes] == ["by name", "by length"]
    assert (ticks(named), heights(named)) == (["a", "b"], [3, 1200])
    assert [text.get_text() for text in named.texts] == ["3", "1,200"]
    assert [bar.get_x() + bar.get_width() / 2 for bar in numbered.patches] == pytest.approx([2, 5])
    assert heights(numbered) == [7, 1]


def test_prepositions_of_the_sample(ran):
    told = ran("plot", "stats", "tne", "--config", "sample", "-o", "links.svg")
    assert told == "links.svg: 65 links by preposition\n"
    (axes,) = closeread.plot("stats", "tne", config="sample").axes
    found = dict(zip(ticks(axes), heights(axes), strict=True))
    # Five others have one each.
    assert found == LINKS | dict.fromkeys(found.keys() - LINKS.keys(), 1)
    assert len(found) == len(LINKS) + 5
    assert heights(axes) == sorted(heights(axes), reverse=True)
    assert len(axes.texts) == 0  # which would overlap


def test_a_corpus_without_statistics_to_draw():
    with pytest.raises(RequestError, match="mctaco has no statistics to draw"):
        closeread.plot("stats", "mctaco", config="sample")


def test_gold_without_links():
    record = {"id": "d", "text": "a", "tokens": ["a"], "nps": [], "coref": [], "np_relations": []}
    with pytest.raises(RequestError, match="tne has nothing to draw in these files"):
        closeread.plot("stats", "tne", gold=[record])
