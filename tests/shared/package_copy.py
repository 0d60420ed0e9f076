"""The installed package copied, so that a test may add to it or spoil it, and scripts run with the copy."""

import os
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

MAPPED = {
    "loaders": "loaders",
    "metrics": "evaluate_modules",
    "schemas": "schemas",
    "cards": "cards",
}
"""Top-level folders of the repository, and the names of the subpackages that they are."""


def copy_package(folder):
    """Copy the package below a folder, whose path is returned."""
    for name in ("", *MAPPED.values()):
        source = Path(import_module(f"closeread.{name}".rstrip(".")).__file__).parent
        # With its bytecode, which is valid as long as a file is the same.
        ignored = shutil.ignore_patterns(*(MAPPED.values() if not name else ()))
        shutil.copytree(source, folder / "closeread" / name, dirs_exist_ok=True, ignore=ignored)
    return folder


def run_with(folder, *arguments, **variables):
    """Run Python with the package below a folder, away from our working directory; the output."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(folder),
        "PYTHONDONTWRITEBYTECODE": "1",
        **variables,
    }
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
