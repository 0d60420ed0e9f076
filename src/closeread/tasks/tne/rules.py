"""Rules for TNE's documents that no schema can express, and oddities that are not errors.

Conventions: all released documents satisfy the rules.  Every problem names the document and the noun phrase, cluster or
link; fields that a record lacks are not checked.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import itemgetter

from closeread.corpus.validation import Rules
from closeread.exceptions import pluralize, quote
from closeread.formats.text import UNSAFE
from closeread.records import Record
from closeread.tasks.tne.columns import (
    LABELS,
    TITLE_END,
    documents_of,
    find_clusters,
    find_titled,
    is_phrase_id,
    list_phrases,
)

CLUSTER = "complement_coref_cluster_id"
_TIME = "time/date/measurement"

SHOWN = 3  # how many names a problem lists before it gives a count


def find_inconsistencies(records: Sequence[Record]) -> Iterator[tuple[int, str]]:
    """Check all rules and yield every violation with the index of its document, by document."""
    for index, record in enumerate(records):
        for problem in _check_document(record):
            yield index, f"id {quote(record['id'])}: {problem}"


def _check_document(record: Record) -> Iterator[str]:
    # Names that no prediction could give: only the texts of a document may contain control characters.
    name = record.get("id")
    if isinstance(name, str) and (unsafe := UNSAFE.search(name)):
        yield f"the id contains the control character U+{ord(unsafe[0]):04X}"
    # A noun phrase that does not exist has no cluster: rules that look it up skip documents with such noun phrases.
    wrong = list(_check_ids(record))
    yield from wrong
    if not wrong:
        yield from _check_spans(record)
        nps = record.get("nps")
        ends = find_wrong_ends(record.get("np_relations") or (), None if nps is None else len(nps))
        wrong = [
            *_check_partition(record),
            *(f"np_relations[{place}]: {what}" for place, what in ends),
        ]
        yield from wrong
        if not wrong and nps is not None and record.get("coref") is not None:
            yield from _check_links(record)


def _check_ids(record: Record) -> Iterator[str]:
    """Noun phrase ids are np0, np1, … without gaps; cluster ids are unique."""
    phrases = record.get("nps") or ()
    times = Counter(phrase["id"] for phrase in phrases)
    for number in range(len(phrases)):
        if (n := times[f"np{number}"]) != 1:
            found = f"occurs {_times(n)}" if n else "is missing"
            yield f"nps: np{number} {found} (expected {describe_ids(len(phrases))}, each once)"
    seen: set[str] = set()
    for cluster in record.get("coref") or ():
        if cluster["id"] in seen:
            yield f"coref: cluster id {quote(cluster['id'])} occurs more than once (expected unique ids)"
        seen.add(cluster["id"])


def _check_spans(record: Record) -> Iterator[str]:
    """The character span of a noun phrase covers its words, and its tokens are tokens of the document."""
    phrases = list_phrases(record)
    if (text := record.get("text")) is not None:
        for phrase in phrases:
            begin, stop, words = phrase["first_char"], phrase["last_char"], phrase["text"]
            if text[begin:stop] != words or begin >= stop:
                span = f"characters {begin} to {stop} of the text are {quote(text[begin:stop])}"
                yield f"{phrase['id']}: {span} (expected its text, {quote(words)})"
    if (tokens := record.get("tokens")) is not None:
        expected = (
            f"a first and a last token among the document's {pluralize(len(tokens), 'token')}"
        )
        for phrase in phrases:
            first, last = phrase["first_token"], phrase["last_token"]
            if not first <= last < len(tokens):
                yield f"{phrase['id']}: its tokens are {first} to {last} (expected {expected})"


def _check_partition(record: Record) -> Iterator[str]:
    """Every noun phrase is a member of exactly one cluster."""
    phrases, clusters = record.get("nps"), record.get("coref")
    if phrases is None or clusters is None:
        return
    clusters_of: dict[str, list[str]] = {f"np{number}": [] for number in range(len(phrases))}
    for cluster in clusters:
        for member in cluster["members"]:
            if member in clusters_of:
                clusters_of[member].append(cluster["id"])
            else:
                yield f"coref: {cluster['id']} has the member {member} (expected {describe_ids(len(phrases))})"
    for name, found in clusters_of.items():
        distinct = list(dict.fromkeys(found))
        if len(distinct) != 1:
            where = _join(distinct, len(distinct)) if distinct else "no cluster"
            yield f"coref: {name} is in {where} (expected exactly one cluster)"
        elif len(found) > 1:
            yield f"coref: {name} occurs {_times(len(found))} in {distinct[0]} (expected once)"


def find_wrong_ends(links: Sequence[Record], size: int | None) -> Iterator[tuple[int, str]]:
    """Find links, by position, whose ends are not two noun phrases of a document; None if their number is unknown."""
    known = None if size is None else {f"np{number}" for number in range(size)}
    for end in ("anchor", "complement"):
        if known is not None and known.issuperset(map(itemgetter(end), links)):
            continue
        for place, link in enumerate(links):
            if not is_phrase_id(link[end]) if known is None else link[end] not in known:
                expected = describe_ids(size)
                if size:
                    names = f"one of its {size:,} noun phrases, {expected}"
                    expected = names if size > 1 else f"{expected}, its only noun phrase"
                yield place, f"{end} {quote(link[end])} does not exist (expected {expected})"
    for place, link in enumerate(links):
        if link["anchor"] == link["complement"] and is_phrase_id(link["anchor"]):
            yield place, f"{link['anchor']} is linked to itself (expected two noun phrases)"


def _check_links(record: Record) -> Iterator[str]:
    """Links join two clusters, give the complement's cluster, and exist for all of its members."""
    links, clusters, cluster_of = (
        record.get("np_relations") or (),
        record["coref"],
        find_clusters(record),
    )
    # the places of links, by complement
    fans: dict[tuple[str, int, str], dict[str, int]] = defaultdict(dict)
    wrong_names = []
    for place, link in enumerate(links):
        number = cluster_of[link["complement"]]
        name, stated = clusters[number]["id"], link.get(CLUSTER)
        if cluster_of[link["anchor"]] == number:
            yield f"{name_link(place, link)}: anchor and complement are both in {name} (expected two clusters)"
        else:
            fans[link["anchor"], number, link["preposition"]].setdefault(link["complement"], place)
        if stated is not None and stated != name:
            wrong_names.append(
                f"{name_link(place, link)}: {CLUSTER} is {quote(stated)} (expected {quote(name)})"
            )
    yield from wrong_names
    open_fans = [
        fan for fan, found in fans.items() if len(found) < len(clusters[fan[1]]["members"])
    ]
    for fan in sorted(open_fans, key=lambda fan: (int(fan[0][2:]), fan[1], LABELS[fan[2]])):
        found, members = fans[fan], clusters[fan[1]]["members"]
        # As many members as may have a link, and those that are shown, are enough to look at.
        missing = [name for name in members[: len(found) + SHOWN] if name not in found]
        place = found[min(found, key=lambda name: int(name[2:]))]
        what = f"there is no such link to {_join(missing, len(members) - len(found))}"
        expected = f"links to all {len(members):,} members of the complement's cluster, {clusters[fan[1]]['id']}"
        yield f"{name_link(place, links[place])}: {what} (expected {expected})"


