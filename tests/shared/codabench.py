"""Runs the scoring program of a bundle as Codabench's worker does.

The worker unpacks the scoring program into a folder that the container sees as /app/program, the reference data and the
predictions into /app/input/ref and /app/input/res, and runs the command of metadata.yaml in /app/program.  What the
program leaves in /app/output, and what it prints, is shown to participants.  Before that, the submission has gone
through the prediction step, which adds a file `metadata`.  Nothing is in /app here: the command names another folder.
"""

import io
import shlex
import shutil
import subprocess
import sys
import zipfile
from contextlib import redirect_stderr, redirect_stdout
from importlib.metadata import distribution
from pathlib import Path
from typing import NamedTuple

import yaml
from packaging.requirements import Requirement

from closeread.leaderboard.codabench.program import run as run_program

STATUS = "elapsedTime: null\nexitCode: null\ningestionElapsedTime: null\ningestionExitCode: null\n"
"""What the prediction step writes about a submission without a program."""


class Run(NamedTuple):
    """What the worker sees of a run.

    Attributes:
        code: the exit code.
        said: standard output and standard error.
        output: the folder of the output.
    """

    code: int
    said: str
    output: Path

    @property
    def shown(self):
        """Everything that participants can see."""
        return self.said + "".join(
            path.read_text("utf-8") for path in sorted(self.output.iterdir())
        )


def lay_out(bundle, app):
    """Unpack the zip file of a bundle, and from it all but the submission; return its folder."""
    with zipfile.ZipFile(bundle) as archive:
        archive.extractall(app / "bundle")
    competition = yaml.safe_load((app / "bundle" / "competition.yaml").read_text("utf-8"))
    (task,) = competition["tasks"]
    shutil.copytree(app / "bundle" / task["scoring_program"], app / "program")
    shutil.copytree(app / "bundle" / task["reference_data"], app / "input" / "ref")
    (app / "input" / "res").mkdir()
    (app / "output").mkdir()
    return app


def add_submission(app, archive):
    """Unpack the zip file that a participant uploads."""
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(app / "input" / "res")
    (app / "input" / "res" / "metadata").write_text(STATUS)


def run(app, python=sys.executable, **environment):
    """Run the scoring program."""
    command = yaml.safe_load((app / "program" / "metadata.yaml").read_text("utf-8"))["command"]
    program, *arguments = shlex.split(command)
    assert program == "python3"
    assert all(argument.startswith("/app/") for argument in arguments)
    here = [str(app / argument.removeprefix("/app/")) for argument in arguments]
    done = subprocess.run(
        [python, *here],
        cwd=app / "program",
        env={"PYTHONUNBUFFERED": "1", **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    return Run(done.returncode, done.stdout.decode(), app / "output")


def run_here(app):
    """Run in this process what the scoring program runs once its libraries are there, which is much faster."""
    said = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    with redirect_stdout(said), redirect_stderr(said):
        code = run_program(*(str(app / name) for name in ("input", "output", "program")))
    return Run(code, said.buffer.getvalue().decode(), app / "output")


def zip_files(path, files):
    """Write a zip file with texts by name."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def make_environment(folder, libraries):
    """Make a virtual environment with some of the libraries that are installed here, and no pip; return its Python."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (site,) = (folder / "lib").glob("python*/site-packages")
    for name in requirements_of(libraries):
        place = distribution(name)
        for top in {Path(file).parts[0] for file in place.files or ()} - {"..", "__pycache__"}:
            if not (site / top).exists():
                (site / top).symlink_to(Path(str(place.locate_file(top))))
    return folder / "bin" / "python"


def requirements_of(libraries):
    """The names of libraries and of all that they need."""
    found, left = set(), list(libraries)
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            needed = map(Requirement, distribution(name).requires or ())
            left += [
                one.name
                for one in needed
                if one.marker is None or one.marker.evaluate({"extra": ""})
            ]
    return found
