"""The paths that a difference in git's unified format touches."""

from __future__ import annotations

import re

START = "diff --git "
QUOTED = re.compile(r'"((?:[^"\\]|\\.)*+)" "((?:[^"\\]|\\.)*+)"')
"""Both sides of a header, if git has quoted them: it does so for both or for neither if the name is the same."""
ESCAPE = re.compile(r"\\([0-7]{3}|.)")
LETTERS = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13}


def list_changed_paths(diff: str) -> tuple[str, ...]:
    r"""List the paths that are added, changed, deleted or renamed (both names), sorted.

    Only lines that no file's content can imitate are read: content stands behind a space, `+`, `-` or a backslash.  A
    header that is not understood is returned as it is, so that it is not taken for a path that is allowed.

    >>> list_changed_paths("diff --git a/x.txt b/x.txt\nnew file mode 100644\n--- /dev/null\n+++ b/x.txt\n")
    ('x.txt',)
    """
    paths: set[str] = set()
    for block in f"\n{diff}".split(f"\n{START}")[1:]:
        header, *rest = block.split("\n")
        paths.update(_read_renamed(rest) or _read_header(header) or [f"{START}{header}"])
    return tuple(sorted(paths))


def _read_header(header: str) -> list[str]:
    """Return the path of a header whose sides are the same; empty if they are not."""
    # There is only one way to cut a name, a blank and the same name in two.
    name = header[2 : (len(header) - 1) // 2]
    if name and header == f"a/{name} b/{name}":
        return [name]
    found = QUOTED.fullmatch(header)
    old, new = map(_unquote, found.groups()) if found else ("", "")
    return [old[2:]] if old[:2] == "a/" and new == f"b/{old[2:]}" else []


def _read_renamed(lines: list[str]) -> list[str]:
    """Return both names of a file that is renamed or copied; empty if it is not."""
    found = []
    for line in lines:
        if line.startswith("@@"):
            break
        for start in ("rename from ", "rename to ", "copy from ", "copy to "):
            if line.startswith(start):
                name = line.removeprefix(start)
                found.append(_unquote(name[1:-1]) if name.startswith('"') else name)
    return found


def _unquote(text: str) -> str:
    """Return a name without git's escapes of bytes."""
    data = bytearray()
    end = 0
    for escape in ESCAPE.finditer(text):
        data += text[end : escape.start()].encode()
        code = escape[1]
        data.append(int(code, 8) & 255 if len(code) == 3 else LETTERS.get(code, ord(code) & 255))
        end = escape.end()
    data += text[end:].encode()
    return data.decode(errors="replace")
