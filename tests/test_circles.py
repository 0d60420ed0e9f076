"""No module imports itself by way of others, imports inside functions included."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src"

TASKS = "closeread.tasks"
KNOWN: set[tuple[str, str]] = set()
"""Imports that close circles today and are to be removed: from which module, to which."""


def find_imports():
    """The modules of the package that each of them imports, anywhere in it except for type checkers."""
    paths = [
        path for path in SOURCE.rglob("*.py") if not any(part.is_symlink() for part in path.parents)
    ]
    names = {
        ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"): path
        for path in paths
    }
    found = {}
    for name, path in names.items():
        tree = ast.parse(path.read_text("utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
                node.body = []
        targets = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                targets |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                submodules = {f"{node.module}.{alias.name}" for alias in node.names}
                targets |= submodules if submodules <= names.keys() else submodules | {node.module}
        found[name] = (targets & names.keys()) - {name}
    return found


def test_there_are_no_circles():
    imports = find_imports()
    left = {
        name: {to for to in targets if (name, to) not in KNOWN} for name, targets in imports.items()
    }
    try:
        TopologicalSorter(left).prepare()
    except CycleError as error:
        raise AssertionError(" -> ".join(reversed(error.args[1]))) from None
    gone = [pair for pair in KNOWN if pair[1] not in imports.get(pair[0], ())]
    assert not gone, "these are no longer imported, and need not be listed"
