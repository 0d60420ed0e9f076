"""Fills the generated parts of Markdown files, so that prose and code can't drift apart.

A generated part stands between ``<!-- generated: NAME -->`` and ``<!-- /generated -->``.  In a dataset card
``fields``, ``facts`` and ``options`` come from the corpus's schema, declaration and procedure.  Run
``python tools/documentation.py`` in a checkout to fill them; a test checks that nothing has drifted.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from closeread.corpora.declaration import Corpus
from closeread.corpora.gold import corpus_names, load_corpus
from closeread.corpora.schema import fields, load_schema
from closeread.counts.procedure import Procedure
from closeread.counts.rendering import Grid, draw
from closeread.files import write_text
from closeread.hf.modules import class_name
from closeread.tasks import load_procedure

MEASURED = ("possession", "tne", "timeline")
"""Benchmarks whose results name their tables."""

PART = re.compile(r"(<!-- generated: (?P<name>[a-z_]+) -->\n).*?(<!-- /generated -->)", re.DOTALL)


def filled(text: str, parts: Mapping[str, Callable[[], str]]) -> str:
    """The text with every generated part made anew.

    Raises:
        KeyError: a part has a name that nothing generates.
    """
    return PART.sub(lambda match: f"{match[1]}\n{parts[match['name']]()}\n{match[3]}", text)


def card_parts(corpus: Corpus) -> dict[str, Callable[[], str]]:
    """What generates each part of a corpus's card."""
    definitions = {config.definition for config in corpus.configs.values()}
    return {
        "fields": lambda: fields_table(corpus),
        **{f"fields_{name}": partial(fields_table, corpus, name) for name in definitions},
        "facts": lambda: facts_table(corpus),
        "citation": lambda: bibtex(corpus.citation),
        "options": lambda: options_table(load_procedure(corpus.procedure)),
    }


def fields_table(corpus: Corpus, definition: str = "document") -> str:
    """The fields of a record."""
    rows = [[f"`{f.name}`", f.type, f.description] for f in fields(load_schema(corpus.name), definition)]
    return draw(Grid("", ["field", "type", "what it holds"], rows), "markdown")


def facts_table(corpus: Corpus) -> str:
    """The declared figures, a column a split."""
    splits = list(dict.fromkeys(fact.split for fact in corpus.facts))
    values = {(fact.name, fact.split): f"{fact.value:,}" for fact in corpus.facts}
    names = list(dict.fromkeys(fact.name for fact in corpus.facts))
    rows = [[name, *(values.get((name, split), "") for split in splits)] for name in names]
    return draw(Grid("", ["figure", *splits], rows), "markdown")


def metric_parts(procedure: Procedure) -> dict[str, Callable[[], str]]:
    """What generates each part of a metric's card."""
    own = [name for name in corpus_names() if load_corpus(name).procedure == procedure.name]
    return {
        "options": lambda: options_table(procedure),
        "scores": lambda: scores_table(procedure),
        "citation": lambda: bibtex(procedure.citation or load_corpus(own[0]).citation),
    }


def bibtex(entry: str) -> str:
    """A BibTeX entry as a fenced block."""
    return f"```bibtex\n{entry}\n```\n"


def procedure_of(metric: str) -> Procedure:
    """The procedure that an evaluate module computes."""
    module = importlib.import_module(f"closeread.metrics.{metric}.{metric}")
    procedure: Procedure = getattr(module, class_name(metric)).PROCEDURE
    return procedure


def scores_table(procedure: Procedure) -> str:
    """The scores of a procedure."""
    rows = [[f"`{metric.name}`", metric.description] for metric in procedure.metrics]
    return draw(Grid("", ["score", "what it says"], rows), "markdown")


def options_table(procedure: Procedure) -> str:
    """The options of a procedure."""
    options = procedure.options
    rows = [
        [f"`{o.name}`", ", ".join(f"`{c}`" for c in o.choices) or o.needed, f"`{o.default}`", o.help] for o in options
    ]
    return draw(Grid("", ["option", "values", "default", "what it decides"], rows), "markdown")