def name_link(place: int, link: Record) -> str:
    """Name a link of a document in words.

    >>> name_link(0, {"anchor": "np3", "complement": "np7", "preposition": "of"})
    'np_relations[0] (np3 of np7)'
    """
    return f"np_relations[{place}] ({link['anchor']} {link['preposition']} {link['complement']})"


def _times(number: int) -> str:
    return "twice" if number == 2 else f"{number:,} times"


def _join(names: Sequence[str], number: int) -> str:
    """Join the first few names and count the rest of `number`.

    >>> _join(["np1"], 1), _join(["np1", "np2"], 2), _join(["np1", "np2", "np5"], 7)
    ('np1', 'np1 and np2', 'np1, np2, np5 and 4 more')
    """
    *most, last = names[:SHOWN] if number <= SHOWN else [*names[:SHOWN], f"{number - SHOWN:,} more"]
    return f"{', '.join(most)} and {last}" if most else last


def describe_ids(size: int | None) -> str:
    """Describe the ids of the noun phrases of a document."""
    if size == 0:
        return "none: the document has no noun phrases"
    return "np0, np1, …" if size is None else f"np0 to np{size - 1}" if size > 1 else "np0"


Kind = tuple[str, str, Callable[[Record, Sequence[Record]], Iterable[str]]]
"""What is odd, of one and of several, and a function from a document and its noun phrases to the names of those."""


def find_oddities(records: Sequence[Record]) -> Iterator[str]:
    """Describe what is odd in valid documents, one sentence for each kind, with the first occurrence."""
    return _describe_kinds(records, ODDITIES)


def find_repairs(records: Sequence[Record]) -> Iterator[str]:
    """Describe what is completed in valid documents, with the first occurrence."""
    return _describe_kinds(records, REPAIRS)


