"""List, show, describe, cite and export corpora; list evaluate modules.

`**options` are folders of a corpus and options of reading it, such as `treebank`.
"""

from __future__ import annotations

import html
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from closeread import parameters as arg
from closeread.corpus.names import corpus_names, find_corpus, list_scored, load_corpus
from closeread.corpus.notices import warn_all
from closeread.counts.results import JsonResult, Result
from closeread.exceptions import (
    RequestError,
    UnknownKeyError,
    choose_words,
    escape_line,
    fill_options,
)
from closeread.hf.modules import describe_module, find_module, install_modules, module_names
from closeread.operations.calling import find_operations
from closeread.parameters import Operations, Param
from closeread.public_names import AnyCorpus
from closeread.records import FileOrRows
from closeread.tables import NOTHING, Grid, Style, Whole, draw_html
from closeread.tasks import load_procedure, procedure_names, summarize

if TYPE_CHECKING:
    from closeread.corpus.declaration import Corpus
    from closeread.corpus.facts import Statistics
    from closeread.corpus.gold import GoldSource
    from closeread.corpus.showing import Part

Folder = Annotated[str | Path, Param(kind="write")]
Configs = Annotated[Sequence[str], Param(flag="--config", metavar="NAME")]
Format = Literal["parquet", "jsonl", "csv"]


WITH_KEYS = ("coref", "tlinks")
"""The procedures whose gold is a key of the user, whatever its corpus."""

HEADER = ("corpus", "title", "configs", "procedure", "modules", "licence")


@dataclass(frozen=True)
class CorpusEntry:
    """What there is to know of a corpus before it is loaded.

    Attributes:
        name, title, description: what it is called, and what it is.
        language, licence, homepage: of its files.
        configs: the names of the splits of each config, unions of splits included.
        procedure: the name of the procedure that scores it.
        metrics: the names of the evaluate modules of this procedure.
        baselines: the names of the baselines that `closeread.baseline` has for it.
    """

    name: str
    title: str
    description: str
    language: str = field(repr=False)
    licence: str = field(repr=False)
    homepage: str = field(repr=False)
    configs: Mapping[str, tuple[str, ...]]
    procedure: str
    metrics: tuple[str, ...]
    baselines: tuple[str, ...]

    def __str__(self) -> str:
        return self.title


@dataclass(frozen=True)
class MetricEntry:
    """What an evaluate module computes.

    Attributes:
        name: its name, for `evaluate.load` and `closeread.load_metric`.
        title: what it computes, in a sentence.
        description: the same in full: what it takes, and an example.
    """

    name: str
    title: str
    description: str = field(repr=False)

    def __str__(self) -> str:
        return self.title


Entry = TypeVar("Entry")


class Entries(dict[str, Entry]):
    """Entries by name; an equivalent name leads to the same one, an unknown name gets a suggestion."""

    def __init__(self, entries: Mapping[str, Entry], find: Callable[[str], str]) -> None:
        super().__init__(entries)
        self._find = find

    def __missing__(self, name: str) -> Entry:
        try:
            return self[self._find(name)]
        except RequestError as error:
            raise UnknownKeyError(str(error)) from None


def corpora() -> dict[str, CorpusEntry]:
    """Return all corpora by name.

    >>> import closeread
    >>> closeread.corpora()["mctaco"].configs["sample"]
    ('test',)
    """
    entries = {}
    for name in corpus_names():
        corpus = load_corpus(name)
        configs = {config: declared.split_names for config, declared in corpus.configs.items()}
        entries[name] = CorpusEntry(
            name,
            corpus.title,
            corpus.description,
            corpus.language,
            corpus.licence,
            corpus.homepage,
            configs,
            corpus.procedure,
            load_procedure(corpus.procedure).modules,
            tuple(find_operations(f"baseline {name}")),
        )
    return Entries(entries, lambda name: find_corpus(name).name)


def metrics() -> dict[str, MetricEntry]:
    """Return all evaluate modules by name.

    >>> import closeread
    >>> print(closeread.metrics()["mctaco"])
    Exact match and F1 over questions with several candidate answers, as in McTaco's official evaluator.
    """
    entries = {}
    for name in module_names():
        description = describe_module(name)
        title = " ".join(description.partition("\n\n")[0].split())
        entries[name] = MetricEntry(name, title, description)
    return Entries(entries, find_module)


