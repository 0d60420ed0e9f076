"""Temporal links in TimeML files: key and response read, laid side by side, and counted.

Conventions: a side is a TimeML file, or a folder of them and of folders (names that begin with a dot are passed over).
Documents are matched by the names of their files without suffix; of two single files one is the other's response
whatever they are called.  Where both files of a document have text, it has to be the same but for white space.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain, islice, zip_longest
from pathlib import Path

from closeread.counts.report import Comparison, Report, Resampling, make_comparison, make_report
from closeread.errors import FormatError, InputError, Problem, SubmissionError, quote
from closeread.formats.timeml import TITLES, Document, read_timeml
from closeread.paired import refuse_other_documents
from closeread.records import Record, content_digest
from closeread.scoring import Counted, Origin, count_rows
from closeread.tasks.tlinks.procedure import PROCEDURE, contradictions

SUFFIXES = (".tml", ".timeml", ".xml")
CREATION_TIME = "creation time"
NAMED = 3
"""How many contradictory links of a side are named."""


@dataclass(frozen=True)
class Documents:
    """The documents of a side.

    Attributes:
        path: the file or the folder.
        names: what they are called.
        files: their files' paths in the folder; None where there is no folder.
        documents: what they hold; None where a response lacks one.
    """

    path: Path
    names: Sequence[str]
    files: Sequence[str | None]
    documents: Sequence[Document | None]

    def __len__(self) -> int:
        return len(self.names)

    @property
    def absent(self) -> frozenset[int]:
        """The places of the documents that are lacking."""
        return frozenset(i for i, document in enumerate(self.documents) if document is None)


@dataclass(frozen=True)
class Pair:
    """Key and response of the same documents in the same order.

    Attributes:
        key, response: the two.
    """

    key: Documents
    response: Documents


def read_pair(key: Path, response: Path, *, missing: str = "empty", matching: str = "id") -> Pair:
    """Key and response, read and laid side by side.

    Args:
        key, response: two files, or two folders.
        missing: "error" to refuse a response that lacks documents of the key.
        matching: "id" to refuse ids that are something else in the response than in the key.

    Raises:
        FormatError: the key is at fault.
        SubmissionError: the response is at fault, by itself or beside the key; all problems at once.
    """
    return align(read_key(key), response, missing=missing, matching=matching)


def read_key(path: Path) -> Documents:
    """The documents of a file or a folder, by name.

    Raises:
        FormatError: they can't be read, break their format, or have the same name; all problems at once.
    """
    if not path.is_dir():
        return Documents(path, [path.stem], [None], [read_timeml(path)])
    inside = [file.relative_to(path) for file in path.rglob("*") if file.suffix.lower() in SUFFIXES]
    files = sorted(file for file in inside if not any(part.startswith(".") for part in file.parts))
    problems = [] if files else [Problem(f"holds no TimeML file; needed: files that end in {', '.join(SUFFIXES)}")]
    documents: dict[str, Document | None] = {}
    for file in files:
        name = file.with_suffix("").as_posix()
        if name in documents:
            problems.append(Problem(f"document {quote(name)} has another file already", None, file.as_posix()))
        try:
            documents[name] = read_timeml(path / file)
        except FormatError as error:
            documents[name] = None
            problems += [Problem(problem.what, problem.line, file.as_posix()) for problem in error.problems]
    if problems:
        raise FormatError(path, problems)
    return Documents(path, list(documents), [file.as_posix() for file in files], list(documents.values()))


def align(key: Documents, path: Path, *, missing: str = "empty", matching: str = "id") -> Pair:
    """A response, read and put in the order of the key's documents.

    Raises:
        SubmissionError: as `read_pair`.
    """
    is_folder = key.files[0] is not None
    if path.exists() and path.is_dir() != is_folder:
        found, needed = ("a file", "a folder") if is_folder else ("a folder", "a file")
        raise SubmissionError(path, [Problem(f"is {found} and the key is {needed}; needed: two files or two folders")])
    try:
        given = read_key(path)
    except InputError as error:
        raise SubmissionError(error.source, error.problems) from None
    names = given.names if is_folder else key.names
    place = {name: i for i, name in enumerate(names)}
    known = set(key.names)
    problems = [
        Problem(f"document {quote(name)} is not in the key; needed: none but the key's", None, file)
        for name, file in zip(names, given.files, strict=True)
        if name not in known
    ]
    absent = [name for name in key.names if name not in place]
    if absent and missing == "error":
        named = ", ".join(quote(name) for name in absent[:3]) + (", …" if len(absent) > 3 else "")
        lacking = f"lacks {len(absent):,} of the {len(key):,} documents of the key: {named}"
        problems.append(Problem(f"{lacking}; needed: all of them, unless missing is empty or skip"))
    order = [place.get(name) for name in key.names]
    files = [None if i is None else given.files[i] for i in order]
    documents = [None if i is None else given.documents[i] for i in order]
    for own, other, file in zip(key.documents, documents, files, strict=True):
        if own is not None and other is not None:
            problems += [problem._replace(file=file) for problem in _differences(own, other, matching)]
    if problems:
        raise SubmissionError(path, problems)
    return Pair(key, Documents(path, key.names, files, documents))


def _differences(key: Document, response: Document, matching: str) -> Iterator[Problem]:
    """What shows that two files are not annotations of one text by the same ids."""
    own, other = ("".join(document.text.split()) for document in (key, response))
    if not own or not other:
        return
    if own != other:
        place = next(i for i, (one, two) in enumerate(zip_longest(own, other)) if one != two)
        found = f"the text goes on with {quote(other[place : place + 20])} after {quote(other[:place][-20:])}"
        yield Problem(f"{found}; needed: {quote(own[place : place + 20])}, as in the key")
    elif matching == "id":
        gold, given = key.intervals, response.intervals
        extents = {interval["id"]: interval for interval in intervals(key)}
        for interval in intervals(response):
            name = interval["id"]
            if name in extents and not _alike(extents[name], interval):
                here, there = (quote(passage.words(span)) for passage, span in (given[name], gold[name]))
                found = f"the id {quote(name)} is {here} here and {there} in the key"
                needed = "needed: the key's ids, or matching strict or relaxed"
                yield Problem(f"{found}; {needed}", given[name][1].line)


def _alike(one: Record, other: Record) -> bool:
    """Whether two intervals may be the same: of one kind, and of extents that overlap unless one is empty."""
    overlap = min(one["end"], other["end"]) - max(one["start"], other["start"])
    is_empty = one["start"] == one["end"] or other["start"] == other["end"]
    return bool(one["kind"] == other["kind"] and (overlap > 0 or is_empty))


def intervals(document: Document) -> list[Record]:
    """The intervals of a document as the procedure takes them: `id`, `kind`, `start` and `end`.

    Offsets don't count white space.  The creation time is of a kind of its own and always of the same extent.
    """
    offsets = {
        id(passage): list(accumulate((not c.isspace() for c in passage.text), initial=0))
        for passage in document.passages
    }
    creation_time = document.creation_time
    found: list[Record] = []
    for name, (passage, span) in document.intervals.items():
        if span is creation_time:
            found.append({"id": name, "kind": CREATION_TIME, "start": 0, "end": 0})
        else:
            where = "title" if passage.name in TITLES else passage.name
            start, end = offsets[id(passage)][span.start], offsets[id(passage)][span.end]
            found.append({"id": name, "kind": f"{span.name} in {where}", "start": start, "end": end})
    return found


def records(side: Documents, matching: str = "id") -> list[Record]:
    """The documents that are there, as the procedure takes them."""
    return [
        {"document": name, "tlinks": _links(document)}
        | ({} if matching == "id" else {"intervals": intervals(document)})
        for name, document in zip(side.names, side.documents, strict=True)
        if document is not None
    ]


def _links(document: Document) -> list[Record]:
    return [{"source": one.source, "relation": one.relation, "target": one.target} for one in document.tlinks]


def key_digest(key: Documents, matching: str) -> str:
    """The sha256, in hex, of what is scored of a key."""
    return content_digest(sorted(records(key, matching), key=lambda record: str(record["document"])))


def count_pair(pair: Pair, *, options: Mapping[str, str] | None = None) -> Counted:
    """Count a response.

    Args:
        pair: key and response.
        options: values of the procedure's options that differ from its defaults.

    Raises:
        RequestError: no such option.
    """
    settled = PROCEDURE.resolve_options(options or {})
    gold, given = (records(side, settled["matching"]) for side in (pair.key, pair.response))
    by_name = {record["document"]: record for record in given}
    system = [by_name.get(name) for name in pair.key.names]
    digest = key_digest(pair.key, settled["matching"])
    origin = Origin(PROCEDURE.name, None, None, None)
    counted = count_rows(PROCEDURE, gold, system, settled, digest, len(pair.response.absent), origin)
    said = (_contradictory(side, name, counted) for side, name in ((pair.key, "gold"), (pair.response, "system")))
    return replace(counted, notices=tuple(chain.from_iterable(said)))


def _contradictory(side: Documents, name: str, counted: Counted) -> Iterator[str]:
    """Which links of a side contradict those before them: some of them, and how many there are."""
    counts = counted.table.values[:, counted.table.names.index(f"contradictory/{name}")]
    affected = {unit for unit, number in zip(counted.table.units, counts.tolist(), strict=True) if number}
    during = counted.provenance.options["during"]
    found = (
        f"{side.path if file is None else side.path / file}:{link.line}: {link.source} {link.relation} {link.target} "
        "contradicts the links before it: it counts, and nothing follows from it"
        for unit, file, document in zip(side.names, side.files, side.documents, strict=True)
        if document is not None and unit in affected
        for link in map(document.tlinks.__getitem__, contradictions(_links(document), during))
    )
    named = list(islice(found, NAMED))
    yield from named
    if counts.sum() > len(named):
        yield f"{side.path}: {int(counts.sum()):,} links contradict those before them; {len(named)} of them are named"


def score(
    key: str | Path,
    response: str | Path,
    *,
    by: str | Sequence[str] = (),
    resampling: Resampling | None = None,
    **options: str,
) -> Report:
    """Score a response.

    Args:
        key, response: two files, or two folders.
        by: "type" to score every relation type apart, too.
        resampling: how to draw intervals; None for the defaults.
        **options: the procedure's options.

    Raises:
        RequestError: no such option or field; an InputError where a file is at fault.
    """
    settled = PROCEDURE.resolve_options(options)
    pair = read_pair(Path(key), Path(response), missing=settled["missing"], matching=settled["matching"])
    counted = count_pair(pair, options=settled)
    fields = (by,) if isinstance(by, str) else tuple(by)
    return make_report(counted.table, counted.procedure, counted.provenance, by=fields, resampling=resampling)


def compare(
    key: str | Path,
    first: str | Path,
    second: str | Path,
    *,
    resampling: Resampling | None = None,
    **options: str,
) -> Comparison:
    """Compare two responses by paired tests over documents.

    Args:
        key, first, second: three files, or three folders; differences are second minus first.
        resampling, **options: as for `score`.

    Raises:
        RequestError: no such option; an InputError where a file is at fault.
    """
    settled = PROCEDURE.resolve_options(options)
    gold = read_key(Path(key))
    pairs = [
        align(gold, Path(path), missing=settled["missing"], matching=settled["matching"]) for path in (first, second)
    ]
    names = (str(first), str(second))
    if settled["missing"] == "skip":
        refuse_other_documents(pairs, names)
    one, two = (count_pair(pair, options=settled) for pair in pairs)
    return make_comparison(names, (one.table, two.table), (one.provenance, two.provenance), PROCEDURE, resampling)
