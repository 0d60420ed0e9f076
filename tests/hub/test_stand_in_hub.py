"""The stand-in Hub against the real client: what is sent arrives, and what is asked is answered as the client expects.

Expected values are what was put in, and digests as git computes them.
"""

import subprocess

import pytest
from shared.stand_in_hub.history import Blob, diff

pytestmark = pytest.mark.gate


def test_differences_are_those_of_git(tmp_path):
    """git itself applies the difference, and finds the names in it that the other tree has."""
    before = {"a b/x b/y": b"1\n2\n3\n", "gone": b"", "kept": b"k"}
    after = {"a b/x b/y": b"1\n3\n4", 'dé\tq"\\\n.txt': b"new\r\nline\n", "empty": b"", "kept": b"k"}
    for path, content in before.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content)
    text = diff({p: Blob(c) for p, c in before.items()}, {p: Blob(c) for p, c in after.items()})
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    subprocess.run(["git", "apply"], input=text.encode(), cwd=tmp_path, check=True)
    found = [p for p in tmp_path.rglob("*") if p.is_file() and ".git" not in p.relative_to(tmp_path).parts]
    assert {str(p.relative_to(tmp_path)): p.read_bytes() for p in found} == after