class Catalogue(Result):
    """All corpora, and the procedures that score gold of a user's own or no corpus, and how to score predictions."""

    def __init__(self) -> None:
        self.corpora = list(map(load_corpus, corpus_names()))
        self.scored = Counter(corpus.procedure for corpus in self.corpora)
        self.procedures = [
            name
            for name in procedure_names()
            if summarize(name).key_first or name not in self.scored
        ]

    def to_dict(self) -> list[dict[str, object]]:
        rows: list[list[object]] = []
        for corpus in self.corpora:
            modules = list(load_procedure(corpus.procedure).modules)
            row: list[object] = [corpus.name, corpus.title, list(corpus.configs)]
            rows.append([*row, corpus.procedure, modules, corpus.licence])
        for name in self.procedures:
            modules = list(load_procedure(name).modules)
            rows.append([None, summarize(name).title, [], name, modules, None])
        return [dict(zip(HEADER, row, strict=True)) for row in rows]

    def _to_rows(self) -> tuple[Sequence[str], Sequence[Sequence[object]]]:
        rows = []
        for entry in self.to_dict():
            name, *cells = map(_write_cell, entry.values())
            rows.append([name or NOTHING, *cells])
        return HEADER, rows

    def _to_grids(self, style: Style = "table") -> Iterator[Grid]:
        rows = []
        for corpus in self.corpora:
            is_alone = self.scored[corpus.procedure] == 1
            takes_key = summarize(corpus.procedure).key_first
            shortest = corpus.procedure if is_alone and not takes_key else corpus.name
            rows.append([corpus.name, corpus.title, f"closeread score {shortest} FILE"])
        for name in self.procedures:
            title, takes_key = summarize(name)
            files = "KEY RESPONSE" if takes_key else "FILE"
            rows.append([name, title, f"closeread score {name} {files}"])
        yield Grid(
            "", ["name", "title", "how to score it"], rows, prose=frozenset({"title"}), labels=1
        )


def _write_cell(value: Any) -> str:
    return ", ".join(value) if isinstance(value, list) else value or ""


def list_all() -> Catalogue:
    """List corpora and procedures that score any gold, and how to score predictions.

    JSON and CSV also list the configs of a corpus, its licence and its evaluate modules, as `closeread info` does.

    \b
    Examples:
      closeread list
      closeread list --json
    """
    return Catalogue()


@dataclass(frozen=True)
class Description:
    """Texts and tables, laid out for reading."""

    _parts: tuple[Part, ...] = field(default=(), repr=False)
    _others: tuple[Part, ...] = field(default=(), repr=False)
    _lines: Sequence[str] = field(default=(), repr=False)

    def draw(self, *, coloured: bool = False) -> str:
        """Return it as the command line prints it, with commands that show others."""
        from closeread.corpus.showing import draw_parts

        drawn = draw_parts([*self._parts, *self._others], coloured=coloured)
        lines = "\n".join(map(escape_line, self._lines))
        return "\n\n".join(filter(None, [drawn, lines]))

    def __str__(self) -> str:
        return replace(self, _others=()).draw()

    def _repr_html_(self) -> str:
        paragraph = '<p style="white-space: pre-wrap; margin: .5em .6em">'
        text = ""
        for part in (*self._parts, *self._lines):
            if isinstance(part, str):
                text += f"{paragraph}{html.escape(part)}</p>"
            else:
                text += draw_html(part)
        return text


@dataclass(frozen=True)
class Page(Description, JsonResult):
    """Records, laid out for reading.

    Attributes:
        records: the gold records that are shown.
        predictions: what a system has for each of them, None where it has nothing; None without a system.
        ids: the ids of all records.
    """

    records: Sequence[dict[str, object]] = ()
    predictions: Sequence[dict[str, object] | None] | None = None
    ids: Sequence[str] = field(default=(), repr=False)
    _json: object = field(default=None, repr=False)

    def to_dict(self) -> object:
        return self._json


