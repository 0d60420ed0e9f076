"""Scoring a coreference file loads little; what it loads is not more than it needs."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {
    "datasets",
    "evaluate",
    "huggingface_hub",
    "pandas",
    "pyarrow",
    "scipy",
    "yaml",
    "requests",
    "httpx",
}
ONLY_SOMETIMES = {
    "jsonschema": "only errors are worded by it",
    "jsonschema_rs": "only JSON is validated by it",
    "wcwidth": "only columns of other characters than ASCII are measured by it",
    "numpy.ma": "some calls of np.unique import it",
    "numpy.random": "one document has nothing to resample",
    "tempfile": "nothing is written",
    "difflib": "no name is unknown",
}

LOOK = """
import json, sys
from closeread.cli import main

def load(*options):
    sys.argv = ["closeread", "score", "coref", "key.conll", "response.conll", *options]
    try:
        main()
    except SystemExit as error:
        assert not error.code
    return sorted(sys.modules)

print(json.dumps([load("--score-only"), load()]), file=sys.stderr)
"""


@pytest.mark.gate
def test_scoring_a_coreference_file_loads_little(tmp_path):
    lines = [
        "#begin document (a); part 000",
        *(f"a\t0\t{i}\tshe\t-\t({i % 2})" for i in range(4)),
        "",
        "#end document",
    ]
    for name in ("key", "response"):
        Path(tmp_path, f"{name}.conll").write_text("\n".join(lines) + "\n")
    done = subprocess.run(
        [sys.executable, "-c", LOOK], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    numbers, tables = map(set, json.loads(done.stderr.splitlines()[-1]))
    assert done.stdout.startswith("100.00\n")
    assert not numbers & (HEAVY | ONLY_SOMETIMES.keys())
    assert not tables & (HEAVY | {"jsonschema", "jsonschema_rs"})
    assert {"closeread.tasks.coref.formats.conll", "numpy"} <= numbers
    others = {
        name for name in tables if name.startswith("closeread.tasks.") and name.count(".") == 2
    }
    assert others == {"closeread.tasks.coref"}
