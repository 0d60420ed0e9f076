"""Markdown pages whose fenced blocks run: their commands, what these print, and the pictures that they draw.

A page is run from top to bottom in one folder, because later blocks use the files of earlier ones:

* ``console``: each line that begins with ``$`` is a command; the lines below it are its output.
* ``python``: a program; a ``text`` block right after it is what it prints.
* ``sh``: commands for a fresh clone, which the gate runs.

Console blocks find the checkout's folder ``loaders``, since its samples are files to try commands on.

A block after ``<!-- needs the corpora -->`` is run only if ``CLOSEREAD_DATA`` is set, and a block after ``<!-- needs a
Hub -->``, ``<!-- needs Wikipedia -->``, ``<!-- needs a spaCy model -->`` or ``<!-- needs an encoder -->`` by a test
that has a stand-in for it.  A block of an engine, such as ``<!-- needs ray -->`` or
``<!-- needs inspect-ai -->``, is run by a test if the engine is
installed.  A picture ``images/NAME`` is written by a command of some page with ``-o NAME``.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from itertools import groupby, pairwise
from pathlib import Path

LOADERS = Path(__file__).parents[1] / "loaders"
HIDDEN = Path(__file__).parent / "hidden"
"""A folder for PYTHONPATH: evaluate takes seconds to import transformers, which no page needs."""

BLOCK = re.compile(
    r"(?P<needs><!-- needs "
    r"(?:the corpora|a Hub|Wikipedia|a spaCy model|an encoder|inspect-ai|lm-eval|ray|dask|spark|slurm) -->\n)?"
    r"```(?P<kind>\w+)\n(?P<body>.*?)```",
    re.DOTALL,
)
PICTURE = re.compile(r"!\[[^\]]*\]\((?P<path>(?:docs/|\.\./)?images/(?P<name>[\w.-]+))\)")
ID = re.compile(r"\b[0-9a-f]{12}(?= submitted to|\):)")
"""The id of a submission, which depends on the time and the user."""

SHAPE = re.compile(r"<(path|text)\b([^>]*)>([^<]*)")

RUN_PROGRAMS = """
import contextlib, io, json, sys
printed = []
for program in json.load(sys.stdin):
    with contextlib.redirect_stdout(io.StringIO()) as output:
        exec(compile(program, "<block>", "exec"), {"__name__": "__main__"})
    printed.append(output.getvalue())
json.dump(printed, sys.stdout)
"""


def find_pages(root: Path) -> list[Path]:
    """The README and the pages in docs/, without the notebooks, which the site runs."""
    pages = sorted((root / "docs").rglob("*.md"))
    return [root / "README.md", *(page for page in pages if page.parent.name != "notebooks")]


def find_blocks(text: str) -> list[re.Match[str]]:
    """The fenced blocks in order, as matches with the groups needs, kind and body."""
    return list(BLOCK.finditer(text))


def run_page(text: str, folder: Path) -> str:
    """Run the blocks of a page in a folder and return the page with what they print now.

    Raises:
        RuntimeError: a Python block fails.
    """
    bodies = {}
    if not (folder / LOADERS.name).exists():
        (folder / LOADERS.name).symlink_to(LOADERS)
    # Neighbouring programs share an interpreter, because importing evaluate takes a second.
    for is_program, group in groupby(
        find_blocks(text), lambda block: block["kind"] in ("python", "text")
    ):
        blocks = [block for block in group if _can_run(block)]
        if is_program:
            bodies.update(_run_programs(blocks, folder))
        else:
            bodies.update(
                {
                    b.start(): run_console(b["body"], folder)
                    for b in blocks
                    if b["kind"] == "console"
                }
            )

    def refresh(block: re.Match[str]) -> str:
        body = bodies.get(block.start(), block["body"])
        if drop_chance(body) == drop_chance(block["body"]):
            return block[0]
        return f"{block['needs'] or ''}```{block['kind']}\n{body}```"

    return BLOCK.sub(refresh, text)


def drop_chance(body: str) -> list[str]:
    """The lines of a block without ids, and with what was judged in one order: that of one second is by id."""
    lines = ID.sub("", body).splitlines()
    judged = iter(sorted(line for line in lines if line.startswith("accepted: ")))
    return [next(judged) if line.startswith("accepted: ") else line for line in lines]


def _can_run(block: re.Match[str]) -> bool:
    """Tell whether what a block needs is here."""
    needs = block["needs"] or ""
    return not needs or ("the corpora" in needs and bool(os.environ.get("CLOSEREAD_DATA")))


def find_commands(text: str, needs: str) -> list[str]:
    """The commands of the blocks that need a Hub, Wikipedia, a spaCy model or an encoder, in order."""
    bodies = [block["body"] for block in find_blocks(text) if needs in (block["needs"] or "")]
    return [
        line.removeprefix("$ ")
        for body in bodies
        for line in body.splitlines()
        if line.startswith("$ ")
    ]


def run_console(body: str, folder: Path) -> str:
    """The body of a console block, with what its commands print now."""
    commands = [line.removeprefix("$ ") for line in body.splitlines() if line.startswith("$ ")]
    return "".join(f"$ {command}\n{_run_command(command, folder)}" for command in commands)


def _run_command(command: str, folder: Path) -> str:
    """Both output streams of a shell command, for which `closeread` is the one of this Python."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command],  # noqa: S607
        cwd=folder,
        # No columns, as in a pipe, whatever terminal this is.
        env={**os.environ, "PATH": path, "COLUMNS": "", "PYTHONPATH": str(HIDDEN)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.stdout


def _run_programs(blocks: list[re.Match[str]], folder: Path) -> dict[int, str]:
    """Run Python blocks in one interpreter, each with its own names; return the text blocks after them, by position."""
    programs = [block for block in blocks if block["kind"] == "python"]
    done = subprocess.run(
        [sys.executable, "-c", RUN_PROGRAMS],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(HIDDEN)},
        input=json.dumps([program["body"] for program in programs]),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    printed = dict(
        zip([program.start() for program in programs], json.loads(done.stdout), strict=True)
    )
    return {
        after.start(): printed[before.start()]
        for before, after in pairwise(blocks)
        if (before["kind"], after["kind"]) == ("python", "text")
    }


def find_pictures(page: Path) -> dict[Path, str]:
    """The pictures that a page shows, with the names under which commands write them."""
    matches = PICTURE.finditer(page.read_text("utf-8"))
    return {(page.parent / match["path"]).resolve(): match["name"] for match in matches}


def find_drawn_pictures(page: Path) -> dict[Path, str]:
    """Those of its pictures that a page also draws."""
    text = page.read_text("utf-8")
    return {picture: name for picture, name in find_pictures(page).items() if f" -o {name}" in text}


def is_same_picture(one: Path, other: Path) -> bool:
    """Whether two SVG files have the same shapes and texts; versions of matplotlib place them a little differently."""
    first, second = (
        [
            (tag, "dasharray" in look, text)
            for tag, look, text in SHAPE.findall(path.read_text("utf-8"))
        ]
        for path in (one, other)
    )
    return bool(first) and first == second
