"""Rules for TNE's documents that no schema can express, and oddities that are not errors.

Conventions: all released documents satisfy the rules.  Every problem names the document and the noun phrase, cluster or
link; fields that a record lacks are not checked.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import chain, pairwise
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from closeread.arrays import Ints, Mask
from closeread.corpus.validation import Rules
from closeread.exceptions import pluralize, quote
from closeread.formats.text import UNSAFE
from closeread.records import Record
from closeread.tasks.tne.columns import PREPOSITIONS, TITLE_END, Documents, documents_of
from closeread.tasks.tne.kernels.links import pairs, triplets

Problems = Iterator[tuple[int, str]]
_TIME = "time/date/measurement"
CLUSTER = "complement_coref_cluster_id"

SHOWN = 3
"""How many names a problem lists before it gives a count."""


def find_inconsistencies(records: Sequence[Record]) -> Problems:
    """Check all rules and yield every violation with the index of its document, by document."""
    whole = _Part(documents_of(records), range(len(records)))
    # A noun phrase that does not exist has no cluster: rules that look it up skip documents with such noun phrases.
    ids = whole.find_problems(_check_ids)
    numbered = whole.exclude({index for index, _ in ids})
    ends = numbered.find_problems(_check_partition, _check_endpoints)
    linked = numbered.exclude({*(index for index, _ in ends), *numbered.find_lacking("nps", "coref")})
    problems = [*whole.find_problems(_check_names), *ids]
    problems += [*numbered.find_problems(_check_spans, _check_tokens), *ends, *linked.find_problems(_check_links)]
    names = whole.documents.column("id")
    for index, what in sorted(problems, key=lambda problem: problem[0]):
        yield index, f"id {quote(names[index])}: {what}"


def _check_names(documents: Documents) -> Problems:
    """Refuse what no prediction could name: those of a document's texts are the only control characters."""
    for number, name in enumerate(documents.column("id")):
        if isinstance(name, str) and (unsafe := UNSAFE.search(name)):
            yield number, f"the id contains the control character U+{ord(unsafe[0]):04X}"


class _Part(NamedTuple):
    """Some documents of a file.

    Attributes:
        documents: the documents.
        indices: their indices among all documents.
    """

    documents: Documents
    indices: Sequence[int]

    def find_problems(self, *rules: Callable[[Documents], Problems]) -> list[tuple[int, str]]:
        """Return the violations of some rules, with the index among all documents."""
        return [(self.indices[number], what) for rule in rules for number, what in rule(self.documents)]

    def find_lacking(self, *names: str) -> list[int]:
        """Return the indices of the documents that lack at least one of these fields."""
        values = zip(*(self.documents.column(name) for name in names), strict=True)
        return [index for index, of_document in zip(self.indices, values, strict=True) if None in of_document]

    def exclude(self, indices: Collection[int]) -> _Part:
        """Return the part without the documents at these indices."""
        if not indices:
            return self
        kept = [number for number, index in enumerate(self.indices) if index not in indices]
        return _Part(Documents([self.documents[n] for n in kept]), [self.indices[n] for n in kept])


def _check_ids(documents: Documents) -> Problems:
    """Noun phrase ids are np0, np1, … without gaps; cluster ids are unique."""
    sizes = documents.sizes
    number = documents.phrase_numbers
    document = np.repeat(np.arange(len(documents)), sizes)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    inside = (number >= 0) & (number < sizes[document])
    counts = np.bincount((starts[document] + number)[inside], minlength=int(starts[-1]))
    for place in np.flatnonzero(counts != 1).tolist():
        index = int(np.searchsorted(starts, place, side="right")) - 1
        found = f"occurs {_times(int(counts[place]))}" if counts[place] else "is missing"
        expected = f"(expected {_id_range(int(sizes[index]))}, each once)"
        yield index, f"nps: np{place - starts[index]} {found} {expected}"
    clusters = documents.clusters
    if len(set(zip(clusters.document.tolist(), clusters.ids, strict=True))) == len(clusters.ids):
        return
    seen: set[tuple[int, str]] = set()
    for index, name in zip(clusters.document.tolist(), clusters.ids, strict=True):
        if (index, name) in seen:
            yield index, f"coref: cluster id {quote(name)} occurs more than once (expected unique ids)"
        seen.add((index, name))


