"""Notices on a file's things that were counted, which are added up for the files of a folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from closeread.exceptions import MAX_NAMES_SHOWN, join_names, quote
from closeread.tasks.coref.documents import Documents


class CountedNotice(str):
    """A notice on things of a file that were counted; those of several files are added up.

    Attributes:
        describe: words the notice, given the counts; notices of one kind share it.
        counts: the numbers, by what was counted.
        example: the place of the first of these things; empty if there is none to name.
    """

    describe: Callable[[Mapping[str, int]], str]
    counts: Mapping[str, int]
    example: str


def count_notice(
    describe: Callable[[Mapping[str, int]], str], counts: Mapping[str, int], example: str = ""
) -> CountedNotice:
    """Return a notice on what was counted in a file."""
    text = describe(counts)
    if example:
        text += f" (first: {example})"
    notice = CountedNotice(text)
    notice.describe = describe
    notice.counts = counts
    notice.example = example
    return notice


def fold_notices(documents_by_file: Mapping[str, Documents]) -> list[str]:
    """Return each kind of notice once, with the files that it is about and the sums of its counts."""
    files_by_kind: dict[object, dict[str, str]] = {}
    for file, documents in documents_by_file.items():
        for notice in documents.notices:
            kind = notice.describe if isinstance(notice, CountedNotice) else notice
            files_by_kind.setdefault(kind, {})[file] = notice
    folded = []
    for notices in files_by_kind.values():
        files = join_names(list(notices))
        if len(notices) > MAX_NAMES_SHOWN:
            files += f" ({len(notices):,} files)"
        folded.append(f"{files}: {_add_up(notices)}")
    return folded


def _add_up(notices: Mapping[str, str]) -> str:
    """Return one notice for those of one kind, by file."""
    first_file, first = next(iter(notices.items()))
    if not isinstance(first, CountedNotice) or len(notices) == 1:
        return first
    sums: Counter[str] = Counter()
    for notice in notices.values():
        if isinstance(notice, CountedNotice):
            sums.update(notice.counts)
    example = f"{first.example} of {quote(first_file)}" if first.example else ""
    return count_notice(first.describe, sums, example)
