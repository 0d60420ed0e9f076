"""What the benchmarks measure with: processes from start to end, and calls within one."""

import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path

# A process's peak counts from its fork, so what is measured is started by a process that holds next to nothing.
LAUNCHER = """
import resource, subprocess, sys, time
start = time.perf_counter()
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)
"""


def process(command, **options):
    """Seconds and peak MiB of one run of a command."""
    launcher = [sys.executable, "-I", "-S", "-c", LAUNCHER, *command]
    seconds, peak = subprocess.run(launcher, check=True, capture_output=True, text=True, **options).stdout.split()
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
        name: {"seconds": statistics.median(s for s, _ in found), "peak_mib": max(m for _, m in found)}
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


def cpu():
    """What the processor calls itself."""
    lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())
