"""Names of documents in key and response: which match, and which are unknown.

e2e-coref and its followers name part 0 of document NAME ``NAME_0``, which CoNLL-2012 calls ``NAME; part 000``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from closeread.exceptions import Problem, pluralize, quote
from closeread.tasks.coref.columns import MentionTable

OF_CONLL = re.compile(r"(.+); part ([0-9]{1,9})")
OF_SYSTEM = re.compile(r"(.+)_([0-9]{1,9})")


def match_names(key: MentionTable, response: MentionTable) -> MentionTable:
    """Give documents of the response the names that they have in the key, if only the form of the part differs.

    A notice says so.
    """
    new = _find_other_forms(key.names, response.names)
    if not new:
        return response
    old, first = next(iter(new.items()))
    found = f"{pluralize(len(new), 'document')} matched by name and part: {quote(old)} is {quote(first)} in the key"
    return replace(
        response,
        names=[new.get(name, name) for name in response.names],
        relations=response.relations and response.relations.rename(new),
        notices=[*response.notices, f"{found}{', and so on' if len(new) > 1 else ''}."],
    )


def _find_other_forms(known: Sequence[str], given: Sequence[str]) -> Mapping[str, str]:
    """Map given names that are unknown to known ones that are not given, if there is exactly one for each."""
    of_key = set(known)
    left = of_key.difference(given)
    by_part: dict[tuple[bool, str, int], list[str]] = {}
    for name in left:
        for form in _list_forms(name):
            by_part.setdefault(form, []).append(name)
    unknown = [name for name in given if name not in of_key] if left else []
    candidates = {
        name: [one for kind, stem, part in _list_forms(name) for one in by_part.get((not kind, stem, part), ())]
        for name in unknown
    }
    wanted = Counter(one for ones in candidates.values() for one in ones)
    return {name: ones[0] for name, ones in candidates.items() if len(ones) == 1 and wanted[ones[0]] == 1}


def _list_forms(name: str) -> Iterator[tuple[bool, str, int]]:
    """Yield the ways to read a name as that of a part: whether a system's, the document, and the number of the part."""
    for is_system, form in ((False, OF_CONLL), (True, OF_SYSTEM)):
        if parts := form.fullmatch(name):
            yield is_system, parts[1], int(parts[2])


def find_unknown_documents(key: MentionTable, response: MentionTable) -> Iterator[Problem]:
    """Find the documents of the response that the key lacks."""
    known = set(key.names)
    if known.issuperset(response.names):
        return
    by_stem = {name.partition("; part")[0]: name for name in key.names}
    for document, name in enumerate(response.names):
        if name not in known:
            system = OF_SYSTEM.fullmatch(name)
            like = by_stem.get(name.partition("; part")[0]) or (system and by_stem.get(system[1]))
            hint = f"; did you mean {quote(like)}? (the part belongs to the name)" if like else ""
            if not (hint or document) and "0" in (name, *key.names[:1]):
                has = f"; the key has {quote(key.names[0])}, …" if key.names else ""
                hint = f"{has} (documents without names are numbered from 0)"
            yield Problem(f"document {quote(name)} is not in the key{hint}", None, response.file_of(document))
