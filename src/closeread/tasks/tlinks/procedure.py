"""The procedure `tlinks`: its files and documents, options and metrics; `counting` defines the counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, zip_longest
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
    TimeMLDocument,
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
NAMED = 3
"""How many contradictory links of a side, and how many that are true of any interval, are named."""


@dataclass(frozen=True)
class TimeMLDocuments:
    """The documents of a side, from a file or a folder, with notices for the user.

    By name, each has its file in the folder, or None for a single file, and its content, None if a response lacks it.
    """

    path: Path
    found: Mapping[str, tuple[str | None, TimeMLDocument | None]]
    notices: Sequence[str] = ()

    @property
    def is_folder(self) -> bool:
        """Whether they are in a folder."""
        return any(file is not None for file, _ in self.found.values())

    def read(self) -> Iterator[tuple[str, Path, TimeMLDocument]]:
        """Yield the name, the file and the content of each available document."""
        for name, (file, document) in self.found.items():
            if document is not None:
                yield name, self.path if file is None else self.path / file, document


@dataclass(frozen=True)
class KeyLinks:
    """Gold links: the documents as input of the procedure, and as read from files unless they come from memory."""

    records: Sequence[Record]
    documents: TimeMLDocuments | None = None
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

    documents: TimeMLDocuments | None = None


@dataclass(frozen=True)
class TimeMLReader(Reader[KeyLinks]):
    """A key and a response: two TimeML files, or two folders whose files are matched by name."""

    @property
    def key_first(self) -> bool:
        """True: gold is a file given by the user, the key."""
        return True

    def read_gold(self, source: GoldSource, options: Options) -> KeyLinks:
        """Read the documents of a key."""
        if not isinstance(source.gold, Path):
            raise RequestError("tlinks needs a key: a TimeML file, or a folder of them")
        documents = read_key(source.gold)
        records = to_records(documents, options["matching"])
        return KeyLinks(records, documents, notices=documents.notices, files=[source.gold])

    def wrap_gold(self, records: Sequence[Record], corpus: str | None) -> KeyLinks:
        """Wrap documents in memory that are already validated."""
        return KeyLinks(records)

    def read_system(
        self, gold: KeyLinks, source: Path | Sequence[Record], options: Options
    ) -> Response:
        """Read a response, and put it in the order of the key's documents."""
        if gold.documents is None or not isinstance(source, Path):
            raise RequestError("tlinks scores TimeML files, not records in memory")
        documents = align(
            gold.documents,
            source,
            missing=options["missing"],
            matching=options["matching"],
            extra=options.get("extra", "error"),
        )
        by_name = {
            record["document"]: record for record in to_records(documents, options["matching"])
        }
        missing = [name for name in gold.documents.found if name not in by_name]
        rows = [by_name.get(name) for name in gold.documents.found]
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
        self, gold: KeyLinks, system: System, options: Options, table: CountTable | None = None
    ) -> Iterable[str]:
        """Describe the first links of each side that are contradictory or true of any interval, and their numbers."""
        for side, name in (
            (gold.documents, "gold"),
            (getattr(system, "documents", None), "system"),
        ):
            if side is None:
                continue
            yield from _describe_links(side, name, table, options["during"])
        response = getattr(system, "documents", None)
        if gold.documents is not None and response is not None:
            yield from _describe_silence(gold.documents, response, options["matching"])


def read_key(path: Path) -> TimeMLDocuments:
    """Read the documents of a file or a folder."""
    if not path.is_dir():
        return TimeMLDocuments(path, {_name_document(path.name): (None, read_timeml(path))})
    expected = f"TimeML files (expected names that end in {', '.join(SUFFIXES)})"
    found, problems = walk_files(path, expected)
    files = [name for name in found if text_suffix(Path(name)) in SUFFIXES]
    files.sort(key=lambda name: PurePosixPath(name).parts)
    if not files and not problems:
        problems.append(Problem(f"contains no {expected}"))
    documents: dict[str, tuple[str, TimeMLDocument]] = {}
    seen: set[str] = set()
    for file in files:
        name = _name_document(file)
        if name in seen:
            problems.append(Problem(f"document {quote(name)} already has another file", None, file))
        seen.add(name)
        try:
            documents[name] = file, read_timeml(found[file])
        except FormatError as error:
            problems += [Problem(problem.text, problem.line, file) for problem in error.problems]
    if problems:
        raise FormatError(path, problems)
    notices = describe_problems(str(path), find_hidden(path))
    if others := [name for name in found if name not in files]:
        what = f"{pluralize(len(others), 'file')} not ending in {', '.join(SUFFIXES)} ignored"
        notices.insert(0, f"{path}: {what}: {join_names(others)}")
    return TimeMLDocuments(path, documents, notices)


def _name_document(file: str) -> str:
    path = PurePosixPath(file)
    return (
        (path.with_suffix("") if path.suffix.lower() == GZIP_SUFFIX else path)
        .with_suffix("")
        .as_posix()
    )


