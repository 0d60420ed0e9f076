"""What pyproject.toml can't express: top-level folders that are subpackages of closeread, and clean builds.

Every folder below loaders/ and metrics/ with an __init__.py is packaged, so a new corpus or metric is just a new
folder.
"""

import gzip
import os
import tarfile
from pathlib import Path
from shutil import rmtree

from setuptools import find_packages, setup
from setuptools.command.build import build
from setuptools.command.sdist import sdist

MAPPED = {
    "loaders": "loaders",
    "metrics": "evaluate_modules",
    "schemas": "schemas",
    "cards": "cards",
}
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


class SameSource(sdist):
    """With SOURCE_DATE_EPOCH, let all files have that date, so that two builds give the same archive."""

    def run(self) -> None:
        super().run()
        epoch = os.environ.get("SOURCE_DATE_EPOCH")
        for path in map(Path, self.get_archive_files() if epoch else ()):
            with tarfile.open(path) as archive:
                members = sorted(archive.getmembers(), key=lambda member: member.name)
                contents = [
                    archive.extractfile(member) if member.isfile() else None for member in members
                ]
                whole = path.with_suffix(".tmp")
                with (
                    whole.open("wb") as file,
                    gzip.GzipFile("", "wb", fileobj=file, mtime=int(epoch)) as packed,
                    tarfile.open(fileobj=packed, mode="w") as target,
                ):
                    for member, content in zip(members, contents, strict=True):
                        member.mtime, member.uid, member.gid, member.uname, member.gname = (
                            int(epoch),
                            0,
                            0,
                            "",
                            "",
                        )
                        member.pax_headers = {}
                        target.addfile(member, content)
            whole.replace(path)


setup(
    packages=packages,
    package_dir={
        "": "src",
        **{f"closeread.{subpackage}": folder for folder, subpackage in MAPPED.items()},
    },
    package_data={
        "closeread": [
            "py.typed",
            "counts/*.json",
            "hub/*.json",
            "hf/*.json",
            "hub/*.html",
            "leaderboard/*.json",
            "leaderboard/codabench/*.png",
            "leaderboard/codabench/*.html",
            "leaderboard/codabench/templates/*",
            "leaderboard/codabench/templates/*/*",
            "neural/*.json",
            "leaderboard/templates/*",
            "llm/*.json",
            "llm/lm_eval/*.yaml",
            "tasks/*.bib",
            "tasks/**/*.json",
            "tasks/*/prompts/*.jinja",
            "views/page.*",
        ],
        "closeread.schemas": ["*.json"],
        "closeread.cards": ["*.json", "*.md"],
        "closeread.loaders": ["**/*"],  # samples in any format, facts.json
        "closeread.evaluate_modules": ["**/*"],
    },
    exclude_package_data={"": ["*.py[cod]"]},
    cmdclass={"build": CleanBuild, "sdist": SameSource},
)
