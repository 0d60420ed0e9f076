"""Score a submission on Codabench: prepare closeread, and run it.

A copy of this file is the scoring program of a bundle.  It uses nothing but Python, 3.7 or newer, so that it can say
what the image lacks.  closeread, beside it as `closeread.zip` or as a wheel, is unpacked.  Libraries that the image
lacks in the versions of requirements.txt, which are complete, are installed from wheels beside it or, if the network
can be reached, from the package index.

Usage: python3 score.py INPUT OUTPUT
"""

from __future__ import annotations

import html
import os
import re
import subprocess
import sys
import tempfile
import zipfile

PYTHON = (3, 11)
ADVICE = "Organisers: build an image from the Dockerfile of the scoring program, and set docker_image to its name."
PAGE = """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>Not scored</title></head>
<body><h1>Not scored</h1><pre style="white-space: pre-wrap">{}</pre></body>
</html>
"""


def main(arguments: list[str]) -> int:
    """Score a submission; return the exit code."""
    if len(arguments) != 2:
        sys.stderr.write("usage: python3 score.py INPUT OUTPUT\n")
        return 2
    source, output = arguments
    python = sys.version_info[:2]
    if python < PYTHON:
        versions = (*python, *PYTHON)
        return fail(
            output, "The image has Python {}.{} (expected {}.{} or newer).".format(*versions)
        )
    program = os.path.dirname(os.path.abspath(__file__))
    with tempfile.TemporaryDirectory(prefix="closeread-") as folder:
        error = install(program, folder)
        if error:
            return fail(output, error)
        sys.path.insert(0, folder)
        from closeread.leaderboard.codabench.program import run

        return run(source, output, program)


def install(program: str, folder: str) -> str:
    """Make closeread and its libraries importable from a folder; return an error message, or nothing."""
    packages = [
        name for name in os.listdir(program) if re.match(r"closeread(\.zip|-.*\.whl)$", name)
    ]
    if len(packages) != 1:
        return f"The scoring program has {len(packages)} packages of closeread (expected 1)."
    with zipfile.ZipFile(os.path.join(program, packages[0])) as package:
        package.extractall(folder)
    with open(os.path.join(program, "requirements.txt"), encoding="utf-8") as file:
        lacking = [line for line in file.read().split() if not is_installed(line)]
    return install_libraries(program, folder, lacking) if lacking else ""


def is_installed(requirement: str) -> bool:
    """Return whether a library, such as "numpy==2.3.1", is installed in this version."""
    from importlib.metadata import PackageNotFoundError, version  # new in Python 3.8

    name, _, expected = requirement.partition("==")
    try:
        return version(name) == expected
    except PackageNotFoundError:
        return False


def install_libraries(program: str, folder: str, lacking: list[str]) -> str:
    """Install libraries into a folder, without the network if that is enough; return an error message, or nothing."""
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-cache-dir",
    ]
    command += ["--only-binary=:all:", "--no-deps", "--target", folder, "--find-links", program]
    message = ""
    for network in (["--no-index"], ["--retries", "1", "--timeout", "20"]):
        done = subprocess.run(command + network + lacking, capture_output=True)
        if done.returncode == 0:
            return ""
        message = done.stderr.decode("utf-8", "replace").strip().split("\n")[-1]
    names = ", ".join(lacking)
    return f"The image lacks {names}, and pip can't install what is missing:\n{message}"


def fail(output: str, message: str) -> int:
    """Say why the submission can't be scored; return the exit code."""
    text = f"{message}\nThe submission is not at fault. {ADVICE}"
    sys.stderr.write(text + "\n")
    with open(os.path.join(output, "detailed_results.html"), "w", encoding="utf-8") as file:
        file.write(PAGE.format(html.escape(text)))
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