def align(
    key: TimeMLDocuments,
    path: Path,
    *,
    missing: str = "empty",
    matching: str = "id",
    extra: str = "error",
) -> TimeMLDocuments:
    """Read a response, and put it in the order of the key's documents."""
    if path.exists() and path.is_dir() != key.is_folder:
        kind, key_kind = ("a file", "a folder") if key.is_folder else ("a folder", "a file")
        found = f"is {kind} but the key is {key_kind} (expected two files or two folders)"
        raise SubmissionError(path, [Problem(found)])
    given = _read_response(path)
    if not key.is_folder:
        given = replace(given, found=dict(zip(key.found, given.found.values(), strict=True)))
    if extra == "skip":
        given = _drop_unknown(key.found, given)
    problems = list(_compare_names(key.found, given, missing))
    pairs = {name: given.found.get(name, (None, None)) for name in key.found}
    for name, (file, other) in pairs.items():
        own = key.found[name][1]
        if own is not None and other is not None:
            problems += [
                problem._replace(file=file) for problem in _find_differences(own, other, matching)
            ]
            if matching == "id":
                pairs[name] = file, _rename_events(own, other)
    if problems:
        raise SubmissionError(path, problems)
    return TimeMLDocuments(path, pairs, given.notices)


def _read_response(path: Path) -> TimeMLDocuments:
    """Read the documents of a response."""
    try:
        return read_key(path)
    except InputError as error:
        raise blame_submission(error) from None


def _drop_unknown(known: Collection[str], response: TimeMLDocuments) -> TimeMLDocuments:
    """Return a response without the documents that the key lacks, with a note that names them."""
    unknown = [name for name in response.found if name not in known]
    if not unknown:
        return response
    documents = pluralize(len(unknown), "document")
    notice = f"{documents} of the response left out, not in the key: {join_names(unknown)}"
    scored = {name: response.found[name] for name in response.found if name in known}
    return replace(response, found=scored, notices=[*response.notices, notice])


def _compare_names(
    known: Collection[str], given: TimeMLDocuments, missing: str
) -> Iterator[Problem]:
    """Find the documents of a response that the key lacks, and those that the response lacks if that is an error."""
    documents = given.found
    absent = [name for name in known if name not in documents]
    unknown = [name for name in given.found if name not in known]
    if unknown:
        name = unknown[0]
        hint = suggest_id(name, absent, unknown)
        message = f"document {quote(name)} is not in the key{hint}"
        if len(unknown) > 1:
            message = f"{len(unknown):,} documents are not in the key: {join_names(unknown)}"
        advice = advise("; {extra=skip} leaves out what the key lacks")
        yield Problem(message + advice, None, given.found[name][0])
    if absent and missing == "error":
        named = ", ".join(quote(name) for name in absent[:3]) + (", …" if len(absent) > 3 else "")
        lacking = f"lacks {len(absent):,} of {len(known):,} documents of the key: {named}"
        yield Problem(f"{lacking}. Add them{advise_missing()}")


def _find_differences(
    key: TimeMLDocument, response: TimeMLDocument, matching: str
) -> Iterator[Problem]:
    """Find evidence that two files do not annotate the same text, or do not use the same ids."""
    own, other = ("".join(document.text.split()) for document in (key, response))
    if not own or not other:
        return
    if own != other:
        place = next(i for i, (one, two) in enumerate(zip_longest(own, other)) if one != two)
        found = f"the text after {quote(other[:place][-20:])} is {quote(other[place : place + 20])}"
        yield Problem(f"{found} (expected {quote(own[place : place + 20])}, as in the key)")
    elif matching == "id":
        extents = {interval["id"]: interval for interval in list_intervals(key)}
        names = _find_names(key, response)
        for here in list_intervals(response):
            name = here["id"]
            there = extents.get(names.get(name, name), here)
            overlap = min(here["end"], there["end"]) - max(here["start"], there["start"])
            is_empty = here["start"] == here["end"] or there["start"] == there["end"]
            if here["kind"] != there["kind"] or not (overlap > 0 or is_empty):
                places = response.intervals[name], key.intervals[there["id"]]
                own, other = (quote(passage.words(span)) for passage, span in places)
                advice = f"use the ids of the key{advise(', or {matching=strict,relaxed}')}"
                yield Problem(
                    f"id {quote(name)} is {own} here but {other} in the key; {advice}",
                    places[0][1].line,
                )


def _find_names(key: TimeMLDocument, response: TimeMLDocument) -> dict[str, str]:
    """Return the key's names of events that one side calls by the event, and the other by its only instance."""
    instances = Counter(instance.attributes["eventID"] for instance in key.instances)
    names = {}
    for instance in key.instances:
        event = instance.attributes["eventID"]
        if instances[event] == 1:
            names[event] = instance.attributes["eiid"]
    for instance in response.instances:
        names[instance.attributes["eiid"]] = instance.attributes["eventID"]
    known = key.intervals
    return {name: of_key for name, of_key in names.items() if name not in known and of_key in known}


