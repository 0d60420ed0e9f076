"""Bad input: files made from McTaco's sample with something wrong in them, and the whole message about it."""

import re
from pathlib import Path

IDS = [f"test-{i:05d}" for i in range(103)]
"""The ids of the sample."""

ROWS = [f'{{"id": "{name}", "label": "yes"}}' for name in IDS]
SAMPLE = ("--config", "sample")


def put(name, content):
    path = Path(name)
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return path


def lines(*rows):
    return "".join(f"{row}\n" for row in rows)


def third(row):
    """Return a valid file with another third line."""
    return lines(*ROWS[:2], row, *ROWS[3:])


def labelled(label, name='"test-00002"'):
    return f'{{"id": {name}, "label": {label}}}'


def expected_message(source, *problems):
    """Write the whole message; `problems` are "LINE: WHAT", or "WHAT" for the file as a whole."""
    shown = [f"{source}:{p}" if re.match("[0-9]+:", p) else f"{source}: {p}" for p in problems]
    repeated = sum(int(times) - 1 for p in problems for times in re.findall(r" \((\d+) times", p))
    kinds = f" of {len(shown)} kinds" if repeated else ""
    head = [f"{source}: {len(shown) + repeated} problems{kinds}:"] if len(shown) > 1 else []
    return "\n".join(head + shown)


def refuses(result, message, code=1):
    """Check that a command failed with this message as its only output."""
    assert (result.exit_code, result.stdout, result.stderr) == (code, "", f"Error: {message}\n")


def tsv(*rows):
    return lines(*("\t".join(row) for row in rows))


GOOD = ("It rained.", "How long?", "an hour", "yes", "Event Duration")
