"""The procedure `tlinks`: its files and documents, options and metrics; `counting` defines the counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path, PurePosixPath

from closeread.corpus.citing import papers
from closeread.corpus.gold import GoldSource
from closeread.corpus.submissions import advise_missing
from closeread.counts.metrics import Ratio, precision_recall_f1
from closeread.counts.procedure import (
    Help,
    Inconsistency,
    Option,
    Options,
    Procedure,
    Reader,
    System,
    missing_option,
)
from closeread.counts.table import CountTable
from closeread.digests import unit_digests
from closeread.exceptions import (
    FormatError,
    InputError,
    Problem,
    RequestError,
    SubmissionError,
    advise,
    blame_submission,
    describe_problems,
    join_names,
    pluralize,
    quote,
    suggest_id,
)
from closeread.files import GZIP_SUFFIX, text_suffix
from closeread.formats.folders import find_hidden, walk_files
from closeread.formats.timeml import (
    EVENT,
    NO_RELATION,
    RELATION_TYPES,
    TIMEX,
    TITLES,
    Document,
    Tlink,
    read_timeml,
)
from closeread.records import Origin, Record
from closeread.tasks.tlinks.counting import (
    MATCHINGS,
    REDUCTIONS,
    count,
    find_contradictions,
    find_tautologies,
)
from closeread.tasks.tlinks.temporal_graph import DURINGS

NO_CORPUS = Origin("tlinks", None, None, None)
SUFFIXES = (".tml", ".timeml", ".xml")
CREATION_TIME = "creation time"
MAX_LINKS_NAMED = 3
"""How many contradictory links of a side, and how many that are true of any interval, are named."""

N_CHARACTERS_SHOWN = 20
"""How much of two texts is shown before and after the place where they begin to differ."""


@dataclass(frozen=True)
class Documents:
    """The documents of a side, from a file or a folder.

    Attributes:
        path: the file or the folder.
        by_name: the documents by name, each with its file in the folder, which is None for a single file; a document is
            None if a response lacks it.
        notices: notices for the user.
    """

    path: Path
    by_name: Mapping[str, tuple[str | None, Document | None]]
    notices: Sequence[str] = ()

    @property
    def is_folder(self) -> bool:
        """Whether they are in a folder."""
        return any(file is not None for file, _ in self.by_name.values())

    def read(self) -> Iterator[tuple[str, Path, Document]]:
        """Yield the name, the file and the content of each available document."""
        for name, (file, document) in self.by_name.items():
            if document is not None:
                yield name, self.path / (file or ""), document


@dataclass(frozen=True)
class Key:
    """Gold links.

    Attributes:
        records: the documents as input of the procedure.
        documents: the documents as read from files; None if they come from memory.
        origin: the corpus, which is none.
        notices: notices for the user.
        files: the file or folder that was read.
    """

    records: Sequence[Record]
    documents: Documents | None = None
    origin: Origin = NO_CORPUS
    notices: Sequence[str] = ()
    files: Sequence[Path] = ()

    @property
    def units(self) -> Sequence[str]:
        """The names of the documents."""
        return [str(record["document"]) for record in self.records]

    def digests(self, options: Options) -> Mapping[str, bytes]:
        """Return the sha256 of each document's links, by document name; the name is not part of the digest."""
        return unit_digests(self.records, "document", ("document",))


@dataclass(frozen=True)
class Response(System):
    """A system's links, also as read from files, in the order of the key."""

    documents: Documents | None = None


