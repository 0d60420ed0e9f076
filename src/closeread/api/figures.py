"""Draw the figures of corpora and papers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

from closeread.api.agreement import check_arguments, take_annotator
from closeread.argument_types import check_types
from closeread.corpus.figures import Drawing, FigureKind
from closeread.corpus.names import choose_equivalent
from closeread.corpus.notices import warn_all
from closeread.corpus.objects import FileOrRows
from closeread.counts.annotators import Annotator
from closeread.drawing.pictures import check_suffix, write_picture
from closeread.exceptions import RequestError, pluralize, quote
from closeread.scoring import find_procedure, make_place
from closeread.suggestions import describe_unknown
from closeread.tasks import find_all

if TYPE_CHECKING:
    from closeread.drawing.pictures import Figure

OWNER = "closeread.tasks."


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
    if output is not None:
        check_suffix(Path(output))
    found = {name: (module.__name__, one) for module in find_all("figures") for name, one in module.FIGURES.items()}
    name = choose_equivalent(kind, found)
    if name is None:
        raise RequestError(describe_unknown("kind of figure", kind, sorted(found)))
    home, figure = found[name]
    if figure.subject == "runs":
        if any(one is not None for one in (gold, config, split, data_dir)):
            raise RequestError(f"{kind} takes folders of runs, and no corpus")
        drawing = _draw_runs(kind, figure, subjects, options)
    elif figure.corpus is None:
        if any(one is not None for one in (gold, config, split, data_dir)):
            raise RequestError(f"{kind} takes gold first, and no corpus")
        drawing = _draw_beside_gold(kind, home.removeprefix(OWNER).partition(".")[0], figure, subjects, options)
    else:
        place, rest = make_place(figure.corpus, gold, config, split, data_dir, cast("dict[str, str]", options))
        place = place._replace(corpus=figure.corpus)
        chosen: dict[str, FileOrRows | float | Annotator] = dict(rest)
        check_arguments(f"plot {kind}", figure.draw, chosen)
        by_name = find_procedure(figure.corpus)[0].by_name
        if chosen.get("predictions") is not None:
            chosen["predictions"] = take_annotator("predictions", cast(FileOrRows, chosen["predictions"]), by_name)
        drawing = check_types(figure.draw)(place, *_take_subjects(kind, figure, subjects, by_name), **chosen)
    warn_all(drawing.notices)
    if output is not None:
        write_picture(drawing.figure, Path(output))
    return drawing.figure


def _draw_beside_gold(
    kind: str, task: str, figure: FigureKind, subjects: tuple[FileOrRows, ...], options: dict[str, FileOrRows | float]
) -> Drawing:
    check_arguments(f"plot {kind}", figure.draw, options)
    if len(subjects) < 2:
        raise RequestError(f"{kind} got {pluralize(len(subjects), 'file')} (expected gold, and one or more others)")
    by_name = find_procedure(task)[0].by_name
    key = take_annotator("gold", subjects[0], by_name)
    others = [take_annotator(f"annotator {number}", one, by_name) for number, one in enumerate(subjects[1:], 1)]
    return check_types(figure.draw)(key, others, **options)


def _draw_runs(
    kind: str, figure: FigureKind, subjects: tuple[FileOrRows, ...], options: dict[str, FileOrRows | float]
) -> Drawing:
    check_arguments(f"plot {kind}", figure.draw, options)
    if not subjects or not all(isinstance(one, str | Path) for one in subjects):
        raise RequestError(f"{kind} needs folders of training runs")
    return figure.draw([Path(cast(str, one)) for one in subjects])


def _take_subjects(
    kind: str, figure: FigureKind, subjects: tuple[FileOrRows, ...], by_name: tuple[str, str] | None
) -> tuple[str] | tuple[list[Annotator]] | tuple[()]:
    """Return the name, or the systems, that a figure draws.

    Raises:
        RequestError: there are too few or too many.
    """
    if figure.subject == "systems":
        if not subjects:
            raise RequestError(f"{kind} needs predictions")
        return ([take_annotator(f"system {number}", one, by_name) for number, one in enumerate(subjects, 1)],)
    expected = int(figure.subject == "name")
    if len(subjects) != expected:
        raise RequestError(f"{kind} got {pluralize(len(subjects), 'subject')} (expected {expected})")
    if not expected:
        return ()
    if not isinstance(subjects[0], str):
        raise RequestError(f"{kind}: {quote(str(subjects[0]))} is not a name")
    return (subjects[0],)
