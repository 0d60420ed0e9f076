"""The generated parts of the pages on benchmarks, from the stored results."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from markdown_tables import draw_markdown
from papers.figures import load_rows

from closeread.tables import Grid

MEASURED = (
    "starting",
    "growth",
    "possession",
    "tne",
    "timeline",
    "marmara",
    "adjudication",
    "agreement",
    "leaderboard",
    "parsing",
    "coref_reading",
    "resampling",
    "many_systems",
)
"""Benchmarks whose result files name their tables and peers."""


PREPOSITIONS = {"unlabeled/f1": "Links-F1", "iprep": "IPrep-Acc", "uprep": "UPrep-Acc"}
"""Scores of links, and the columns of Table 5."""

CLASSIFIERS = {"off": "BERT", "proper": "BERT + unit normalization"}
"""The row of Table 2 that is nearest to a classifier with each choice of unit normalization."""

CLASSIFIED = {"f1": "F1", "exact_match": "EM"}
"""Scores of classifiers, and the columns of Table 2."""


def benchmark_parts(root: Path) -> dict[str, Callable[[], str]]:
    """The generators of the parts of the benchmark page, by name; they read the stored results."""
    found = json.loads((root / "benchmarks" / "results" / "mctaco.json").read_text("utf-8"))
    peer = "official evaluator"
    module = json.loads(
        (root / "benchmarks" / "results" / "evaluate_module.json").read_text("utf-8")
    )
    return {
        "evaluate_compute": lambda: timings_table(
            module["compute"], "compute of evaluate, 100,000 predictions"
        ),
        "versions": lambda: versions_table(root / "benchmarks" / "results" / "versions.json"),
        "evaluate_import": lambda: timings_table(module["import"], "import evaluate"),
        "mctaco_machine": lambda: (
            f"{found['machine']}; {found['software']}; closeread {found['closeread']}.\n"
        ),
        "mctaco_processes": lambda: timings_table(found["processes"], peer),
        "mctaco_in_process": lambda: timings_table(found["in_process"], f"{peer}, files to scores"),
        "mctaco_resampling": lambda: timings_table(
            found["resampling"], f"{peer}, 1,000 resampled files"
        ),
        "mctaco_growth": lambda: growth_table(found["growth"], peer),
        **coref_parts(
            json.loads((root / "benchmarks" / "results" / "coref.json").read_text("utf-8"))
        ),
        **{
            name: part for corpus in MEASURED for name, part in measured_parts(root, corpus).items()
        },
    }


def neural_parts(root: Path) -> dict[str, Callable[[], str]]:
    """The generators of the parts of the page on trained models, by name."""
    found = json.loads((root / "benchmarks" / "results" / "neural.json").read_text("utf-8"))
    time = found["predicting"]
    predicted = f"{time['seconds']:.0f} seconds to predict {time['documents']:,} documents, with {time['threads']} threads"
    return {
        "neural_machine": lambda: _describe_machines(found),
        "neural_tne": lambda: links_table(found["tne"]),
        "neural_prepositions": lambda: prepositions_table(found["tne"]),
        "neural_mctaco": lambda: classifiers_table(found["mctaco"]),
        "neural_curve": lambda: curve_table(found["curve"]),
        "neural_predicting": lambda: (
            f"The coupled model with the tuned encoder takes {predicted}.\n"
        ),
    }


def _describe_machines(found: Any) -> str:
    """On which machines the models were trained."""
    titles = {"tne": "TNE", "mctaco": "McTaco", "curve": "the learning curve"}
    trained = [
        f"{' and '.join(title for part, title in titles.items() if found['machines'][part] == machine)} on {machine}"
        for machine in dict.fromkeys(found["machines"].values())
    ]
    return f"{'; '.join(trained)}; {found['software']}; closeread {found['closeread']}.\n"


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


def versions_table(path: Path) -> str:
    """CPU seconds of two versions, and the ratios of time and memory, by command."""
    rows = [
        [what, *(f"{row[name]:.2f}" for name in ("old", "new", "ratio", "peak_ratio"))]
        for what, row in json.loads(path.read_text("utf-8"))["commands"].items()
    ]
    return draw_markdown(Grid("", ["command", "before", "after", "ratio", "memory, ratio"], rows))


def measured_parts(root: Path, name: str) -> dict[str, Callable[[], str]]:
    """The generators for a result file that names its tables and peers."""
    found = json.loads((root / "benchmarks" / "results" / f"{name}.json").read_text("utf-8"))
    about = f"{found['machine']}; {found['software']}; closeread {found['closeread']}.\n"
    tables = {
        f"{name}_{table}": partial(
            timings_table, figures["timings"], figures["peer"], found.get("limit")
        )
        for table, figures in found["tables"].items()
    }
    growth = {
        f"{name}_{table}": partial(
            sizes_table, figures["seconds"], figures["peer"], figures["unit"], figures["limit"]
        )
        for table, figures in found.get("growth", {}).items()
    }
    return {f"{name}_machine": lambda: about, **tables, **growth}


def coref_parts(found: Mapping[str, Any]) -> dict[str, Callable[[], str]]:
    """The generators for the coreference results."""
    limit = found["limit"]
    about = f"{found['machine']}; {found['software']}; closeread {found['closeread']}.\n"
    return {
        "coref_machine": lambda: about,
        "coref_litbank": lambda: peers_table(found["litbank"], limit),
        "coref_copies": lambda: peers_table(found["copies"], limit),
        "coref_one_document": lambda: peers_table(found["one_document"], limit),
        "coref_strings": lambda: peers_table(found["strings"], limit),
        "coref_scoring": lambda: timings_table(found["in_process"]["scoring"], "coval, 5 metrics"),
        "coref_reading": lambda: timings_table(found["in_process"]["reading"], "coval"),
        "coref_corefud": lambda: timings_table(found["corefud"]["processes"], "udapi"),
        "coref_resampling": lambda: timings_table(
            found["in_process"]["resampling"], "closeread, 1,000 resamples"
        ),
    }


def peers_table(found: Mapping[str, Any], limit: int) -> str:
    """Seconds of each process, also relative to ours, and peak MiB, also relative to the size of the files."""
    own = found["processes"]["closeread, all metrics"]["seconds"]
    base = found["base_mib"]
    rows = []
    for what, values in found["processes"].items():
        if values["seconds"] is None:
            rows.append([what, f"over {limit}", f"over {limit / own:.0f}", "", ""])
        else:
            above = max(values["peak_mib"] - base, 0)
            cells = [
                f"{values['seconds']:.2f}",
                f"{values['seconds'] / own:.2g}",
                f"{values['peak_mib']:.0f}",
            ]
            rows.append([what, *cells, f"{above / found['mib']:.1f}"])
    header = [
        "what",
        "seconds",
        "relative to ours",
        "peak MiB",
        "memory above idle, relative to file size",
    ]
    return draw_markdown(Grid("", header, rows, [f"Files: {found['mib']:.0f} MiB."]))


def timings_table(
    timings: Mapping[str, Mapping[str, float | None]], peer: str, limit: float | None = None
) -> str:
    """Seconds, and what else was measured, each with its ratio to a peer's; None where there was no result in time."""
    columns = {"seconds": ".4f", "cpu_seconds": ".3f", "per_second": ",.0f", "peak_mib": ".0f"}
    measured = [name for name in columns if name in timings[peer]]
    rows = [
        [
            what,
            *(
                cell
                for name in measured
                for cell in _format_with_ratio(
                    values[name], timings[peer][name], columns[name], limit
                )
            ),
        ]
        for what, values in timings.items()
    ]
    titles = {
        "seconds": "seconds",
        "cpu_seconds": "CPU seconds",
        "per_second": "texts per second",
        "peak_mib": "peak MiB",
    }
    header = ["what", *(cell for name in measured for cell in (titles.get(name, name), "ratio"))]
    return draw_markdown(Grid("", header, rows))