@dataclass(frozen=True)
class TimeMLReader(Reader[Key]):
    """A key and a response: two TimeML files, or two folders whose files are matched by name."""

    @property
    def key_first(self) -> bool:
        """True: gold is a file given by the user, the key."""
        return True

    def read_gold(self, source: GoldSource, options: Options) -> Key:
        """Read the documents of a key."""
        if not isinstance(source.gold, Path):
            raise RequestError("tlinks needs a key: a TimeML file, or a folder of them")
        documents = read_key(source.gold)
        records = list(to_records(documents, options["matching"]).values())
        return Key(records, documents, notices=documents.notices, files=[source.gold])

    def wrap_gold(self, records: Sequence[Record], corpus: str | None) -> Key:
        """Wrap documents in memory that are already validated."""
        return Key(records)

    def read_system(self, gold: Key, source: Path | Sequence[Record], options: Options) -> Response:
        """Read a response, and put it in the order of the key's documents."""
        if gold.documents is None or not isinstance(source, Path):
            raise RequestError("tlinks scores TimeML files, not records in memory")
        documents = align(gold.documents, source, options)
        records = to_records(documents, options["matching"])
        names = gold.documents.by_name
        missing = [name for name in names if name not in records]
        rows = [records.get(name) for name in names]
        return Response(rows, missing, documents.notices, documents=documents)

    def check_form(
        self, corpus: str | None, names: Sequence[str], source: Path, options: Options
    ) -> None:
        """Check a response when only the names of the key's documents are known."""
        response = _read_response(source)
        # Two single files belong together, whatever their names.
        if not response.is_folder and len(names) == 1:
            return
        if options.get("extra") == "skip":
            response = _drop_unknown(names, response)
        problems = list(_compare_names(names, response, options["missing"]))
        if problems:
            raise SubmissionError(source, problems)

    def validate(
        self, gold: Sequence[Record], system: Sequence[Record | None], options: Options
    ) -> Iterable[Inconsistency]:
        """Find nothing: reading checks everything that a schema can't."""
        return ()

    def remarks(
        self, gold: Key, system: System, options: Options, table: CountTable | None = None
    ) -> Iterable[str]:
        """Describe the first links of each side that are contradictory or true of any interval, and their numbers."""
        key = gold.documents
        response = getattr(system, "documents", None)
        for name, side in (("gold", key), ("system", response)):
            if side is not None:
                yield from _describe_links(side, name, table, options["during"])
        if key is not None and response is not None:
            yield from _describe_silence(key, response, options["matching"])


def read_key(path: Path) -> Documents:
    """Read the documents of a file or a folder."""
    if not path.is_dir():
        return Documents(path, {_name_document(path.name): (None, read_timeml(path))})
    expected = f"TimeML files (expected names that end in {', '.join(SUFFIXES)})"
    paths, problems = walk_files(path, expected)
    files = [file for file in paths if text_suffix(Path(file)) in SUFFIXES]
    files.sort(key=lambda file: PurePosixPath(file).parts)
    if not files and not problems:
        problems.append(Problem(f"contains no {expected}"))
    documents: dict[str, tuple[str, Document | None]] = {}
    for file in files:
        name = _name_document(file)
        if name in documents:
            problems.append(Problem(f"document {quote(name)} already has another file", file=file))
        documents[name] = file, None
        try:
            documents[name] = file, read_timeml(paths[file])
        except FormatError as error:
            problems += [Problem(problem.text, problem.line, file) for problem in error.problems]
    if problems:
        raise FormatError(path, problems)
    notices = describe_problems(str(path), find_hidden(path))
    ignored = [file for file in paths if file not in files]
    if ignored:
        message = f"{pluralize(len(ignored), 'file')} not ending in {', '.join(SUFFIXES)} ignored"
        notices.insert(0, f"{path}: {message}: {join_names(ignored)}")
    return Documents(path, documents, notices)


def _name_document(file: str) -> str:
    path = PurePosixPath(file)
    if path.suffix.lower() == GZIP_SUFFIX:
        path = path.with_suffix("")
    return path.with_suffix("").as_posix()


def align(key: Documents, path: Path, options: Options) -> Documents:
    """Read a response, and put it in the order of the key's documents."""
    if path.exists() and path.is_dir() != key.is_folder:
        kind, key_kind = ("a file", "a folder") if key.is_folder else ("a folder", "a file")
        message = f"is {kind} but the key is {key_kind} (expected two files or two folders)"
        raise SubmissionError(path, [Problem(message)])
    response = _read_response(path)
    if not key.is_folder:
        by_name = dict(zip(key.by_name, response.by_name.values(), strict=True))
        response = replace(response, by_name=by_name)
    if options.get("extra") == "skip":
        response = _drop_unknown(key.by_name, response)
    problems = list(_compare_names(key.by_name, response, options["missing"]))
    by_name = {name: response.by_name.get(name, (None, None)) for name in key.by_name}
    for name, _, key_document in key.read():
        file, document = by_name[name]
        if document is None:
            continue
        differences = _find_differences(key_document, document, options["matching"])
        problems += [problem._replace(file=file) for problem in differences]
        if options["matching"] == "id":
            by_name[name] = file, _rename_events(key_document, document)
    if problems:
        raise SubmissionError(path, problems)
    return replace(response, by_name=by_name)


