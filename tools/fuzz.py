"""Feeds changed files to everything that reads, until the time is over: `make fuzz`, or ``python tools/fuzz.py``.

`CLOSEREAD_FUZZ_SECONDS` says for how long, `CLOSEREAD_FUZZ_SEED` repeats a run, `CLOSEREAD_FUZZ_TARGET` is a part of
the names of the targets to try.  An input that fails is kept below `tests/faults/kept/`.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SECONDS = 600


def main() -> int:
    """Run; 1 if an input failed."""
    sys.path.insert(0, str(ROOT / "tests"))
    from shared.fuzzing import find_faults, keep, make_targets

    seconds = float(os.environ.get("CLOSEREAD_FUZZ_SECONDS", SECONDS))
    seed = int(os.environ.get("CLOSEREAD_FUZZ_SEED") or random.SystemRandom().randrange(2**32))
    wanted = os.environ.get("CLOSEREAD_FUZZ_TARGET", "")
    sys.stdout.write(f"CLOSEREAD_FUZZ_SEED={seed}\n")
    n_inputs = n_faults = 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        targets = {name: one for name, one in make_targets().items() if wanted in name}
        for name, path, data, what in find_faults(targets, seed, seconds):
            n_inputs += 1
            if what is not None:
                n_faults += 1
                sys.stdout.write(
                    f"\n{name}: {keep(ROOT / 'tests/faults/kept', name, path, data)}\n{what}\n"
                )
        os.chdir(ROOT)
    sys.stdout.write(f"{n_inputs:,} inputs of {len(targets)} targets, {n_faults} faults\n")
    return bool(n_faults)


if __name__ == "__main__":
    sys.exit(main())
