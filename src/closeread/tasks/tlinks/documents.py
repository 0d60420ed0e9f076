"""Documents of TimeML, a key's and a response's: read, and put in the same order under the same names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from os.path import commonprefix
from pathlib import Path, PurePosixPath

from closeread.corpus.schema import load_validator
from closeread.corpus.submissions import advise_missing
from closeread.corpus.validation import convert_rows, validate_records
from closeread.counts.procedure import Options
from closeread.exceptions import (
    SWAPPED,
    FormatError,
    InputError,
    Problem,
    RequestError,
    SubmissionError,
    advise,
    blame_submission,
    join_names,
    pluralize,
    quote,
    suggest_id,
)
from closeread.files import GZIP_SUFFIX, text_suffix
from closeread.formats.folders import walk_files
from closeread.formats.json_lines import SUFFIXES as JSON_LINES
from closeread.formats.json_lines import read_json_lines
from closeread.formats.timeml import TITLES, TimeMLDocument, Tlink, read_timeml
from closeread.records import Parsed, Record
from closeread.tasks.tlinks import pair_files
from closeread.tasks.tlinks.extents import Extent
from closeread.tasks.tlinks.temporal_graph import TYPES

SUFFIXES = (".tml", ".timeml", ".xml")
CREATION_TIME = "creation time"

N_CHARACTERS_SHOWN = 20
"""How much of two texts is shown before and after the place where they begin to differ."""


@dataclass(frozen=True)
class TimeMLDocuments:
    """The documents of a side, from a file or a folder.

    Attributes:
        path: the file or the folder.
        by_name: for each document its file in the folder, and its content.  The file is "" if the path is a file.
        notices: notices for the user.
        has_names: whether they are matched by name: those of a folder or a file of pairs.
    """

    path: Path
    by_name: Mapping[str, tuple[str, TimeMLDocument]]
    notices: Sequence[str] = ()
    has_names: bool = True

    def read(self) -> Iterator[tuple[str, Path, TimeMLDocument]]:
        """Yield the name, the file and the content of each document."""
        for name, (file, document) in self.by_name.items():
            yield name, self.path / file, document


def read_key(path: Path) -> TimeMLDocuments:
    """Read the documents of a file or a folder."""
    if text_suffix(path) in JSON_LINES and not path.is_dir():
        return take_records(path, read_json_lines(path))
    if _is_pair_file(path):
        documents_of_pairs, notes = pair_files.read_pairs(path)
        by_name = {name: ("", document) for name, document in documents_of_pairs.items()}
        return TimeMLDocuments(path, by_name, notes)
    if path.is_dir():
        return _read_folder(path)
    by_name = {_name_document(path.name): ("", read_timeml(path))}
    return TimeMLDocuments(path, by_name, has_names=False)


def _read_folder(path: Path) -> TimeMLDocuments:
    """Read the TimeML files of a folder and its subfolders."""
    suffixes = ", ".join(SUFFIXES)
    expected = f"TimeML files (expected names that end in {suffixes})"
    paths, problems = walk_files(path, expected)
    files = [file for file in paths if text_suffix(Path(file)) in SUFFIXES]
    files.sort(key=lambda file: PurePosixPath(file).parts)
    if not files and not problems:
        problems.append(Problem(f"contains no {expected}"))
    documents: dict[str, tuple[str, TimeMLDocument]] = {}
    for file in files:
        name = _name_document(file)
        if name in documents:
            problems.append(Problem(f"document {quote(name)} already has another file", file=file))
        try:
            documents[name] = file, read_timeml(paths[file])
        except FormatError as error:
            problems += [Problem(problem.text, problem.line, file) for problem in error.problems]
    if problems:
        raise FormatError(path, problems)
    notices = []
    ignored = [file for file in paths if file not in files]
    if ignored:
        message = f"{pluralize(len(ignored), 'file')} not ending in {suffixes} ignored"
        notices.append(f"{path}: {message}: {join_names(ignored)}")
    return TimeMLDocuments(path, documents, notices)


def take_records(path: Path, parsed: Parsed) -> TimeMLDocuments:
    """Return the documents of records with links, as corpora have them, of a file or from memory."""
    validator = load_validator("tlinks_corpus")
    records = validate_records(str(path), parsed, validator, "document")
    return wrap_records(path, records)


def wrap_records(path: Path, records: Sequence[Record]) -> TimeMLDocuments:
    """Return the documents of valid records."""
    by_name = {}
    for record in records:
        name = str(record["document"])
        tlinks = [
            Tlink(tlink["source"], tlink["target"], tlink["relation"], {}, number)
            for number, tlink in enumerate(record["tlinks"], 1)
        ]
        by_name[name] = "", pair_files.make_document(name, tlinks)
    return TimeMLDocuments(path, by_name)


def _is_pair_file(path: Path) -> bool:
    return not path.is_dir() and text_suffix(path) in (*pair_files.SUFFIXES, *JSON_LINES)


def _name_document(file: str) -> str:
    path = PurePosixPath(file)
    if path.suffix.lower() == GZIP_SUFFIX:
        path = path.with_suffix("")
    return path.with_suffix("").as_posix()


def align(
    key: TimeMLDocuments, source: Path | Sequence[Record], options: Options
) -> TimeMLDocuments:
    """Read a response, and put it in the order of the key's documents."""
    if isinstance(source, Path) and source.exists():
        has_names = source.is_dir() or _is_pair_file(source)
        if has_names != key.has_names:
            message = f"is {_describe_form(source)} but the key is {_describe_form(key.path)}"
            expected = "expected two files or two folders, or files of pairs"
            raise SubmissionError(source, [Problem(f"{message} ({expected})")])
    response = read_response(source)
    if not key.has_names:
        # Two single files belong together, whatever their names.
        by_name = dict(zip(key.by_name, response.by_name.values(), strict=True))
        response = replace(response, by_name=by_name)
    problems, notices = compare_names(key.by_name, response, options)
    by_name = {}
    for name, _, key_document in key.read():
        if name not in response.by_name:
            continue
        file, document = response.by_name[name]
        differences = _find_differences(key_document, document, options["matching"])
        problems += [problem._replace(file=file or None) for problem in differences]
        if options["matching"] == "id":
            document = _rename_events(key_document, document)
        by_name[name] = (file, document)
    if problems:
        raise SubmissionError(response.path, problems)
    return replace(response, by_name=by_name, notices=[*response.notices, *notices])


