"""What pyproject.toml can't say: top-level folders that are subpackages of closeread, and builds from nothing.

Every folder below loaders/ and metrics/ that holds an __init__.py is packaged, so a new corpus or
metric is a new folder and no edit here.
"""

from pathlib import Path
from shutil import rmtree

from setuptools import find_packages, setup
from setuptools.command.build import build

MAPPED = ("loaders", "metrics", "schemas", "cards")

packages = find_packages("src")
for folder in MAPPED:
    packages += [f"closeread.{name}" for name in find_packages(".", include=[folder, f"{folder}.*"])]


class BuildFromNothing(build):
    """Commands, loaders and procedures are found by walking folders: what an earlier build left would be among them."""

    def run(self) -> None:
        rmtree(Path(self.build_base) / "lib", ignore_errors=True)
        super().run()


setup(
    packages=packages,
    package_dir={"": "src", **{f"closeread.{folder}": folder for folder in MAPPED}},
    package_data={
        "closeread": ["py.typed", "counts/*.json", "tasks/*/*.json"],
        "closeread.schemas": ["*.json"],
        "closeread.cards": ["*.json", "*.md"],
        "closeread.loaders": ["**/*"],  # samples, in any format
        "closeread.metrics": ["**/*"],
    },
    exclude_package_data={"": ["*.py[cod]"]},
    cmdclass={"build": BuildFromNothing},
)
