"""Build the site: `python tools/build_site.py FOLDER [--notebooks]`.

The pages in ``docs/`` and the cards of corpora and metrics are copied to ``FOLDER/source``, with links between them as
the site has them; pages on commands, functions, formats and corpora are made there from the declarations.  Sphinx
turns them into ``FOLDER/html``, and treats a warning as an error.  Nothing is fetched.  ``--notebooks`` runs the
notebooks, and shows what they print.
"""

from __future__ import annotations

import argparse
import inspect
import os
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from contract import describe_python
from markdown_tables import draw_markdown
from pictures import draw_annotators

import closeread
from closeread.cli import TOPICS
from closeread.cli import main as command_line
from closeread.corpus.names import corpus_names
from closeread.hf.modules import module_names
from closeread.tables import Grid

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"(?<=\]\()(?!\w+:)([^)#\s]+)(?=[)#])")
HOME = "index.md"
README_LINK = "The [README](../README.md) shows how to install closeread, and a first score.\n"
CARD_LINK = re.compile(
    r"^The \[dataset card\]\(\.\./(cards/\w+\.md)\) describes the corpus\.$", re.MULTILINE
)
"""In a page on a corpus, the paragraph in whose place the site shows the card itself."""


def list_sources() -> dict[Path, str]:
    """Every file of the checkout that the site shows, and its place there.

    A dataset card has the place of the page on its corpus, which includes it.

    Raises:
        LookupError: no page includes the card of a corpus.
    """
    sources = {
        ROOT / "benchmarks" / "README.md": "reference/benchmarks.md",
        ROOT / "benchmarks" / "neural.md": "reference/neural.md",
        ROOT / "CHANGELOG.md": "changelog.md",
        ROOT / "CONTRIBUTING.md": "contributing.md",
        ROOT / "ARCHITECTURE.md": "architecture.md",
    }
    for name in module_names():
        sources[ROOT / "metrics" / name / "README.md"] = f"metrics/{name}.md"
    for path in (ROOT / "docs").rglob("*"):
        if not path.is_file() or "__pycache__" in path.parts:
            continue
        place = path.relative_to(ROOT / "docs").as_posix()
        sources[path] = place
        if path.suffix == ".md":
            for card in CARD_LINK.findall(path.read_text("utf-8")):
                sources[ROOT / card] = place
    for name in corpus_names():
        if ROOT / "cards" / f"{name}.md" not in sources:
            raise LookupError(f"no page in docs/ includes the card of {name}")
    return sources


def move_links(text: str, source: Path, sources: dict[Path, str]) -> str:
    """Let the links of a page lead to the same pages on the site.

    Raises:
        LookupError: the site does not have the file that a link leads to.
    """

    def move(match: re.Match[str]) -> str:
        target = (source.parent / match[1]).resolve()
        if target == ROOT / "README.md":
            target = ROOT / "docs" / "index.md"
        if target not in sources:
            raise LookupError(f"{source}: the site has no {match[1]}")
        return os.path.relpath(sources[target], Path(sources[source]).parent)

    return LINK.sub(move, text)


def read_first_screen() -> str:
    """The README up to its first section, without the title, with links as they are from docs/."""
    readme = ROOT / "README.md"
    screen = readme.read_text("utf-8").partition("\n## ")[0].partition("\n\n")[2]
    return LINK.sub(lambda link: os.path.relpath(readme.parent / link[1], ROOT / "docs"), screen)


def copy_pages(folder: Path) -> None:
    """Copy what the checkout has."""
    sources = list_sources()
    for source, place in sources.items():
        if source.parent == ROOT / "cards":
            continue  # the page on the corpus includes it
        target = folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.suffix != ".md":
            shutil.copyfile(source, target)
            continue
        text = source.read_text("utf-8")
        if place == HOME:
            text = text.replace(README_LINK, read_first_screen())
        elif place.startswith("metrics/"):
            title = re.compile(r"^# Metric card for (?:the )?(.)")
            text = title.sub(lambda match: f"# {match[1].upper()}", strip_metadata(text))
            # only doctest wants a line after what is printed
            text = text.replace("\n\n```\n", "\n```\n")
        elif match := CARD_LINK.search(text):
            text = include_card(text, strip_metadata((ROOT / match[1]).read_text("utf-8")))
        target.write_text(move_links(text, source, sources), "utf-8")


def strip_metadata(card: str) -> str:
    """A card without the lines for the Hub at its top."""
    return card.split("---\n", 2)[2].lstrip()


