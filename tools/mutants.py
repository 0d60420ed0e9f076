"""Changes the scoring code in one place at a time and lists the changes that no test notices: `make mutants`.

The tree is copied, and the copy is changed and tested: first by the test files that name the changed module, then by
the others of its package, the contract and the recording, with `--thorough` by all the rest, until a test fails; what
the tests of the first tier do not notice is tried with those of the others.  Changes that make no difference are
listed with the reason in ``tests/equivalent_mutants.json`` and are not tried.
"""

from __future__ import annotations

import argparse
import ast
import copy
import itertools
import json
import os
import queue
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
SOURCE = Path("src/closeread")
EQUIVALENT = "tests/equivalent_mutants.json"
TASKS = ("tne", "timeline", "mctaco", "wikipossessions", "tlinks")
# Of each: its code, its tests, and what these name.  Where a file belongs to several, it counts for the first.
GROUPS = {
    "coref metrics": ("tasks/coref/metrics", "tests/coref", ""),
    "marmara": ("tasks/marmara", "tests/marmara", ""),
    "coref": ("tasks/coref", "tests/coref", ""),
    "annotation": ("tasks/annotation", "tests/annotation", ""),
    "counts": ("counts", "tests", "closeread.counts"),
    "scoring": ("scoring.py", "tests", "closeread.scoring"),
    "arrays": ("arrays.py", "tests", "closeread.arrays"),
    "llm": ("llm", "tests/llm", ""),
    "neural": ("neural", "tests/neural", ""),
    **{name: (f"tasks/{name}", f"tests/{name}", "") for name in TASKS},
}

DRAWING = {"figures.py", "graph.py", "plots.py"}
"""What draws is not changed: it scores nothing, and where a picture has its lines is for eyes to judge."""

EVERYWHERE = ("tests/test_contract.py", "tests/test_recorded.py")
"""Tests of all that users see, whatever changes."""

TIERS = {"first": "not gate and not extended", "later": "gate or extended"}
"""The tiers of tests, as pytest selects them: what `make test` runs, and the others."""

OPERATORS = [
    (ast.Lt, ast.LtE),
    (ast.Gt, ast.GtE),
    (ast.Eq, ast.NotEq),
    (ast.Is, ast.IsNot),
    (ast.In, ast.NotIn),
]
OPERATORS += [(ast.And, ast.Or), (ast.Add, ast.Sub), (ast.Mult, ast.Div), (ast.BitAnd, ast.BitOr)]
NAMES = [
    ("min", "max"),
    ("minimum", "maximum"),
    ("argmin", "argmax"),
    ("zeros", "ones"),
    ("any", "all"),
]
INSTEAD = {one: other for pair in (*OPERATORS, *NAMES) for one, other in (pair, pair[::-1])} | {
    ast.FloorDiv: ast.Mult
}
# Types, decorators and messages are not changed.
TYPES = ("bool", "int", "float", "str", "list", "tuple", "dict")
SKIPPED_FIELDS = {"annotation", "returns", "decorator_list"}
SKIPPED = (ast.JoinedStr, ast.Raise, ast.Import, ast.ImportFrom)


class Change(NamedTuple):
    """A change of one place: the bytes from `begin` to `end` of a file become `text`."""

    file: str
    line: int
    begin: int
    end: int
    text: str
    old: str
    new: str
    source: str

    @property
    def key(self) -> tuple[str, str, str]:
        """What an equivalent mutant is known by, wherever its line is in the file."""
        return self.file, self.source, f"{self.old} → {self.new}"


def list_changes(file: str, source: bytes) -> Iterator[Change]:
    """List all changes of a file."""
    lines = source.splitlines(keepends=True)
    starts = [0, *itertools.accumulate(map(len, lines))]
    for node in walk(ast.parse(source)):
        begin, end = (
            starts[node.lineno - 1] + node.col_offset,
            starts[node.end_lineno - 1] + node.end_col_offset,
        )
        for changed in change(node):
            new = ast.unparse(changed)
            text = f"({new})" if isinstance(node, ast.expr) else new
            source_line = lines[node.lineno - 1].decode().strip()
            yield Change(file, node.lineno, begin, end, text, ast.unparse(node), new, source_line)


