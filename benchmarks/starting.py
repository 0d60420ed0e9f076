"""How long commands take that have next to nothing to do, beside the import of NumPy.

    python benchmarks/starting.py CLOSEREAD

CLOSEREAD is the command of an environment in which closeread is installed as users install it: an editable install
starts more slowly.  Writes `results/starting.json` and prints it; the table in README.md is made from it by `python
tools/documentation.py`.  The files are invented, and have a document of three words and ten sentences.
"""

import argparse
import json
import statistics
import subprocess
import tempfile
from pathlib import Path

from measure import cpu_process, kept, process

RUNS = 21
DOCUMENT = """#begin document (a); part 000
a\t0\t0\tAnn\t(1)
a\t0\t1\tsaw\t-
a\t0\t2\tBob\t(2)

#end document
"""


def measure(commands):
    """Median seconds and CPU seconds, and the largest peak, of every command by name, run in turns."""
    for command in commands.values():
        process(command)  # fills the page cache and the byte code's
    turns = [
        {name: (process(one), cpu_process(one)) for name, one in commands.items()}
        for _ in range(RUNS)
    ]
    return {
        name: {
            "seconds": statistics.median(turn[name][0][0] for turn in turns),
            "cpu_seconds": statistics.median(turn[name][1][0] for turn in turns),
            "peak_mib": max(turn[name][0][1] for turn in turns),
        }
        for name in commands
    }


def main():
    """Measure and keep the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("closeread", type=Path, metavar="CLOSEREAD")
    closeread = parser.parse_args().closeread
    python = closeread.with_name("python")
    with tempfile.TemporaryDirectory() as scratch:
        key, response, labels = (
            Path(scratch, name) for name in ("key.conll", "response.conll", "yes.jsonl")
        )
        for path in (key, response):
            path.write_text(DOCUMENT, "utf-8")
        sample = ["--config", "sample"]
        made = [closeread, "baseline", "mctaco", "always-positive", *sample, "-o", labels]
        subprocess.run(made, check=True, capture_output=True)
        commands = {
            "python -c pass": [python, "-c", "pass"],
            "python -c 'import numpy'": [python, "-c", "import numpy"],
            "closeread --version": [closeread, "--version"],
            "closeread score --help": [closeread, "score", "--help"],
            "closeread score coref --help": [closeread, "score", "coref", "--help"],
            "closeread score coref, a small file": [closeread, "score", "coref", key, response],
            "closeread score mctaco, the sample": [closeread, "score", "mctaco", labels, *sample],
        }
        print(
            json.dumps(
                kept("starting", {"commands": ("python -c 'import numpy'", measure(commands))}),
                indent=1,
            )
        )


if __name__ == "__main__":
    main()
