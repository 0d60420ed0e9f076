"""Show what there is to know of a corpus: its configs, files and fields, its figures, its schema, what to cite."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated

from closeread import parameters as arg
from closeread.corpus.names import list_scored
from closeread.exceptions import RequestError, fill_options, pluralize
from closeread.operations import data
from closeread.operations.data import WITH_KEYS, Description, find_shown
from closeread.parameters import Operations, Param
from closeread.tables import Grid, Whole, format_number
from closeread.tasks import load_procedure

if TYPE_CHECKING:
    from closeread.corpus.declaration import Corpus
    from closeread.corpus.facts import Statistics
    from closeread.corpus.showing import Part
    from closeread.counts.procedure import Procedure

    Information = Description | Statistics | dict[str, object] | str

Names = Annotated[str, Param(metavar="CORPUS...")]


def info(
    *names: Names,
    stats: bool = False,
    schema: bool = False,
    cite: bool = False,
    submission: bool = False,
    config: arg.Config = None,
    data_dir: arg.Folder = None,
    **options: arg.FileOptions,
) -> Information:
    """Show the configs, splits, fields and baselines of a corpus, and where its files are looked for.

    With --cite, several names may be given, and they may also be names of metrics (as in --metrics or in
    evaluate.load), of presets, of options that come from a paper (as in `closeread score`), and closeread.  A corpus
    comes with the papers of the score that its systems are ranked by.  With --stats, coref may be followed by files
    and folders, whose coreference is counted.

    \b
    Examples:
      closeread info mctaco
      closeread info mctaco --stats --config sample
      closeread info coref key.conll corefud/ --stats
      closeread info tne --schema --submission > submission.schema.json
      closeread info muc b3 closeread --cite >> references.bib

    Args:
        stats: Count documents, annotations and other figures of the corpus, split by split, or of files.
        schema: Print the JSON Schema (2020-12) of the gold records.
        cite: Print the BibTeX entries to cite, each once.
        submission: With --schema, print that of a line of a submission instead.
    """
    views = {"stats": stats, "schema": schema, "cite": cite}
    chosen = [name for name, is_chosen in views.items() if is_chosen]
    if len(chosen) > 1:
        raise RequestError(fill_options(f"{{{chosen[0]}}} and {{{chosen[1]}}} exclude each other"))
    if submission and not schema:
        raise RequestError(fill_options("{submission} goes with {schema}"))
    if config is not None and not (stats or schema):
        raise RequestError(fill_options("{config} goes with {stats} or {schema}"))
    if (data_dir is not None or options) and not stats:
        raise RequestError("options of reading files go with " + fill_options("{stats}"))
    if cite:
        from closeread.corpus.citing import cite as cite_works

        return cite_works(*names)
    is_of_files = stats and "coref" in names[:1]
    if len(names) != 1 and not is_of_files:
        raise RequestError(
            "info needs the name of one corpus" + fill_options(" ({cite} takes several)")
        )
    name, *files = names
    if stats:
        return data.stats(name, *files, config=config, data_dir=data_dir, **options)
    if schema:
        return data.schema(name, submission=submission, config=config)
    return describe(name)


def describe(name: str) -> Description:
    """Describe a corpus, or a procedure that scores any key."""
    from closeread.corpus.showing import example_submission

    if name in WITH_KEYS:
        return Description(tuple(_describe_procedure(load_procedure(name))))
    declared = find_shown(name)
    return Description(tuple(_describe_corpus(declared)), _lines=[example_submission(declared)])


def _describe_procedure(procedure: Procedure) -> Iterator[Part]:
    """Yield what is known of a procedure that scores any key."""
    score = f"closeread score {procedure.name}"
    properties = {
        "scored with": Whole(f"{score} KEY RESPONSE"),
        "formats": ", ".join(procedure.help.formats),
        "metrics": ", ".join(procedure.families),
        "evaluate modules": ", ".join(procedure.modules) or "none",
        "corpora": ", ".join(list_scored(procedure.name)) or "none of its own",
    }
    yield f"{procedure.title}, of any key and response"
    yield _list_properties(properties)
    presets = [[Whole(name), preset.help] for name, preset in procedure.presets.items()]
    if presets:
        yield Grid("", ["preset", "scores of"], presets, prose=frozenset({"scores of"}))


def _list_properties(properties: Mapping[str, str]) -> Grid:
    """Return a table of names and values."""
    rows = [[Whole(name), value] for name, value in properties.items()]
    return Grid("", ["", ""], rows, prose=frozenset({""}))


def _describe_corpus(corpus: Corpus) -> Iterator[Part]:
    """Yield what is known of a corpus, with a gold record and a line of a submission."""
    from closeread.corpus.baselines import load_baselines
    from closeread.corpus.declaration import SourceFolder
    from closeread.corpus.schema import fields, load_schema
    from closeread.corpus.showing import abridge, example_record
    from closeread.corpus.sources import DATA_VARIABLE, cache_folder, data_folder

    procedure = load_procedure(corpus.procedure)
    folder = str(data_folder(corpus.name) or f"${DATA_VARIABLE}/{corpus.name} (not set)")
    properties = {
        "title": corpus.title,
        "language": corpus.language,
        "homepage": corpus.homepage,
        "licence": corpus.licence,
        "files looked for in": Whole(folder),
        "": Whole(str(cache_folder(corpus.name))),
        "scored with": Whole(f"closeread score {corpus.name} FILE"),
        "scores": procedure.title,
        "evaluate modules": ", ".join(procedure.modules),
        "baselines": ", ".join(load_baselines(corpus.name)),
    }
    if corpus.preset:
        properties["preset"] = f"{corpus.preset}, unless --preset names another, or none"
    if corpus.n_oddities:
        kinds = pluralize(corpus.n_oddities, "kind")
        properties["oddities"] = f"{kinds} in the released files, described on the card"
    splits: list[list[str]] = []
    unions: list[list[str]] = []
    urls: list[str] = []
    definitions: dict[str, str] = {}
    for config, declared in corpus.configs.items():
        definitions.setdefault(declared.definition, config)
        for split, source in declared.splits.items():
            file = source.expected
            if isinstance(source, SourceFolder) and "*" not in file:
                file = f"{pluralize(len(source.patterns), 'file')} of {source.name}"
            if source.url is None:
                file += " (in the package)"
            splits.append([config, split, file])
            if source.url:
                urls.append(source.url)
        for union, parts in declared.unions.items():
            unions.append([config, union, " + ".join(parts)])
    yield corpus.description
    yield _list_properties(properties)
    yield Grid("", ["config", "split", "file"], [*splits, *unions])
    if corpus.instructions:
        yield Grid("How to get it", [""], [[line] for line in corpus.instructions])
    if corpus.printed:
        yield _compare_printed(corpus)
    if corpus.remarks:
        yield Grid("Before scoring", [""], [[line] for line in corpus.remarks])
    if urls:
        yield Grid("Sources", [""], [[url] for url in dict.fromkeys(urls)])
    for definition, config in definitions.items():
        title = f"config {config}" if len(definitions) > 1 else ""
        described = fields(load_schema(corpus.schema), definition)
        rows = [[field.name, field.type, field.description] for field in described]
        header = ["field", "type", "description"]
        yield Grid(title, header, rows, prose=frozenset(header[1:]))
    yield "A gold record of the sample, abridged"
    yield abridge(example_record(corpus))
    yield "A line of a submission (JSON Lines)"


def _compare_printed(corpus: Corpus) -> Grid:
    """Return the figures that the authors print beside those of the files, which the declaration has."""
    counted = {(fact.config, fact.split, fact.name): fact.value for fact in corpus.facts}
    rows = []
    for printed in corpus.printed:
        value = counted.get((printed.config, printed.split, printed.name))
        in_files = "" if value is None else format_number(value)
        source = " ".join(filter(None, [printed.where, printed.why]))
        figure = format_number(printed.value)
        rows.append([printed.name, printed.split, figure, in_files, source])
    header = ["figure", "split", "printed", "files", "by"]
    return Grid("Figures", header, rows, prose=frozenset({"by"}))


OPERATIONS: Operations = {"": {"info": info}}
