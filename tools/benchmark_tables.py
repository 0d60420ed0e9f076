"""The generated parts of the pages on benchmarks, from the stored results."""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from markdown_tables import draw_markdown

from closeread.tables import Grid

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from papers.figures import load_rows

BENCHMARKS = ("starting", "mctaco", "coref", "tne", "timeline", "many_systems")
"""Those whose results `benchmarks/measure.py` keeps."""

MEASURES = {
    "seconds": ("seconds", ".4f"),
    "cpu_seconds": ("CPU seconds", ".3f"),
    "peak_mib": ("peak MiB", ".0f"),
}
"""The titles of measures, and how they are formatted."""


PREPOSITIONS = {"unlabeled/f1": "Links-F1", "iprep": "IPrep-Acc", "uprep": "UPrep-Acc"}
"""Scores of links, and the columns of Table 5."""

CLASSIFIERS = {"off": "BERT", "proper": "BERT + unit normalization"}
"""The row of Table 2 that is nearest to a classifier with each choice of unit normalization."""

CLASSIFIED = {"f1": "F1", "exact_match": "EM"}
"""Scores of classifiers, and the columns of Table 2."""


def benchmark_parts(root: Path) -> dict[str, Callable[[], str]]:
    """The generators of the parts of the benchmark page, by name; they read the stored results."""
    parts = {}
    for name in BENCHMARKS:
        path = root / "benchmarks" / "results" / f"{name}.json"
        result = json.loads(path.read_text("utf-8"))
        parts[f"{name}_machine"] = partial(describe_machine, result)
        for table, measured in result["tables"].items():
            parts[f"{name}_{table}"] = partial(draw_measures, **measured, limit=result["limit"])
    return parts


def describe_machine(result: Mapping[str, Any]) -> str:
    """Where a benchmark ran."""
    return f"{result['machine']}; {result['software']}; closeread {result['closeread']}.\n"


def draw_measures(
    rows: Mapping[str, Mapping[str, float | None]], peer: str, limit: float | None
) -> str:
    """Draw what was measured, each value beside its ratio to that of a peer."""
    names = [name for name in MEASURES if any(name in row for row in rows.values())]
    header = ["what"]
    for name in names:
        header += [MEASURES[name][0], "ratio"]
    cells = []
    for what, row in rows.items():
        line = [what]
        for name in names:
            line += format_measure(row.get(name), rows[peer].get(name), MEASURES[name][1])
        if row[names[0]] is None:
            line[1] = f"over {limit:g}"
        cells.append(line)
    return draw_markdown(Grid("", header, cells))


def format_measure(value: float | None, peer: float | None, style: str) -> list[str]:
    """Format a measure, and its ratio to that of a peer."""
    if value is None:
        return ["", ""]
    ratio = "" if peer is None else f"{value / peer:.2g}"
    return [f"{value:{style}}", ratio]


def neural_parts(root: Path) -> dict[str, Callable[[], str]]:
    """The generators of the parts of the page on trained models, by name."""
    found = json.loads((root / "benchmarks" / "results" / "neural.json").read_text("utf-8"))
    return {
        "neural_machine": lambda: _describe_machines(found),
        "neural_tne": lambda: links_table(found["tne"]),
        "neural_prepositions": lambda: prepositions_table(found["tne"]),
        "neural_mctaco": lambda: classifiers_table(found["mctaco"]),
        "neural_curve": lambda: curve_table(found["curve"]),
    }


def _describe_machines(found: Any) -> str:
    """On which machines the models were trained, and with what."""
    titles = {"tne": "TNE", "mctaco": "McTaco", "curve": "the learning curve"}
    trained = [
        f"{title} on {found['machines'][part]} with {found['software'][part]}"
        for part, title in titles.items()
    ]
    return f"{'; '.join(trained)}; closeread {found['closeread']}.\n"


def models_table(root: Path, corpus: str) -> str:
    """Scores of models that were trained with this package, each above the nearest row of the paper."""
    found = json.loads((root / "benchmarks" / "results" / "neural.json").read_text("utf-8"))[corpus]
    return {"tne": _compare_links, "mctaco": _compare_classifiers}[corpus](found)


def _compare_links(found: Mapping[str, Any]) -> str:
    tables = {name: load_rows("tne", name) for name in ("Table 3", "Table 5")}
    columns = {
        "links/f1": ("Table 3", "F1"),
        **{name: ("Table 5", column) for name, column in PREPOSITIONS.items()},
    }
    rows = []
    for row, model in found.items():
        rows.append(
            [
                f"{row}, MiniLM" if "static" not in row else row,
                *(_format_interval(model["scores"][name]) for name in columns),
            ]
        )
        printed = [tables[table][row][column] for table, column in columns.values()]
        if row.startswith("Decoupled"):  # whose F1 is that of all pairs
            printed[0] = f"{printed[0]} (every pair linked)"
        rows.append([f"{row}, printed", *printed])
    return draw_markdown(Grid("", ["model", "F1", "unlabelled F1", "IPrep", "UPrep"], rows))


