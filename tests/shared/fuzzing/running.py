"""Runs of changed files through all targets, and inputs that are kept."""

import hashlib
import random
import re
import time
from dataclasses import dataclass, field

from shared.fuzzing.mutations import mutate
from shared.fuzzing.watching import Workspace


@dataclass(frozen=True)
class Found:
    """An input that fails: the target's name, the path of the changed file and its content, and what is wrong."""

    target: str
    path: str
    data: bytes
    what: str


@dataclass
class Done:
    """What a run did: its inputs, its targets, and one fault of each kind."""

    targets: list[str]
    inputs: int = 0
    faults: list[Found] = field(default_factory=list)


def find_faults(folder, targets, seed, seconds, *, stop_at_first=True):
    """Feed changed files to targets in turn.

    Args:
        folder: a new folder for files.
        targets: the targets by name.
        seed: of all choices; the same inputs come in the same order.
        seconds: when to stop; every target gets an input.
        stop_at_first: whether to stop at the first fault.
    """
    rng = random.Random(seed)
    others = [data for one in targets.values() for data in one.files.values()]
    spaces = {name: Workspace(one, folder / name) for name, one in targets.items()}
    done, kinds = Done(list(targets)), set()
    end = time.monotonic() + seconds
    while True:
        order = sorted(targets)
        rng.shuffle(order)
        for name in order:
            path = rng.choice(targets[name].changed)
            data = mutate(rng, targets[name].files[path], others)
            what = spaces[name].find_fault(path, data)
            done.inputs += 1
            if what is not None and (kind := _classify(what)) not in kinds:
                kinds.add(kind)
                done.faults.append(Found(name, path, data, what))
                if stop_at_first:
                    return done
            if time.monotonic() > end and done.inputs >= len(targets):
                return done


def _classify(what):
    """What faults of a kind have in common: where an error was raised, and its kind."""
    places = re.findall(r'File ".*?([^/"]+)", line (\d+)', what)
    return (*places[-1:], re.sub(r"[0-9]+", "0", what.strip().splitlines()[-1])[:60])


def keep(found, kept):
    """Write an input into the folder of those that are tried again by every test; return its path."""
    path = kept / found.target / hashlib.sha256(found.data).hexdigest()[:12] / found.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(found.data)
    return path


def list_kept(kept):
    """The kept inputs: the name of the target, the path of the changed file, and its content."""
    for path in sorted(path for path in kept.rglob("*") if path.is_file()):
        target, _, *rest = path.relative_to(kept).parts
        yield target, "/".join(rest), path.read_bytes()
