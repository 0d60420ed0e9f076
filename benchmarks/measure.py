"""What the benchmarks measure with: processes from start to end, and calls within one."""

import json
import os
import platform
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from closeread import __version__

CLOSEREAD = Path(sys.executable).with_name("closeread")

# The peak of a process counts from its fork, so that it is started by a process that holds next to nothing.
LAUNCHER = """
import resource, subprocess, sys, time
start = time.perf_counter()
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
seconds = time.perf_counter() - start
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
"""
MEASURES = ("seconds", "cpu_seconds", "peak_mib")


def measure_commands(commands, runs=5, limit=None):
    """Return median seconds and CPU seconds, and the largest peak, of each command by name, run in turns.

    Args:
        commands: the words of the commands by name.
        runs: how often each is run, after a run that fills the page cache.
        limit: a command that takes longer, in seconds, is stopped, and has None for its measures.
    """
    measured = {name: [run_process(command, limit)] for name, command in commands.items()}
    for _ in range(runs):
        for name, command in commands.items():
            if measured[name][0] is not None:
                measured[name].append(run_process(command, limit))
    rows = {}
    for name, results in measured.items():
        rows[name] = dict.fromkeys(MEASURES)
        if None not in results:
            seconds, cpu_seconds, peaks = zip(*results[1:], strict=True)
            values = (statistics.median(seconds), statistics.median(cpu_seconds), max(peaks))
            rows[name] = dict(zip(MEASURES, values, strict=True))
    return rows


def run_process(command, limit=None):
    """Return seconds, CPU seconds and peak MiB of one run of a command; None if it takes longer than the limit."""
    launcher = [sys.executable, "-I", "-S", "-c", LAUNCHER, *map(str, command)]
    with subprocess.Popen(
        launcher, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            printed, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return None
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, launcher[5:])
    return tuple(map(float, printed.split()))


def measure_calls(functions, runs=5):
    """Return median seconds of each function by name, called in turns."""
    measured = {name: [] for name in functions}
    for _ in range(runs):
        for name, function in functions.items():
            start = time.perf_counter()
            function()
            measured[name].append(time.perf_counter() - start)
    return {name: {"seconds": statistics.median(seconds)} for name, seconds in measured.items()}


def keep(name, tables, limit=None):
    """Write what was measured to `results/NAME.json`, and print it.

    Args:
        name: the name of the benchmark.
        tables: by name, what the others are compared with, and the measures of each by name.
        limit: the limit in seconds of what has no measures.
    """
    result = {
        "machine": f"{name_processor()}, {os.cpu_count()} cores",
        "software": f"Python {platform.python_version()}, NumPy {np.__version__}",
        "closeread": __version__,
        "limit": limit,
        "tables": {table: {"peer": peer, "rows": rows} for table, (peer, rows) in tables.items()},
    }
    path = Path(__file__).parent / "results" / f"{name}.json"
    path.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    print(path.read_text("utf-8"), end="")


def name_processor():
    """Return what the processor calls itself."""
    for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return platform.machine()
