"""The BibTeX entries to cite for corpora, scoring procedures, metrics and closeread itself, by name.

Those of metrics and options are in `closeread/tasks/references.bib`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache

from closeread._version import __version__
from closeread.corpus.names import corpus_names, list_scored, load_corpus
from closeread.counts.procedure import Procedure
from closeread.exceptions import RequestError, describe_unknown
from closeread.files import package_folder
from closeread.tasks import find_all, load_procedure, procedure_names

OWN = "closeread"
SOFTWARE = f"""@software{{closeread,
  title = {{closeread}},
  author = {{{{The closeread developers}}}},
  year = {{2026}},
  version = {{{__version__}}}
}}"""
"""The entry of this package; a test derives it from `CITATION.cff`, which installed packages lack."""


def _find_key(entry: str) -> str:
    match = re.match(r"@[a-z]+\{([^,\s]+),", entry)
    return match[1] if match else entry


@cache
def _read_references() -> dict[str, str]:
    text = (package_folder("closeread.tasks") / "references.bib").read_text("utf-8")
    _, *entries = re.split(r"\n\n(?=@)", text.strip())
    return {_find_key(entry): entry for entry in entries}


def papers(*keys: str) -> tuple[str, ...]:
    """Return the BibTeX entries of papers that define metrics and options, by their keys."""
    return tuple(_read_references()[key] for key in keys)


def cite(*names: str) -> str:
    """Return the BibTeX entries of corpora, metrics, presets, options and closeread itself, each once.

    A corpus comes with the papers of the score that its systems are ranked by; a metric is named as in
    `evaluate.load` or in `closeread.score`, and so are presets, and options that come from a paper.

    On the command line:
      closeread info muc b3 ceafe lea --cite

    Args:
        *names: corpora, metrics such as "muc" or "coref_muc", procedures such as "coref", presets such as "corefud",
            options such as "blanc_edge", and "closeread"; none for "closeread" alone.

    Returns:
        The entries, with an empty line between them.

    >>> import closeread
    >>> print(closeread.cite("lea").splitlines()[0])
    @inproceedings{moosavi-strube-2016-coreference,
    """
    entries: list[str] = []
    errors: list[str] = []
    for name in names or (OWN,):
        try:
            entries += _find_entries(name)
        except RequestError as error:
            errors.append(str(error))
    if errors:
        raise RequestError("\n".join(dict.fromkeys(errors)))
    return join_entries(entries)


def join_entries(entries: Iterable[str]) -> str:
    """Return BibTeX entries as one text, without those whose key occurs earlier."""
    by_key: dict[str, str] = {}
    for entry in entries:
        by_key.setdefault(_find_key(entry), entry)
    return "\n\n".join(by_key.values())


def list_papers(
    procedure: Procedure, families: Iterable[str], corpus: str | None = None
) -> list[str]:
    """List the BibTeX entries of families of metrics, and of the procedure that computes them.

    If that has no publication of its own, the paper of the corpus defines it, or those of all corpora that it scores.
    """
    entries: list[str] = []
    for family in families:
        entries += procedure.references.get(family, ())
    if procedure.citation is not None:
        return [*entries, procedure.citation]
    corpora = list_scored(procedure.name) if corpus is None else [corpus]
    return entries + [load_corpus(name).citation for name in corpora]


def _find_entries(name: str) -> Sequence[str]:
    if name == OWN:
        return [SOFTWARE]
    entries = _list_entries()
    if name in corpus_names():
        corpus = load_corpus(name)
        procedure = load_procedure(corpus.procedure)
        of_score = list_papers(procedure, [_find_family(procedure.headline)], name)
        return [corpus.citation, *of_score, *entries.get(corpus.preset or "", ())]
    # The metric of a score, such as "muc/f1", and options as commands write them.
    for spelling in (name, _find_family(name), name.replace("-", "_")):
        if spelling in entries:
            return entries[spelling]
    aliases: dict[str, str] = {}
    for procedure in map(load_procedure, procedure_names()):
        aliases |= procedure.aliases
    known = dict.fromkeys([OWN, *corpus_names(), *entries])
    raise RequestError(describe_unknown("corpus or metric", name, list(known), aliases))


def _find_family(metric: str) -> str:
    """Return the family of a metric, such as "muc" of "muc/f1"."""
    return metric.partition("/")[0]


@cache
def _list_entries() -> dict[str, list[str]]:
    """Map the names of metrics, procedures, modules, presets and options to their entries."""
    entries: dict[str, list[str]] = {}
    for procedure in map(load_procedure, procedure_names()):
        # A metric and an option of several procedures may have one name.
        for name, papers_of_name in _list_entries_of(procedure).items():
            entries.setdefault(name, []).extend(papers_of_name)
    for module in find_all("agreement"):
        for name in getattr(module, "MODULES", ()):
            entries.setdefault(name, [module.CITATION])
    return entries


def _list_entries_of(procedure: Procedure) -> dict[str, list[str]]:
    entries = {family: list_papers(procedure, [family]) for family in procedure.families}
    metrics = [metric.family for metric in procedure.metrics]
    entries.setdefault(procedure.name, list_papers(procedure, metrics))
    for module in procedure.modules:
        family = module.removeprefix(f"{procedure.name}_")
        families = [family] if family in procedure.families else procedure.families
        entries.setdefault(module, list_papers(procedure, families))
    references = {option.name: option.references for option in procedure.options}
    for name, preset in procedure.presets.items():
        papers_of_preset = [*preset.references, *list_papers(procedure, preset.metrics)]
        for option in preset.options:
            papers_of_preset += references[option]
        entries.setdefault(name, papers_of_preset)
    for option, papers_of_option in references.items():
        if papers_of_option:
            entries.setdefault(option, list(papers_of_option))
    return entries
