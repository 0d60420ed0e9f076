"""How plainly the package reads: how much is packed into a statement, and which names say nothing.

A statement is what Python executes as one: an assignment, a call, a return, or the head of a loop,
a condition or a `with`.  Tokens are those of `tools/size.py`, so that the width of lines changes
nothing.  A mark is a place that a reader has to unpack; `MARKS` lists the kinds.

Usage: `python tools/plain.py [--files N]` prints marks per 1,000 statements of each room and the
commonest names of variables; with `--files`, also the places in the N files with the most marks.
Exit code 1 if a room has more than `plain.toml` allows, which lists the marks per 1,000 statements
of each room.  Those numbers only fall.
"""

import argparse
import ast
import io
import sys
import tokenize
import tomllib
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from size import FSTRING_DEPTH, ROOT, SKIPPED, count_tokens, find_room

PACKAGE = ROOT / "src" / "closeread"
BUDGETS = Path(__file__).with_name("plain.toml")

MARKS = {
    "nested": "a comprehension inside another, or with two loops",
    "walrus": "an assignment inside an expression",
    "multiplied": "a list or a text multiplied by a condition",
    "starred": "a starred conditional or operation",
    "together": "unrelated values assigned in one line",
    "conditional": "a conditional inside a conditional",
    "long": "a statement of more than 40 tokens inside a function",
    "empty": "a variable whose name says nothing",
}

# fmt: off
EMPTY_NAMES = {
    "one", "ones", "found", "own", "those", "some", "given", "said", "told", "kept", "taken",
    "made", "its", "there", "of", "left", "what", "about", "known", "shown", "whole", "several",
    "others", "item", "items", "thing", "things", "elem", "element", "elements", "obj", "res",
    "ret", "tmp", "it", "that", "these", "which", "rest", "stuff",
}
# fmt: on
"""Names of variables that say nothing of what they hold."""

MAX_TOKENS = 40
"""How many tokens a statement may have before it counts as long."""

CONVENTIONS = {"self", "cls", "_"}
"""Names that nobody chooses."""

N_COMMON_NAMES = 20
"""How many of the commonest names of variables are printed."""

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
SEQUENCES = (ast.List, ast.Tuple, ast.JoinedStr)
CONDITIONS = (ast.Compare, ast.BoolOp, ast.UnaryOp)
BLOCKS = ("body", "orelse", "handlers", "finalbody", "cases")
NOT_EXECUTED = (
    *FUNCTIONS,
    ast.ClassDef,
    ast.Import,
    ast.ImportFrom,
    ast.Pass,
    ast.Global,
    ast.Nonlocal,
    ast.Try,
)
"""Statements that are not counted: their parts are, or they do nothing that has to be understood."""


@dataclass
class Plainness:
    """How plain some code is.

    Attributes:
        statements: how many statements it has.
        tokens: how many tokens.
        comments: how many comments.
        marks: the marks by kind, as in `MARKS`.
        places: line and kind of each mark, in order of the lines.
        names: how often each variable is assigned, and each argument defined.
    """

    statements: int = 0
    tokens: int = 0
    comments: int = 0
    marks: Counter[str] = field(default_factory=Counter)
    places: list[tuple[int, str]] = field(default_factory=list)
    names: Counter[str] = field(default_factory=Counter)

    def mark(self, line: int, kind: str) -> None:
        """Record a mark."""
        self.marks[kind] += 1
        self.places.append((line, kind))

    def add(self, other: "Plainness") -> None:
        """Add the numbers of other code, without its places."""
        self.statements += other.statements
        self.tokens += other.tokens
        self.comments += other.comments
        self.marks += other.marks
        self.names += other.names

    @property
    def density(self) -> float:
        """Marks of all kinds per 1,000 statements."""
        return 1000 * self.marks.total() / max(self.statements, 1)