def readme_parts(root: Path) -> dict[str, Callable[[], str]]:
    """What generates each part of the README, from results that are kept in the checkout."""
    kept = root / "benchmarks" / "results" / "coverage.json"
    return {"coverage": lambda: coverage_table(kept), "level": lambda: level_table(kept)}


def coverage_table(path: Path) -> str:
    """How often intervals hold the truth, a row a number of blocks, as `benchmarks/coverage.py` found it."""
    found = json.loads(path.read_text("utf-8"))["coverage"]
    metrics = list(next(iter(found.values())))
    rows = [[blocks, *(f"{100 * shares[name]:.1f} %" for name in metrics)] for blocks, shares in found.items()]
    return draw(Grid("", ["sentences", *metrics], rows), "markdown")


def level_table(path: Path) -> str:
    """How often each test finds a difference between equal systems, a row a number of blocks."""
    found = json.loads(path.read_text("utf-8"))["level"]
    rows = [
        [blocks, f"{100 * shares['p_randomization']:.1f} %", f"{100 * shares['p_bootstrap']:.1f} %"]
        for blocks, shares in found.items()
    ]
    return draw(Grid("", ["sentences", "randomization", "bootstrap"], rows), "markdown")


def benchmark_parts(root: Path) -> dict[str, Callable[[], str]]:
    """What generates each part of the benchmarks' page, from results that are kept in the checkout."""
    found = json.loads((root / "benchmarks" / "results" / "mctaco.json").read_text("utf-8"))
    peer = "official evaluator"
    module = json.loads((root / "benchmarks" / "results" / "evaluate_module.json").read_text("utf-8"))
    return {
        "evaluate_compute": lambda: timings_table(module["compute"], "compute of evaluate, 100,000 predictions"),
        "evaluate_import": lambda: timings_table(module["import"], "import evaluate"),
        "mctaco_machine": lambda: f"{found['machine']}; {found['software']}; closeread {found['closeread']}.\n",
        "mctaco_processes": lambda: timings_table(found["processes"], peer),
        "mctaco_in_process": lambda: timings_table(found["in_process"], f"{peer}, files to scores"),
        "mctaco_resampling": lambda: timings_table(found["resampling"], f"{peer}, 1,000 resampled files"),
        "mctaco_growth": lambda: growth_table(found["growth"], peer),
        **coref_parts(json.loads((root / "benchmarks" / "results" / "coref.json").read_text("utf-8"))),
        **{name: part for corpus in MEASURED for name, part in measured_parts(root, corpus).items()},
    }


def measured_parts(root: Path, name: str) -> dict[str, Callable[[], str]]:
    """What generates each part of the benchmarks' page from results that name their tables and peers."""
    found = json.loads((root / "benchmarks" / "results" / f"{name}.json").read_text("utf-8"))
    about = f"{found['machine']}; {found['software']}; closeread {found['closeread']}.\n"
    tables = {
        f"{name}_{table}": partial(timings_table, figures["timings"], figures["peer"])
        for table, figures in found["tables"].items()
    }
    growth = {
        f"{name}_{table}": partial(sizes_table, figures["seconds"], figures["peer"], figures["unit"], figures["limit"])
        for table, figures in found.get("growth", {}).items()
    }
    return {f"{name}_machine": lambda: about, **tables, **growth}


def coref_parts(found: Mapping[str, Any]) -> dict[str, Callable[[], str]]:
    """What generates each part of the benchmarks' page on coreference."""
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
        "coref_resampling": lambda: timings_table(found["in_process"]["resampling"], "closeread, 1,000 resamples"),
    }