def _rename_events(key: TimeMLDocument, response: TimeMLDocument) -> TimeMLDocument:
    """Return a response whose links call events as the key does."""
    names = _find_names(key, response)
    links = [
        link._replace(
            source=names.get(link.source, link.source), target=names.get(link.target, link.target)
        )
        for link in response.tlinks
    ]
    return replace(response, tlinks=tuple(links))


def list_intervals(document: TimeMLDocument) -> list[Record]:
    """Return the intervals of a document as input of the procedure: `id`, `kind`, `start` and `end`.

    Offsets ignore white space.  The creation time has a kind of its own and always the same extent.
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
            found.append(
                {"id": name, "kind": f"{span.name} in {where}", "start": start, "end": end}
            )
    return found


def to_records(side: TimeMLDocuments, matching: str = "id") -> list[Record]:
    """Return the available documents as input of the procedure."""
    return [
        {"document": name, "tlinks": _list_links(document)}
        | ({} if matching == "id" else {"intervals": list_intervals(document)})
        for name, _, document in side.read()
    ]


def _list_links(document: TimeMLDocument) -> list[Record]:
    return [
        {"source": one.source, "relation": one.relation, "target": one.target}
        for one in _select_claims(document)
    ]


def _select_claims(document: TimeMLDocument) -> list[Tlink]:
    """Select the links that state a relation of TimeML."""
    return [link for link in document.tlinks if link.relation in RELATION_TYPES]


def _describe_silence(
    key: TimeMLDocuments, response: TimeMLDocuments, matching: str
) -> Iterator[str]:
    """Say that a side has no links, or that no event in the response's links is one of the key, by id."""
    in_links: set[tuple[str, str]] = set()
    in_key: set[tuple[str, str]] = set()
    for side in (key, response):
        if not any(_select_claims(document) for _, _, document in side.read()):
            yield f"{side.path}: no link states a relation (expected TLINK elements)"
    for name, _, document in key.read():
        in_key.update((name, event) for event in _list_events(document))
    for name, _, document in response.read():
        for link in _select_claims(document):
            in_links.update((name, end) for end in (link.source, link.target))
        times = {time.id for _, time in document.spans(TIMEX)}
        in_links -= {(name, time) for time in times}
    if matching == "id" and in_links and in_key and in_links.isdisjoint(in_key):
        _, event = min(in_links)
        _, of_key = min(in_key)
        found = f"{response.path}: no event of its links, such as {quote(event)}, has the id of one of the key"
        advice = advise("; if only the ids differ, use {matching=strict}")
        yield f"{found}, such as {quote(of_key)}{advice}"


def _list_events(document: TimeMLDocument) -> list[str]:
    """Return the ids of the intervals that are events or their instances."""
    return [name for name, (_, span) in document.intervals.items() if span.name == EVENT]


def _describe_links(
    side: TimeMLDocuments, name: str, table: CountTable | None, during: str
) -> Iterator[str]:
    """Describe a side's first links that are contradictory, those that are true of any interval, and vague ones."""
    affected = set(side.found)
    if table is not None:
        counts = table.values[:, table.names.index(f"contradictory/{name}")].tolist()
        affected = {unit for unit, number in zip(table.units, counts, strict=True) if number}
    contradictory, always_true, vague = [], [], 0
    foreign: Counter[str] = Counter()
    for unit, place, document in side.read():
        claims, links = _select_claims(document), _list_links(document)
        relations = Counter(link.relation for link in document.tlinks)
        vague += sum(relations[relation] for relation in NO_RELATION)
        for relation, number in relations.items():
            if relation not in (*RELATION_TYPES, *NO_RELATION):
                foreign[relation] += number
        texts = [
            f"{place}:{link.line}: {link.source} {link.relation} {link.target}" for link in claims
        ]
        itself = "links an interval with itself"
        for i in find_contradictions(links, during) if unit in affected else ():
            what = itself if claims[i].source == claims[i].target else "contradicts earlier links"
            contradictory.append(f"{texts[i]} {what}; still counted, but ignored for inference")
        always_true += [
            f"{texts[i]} {itself}; not counted" for i in find_tautologies(links, during)
        ]
    for found, what in (
        (contradictory, "links are contradictory"),
        (always_true, "links of an interval with itself are not counted"),
    ):
        yield from found[:NAMED]
        if len(found) > NAMED:
            yield f"{side.path}: {len(found):,} {what} (the first {NAMED} are shown)"
    if vague:
        what = f"{pluralize(vague, 'link')} without a relation ({' or '.join(NO_RELATION)})"
        yield f"{side.path}: {what}; not counted"
    if foreign:
        what = f"{pluralize(foreign.total(), 'link')} with a relation that TimeML does not have"
        numbers = ", ".join(f"{quote(name)} {number:,}" for name, number in foreign.most_common(5))
        yield f"{side.path}: {what} ({numbers}); not counted"


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
