"""Draw the figures of corpora and papers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from closeread.corpus.objects import FileOrRows
from closeread.operations.calling import call

if TYPE_CHECKING:
    from closeread.corpus.figures import Drawing
    from closeread.drawing.pictures import Figure


def plot(
    kind: str,
    *subjects: FileOrRows,
    gold: FileOrRows | None = None,
    config: str | None = None,
    split: str | None = None,
    data_dir: str | Path | None = None,
    output: str | Path | None = None,
    **options: FileOrRows | float,
) -> Figure:
    """Draw a figure, as `closeread plot` does, and return it.

    Args:
        kind: "possession", "timeline" and "timeline-relations" draw the article or the entity of that name;
            "categories", "confusion", "label-scores" and "link-scores" draw predictions; "link-support" and "mistakes"
            draw annotators beside gold, which comes first; "prepositions", "chain-lengths", "mention-lengths" and
            "mention-types" draw a corpus; "training" draws folders of training runs, "learning-curve" one of several.
        *subjects: a name, or files, folders or objects as for `closeread.score`.
        gold, config, split, data_dir: what to draw, as for `closeread.score`.
        output: also write the figure to this file, in the format of its suffix.
        **options: those of the command line, such as `predictions` for "possession" and "timeline"; folders of the
            corpus and options of reading it.

    Raises:
        RequestError: a name does not exist; an InputError if something is missing or invalid.
        MissingExtraError: matplotlib is not installed.
    """
    where = {"gold": gold, "config": config, "split": split, "data_dir": data_dir}
    return draw(kind, subjects, {**where, **options}, None if output is None else Path(output)).figure


def draw(kind: str, subjects: Sequence[Any], keywords: Mapping[str, Any], output: Path | None) -> Drawing:
    """Draw a figure, and write it to a file if there is one to write."""
    from closeread.drawing.pictures import check_suffix, write_picture

    if output is not None:
        check_suffix(output)
    drawing: Drawing = call("plot", kind, subjects, keywords, "kind of figure")
    if output is not None:
        write_picture(drawing.figure, output)
    return drawing