def peers_table(found: Mapping[str, Any], limit: int) -> str:
    """Seconds of every process, as a multiple of ours, and peak MiB, as a multiple of the files' size."""
    own = found["processes"]["closeread, all metrics"]["seconds"]
    base = found["base_mib"]
    rows = []
    for what, values in found["processes"].items():
        if values["seconds"] is None:
            rows.append([what, f"over {limit}", f"over {limit / own:.0f}", "", ""])
        else:
            above = max(values["peak_mib"] - base, 0)
            cells = [f"{values['seconds']:.2f}", f"{values['seconds'] / own:.2g}", f"{values['peak_mib']:.0f}"]
            rows.append([what, *cells, f"{above / found['mib']:.1f}"])
    header = ["what", "seconds", "as a multiple of ours", "peak MiB", "above a bare start, by the files' size"]
    return draw(Grid("", header, rows, [f"Files: {found['mib']:.0f} MiB."]), "markdown")


def timings_table(timings: Mapping[str, Mapping[str, float]], peer: str) -> str:
    """Seconds, and MiB where they were measured, each with its ratio to a peer's."""
    columns = {"seconds": ".4f", "peak_mib": ".0f"}
    measured = [name for name in columns if name in timings[peer]]
    rows = [
        [what, *(cell for name in measured for cell in _with_ratio(values[name], timings[peer][name], columns[name]))]
        for what, values in timings.items()
    ]
    titles = {"seconds": "seconds", "peak_mib": "peak MiB"}
    header = ["what", *(cell for name in measured for cell in (titles[name], "ratio"))]
    return draw(Grid("", header, rows), "markdown")


def growth_table(growth: Mapping[str, Mapping[str, Mapping[str, float]]], peer: str) -> str:
    """Seconds and MiB by size."""
    rows = [
        [
            f"{int(size):,}",
            what,
            *_with_ratio(values["seconds"], timings[peer]["seconds"], ".2f"),
            *_with_ratio(values["peak_mib"], timings[peer]["peak_mib"], ".0f"),
        ]
        for size, timings in growth.items()
        for what, values in timings.items()
    ]
    return draw(Grid("", ["rows", "what", "seconds", "ratio", "peak MiB", "ratio"], rows), "markdown")


def sizes_table(sizes: Mapping[str, Mapping[str, Any]], peer: str, unit: str, limit: float) -> str:
    """Seconds by size, a row a size, each with how many times a peer's they are.

    Args:
        sizes: the seconds by size and what was measured; None where it did not end within the limit, and the name of an
            error where it ended with one.
        peer: what the others are compared with, which always ended.
        unit: what the sizes count.
        limit: how many seconds anything had.
    """
    names = list(dict.fromkeys(name for seconds in sizes.values() for name in seconds))
    rows = []
    for size, seconds in sizes.items():
        cells = {name: _beside(value, seconds[peer], limit) for name, value in seconds.items()}
        rows.append([f"{int(size):,}", *(cells.get(name, "") for name in names)])
    return draw(Grid("", [unit, *(f"{name}, seconds" for name in names)], rows), "markdown")


def _beside(value: float | str | None, own: float, limit: float) -> str:
    """Seconds, and how many times a peer's they are."""
    if isinstance(value, str):
        return value
    if value == own:
        return f"{value:.4f}"
    times = float(f"{(limit if value is None else value) / own:.2g}")
    told = f"over {limit}" if value is None else f"{value:.4f}"
    return f"{told} (× {times:,.0f})" if times >= 10 else f"{told} (× {times:g})"


def _with_ratio(value: float, peer: float, style: str) -> tuple[str, str]:
    return f"{value:{style}}", f"{value / peer:.2g}"


def main() -> None:
    """Fill the pages of the checkout that is the working directory."""
    root = Path()
    files = {root / "cards" / f"{name}.md": card_parts(load_corpus(name)) for name in corpus_names()}
    for folder in sorted((root / "metrics").glob("*/")):
        if (folder / "README.md").exists():
            files[folder / "README.md"] = metric_parts(procedure_of(folder.name))
    files[root / "README.md"] = readme_parts(root)
    files[root / "benchmarks" / "README.md"] = benchmark_parts(root)
    for path, parts in files.items():
        write_text(path, filled(path.read_text("utf-8"), parts))


if __name__ == "__main__":
    main()
