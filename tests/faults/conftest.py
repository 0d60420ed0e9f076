"""What tests of every command share: a folder with their inputs."""

import os
import sys
from pathlib import Path

import pytest
from shared.every_command import fill_in, list_writing, standing_in, write_inputs


@pytest.fixture(autouse=True)
def no_bytecode(monkeypatch):
    """Let no module that is imported for the first time be written, which would be an event or a file of its own."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A folder with the inputs of all commands, and the id of the submission in its stores."""
    place, before = tmp_path_factory.mktemp("commands"), Path.cwd()
    os.chdir(place)
    try:
        return place, write_inputs()
    finally:
        os.chdir(before)


@pytest.fixture
def call(run, folder, monkeypatch):
    """Runs a line where its inputs are."""
    monkeypatch.chdir(folder[0])
    with standing_in():
        yield lambda name: run(*fill_in(list_writing()[name], folder[1]))