def _describe_form(path: Path) -> str:
    if path.is_dir():
        return "a folder"
    return "a file of pairs" if _is_pair_file(path) else "a file"


def read_response(source: Path | Sequence[Record]) -> TimeMLDocuments:
    """Read the documents of a response, from files or from memory."""
    try:
        if isinstance(source, Path):
            return read_key(source)
        return take_records(Path("predictions"), Parsed(convert_rows(source), None, []))
    except InputError as error:
        raise blame_submission(error) from None


def compare_names(
    names: Collection[str], response: TimeMLDocuments, options: Options
) -> tuple[list[Problem], list[str]]:
    """Find the documents of a response that the key lacks, and those that the response lacks if that is an error.

    What the key lacks is no problem if `extra` is "skip", but a notice.
    """
    documents = response.by_name
    absent = [name for name in names if name not in documents]
    unknown = [name for name in documents if name not in names]
    problems = []
    notices = []
    if unknown and options.get("extra") == "skip":
        left_out = f"{pluralize(len(unknown), 'document')} of the response left out"
        notices.append(f"{left_out}, not in the key: {join_names(unknown)}")
    elif unknown:
        name = unknown[0]
        message = f"document {quote(name)} is not in the key{suggest_id(name, absent, unknown)}"
        if len(unknown) > 1:
            message = f"{len(unknown):,} documents are not in the key: {join_names(unknown)}"
        advice = advise("; {extra=skip} leaves out what the key lacks")
        if not absent:
            advice += SWAPPED
        problems.append(Problem(message + advice, file=documents[name][0] or None))
    if absent and options["missing"] == "error":
        lacking = f"lacks {len(absent):,} of {len(names):,} documents of the key"
        problems.append(Problem(f"{lacking}: {join_names(absent)}. Add them{advise_missing()}"))
    return problems, notices


def _find_differences(
    key: TimeMLDocument, response: TimeMLDocument, matching: str
) -> Iterator[Problem]:
    """Find evidence that two files do not annotate the same text, or do not use the same ids."""
    key_text = "".join(key.text.split())
    text = "".join(response.text.split())
    if not key_text or not text:
        return
    if text != key_text:
        start = len(commonprefix([key_text, text]))  # noqa: RUF071 (characters are meant)
        end = start + N_CHARACTERS_SHOWN
        before = quote(text[:start][-N_CHARACTERS_SHOWN:])
        expected = f"expected {quote(key_text[start:end])}, as in the key"
        yield Problem(f"the text after {before} is {quote(text[start:end])} ({expected})")
    elif matching == "id":
        yield from _compare_intervals(key, response)


