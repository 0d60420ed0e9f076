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

# A process's peak counts from its fork, so what is measured is started by a process that holds next to nothing.
LAUNCHER = """
import resource, subprocess, sys, time
start = time.perf_counter()
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)
"""

CPU_LAUNCHER = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
"""


def process(command, timeout=None, **options):
    """Seconds and peak MiB of one run of a command.

    Raises:
        TimeoutExpired: it took longer than `timeout` seconds, and was ended with all that it had started.
    """
    launcher = [sys.executable, "-I", "-S", "-c", LAUNCHER, *command]
    with subprocess.Popen(
        launcher, stdout=subprocess.PIPE, text=True, start_new_session=True, **options
    ) as running:
        try:
            printed, _ = running.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGKILL)
            raise
    if running.returncode:
        raise subprocess.CalledProcessError(running.returncode, command)
    seconds, peak = printed.split()
    return float(seconds), float(peak)


def cpu_process(command):
    """CPU seconds, user and system, and peak MiB of one run of a command."""
    launcher = [sys.executable, "-I", "-S", "-c", CPU_LAUNCHER, *map(str, command)]
    seconds, peak = subprocess.run(
        launcher, check=True, capture_output=True, text=True
    ).stdout.split()
    return float(seconds), float(peak)


def processes(commands, runs, **options):
    """Median seconds and largest peak of every command by name, run in turns."""
    for command in commands.values():
        process(command, **options)  # fills the page cache and the byte code's
    measured = {name: [] for name in commands}
    for _ in range(runs):
        for name, command in commands.items():
            measured[name].append(process(command, **options))
    return {
        name: {
            "seconds": statistics.median(s for s, _ in found),
            "peak_mib": max(m for _, m in found),
        }
        for name, found in measured.items()
    }


def calls(functions, runs):
    """Median seconds of every function by name, called in turns."""
    measured = {name: [] for name in functions}
    for _ in range(runs):
        for name, function in functions.items():
            start = time.perf_counter()
            function()
            measured[name].append(time.perf_counter() - start)
    return {name: {"seconds": statistics.median(found)} for name, found in measured.items()}


def kept(name, tables, growth=None, limit=None):
    """What was measured, written to `results/NAME.json`.

    Args:
        name: the benchmark's name.
        tables: the figures by table, each as what the others are compared with, and the figures by what was measured.
        growth: seconds by table, each as what the others are compared with, what the sizes count, the limit in seconds,
            and the seconds by size and what was measured: None where it did not end within the limit, and the name of
            an error where it ended with one.
        limit: the limit in seconds of figures in the tables that are None.
    """
    result = {
        "machine": f"{cpu()}, {os.cpu_count()} cores",
        "software": f"Python {platform.python_version()}, NumPy {np.__version__}",
        "closeread": __version__,
        "tables": {
            table: {"peer": peer, "timings": timings} for table, (peer, timings) in tables.items()
        },
    }
    if limit is not None:
        result["limit"] = limit
    if growth:
        result["growth"] = {
            table: {"peer": peer, "unit": unit, "limit": limit, "seconds": seconds}
            for table, (peer, unit, limit, seconds) in growth.items()
        }
    path = Path(__file__).parent / "results" / f"{name}.json"
    path.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    return result


def cpu():
    """What the processor calls itself."""
    lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    return next(
        (line.split(":")[1].strip() for line in lines if line.startswith("model name")),
        platform.machine(),
    )