def _read_response(path: Path) -> Documents:
    """Read the documents of a response."""
    try:
        return read_key(path)
    except InputError as error:
        raise blame_submission(error) from None


def _drop_unknown(names: Collection[str], response: Documents) -> Documents:
    """Return a response without the documents that the key lacks, with a note that names them."""
    unknown = [name for name in response.by_name if name not in names]
    if not unknown:
        return response
    documents = pluralize(len(unknown), "document")
    notice = f"{documents} of the response left out, not in the key: {join_names(unknown)}"
    by_name = {name: response.by_name[name] for name in response.by_name if name in names}
    return replace(response, by_name=by_name, notices=[*response.notices, notice])


def _compare_names(names: Collection[str], response: Documents, missing: str) -> Iterator[Problem]:
    """Find the documents of a response that the key lacks, and those that the response lacks if that is an error."""
    documents = response.by_name
    absent = [name for name in names if name not in documents]
    unknown = [name for name in documents if name not in names]
    if unknown:
        name = unknown[0]
        message = f"document {quote(name)} is not in the key{suggest_id(name, absent, unknown)}"
        if len(unknown) > 1:
            message = f"{len(unknown):,} documents are not in the key: {join_names(unknown)}"
        advice = advise("; {extra=skip} leaves out what the key lacks")
        yield Problem(message + advice, file=documents[name][0])
    if absent and missing == "error":
        named = ", ".join(map(quote, absent[:3]))
        if len(absent) > 3:
            named += ", …"
        lacking = f"lacks {len(absent):,} of {len(names):,} documents of the key: {named}"
        yield Problem(f"{lacking}. Add them{advise_missing()}")


def _find_differences(key: Document, response: Document, matching: str) -> Iterator[Problem]:
    """Find evidence that two files do not annotate the same text, or do not use the same ids."""
    text = "".join(response.text.split())
    key_text = "".join(key.text.split())
    if not text or not key_text:
        return
    if text != key_text:
        start = 0
        while text[start : start + 1] == key_text[start : start + 1]:
            start += 1
        end = start + N_CHARACTERS_SHOWN
        before = quote(text[:start][-N_CHARACTERS_SHOWN:])
        expected = f"expected {quote(key_text[start:end])}, as in the key"
        yield Problem(f"the text after {before} is {quote(text[start:end])} ({expected})")
    elif matching == "id":
        yield from _compare_intervals(key, response)


def _compare_intervals(key: Document, response: Document) -> Iterator[Problem]:
    """Find intervals with the same id whose extents do not overlap."""
    key_intervals = {interval["id"]: interval for interval in list_intervals(key)}
    key_names = _find_names(key, response)
    for interval in list_intervals(response):
        name = str(interval["id"])
        key_name = key_names.get(name, name)
        key_interval = key_intervals.get(key_name)
        if key_interval is None or _may_be_same(interval, key_interval):
            continue
        passage, span = response.intervals[name]
        key_passage, key_span = key.intervals[key_name]
        words = quote(passage.words(span))
        key_words = quote(key_passage.words(key_span))
        advice = f"use the ids of the key{advise(', or {matching=strict,relaxed}')}"
        message = f"id {quote(name)} is {words} here but {key_words} in the key; {advice}"
        yield Problem(message, span.line)


def _may_be_same(first: Record, second: Record) -> bool:
    """Tell whether two intervals have the same kind and overlap; one without text may be anywhere."""
    if first["kind"] != second["kind"]:
        return False
    if first["start"] == first["end"] or second["start"] == second["end"]:
        return True
    return bool(first["start"] < second["end"] and second["start"] < first["end"])