def include_card(page: str, card: str) -> str:
    """The page on a corpus: its dataset card, how to use the corpus, and the citation that ends the card."""
    description, citation = card.split("\n## Citation\n")
    usage = page.partition("\n\n")[2]
    usage = CARD_LINK.sub(lambda _: description.strip(), usage)
    return f"{usage.strip()}\n\n## Citation\n{citation}"


class Sections(click.HelpFormatter):
    """Collects the sections of a command's help instead of drawing them."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, list[tuple[str, str]]] = {}
        self.name = ""

    @contextmanager
    def section(self, name: str) -> Iterator[None]:
        """Begin a section."""
        self.name = name
        yield

    def write_dl(self, rows: Any, col_max: int = 30, col_spacing: int = 2) -> None:
        """Keep the rows of the section."""
        self.found[self.name] = list(rows)


def write_command(context: click.Context, folder: Path) -> None:
    """Write the page of a command, and those of its subcommands; the text is that of its help."""
    command, path = context.command, context.command_path
    sections = Sections()
    command.format_options(context, sections)
    prose, examples = describe_command(command)
    usage = " ".join([path, *command.collect_usage_pieces(context)])
    text = f"# {path}\n\n{prose}\n\n```text\n{usage}\n```\n"
    if examples:
        text += f"\n## Examples\n\n```text\n{examples}\n```\n"
    for name, rows in sections.found.items():
        if "Commands" not in name and not isinstance(command, click.Group):
            text += f"\n## {name}\n\n" + "\n".join(
                f"`{one}`\n: {escape(' '.join(words.split()))}\n" for one, words in rows
            )
    if isinstance(command, click.Group):
        names = [
            name
            for name in command.list_commands(context)
            if not command.get_command(context, name).hidden
        ]
        for topic, members in (
            TOPICS.items() if command is command_line else [("", " ".join(names))]
        ):
            rows = []
            for name in members.split():
                one = command.get_command(context, name)
                write_command(
                    click.Context(one, info_name=name, parent=context, **command.context_settings),
                    folder,
                )
                rows.append(
                    [
                        f"[{name}]({page_name(f'{path} {name}')}.md)",
                        escape(one.get_short_help_str(200)),
                    ]
                )
            text += f"\n## {topic}\n" if topic else ""
            text += "\n" + draw_markdown(Grid("", ["command", "what it does"], rows)) + "\n"
        text += "\n" + toctree([page_name(f"{path} {name}") for name in names])
    (folder / f"{page_name(path)}.md").write_text(text, "utf-8")


def describe_command(command: click.Command) -> tuple[str, str]:
    """The prose of a command's help, and its examples."""
    prose, _, examples = inspect.cleandoc(command.help or "").partition("\b\nExamples:\n")
    paragraphs = []
    for part in re.split(r"\n\s*\n", prose.strip()):
        head, _, lines = (
            part.removeprefix("\b\n").partition("\n") if part.startswith("\b") else (part, "", "")
        )
        paragraphs.append(
            escape(head) + (f"\n\n```text\n{textwrap.dedent(lines)}\n```" if lines else "")
        )
    return "\n\n".join(paragraphs), inspect.cleandoc(examples)


def page_name(path: str) -> str:
    """The file of a command's page."""
    return path.removeprefix("closeread ").replace(" ", "-")


def escape(text: str) -> str:
    """Let Markdown show words of help as they are, but for code between backquotes."""
    pieces = re.split(r"(`[^`]*`)", text)
    return "".join(
        piece if i % 2 else re.sub(r"([\\*_<\[|#$])", r"\\\1", piece)
        for i, piece in enumerate(pieces)
    )


def toctree(pages: list[str]) -> str:
    """A list of pages for the navigation."""
    return "\n".join(["```{toctree}", ":hidden:", "", *pages, "```", ""])


def write_commands(folder: Path) -> None:
    """Write a page for each command, and one that lists them."""
    folder.mkdir(parents=True)
    write_command(
        click.Context(command_line, info_name="closeread", **command_line.context_settings), folder
    )
    (folder / "closeread.md").rename(folder / "index.md")