def _check_spans(documents: Documents) -> Problems:
    """The character span of a noun phrase covers its words."""
    phrases = documents.noun_phrases
    begins, ends, starts = phrases.first_char.tolist(), phrases.last_char.tolist(), phrases.starts.tolist()
    for index, (text, (start, end)) in enumerate(zip(documents.column("text"), pairwise(starts), strict=True)):
        for place in range(start, end) if text is not None else ():
            begin, stop, words = begins[place], ends[place], phrases.text[place]
            if text[begin:stop] != words or begin >= stop:
                span = f"characters {begin} to {stop} of the text are {quote(text[begin:stop])}"
                yield index, f"np{place - start}: {span} (expected its text, {quote(words)})"


def _check_tokens(documents: Documents) -> Problems:
    """The tokens of a noun phrase are tokens of the document."""
    phrases = documents.noun_phrases
    tokens = documents.column("tokens")
    lengths = np.array([0 if of_document is None else len(of_document) for of_document in tokens], np.int64)
    has_tokens = np.array([of_document is not None for of_document in tokens], np.bool_)
    document = phrases.document
    wrong = (phrases.first_token > phrases.last_token) | (phrases.last_token >= lengths[document])
    for place in np.flatnonzero(wrong & has_tokens[document]).tolist():
        index = int(document[place])
        span = f"its tokens are {phrases.first_token[place]} to {phrases.last_token[place]}"
        expected = f"(expected a first and a last token among the document's {pluralize(int(lengths[index]), 'token')})"
        yield index, f"np{place - phrases.starts[index]}: {span} {expected}"


def _check_partition(documents: Documents) -> Problems:
    """Every noun phrase is a member of exactly one cluster."""
    clusters, starts = documents.clusters, documents.noun_phrases.starts
    sizes = documents.sizes
    document = clusters.document[clusters.member_of]
    known = clusters.member < sizes[document]
    has_nps = np.array([nps is not None for nps in documents.column("nps")], np.bool_)
    for place in np.flatnonzero(~known & has_nps[document]).tolist():
        index = int(document[place])
        found = f"{clusters.ids[clusters.member_of[place]]} has the member np{clusters.member[place]}"
        yield index, f"coref: {found} (expected {_id_range(int(sizes[index]))})"
    phrase, of_member = (starts[document] + clusters.member)[known], clusters.member_of[known]
    counts = np.bincount(phrase, minlength=int(starts[-1]))
    has_clusters = np.repeat(np.array([coref is not None for coref in documents.column("coref")], np.bool_), sizes)
    wrong = np.flatnonzero((counts != 1) & has_clusters)
    order = np.argsort(phrase, kind="stable")
    begins = np.searchsorted(phrase, wrong, sorter=order)
    for one, begin in zip(wrong.tolist(), begins.tolist(), strict=True):
        index = int(np.searchsorted(starts, one, side="right")) - 1
        memberships = [clusters.ids[cluster] for cluster in of_member[order[begin : begin + counts[one]]]]
        yield index, f"coref: np{one - starts[index]} {_describe_memberships(memberships)}"


def _describe_memberships(names: Sequence[str]) -> str:
    """Describe what is wrong with a noun phrase that is a member of these clusters."""
    distinct = list(dict.fromkeys(names))
    if len(distinct) == 1:
        return f"occurs {_times(len(names))} in {distinct[0]} (expected once)"
    return f"is in {_join(distinct, len(distinct)) if distinct else 'no cluster'} (expected exactly one cluster)"


def _check_endpoints(documents: Documents) -> Problems:
    """The anchor and the complement of a link are two different noun phrases of the document."""
    links, sizes = documents.links, documents.sizes
    has_nps = np.array([nps is not None for nps in documents.column("nps")], np.bool_)[links.document]
    for name, phrase in (("anchor", links.anchor), ("complement", links.complement)):
        unknown = (phrase < 0) | (has_nps & (phrase >= sizes[links.document]))
        for place in np.flatnonzero(unknown).tolist():
            index = int(links.document[place])
            position = place - int(np.searchsorted(links.document, index))
            value = quote(documents.column("np_relations")[index][position][name])
            expected = _id_range(int(sizes[index])) if has_nps[place] else "np0, np1, …"
            yield index, f"np_relations[{position}]: {name} is {value} (expected {expected})"
    for place in np.flatnonzero((links.anchor == links.complement) & (links.anchor >= 0)).tolist():
        found = "anchor and complement are the same (expected two noun phrases)"
        yield int(links.document[place]), f"{_name_link(documents, place)}: {found}"


