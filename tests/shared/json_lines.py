"""JSON Lines, written and read by the standard library alone."""

import json
from pathlib import Path


def dump(records):
    """The records as the text of a file."""
    return "".join(json.dumps(record) + "\n" for record in records)


def write(path, records):
    """Write a file and return its path."""
    path = Path(path)
    path.write_text(dump(records), "utf-8")
    return path


def read(path):
    """Read the records of a file."""
    return [json.loads(line) for line in Path(path).read_bytes().splitlines()]
