"""Checkouts of other people's tools, which some tests run: folders named as their repositories in `CLOSEREAD_PEERS`."""

import os
from pathlib import Path

import pytest

PEERS = os.environ.get("CLOSEREAD_PEERS")


def find_peer(name):
    """The checkout of a repository; skips the test without it."""
    if not PEERS:
        pytest.skip("CLOSEREAD_PEERS is not set")
    folder = Path(PEERS) / name
    if not folder.is_dir():
        pytest.skip(f"CLOSEREAD_PEERS has no {name}")
    return folder
