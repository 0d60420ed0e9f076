"""A limit on the size of files, which stands in for a full disk: both fail when the data are written."""

import resource
import sys
from contextlib import contextmanager

import pytest


@contextmanager
def small_files(size):
    """Let nobody write files of more bytes in the block, libraries in C included.

    Python does not notice that the bytecode of a module was cut at the limit, and the next process that imports the
    module fails: none is written.
    """
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "dont_write_bytecode", True)
        patch.setenv("PYTHONDONTWRITEBYTECODE", "1")
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