def _find_names(key: Document, response: Document) -> dict[str, str]:
    """Return the key's names of events that one side calls by the event, and the other by its only instance."""
    n_instances = Counter(instance.attributes["eventID"] for instance in key.instances)
    names = {}
    for instance in key.instances:
        event = instance.attributes["eventID"]
        if n_instances[event] == 1:
            names[event] = instance.attributes["eiid"]
    for instance in response.instances:
        names[instance.attributes["eiid"]] = instance.attributes["eventID"]
    intervals = key.intervals
    return {
        name: key_name
        for name, key_name in names.items()
        if name not in intervals and key_name in intervals
    }


def _rename_events(key: Document, response: Document) -> Document:
    """Return a response whose links call events as the key does."""
    names = _find_names(key, response)
    tlinks = []
    for tlink in response.tlinks:
        source = names.get(tlink.source, tlink.source)
        target = names.get(tlink.target, tlink.target)
        tlinks.append(tlink._replace(source=source, target=target))
    return replace(response, tlinks=tuple(tlinks))


def list_intervals(document: Document) -> list[Record]:
    """Return the intervals of a document as input of the procedure: `id`, `kind`, `start` and `end`.

    Offsets ignore white space.  The creation time has a kind of its own and always the same extent.
    """
    offsets = {id(passage): _count_characters(passage.text) for passage in document.passages}
    creation_time = document.creation_time
    intervals: list[Record] = []
    for name, (passage, span) in document.intervals.items():
        if span is creation_time:
            intervals.append({"id": name, "kind": CREATION_TIME, "start": 0, "end": 0})
            continue
        part = "title" if passage.name in TITLES else passage.name
        start = offsets[id(passage)][span.start]
        end = offsets[id(passage)][span.end]
        intervals.append({"id": name, "kind": f"{span.name} in {part}", "start": start, "end": end})
    return intervals


def _count_characters(text: str) -> list[int]:
    """Return how many characters come before each place of a text, without white space."""
    return list(accumulate((not character.isspace() for character in text), initial=0))


def to_records(side: Documents, matching: str) -> dict[str, Record]:
    """Return the available documents as input of the procedure, by name."""
    records = {}
    for name, _, document in side.read():
        records[name] = {"document": name, "tlinks": _list_links(document)}
        if matching != "id":
            records[name]["intervals"] = list_intervals(document)
    return records


def _list_links(document: Document) -> list[Record]:
    return [
        {"source": tlink.source, "relation": tlink.relation, "target": tlink.target}
        for tlink in _select_claims(document)
    ]


def _select_claims(document: Document) -> list[Tlink]:
    """Select the links that state a relation of TimeML."""
    return [tlink for tlink in document.tlinks if tlink.relation in RELATION_TYPES]


def _describe_silence(key: Documents, response: Documents, matching: str) -> Iterator[str]:
    """Say that a side has no links, or that no event in the response's links is one of the key, by id."""
    for side in (key, response):
        if not any(_select_claims(document) for _, _, document in side.read()):
            yield f"{side.path}: no link states a relation (expected TLINK elements)"
    if matching != "id":
        return
    events: set[tuple[str, str]] = set()
    key_events: set[tuple[str, str]] = set()
    for name, _, document in key.read():
        for interval, (_, span) in document.intervals.items():
            if span.name == EVENT:
                key_events.add((name, interval))
    for name, _, document in response.read():
        times = {time.id for _, time in document.spans(TIMEX)}
        for tlink in _select_claims(document):
            events.update((name, end) for end in {tlink.source, tlink.target} - times)
    if events and key_events and events.isdisjoint(key_events):
        _, event = min(events)
        _, key_event = min(key_events)
        example = f"no event of its links, such as {quote(event)}, has the id of one of the key"
        advice = advise("; if only the ids differ, use {matching=strict}")
        yield f"{response.path}: {example}, such as {quote(key_event)}{advice}"