def measure_module(text: str) -> Plainness:
    r"""Measure a module.

    >>> measure_module("one, two = 1, 2\n").places
    [(1, 'empty'), (1, 'together')]
    """
    tree = ast.parse(text)
    plainness = Plainness(tokens=count_tokens(text), comments=count_comments(text))
    starts = list_token_starts(text)
    in_functions = find_statements_of_functions(tree)
    for statement in ast.walk(tree):
        if not is_counted(statement):
            continue
        plainness.statements += 1
        if (
            statement in in_functions
            and count_between(starts, *find_extent(statement)) > MAX_TOKENS
        ):
            plainness.mark(statement.lineno, "long")
        if is_assigned_together(statement):
            plainness.mark(statement.lineno, "together")
        for node in walk_head(statement):
            for kind in find_marks(node):
                plainness.mark(getattr(node, "lineno", statement.lineno), kind)
            if is_variable(node):
                plainness.names[node.id] += 1
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            plainness.names[node.arg] += 1
            if node.arg in EMPTY_NAMES:
                plainness.mark(node.lineno, "empty")
    plainness.places.sort()
    return plainness


def is_counted(node: ast.AST) -> bool:
    """Tell whether a node is a statement that counts; a docstring does not."""
    if not isinstance(node, ast.stmt) or isinstance(node, NOT_EXECUTED):
        return False
    return not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def walk_head(statement: ast.stmt) -> Iterator[ast.AST]:
    """List the nodes of a statement, but of a loop, a condition or a `with` only those of its head."""
    for name, value in ast.iter_fields(statement):
        if name in BLOCKS:
            continue
        children = value if isinstance(value, list) else [value]
        for child in children:
            if isinstance(child, ast.AST):
                yield from ast.walk(child)


def find_marks(node: ast.AST) -> Iterator[str]:
    """List the marks of a single expression."""
    if isinstance(node, COMPREHENSIONS):
        if len(node.generators) > 1 or contains(node, COMPREHENSIONS):
            yield "nested"
    elif isinstance(node, ast.NamedExpr):
        yield "walrus"
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        sides = (node.left, node.right)
        if any(map(is_sequence, sides)) and any(map(is_condition, sides)):
            yield "multiplied"
    elif isinstance(node, ast.Starred):
        if isinstance(node.value, (ast.IfExp, ast.BinOp, ast.BoolOp)):
            yield "starred"
    elif isinstance(node, ast.IfExp):
        if contains(node, ast.IfExp):
            yield "conditional"
    elif is_variable(node) and node.id in EMPTY_NAMES:
        yield "empty"


def contains(node: ast.AST, kinds: type | tuple[type, ...]) -> bool:
    """Tell whether there is a node of some kind inside a node."""
    return any(isinstance(child, kinds) for child in ast.walk(node) if child is not node)


def is_variable(node: ast.AST) -> bool:
    """Tell whether a node is a name that is assigned."""
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def is_sequence(node: ast.AST) -> bool:
    """Tell whether an expression is a list, a tuple or a text as it is written."""
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return is_text or isinstance(node, SEQUENCES)


def is_condition(node: ast.AST) -> bool:
    """Tell whether an expression is a condition, by its form or by its name."""
    is_flag = isinstance(node, ast.Name) and node.id.startswith(("is_", "has_"))
    return is_flag or isinstance(node, CONDITIONS)


def is_assigned_together(statement: ast.stmt) -> bool:
    """Tell whether a statement assigns several values of their own to several names."""
    if not isinstance(statement, ast.Assign):
        return False
    return isinstance(statement.targets[0], ast.Tuple) and isinstance(statement.value, ast.Tuple)


def find_statements_of_functions(tree: ast.AST) -> set[ast.AST]:
    """Return all statements inside functions."""
    statements = set()
    for node in ast.walk(tree):
        if isinstance(node, FUNCTIONS):
            statements.update(child for child in ast.walk(node) if isinstance(child, ast.stmt))
    return statements


