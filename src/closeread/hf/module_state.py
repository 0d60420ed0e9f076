"""The state of evaluate modules: what they pickle, and the locks that they hold."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import evaluate


def reduce_module(module: evaluate.Metric) -> tuple[Any, ...]:
    """Return what a module is pickled as: the arguments of its constructor, from which everything else follows.

    Raises:
        TypeError: predictions are stored, in files that are open.
    """
    if module.writer is not None:
        found = "has stored predictions and references, which can't be pickled"
        raise TypeError(f"{module.name} {found}; call compute before pickling it")
    arguments: dict[str, Any] = {
        "config_name": module.config_name,
        "keep_in_memory": module.keep_in_memory,
        "cache_dir": module._data_dir_root,
        "num_process": module.num_process,
        "process_id": module.process_id,
        "seed": module.seed,
        "experiment_id": module.experiment_id,
        "hash": module._hash,
        "max_concurrent_cache_files": module.max_concurrent_cache_files,
        "timeout": module.timeout,
    }
    kind: Callable[..., Any] = type(module)
    return partial(kind, **arguments), ()


def release_locks(module: evaluate.Metric) -> None:
    """Release evaluate's locks, which would delay every call of other modules of the same name by a second."""
    locks: list[Any] = [vars(module)["filelock"], *(vars(module)["filelocks"] or [])]
    for lock in locks:
        if lock is not None:
            lock.release()
    module.filelock = module.filelocks = module.cache_file_name = None
    module.writer = module.buf_writer = module.data = None
