"""Bring the Markdown files of a checkout up to date, so that prose and code can't drift apart.

    python tools/documentation.py [PAGE ...]

* A generated part is the text between ``<!-- generated: NAME -->`` and ``<!-- /generated -->``.  In a dataset card,
  ``fields``, ``example``, ``facts``, ``options`` and ``citation`` come from the corpus's schema, sample, declaration
  and procedure.
* The README and the pages in ``docs/`` are run (see ``pages.py``): the output of their blocks and their pictures are
  replaced by what the commands print and draw now.

Without PAGE, all files are updated.  Tests check that nothing has drifted.
"""

from __future__ import annotations

import importlib
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from pages import find_drawn_pictures, find_pages, is_same_picture, run_page

from closeread.corpora.citing import join_entries, list_papers
from closeread.corpora.declaration import Corpus
from closeread.corpora.examples import abridge, example_record, example_submission
from closeread.corpora.gold import corpus_names, load_corpus
from closeread.corpora.schema import fields, load_schema
from closeread.counts.options import Option
from closeread.counts.rendering import Grid, Markup, draw
from closeread.files import write_text
from closeread.hf.metric import EvaluateModule
from closeread.hf.modules import class_name
from closeread.tasks import load_procedure

MEASURED = ("possession", "tne", "timeline", "marmara", "adjudication", "agreement", "leaderboard")
"""Benchmarks whose result files name their tables and peers."""

PART = re.compile(r"(<!-- generated: (?P<name>[a-z0-9_]+) -->\n).*?(<!-- /generated -->)", re.DOTALL)


def draw_markdown(grid: Grid) -> str:
    """Draw a grid whose cells are Markdown already, such as names in code."""
    rows = [[Markup(cell.replace("|", r"\|")) for cell in row] for row in grid.rows]
    return draw(replace(grid, header=[Markup(name) for name in grid.header], rows=rows), "markdown")


def fill_parts(text: str, parts: Mapping[str, Callable[[], str]]) -> str:
    """Return the text with its generated parts replaced.

    Raises:
        KeyError: there is no generator for the name of a part.
    """
    return PART.sub(lambda match: f"{match[1]}\n{parts[match['name']]()}\n{match[3]}", text)


def card_parts(corpus: Corpus) -> dict[str, Callable[[], str]]:
    """The generators of the parts of a dataset card, by name."""
    definitions = {config.definition for config in corpus.configs.values()}
    return {
        "fields": lambda: fields_table(corpus),
        **{f"fields_{name}": partial(fields_table, corpus, name) for name in definitions},
        "example": lambda: example_blocks(corpus),
        "facts": lambda: facts_table(corpus),
        "citation": lambda: bibtex(corpus.citation),
        "options": lambda: options_table(load_procedure(corpus.procedure).options),
    }


def fields_table(corpus: Corpus, definition: str = "document") -> str:
    """A table of the fields of a record."""
    rows = [[f"`{f.name}`", f.type, f.description] for f in fields(load_schema(corpus.name), definition)]
    return draw_markdown(Grid("", ["field", "type", "description"], rows))


def example_blocks(corpus: Corpus) -> str:
    """A gold record of the sample, abridged, and a valid line of a submission."""
    record, line = abridge(example_record(corpus)), example_submission(corpus)
    gold = f"A gold record of the sample, abridged:\n\n```text\n{record}\n```\n"
    return f"{gold}\nA line of a submission (JSON Lines):\n\n```json\n{line}\n```\n"


def facts_table(corpus: Corpus) -> str:
    """A table of the declared figures, with a column for each split."""
    splits = list(dict.fromkeys(fact.split for fact in corpus.facts))
    values = {(fact.name, fact.split): f"{fact.value:,}" for fact in corpus.facts}
    names = list(dict.fromkeys(fact.name for fact in corpus.facts))
    rows = [[name, *(values.get((name, split), "") for split in splits)] for name in names]
    return draw_markdown(Grid("", ["figure", *splits], rows))


def metric_parts(metric: str) -> dict[str, Callable[[], str]]:
    """The generators of the parts of the card of an evaluate module, by name."""
    module = find_module(metric)
    if not issubclass(module, EvaluateModule):  # a measure that compares annotators, and scores nothing
        return {
            "options": lambda: options_table(module.OPTIONS),
            "scores": lambda: scores_table(module.SCORES),
            "citation": lambda: bibtex(module.CITATION),
        }
    procedure = module.PROCEDURE
    return {
        "options": lambda: options_table([option for option in procedure.options if not option.reading]),
        "scores": lambda: scores_table({metric.name: metric.description for metric in procedure.metrics}),
        "citation": lambda: bibtex(join_entries(list_papers(procedure, procedure.families, module.CORPUS))),
    }


def bibtex(entry: str) -> str:
    """BibTeX entries as a fenced block."""
    return f"```bibtex\n{entry}\n```\n"


def find_module(metric: str) -> Any:
    """The class of an evaluate module."""
    module = importlib.import_module(f"closeread.metrics.{metric}.{metric}")
    return getattr(module, class_name(metric))


def scores_table(scores: Mapping[str, str]) -> str:
    """A table of scores and their descriptions."""
    rows = [[f"`{name}`", description] for name, description in scores.items()]
    return draw_markdown(Grid("", ["score", "description"], rows))


def options_table(options: Sequence[Option]) -> str:
    """A table of options."""
    rows = [
        [f"`{o.name}`", ", ".join(f"`{c}`" for c in o.choices) or o.expected, f"`{o.default}`", o.help] for o in options
    ]
    return draw_markdown(Grid("", ["option", "values", "default", "description"], rows))


