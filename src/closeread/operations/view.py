"""Pages that show a key and what systems make of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import Annotated

from closeread import parameters as arg
from closeread.corpus.notices import name_systems, warn_all
from closeread.counts.estimates import Resampling
from closeread.counts.systems import name_sources
from closeread.exceptions import RequestError, describe_unknown, join_all
from closeread.parameters import Operations, Param
from closeread.public_names import AnyCorpus
from closeread.records import FileOrRows
from closeread.scoring import choose_resampling, find_gold, open_scorer
from closeread.views.data import judge_system, make_data
from closeread.views.page import View

VIEWED = ("coref",)
"""The procedures whose systems a page can show."""


def view(
    name: AnyCorpus,
    *systems: Annotated[FileOrRows, Param(kind="systems", required=True)],
    gold: arg.Gold = None,
    config: arg.Config = None,
    split: arg.Split = None,
    data_dir: arg.Folder = None,
    metrics: arg.Metrics = None,
    preset: arg.Preset = None,
    documents: Annotated[
        Sequence[str],
        Param(flag="--document", metavar="NAME", help="Show only this document; may be repeated."),
    ] = (),
    limit: Annotated[
        int | None,
        arg.within(1),
        Param(help="Show at most this many documents, those with the most errors."),
    ] = None,
    ci: bool = True,
    resamples: arg.Resamples = None,
    confidence: arg.Confidence = 0.95,
    seed: arg.Seed = 0,
    interval: arg.Interval = "percentile",
    resampling: Annotated[Resampling | None, arg.OnlyPython] = None,
    output: Annotated[str | Path | None, arg.ToOutput] = None,
    show: Annotated[bool, Param(flag="--open", help="Open the page in the browser.")] = False,
    **options: arg.ProcedureOptions,
) -> View:
    """Show a key and what systems or annotators make of it: one page, the key above the words, responses below.

    Args:
        name: the name of a corpus or a procedure of coreference, such as "coref" or "marmara_coref".
        *systems: one system, two to compare, or several annotators: files, folders or objects, as for
            `closeread.score`.
        gold, config, split, data_dir, metrics, preset, **options: as for `closeread.score`; for "coref", gold is the
            key.
        documents: the names of the only documents to show; none for all.
        limit: how many documents to show, those with the most errors; None for all.
        ci, resamples, confidence, seed, interval, resampling: as for `closeread.score`.
        output: also write the page to this file.
        show: whether to open that file in the browser.

    Returns:
        The page, which shows itself in a notebook.

    Raises:
        RequestError: there is no system, no document of that name, or nothing of coreference is scored.

    >>> key = {"letter": [[[0, 0], [1, 1], [2, 2]], [[4, 4], [5, 5]]]}
    >>> response = {"letter": [[[0, 0], [1, 1]], [[2, 2], [4, 4], [5, 5]]]}
    >>> page = closeread.view("coref", response, gold=key, output="letter.html")
    >>> page.to_dict()["systems"][0]["counts"]["wrong entity"]
    1
    """
    source, procedure_options = find_gold(
        name, gold=gold, config=config, split=split, data_dir=data_dir, preset=preset, **options
    )
    if source.procedure.name not in VIEWED:
        raise RequestError(describe_unknown("kind of page", name, VIEWED))
    if not systems:
        raise RequestError("a page needs at least one system")
    if show and output is None:
        raise RequestError("only a page that is written can be opened; name a file as output")
    scorer = open_scorer(source, procedure_options, metrics)
    names = name_sources(systems, ascii_uppercase)
    read = [scorer.read(system) for system in systems]
    viewed = []
    for system_name, system in zip(names, read, strict=True):
        viewed.append(judge_system(system_name, scorer, system))
    notices = {system.name: system.counts.notices for system in viewed}
    warn_all([*scorer.gold.notices, *name_systems(notices)])
    title = f"{join_all(names)} on {Path(scorer.gold_name or name).name}"
    chosen = choose_resampling(resampling, resamples if ci else 0, confidence, seed, interval)
    data = make_data(title, scorer, viewed, chosen, documents=documents, limit=limit)
    if output is None:
        return View(data)
    page = View(data, Path(output))
    page.save(output)
    if show:
        import webbrowser

        webbrowser.open(Path(output).absolute().as_uri())
    return page


OPERATIONS: Operations = {"": {"view": view}}