def _compare_intervals(key: TimeMLDocument, response: TimeMLDocument) -> Iterator[Problem]:
    """Find intervals that have the same id on both sides, but cannot be the same."""
    key_extents = find_extents(key)
    key_names = _find_key_names(key, response)
    for name, extent in find_extents(response).items():
        key_name = key_names.get(name, name)
        key_extent = key_extents.get(key_name)
        if key_extent is None or _may_be_same(extent, key_extent):
            continue
        passage, span = response.intervals[name]
        key_passage, key_span = key.intervals[key_name]
        words = quote(passage.words(span))
        key_words = quote(key_passage.words(key_span))
        advice = f"use the ids of the key{advise(', or {matching=strict,relaxed}')}"
        message = f"id {quote(name)} is {words} here but {key_words} in the key; {advice}"
        yield Problem(message, span.line)


def _may_be_same(first: Extent, second: Extent) -> bool:
    """Tell whether two intervals have the same kind and overlap; one without text may be anywhere."""
    if first.kind != second.kind:
        return False
    if first.start == first.end or second.start == second.end:
        return True
    return first.start < second.end and second.start < first.end


def _find_key_names(key: TimeMLDocument, response: TimeMLDocument) -> dict[str, str]:
    """Return the key's names of events that one side calls by the event, and the other by its only instance."""
    key_eids = key.eids
    n_instances = Counter(key_eids.values())
    names = {eid: eiid for eiid, eid in key_eids.items() if n_instances[eid] == 1}
    names |= response.eids
    intervals = key.intervals
    return {
        name: key_name
        for name, key_name in names.items()
        if name not in intervals and key_name in intervals
    }


def _rename_events(key: TimeMLDocument, response: TimeMLDocument) -> TimeMLDocument:
    """Return a response whose links call events as the key does."""
    key_names = _find_key_names(key, response)
    tlinks = []
    for tlink in response.tlinks:
        source = key_names.get(tlink.source, tlink.source)
        target = key_names.get(tlink.target, tlink.target)
        tlinks.append(tlink._replace(source=source, target=target))
    return replace(response, tlinks=tuple(tlinks))


def find_extents(document: TimeMLDocument) -> dict[str, Extent]:
    """Return the extents of the intervals of a document by their ids.

    Offsets ignore white space.  The creation time has a kind of its own and always the same extent.
    """
    offsets = {id(passage): _count_characters(passage.text) for passage in document.passages}
    creation_time = document.creation_time
    extents = {}
    for name, (passage, span) in document.intervals.items():
        if span is creation_time:
            extents[name] = Extent(CREATION_TIME, 0, 0)
            continue
        part = "title" if passage.name in TITLES else passage.name
        start = offsets[id(passage)][span.start]
        end = offsets[id(passage)][span.end]
        extents[name] = Extent(f"{span.name} in {part}", start, end)
    return extents


def _count_characters(text: str) -> list[int]:
    """Return how many characters come before each place of a text, without white space."""
    return list(accumulate((not character.isspace() for character in text), initial=0))


def to_records(side: TimeMLDocuments, matching: str) -> dict[str, Record]:
    """Return the available documents as input of the procedure, by name.

    Raises:
        RequestError: extents are to be matched, but a file of pairs has none.
    """
    if matching != "id" and _is_pair_file(side.path):
        has_no_text = f"{side.path} is a file of pairs, which has no text to match by"
        raise RequestError(f"{has_no_text}{advise(' (expected {matching=id})')}")
    records = {}
    for name, _, document in side.read():
        records[name] = {"document": name, "tlinks": list_links(select_links(document))}
        if matching != "id":
            extents = find_extents(document)
            records[name]["intervals"] = [
                {"id": interval, **extent._asdict()} for interval, extent in extents.items()
            ]
    return records


def list_links(tlinks: Iterable[Tlink]) -> list[Record]:
    """Return links as input of the procedure: `source`, `relation` and `target`."""
    return [
        {"source": tlink.source, "relation": tlink.relation, "target": tlink.target}
        for tlink in tlinks
    ]


def select_links(document: TimeMLDocument) -> list[Tlink]:
    """Select the links that state a relation of `TYPES`."""
    return [tlink for tlink in document.tlinks if tlink.relation in TYPES]
