"""What pyproject.toml can't express: top-level folders that are subpackages of closeread, and clean builds.

Every folder below loaders/ and metrics/ with an __init__.py is packaged, so a new corpus or metric is just a new
folder.
"""

from pathlib import Path
from shutil import rmtree

from setuptools import find_packages, setup
from setuptools.command.build import build

MAPPED = {"loaders": "loaders", "metrics": "evaluate_modules", "schemas": "schemas", "cards": "cards"}
"""Top-level folders, and the names of the subpackages that they are."""

packages = find_packages("src")
for folder, subpackage in MAPPED.items():
    found = find_packages(".", include=[folder, f"{folder}.*"])
    packages += [f"closeread.{subpackage}{name.removeprefix(folder)}" for name in found]


class CleanBuild(build):
    """Delete earlier builds first: commands, loaders and tasks are found by walking folders, old ones included."""

    def run(self) -> None:
        rmtree(Path(self.build_base) / "lib", ignore_errors=True)
        super().run()


setup(
    packages=packages,
    package_dir={"": "src", **{f"closeread.{subpackage}": folder for folder, subpackage in MAPPED.items()}},
    package_data={
        "closeread": [
            "py.typed",
            "counts/*.json",
            "hub/*.json",
            "hub/*.html",
            "leaderboard/*.json",
            "leaderboard/codabench/*.png",
            "leaderboard/codabench/pages/*",
            "neural/*.json",
            "leaderboard/templates/*",
            "tasks/*.bib",
            "tasks/**/*.json",
        ],
        "closeread.schemas": ["*.json"],
        "closeread.cards": ["*.json", "*.md"],
        "closeread.loaders": ["**/*"],  # samples in any format, facts.json
        "closeread.evaluate_modules": ["**/*"],
    },
    exclude_package_data={"": ["*.py[cod]"]},
    cmdclass={"build": CleanBuild},
)