def _describe_kinds(records: Sequence[Record], kinds: Sequence[Kind]) -> Iterator[str]:
    documents = documents_of(records)
    # Documents of annotators and systems may lack these fields.
    if any(map(documents.list_lacking, ("text", "tokens", "nps", "coref"))):
        return
    phrases = list(map(list_phrases, documents))
    for singular, plural, find in kinds:
        places = []
        for record, phrases_of_document in zip(documents, phrases, strict=True):
            for name in find(record, phrases_of_document):
                document = quote(record["id"])
                places.append(f"{name} in {document}" if name else document)
        if places:
            what = f"1 {singular}" if len(places) == 1 else f"{len(places):,} {plural}"
            yield f"{what} (first: {places[0]})."


def _find_repeated_links(record: Record, phrases: Sequence[Record]) -> Iterator[str]:
    seen = set()
    for place, link in enumerate(record.get("np_relations") or ()):
        triple = link["anchor"], link["preposition"], link["complement"]
        if triple in seen:
            yield name_link(place, link)
        seen.add(triple)


def _find_cut_tokens(record: Record, phrases: Sequence[Record]) -> Iterator[str]:
    for phrase in phrases:
        tokens = record["tokens"][phrase["first_token"] : phrase["last_token"] + 1]
        if phrase["text"].replace(" ", "") != "".join(tokens).replace(" ", ""):
            yield phrase["id"]


def _find_equal_spans(record: Record, phrases: Sequence[Record]) -> Iterator[str]:
    seen: dict[tuple[int, int], Record] = {}
    for phrase in phrases:
        if seen.setdefault((phrase["first_char"], phrase["last_char"]), phrase) is not phrase:
            yield phrase["id"]


def _find_empty_title(record: Record, phrases: Sequence[Record]) -> Iterator[str]:
    if TITLE_END in record["text"] and not find_titled(record, phrases):
        yield ""


def _find_linked_times(record: Record, phrases: Sequence[Record]) -> Iterator[str]:
    times = {
        name
        for cluster in record["coref"]
        if cluster.get("np_type") == _TIME
        for name in cluster["members"]
    }
    if times:
        links = record.get("np_relations") or ()
        linked = {link[end] for link in links for end in ("anchor", "complement")} & times
        yield from (phrase["id"] for phrase in phrases if phrase["id"] in linked)


ODDITIES: Sequence[Kind] = (
    ("link is a duplicate", "links are duplicates", _find_repeated_links),
    (
        "noun phrase begins or ends inside a token",
        "noun phrases begin or end inside a token",
        _find_cut_tokens,
    ),
    (
        "noun phrase has the span of another",
        "noun phrases have the span of another",
        _find_equal_spans,
    ),
    (
        "document has no noun phrase in its title",
        "documents have no noun phrase in their title",
        _find_empty_title,
    ),
    (
        "noun phrase begins or ends with white space",
        "noun phrases begin or end with white space",
        lambda record, phrases: (
            one["id"] for one in phrases if one["text"] != one["text"].strip()
        ),
    ),
    (
        "linked noun phrase is a time, date or measurement",
        "linked noun phrases are times, dates or measurements",
        _find_linked_times,
    ),
)

REPAIRS: Sequence[Kind] = (
    (
        "noun phrase has no last token; the token in which its words end is used",
        "noun phrases have no last token; the token in which their words end is used",
        lambda record, phrases: (one["id"] for one in record["nps"] if one["last_token"] is None),
    ),
)


def find_odd_rows(rows: Sequence[Record], gold: Sequence[Record]) -> Iterator[tuple[int, str]]:
    """Find pairs that a system links by several prepositions; yield the index of the first row and a note."""
    found = []
    for index, row in enumerate(rows):
        seen: set[tuple[str, str]] = set()
        for place, link in enumerate(row["relations"]):
            pair = link["anchor"], link["complement"]
            if pair in seen:
                found.append((index, place, pair))
            seen.add(pair)
    if found:
        index, place, pair = found[0]
        have = (
            "1 link gives its pair" if len(found) == 1 else f"{len(found):,} links give their pairs"
        )
        first = f"relations[{place}], from {pair[0]} to {pair[1]}"
        what = f"{have} another preposition, which counts only in triplets (first: {first})"
        yield index, f"id {quote(rows[index]['id'])}: {what}"


RULES = dict.fromkeys(
    ("document", "annotation"),
    Rules(find_inconsistencies, find_oddities, find_odd_rows, find_repairs=find_repairs),
)