def _check_links(documents: Documents) -> Problems:
    """Links join two clusters, give the complement's cluster, and exist for all of its members."""
    if not len(documents.links):
        return
    links, clusters = documents.links, documents.clusters
    starts = documents.noun_phrases.starts[:-1][links.document]
    own, other = (documents.cluster_of[starts + phrase] for phrase in (links.anchor, links.complement))
    for place in np.flatnonzero(own == other).tolist():
        found = f"anchor and complement are both in {clusters.ids[own[place]]} (expected two clusters)"
        yield int(links.document[place]), f"{_name_link(documents, place)}: {found}"
    rows = list(chain.from_iterable(relations or () for relations in documents.column("np_relations")))
    try:
        stated = list(map(itemgetter(CLUSTER), rows))  # half the time of `dict.get`
    except KeyError:
        stated = [row.get(CLUSTER) for row in rows]
    expected = [clusters.ids[cluster] for cluster in other.tolist()]
    if stated != expected:
        for place, (name, right) in enumerate(zip(stated, expected, strict=True)):
            if name is not None and name != right:
                found = f"{CLUSTER} is {quote(name)} (expected {quote(right)})"
                yield int(links.document[place]), f"{_name_link(documents, place)}: {found}"
    yield from _find_open_links(documents, starts + links.anchor, other)


def _find_open_links(documents: Documents, anchor: Ints, cluster: Ints) -> Problems:
    """Find links to some but not all members of another cluster."""
    links, clusters = documents.links, documents.clusters
    fan = (anchor * len(clusters.ids) + cluster) * len(PREPOSITIONS) + links.label
    order = np.lexsort((links.complement, fan))
    fan, member = fan[order], links.complement[order]
    again = (fan[1:] == fan[:-1]) & (member[1:] == member[:-1])
    distinct = np.concatenate([[True], ~again])
    begins = np.flatnonzero(np.concatenate([[True], fan[1:] != fan[:-1]]))
    ends = np.append(begins[1:], len(fan))
    reached = np.add.reduceat(distinct.astype(np.int64), begins)
    first = order[begins]
    starts = np.searchsorted(clusters.member_of, np.arange(len(clusters.ids) + 1))
    size = np.diff(starts)[cluster[first]]
    is_open = (reached != size) & (documents.cluster_of[anchor[first]] != cluster[first])
    spans = np.column_stack([first, starts[cluster[first]], size, begins, ends])[is_open]
    for link, start, n_members, begin, end in spans.tolist():
        known = set(member[begin:end].tolist())
        # This many members are enough to find the few that are shown.
        some = clusters.member[start : start + min(n_members, len(known) + SHOWN)].tolist()
        missing = _join([f"np{number}" for number in some if number not in known], n_members - len(known))
        expected = f"all {n_members:,} members of the complement's cluster, {clusters.ids[cluster[link]]}"
        found = f"there is no such link to {missing} (expected links to {expected})"
        yield int(links.document[link]), f"{_name_link(documents, link)}: {found}"


def _name_link(documents: Documents, place: int) -> str:
    links = documents.links
    index = int(links.document[place])
    position = place - int(np.searchsorted(links.document, index))
    link = describe_link(links.anchor[place], links.label[place], links.complement[place])
    return f"np_relations[{position}] ({link})"


def describe_link(anchor: int, label: int, complement: int) -> str:
    """Describe a link in words.

    >>> describe_link(3, 1, 7)
    'np3 of np7'
    """
    return f"np{anchor} {PREPOSITIONS[label]} np{complement}"


def _times(number: int) -> str:
    return "twice" if number == 2 else f"{number:,} times"


def _join(names: Sequence[str], number: int) -> str:
    """Join the first few names and count the rest of `number`.

    >>> _join(["np1"], 1), _join(["np1", "np2"], 2), _join(["np1", "np2", "np5"], 7)
    ('np1', 'np1 and np2', 'np1, np2, np5 and 4 more')
    """
    shown = list(names[:SHOWN])
    if number > SHOWN:
        return f"{', '.join(shown)} and {number - SHOWN:,} more"
    return " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))


