"""Show records as a reader would want them, and what is known of a corpus."""

from __future__ import annotations

import html
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from closeread.corpus.names import find_corpus
from closeread.corpus.objects import FileOrRows
from closeread.exceptions import RequestError, escape_line
from closeread.operations.places import Config, DataDir, OwnGold, Split, take_place
from closeread.parameters import CorpusName, FileOptions, Files, Operations, Param
from closeread.tables import Grid, Whole, draw_html

if TYPE_CHECKING:
    from closeread.corpus.declaration import Corpus
    from closeread.corpus.showing import Part
    from closeread.counts.procedure import GoldSpec


@dataclass(frozen=True)
class Page:
    """Records, laid out for reading.

    Attributes:
        records: the gold records that are shown.
        predictions: what a system has for each of them, None where it has nothing; None without a system.
        ids: the ids of all records.
    """

    records: Sequence[dict[str, object]]
    predictions: Sequence[dict[str, object] | None] | None = None
    ids: Sequence[str] = field(default=(), repr=False)
    _parts: tuple[Part, ...] = field(default=(), repr=False)
    _others: tuple[Part, ...] = field(default=(), repr=False)
    _lines: Sequence[str] = field(default=(), repr=False)
    _json: object = field(default=None, repr=False)

    def draw(self, *, coloured: bool = False) -> str:
        """Return the page as the command line prints it, with commands that show others."""
        from closeread.corpus.showing import draw_parts

        drawn = draw_parts([*self._parts, *self._others], coloured=coloured)
        return "\n\n".join(filter(None, [drawn, "\n".join(map(escape_line, self._lines))]))

    def __str__(self) -> str:
        """The page as text."""
        return replace(self, _others=()).draw()

    def _repr_html_(self) -> str:
        """The page as Jupyter shows it."""
        return "".join(
            f'<p style="white-space: pre-wrap">{html.escape(part)}</p>' if isinstance(part, str) else draw_html(part)
            for part in (*self._parts, *self._lines)
        )

    def to_json(self) -> object:
        """Return the record that was asked for, or a list of several, each beside its prediction if there are some."""
        if self._json is None:
            raise RequestError("--json and --data-dir are for --oddities; add it")
        return self._json


def show(
    corpus: CorpusName,
    record_id: Annotated[str | None, Param(metavar="[ID]")] = None,
    *,
    gold: OwnGold = None,
    config: Config = None,
    split: Split = None,
    data_dir: DataDir = None,
    predictions: Annotated[
        FileOrRows | None,
        Param(kind="read", metavar="FILE", help="Show the predictions of this file beside the gold record."),
    ] = None,
    ids: Annotated[bool, Param(help="List the ids of all records instead.")] = False,
    **options: FileOptions,
) -> Page:
    """Show a record of a corpus as a reader would want it; without ID the first.

    \b
    Examples:
      closeread show wikipossessions "The Blue Kettle (painting)" --config sample
      closeread show tne s2 --config sample
      closeread show mctaco test-q0003 --config sample --predictions yes.jsonl

    >>> import closeread
    >>> closeread.show("mctaco", config="sample").records[0]["id"]
    'test-00000'

    Args:
        corpus: its name.
        record_id: the id of a record; None for the first.
        predictions: what a system has for it, to be shown beside it: a file, a folder or objects, as for
            `closeread.score`; other records may lack predictions.
        gold, config, split, data_dir: where the record is, as for `closeread.score`; any config.
        ids: whether the page lists the ids of all records instead.
        **options: folders of the corpus and options of reading it, such as `treebank`.

    Raises:
        RequestError: there is no such corpus or record (the message suggests a similar id); an InputError if something
            is missing or invalid.
    """
    from closeread.corpus.notices import warn_all
    from closeread.corpus.showing import list_names, load_view, read_records, select_records

    declared = find_corpus(corpus)
    place = take_place(declared, gold, config, split, data_dir, options)
    found = read_records(declared, place)
    view = load_view(declared, found.config)
    known = list_names(declared, view, found.records)
    if ids:
        warn_all(found.notices)
        return Page([], None, known, _lines=known, _json=known)
    matching, shown = select_records(declared, view, found.records, record_id)
    records = [found.records[number] for number in shown]
    name = records[0].get(declared.key) if len(shown) == 1 else None
    warn_all(found.notices if name is None else found.notices_about(name))
    system = None
    if predictions is not None:
        system, notices = read_predictions(declared, place, predictions)
        warn_all(notices)
    rows = None if system is None else [system[number] for number in shown]
    place_given = {"config": config, "split": split, "gold": gold}
    others = () if record_id else (_tell_others(declared, found, known, place_given),)
    as_json: list[Any] = [
        found.records[number] if system is None else {"gold": found.records[number], "system": system[number]}
        for number in matching
    ]
    return Page(
        records,
        rows,
        known,
        tuple(view.draw(records, rows)),
        others,
        _json=as_json[0] if len(as_json) == 1 else as_json,
    )


