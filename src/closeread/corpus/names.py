"""Equivalent names: those of a corpus, of the procedure that scores it, and of the procedure's only evaluate module.

Commands, `closeread.load_dataset`, `evaluate.load` and the functions of `closeread.scoring` find names here, so that
``timeline``, ``semeval2015_timeline`` and ``timeline_awareness`` work wherever one of them does.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from closeread.exceptions import RequestError, choose_words, describe_unknown, escape_line
from closeread.tasks import load_procedure, procedure_names

if TYPE_CHECKING:
    from closeread.corpus.declaration import Corpus


def corpus_names() -> list[str]:
    """Return the names of all corpora, sorted: the folders of `closeread.loaders`."""
    import closeread.loaders

    return sorted(
        module.name for module in pkgutil.iter_modules(closeread.loaders.__path__) if module.ispkg
    )


def load_corpus(name: str) -> Corpus:
    """Load the declaration of a corpus."""
    names = corpus_names()
    if name not in names:
        raise RequestError(describe_unknown("corpus", name, names))
    module = importlib.import_module(f"closeread.loaders.{name}.declaration")
    return cast("Corpus", module.CORPUS)


def find_task(name: str) -> tuple[str, str | None]:
    """Return the name of the procedure that a name stands for, and that of the corpus if the name is a corpus's.

    >>> find_task("semeval2015_timeline"), find_task("timeline"), find_task("possession")
    (('timeline', 'semeval2015_timeline'), ('timeline', None), ('wikipossessions', None))
    """
    if name in corpus_names():
        return load_corpus(name).procedure, name
    procedure = _find_procedure(name)
    if procedure is None:
        known = procedure_names()
        if os.path.exists(name):
            example = choose_words("closeread score coref FILE", "closeread.score('coref', …)")
            before = f"the name of what scores it comes first, as in {example}"
            choices = f"choose from: {', '.join(known)}"
            raise RequestError(f"'{escape_line(name)}' is a file; {before} ({choices})")
        raise RequestError(_find_metric(name) or describe_unknown("procedure", name, known))
    return procedure, None


def find_corpus(name: str) -> Corpus:
    """Load the declaration of a corpus by its own name, or by that of the procedure that scores only this corpus.

    >>> find_corpus("coref").name
    'marmara_coref'
    """
    if name in corpus_names():
        return load_corpus(name)
    procedure = _find_procedure(name)
    if procedure is None:
        only = {one: scored[0] for one in procedure_names() if len(scored := list_scored(one)) == 1}
        raise RequestError(
            _find_metric(name) or describe_unknown("corpus", name, corpus_names(), only)
        )
    scored = list_scored(procedure)
    if len(scored) > 1:
        raise RequestError(
            f"procedure {procedure} scores {' and '.join(scored)}; give the name of a corpus"
        )
    if not scored:
        raise RequestError(
            f"procedure {procedure} scores no corpus (choose from: {', '.join(corpus_names())})"
        )
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
    modules = load_procedure(procedure).modules
    scored = [] if corpus is not None else list_scored(procedure)
    return list(dict.fromkeys([name, procedure, *(modules if len(modules) == 1 else ()), *scored]))


def choose_equivalent(name: str, known: Mapping[str, object]) -> str | None:
    """Return the one of the known names that is equivalent to a name; None if there is none."""
    if name in known:
        return name
    found = [other for other in list_equivalents(name) if other in known]
    if any(known[other] is not known[found[0]] for other in found):
        raise RequestError(f"{name} is ambiguous here: use {' or '.join(found)}")
    return found[0] if found else None


def _find_metric(name: str) -> str:
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
        files = "KEY RESPONSE" if procedure.sides.key_first else "FILE"
        in_shell = f"closeread score {procedure.name} {files} --{option} {value}"
        in_python = f"closeread.score('{procedure.name}', …, {option}='{value}')"
        return f"'{name}' is a {kind} of {procedure.name}: {choose_words(in_shell, in_python)}"
    return ""


def _find_procedure(name: str) -> str | None:
    """Return the procedure with this name, or with only this module; None if there is none."""
    if name in procedure_names():
        return name
    return next((one for one in procedure_names() if load_procedure(one).modules == (name,)), None)
