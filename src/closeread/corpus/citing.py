"""The BibTeX entries to cite for corpora, scoring procedures, metrics and closeread itself, by name.

Those of metrics and options are in `closeread/tasks/references.bib`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from closeread._version import __version__
from closeread.corpus.names import corpus_names, list_scored, load_corpus
from closeread.counts.procedure import Procedure
from closeread.exceptions import RequestError, describe_unknown
from closeread.files import package_folder
from closeread.tasks import find, load_procedure, procedure_names

OWN = "closeread"
SOFTWARE = f"""@software{{closeread,
  title = {{closeread}},
  author = {{{{The closeread developers}}}},
  year = {{2026}},
  version = {{{__version__}}}
}}"""
"""The entry of this package; a test derives it from `CITATION.cff`, which installed packages lack."""


def _find_key(entry: str) -> str:
    found = re.match(r"@[a-z]+\{([^,\s]+),", entry)
    return found[1] if found else entry


@cache
def _read_references() -> dict[str, str]:
    text = (package_folder("closeread.tasks") / "references.bib").read_text("utf-8")
    return {_find_key(entry): entry for entry in re.split(r"\n\n(?=@)", text.strip())[1:]}


def papers(*keys: str) -> tuple[str, ...]:
    """Return the BibTeX entries of papers that define metrics and options, by their keys."""
    return tuple(_read_references()[key] for key in keys)


def cite(*names: str) -> str:
    """Return the BibTeX entries to cite, each once, separated by blank lines.

    Args:
        *names: corpora, metrics such as "muc" or "coref_muc", procedures such as "coref", presets such as "corefud",
            options such as "blanc_edge", and "closeread"; none for "closeread" alone.

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
        first.setdefault(_find_key(entry), entry)
    return "\n\n".join(first.values())


def list_papers(
    procedure: Procedure, families: Iterable[str], corpus: str | None = None
) -> list[str]:
    """List the BibTeX entries of families of metrics, and of the procedure that computes them.

    If that has no publication of its own, the paper of the corpus defines it, or those of all corpora that it scores.
    """
    own = [paper for family in families for paper in procedure.references.get(family, ())]
    if procedure.citation is not None:
        return [*own, procedure.citation]
    return [
        *own,
        *(
            load_corpus(name).citation
            for name in ([corpus] if corpus else list_scored(procedure.name))
        ),
    ]


def _find_entries(name: str) -> list[str]:
    if name == OWN:
        return [SOFTWARE]
    if name in corpus_names():
        corpus = load_corpus(name)
        procedure = load_procedure(corpus.procedure)
        return [
            corpus.citation,
            *list_papers(procedure, [procedure.headline.partition("/")[0]], name),
        ]
    procedures = [load_procedure(one) for one in procedure_names()]
    agreements = dict(_list_agreement_modules())
    found = [paper for procedure in procedures for paper in _list_papers_of(procedure, name)]
    if found or name in agreements:
        return found or [agreements[name]]
    families = [family for procedure in procedures for family in procedure.families]
    known = [
        OWN,
        *corpus_names(),
        *families,
        *(one for one in procedure_names() if one not in corpus_names()),
    ]
    known += [preset for procedure in procedures for preset in procedure.presets]
    known += [
        option.name for procedure in procedures for option in procedure.options if option.references
    ]
    aliases = {
        alias: target
        for one in procedures
        for alias, target in one.aliases.items()
        if target in families
    }
    raise RequestError(
        describe_unknown(
            "corpus or metric", name, list(dict.fromkeys([*known, *agreements])), aliases
        )
    )


def _list_papers_of(procedure: Procedure, name: str) -> list[str]:
    """List the entries of what has this name in a procedure: itself, a metric, a module, a preset or an option."""

    def of_option(name: str) -> list[str]:
        return [
            paper
            for option in procedure.options
            if option.name == name
            for paper in option.references
        ]

    stem = (
        name.partition("/")[0] if any(name == metric.name for metric in procedure.metrics) else name
    )
    if stem in procedure.families:
        return list_papers(procedure, [stem])
    if name == procedure.name:
        return list_papers(
            procedure, (metric.name.partition("/")[0] for metric in procedure.metrics)
        )
    if name in procedure.modules:
        part = name.removeprefix(f"{procedure.name}_")
        return list_papers(procedure, [part] if part in procedure.families else procedure.families)
    if name in procedure.presets:
        preset = procedure.presets[name]
        changed = (paper for option in preset.options for paper in of_option(option))
        return [*preset.references, *list_papers(procedure, preset.metrics), *changed]
    return of_option(name.replace("-", "_"))


def _list_agreement_modules() -> Iterator[tuple[str, str]]:
    """List the evaluate modules that compare annotators, each with its entry."""
    for task in procedure_names():
        module = find(task, "agreement")
        for name in getattr(module, "MODULES", ()):
            yield name, module.CITATION  # type: ignore[union-attr]
