"""The code that reads a corpus, for the key of the dataset cache.

The modules are found by following imports from the builder, the corpus's declaration, its formats and its rules.  So a
change of this code rebuilds the dataset, and a change of other code does not.

Conventions: imports count anywhere in a module, including functions, but not below `if TYPE_CHECKING`.  A module
depends on the packages that contain it, except `closeread`, which imports no code that reads.
"""

from __future__ import annotations

import ast
import hashlib
import secrets
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from closeread.corpus.names import load_corpus
from closeread.corpus.notices import warn
from closeread.hf.register import IMPORTED_NS
from closeread.packages import package_folder
from closeread.tasks import find

PACKAGE = "closeread"
BUILDER = ("closeread.hf.builder", "closeread.hf.features")


def code_digest(corpus: str) -> str:
    """Return a digest, in hex, of all our files that determine the content of a corpus's tables.

    If one of them has changed since closeread was imported, what runs is not what the files say.  Then a warning says
    so, and every digest is another one, so that nothing that is cached is taken for what the running code would read,
    nor the other way round.
    """
    files, digest = digest_sources(corpus)
    changed = next((file for file in files if _find_change_ns(file) > IMPORTED_NS), None)
    if changed is None:
        return digest
    warn(
        f"{changed} has changed since closeread was imported; restart Python, or the tables of {corpus} are built "
        "again whenever they are loaded"
    )
    return secrets.token_hex(32)


def _find_change_ns(file: Path) -> int:
    """Return when a file was last written or replaced."""
    status = file.stat()
    return max(status.st_mtime_ns, status.st_ctime_ns)


@cache
def digest_sources(corpus: str) -> tuple[tuple[Path, ...], str]:
    """Return our files that determine the content of a corpus's tables, and their digest, in hex."""
    loader = package_folder(f"closeread.loaders.{corpus}")
    schema = package_folder("closeread.schemas") / f"{corpus}.json"
    contents = dict(_read_modules(corpus).values())
    contents |= {file: file.read_bytes() for file in (schema, *sorted(loader.glob("*.sha256")))}
    digest = hashlib.sha256()
    for content in contents.values():
        digest.update(len(content).to_bytes(8, "little") + content)
    return tuple(contents), digest.hexdigest()


def reading_modules(corpus: str) -> list[str]:
    """Return the names of our modules that read a corpus, sorted."""
    return list(_read_modules(corpus))


def _read_modules(corpus: str) -> dict[str, tuple[Path, bytes]]:
    """Return the files of these modules and their content by name, sorted."""
    declared = load_corpus(corpus)
    formats = {declared.format, *(config.format for config in declared.configs.values() if config.format is not None)}
    loader = f"closeread.loaders.{corpus}"
    roots = [*BUILDER, f"{loader}.declaration", f"{loader}.{corpus}"]
    flat = ["flat"] if any(config.flattens for config in declared.configs.values()) else []
    for role in ("rules", *flat, *sorted(formats)):
        module = find(declared.task, role)
        roots.append(f"closeread.formats.{role}" if module is None else module.__name__)
    found: dict[str, tuple[Path, bytes]] = {}
    waiting = roots
    while waiting:
        name = waiting.pop()
        file = None if name in found else _find_source(name)
        if file is not None:
            found[name] = file, file.read_bytes()
            parent = name.rpartition(".")[0]
            waiting += [parent] * (parent != PACKAGE)
            waiting += _find_imports(found[name][1])
    return dict(sorted(found.items()))


def _find_source(name: str) -> Path | None:
    """Return the file of one of our modules; None if there is no such module."""
    parts = name.split(".")
    folder = _find_folder(parts[1]) if len(parts) > 1 and parts[0] == PACKAGE else None
    if folder is None:
        return None
    place = folder.joinpath(*parts[2:])
    candidates = (place.with_name(f"{place.name}.py"), place / "__init__.py")
    return next((file for file in candidates if file.is_file()), None)


@cache
def _find_folder(name: str) -> Path | None:
    """Return the folder of a subpackage, or the path of a module without suffix; they may be in different places."""
    spec = find_spec(f"{PACKAGE}.{name}")
    origin = None if spec is None else spec.origin
    if spec is None or origin is None:
        return None
    return Path(origin).parent if spec.submodule_search_locations else Path(origin).with_suffix("")


@cache
def _find_imports(source: bytes) -> tuple[str, ...]:
    """Return what a module imports: modules, and names from modules, which may be modules too."""
    names: list[str] = []
    waiting: list[ast.AST] = list(ast.parse(source).body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            names += (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.append(str(node.module))
            names += (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            waiting += node.orelse
        elif isinstance(node, ast.stmt | ast.excepthandler | ast.match_case):
            waiting += [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr)]
    return tuple(names)