def show(
    corpus: AnyCorpus,
    record_id: Annotated[str | None, Param(metavar="[ID]")] = None,
    *,
    gold: arg.Gold = None,
    config: arg.Config = None,
    split: arg.Split = None,
    data_dir: arg.Folder = None,
    predictions: Annotated[
        FileOrRows | None,
        Param(
            kind="read",
            metavar="FILE",
            help="Show the predictions of this file beside the gold record.",
        ),
    ] = None,
    ids: Annotated[bool, Param(help="List the ids of all records instead.")] = False,
    **options: arg.FileOptions,
) -> Page:
    """Show a record of a corpus, laid out for reading; without ID, the first one.

    On the command line:
      closeread show wikipossessions "The Blue Kettle (painting)" --config sample
      closeread show tne s2 --config sample
      closeread show mctaco test-q0003 --config sample --predictions yes.jsonl

    Args:
        corpus: the name of a corpus or its procedure.
        record_id: the id of a record; None for the first.
        gold, config, split, data_dir: where the record is, as for `closeread.score`; any config.
        predictions: what a system has for it, to be shown beside it: a file, a folder or objects, as for
            `closeread.score`; other records may lack predictions.
        ids: whether the page lists the ids of all records instead.
        **options: folders of the corpus and options of reading it, such as `treebank`.

    Returns:
        The page, which prints itself; `records` are the gold records.

    >>> closeread.show("mctaco", config="sample").records[0]["id"]
    'test-00000'
    """
    from closeread.corpus.showing import list_names, load_view, read_records, select_records
    from closeread.scoring import find_part

    declared = find_shown(corpus)
    source = find_part(declared, options, gold=gold, config=config, split=split, data_dir=data_dir)
    loaded = read_records(declared, source)
    view = load_view(declared, loaded.config)
    names = list_names(declared, view, loaded.records)
    if ids:
        warn_all(loaded.notices)
        return Page(ids=names, _lines=names, _json=names)
    matching, drawn = select_records(declared, view, loaded.records, record_id)
    records = [loaded.records[number] for number in drawn]
    name = records[0].get(declared.key) if len(drawn) == 1 else None
    warn_all(loaded.notices if name is None else loaded.notices_about(name))
    system = None
    if predictions is not None:
        system = _read_system(declared, source, predictions)
    rows = None if system is None else [system[number] for number in drawn]
    others: tuple[Part, ...] = ()
    if not record_id:
        where = {"config": config, "split": split, "gold": gold}
        others = (_describe_others(declared, loaded, names, where),)
    entries: list[Any] = []
    for number in matching:
        record = loaded.records[number]
        entries.append(record if system is None else {"gold": record, "system": system[number]})
    parts = tuple(view.draw(records, rows))
    return Page(
        parts,
        others,
        records=records,
        predictions=rows,
        ids=names,
        _json=entries[0] if len(entries) == 1 else entries,
    )


def _read_system(
    corpus: Corpus, source: GoldSource, predictions: FileOrRows
) -> list[dict[str, object] | None]:
    """Return what a system predicts for each gold record; None for those that it has nothing for."""
    from closeread.scoring import open_scorer

    lenient = {}
    for option in load_procedure(corpus.procedure).options:
        if option.name == "missing" and "empty" in option.choices:
            lenient["missing"] = "empty"
    scorer = open_scorer(source, lenient)
    system = scorer.read(predictions)
    warn_all(system.notices)
    missing = set(system.missing)
    rows: list[dict[str, object] | None] = []
    for record, row in zip(scorer.gold.records, system.rows, strict=True):
        rows.append(None if record[corpus.key] in missing else row)
    return rows


def _describe_others(
    corpus: Corpus, gold: Any, names: Sequence[str], place: dict[str, Any]
) -> Part:
    """Return a note that says how to show other records."""
    where: list[str] = []
    for option, value in place.items():
        if value:
            where += [f"--{option}", str(value)]
    count = f"The first of {len(names or gold.records):,} in {corpus.title}"
    notes = [f"{count} ({gold.config}, {gold.split})." if gold.config else f"{count}."]
    command = ["closeread", "show", corpus.name]
    if len(names) > 1:
        notes.append(Whole(f"The next: {shlex.join([*command, names[1], *where])}"))
    if names:
        notes.append(Whole(f"All ids: {shlex.join([*command, *where, '--ids'])}"))
    return Grid("", [], [], notes)


def find_shown(name: str) -> Corpus:
    """Find a corpus to show; the name of a procedure for any key is not taken for that of a corpus that it scores."""
    if name not in WITH_KEYS:
        return find_corpus(name)
    scored = list_scored(name)
    corpora = f" (it scores {', '.join(scored)})" if scored else ""
    errors = choose_words(
        f"closeread errors {name} KEY RESPONSE", f"closeread.errors('{name}', response, gold=key)"
    )
    hint = f"; to see errors: {errors}" if name in find_operations("errors") else ""
    raise RequestError(f"{name} has no corpus of its own{corpora}{hint}")


