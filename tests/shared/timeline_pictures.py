"""What a picture of a timeline shows: its rows, marks, dates and texts."""

import xml.etree.ElementTree as ElementTree

import numpy as np

from closeread.tasks.timeline.plots import MARKS


def find_row(figure, label):
    (found,) = [axes for axes in figure.axes if axes.get_label() == label]
    return found


def find_rows(figure):
    return [axes for axes in figure.axes if axes.get_label() not in ("title", "legend")]


def find_collection(axes, label):
    """The collection of a label."""
    (found,) = [one for one in axes.collections if one.get_label() == label]
    return found


def find_marks(axes):
    """What stands beside each mark of a row, with the label of the mark: the nearest text to the right."""
    found = []
    for points in axes.collections:
        if points.get_label().partition(": ")[2] in MARKS:
            for x, y in points.get_offsets():
                beside = [
                    text
                    for text in axes.texts
                    if text.get_position()[1] == y and text.get_position()[0] > x
                ]
                text = min(beside, key=lambda text: text.get_position()[0])
                found.append((points.get_label(), text.get_text()))
    return sorted(found)


def read_texts(path):
    found = ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}text")  # noqa: S314
    return ["".join(text.itertext()) for text in found]


def find_dates(axes):
    """Where the dates of a row are on its axis, by their anchors."""
    (line,) = [line for line in axes.lines if line.get_label() == "dates"]
    heads = [text.get_text() for text in axes.texts if text.get_fontweight() == "bold"]
    return dict(zip(heads, line.get_xdata(), strict=True))


def assert_readable(figure):
    """No two texts overlap, and none leaves the page."""

    from matplotlib.backends.backend_agg import FigureCanvasAgg

    renderer = FigureCanvasAgg(figure).get_renderer()
    extents = [
        text.get_window_extent(renderer).extents for axes in figure.axes for text in axes.texts
    ]
    left, bottom, right, top = np.array(extents).T
    across = np.minimum.outer(right, right) > np.maximum.outer(left, left)
    along = np.minimum.outer(top, top) > np.maximum.outer(bottom, bottom)
    assert not np.triu(across & along, 1).any()
    width, height = figure.get_size_inches() * figure.dpi
    assert min(left.min(), bottom.min()) >= 0
    assert right.max() <= width
    assert top.max() <= height
