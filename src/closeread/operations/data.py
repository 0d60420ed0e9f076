"""Describe, cite and export corpora; score stored counts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

from closeread.parameters import (
    Ci,
    Confidence,
    Config,
    CorpusName,
    Fields,
    FileOptions,
    Files,
    FileSize,
    Operations,
    Param,
    Resamples,
    Seed,
)

if TYPE_CHECKING:
    from closeread.corpus.facts import Statistics
    from closeread.counts.report import Report

Folder = Annotated[str | Path, Param(kind="write")]
Configs = Annotated[Sequence[str], Param(flag="--config", metavar="NAME", complete="configs")]
Format = Literal["parquet", "jsonl", "csv"]


def stats(corpus: CorpusName, *, config: Config = None, data_dir: Files = None, **options: FileOptions) -> Statistics:
    """Count documents, annotations and other figures of a corpus.

    They are counted split by split.

    \b
    Examples:
      closeread stats mctaco
      closeread stats mctaco --config sample --json

    Args:
        corpus: its name.
        config: Use this config of the corpus; 'sample' comes with the package.
        data_dir: Read the corpus's files from this folder; they may differ from the release.
        **options: folders of the corpus and options of reading it, such as `treebank`.

    Raises:
        RequestError: there is no such corpus or config, or it has no figures; an InputError if files are missing or
            invalid.
    """
    from closeread.corpus.facts import count_corpus
    from closeread.corpus.names import find_corpus
    from closeread.corpus.notices import warn_all
    from closeread.operations.places import take_place

    declared = find_corpus(corpus)
    found = count_corpus(declared.name, config, take_place(declared, data_dir=data_dir, options=options).data_dir)
    warn_all(found.notices)
    return found


def schema(corpus: CorpusName, *, submission: bool = False, config: Config = None) -> dict[str, object]:
    """Print the JSON Schema of a corpus.

    It is the schema (2020-12) of its gold records, or of submissions: of one line of JSON Lines.

    \b
    Examples:
      closeread schema tne
      closeread schema tne --submission > submission.schema.json

    Args:
        corpus: its name.
        submission: Print the schema of a submission line instead of a gold record.
        config: Print the schema of the records of this config.

    Raises:
        RequestError: there is no such corpus or config, or a config is given for submissions.
    """
    from closeread.corpus.gold import select
    from closeread.corpus.names import find_corpus
    from closeread.corpus.schema import extract_definition, load_schema
    from closeread.exceptions import RequestError
    from closeread.wording import fill_options

    declared = find_corpus(corpus)
    if submission and config is not None:
        what = "{submission} can't be combined with {config}: all configs have the same submissions"
        raise RequestError(fill_options(what))
    definition = declared.configs[select(declared, config, None)[0]].definition
    return dict(extract_definition(load_schema(declared.schema), "submission" if submission else definition))


def export(
    corpus: CorpusName,
    folder: Folder,
    *,
    configs: Configs = (),
    data_dir: Files = None,
    format: Format = "parquet",  # noqa: A002 (as the option is called)
    **options: FileOptions,
) -> list[Path]:
    """Export a corpus as a dataset repository.

    It has rows and a dataset card, and `datasets` loads it without closeread.  The config `flat` has a row for each
    annotation (a possession, a link, an answer, a mention), for data frames and SQL.  Splits and configs without files
    are left out.

    \b
    Examples:
      closeread export mctaco my-mctaco
      closeread export wikipossessions tables --config sample_flat --format csv
      python -c "import datasets; print(datasets.load_dataset('./my-mctaco'))"

    Args:
        corpus: its name.
        folder: where to write; it must be empty or not exist.
        configs: Export this config; may be repeated.  [default: all]
        data_dir: Read the corpus's files from this folder; they may differ from the release.
        format: How to write the rows; csv takes flat configs only, and has no types: read ids and order as text, and
            words such as NA as they are.
        **options: folders of the corpus and options of reading it, such as `treebank`.

    Returns:
        The files, below the folder.

    Raises:
        RequestError: there is no such corpus or config, the format can't hold a config, or the folder is not empty; an
            InputError if the corpus's files are unavailable or invalid.
    """
    from closeread.corpus.names import find_corpus
    from closeread.corpus.notices import warn_all
    from closeread.hf.export import export as write
    from closeread.hf.export import hiding_progress_in_pipes
    from closeread.operations.places import take_place

    declared, place = find_corpus(corpus), Path(folder)
    files = take_place(declared, data_dir=data_dir, options=options).data_dir
    with hiding_progress_in_pipes():
        written = write(declared.name, place, configs=configs or None, data_dir=files, format=format)
    exported = {path.relative_to(place).parts[0] for path in written} & declared.configs.keys()
    if declared.redistribution and not all(declared.configs[name].is_bundled for name in exported):
        why = f"{declared.title} may not be redistributed ({declared.redistribution})"
        warn_all([f"{why}: keep the export private."])
    return written


def cite(
    *names: Annotated[str, Param(metavar="[CORPUS|METRIC|PRESET|OPTION|closeread]...", complete="cited")],
) -> str:
    """Print the BibTeX entries of corpora, metrics, presets, options and closeread itself.

    Each entry is printed once. A corpus comes with the papers of the score that its systems are ranked by; a metric is
    named as in --metrics or in evaluate.load. Presets, and options that come from a paper, are named as in `closeread
    score`. Without a name, print how to cite closeread.

    \b
    Examples:
      closeread cite mctaco closeread >> references.bib
      closeread cite muc b3 ceafe lea
      closeread cite corefud blanc-edge

    >>> import closeread
    >>> print(closeread.cite("lea").splitlines()[0])
    @inproceedings{moosavi-strube-2016-coreference,

    Args:
        *names: corpora, metrics such as "muc" or "coref_muc", procedures such as "coref", presets such as "corefud",
            options such as "blanc_edge", and "closeread"; none for "closeread" alone.

    Raises:
        RequestError: there is nothing of these names; the message suggests similar ones.
    """
    from closeread.corpus.citing import cite as join

    return join(*names)


def install_modules() -> list[Path]:
    """Install the evaluate modules into the modules cache.

    Processes that do not import closeread find them there.

    \b
    Example:
      closeread install-modules
      python -c "import evaluate; print(evaluate.load('mctaco').name)"
    """
    from closeread.hf.modules import install_modules as install

    return install()


def score_counts(
    *,
    from_counts: Annotated[Path | None, Param(kind="named", metavar="FILE")] = None,
    max_bytes: FileSize = None,
    by: Fields = (),
    ci: Ci = True,
    resamples: Resamples = None,
    confidence: Confidence = 0.95,
    seed: Seed = 0,
) -> Report:
    """Score stored counts.

    Args:
        from_counts: Score counts written by --counts or `closeread merge`, instead of predictions.
    """
    from closeread.corpus.notices import warn_all
    from closeread.counts.counts import Counts
    from closeread.scoring import limit_files

    with limit_files(max_bytes):
        counts = Counts.load(cast(Path, from_counts))
    warn_all(counts.notices)
    return counts.report(
        by, ci=ci, resamples=1000 if resamples is None else resamples, confidence=confidence, seed=seed
    )


OPERATIONS: Operations = {
    "": {"cite": cite, "export": export, "install-modules": install_modules, "schema": schema, "stats": stats},
}
