"""What there is: corpora, procedures and evaluate modules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from closeread.corpus.names import corpus_names, load_corpus
from closeread.counts.procedure import Procedure
from closeread.counts.results import Result
from closeread.hf.modules import describe_module, module_names
from closeread.operations.calling import find_operations
from closeread.parameters import Operations
from closeread.tables import NOTHING, Grid, Style
from closeread.tasks import load_procedure, procedure_names

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
    return {
        one.name: CorpusEntry(
            one.name,
            one.title,
            one.description,
            one.language,
            one.licence,
            one.homepage,
            {name: config.split_names for name, config in one.configs.items()},
            one.procedure,
            load_procedure(one.procedure).modules,
            tuple(find_operations(f"baseline {one.name}")),
        )
        for one in map(load_corpus, corpus_names())
    }


def metrics() -> dict[str, MetricEntry]:
    """Return all evaluate modules by name.

    >>> import closeread
    >>> print(closeread.metrics()["mctaco"])
    Exact match and F1 over questions with several candidate answers, as in McTaco's official evaluator.
    """
    described = {name: describe_module(name) for name in module_names()}
    return {
        name: MetricEntry(name, " ".join(said.partition("\n\n")[0].split()), said) for name, said in described.items()
    }


@dataclass(frozen=True)
class Catalogue(Result):
    """All corpora and procedures, and how to score predictions."""

    def to_json(self) -> list[dict[str, object]]:
        """Return an object for each, with configs, modules and licence."""
        rows: list[list[object]] = [
            [c.name, c.title, list(c.configs), c.procedure, list(load_procedure(c.procedure).modules), c.licence]
            for c in map(load_corpus, corpus_names())
        ]
        rows += [[None, one.title, [], one.name, list(one.modules), None] for one in _list_own_gold()]
        return [dict(zip(HEADER, row, strict=True)) for row in rows]

    def to_rows(self) -> tuple[Sequence[str], Sequence[Sequence[object]]]:
        """Return the same as rows, lists joined by commas."""
        rows = [list(row.values()) for row in self.to_json()]
        return HEADER, [
            [name or NOTHING, *(", ".join(one) if isinstance(one, list) else one or "" for one in rest)]
            for name, *rest in rows
        ]

    def to_grids(self, style: Style = "table") -> Iterator[Grid]:
        """Yield the table of names and commands."""
        scored = Counter(load_corpus(name).procedure for name in corpus_names())
        rows = []
        for corpus in map(load_corpus, corpus_names()):
            alone = scored[corpus.procedure] == 1 and not load_procedure(corpus.procedure).sides.key_first
            shortest = corpus.procedure if alone else corpus.name
            rows.append([corpus.name, corpus.title, f"closeread score {shortest} FILE"])
        for one in _list_own_gold():
            files = "KEY RESPONSE" if one.sides.key_first else "FILE"
            rows.append([one.name, one.title, f"closeread score {one.name} {files}"])
        yield Grid("", ["name", "what it is", "how to score it"], rows, prose=frozenset({"what it is"}), labels=1)


def list_all() -> Catalogue:
    """List corpora and procedures that score any gold, and how to score predictions.

    JSON and CSV also list the configs of a corpus, its licence and its evaluate modules, as `closeread info` does.

    \b
    Examples:
      closeread list
      closeread list --json
    """
    return Catalogue()


def _list_own_gold() -> list[Procedure]:
    """Return the procedures that score gold of a user's own, or no corpus."""
    scored = {load_corpus(name).procedure for name in corpus_names()}
    procedures = map(load_procedure, procedure_names())
    return [one for one in procedures if one.sides.key_first or one.name not in scored]


OPERATIONS: Operations = {"": {"list": list_all}}
