"""Bring the Markdown files of a checkout up to date, so that prose and code can't drift apart.

    python tools/documentation.py [PAGE ...]

* A generated part is the text between ``<!-- generated: NAME -->`` and ``<!-- /generated -->``.  In a dataset card,
  ``fields``, ``example``, ``facts``, ``options`` and ``citation`` come from the corpus's schema, sample, declaration
  and procedure.  In the card of a metric, ``options``, ``scores`` and ``citation`` come from its module, and other parts
  from ``metric_card.md``.
* The README and the pages in ``docs/`` are run (see ``pages.py``): the output of their blocks and their pictures are
  replaced by what the commands print and draw now.

Without PAGE, all files are updated.  Tests check that nothing has drifted.
"""

from __future__ import annotations

import importlib
import re
import shutil
import sys
import tempfile
import textwrap
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from pkgutil import iter_modules
from string import Template
from typing import Any

from benchmark_tables import benchmark_parts, models_table, neural_parts
from markdown_tables import draw_markdown
from pages import find_drawn_pictures, find_pages, is_same_picture, run_page

from closeread.corpus.citing import join_entries, list_papers
from closeread.corpus.declaration import Corpus
from closeread.corpus.names import corpus_names, load_corpus
from closeread.corpus.schema import fields, load_schema
from closeread.corpus.showing import abridge, example_record, example_submission
from closeread.counts.procedure import Option
from closeread.files import write_text
from closeread.hf.modules import class_name
from closeread.tables import Grid
from closeread.tasks import load_procedure, procedure_names

ROOT = Path(__file__).parents[1]

METRIC_CARD = Path(__file__).parent / "metric_card.md"
"""What the cards of metrics have in common."""

PART = re.compile(
    r"(<!-- generated: (?P<name>[a-z0-9_]+) -->\n).*?(<!-- /generated -->)", re.DOTALL
)


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
        "models": lambda: models_table(ROOT, corpus.name),
        "getting": lambda: getting_list(corpus),
        "printed": lambda: printed_table(corpus),
        "remarks": lambda: bullets([*corpus.remarks, *publishing_remark(corpus)]),
    }


def bullets(sentences: Sequence[str]) -> str:
    """A list of sentences."""
    lines = [textwrap.fill(f"- {text}", 130, subsequent_indent="  ") for text in sentences]
    return "\n".join(lines) + "\n"


def getting_list(corpus: Corpus) -> str:
    """How to get the files of a corpus."""
    steps = corpus.instructions or ("The files are downloaded when they are first used.",)
    return bullets(steps)


def publishing_remark(corpus: Corpus) -> list[str]:
    """Say that a corpus may not be published by others, if so."""
    if not corpus.redistribution:
        return []
    return [f"closeread publishes nothing of it but the sample: {corpus.redistribution}."]


def printed_table(corpus: Corpus) -> str:
    """A table of the figures that the authors print, beside those of the files."""
    counted = {(fact.config, fact.split, fact.name): fact.value for fact in corpus.facts}
    rows = []
    for printed in corpus.printed:
        value = counted.get((printed.config, printed.split, printed.name))
        files = "" if value is None else f"{value:,}"
        rows.append(
            [printed.name, printed.split, f"{printed.value:,}", files, printed.where, printed.why]
        )
    if not rows:
        return "Its authors print no figures that could be compared with the files.\n"
    return draw_markdown(Grid("", ["figure", "split", "printed", "files", "where", "why"], rows))


LICENCES = {"CC BY 4.0": "cc-by-4.0", "none stated by the authors": "unknown"}
"""Licences in the words of the Hub; any other is "other"."""


def write_family_card(corpus: Corpus) -> str:
    """The card of a corpus of a family before its parts are generated, from the template that all of the family share."""
    template = Template((ROOT / "tools" / f"{corpus.family}_corpus_card.md").read_text("utf-8"))
    is_own = not corpus.configs[corpus.default_config].splits[corpus.default_split].url
    preset = f", with the preset `{corpus.preset}` unless another is given"
    return template.substitute(
        name=corpus.name,
        title=corpus.title,
        language=corpus.language,
        license=LICENCES.get(corpus.licence, "other"),
        size=corpus.size,
        description=textwrap.fill(corpus.description, 130),
        homepage=corpus.homepage,
        licence=corpus.licence,
        data_dir=', data_dir="FOLDER"' if is_own else "",
        preset=preset if corpus.preset else "",
    )


def fields_table(corpus: Corpus, definition: str = "document") -> str:
    """A table of the fields of a record."""
    rows = [
        [f"`{f.name}`", f.type, f.description]
        for f in fields(load_schema(corpus.schema), definition)
    ]
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
    from closeread.hf.metric import EvaluateModule  # not above: it takes seconds to import

    module = find_module(metric)
    common = common_parts(metric)
    # a measure that compares annotators, and scores nothing
    if not issubclass(module, EvaluateModule):
        return {
            **common,
            "options": lambda: options_table(module.OPTIONS),
            "scores": lambda: scores_table(module.SCORES),
            "citation": lambda: bibtex(module.CITATION),
        }
    procedure = module.PROCEDURE
    return {
        **common,
        "options": lambda: options_table(
            [option for option in procedure.options if not option.reading]
        ),
        "scores": lambda: scores_table(
            {metric.name: metric.description for metric in procedure.metrics}
        ),
        "citation": lambda: bibtex(
            join_entries(list_papers(procedure, procedure.families, module.CORPUS))
        ),
    }


