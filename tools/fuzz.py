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

ROOT = Path(__file__).parents[1]
SECONDS = 600


def main() -> int:
    """Run; 1 if an input failed."""
    sys.path.insert(0, str(ROOT / "tests"))
    from shared.fuzzing.running import find_faults, keep
    from shared.fuzzing.targets import make_targets

    seconds = float(os.environ.get("CLOSEREAD_FUZZ_SECONDS", SECONDS))
    seed = int(os.environ.get("CLOSEREAD_FUZZ_SEED") or random.SystemRandom().randrange(2**32))
    wanted = os.environ.get("CLOSEREAD_FUZZ_TARGET", "")
    sys.stdout.write(f"CLOSEREAD_FUZZ_SEED={seed}\n")
    with tempfile.TemporaryDirectory() as folder:
        targets = {name: one for name, one in make_targets().items() if wanted in name}
        done = find_faults(Path(folder), targets, seed, seconds, stop_at_first=False)
        for fault in done.faults:
            path = keep(fault, ROOT / "tests" / "faults" / "kept")
            sys.stdout.write(f"\n{fault.target}: {path}\n{fault.what}\n")
    sys.stdout.write(f"{done.inputs:,} inputs of {len(done.targets)} targets, {len(done.faults)} faults\n")
    return bool(done.faults)


if __name__ == "__main__":
    sys.exit(main())
