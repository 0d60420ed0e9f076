"""How large the package is: lines, tokens of code and files by room, beside the budgets of `size.toml`; and its tests.

A token is what Python's tokenizer gives, without comments, docstrings and line ends: joining lines or dropping blank
ones changes nothing.  Usage: `python tools/size.py`.  Exit code 1 if a budget is exceeded.
"""

import io
import sys
import tokenize
import tomllib
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parent.parent
MEASURES = ("lines", "tokens", "files")
BREAKS = {tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
FSTRING_DEPTH = {"FSTRING_START": 1, "FSTRING_END": -1}
SKIPPED = {*BREAKS, tokenize.NL, tokenize.COMMENT, tokenize.ENDMARKER}


def count_tokens(text: str) -> int:
    """Count the tokens of a module, without comments and docstrings.

    >>> count_tokens('x = 1  # one'), count_tokens('def f():' + chr(10) + '    "Do it."' + chr(10))
    (3, 5)
    """
    n, starts_line, depth = 0, True, 0
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    for token, following in zip(tokens, [*tokens[1:], tokens[-1]], strict=True):
        if token.type in SKIPPED:
            starts_line = starts_line or token.type in BREAKS
            continue
        # since Python 3.12, an f-string is many tokens
        depth += FSTRING_DEPTH.get(tokenize.tok_name[token.type], 0)
        if depth:
            continue
        is_alone = following.type in (tokenize.NEWLINE, tokenize.COMMENT)
        n += not (starts_line and token.type == tokenize.STRING and is_alone)
        starts_line = False
    return n


def find_room(path: Path) -> str:
    """Return the room of a module by its path below the package: `.`, a package, or a task and what is inside it.

    >>> find_room(Path("errors.py")), find_room(Path("tasks/coref/metrics/entity.py"))
    ('.', 'tasks/coref/metrics')
    """
    parts = path.parts[:-1]
    return (
        "/".join(
            parts[: 3 if parts[:2] == ("tasks", "coref") else 2 if parts[:1] == ("tasks",) else 1]
        )
        or "."
    )


def measure() -> dict[str, list[int]]:
    """Return lines, tokens and files of each room, of all of them ("total"), and of the tests ("tests")."""
    sizes: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    package = ROOT / "src" / "closeread"
    for folder, name_room in ((package, find_room), (ROOT / "tests", lambda path: "tests")):
        for path in sorted(folder.rglob("*.py")):
            text = path.read_text("utf-8")
            own = (text.count("\n"), count_tokens(text), 1)
            for room in {
                name_room(path.relative_to(folder)),
                "tests" if folder != package else "total",
            }:
                sizes[room] = [a + b for a, b in zip(sizes[room], own, strict=True)]
    return dict(sorted(sizes.items(), key=lambda item: -item[1][0]))


def find_excess(sizes: dict[str, list[int]]) -> dict[str, list[str]]:
    """Return what is larger than its budget, by room."""
    budgets = tomllib.loads(Path(__file__).with_name("size.toml").read_text("utf-8"))
    found = {}
    for room, budget in budgets.items():
        size = dict(zip(MEASURES, sizes.get(room, (0, 0, 0)), strict=True))
        if over := [
            f"{what} {size[what]:,} (at most {most:,})"
            for what, most in budget.items()
            if size[what] > most
        ]:
            found[room] = over
    return found


def main() -> None:
    """Print the table."""
    sizes = measure()
    excess = find_excess(sizes)
    print(f"{'room':24} {'lines':>8} {'tokens':>9} {'files':>6}")
    for room, (lines, tokens, files) in sizes.items():
        print(
            f"{room:24} {lines:8,} {tokens:9,} {files:6}  {', '.join(excess.get(room, []))}".rstrip()
        )
    sys.exit(bool(excess))


if __name__ == "__main__":
    main()