def growth_table(growth: Mapping[str, Mapping[str, Mapping[str, float]]], peer: str) -> str:
    """Seconds and MiB by size."""
    rows = [
        [
            f"{int(size):,}",
            what,
            *_format_with_ratio(values["seconds"], timings[peer]["seconds"], ".2f"),
            *_format_with_ratio(values["peak_mib"], timings[peer]["peak_mib"], ".0f"),
        ]
        for size, timings in growth.items()
        for what, values in timings.items()
    ]
    return draw_markdown(Grid("", ["rows", "what", "seconds", "ratio", "peak MiB", "ratio"], rows))


def sizes_table(sizes: Mapping[str, Mapping[str, Any]], peer: str, unit: str, limit: float) -> str:
    """Seconds by size, with a row for each size, each with its ratio to a peer's.

    Args:
        sizes: the seconds by size and tool; None if the tool did not finish within the limit, and the name of the error
            if it failed.
        peer: the tool that the others are compared with; it always finished.
        unit: the unit of the sizes.
        limit: the time limit in seconds.
    """
    names = list(dict.fromkeys(name for seconds in sizes.values() for name in seconds))
    rows = []
    for size, seconds in sizes.items():
        cells = {
            name: _format_seconds(value, seconds[peer], limit) for name, value in seconds.items()
        }
        rows.append([f"{int(size):,}", *(cells.get(name, "") for name in names)])
    return draw_markdown(Grid("", [unit, *(f"{name}, seconds" for name in names)], rows))


def _format_seconds(value: float | str | None, own: float, limit: float) -> str:
    """Seconds, and their ratio to a peer's."""
    if isinstance(value, str):
        return value
    if value == own:
        return f"{value:.4f}"
    times = float(f"{(limit if value is None else value) / own:.2g}")
    seconds = f"over {limit}" if value is None else f"{value:.4f}"
    return f"{seconds} (× {times:,.0f})" if times >= 10 else f"{seconds} (× {times:g})"


def _format_with_ratio(
    value: float | None, peer: float | None, style: str, limit: float | None = None
) -> tuple[str, str]:
    if value is None or peer is None:
        return f"over {limit:g}", ""
    return f"{value:{style}}", f"{value / peer:.2g}"