def _compare_classifiers(found: Sequence[Mapping[str, Any]]) -> str:
    printed_rows = load_rows("mctaco", "Table 2")
    rows = []
    for choice, row in CLASSIFIERS.items():
        rows.append([row.replace("BERT", "MiniLM"), *_average_runs(found, choice)])
        rows.append(
            [f"{row}, printed", *(printed_rows[row][column] for column in CLASSIFIED.values())]
        )
    return draw_markdown(Grid("", ["model", "F1", "exact match"], rows))


def links_table(found: Mapping[str, Any]) -> str:
    """Precision, recall and F1 of labelled links of trained models, and those that the paper prints."""
    printed_rows = load_rows("tne", "Table 3")
    rows = []
    for row, model in found.items():
        cells = [
            _format_interval(model["scores"][f"links/{name}"])
            for name in ("precision", "recall", "f1")
        ]
        printed = printed_rows[row]
        rows.append([row, *cells, *(printed[name] for name in ("Precision", "Recall", "F1"))])
        if "printed_decoding" in model:
            scores = model["printed_decoding"]
            cells = [
                _format_interval(scores[f"links/{name}"]) for name in ("precision", "recall", "f1")
            ]
            rows[-1][4:] = ["", "", ""]
            rows.append(
                [
                    f"{row}, every pair linked",
                    *cells,
                    *(printed[name] for name in ("Precision", "Recall", "F1")),
                ]
            )
    header = [
        "model",
        "precision",
        "recall",
        "F1",
        "precision, printed",
        "recall, printed",
        "F1, printed",
    ]
    return draw_markdown(Grid("", header, rows))


def prepositions_table(found: Mapping[str, Any]) -> str:
    """F1 of links whatever their prepositions, and accuracies of prepositions, beside those that the paper prints."""
    printed_rows = load_rows("tne", "Table 5")
    rows = [
        [
            row,
            f"{model['parameters'] / 1e6:.1f} M",
            f"{model['best']} of {model['epochs']}",
            *(_format_interval(model["scores"][name]) for name in PREPOSITIONS),
            *(printed_rows[row][name] for name in PREPOSITIONS.values()),
        ]
        for row, model in found.items()
    ]
    shown = ("unlabelled F1", "IPrep", "UPrep")
    header = [
        "model",
        "trained parameters",
        "best epoch",
        *shown,
        *(f"{name}, printed" for name in shown),
    ]
    return draw_markdown(Grid("", header, rows))


def classifiers_table(found: Sequence[Mapping[str, Any]]) -> str:
    """F1 and exact match of McTaco's classifiers by seed, and their means, beside those that the paper prints."""
    printed_rows = load_rows("mctaco", "Table 2")
    rows = []
    for choice, row in CLASSIFIERS.items():
        name = row.replace("BERT", "MiniLM")
        runs = [run for run in found if run["unit_normalization"] == choice]
        rows += [
            [
                name,
                f"seed {run['seed']}",
                *(_format_interval(run["scores"][one]) for one in CLASSIFIED),
            ]
            for run in runs
        ]
        rows.append([name, f"mean of {len(runs)}", *_average_runs(found, choice)])
        rows.append(
            [row, "printed", *(printed_rows[row][column] for column in CLASSIFIED.values())]
        )
    return draw_markdown(Grid("", ["model", "run", "F1", "exact match"], rows))


def _average_runs(found: Sequence[Mapping[str, Any]], choice: str) -> list[str]:
    """Means and standard errors over the runs with a choice of unit normalization."""
    columns = [
        [run["scores"][name][0] for run in found if run["unit_normalization"] == choice]
        for name in CLASSIFIED
    ]
    errors = [statistics.stdev(values) / len(values) ** 0.5 for values in columns]
    return [
        f"{statistics.mean(values):.1f} ± {error:.1f}"
        for values, error in zip(columns, errors, strict=True)
    ]


def curve_table(found: Sequence[Mapping[str, Any]]) -> str:
    """Means and standard errors by the size of the training data."""
    rows = [
        [
            f"{size['size']:g} %",
            str(size["runs"]),
            *(f"{mean:.1f} ± {error:.1f}" for mean, error in size["scores"].values()),
        ]
        for size in found
    ]
    return draw_markdown(Grid("", ["questions", "runs", "F1", "exact match"], rows))


def _format_interval(score: Sequence[float]) -> str:
    value, low, high = score
    return f"{value:.1f} ({low:.1f} to {high:.1f})"
