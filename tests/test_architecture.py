"""What may import what (`.importlinter`), checked on the installed package."""

import importlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MAPPED = ("loaders", "evaluate_modules", "schemas", "cards")
"""Subpackages that are top-level folders of the repository."""


@pytest.fixture
def package(tmp_path):
    """A copy of the installed package that a test may change."""
    for name in ("closeread", *(f"closeread.{name}" for name in MAPPED)):
        source = Path(importlib.import_module(name).__file__).parent
        shutil.copytree(source, tmp_path / name.replace(".", "/"), dirs_exist_ok=True)
    return tmp_path / "closeread"


def lint(package):
    """Check the contracts on a copy of the package."""
    path = os.pathsep.join([str(package.parent), str(ROOT)])  # our own type of contract is in the repository
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"]
    command += ["--config", str(ROOT / ".importlinter"), "--no-cache"]
    environment = {"PYTHONPATH": path, "PATH": "", "HOME": str(package.parent)}
    return subprocess.run(command, cwd=package.parent, env=environment, capture_output=True, text=True)


def test_the_contracts_are_kept(package):
    done = lint(package)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("importer", "imported"),
    [
        ("tasks/mctaco/kernels/choices", "closeread.exceptions"),
        ("tasks/mctaco/kernels/choices", "closeread.tasks.mctaco.facts"),
        ("tasks/mctaco/kernels/choices", "pyarrow"),
        ("tasks/mctaco/procedure", "closeread.tasks.tne.columns"),
        ("tasks/tne/columns", "closeread.tasks.tne.procedure"),
        ("tasks/tne/facts", "matplotlib"),
        ("counts/table", "closeread.corpus.gold"),
        ("formats/text", "closeread.counts.table"),
        ("corpus/sources", "closeread.tasks.tne.columns"),
        ("scoring", "datasets"),
        ("scoring", "closeread.hf.load"),
        ("hf/load", "closeread.cli"),
        ("hf/load", "torch"),
        ("exceptions", "closeread.records"),
        ("loaders/tne/declaration", "closeread.exceptions"),
        ("evaluate_modules/mctaco/mctaco", "numpy"),
    ],
)
def test_a_forbidden_import_is_caught(package, importer, imported):
    with (package / f"{importer}.py").open("a") as file:
        file.write(f"\nimport {imported}\n")
    done = lint(package)
    assert done.returncode == 1
    assert f"closeread.{importer.replace('/', '.')} -> {imported}" in done.stdout


def add(package, folder):
    """Add an empty subpackage."""
    (package / folder).mkdir(parents=True)
    (package / folder / "__init__.py").touch()


def test_a_new_package_needs_a_layer(package):
    add(package, "attic")
    done = lint(package)
    assert done.returncode == 1
    assert "not listed as layers" in done.stdout
    assert "- closeread.attic" in done.stdout


@pytest.mark.parametrize(
    ("module", "imported"),
    [
        ("tasks/quotes/procedure", "closeread.tasks.tne.columns"),
        ("tasks/quotes/columns", "datasets"),
        ("tasks/quotes/kernels/speakers", "closeread.records"),
        ("loaders/quotes/declaration", "closeread.records"),
    ],
)
def test_a_new_task_or_corpus_is_checked_without_a_change_of_the_contracts(package, module, imported):
    for folder in ("tasks/quotes", "tasks/quotes/kernels", "loaders/quotes"):
        add(package, folder)
    (package / f"{module}.py").write_text(f"import {imported}\n")
    done = lint(package)
    assert done.returncode == 1
    assert f"closeread.{module.replace('/', '.')} -> {imported}" in done.stdout
