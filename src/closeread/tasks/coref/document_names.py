"""The names of documents, which key and response may write in different forms.

Conventions: documents are matched by name, including the part.  e2e-coref and its followers name part 0 of document
NAME ``NAME_0``, which CoNLL-2012 calls ``NAME; part 000``.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from closeread.exceptions import Problem, advise, join_names, pluralize, quote, suggest_id
from closeread.tasks.coref.documents import Document, Documents
from closeread.tasks.coref.files import name_in_file, rename_documents

PART = re.compile(r"(.+)(; part |_)([0-9]{1,9})")

OF_SYSTEM = "_"
"""What stands before the number of a part in names of systems."""


def match_names(key: Documents, response: Documents) -> Documents:
    """Give documents of the response the names that they have in the key, if only the form of the part differs.

    Parts are compared as numbers, and a name without a part is that of the only part in the key.  The file of a
    document is part of its name where several files of a side have documents of the same name.
    """
    key_names = set(key.names)
    unmatched = key_names.difference(response.names)
    if not unmatched:
        return response
    by_part, by_stem = _group_by_part(key.names)
    by_file = {
        name_in_file(document.file, document.name): document.name
        for document in key.documents
        if document.file
    }

    def find_candidates(document: Document) -> list[str]:
        name = document.name
        if document.file and name_in_file(document.file, name) in unmatched:
            return [name_in_file(document.file, name)]
        if by_file.get(name) in unmatched:
            return [by_file[name]]
        form = PART.fullmatch(name)
        same_part = by_part.get((form[1], int(form[3])), []) if form else []
        return same_part or by_stem.get(name, [])

    new_names: dict[str, str] = {}
    for document in response.documents:
        if document.name in key_names:
            continue
        candidates = find_candidates(document)
        if len(candidates) == 1 and candidates[0] in unmatched:
            new_names[document.name] = candidates[0]
    n_claims = Counter(new_names.values())
    new_names = {old: new for old, new in new_names.items() if n_claims[new] == 1}
    if not new_names:
        return response
    old, new = next(iter(new_names.items()))
    n_matched = pluralize(len(new_names), "document")
    notice = f"{n_matched} matched by name and part: {quote(old)} is {quote(new)} in the key"
    if len(new_names) > 1:
        notice += ", and so on"
    return rename_documents(response, new_names).noted(f"{notice}.")


def _group_by_part(
    names: Sequence[str],
) -> tuple[dict[tuple[str, int], list[str]], dict[str, list[str]]]:
    """Group names by what stands before the part with its number, and without it."""
    by_part: dict[tuple[str, int], list[str]] = {}
    by_stem: dict[str, list[str]] = {}
    for name in names:
        if form := PART.fullmatch(name):
            by_part.setdefault((form[1], int(form[3])), []).append(name)
            by_stem.setdefault(form[1], []).append(name)
    return by_part, by_stem


def find_unknown_documents(key: Documents, response: Documents) -> Iterator[Problem]:
    """Find the documents of the response that the key lacks.

    There is one problem for each file: the key may be a part of what the response has.
    """
    key_names = {*key.names, *key.broken}
    if key_names.issuperset(response.names):
        return
    unknown_by_file: defaultdict[str | None, list[Document]] = defaultdict(list)
    first = response.documents[0]
    for document in response.documents:
        if document.name not in key_names:
            unknown_by_file[document.file].append(document)
    advice = advise("; {extra=skip} leaves out what the key lacks")
    for file, documents in unknown_by_file.items():
        names = [document.name for document in documents]
        hint = _suggest_document(key, response, names[0], is_first=documents[0] is first)
        if len(names) == 1:
            message = f"document {quote(names[0])} is not in the key{hint}"
        else:
            message = f"{len(names):,} documents are not in the key: {join_names(names)}"
            if hint:
                message += f" (first: {hint.removeprefix('; ')})"
        yield Problem(message + advice, None, file)


def _suggest_document(key: Documents, response: Documents, name: str, *, is_first: bool) -> str:
    """Return the document of the key that one of the response may stand for, or nothing."""
    by_stem = {name.partition("; part")[0]: name for name in key.names}
    form = PART.fullmatch(name)
    stem = form[1] if form and form[2] == OF_SYSTEM else ""
    similar = by_stem.get(name.partition("; part")[0]) or by_stem.get(stem)
    if similar:
        return f"; did you mean {quote(similar)}? (the part belongs to the name)"
    absent = [name for name in key.names if name not in response.names]
    unknown = sorted(set(response.names) - set(key.names))
    hint = suggest_id(name, absent, unknown)
    if not hint and is_first and "0" in (name, *key.names[:1]):
        has = f"; the key has {quote(key.names[0])}, …" if key.names else ""
        hint = f"{has} (documents without names are numbered from 0)"
    return hint