def _id_range(size: int) -> str:
    if not size:
        return "none: the document has no noun phrases"
    return f"np0 to np{size - 1}" if size > 1 else "np0"


def find_oddities(records: Sequence[Record]) -> Iterator[str]:
    """Describe what is odd in valid documents, one sentence for each kind, with the first occurrence."""
    documents = documents_of(records)
    # Documents of annotators and systems may lack these fields.
    if not len(documents) or documents.lacks("text", "tokens", "nps", "coref"):
        return
    for oddity in ODDITIES:
        places = oddity.find(documents)
        if places:
            index, name = places[0]
            where = f"{f'{name} in ' if name else ''}{quote(documents.column('id')[index])}"
            what = f"1 {oddity.one}" if len(places) == 1 else f"{len(places):,} {oddity.several}"
            yield f"{what} (first: {where})."


Places = list[tuple[int, str]]


def _find_repeated_links(documents: Documents) -> Places:
    links = documents.links
    key = triplets(pairs(links.document, links.anchor, links.complement), links.label)
    order = np.argsort(key, kind="stable")
    again = np.sort(order[1:][key[order[1:]] == key[order[:-1]]])
    return [(int(links.document[i]), _name_link(documents, i)) for i in again.tolist()]


def _find_cut_tokens(documents: Documents) -> Places:
    return _name_phrases(documents, documents.is_cut)


def _find_equal_spans(documents: Documents) -> Places:
    phrases = documents.noun_phrases
    columns = np.column_stack([phrases.document, phrases.first_char, phrases.last_char])
    _, first = np.unique(columns, axis=0, return_index=True)
    again = np.ones(len(columns), np.bool_)
    again[first] = False
    return _name_phrases(documents, again)


def _find_empty_titles(documents: Documents) -> Places:
    phrases = documents.noun_phrases
    titled = np.bincount(phrases.document[documents.in_title], minlength=len(documents))
    return [
        (index, "")
        for index, (text, n) in enumerate(zip(documents.column("text"), titled.tolist(), strict=True))
        if TITLE_END in text and not n
    ]


def _find_edge_blanks(documents: Documents) -> Places:
    return _name_phrases(documents, documents.is_padded)


def _find_linked_times(documents: Documents) -> Places:
    links = documents.links
    starts = documents.noun_phrases.starts[:-1][links.document]
    is_time = np.array([kind == _TIME for kind in documents.clusters.kind], np.bool_)[documents.cluster_of]
    linked = np.zeros(len(is_time), np.bool_)
    for phrase in (links.anchor, links.complement):
        linked[starts + phrase] = True
    return _name_phrases(documents, linked & is_time)


def _find_missing_last_tokens(documents: Documents) -> Places:
    return list(documents.without_last_token)


def _name_phrases(documents: Documents, mask: Mask) -> Places:
    phrases = documents.noun_phrases
    places = np.flatnonzero(mask)
    document = phrases.document[places]
    number = places - phrases.starts[document]
    return [(index, f"np{n}") for index, n in zip(document.tolist(), number.tolist(), strict=True)]


class _Oddity(NamedTuple):
    """A kind of oddity.

    Attributes:
        one: what to say of a single occurrence, after the number.
        several: what to say of several.
        find: from documents to the occurrences, each as the index of its document and a name.
    """

    one: str
    several: str
    find: Callable[[Documents], Places]


ODDITIES = (
    _Oddity("link is a duplicate", "links are duplicates", _find_repeated_links),
    _Oddity("noun phrase begins or ends inside a token", "noun phrases begin or end inside a token", _find_cut_tokens),
    _Oddity("noun phrase has the span of another", "noun phrases have the span of another", _find_equal_spans),
    _Oddity(
        "document has no noun phrase in its title", "documents have no noun phrase in their title", _find_empty_titles
    ),
    _Oddity(
        "noun phrase begins or ends with white space", "noun phrases begin or end with white space", _find_edge_blanks
    ),
    _Oddity(
        "noun phrase has no last token; the token in which its words end is used",
        "noun phrases have no last token; the token in which their words end is used",
        _find_missing_last_tokens,
    ),
    _Oddity(
        "linked noun phrase is a time, date or measurement",
        "linked noun phrases are times, dates or measurements",
        _find_linked_times,
    ),
)


RULES = dict.fromkeys(("document", "annotation"), Rules(find_inconsistencies, find_oddities))