def _describe_links(
    side: Documents, name: str, table: CountTable | None, during: str
) -> Iterator[str]:
    """Describe a side's first links that are contradictory, those that are true of any interval, and vague ones."""
    inconsistent = set(side.by_name)
    if table is not None:
        counts = table.values[:, table.names.index(f"contradictory/{name}")]
        inconsistent = {unit for unit, n in zip(table.units, counts, strict=True) if n}
    contradictory = []
    tautologies = []
    n_links: Counter[str] = Counter()
    for unit, path, document in side.read():
        n_links.update(tlink.relation for tlink in document.tlinks)
        claims = _select_claims(document)
        links = _list_links(document)
        if unit in inconsistent:
            contradictory += [
                _describe_contradiction(path, claims[index])
                for index in find_contradictions(links, during)
            ]
        tautologies += [
            f"{_describe_link(path, claims[index])} links an interval with itself; not counted"
            for index in find_tautologies(links, during)
        ]
    yield from _show_first(side.path, contradictory, "links are contradictory")
    not_counted = "links of an interval with itself are not counted"
    yield from _show_first(side.path, tautologies, not_counted)
    n_vague = sum(n_links[relation] for relation in NO_RELATION)
    if n_vague:
        vague = f"{pluralize(n_vague, 'link')} without a relation ({' or '.join(NO_RELATION)})"
        yield f"{side.path}: {vague}; not counted"
    for relation in (*RELATION_TYPES, *NO_RELATION):
        del n_links[relation]
    if n_links:
        foreign = f"{pluralize(n_links.total(), 'link')} with a relation that TimeML does not have"
        commonest = n_links.most_common(5)
        numbers = ", ".join(f"{quote(relation)} {n:,}" for relation, n in commonest)
        yield f"{side.path}: {foreign} ({numbers}); not counted"


def _describe_link(path: Path, tlink: Tlink) -> str:
    return f"{path}:{tlink.line}: {tlink.source} {tlink.relation} {tlink.target}"


def _describe_contradiction(path: Path, tlink: Tlink) -> str:
    reason = "contradicts earlier links"
    if tlink.source == tlink.target:
        reason = "links an interval with itself"
    return f"{_describe_link(path, tlink)} {reason}; still counted, but ignored for inference"


def _show_first(path: Path, remarks: Sequence[str], summary: str) -> Iterator[str]:
    """Yield the first remarks on a side, and their number if there are more."""
    yield from remarks[:MAX_LINKS_NAMED]
    if len(remarks) > MAX_LINKS_NAMED:
        yield f"{path}: {len(remarks):,} {summary} (the first {MAX_LINKS_NAMED} are shown)"


PROCEDURE = Procedure(
    name="tlinks",
    version=1,
    title="temporal awareness over the links of TimeML files",
    unit="document",
    resampling_unit="document",
    options=(
        missing_option("empty"),
        Option(
            "extra",
            ("error", "skip"),
            "error",
            "How to treat documents of the response that the key lacks: refuse the response, or leave them out, with a "
            "note.",
            signed="never",
            reading=True,
        ),
        Option(
            "matching",
            MATCHINGS,
            "id",
            "Match events and times of the two sides by id, by equal extents in the text (strict), or by overlapping "
            "extents (relaxed).",
        ),
        Option(
            "reduction",
            REDUCTIONS,
            "sequential",
            "Count only links that do not follow from earlier links (sequential), or all links (none).",
        ),
        Option(
            "during",
            tuple(DURINGS),
            "simultaneous",
            "Treat DURING and DURING_INV as SIMULTANEOUS, or as Allen's overlaps and its inverse.",
        ),
    ),
    metrics=precision_recall_f1(
        "awareness",
        "Awareness",
        Ratio(
            "awareness/verified_of_system",
            "awareness/system",
            "Reduced system links that the gold links verify.",
        ),
        Ratio(
            "awareness/verified_of_gold",
            "awareness/gold",
            "Reduced gold links that the system links verify.",
        ),
    ),
    headline="awareness/f1",
    modules=(),
    count=count,
    breakdowns=("type",),
    reader=TimeMLReader(),
    help=Help(
        """Key and response are TimeML files, or folders of them, whose documents are matched by file name. Links that
contradict earlier ones are reported on standard error; they are counted, but ignored for inference. So are links of
an interval with itself, except that SIMULTANEOUS, IDENTITY and DURING are true of any interval, and not counted.""",
        key="key/",
        response="response/",
        flags=("--by type --per-unit", "--matching relaxed"),
        formats=("TimeML",),
    ),
    citation=papers("uzzaman-etal-2013-semeval")[0],
    references={"awareness": papers("uzzaman-allen-2011-temporal", "uzzaman-etal-2013-semeval")},
)
