"""Rules for TNE's documents that no schema can express, and oddities that are not errors.

Conventions: all released documents satisfy the rules.  Every problem names the document and the noun phrase, cluster or
link; fields that a record lacks are not checked.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any

from closeread.corpus.validation import Rules
from closeread.exceptions import pluralize, quote
from closeread.formats.text import UNSAFE
from closeread.records import Record
from closeread.tasks.tne.links import LABELS, Pair, list_links
from closeread.tasks.tne.phrases import (
    TITLE_END,
    find_clusters,
    find_titled,
    is_phrase_id,
    list_lacking,
    list_phrases,
)

CLUSTER = "complement_coref_cluster_id"
TIME = "time/date/measurement"

MAX_NAMES_SHOWN = 3
"""How many names a problem lists before it gives a count."""


def find_inconsistencies(records: Sequence[Record]) -> Iterator[tuple[int, str]]:
    """Check all rules and yield every violation with the index of its document, by document."""
    for index, record in enumerate(records):
        for problem in _check_document(record):
            yield index, f"id {quote(record['id'])}: {problem}"


def _check_document(record: Record) -> Iterator[str]:
    # Names that no prediction could give: only the texts of a document may contain control characters.
    name = record.get("id")
    unsafe = UNSAFE.search(name) if isinstance(name, str) else None
    if unsafe:
        yield f"the id contains the control character U+{ord(unsafe[0]):04X}"
    # A noun phrase that does not exist has no cluster: rules that look it up skip documents with such noun phrases.
    problems = list(_check_ids(record))
    yield from problems
    if problems:
        return
    yield from _check_spans(record)
    phrases = record.get("nps")
    problems = list(_check_partition(record))
    links = record.get("np_relations") or ()
    for place, problem in find_wrong_ends(links, None if phrases is None else len(phrases)):
        problems.append(f"np_relations[{place}]: {problem}")
    yield from problems
    if not problems and phrases is not None and record.get("coref") is not None:
        yield from _check_links(record)


def _check_ids(record: Record) -> Iterator[str]:
    """Noun phrase ids are np0, np1, … without gaps; cluster ids are unique."""
    phrases = record.get("nps") or ()
    n_times = Counter(phrase["id"] for phrase in phrases)
    for number in range(len(phrases)):
        n = n_times[f"np{number}"]
        if n != 1:
            count = f"occurs {_times(n)}" if n else "is missing"
            yield f"nps: np{number} {count} (expected {describe_ids(len(phrases))}, each once)"
    seen: set[str] = set()
    for cluster in record.get("coref") or ():
        if cluster["id"] in seen:
            yield f"coref: cluster id {quote(cluster['id'])} occurs more than once (expected unique ids)"
        seen.add(cluster["id"])


def _check_spans(record: Record) -> Iterator[str]:
    """The character span of a noun phrase covers its words, and its tokens are tokens of the document."""
    phrases = list_phrases(record)
    text: Any = record.get("text")
    for phrase in phrases if text is not None else ():
        begin = phrase["first_char"]
        stop = phrase["last_char"]
        words = phrase["text"]
        if text[begin:stop] != words or begin >= stop:
            span = f"characters {begin} to {stop} of the text are {quote(text[begin:stop])}"
            yield f"{phrase['id']}: {span} (expected its text, {quote(words)})"
    tokens: Any = record.get("tokens")
    for phrase in phrases if tokens is not None else ():
        first = phrase["first_token"]
        last = phrase["last_token"]
        if not first <= last < len(tokens):
            size = pluralize(len(tokens), "token")
            expected = f"a first and a last token among the document's {size}"
            yield f"{phrase['id']}: its tokens are {first} to {last} (expected {expected})"


def _check_partition(record: Record) -> Iterator[str]:
    """Every noun phrase is a member of exactly one cluster."""
    phrases = record.get("nps")
    clusters = record.get("coref")
    if phrases is None or clusters is None:
        return
    names_by_phrase: dict[str, list[str]] = {f"np{number}": [] for number in range(len(phrases))}
    for cluster in clusters:
        for member in cluster["members"]:
            if member in names_by_phrase:
                names_by_phrase[member].append(cluster["id"])
            else:
                expected = describe_ids(len(phrases))
                yield f"coref: {cluster['id']} has the member {member} (expected {expected})"
    for phrase, names in names_by_phrase.items():
        distinct = list(dict.fromkeys(names))
        if len(distinct) != 1:
            where = _join(distinct, len(distinct)) if distinct else "no cluster"
            yield f"coref: {phrase} is in {where} (expected exactly one cluster)"
        elif len(names) > 1:
            yield f"coref: {phrase} occurs {_times(len(names))} in {distinct[0]} (expected once)"


def find_wrong_ends(links: Sequence[Record], size: int | None) -> Iterator[tuple[int, str]]:
    """Find links, by position, whose ends are not two noun phrases of a document; None if their number is unknown."""
    phrases = {f"np{number}" for number in range(size or 0)}
    for end in ("anchor", "complement"):
        if phrases.issuperset(map(itemgetter(end), links)):
            continue
        for place, link in enumerate(links):
            name = link[end]
            exists = is_phrase_id(name) if size is None else name in phrases
            if not exists:
                expected = _describe_phrases(size)
                yield place, f"{end} {quote(name)} does not exist (expected {expected})"
    for place, link in enumerate(links):
        if link["anchor"] == link["complement"] and is_phrase_id(link["anchor"]):
            yield place, f"{link['anchor']} is linked to itself (expected two noun phrases)"


def _describe_phrases(size: int | None) -> str:
    """Describe the noun phrases of a document, and how many there are."""
    ids = describe_ids(size)
    if not size:
        return ids
    return (
        f"one of its {size:,} noun phrases, {ids}" if size > 1 else f"{ids}, its only noun phrase"
    )


def _check_links(record: Record) -> Iterator[str]:
    """Links join two clusters, give the complement's cluster, and exist for all of its members."""
    links = record.get("np_relations") or ()
    clusters = record["coref"]
    cluster_of = find_clusters(record)
    # The places of the links of an anchor to a cluster by a preposition, by complement.
    fans: dict[Fan, dict[str, int]] = defaultdict(dict)
    wrong_names = []
    for place, link in enumerate(links):
        number = cluster_of[link["complement"]]
        name = clusters[number]["id"]
        if cluster_of[link["anchor"]] == number:
            yield f"{name_link(place, link)}: anchor and complement are both in {name} (expected two clusters)"
        else:
            fans[link["anchor"], number, link["preposition"]].setdefault(link["complement"], place)
        stated = link.get(CLUSTER)
        if stated is not None and stated != name:
            difference = f"{CLUSTER} is {quote(stated)} (expected {quote(name)})"
            wrong_names.append(f"{name_link(place, link)}: {difference}")
    yield from wrong_names
    n_missing = {
        fan: len(clusters[fan[1]]["members"]) - len(places) for fan, places in fans.items()
    }
    for fan in sorted(filter(n_missing.get, fans), key=_rank_fan):
        yield _describe_gap(links, clusters[fan[1]], fans[fan], n_missing[fan])


