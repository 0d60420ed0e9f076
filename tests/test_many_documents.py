"""The recipes of docs/many-documents.md give the score of the whole, with every engine that is installed."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pages
import pytest

pytestmark = [pytest.mark.extended, pytest.mark.timeout(3000)]

BLOCKS = pages.find_blocks(
    (Path(__file__).parents[1] / "docs" / "many-documents.md").read_text("utf-8")
)


def find_bodies(needs):
    return [
        block["body"]
        for block in BLOCKS
        if needs in (block["needs"] or "") and block["kind"] != "text"
    ]


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    """The file that the page writes first, in a folder."""
    folder = tmp_path_factory.mktemp("documents")
    run_program(next(block["body"] for block in BLOCKS if block["kind"] == "python"), folder)
    return folder


@pytest.fixture(scope="module")
def expected():
    """What the recipe for `datasets` prints, which tests/test_readme.py runs."""
    return next(
        line for block in BLOCKS for line in block["body"].splitlines() if "low=None" in line
    )


def run_program(body, folder):
    path = folder / "program.py"
    path.write_text(body, "utf-8")
    done = subprocess.run([sys.executable, path.name], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("needs", "library"), [("ray", "ray"), ("dask", "dask.dataframe"), ("spark", "pyspark")]
)
def test_an_engine_counts_as_one_process_does(needs, library, documents, expected):
    pytest.importorskip(library, reason=f"{library} is not installed")
    (body,) = find_bodies(needs)
    assert expected in run_program(body, documents)


def test_an_array_of_jobs_counts_as_one_process_does(documents, expected):
    import json

    rows = [
        json.loads(line) for line in (documents / "documents.jsonl").read_text("utf-8").splitlines()
    ]
    for task in range(4):
        for name, field in (("key", "clusters"), ("response", "found")):
            part = [
                json.dumps({"document": row["document"], "clusters": row[field]})
                for row in rows[task::4]
            ]
            (documents / f"{name}.{task}.jsonl").write_text("\n".join(part) + "\n", "utf-8")
    (documents / "key.jsonl").write_text(
        "".join((documents / f"key.{i}.jsonl").read_text() for i in range(4)), "utf-8"
    )
    first, last = ([line[2:] for line in body.splitlines()] for body in find_bodies("slurm"))
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for task in range(4):
        for command in first:
            subprocess.run(
                ["bash", "-c", command],
                cwd=documents,
                env={**os.environ, "PATH": path, "SLURM_ARRAY_TASK_ID": str(task)},
                check=True,
            )
    for command in last:
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=documents,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
    value = float(re.search(r"value=([\d.]+)", expected)[1])
    assert f"{100 * value:.2f}" in done.stdout
