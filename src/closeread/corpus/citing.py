"""The BibTeX entries to cite for corpora, scoring procedures, metrics and closeread itself, by name.

Those of metrics and options are in `closeread/tasks/references.bib`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
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
    """Return the BibTeX entries to cite, each once, separated by blank lines.

    Args:
        *names: corpora, metrics such as "muc" or "coref_muc", procedures such as "coref", presets such as "corefud",
            options such as "blanc_edge", and "closeread"; none for "closeread" alone.

    >>> print(cite("lea").splitlines()[0])
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
    if name in corpus_names():
        corpus = load_corpus(name)
        procedure = load_procedure(corpus.procedure)
        return [corpus.citation, *list_papers(procedure, [_find_family(procedure.headline)], name)]
    procedures = [load_procedure(task) for task in procedure_names()]
    entries: list[str] = []
    for procedure in procedures:
        entries += _list_papers_of(procedure, name)
    agreements = dict(_list_agreement_modules())
    if not entries and name in agreements:
        return [agreements[name]]
    if entries:
        return entries
    raise RequestError(_describe_unknown(name, procedures, agreements))


def _describe_unknown(name: str, procedures: Sequence[Procedure], agreements: Iterable[str]) -> str:
    """Say which names can be cited."""
    families: list[str] = []
    presets: list[str] = []
    options: list[str] = []
    for procedure in procedures:
        families += procedure.families
        presets += procedure.presets
        options += [option.name for option in procedure.options if option.references]
    aliases: dict[str, str] = {}
    for procedure in procedures:
        aliases |= procedure.aliases
    aliases = {alias: target for alias, target in aliases.items() if target in families}
    tasks = [task for task in procedure_names() if task not in corpus_names()]
    known = [OWN, *corpus_names(), *families, *tasks, *presets, *options, *agreements]
    return describe_unknown("corpus or metric", name, list(dict.fromkeys(known)), aliases)


def _find_family(metric: str) -> str:
    """Return the family of a metric, such as "muc" of "muc/f1"."""
    return metric.partition("/")[0]


def _list_papers_of(procedure: Procedure, name: str) -> list[str]:
    """List the entries of what has this name in a procedure: itself, a metric, a module, a preset or an option."""
    metrics = [metric.name for metric in procedure.metrics]
    family = _find_family(name) if name in metrics else name
    if family in procedure.families:
        return list_papers(procedure, [family])
    if name == procedure.name:
        return list_papers(procedure, map(_find_family, metrics))
    if name in procedure.modules:
        family = name.removeprefix(f"{procedure.name}_")
        is_family = family in procedure.families
        return list_papers(procedure, [family] if is_family else procedure.families)
    if name in procedure.presets:
        preset = procedure.presets[name]
        entries = [*preset.references, *list_papers(procedure, preset.metrics)]
        for option in preset.options:
            entries += _list_papers_of_option(procedure, option)
        return entries
    return _list_papers_of_option(procedure, name.replace("-", "_"))


def _list_papers_of_option(procedure: Procedure, name: str) -> list[str]:
    entries: list[str] = []
    for option in procedure.options:
        if option.name == name:
            entries += option.references
    return entries


def _list_agreement_modules() -> Iterator[tuple[str, str]]:
    """List the evaluate modules that compare annotators, each with its entry."""
    for module in find_all("agreement"):
        for name in getattr(module, "MODULES", ()):
            yield name, module.CITATION