Fan = tuple[str, int, str]
"""An anchor, the number of the complement's cluster, and a preposition."""


def _rank_fan(fan: Fan) -> tuple[int, int, int]:
    """Order links by the number of the anchor, the cluster and the preposition."""
    anchor, number, preposition = fan
    return int(anchor[2:]), number, LABELS[preposition]


def _describe_gap(
    links: Sequence[Record], cluster: Record, places: Mapping[str, int], n_missing: int
) -> str:
    """Describe which members of a cluster an anchor is not linked to, given the places of its links by complement."""
    members = cluster["members"]
    # As many members as may have a link, and those that are shown, are enough to look at.
    members_seen = members[: len(places) + MAX_NAMES_SHOWN]
    missing = [name for name in members_seen if name not in places]
    place = places[min(places, key=lambda name: int(name[2:]))]
    link = name_link(place, links[place])
    expected = f"links to all {len(members):,} members of the complement's cluster, {cluster['id']}"
    return f"{link}: there is no such link to {_join(missing, n_missing)} (expected {expected})"


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
    parts = list(names[:MAX_NAMES_SHOWN])
    if number > MAX_NAMES_SHOWN:
        parts.append(f"{number - MAX_NAMES_SHOWN:,} more")
    *most, last = parts
    return f"{', '.join(most)} and {last}" if most else last