def stats(
    corpus: AnyCorpus,
    *files: str | Path,
    config: arg.Config = None,
    data_dir: arg.Folder = None,
    **options: arg.FileOptions,
) -> Statistics:
    """Count documents, annotations and other figures of a corpus, split by split.

    On the command line:
      closeread info mctaco --stats

    Args:
        corpus: the name of a corpus or its procedure, or coref.
        *files: with coref, the files and folders whose coreference is counted.
        config: the config; None for the default.
        data_dir: a folder with the corpus's files.
        **options: folders of the corpus and options of reading it, such as `treebank`.

    Returns:
        The figures by split or file, which print themselves as a table.

    >>> closeread.stats("mctaco", config="sample").splits["test"]["questions"]
    25
    """
    from closeread.corpus.facts import count_corpus
    from closeread.scoring import find_part

    if files:
        if corpus != "coref":
            raise RequestError(f"files of {corpus} can't be counted (expected files of coref)")
        if config is not None or data_dir is not None or options:
            raise RequestError("options of a corpus don't go with files of coref")
        from closeread.tasks.coref.records import count_files

        statistics = count_files([Path(file) for file in files])
    else:
        declared = find_shown(corpus)
        source = find_part(declared, options, data_dir=data_dir).files
        statistics = count_corpus(declared.name, config, source)
    warn_all(statistics.notices)
    return statistics


def schema(
    corpus: AnyCorpus, *, submission: bool = False, config: arg.Config = None
) -> dict[str, object]:
    """Return the JSON Schema (2020-12) of the gold records of a corpus, or of a line of its submissions.

    On the command line:
      closeread info tne --schema

    Args:
        corpus: the name of a corpus or its procedure.
        submission: whether to return the schema of a submission line instead of a gold record.
        config: the config whose records it describes.

    Returns:
        The schema.

    >>> closeread.schema("mctaco", submission=True)["title"]
    'Predicted label'
    """
    from closeread.corpus.gold import select
    from closeread.corpus.schema import extract_definition, load_schema

    declared = find_corpus(corpus)
    if submission and config is not None:
        message = (
            "{submission} can't be combined with {config}: all configs have the same submissions"
        )
        raise RequestError(fill_options(message))
    definition = declared.configs[select(declared, config, None)[0]].definition
    return dict(
        extract_definition(load_schema(declared.schema), "submission" if submission else definition)
    )


def export(
    corpus: AnyCorpus,
    folder: Folder,
    *,
    configs: Configs = (),
    data_dir: arg.Folder = None,
    format: Format = "parquet",  # noqa: A002 (as the option is called)
    **options: arg.FileOptions,
) -> list[Path]:
    """Export a corpus as a dataset repository.

    It has rows and a dataset card, and `datasets` loads it without closeread.  The config `flat` has a row for each
    annotation (a possession, a link, an answer, a mention), for data frames and SQL.  Splits and configs without files
    are left out.

    On the command line:
      closeread export mctaco my-mctaco
      closeread export wikipossessions tables --config sample_flat --format csv
      python -c "import datasets; print(datasets.load_dataset('./my-mctaco'))"

    Args:
        corpus: the name of a corpus or its procedure.
        folder: where to write; it must be empty or not exist.
        configs: Export this config; may be repeated.  [default: all]
        data_dir: a folder with the corpus's files.
        format: How to write the rows; csv takes flat configs only, and has no types: read ids and order as text, and
            words such as NA as they are.
        **options: folders of the corpus and options of reading it, such as `treebank`.

    Returns:
        The files that were written.

    >>> for path in closeread.export("mctaco", "my-mctaco", configs=["sample"], format="jsonl"):
    ...     print(path.as_posix())
    my-mctaco/README.md
    my-mctaco/sample/test.jsonl
    """
    from closeread.hf.export import export as write
    from closeread.hf.export import hiding_progress_in_pipes
    from closeread.scoring import find_part

    declared = find_corpus(corpus)
    place = Path(folder)
    files = find_part(declared, options, data_dir=data_dir).files
    with hiding_progress_in_pipes():
        written = write(declared.name, place, configs=configs or None, files=files, format=format)
    exported = {path.relative_to(place).parts[0] for path in written} & declared.configs.keys()
    if declared.redistribution and not all(declared.configs[name].is_bundled for name in exported):
        why = f"{declared.title} may not be redistributed ({declared.redistribution})"
        warn_all([f"{why}: keep the export private."])
    return written


OPERATIONS: Operations = {
    "": {
        "export": export,
        "install-modules": install_modules,
        "list": list_all,
        "show": show,
    }
}
