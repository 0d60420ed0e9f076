"""Equivalent names: those of a corpus, of the procedure that scores it, and of the procedure's only evaluate module.

Commands, `closeread.load_dataset`, `evaluate.load` and the functions of `closeread.scoring` find names here, so that
``timeline``, ``semeval2015_timeline`` and ``timeline_awareness`` work wherever one of them does.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, cast

from closeread.exceptions import RequestError, choose_words, describe_unknown, escape_line, join_all
from closeread.files import package_folder
from closeread.tasks import load_procedure, procedure_names

if TYPE_CHECKING:
    from closeread.corpus.declaration import Corpus


def corpus_names() -> list[str]:
    """Return the names of all corpora, sorted: the folders of `closeread.loaders`, and the modules of families."""
    return sorted(_list_modules())


@cache
def _list_modules() -> Mapping[str, str]:
    """Return the module with the declaration of each corpus; a folder without a declaration is a family of corpora."""
    import closeread.loaders

    modules = {}
    for package in pkgutil.iter_modules(closeread.loaders.__path__, "closeread.loaders."):
        if package.ispkg:
            folder = package_folder(package.name)
            name = folder.name
            if (folder / "declaration.py").is_file():
                modules[name] = f"{package.name}.declaration"
            else:
                for module in pkgutil.iter_modules([str(folder)], f"{package.name}."):
                    modules[module.name.rpartition(".")[2]] = module.name
    return modules


def find_declaration(name: str) -> Path:
    """Return the file with the declaration of a corpus."""
    package, _, module = _list_modules()[name].rpartition(".")
    return package_folder(package) / f"{module}.py"


@cache
def load_corpus(name: str) -> Corpus:
    """Load the declaration of a corpus."""
    modules = _list_modules()
    if name not in modules:
        raise RequestError(describe_unknown("corpus", name, corpus_names()))
    module = importlib.import_module(modules[name])
    return cast("Corpus", module.CORPUS)


def find_task(name: str) -> tuple[str, str | None]:
    """Return the name of the procedure that a name stands for, and that of the corpus if the name is a corpus's.

    >>> find_task("semeval2015_timeline"), find_task("timeline"), find_task("possession")
    (('timeline', 'semeval2015_timeline'), ('timeline', None), ('wikipossessions', None))
    """
    if name in corpus_names():
        return load_corpus(name).procedure, name
    procedure = _find_procedure(name)
    if procedure is not None:
        return procedure, None
    names = procedure_names()
    if os.path.exists(name):
        example = choose_words("closeread score coref FILE", "closeread.score('coref', …)")
        advice = f"the name of what scores it comes first, as in {example}"
        choices = f"choose from: {', '.join(names)}"
        raise RequestError(f"'{escape_line(name)}' is a file; {advice} ({choices})")
    raise RequestError(_describe_metric(name) or describe_unknown("procedure", name, names))


def find_corpus(name: str) -> Corpus:
    """Load the declaration of a corpus by its own name, or by that of the procedure that scores only this corpus.

    A procedure's name never stands for a corpus of a family.

    >>> find_corpus("timeline").name
    'semeval2015_timeline'
    """
    if name in corpus_names():
        return load_corpus(name)
    procedure = _find_procedure(name)
    if procedure is None:
        aliases = {}
        for task in procedure_names():
            scored = list_scored(task)
            if len(scored) == 1:
                aliases[task] = scored[0]
        message = describe_unknown("corpus", name, corpus_names(), aliases)
        raise RequestError(_describe_metric(name) or message)
    scored = [corpus for corpus in list_scored(procedure) if not load_corpus(corpus).family]
    if len(scored) > 1:
        corpora = join_all(scored)
        raise RequestError(f"procedure {procedure} scores {corpora}; give the name of a corpus")
    if not scored:
        choices = f"choose from: {', '.join(corpus_names())}"
        raise RequestError(f"procedure {procedure} scores no corpus ({choices})")
    return load_corpus(scored[0])


def list_scored(procedure: str) -> list[str]:
    """Return the names of the corpora that a procedure scores, sorted."""
    return [corpus for corpus in corpus_names() if load_corpus(corpus).procedure == procedure]


def list_equivalents(name: str) -> list[str]:
    """Return all names that a name may stand for: itself, its procedure, the procedure's only module, its corpora.

    Another corpus of the same procedure is not meant by the name of a corpus.  A name that is unknown has no others.

    >>> list_equivalents("timeline")
    ['timeline', 'timeline_awareness', 'semeval2015_timeline']
    """
    try:
        procedure, corpus = find_task(name)
    except RequestError:
        return [name]
    names = [name, procedure]
    modules = load_procedure(procedure).modules
    if len(modules) == 1:
        names += modules
    if corpus is None:
        names += list_scored(procedure)
    return list(dict.fromkeys(names))


def choose_equivalent(name: str, known: Mapping[str, object]) -> str | None:
    """Return the one of the known names that is equivalent to a name; None if there is none."""
    if name in known:
        return name
    names = [other for other in list_equivalents(name) if other in known]
    if any(known[other] is not known[names[0]] for other in names):
        raise RequestError(f"{name} is ambiguous here: use {' or '.join(names)}")
    return names[0] if names else None


def _describe_metric(name: str) -> str:
    """Say how to compute a metric, or use a preset, that is named instead of its procedure; empty if it is neither."""
    for procedure in map(load_procedure, procedure_names()):
        family = name.removeprefix(f"{procedure.name}_")
        family = procedure.aliases.get(family, family)
        if family in procedure.families:
            kind, option, value = "metric", "metrics", family
        elif name in procedure.presets:
            kind, option, value = "preset", "preset", name
        else:
            continue
        files = "KEY RESPONSE" if procedure.reader.key_first else "FILE"
        in_shell = f"closeread score {procedure.name} {files} --{option} {value}"
        in_python = f"closeread.score('{procedure.name}', …, {option}='{value}')"
        return f"'{name}' is a {kind} of {procedure.name}: {choose_words(in_shell, in_python)}"
    return ""


def _find_procedure(name: str) -> str | None:
    """Return the procedure with this name, or with only this module; None if there is none."""
    names = procedure_names()
    if name in names:
        return name
    return next((task for task in names if load_procedure(task).modules == (name,)), None)
