"""What there is: corpora, evaluate modules, and the figures of corpora and of their papers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from closeread.corpus.declaration import Corpus
from closeread.corpus.gold import data_notices
from closeread.corpus.names import corpus_names, find_corpus, load_corpus
from closeread.corpus.notices import warn_all
from closeread.corpus.reproduction import Inputs, Reproduction
from closeread.corpus.reproduction import reproduce as recompute
from closeread.counts.procedure import OptionValue
from closeread.hf.modules import describe_module, module_names
from closeread.operations.places import take_place
from closeread.operations.tasks import list_baselines
from closeread.tasks import load_procedure


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
        """Return the title."""
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
        """Return the title."""
        return self.title


def corpora() -> dict[str, CorpusEntry]:
    """Return all corpora by name.

    >>> import closeread
    >>> closeread.corpora()["mctaco"].configs["sample"]
    ('test',)
    """
    return {name: _describe_corpus(load_corpus(name)) for name in corpus_names()}


def metrics() -> dict[str, MetricEntry]:
    """Return all evaluate modules by name.

    >>> import closeread
    >>> print(closeread.metrics()["mctaco"])
    Exact match and F1 over questions with several candidate answers, as in McTaco's official evaluator.
    """
    return {name: _describe_metric(name) for name in module_names()}


def reproduce(
    corpus: str,
    table: str | int | None = None,
    *,
    data_dir: str | Path | None = None,
    upstream: str | Path | None = None,
    annotations: str | Path | None = None,
    articles: str | Path | None = None,
    spacy_model: str | None = None,
    runs: str | Path | None = None,
    **options: OptionValue,
) -> Reproduction:
    """Recompute the tables of a corpus's paper, and compare them with what it prints.

    Args:
        corpus: its name.
        table: one table, by number or name (1, "Table 1", "Text"); None for all.
        data_dir: a folder with the corpus's files; None to look in the usual places.
        upstream: a checkout of the authors' repository, with the predictions that they released.
        annotations: a folder with annotators' files, as DOCUMENT/ANNOTATOR.conll or .txt.
        articles: a folder with the texts of the articles, one <title>.txt each (WikiPossessions).
        spacy_model: a spaCy pipeline, installed or in a folder, for the paper's baseline (WikiPossessions).
        runs: a folder with trained models, as `closeread train` writes them, for the rows of models (McTaco, TNE).
        **options: folders of the corpus and options of reading it, such as `treebank`.

    Raises:
        RequestError: there is no such corpus or table; an InputError if the corpus's files are missing or invalid.
    """
    folders = (upstream, annotations, articles, runs)
    checkout, notes, texts, trained = (None if one is None else Path(one) for one in folders)
    declared = find_corpus(corpus)
    files = take_place(declared, data_dir=data_dir, options=options).data_dir
    inputs = Inputs(files, checkout, notes, texts, spacy_model, trained)
    warn_all(data_notices(declared, declared.default_config, inputs.data_dir))
    return recompute(declared.name, None if table is None else str(table), inputs)


def _describe_corpus(corpus: Corpus) -> CorpusEntry:
    return CorpusEntry(
        corpus.name,
        corpus.title,
        corpus.description,
        corpus.language,
        corpus.licence,
        corpus.homepage,
        {name: config.split_names for name, config in corpus.configs.items()},
        corpus.procedure,
        load_procedure(corpus.procedure).modules,
        tuple(list_baselines(corpus.name)),
    )


def _describe_metric(name: str) -> MetricEntry:
    said = describe_module(name)
    return MetricEntry(name, " ".join(said.partition("\n\n")[0].split()), said)