def _tell_others(corpus: Corpus, gold: Any, known: Sequence[str], place: dict[str, Any]) -> Part:
    """Return a note that says how to show other records."""
    where = [part for name, value in place.items() if value for part in (f"--{name}", str(value))]
    count = f"The first of {len(known or gold.records):,} in {corpus.title}"
    notes = [f"{count} ({gold.config}, {gold.split})." if gold.config else f"{count}."]
    command = ["closeread", "show", corpus.name]
    notes += [Whole(f"The next: {shlex.join([*command, name, *where])}") for name in known[1:2]]
    notes += [Whole(f"All ids: {shlex.join([*command, *where, '--ids'])}")] if known else []
    return Grid("", [], [], notes)


def read_predictions(
    corpus: Corpus, place: GoldSpec, predictions: FileOrRows
) -> tuple[Sequence[dict[str, object] | None], Sequence[str]]:
    """Read the predictions for all gold records, in their order, None for those without; and the notices about them."""
    from closeread.scoring import open_scorer
    from closeread.tasks import load_procedure

    known = {option.name: option for option in load_procedure(corpus.procedure).options}
    absent = {"missing": "empty"} if "missing" in known and "empty" in known["missing"].choices else {}
    scorer = open_scorer(corpus.name, place, absent)
    system = scorer.read_source(predictions)
    missing = set(system.missing)
    keys = (record[corpus.key] for record in scorer.gold.records)
    rows = [None if key in missing else row for key, row in zip(keys, system.rows, strict=True)]
    return rows, system.notices


def info(corpus: CorpusName, *, oddities: bool = False, data_dir: Files = None) -> Page:
    """Show the configs, splits, fields and baselines of a corpus, and where its files are searched.

    Oddities of the released files are the same for everybody, so other commands only say how many there are.

    \b
    Examples:
      closeread info mctaco
      closeread info tne --oddities

    Args:
        corpus: its name.
        oddities: List what is unusual about the released files instead.
        data_dir: Read the corpus's files from this folder; they may differ from the release.

    Raises:
        RequestError: there is no such corpus; an InputError if its files are unavailable or invalid.
    """
    from closeread.corpus.gold import find_known_oddities
    from closeread.corpus.notices import warn_all
    from closeread.corpus.showing import example_submission

    declared = find_corpus(corpus)
    if not oddities:
        if data_dir is not None:
            raise RequestError("--json and --data-dir are for --oddities; add it")
        return Page([], _parts=tuple(_describe(declared)), _lines=[example_submission(declared)])
    found = find_known_oddities(declared, None if data_dir is None else Path(data_dir))
    warn_all(found.notices)
    lines = [] if found.parts else ["no oddities"]
    for config, split, texts in found.parts:
        noun = "oddity" if len(texts) == 1 else "oddities"
        lines.append(f"config {config}, split {split}: {len(texts):,} {noun}")
        lines += [f"  {text}" for text in texts]
    rows = [
        {"config": config, "split": split, "oddity": text} for config, split, texts in found.parts for text in texts
    ]
    return Page([], _lines=lines, _json={"corpus": declared.name, "oddities": rows})


def _describe(corpus: Corpus) -> Iterator[Part]:
    """Yield what is known of a corpus, with a gold record and a line of a submission."""
    from closeread.corpus.baselines import load_baselines
    from closeread.corpus.schema import fields, load_schema
    from closeread.corpus.showing import abridge, example_record
    from closeread.corpus.sources import DATA_VARIABLE, cache_folder, data_folder
    from closeread.tasks import load_procedure

    procedure = load_procedure(corpus.procedure)
    own = str(data_folder(corpus.name) or f"${DATA_VARIABLE}/{corpus.name} (not set)")
    about = [
        ["title", corpus.title],
        ["language", corpus.language],
        ["homepage", corpus.homepage],
        ["licence", corpus.licence],
        ["files searched in", Whole(own)],
        ["", Whole(str(cache_folder(corpus.name)))],
        ["scored with", Whole(f"closeread score {corpus.name} FILE")],
        ["scores", procedure.title],
        ["evaluate modules", ", ".join(procedure.modules)],
        ["baselines", ", ".join(load_baselines(corpus.name))],
    ]
    configs = corpus.configs.items()
    splits = [
        [config, split, source.expected if source.url else f"{source.expected} (in the package)"]
        for config, declared in configs
        for split, source in declared.splits.items()
    ]
    splits += [
        [config, union, " + ".join(parts)] for config, declared in configs for union, parts in declared.unions.items()
    ]
    yield corpus.description
    yield Grid("", ["", ""], [[Whole(name), value] for name, value in about], prose=frozenset({""}))
    yield Grid("", ["config", "split", "file"], splits)
    urls = [source.url for _, declared in configs for source in declared.splits.values() if source.url]
    if urls:
        yield Grid("Sources", [""], [[url] for url in dict.fromkeys(urls)])
    definitions: dict[str, str] = {}
    for config, declared in configs:
        definitions.setdefault(declared.definition, config)
    for definition, config in definitions.items():
        title = f"config {config}" if len(definitions) > 1 else ""
        rows = [[one.name, one.type, one.description] for one in fields(load_schema(corpus.schema), definition)]
        yield Grid(title, ["field", "type", "description"], rows, prose=frozenset({"type", "description"}))
    yield "A gold record of the sample, abridged"
    yield abridge(example_record(corpus))
    yield "A line of a submission (JSON Lines)"


OPERATIONS: Operations = {"": {"info": info, "show": show}}
