"""The names of documents, which key and response may write in different forms.

Conventions: documents are matched by name, including the part.  e2e-coref and its followers name part 0 of document
NAME ``NAME_0``, which CoNLL-2012 calls ``NAME; part 000``.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from closeread.exceptions import SWAPPED, Problem, advise, join_names, pluralize, quote, suggest_id
from closeread.tasks.coref.documents import Document, Documents
from closeread.tasks.coref.files import (
    find_treebank,
    list_treebanks,
    name_in_file,
    name_in_treebank,
    rename_documents,
)

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

    by_plain_name = group_plain_names(key)

    def find_candidates(document: Document) -> list[str]:
        name = document.name
        plain_name = remove_treebank(document)
        in_treebank = in_treebank_of(document)
        if in_treebank in unmatched:
            return [in_treebank]
        if document.file and name_in_file(document.file, name) in unmatched:
            return [name_in_file(document.file, name)]
        if by_file.get(name) in unmatched:
            return [by_file[name]]
        form = PART.fullmatch(name)
        same_part = by_part.get((form[1], int(form[3])), []) if form else []
        return same_part or by_stem.get(name) or by_plain_name.get(plain_name, [])

    new_names: dict[str, str] = {}
    for document in response.documents:
        if document.name in key_names:
            continue
        candidates = find_candidates(document)
        if len(candidates) == 1 and candidates[0] in unmatched:
            new_names[document.name] = candidates[0]
    n_claims = Counter(new_names.values())
    new_names = {old: new for old, new in new_names.items() if n_claims[new] == 1}
    renamed = rename_documents(response, new_names)
    # The treebank before a name is that of its file, so that nothing needs to be said.
    matched = {}
    for document in response.documents:
        new = new_names.get(document.name, document.name)
        forms = (document.name, in_treebank_of(document))
        if new not in forms and document.name != name_in_treebank(document.file, new):
            matched[document.name] = new
    if not matched:
        return renamed
    old, new = next(iter(matched.items()))
    n_matched = pluralize(len(matched), "document")
    notice = f"{n_matched} matched by name and part: {quote(old)} is {quote(new)} in the key"
    if len(matched) > 1:
        notice += ", and so on"
    return renamed.noted(f"{notice}.")


def remove_treebank(document: Document) -> str:
    """Return the name of a document without the treebank of its file."""
    return document.name.removeprefix(f"{find_treebank(document.file)}/")


def in_treebank_of(document: Document) -> str:
    """Return the name of a document with the treebank of its file, if it has one."""
    return name_in_treebank(document.file, remove_treebank(document))


def group_plain_names(key: Documents) -> dict[str, list[str]]:
    """Return the names of the documents of a key by their names without treebanks."""
    names: dict[str, list[str]] = {}
    if list_treebanks(key):
        for document in key.documents:
            names.setdefault(remove_treebank(document), []).append(document.name)
    return names


def drop_other_treebanks(key: Documents, response: Documents) -> Documents:
    """Leave out documents of a response whose treebank the key does not have, with a note."""
    in_key = list_treebanks(key)
    unknown = [name for name in list_treebanks(response) if in_key and name not in in_key]
    if not unknown:
        return response
    documents = [
        document for document in response.documents if find_treebank(document.file) not in unknown
    ]
    notice = f"left out, since the key has no such treebank: {join_names(unknown)}."
    return response.replaced(documents, notice)


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
    by_plain_name = group_plain_names(key)
    advice = advise("; {extra=skip} leaves out what the key lacks")
    if key_names.issubset(response.names):
        advice += SWAPPED
    for file, documents in unknown_by_file.items():
        names = [document.name for document in documents]
        hint = _suggest_document(key, response, names[0], is_first=documents[0] is first)
        ambiguous = [name for name in names if len(by_plain_name.get(name, ())) > 1]
        if ambiguous:
            places = f"may be any of {join_names(by_plain_name[ambiguous[0]])}"
            split = "split the response into a file for each treebank, named as the key's"
            message = f"document {quote(ambiguous[0])} {places}; {split}"
            yield Problem(message, None, file)
            continue
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