def walk(node: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    """List what can be changed below a node."""
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if (
                not isinstance(child, ast.AST)
                or isinstance(child, SKIPPED)
                or name in SKIPPED_FIELDS
            ):
                continue
            if isinstance(child, ast.keyword) and child.arg == "strict":
                continue
            if isinstance(child, ast.expr | ast.stmt):
                yield child
            yield from walk(child)


def change(node: ast.AST) -> Iterator[ast.AST]:
    """List the changes of a node itself."""

    def replace(**values: object) -> ast.AST:
        changed = copy.copy(node)
        for name, value in values.items():
            setattr(changed, name, value)
        return changed

    match node:
        case ast.Compare(ops=ops):
            for i, op in enumerate(ops):
                yield replace(ops=[*ops[:i], INSTEAD[type(op)](), *ops[i + 1 :]])
        case ast.BinOp(left=left, right=right, op=op) if type(op) in INSTEAD:
            if not any(is_text_or_type(part) for part in (left, right)):
                yield replace(op=INSTEAD[type(op)]())
        case ast.BoolOp(op=op):
            yield replace(op=INSTEAD[type(op)]())
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield operand
        case ast.Name(id=name) if name in INSTEAD:
            yield replace(id=INSTEAD[name])
        case ast.Attribute(attr=name) if name in INSTEAD:
            yield replace(attr=INSTEAD[name])
        case ast.Constant(value=bool(value)):
            yield replace(value=not value)
        case ast.Constant(value=value) if is_number(value):
            yield from (replace(value=value + step) for step in (1, -1))
        case ast.AugAssign(op=op):
            yield ast.Pass()
            if type(op) in INSTEAD:
                yield replace(op=INSTEAD[type(op)]())
        case ast.Expr(value=ast.Call()) | ast.Continue():
            yield ast.Pass()


def is_text_or_type(node: ast.expr) -> bool:
    """Return whether a sum is one of texts or lists, or of types, as in `int | None`."""
    is_type = isinstance(node, ast.Name) and node.id in TYPES
    is_text = isinstance(node, ast.Constant) and not is_number(node.value)
    return is_type or is_text or isinstance(node, ast.JoinedStr | ast.List)


def is_number(value: object) -> bool:
    """Return whether a constant is a number, as True and False are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def draw(root: Path, groups: Sequence[str], n: int, seed: int) -> list[tuple[str, Change]]:
    """Draw changes in turn from each group, one a line; those known to make no difference are left out."""
    rng = random.Random(seed)  # noqa: S311
    known = json.loads((root / EQUIVALENT).read_text("utf-8"))
    stale = left_out = {(one["file"], one["line"], one["change"]) for one in known}
    drawn: dict[str, list[Change]] = {}
    taken: set[Path] = set()
    for group, (path, *_) in GROUPS.items():
        files = (
            {root / SOURCE / path}
            if path.endswith(".py")
            else set((root / SOURCE / path).rglob("*.py"))
        )
        files = {file for file in files if file.name not in DRAWING}
        lines: dict[tuple[str, int], list[Change]] = defaultdict(list)
        for file in sorted(files - taken):
            for one in list_changes(str(file.relative_to(root)), file.read_bytes()):
                stale = stale - {one.key}
                if one.key not in left_out:
                    lines[one.file, one.line].append(one)
        taken |= files
        if group in groups:
            drawn[group] = [
                rng.choice(changes) for changes in rng.sample(list(lines.values()), len(lines))
            ]
            n_changes = sum(map(len, lines.values()))
            sys.stdout.write(
                f"{group}: {n_changes:,} changes are possible, in {len(lines):,} lines\n"
            )
    sys.stdout.writelines(
        f"{EQUIVALENT}: no longer in the code: {' | '.join(key)}\n" for key in sorted(stale)
    )
    turns = itertools.zip_longest(
        *([(group, one) for one in changes] for group, changes in drawn.items())
    )
    return list(itertools.islice((pair for turn in turns for pair in turn if pair), n))


def choose_tests(root: Path, group: str, file: str) -> tuple[list[str], list[str]]:
    """List the test files that name a module, and the others of its group with those of everything."""
    module = (
        file.removeprefix("src/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    )
    package, _, name = module.rpartition(".")
    names = re.compile(rf"{re.escape(module)}\b|from {re.escape(package)} import [^\n]*\b{name}\b")
    _, folder, named = GROUPS[group]
    texts = {test: test.read_text("utf-8") for test in sorted((root / "tests").rglob("test_*.py"))}
    first = {str(test.relative_to(root)) for test, text in texts.items() if names.search(text)}
    others = {
        str(test.relative_to(root))
        for test in (root / folder).glob("test_*.py")
        if named in texts[test]
    }
    return sorted(first), sorted((others | {*EVERYWHERE}) - first)


class Tree:
    """A copy of the tree, in which one thing at a time is changed and tested."""

    # each text of a file has a time of its own, so that no old bytecode is used
    times = itertools.count(1_000_000_000)

    def __init__(self, folder: Path, arguments: Sequence[str]) -> None:
        """Copy the tree."""
        self.folder, self.arguments = folder, arguments
        listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        for name in subprocess.run(
            listed, cwd=ROOT, capture_output=True, check=True, text=True
        ).stdout.split("\0"):
            if name and (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, folder / name)
        for name in ("loaders", "metrics", "schemas", "cards"):
            # A subpackage that is elsewhere until it is installed.
            subpackage = "evaluate_modules" if name == "metrics" else name
            (folder / SOURCE / subpackage).symlink_to(folder / name)

    def write(self, file: str, source: bytes) -> None:
        """Write a file of the copy."""
        path = self.folder / file
        path.write_bytes(source)
        os.utime(path, (now := next(self.times), now))

    def test(
        self, tests: Sequence[str], seconds: float | None = None, tier: str = ""
    ) -> tuple[int | None, str]:
        """Test the copy; the exit status, None if the time was over, and the first test that failed."""
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-x",
            "-q",
            "--tb=no",
            "-p",
            "no:cacheprovider",
            *self.arguments,
        ]
        command += ["-m", tier] if tier else []
        environment = {**os.environ, "PYTHONPATH": str(self.folder / "src")}
        pipes = {
            "stdout": subprocess.PIPE,
            "stderr": subprocess.STDOUT,
            "text": True,
            "start_new_session": True,
        }
        process = subprocess.Popen([*command, *tests], cwd=self.folder, env=environment, **pipes)
        try:
            output = process.communicate(timeout=seconds)[0]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return None, ""
        failed = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", output, re.MULTILINE)
        return process.returncode, failed[1] if failed else ""

    def try_change(
        self, one: Change, stages: Sequence[Sequence[str]], seconds: float | None
    ) -> tuple[str, str]:
        """Try a change; the tier that noticed it, "survived" or "unfinished", and the test that noticed it."""
        source = (self.folder / one.file).read_bytes()
        self.write(one.file, source[: one.begin] + one.text.encode() + source[one.end :])
        outcome = "survived"
        try:
            for tier, tests in itertools.product(TIERS, filter(None, stages)):
                status, failed = self.test(tests, seconds, TIERS[tier])
                if status not in (0, 5, None):
                    break
                outcome = "unfinished" if status is None else outcome
            else:
                return outcome, ""
        finally:
            self.write(one.file, source)
        again = self.test([failed] if failed else [*tests, "--collect-only"])[0]
        if again not in (0, 4, 5):  # 4: pytest does not know the name of the test, which has a dash
            raise SystemExit(f"{failed or tests} fails without any change")
        return tier, failed


def main() -> None:
    """Draw changes, try them, and print what became of them."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "-n", type=int, default=100, help="how many changes to try (default: %(default)s)"
    )
    parser.add_argument(
        "--seed", type=int, default=random.SystemRandom().randrange(2**32), help="repeats a run"
    )
    parser.add_argument(
        "--packages", nargs="+", choices=GROUPS, default=list(GROUPS), help="what to change"
    )
    parser.add_argument(
        "--jobs", type=int, default=2, help="how many to try at once (default: %(default)s)"
    )
    parser.add_argument(
        "--limit",
        type=float,
        default=600,
        help="seconds for a stage of tests (default: %(default)s)",
    )
    parser.add_argument(
        "--pytest-args", default="", help="such as '-m \"not slow\" --hypothesis-profile few'"
    )
    parser.add_argument(
        "--thorough", action="store_true", help="try survivors with all other tests, and no limit"
    )
    chosen = parser.parse_args()
    sys.stdout.write(f"seed {chosen.seed}\n")
    drawn = draw(ROOT, chosen.packages, chosen.n, chosen.seed)
    counted: dict[str, Counter[str]] = defaultdict(Counter)
    survivors = []
    with (
        tempfile.TemporaryDirectory(prefix="mutants-") as folder,
        ThreadPoolExecutor(chosen.jobs) as pool,
    ):
        trees: queue.SimpleQueue[Tree] = queue.SimpleQueue()
        for job in range(chosen.jobs):
            tree = Tree(Path(folder, str(job)), shlex.split(chosen.pytest_args))
            check_that_the_copy_is_tested(tree)
            trees.put(tree)

        def work(pair: tuple[str, Change]) -> tuple[str, str, float]:
            group, one = pair
            tree, start = trees.get(), time.monotonic()
            try:
                stages = [*choose_tests(ROOT, group, one.file)]
                if chosen.thorough:
                    stages.append(
                        ["tests", *(f"--ignore={name}" for tests in stages for name in tests)]
                    )
                outcome, test = tree.try_change(
                    one, stages, None if chosen.thorough else chosen.limit
                )
            finally:
                trees.put(tree)
            return outcome, test, time.monotonic() - start

        for (group, one), (outcome, test, seconds) in zip(
            drawn, pool.map(work, drawn), strict=True
        ):
            counted[group].update(["tried", outcome])
            counted[group]["seconds"] += round(seconds)
            told = f"{one.file}:{one.line}: {one.old} → {one.new}"
            sys.stdout.write(f"{outcome:10} {seconds:4.0f} s  {told}{test and '  by ' + test}\n")
            sys.stdout.flush()
            survivors += [f"{outcome}: {told}"] * (outcome not in TIERS)
    columns = ("tried", *TIERS, "survived", "unfinished", "seconds")
    counted["all"] = sum(counted.values(), Counter())
    sys.stdout.write("\n".join(["", f"{'':16}" + "".join(f"{name:>12}" for name in columns), ""]))
    for group, counts in counted.items():
        sys.stdout.write(f"{group:16}" + "".join(f"{counts[name]:12,}" for name in columns) + "\n")
    sys.stdout.write("\n".join(["", *survivors, ""]))


def check_that_the_copy_is_tested(tree: Tree) -> None:
    """Check that a test fails where the copy of the package can't be imported, and only there."""
    file, tests = str(SOURCE / "__init__.py"), ["tests/test_entry_points.py"]
    source = (tree.folder / file).read_bytes()
    tree.write(file, b"raise RuntimeError\n")
    if tree.test(tests)[0] in (0, 5):
        raise SystemExit("what is tested is not the changed copy")
    tree.write(file, source)
    status, failed = tree.test([*tests, "--collect-only"])
    if status:
        raise SystemExit(f"nothing can be tested: {failed}")


if __name__ == "__main__":
    main()
