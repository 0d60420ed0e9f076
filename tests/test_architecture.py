"""What may import what (`.importlinter`), checked on the installed package."""

import copy
from pathlib import Path

import grimp
import pytest
from importlinter.application import use_cases
from importlinter.application.app_config import settings
from importlinter.configuration import configure

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def graph():
    """All imports of the installed package."""
    return grimp.build_graph("closeread", include_external_packages=True, cache_dir=None)


@pytest.fixture
def lint(graph, monkeypatch, capsys):
    """Checks the contracts, with new packages and one import more; whether they are kept, and what is printed."""
    monkeypatch.syspath_prepend(ROOT)  # our own type of contract is in the repository
    monkeypatch.setenv("COLUMNS", "1000")

    def check(packages=(), importer=None, imported=None):
        changed = copy.deepcopy(graph)
        for name in packages:
            changed.add_module(name)
        if importer:
            if not imported.startswith("closeread."):
                changed.add_module(imported, is_squashed=True)
            changed.add_import(importer=importer, imported=imported)

        class Builder:
            def build(self, **options):
                return changed

        configure()
        settings.configure(GRAPH_BUILDER=Builder())
        is_kept = use_cases.lint_imports(
            str(ROOT / ".importlinter"), cache_dir=None, no_logo=True, is_debug_mode=True
        )
        return is_kept, capsys.readouterr().out

    return check


def test_the_contracts_are_kept(lint):
    is_kept, told = lint()
    assert is_kept, told


@pytest.mark.parametrize(
    ("importer", "imported"),
    [
        ("tasks.mctaco.procedure", "closeread.tasks.tne.links"),
        ("tasks.coref.procedure", "closeread.tasks.marmara.documents"),
        ("tasks.tne.links", "closeread.tasks.tne.procedure"),
        ("tasks.tne.records", "matplotlib"),
        ("counts.table", "closeread.corpus.gold"),
        ("formats.text", "closeread.counts.table"),
        ("corpus.sources", "closeread.tasks.tne.links"),
        ("scoring", "datasets"),
        ("scoring", "closeread.hf.builder"),
        ("hf.builder", "closeread.cli"),
        ("hf.builder", "torch"),
        ("exceptions", "closeread.records"),
        ("loaders.tne.declaration", "closeread.exceptions"),
        ("evaluate_modules.mctaco.mctaco", "numpy"),
    ],
)
def test_a_forbidden_import_is_caught(graph, lint, importer, imported):
    assert f"closeread.{importer}" in graph.modules
    is_kept, told = lint((), f"closeread.{importer}", imported)
    assert not is_kept
    assert f"closeread.{importer} -> {imported}" in told