def describe_ids(size: int | None) -> str:
    """Describe the ids of the noun phrases of a document."""
    if size is None:
        return "np0, np1, …"
    if size == 0:
        return "none: the document has no noun phrases"
    return f"np0 to np{size - 1}" if size > 1 else "np0"


def find_repairs(records: Sequence[Record]) -> Iterator[str]:
    """Say how many noun phrases of documents have been given a last token."""
    places = []
    for record in records:
        phrases = record.get("nps") or ()
        endless = [phrase["id"] for phrase in phrases if phrase["last_token"] is None]
        places += [_name_place(record, name) for name in endless]
    if places:
        yield _count_places(
            places,
            "noun phrase has no last token; the token in which its words end is used",
            "noun phrases have no last token; the token in which their words end is used",
        )


def find_oddities(records: Sequence[Record]) -> Iterator[str]:
    """Describe what is odd in valid documents, one sentence for each kind, with the first occurrence."""
    # Documents of annotators and systems may lack these fields.
    if any(list_lacking(records, name) for name in ("text", "tokens", "nps", "coref")):
        return
    phrases = list(map(list_phrases, records))
    for singular, plural, find in ODDITIES:
        places = []
        for record, phrases_of_document in zip(records, phrases, strict=True):
            names = find(record, phrases_of_document)
            places += [_name_place(record, name) for name in names]
        if places:
            yield _count_places(places, singular, plural)


def _name_place(record: Record, name: str) -> str:
    document = quote(record["id"])
    return f"{name} in {document}" if name else document


def _count_places(places: Sequence[str], singular: str, plural: str) -> str:
    number = f"1 {singular}" if len(places) == 1 else f"{len(places):,} {plural}"
    return f"{number} (first: {places[0]})."


def _find_repeated_links(record: Record, phrases: Sequence[Record]) -> Iterator[str]:
    records = record.get("np_relations") or ()
    links = list_links(records)
    seen = set()
    for place, link in enumerate(links):
        if link in seen:
            yield name_link(place, records[place])
        seen.add(link)


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


def _find_untrimmed(record: Record, phrases: Sequence[Record]) -> Iterator[str]:
    for phrase in phrases:
        if phrase["text"] != phrase["text"].strip():
            yield phrase["id"]


def _find_linked_times(record: Record, phrases: Sequence[Record]) -> Iterator[str]:
    times: set[str] = set()
    for cluster in record["coref"]:
        if cluster.get("np_type") == TIME:
            times.update(cluster["members"])
    links = record.get("np_relations") or ()
    linked = {*map(itemgetter("anchor"), links), *map(itemgetter("complement"), links)} & times
    yield from (phrase["id"] for phrase in phrases if phrase["id"] in linked)


Kind = tuple[str, str, Callable[[Record, Sequence[Record]], Iterable[str]]]

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
        _find_untrimmed,
    ),
    (
        "linked noun phrase is a time, date or measurement",
        "linked noun phrases are times, dates or measurements",
        _find_linked_times,
    ),
)
"""What is odd, of one and of several, and a function from a document and its noun phrases to the names of those."""


def find_odd_rows(rows: Sequence[Record], gold: Sequence[Record]) -> Iterator[tuple[int, str]]:
    """Find pairs that a system links by several prepositions; yield the index of the first row and a note."""
    repeated: list[tuple[int, int]] = []
    for index, row in enumerate(rows):
        seen: set[Pair] = set()
        for place, (pair, _) in enumerate(list_links(row["relations"])):
            if pair in seen:
                repeated.append((index, place))
            seen.add(pair)
    if not repeated:
        return
    index, place = repeated[0]
    row = rows[index]
    link = row["relations"][place]
    first = f"relations[{place}], from {link['anchor']} to {link['complement']}"
    number = f"{len(repeated):,} links give their pairs"
    if len(repeated) == 1:
        number = "1 link gives its pair"
    problem = f"{number} another preposition, which counts only in triplets (first: {first})"
    yield index, f"id {quote(row['id'])}: {problem}"


RULES = dict.fromkeys(
    ("document", "annotation"),
    Rules(find_inconsistencies, find_oddities, find_odd_rows, find_repairs=find_repairs),
)
