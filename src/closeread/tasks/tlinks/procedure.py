"""The procedure `tlinks`: its reader, options and metrics; `counting` defines the counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from pathlib import Path

from closeread.corpus.citing import papers
from closeread.corpus.gold import GoldSource, read_corpus_gold
from closeread.counts.metrics import Ratio, precision_recall_f1
from closeread.counts.procedure import (
    Help,
    Option,
    Options,
    Procedure,
    Reader,
    System,
    group_options,
    missing_option,
)
from closeread.counts.table import CountTable
from closeread.digests import unit_digests
from closeread.exceptions import RequestError, SubmissionError
from closeread.records import Origin, Record
from closeread.tasks.tlinks.counting import MATCHINGS, REDUCTIONS, count
from closeread.tasks.tlinks.documents import (
    TimeMLDocuments,
    align,
    compare_names,
    read_key,
    read_response,
    to_records,
    wrap_records,
)
from closeread.tasks.tlinks.remarks import describe_foreign_ids, describe_links, describe_silence
from closeread.tasks.tlinks.temporal_graph import DURINGS

NO_CORPUS = Origin("tlinks", None, None, None)


@dataclass(frozen=True)
class KeyLinks:
    """Gold links.

    Attributes:
        records: the documents as input of the procedure.
        documents: the documents as read from files; None if they come from memory.
        origin: the corpus; none for a key.
        notices: notices for the user.
        files: the file or folder that was read.
    """

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
    """A key and a response: two TimeML files, or folders or files of pairs, whose documents are matched by name.

    Reading checks everything that a schema can't.
    """

    # Gold is a file given by the user, the key.
    key_first = True

    def read_gold(self, source: GoldSource, options: Options) -> KeyLinks:
        """Read the documents of a key."""
        if source.corpus is not None:
            gold = read_corpus_gold(source)
            documents = wrap_records(Path(source.corpus.name), gold.records)
            key = KeyLinks([], documents, gold.origin, gold.notices, gold.files)
        elif isinstance(source.gold, Path):
            documents = read_key(source.gold)
            key = KeyLinks([], documents, notices=documents.notices, files=[source.gold])
        else:
            expected = "a TimeML file, a folder of them, or a file of pairs"
            raise RequestError(f"tlinks needs a key: {expected}")
        records = to_records(documents, options["matching"])
        return replace(key, records=list(records.values()))

    def wrap_gold(self, records: Sequence[Record], corpus: str | None) -> KeyLinks:
        """Wrap documents in memory that are already validated."""
        return KeyLinks(records)

    def read_system(
        self, gold: KeyLinks, source: Path | Sequence[Record], options: Options
    ) -> Response:
        """Read a response, and put it in the order of the key's documents."""
        if gold.documents is None:
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
        response = read_response(source)
        # Two single files belong together, whatever their names.
        if not response.has_names and len(names) == 1:
            return
        problems, _ = compare_names(names, response, options)
        if problems:
            raise SubmissionError(source, problems)

    def remarks(
        self, gold: KeyLinks, system: System, options: Options, table: CountTable | None = None
    ) -> Iterable[str]:
        """Describe the first links of each side that are contradictory or true of any interval, and their numbers."""
        key = gold.documents
        response = getattr(system, "documents", None)
        for name, side in (("gold", key), ("system", response)):
            if side is not None:
                inconsistent = _find_inconsistent(side, name, table)
                yield from describe_links(side, inconsistent, options["during"])
        if key is not None and response is not None:
            yield from describe_silence(key, response)
            if options["matching"] == "id":
                yield from describe_foreign_ids(key, response)


def _find_inconsistent(side: TimeMLDocuments, name: str, table: CountTable | None) -> set[str]:
    """Find the documents that have contradictory links, by their counts; without counts, any may have."""
    if table is None:
        return set(side.by_name)
    n_contradictory = table.values[:, table.names.index(f"contradictory/{name}")]
    return set(compress(table.units, n_contradictory))


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
        *group_options("document"),
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
    fields=("folder",),
    breakdowns=("type",),
    reader=TimeMLReader(),
    help=Help(
        """Key and response are TimeML files, or folders of them, whose documents are matched by file name, or files of
pairs (.tsv, .txt) as of TimeBank-Dense, TDDiscourse and MATRES. Links that contradict earlier ones are reported on
standard error; they are counted, but ignored for inference. So are links of an interval with itself, except that
SIMULTANEOUS, IDENTITY, DURING and STARTS_EQUAL are true of any interval, and not counted.""",
        key="key/",
        response="response/",
        flags=("--by type --per-unit", "--matching relaxed"),
        formats=("TimeML",),
    ),
    citation=papers("uzzaman-etal-2013-semeval")[0],
    references={"awareness": papers("uzzaman-allen-2011-temporal", "uzzaman-etal-2013-semeval")},
)