def common_parts(metric: str) -> dict[str, Callable[[], str]]:
    """The generators of the parts that cards of metrics have in common, by name."""
    template = METRIC_CARD.read_text("utf-8")
    _, *pieces = re.split(r"<!-- part: (\w+) -->\n", template)
    parts = {}
    for name, text in zip(pieces[::2], pieces[1::2], strict=True):
        # Formatters of tables end with a newline, too.
        parts[name] = partial(str, text.strip().replace("MODULE", metric) + "\n")
    return parts


def bibtex(entry: str) -> str:
    """BibTeX entries as a fenced block."""
    return f"```bibtex\n{entry}\n```\n"


def find_module(metric: str) -> Any:
    """The class of an evaluate module."""
    module = importlib.import_module(f"closeread.evaluate_modules.{metric}.{metric}")
    return getattr(module, class_name(metric))


def scores_table(scores: Mapping[str, str]) -> str:
    """A table of scores and their descriptions."""
    rows = [[f"`{name}`", description] for name, description in scores.items()]
    return draw_markdown(Grid("", ["score", "description"], rows))


def options_table(options: Sequence[Option]) -> str:
    """A table of options."""
    rows = [
        [
            f"`{o.name}`",
            ", ".join(f"`{c}`" for c in o.choices) or o.expected,
            f"`{o.default}`",
            o.help,
        ]
        for o in options
    ]
    return draw_markdown(Grid("", ["option", "values", "default", "description"], rows))


def page_parts() -> dict[str, Callable[[], str]]:
    """The generators of the parts of the README and of docs/, by name."""
    return {
        "formats": formats_table,
        "metrics": metrics_table,
        "corpora": corpora_table,
    }


def list_options() -> str:
    """The options of all procedures, as the docstring of `closeread.score` lists them."""
    found = []
    for procedure in map(load_procedure, procedure_names()):
        found.append(f"Options of {procedure.name}:")
        for one in procedure.options:
            *first, last = [
                f"{name!r}{' (default)' * (name == one.default)}" for name in one.choices
            ] or [one.expected]
            default = "" if one.choices or not one.default else f" ({one.default!r} by default)"
            text = (
                f"{one.name}: {', '.join(first)}{' or ' * bool(first)}{last}{default}. {one.help}"
            )
            found.append(
                textwrap.fill(text, 116, initial_indent=" " * 4, subsequent_indent=" " * 8)
            )
        found.append("")
    return "\n".join(found[:-1])


def formats_table() -> str:
    """What is read and written in each format, and by the commands of which task, as the formats declare it."""
    package = importlib.import_module("closeread.tasks.coref.formats")
    found = [
        ("coref", f"{package.__name__}.{module.name}", "key, response")
        for module in iter_modules(package.__path__)
    ]
    for corpus in map(load_corpus, corpus_names()):
        home = f"closeread.tasks.{corpus.task}."
        names = dict.fromkeys(
            [corpus.format, *(one.format for one in corpus.configs.values() if one.format)]
        )
        found += [(corpus.name, home + name, "gold") for name in names]
        found += [(corpus.name, home + name, "predictions") for name in corpus.submission_formats]
    suffixes_of_module = {form.module: form.suffixes for form in package.FORMATS.values()}
    rows = []
    for task, path, what in found:
        module = importlib.import_module(path)
        gold, sent = getattr(module, "FORMAT", None), getattr(module, "SUBMISSION", None)
        if what == "predictions":
            suffix, reads, writes = (
                getattr(sent, "suffix", None),
                sent,
                getattr(sent, "dump", None) or getattr(sent, "write", None),
            )
        elif gold is not None:
            suffix, reads, writes = (
                ", ".join(
                    suffixes_of_module.get(path.rpartition(".")[2], ()) if task == "coref" else ()
                ),
                gold,
                gold.write,
            )
        else:
            continue
        title = (
            (module.__doc__ or "")
            .split("\n\n")[0]
            .replace("\n", " ")
            .partition(". ")[0]
            .rstrip(".")
        )
        done = [one for one, can in (("read", reads), ("written", writes)) if can]
        rows.append(
            [
                f"`{task}`",
                what,
                title.replace("``", "`"),
                f"`{suffix}`" if suffix else "",
                ", ".join(done),
            ]
        )
    return draw_markdown(Grid("", ["task", "what", "format", "suffixes", ""], rows))


def metrics_table() -> str:
    """The evaluate modules, and what each measures."""
    from closeread.hf.modules import module_names

    rows = []
    for name in module_names():
        card = (ROOT / "metrics" / name / "README.md").read_text("utf-8")
        rows.append(
            [
                f"[`{name}`](../metrics/{name}/README.md)",
                card.split("\ndescription: ")[1].partition("\n")[0],
            ]
        )
    return draw_markdown(Grid("", ["metric", "what it measures"], rows))


def corpora_table() -> str:
    """The corpora, with their licences and sizes."""
    rows = [
        [
            f"[{corpus.title}](../cards/{name}.md)",
            corpus.language,
            corpus.licence,
            ", ".join(corpus.configs),
        ]
        for name, corpus in ((name, load_corpus(name)) for name in corpus_names())
    ]
    return draw_markdown(Grid("", ["card", "language", "licence", "configs"], rows))


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
        **dict.fromkeys(pages, page_parts()),
        root / "benchmarks" / "README.md": benchmark_parts(root),
        root / "benchmarks" / "neural.md": neural_parts(root),
    }
    family = {
        root / "cards" / f"{name}.md": load_corpus(name)
        for name in corpus_names()
        if load_corpus(name).family
    }
    for path in [Path(argument) for argument in sys.argv[1:]] or files:
        text = write_family_card(family[path]) if path in family else path.read_text("utf-8")
        write_text(path, fill_parts(text, files[path]))
        if path in pages:
            update_page(path)


if __name__ == "__main__":
    main()
