"""The README's fenced blocks: run them, and write what they print.

    python tests/readme.py

rewrites the outputs of the console blocks in README.md; `test_readme.py` checks them.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"
BLOCK = re.compile(r"(?P<needs><!-- needs the corpora -->\n)?```(?P<kind>\w+)\n(?P<body>.*?)```", re.DOTALL)


def blocks(text):
    """The fenced blocks in order, as matches with the groups needs, kind and body."""
    return list(BLOCK.finditer(text))


def commands(body):
    """The commands of a console block."""
    return [line.removeprefix("$ ") for line in body.splitlines() if line.startswith("$ ")]


def printed(command, folder):
    """What a shell command prints, on both channels, where closeread is that of this Python."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command,
        shell=True,  # the README's own commands
        cwd=folder,
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.stdout


def console(body, folder):
    """A console block as it should stand in the README."""
    return "".join(f"$ {command}\n{printed(command, folder)}" for command in commands(body))


def main():
    """Rewrite the outputs."""
    with tempfile.TemporaryDirectory() as folder:

        def fresh(match):
            if match["kind"] != "console":
                return match[0]
            return f"{match['needs'] or ''}```console\n{console(match['body'], folder)}```"

        README.write_text(BLOCK.sub(fresh, README.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
