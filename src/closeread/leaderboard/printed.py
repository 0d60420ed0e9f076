"""Systems whose scores a paper prints, as rows of a board.

`printed_systems.json` in the folder of a corpus holds them, in the form of `printed.schema.json`: only scores that are
defined as ours and were computed on the whole split, as the paper prints them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from closeread.corpus.declaration import Corpus
from closeread.corpus.gold import select
from closeread.corpus.names import load_corpus
from closeread.exceptions import FormatError, Problem, quote, shorten
from closeread.packages import package_folder
from closeread.suggestions import describe_unknown
from closeread.tasks import load_procedure

FILE = "printed_systems.json"
LARGEST = {"percent": Decimal(100), "ratio": Decimal(1)}


@dataclass(frozen=True)
class PrintedScore:
    """A score that a paper prints.

    Attributes:
        value: the score as a ratio, between 0 and 1.
        printed: the score as printed, such as "66.1".
    """

    value: float
    printed: str


@dataclass(frozen=True)
class PrintedSystem:
    """A system whose scores a paper prints.

    Attributes:
        system: its name in the paper.
        source: the paper, and where it prints the scores.
        scores: the scores by the name of the metric.
    """

    system: str
    source: str
    scores: Mapping[str, PrintedScore]


def read_printed_systems(corpus: str, config: str | None = None, split: str | None = None) -> list[PrintedSystem]:
    """Read the systems of a part of a corpus whose scores its paper prints.

    Args:
        corpus: its name.
        config, split: the part; None for the default.

    Returns:
        The systems in the order of the file; empty if the corpus has no such file, or the part no such systems.

    Raises:
        RequestError: there is no such corpus, config or split.
        FormatError: the file is invalid; all problems at once.
    """
    declaration = load_corpus(corpus)
    part = select(declaration, config, split)
    path = package_folder(f"closeread.loaders.{corpus}") / FILE
    if not path.exists():
        return []
    rows = parse_printed_systems(path, declaration)
    return [
        PrintedSystem(
            row["system"],
            row["source"],
            {
                name: PrintedScore(float(Decimal(text) / LARGEST[row["unit"]]), text)
                for name, text in row["scores"].items()
            },
        )
        for row in rows
        if (row["config"], row["split"]) == part
    ]


def parse_printed_systems(path: Path, corpus: Corpus) -> list[Mapping[str, Any]]:
    """Read and check a file of printed systems.

    Raises:
        FormatError: it is not JSON, breaks the schema, or names a part or a metric that the corpus lacks.
    """
    import jsonschema
    import jsonschema_rs

    source = f"{corpus.name}/{path.name}"
    try:
        rows = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise FormatError(source, [Problem(f"is not JSON ({error})")]) from None
    schema = json.loads((package_folder("closeread.leaderboard") / "printed.schema.json").read_text("utf-8"))
    if not jsonschema_rs.is_valid(schema, rows):
        errors = sorted(jsonschema.Draft202012Validator(schema).iter_errors(rows), key=lambda error: list(error.path))
        raise FormatError(source, [Problem(shorten(error.message), path=tuple(error.path)) for error in errors])
    problems = list(_find_problems(rows, corpus))
    if problems:
        raise FormatError(source, problems)
    found: list[Mapping[str, Any]] = rows
    return found


def _find_problems(rows: Sequence[Mapping[str, Any]], corpus: Corpus) -> Iterator[Problem]:
    """Find unknown parts and metrics, scores out of range, and systems that are listed twice."""
    metrics = [metric.name for metric in load_procedure(corpus.procedure).metrics]
    seen = set()
    for index, row in enumerate(rows):
        config, split = row["config"], row["split"]
        splits = corpus.configs[config].split_names if config in corpus.configs else ()
        if not splits:
            yield Problem(describe_unknown("config", config, list(corpus.configs)), path=(index, "config"))
        elif split not in splits:
            yield Problem(describe_unknown("split", split, splits), path=(index, "split"))
        for name, text in row["scores"].items():
            if name not in metrics:
                yield Problem(describe_unknown("metric", name, metrics), path=(index, "scores"))
            elif Decimal(text) > LARGEST[row["unit"]]:
                expected = f"expected at most {LARGEST[row['unit']]}"
                yield Problem(f"{text} is too large ({expected})", path=(index, "scores", name))
        key = row["system"], row["source"], config, split
        if key in seen:
            yield Problem(f"system {quote(row['system'])} is listed twice for {config}, {split}", path=(index,))
        seen.add(key)
