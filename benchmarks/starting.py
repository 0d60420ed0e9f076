"""How long commands take that have next to nothing to do, beside the import of NumPy.

    python benchmarks/starting.py

It is to be run in an environment in which closeread is installed as users install it: an editable install starts more
slowly.  The files are invented, and have a document of three words.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from measure import CLOSEREAD, keep, measure_commands

NUMPY = "python -c 'import numpy'"
DOCUMENT = """#begin document (a); part 000
a\t0\t0\tAnn\t(1)
a\t0\t1\tsaw\t-
a\t0\t2\tBob\t(2)

#end document
"""


def main():
    """Measure and keep the result."""
    with tempfile.TemporaryDirectory() as scratch:
        key, labels = Path(scratch, "key.conll"), Path(scratch, "yes.jsonl")
        key.write_text(DOCUMENT, "utf-8")
        sample = ["--config", "sample"]
        baseline = [CLOSEREAD, "baseline", "mctaco", "always-positive", *sample, "-o", labels]
        subprocess.run(baseline, check=True, capture_output=True)
        commands = {
            "python -c pass": [sys.executable, "-c", "pass"],
            NUMPY: [sys.executable, "-c", "import numpy"],
            "closeread --version": [CLOSEREAD, "--version"],
            "closeread score --help": [CLOSEREAD, "score", "--help"],
            "closeread score coref --help": [CLOSEREAD, "score", "coref", "--help"],
            "closeread score coref, a small file": [CLOSEREAD, "score", "coref", key, key],
            "closeread score mctaco, the sample": [CLOSEREAD, "score", "mctaco", labels, *sample],
        }
        rows = measure_commands(commands, runs=21)
    keep("starting", {"commands": (NUMPY, rows)})


if __name__ == "__main__":
    main()