def write_functions(folder: Path) -> None:
    """Write a page for each group of public names, as the docstring of the package groups them."""
    folder.mkdir(parents=True)
    groups = re.findall(
        r"^(\w[\w ]+): (`.*?)\.$", closeread.__doc__ or "", re.MULTILINE | re.DOTALL
    )
    listed = {title: re.findall(r"`(\w+)", names) for title, names in groups}
    listed["Warnings and errors"] = [
        "CloseReadWarning",
        "InputError",
        "RequestError",
        "MissingExtraError",
    ]
    described = describe_python()
    missing = (
        described.keys() - {name for names in listed.values() for name in names} - {"exceptions"}
    )
    if missing:
        raise LookupError(f"the docstring of closeread does not list {', '.join(sorted(missing))}")
    pages, rows = [], []
    for title, names in listed.items():
        pages.append(re.sub(r"\W+", "-", title.lower()))
        parts = [describe_name(name, getattr(closeread, name), described[name]) for name in names]
        (folder / f"{pages[-1]}.md").write_text(f"# {title}\n\n" + "\n".join(parts), "utf-8")
        links = ", ".join(f"[`{name}`]({pages[-1]}.md#{name.lower()})" for name in names)
        rows.append([f"[{title}]({pages[-1]}.md)", links])
    head = "# Python\n\n[Python](../../python.md) shows how the functions work together.\n\n"
    table = draw_markdown(Grid("", ["page", "functions and classes"], rows))
    (folder / "index.md").write_text(f"{head}{table}\n{toctree(pages)}", "utf-8")


def describe_name(name: str, found: Any, signature: Any) -> str:
    """Describe a function, or a class with its members, in Markdown."""
    if not inspect.isclass(found):
        return f"## {name}\n\n" + describe_function(f"closeread.{name}", signature, found)
    text = f"## {name}\n\n{translate_docstring(inspect.getdoc(found))}"
    for member, sign in signature.items():
        if sign != "attribute" and member != "()":
            text += f"\n### {name}.{member}\n\n" + describe_function(
                f".{member}", sign, getattr(found, member)
            )
    return text


def describe_function(name: str, signature: str, function: Any) -> str:
    """Describe a function by its signature, a parameter a line, and its docstring."""
    depth, text = 0, ""
    for before, sign in zip(" " + signature, signature, strict=False):
        depth += (sign in "([{") - (sign in ")]}")
        is_space = sign == " " and before == "," and depth == 1 and len(signature) > 60
        text += (
            "\n    "
            if is_space
            or (before == "(" and depth == 1 and len(signature) > 60 and "\n" not in text)
            else ""
        )
        text += "" if is_space else sign
    return f"```python\n{name}{text}\n```\n\n{translate_docstring(inspect.getdoc(function))}"


def translate_docstring(text: str | None) -> str:
    """Turn a docstring into Markdown: examples into blocks of code, sections into lists."""
    found = ""
    for part in re.split(r"\n\s*\n", text or ""):
        head, _, rest = part.strip("\n").partition("\n")
        if head.startswith(">>>"):
            found += f"```python\n{part}\n```\n\n"
        elif head == "On the command line:":
            found += f"{head}\n\n```text\n{inspect.cleandoc(rest)}\n```\n\n"
        elif head == "Returns:":
            found += f"**Returns**\n\n{escape(inspect.cleandoc(rest))}\n\n"
        elif head in ("Args:", "Raises:", "Attributes:") or head.startswith("Options of "):
            found += (
                f"**{ {'Args:': 'Parameters', 'Raises:': 'Errors'}.get(head, head[:-1]) }**\n\n"
            )
            for entry in re.sub(r"\n\s+", " ", inspect.cleandoc(rest)).splitlines():
                names, _, words = entry.partition(": ")
                found += f"- `{names}`: {escape(words)}\n"
            found += "\n"
        else:
            found += f"{escape(part)}\n\n"
    return found


def write_gallery(folder: Path) -> None:
    """Write the pages that the gallery links."""
    folder.mkdir(parents=True)
    (folder / "annotators.html").write_text(draw_annotators(), "utf-8")
    (folder / "systems.html").write_text(draw_annotators(["ben", "cleo"]), "utf-8")


def write_site(folder: Path) -> None:
    """Write the sources of all pages."""
    write_gallery(folder / "extra" / "gallery")
    copy_pages(folder)
    write_commands(folder / "reference" / "commands")
    write_functions(folder / "reference" / "python")


def main() -> None:
    """Build the site."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--notebooks", action="store_true", help="run the notebooks")
    given = parser.parse_args()
    source, html = given.folder / "source", given.folder / "html"
    shutil.rmtree(given.folder, ignore_errors=True)
    write_site(source)
    environment = {**os.environ, "CLOSEREAD_NOTEBOOKS": "force" if given.notebooks else "off"}
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-W",
        "--keep-going",
        "-q",
        "-b",
        "html",
        str(source),
        str(html),
    ]
    raise SystemExit(subprocess.run(command, env=environment, check=False).returncode)


if __name__ == "__main__":
    main()