def page_parts(root: Path) -> dict[str, Callable[[], str]]:
    """The generators of the parts of the README and of docs/, by name; they read the stored results of benchmarks."""
    kept = root / "benchmarks" / "results" / "coverage.json"
    return {"coverage": lambda: coverage_table(kept), "level": lambda: level_table(kept)}


def coverage_table(path: Path) -> str:
    """How often intervals contain the true score, by number of sentences, as measured by `benchmarks/coverage.py`."""
    found = json.loads(path.read_text("utf-8"))["coverage"]
    metrics = list(next(iter(found.values())))
    rows = [[blocks, *(f"{100 * shares[name]:.1f} %" for name in metrics)] for blocks, shares in found.items()]
    return draw_markdown(Grid("", ["sentences", *metrics], rows))


def level_table(path: Path) -> str:
    """How often each test finds a difference between equally good systems, by number of sentences."""
    found = json.loads(path.read_text("utf-8"))["level"]
    rows = [
        [blocks, f"{100 * shares['p_randomization']:.1f} %", f"{100 * shares['p_bootstrap']:.1f} %"]
        for blocks, shares in found.items()
    ]
    return draw_markdown(Grid("", ["sentences", "randomization", "bootstrap"], rows))


def benchmark_parts(root: Path) -> dict[str, Callable[[], str]]:
    """The generators of the parts of the benchmark page, by name; they read the stored results."""
    found = json.loads((root / "benchmarks" / "results" / "mctaco.json").read_text("utf-8"))
    peer = "official evaluator"
    module = json.loads((root / "benchmarks" / "results" / "evaluate_module.json").read_text("utf-8"))
    return {
        "evaluate_compute": lambda: timings_table(module["compute"], "compute of evaluate, 100,000 predictions"),
        "versions": lambda: versions_table(root / "benchmarks" / "results" / "versions.json"),
        "evaluate_import": lambda: timings_table(module["import"], "import evaluate"),
        "mctaco_machine": lambda: f"{found['machine']}; {found['software']}; closeread {found['closeread']}.\n",
        "mctaco_processes": lambda: timings_table(found["processes"], peer),
        "mctaco_in_process": lambda: timings_table(found["in_process"], f"{peer}, files to scores"),
        "mctaco_resampling": lambda: timings_table(found["resampling"], f"{peer}, 1,000 resampled files"),
        "mctaco_growth": lambda: growth_table(found["growth"], peer),
        **coref_parts(json.loads((root / "benchmarks" / "results" / "coref.json").read_text("utf-8"))),
        **{name: part for corpus in MEASURED for name, part in measured_parts(root, corpus).items()},
    }


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
        f"{name}_{table}": partial(timings_table, figures["timings"], figures["peer"], found.get("limit"))
        for table, figures in found["tables"].items()
    }
    growth = {
        f"{name}_{table}": partial(sizes_table, figures["seconds"], figures["peer"], figures["unit"], figures["limit"])
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
        "coref_resampling": lambda: timings_table(found["in_process"]["resampling"], "closeread, 1,000 resamples"),
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
            cells = [f"{values['seconds']:.2f}", f"{values['seconds'] / own:.2g}", f"{values['peak_mib']:.0f}"]
            rows.append([what, *cells, f"{above / found['mib']:.1f}"])
    header = ["what", "seconds", "relative to ours", "peak MiB", "memory above idle, relative to file size"]
    return draw_markdown(Grid("", header, rows, [f"Files: {found['mib']:.0f} MiB."]))


def timings_table(timings: Mapping[str, Mapping[str, float | None]], peer: str, limit: float | None = None) -> str:
    """Seconds, and what else was measured, each with its ratio to a peer's; None where there was no result in time."""
    columns = {"seconds": ".4f", "per_second": ",.0f", "peak_mib": ".0f"}
    measured = [name for name in columns if name in timings[peer]]
    rows = [
        [
            what,
            *(
                cell
                for name in measured
                for cell in _format_with_ratio(values[name], timings[peer][name], columns[name], limit)
            ),
        ]
        for what, values in timings.items()
    ]
    titles = {"seconds": "seconds", "per_second": "texts per second", "peak_mib": "peak MiB"}
    header = ["what", *(cell for name in measured for cell in (titles[name], "ratio"))]
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
        cells = {name: _format_seconds(value, seconds[peer], limit) for name, value in seconds.items()}
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


def update_page(page: Path) -> None:
    """Run a page and replace its output and its pictures by what its commands print and draw now."""
    with tempfile.TemporaryDirectory() as folder:
        text = page.read_text("utf-8")
        write_text(page, run_page(text, Path(folder)))
        for picture, name in find_drawn_pictures(page).items():
            if not picture.exists() or not is_same_picture(picture, Path(folder) / name):
                picture.parent.mkdir(exist_ok=True)
                shutil.copyfile(Path(folder) / name, picture)


def main() -> None:
    """Update the files of the checkout that is the working directory, or those named on the command line."""
    root = Path()
    pages = find_pages(root)
    files = {
        **{root / "cards" / f"{name}.md": card_parts(load_corpus(name)) for name in corpus_names()},
        **{card: metric_parts(card.parent.name) for card in (root / "metrics").glob("*/README.md")},
        **dict.fromkeys(pages, page_parts(root)),
        root / "benchmarks" / "README.md": benchmark_parts(root),
    }
    for path in [Path(argument) for argument in sys.argv[1:]] or files:
        write_text(path, fill_parts(path.read_text("utf-8"), files[path]))
        if path in pages:
            update_page(path)


if __name__ == "__main__":
    main()
