"""What to cite: the BibTeX entries of corpora, scoring procedures, metrics and closeread itself, by name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from closeread._version import __version__
from closeread.corpus.names import corpus_names, load_corpus
from closeread.counts.procedure import Procedure
from closeread.exceptions import RequestError
from closeread.suggestions import describe_unknown
from closeread.tasks import find, load_procedure, procedure_names

OWN = "closeread"
SOFTWARE = f"""@software{{closeread,
  title = {{closeread}},
  author = {{{{The closeread developers}}}},
  year = {{2026}},
  version = {{{__version__}}}
}}"""
"""The entry of this package; a test derives it from `CITATION.cff`, which installed packages lack."""

KEY = re.compile(r"@[a-z]+\{([^,\s]+),")


def cite(*names: str) -> str:
    """Return the BibTeX entries to cite, each once, separated by blank lines.

    Args:
        *names: corpora, metrics such as "muc" or "coref_muc", procedures such as "coref", presets such as "corefud",
            options such as "blanc_edge", and "closeread"; none for "closeread" alone.

    Raises:
        RequestError: there is nothing of these names; the message suggests similar ones.

    >>> print(cite("lea").splitlines()[0])
    @inproceedings{moosavi-strube-2016-coreference,
    """
    entries: list[str] = []
    unknown: list[str] = []
    for name in names or (OWN,):
        try:
            entries += _find_entries(name)
        except RequestError as error:
            unknown.append(str(error))
    if unknown:
        raise RequestError("\n".join(dict.fromkeys(unknown)))
    return join_entries(entries)


def join_entries(entries: Iterable[str]) -> str:
    """Return BibTeX entries as one text, without those whose key occurs earlier."""
    first: dict[str, str] = {}
    for entry in entries:
        found = KEY.match(entry)
        first.setdefault(found[1] if found else entry, entry)
    return "\n\n".join(first.values())


def list_papers(procedure: Procedure, families: Iterable[str], corpus: str | None = None) -> list[str]:
    """List the BibTeX entries of families of metrics, and of the procedure that computes them.

    Args:
        procedure: the procedure.
        families: the names of some of its families.
        corpus: the corpus whose paper defines the procedure if that has no publication of its own; None for all that
            it scores.
    """
    own = [paper for family in families for paper in procedure.references.get(family, ())]
    if procedure.citation is not None:
        return [*own, procedure.citation]
    scored = [corpus] if corpus is not None else _list_corpora(procedure.name)
    return [*own, *(load_corpus(name).citation for name in scored)]


def _list_corpora(procedure: str) -> list[str]:
    return [name for name in corpus_names() if load_corpus(name).procedure == procedure]


def _find_entries(name: str) -> Sequence[str]:
    """Find the entries of a name.

    Raises:
        RequestError: there is nothing of that name.
    """
    if name == OWN:
        return [SOFTWARE]
    if name in corpus_names():
        corpus = load_corpus(name)
        procedure = load_procedure(corpus.procedure)
        ranked = procedure.headline.partition("/")[0]
        return [corpus.citation, *list_papers(procedure, [ranked], name)]
    procedures = [load_procedure(one) for one in procedure_names()]
    found = [paper for procedure in procedures for paper in _list_papers_of(procedure, name)]
    if found:
        return found
    measures = dict(_list_measures())
    if name in measures:
        return [measures[name]]
    families = list(dict.fromkeys(family for procedure in procedures for family in procedure.families))
    known = [OWN, *corpus_names(), *families, *(one for one in procedure_names() if one not in corpus_names())]
    known += [preset for procedure in procedures for preset in procedure.presets]
    known += [option.name for procedure in procedures for option in procedure.options if option.references]
    aliases = {alias: target for one in procedures for alias, target in one.aliases.items() if target in families}
    raise RequestError(describe_unknown("corpus or metric", name, list(dict.fromkeys([*known, *measures])), aliases))


def _list_papers_of(procedure: Procedure, name: str) -> list[str]:
    """List the entries of what has this name in a procedure: itself, a metric, a score, an evaluate module, a preset or
    an option.
    """
    stem = name.partition("/")[0] if any(name == metric.name for metric in procedure.metrics) else name
    if stem in procedure.families:
        return list_papers(procedure, [stem])
    if name == procedure.name:
        return list_papers(procedure, (metric.name.partition("/")[0] for metric in procedure.metrics))
    if name in procedure.modules:
        part = name.removeprefix(f"{procedure.name}_")
        return list_papers(procedure, [part] if part in procedure.families else procedure.families)
    if name in procedure.presets:
        preset = procedure.presets[name]
        changed = (paper for one in preset.options for paper in _list_papers_of_option(procedure, one))
        return [*preset.references, *list_papers(procedure, preset.metrics), *changed]
    return _list_papers_of_option(procedure, name.replace("-", "_"))


def _list_papers_of_option(procedure: Procedure, name: str) -> list[str]:
    return [paper for option in procedure.options if option.name == name for paper in option.references]


def _list_measures() -> Iterator[tuple[str, str]]:
    """List the evaluate modules that compare annotators, each with its entry."""
    for task in procedure_names():
        module = find(task, "agreement")
        for name in getattr(module, "MODULES", ()):
            yield name, module.CITATION  # type: ignore[union-attr]