def find_extent(statement: ast.stmt) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return where the head of a statement begins and ends: line and column."""
    begin = (statement.lineno, statement.col_offset)
    body = getattr(statement, "body", None)
    if isinstance(body, list) and body:
        return begin, (body[0].lineno, body[0].col_offset)
    return begin, (statement.end_lineno, sys.maxsize)


def count_between(
    starts: list[tuple[int, int]], begin: tuple[int, int], end: tuple[int, int]
) -> int:
    """Count the tokens between two places."""
    return bisect_left(starts, end) - bisect_left(starts, begin)


def list_token_starts(text: str) -> list[tuple[int, int]]:
    """List line and column of each token; an f-string is one token in all versions of Python."""
    starts = []
    depth = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in SKIPPED:
            continue
        depth += FSTRING_DEPTH.get(tokenize.tok_name[token.type], 0)
        if depth == 0:
            starts.append(token.start)
    return starts


def count_comments(text: str) -> int:
    """Count the comments of a module."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return sum(token.type == tokenize.COMMENT for token in tokens)


def measure_package() -> dict[Path, Plainness]:
    """Measure each module, by its path below the package."""
    return {
        path.relative_to(PACKAGE): measure_module(path.read_text("utf-8"))
        for path in sorted(PACKAGE.rglob("*.py"))
    }


def sum_rooms(modules: dict[Path, Plainness]) -> dict[str, Plainness]:
    """Return the sums of each room, and of all of them ("total"), the largest first."""
    rooms: dict[str, Plainness] = defaultdict(Plainness)
    for path, plainness in modules.items():
        rooms[find_room(path)].add(plainness)
        rooms["total"].add(plainness)
    return dict(sorted(rooms.items(), key=lambda room: -room[1].tokens))


def read_budgets() -> dict[str, Any]:
    """Read how many marks each room, and a new one, may have."""
    return tomllib.loads(BUDGETS.read_text("utf-8"))


def find_excess(rooms: dict[str, Plainness]) -> list[str]:
    """Describe each room that has more marks than it may have; a room without a number may have 30."""
    budgets = read_budgets()
    excess = []
    for room, plainness in rooms.items():
        most = budgets["rooms"].get(room, budgets["new_room"])
        if round(plainness.density) > most:
            excess.append(
                f"{room}: {plainness.density:.0f} marks per 1,000 statements, at most {most}"
            )
    return excess


def print_rooms(rooms: dict[str, Plainness]) -> None:
    """Print the table of rooms: tokens, and marks per 1,000 statements."""
    kinds = "".join(f"{kind:>12}" for kind in MARKS)
    print(f"{'per 1,000 statements':24}{'tokens':>9}{'/stmt':>7}{kinds}{'all':>7}{'comments':>10}")
    for room, plainness in rooms.items():
        n = max(plainness.statements, 1)
        marks = "".join(f"{1000 * plainness.marks[kind] / n:12.1f}" for kind in MARKS)
        tokens = f"{plainness.tokens:9,}{plainness.tokens / n:7.1f}"
        comments = f"{1000 * plainness.comments / n:10.0f}"
        print(f"{room:24}{tokens}{marks}{plainness.density:7.0f}{comments}")


def print_names(names: Counter[str]) -> None:
    """Print the commonest names of variables; none should be more than 1 % of all."""
    chosen = Counter({name: n for name, n in names.items() if name not in CONVENTIONS})
    common = chosen.most_common(N_COMMON_NAMES)
    shares = [f"{name} {100 * n / chosen.total():.1f}" for name, n in common]
    print("\nCommonest names of variables, in % of all:", ", ".join(shares), sep="\n")


def print_places(modules: dict[Path, Plainness], n_files: int) -> None:
    """Print the marks of the files that have the most."""
    by_number = sorted(modules.items(), key=lambda module: -len(module[1].places))
    for path, plainness in by_number[:n_files]:
        print(f"\n{path}: {len(plainness.places)}")
        for line, kind in plainness.places:
            print(f"  {line} {kind}")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=0, help="list the marks of so many files")
    modules = measure_package()
    rooms = sum_rooms(modules)
    print_rooms(rooms)
    print_names(rooms["total"].names)
    print_places(modules, parser.parse_args().files)
    excess = find_excess(rooms)
    if excess:
        print("\nMore than plain.toml allows:", *excess, sep="\n")
    sys.exit(bool(excess))


if __name__ == "__main__":
    main()
