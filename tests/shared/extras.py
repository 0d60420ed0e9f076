"""Which test modules need an extra of the package, and whether it is installed."""

import tomllib
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from packaging.requirements import Requirement

TESTS = Path(__file__).parent.parent
NEEDS = {
    "hub/test_*.py": ("hub",),
    "leaderboard/test_damaged_files.py": ("hub",),
    "leaderboard/test_hub_copy*.py": ("hub",),
    "leaderboard/test_page*.py": ("hub",),
    "leaderboard/test_private_gold.py": ("hub",),
}
"""Extras by pattern of path."""


def find_needs(path):
    """The extras that a test module needs."""
    return next((extras for pattern, extras in NEEDS.items() if path.match(pattern)), ())


@cache
def find_lacking(extra):
    """What an extra asks for and is not installed, or only in an older version."""
    project = tomllib.loads((TESTS.parent / "pyproject.toml").read_text("utf-8"))["project"]
    return [
        asked
        for asked in project["optional-dependencies"][extra]
        if not is_installed(Requirement(asked))
    ]


def is_installed(requirement):
    """Tell whether a library is installed in a version that fits."""
    try:
        return requirement.specifier.contains(version(requirement.name), prereleases=True)
    except PackageNotFoundError:
        return False


def describe_skipped():
    """A line for each extra that is not installed, with the test modules that need it."""
    for extra in sorted({extra for extras in NEEDS.values() for extra in extras}):
        if lacking := find_lacking(extra):
            patterns = [f"tests/{pattern}" for pattern, extras in NEEDS.items() if extra in extras]
            yield f"SKIPPED {', '.join(patterns)}: the extra {extra} is not installed ({', '.join(lacking)})"
