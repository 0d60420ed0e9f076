"""What the tests of trained models share."""

import sys

import pytest


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """Sums in the same order, and no threads that the tests of other processes wait for."""
    torch = sys.modules.get("torch")
    if torch is None:  # not installed, or not needed
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
