"""What no schema can say of TNE's documents: the rules that all released ones keep, and what is odd but no error.

Conventions: every problem names the document and the noun phrase, the cluster or the link; fields that a record lacks
are not judged.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from closeread.corpora.rules import Rules
from closeread.errors import pluralize, quote
from closeread.records import Record
from closeread.tasks.tne.columns import PREPOSITIONS, TITLE_END, Documents, Ints, documents_of, numbers
from closeread.tasks.tne.kernels.links import pairs, triplets

Problems = Iterator[tuple[int, str]]
TIME = "time/date/measurement"
SHOWN = 3
"""How many names a problem lists before it counts."""


def find_inconsistencies(records: Sequence[Record]) -> Problems:
    """The index of a document and what is wrong with it: every rule's violations, by document."""
    every = _Part(documents_of(records), range(len(records)))
    # A noun phrase that does not exist has no cluster: documents in which one is asked for are not asked any further.
    ids = every.problems(_ids)
    numbered = every.without({index for index, _ in ids})
    ends = numbered.problems(_partition, _endpoints)
    linked = numbered.without({*(index for index, _ in ends), *numbered.lacking("nps", "coref")})
    problems = [*ids, *numbered.problems(_spans, _tokens), *ends, *linked.problems(_links)]
    names = every.documents.column("id")
    for index, what in sorted(problems, key=lambda problem: problem[0]):
        yield index, f"id {quote(names[index])}: {what}"


class _Part(NamedTuple):
    """Some documents of a file.

    Attributes:
        documents: these.
        indices: where each stands among all.
    """

    documents: Documents
    indices: Sequence[int]

    def problems(self, *rules: Callable[[Documents], Problems]) -> list[tuple[int, str]]:
        """What some rules find, with the index among all documents."""
        return [(self.indices[number], what) for rule in rules for number, what in rule(self.documents)]

    def lacking(self, *names: str) -> list[int]:
        """The indices of the documents that lack one of some fields."""
        values = zip(*(self.documents.column(name) for name in names), strict=True)
        return [index for index, of_document in zip(self.indices, values, strict=True) if None in of_document]

    def without(self, indices: Collection[int]) -> _Part:
        """The part but for the documents at some indices."""
        if not indices:
            return self
        kept = [number for number, index in enumerate(self.indices) if index not in indices]
        return _Part(Documents([self.documents[n] for n in kept]), [self.indices[n] for n in kept])


def _ids(documents: Documents) -> Problems:
    """Ids of noun phrases are np0, np1 and so on, without gaps; those of clusters are unique."""
    sizes = documents.sizes
    number = numbers(list(chain.from_iterable(nps or () for nps in documents.column("nps"))), "id")
    document = np.repeat(np.arange(len(documents)), sizes)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    inside = (number >= 0) & (number < sizes[document])
    held = np.bincount((starts[document] + number)[inside], minlength=int(starts[-1]))
    for place in np.flatnonzero(held != 1).tolist():
        index = int(np.searchsorted(starts, place, side="right")) - 1
        found = f"given {_times(int(held[place]))}" if held[place] else "missing"
        needed = f"needed: {_known(int(sizes[index]))}, each once"
        yield index, f"nps: np{place - starts[index]} is {found}; {needed}"
    clusters = documents.clusters
    if len(set(zip(clusters.document.tolist(), clusters.ids, strict=True))) == len(clusters.ids):
        return
    seen: set[tuple[int, str]] = set()
    for index, name in zip(clusters.document.tolist(), clusters.ids, strict=True):
        if (index, name) in seen:
            yield index, f"coref: the cluster {quote(name)} is given twice; needed: unique ids"
        seen.add((index, name))


def _spans(documents: Documents) -> Problems:
    """A noun phrase's span of the text is its words."""
    phrases = documents.noun_phrases
    begins, ends, starts = phrases.first_char.tolist(), phrases.last_char.tolist(), phrases.starts.tolist()
    for index, (text, (start, end)) in enumerate(zip(documents.column("text"), pairwise(starts), strict=True)):
        for place in range(start, end) if text is not None else ():
            begin, stop, words = begins[place], ends[place], phrases.text[place]
            if text[begin:stop] != words or begin >= stop:
                span = f"characters {begin} to {stop} of the text are {quote(text[begin:stop])}"
                yield index, f"np{place - start}: {span}; needed: its text {quote(words)}"


def _tokens(documents: Documents) -> Problems:
    """A noun phrase's tokens are tokens of the document."""
    phrases = documents.noun_phrases
    tokens = documents.column("tokens")
    lengths = np.array([0 if of_document is None else len(of_document) for of_document in tokens], np.int64)
    judged = np.array([of_document is not None for of_document in tokens], np.bool_)
    document = phrases.document
    wrong = (phrases.first_token > phrases.last_token) | (phrases.last_token >= lengths[document])
    for place in np.flatnonzero(wrong & judged[document]).tolist():
        index = int(document[place])
        span = f"its tokens are {phrases.first_token[place]} to {phrases.last_token[place]}"
        needed = f"needed: a first and a last of the {pluralize(int(lengths[index]), 'token')}"
        yield index, f"np{place - phrases.starts[index]}: {span}; {needed}"


def _partition(documents: Documents) -> Problems:
    """Every noun phrase is a member of exactly one cluster."""
    clusters, starts = documents.clusters, documents.noun_phrases.starts
    sizes = documents.sizes
    document = clusters.document[clusters.member_of]
    known = clusters.member < sizes[document]
    given = np.array([nps is not None for nps in documents.column("nps")], np.bool_)
    for place in np.flatnonzero(~known & given[document]).tolist():
        index = int(document[place])
        name = clusters.ids[clusters.member_of[place]]
        yield index, f"coref: {name} has the member np{clusters.member[place]}; needed: {_known(int(sizes[index]))}"
    phrase, of_member = (starts[document] + clusters.member)[known], clusters.member_of[known]
    held = np.bincount(phrase, minlength=int(starts[-1]))
    judged = np.repeat(np.array([coref is not None for coref in documents.column("coref")], np.bool_), sizes)
    wrong = np.flatnonzero((held != 1) & judged)
    order = np.argsort(phrase, kind="stable")
    begins = np.searchsorted(phrase, wrong, sorter=order)
    for one, begin in zip(wrong.tolist(), begins.tolist(), strict=True):
        index = int(np.searchsorted(starts, one, side="right")) - 1
        of = of_member[order[begin : begin + held[one]]]
        yield index, f"coref: np{one - starts[index]} {_membership([clusters.ids[cluster] for cluster in of])}"


def _membership(names: Sequence[str]) -> str:
    """What is wrong with a noun phrase that has these clusters."""
    distinct = list(dict.fromkeys(names))
    if len(distinct) == 1:
        return f"is given {_times(len(names))} in {distinct[0]}; needed: once"
    return f"is a member of {_listed(distinct, len(distinct)) if distinct else 'no cluster'}; needed: of one"


def _endpoints(documents: Documents) -> Problems:
    """A link's anchor and complement are noun phrases of the document, and two of them."""
    links, sizes = documents.links, documents.sizes
    judged = np.array([nps is not None for nps in documents.column("nps")], np.bool_)[links.document]
    for name, phrase in (("anchor", links.anchor), ("complement", links.complement)):
        unknown = (phrase < 0) | (judged & (phrase >= sizes[links.document]))
        for place in np.flatnonzero(unknown).tolist():
            index = int(links.document[place])
            position = place - int(np.searchsorted(links.document, index))
            said = quote(documents.column("np_relations")[index][position][name])
            needed = _known(int(sizes[index])) if judged[place] else "np0, np1 or so on"
            yield index, f"np_relations[{position}]: {name} is {said}; needed: {needed}"
    for place in np.flatnonzero((links.anchor == links.complement) & (links.anchor >= 0)).tolist():
        found = "anchor and complement are the same"
        yield int(links.document[place]), f"{_link(documents, place)}: {found}; needed: two noun phrases"


def _links(documents: Documents) -> Problems:
    """Links leave a cluster, name the complement's, and reach all of its members by the same preposition."""
    if not len(documents.links):
        return
    links, clusters = documents.links, documents.clusters
    starts = documents.noun_phrases.starts[:-1][links.document]
    own, other = (documents.cluster_of[starts + phrase] for phrase in (links.anchor, links.complement))
    for place in np.flatnonzero(own == other).tolist():
        found = f"anchor and complement are both of {clusters.ids[own[place]]}"
        yield int(links.document[place]), f"{_link(documents, place)}: {found}; needed: noun phrases of two clusters"
    rows = chain.from_iterable(relations or () for relations in documents.column("np_relations"))
    given = [row.get("complement_coref_cluster_id") for row in rows]
    needed = [clusters.ids[cluster] for cluster in other.tolist()]
    if given != needed:
        for place, (said, right) in enumerate(zip(given, needed, strict=True)):
            if said is not None and said != right:
                found = f"complement_coref_cluster_id is {quote(said)}"
                yield int(links.document[place]), f"{_link(documents, place)}: {found}; needed: {quote(right)}"
    yield from _open_links(documents, starts + links.anchor, other)


def _open_links(documents: Documents, anchor: Ints, cluster: Ints) -> Problems:
    """Links to some members of another cluster and not to all.

    Args:
        documents: whose links they are.
        anchor: (n_links,) the place of every link's anchor among all noun phrases.
        cluster: (n_links,) the cluster of every link's complement.
    """
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
    for link, start, wanted, begin, end in spans.tolist():
        known = set(member[begin:end].tolist())
        # Of so many members some are missing, and more than are shown need not be looked at.
        some = clusters.member[start : start + min(wanted, len(known) + SHOWN)].tolist()
        absent = _listed([f"np{number}" for number in some if number not in known], wanted - len(known))
        found = f"{clusters.ids[cluster[link]]} is reached but for {absent}"
        needed = f"needed: links to all {wanted:,} members of the complement's cluster"
        yield int(links.document[link]), f"{_link(documents, link)}: {found}; {needed}"


def _link(documents: Documents, place: int) -> str:
    links = documents.links
    index = int(links.document[place])
    position = place - int(np.searchsorted(links.document, index))
    return f"np_relations[{position}] ({described(links.anchor[place], links.label[place], links.complement[place])})"


def described(anchor: int, label: int, complement: int) -> str:
    """A link in words.

    >>> described(3, 1, 7)
    'np3 of np7'
    """
    return f"np{anchor} {PREPOSITIONS[label]} np{complement}"


def _times(number: int) -> str:
    return "twice" if number == 2 else f"{number:,} times"


def _listed(names: Sequence[str], number: int) -> str:
    """The first few of some names, of which there are a number.

    >>> _listed(["np1"], 1), _listed(["np1", "np2"], 2), _listed(["np1", "np2", "np5"], 7)
    ('np1', 'np1 and np2', 'np1, np2, np5 and 4 more')
    """
    shown = list(names[:SHOWN])
    if number > SHOWN:
        return f"{', '.join(shown)} and {number - SHOWN:,} more"
    return " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))


def _known(size: int) -> str:
    if not size:
        return "none, since there are no noun phrases"
    return f"np0 to np{size - 1}" if size > 1 else "np0"


def find_oddities(records: Sequence[Record]) -> Iterator[str]:
    """What a user should know about valid documents, one sentence a kind, with the first place."""
    documents = documents_of(records)
    # An annotator's or a system's documents may lack what is looked at.
    if not len(documents) or any(None in documents.column(name) for name in ("text", "tokens", "nps", "coref")):
        return
    for what, find in ODDITIES.items():
        places = find(documents)
        if places:
            index, name = places[0]
            where = f"{quote(documents.column('id')[index])}{f', {name}' if name else ''}"
            number = f"{len(places):,} {what}" if len(places) > 1 else f"1 {what.replace('s: ', ': ', 1)}"
            yield f"{number} (the first: {where})."


Places = list[tuple[int, str]]


def _repeated_links(documents: Documents) -> Places:
    links = documents.links
    key = triplets(pairs(links.document, links.anchor, links.complement), links.label)
    order = np.argsort(key, kind="stable")
    again = np.sort(order[1:][key[order[1:]] == key[order[:-1]]])
    return [(int(links.document[i]), _link(documents, i)) for i in again.tolist()]


def _cut_tokens(documents: Documents) -> Places:
    phrases, tokens = documents.noun_phrases, documents.column("tokens")
    spans = zip(phrases.document.tolist(), phrases.first_token.tolist(), phrases.last_token.tolist(), strict=True)
    whole = ["".join(tokens[index][first : last + 1]).replace(" ", "") for index, first, last in spans]
    cut = [words.replace(" ", "") != text for words, text in zip(phrases.text, whole, strict=True)]
    return _phrases(documents, np.array(cut, np.bool_))


def _equal_spans(documents: Documents) -> Places:
    phrases = documents.noun_phrases
    columns = np.column_stack([phrases.document, phrases.first_char, phrases.last_char])
    _, first = np.unique(columns, axis=0, return_index=True)
    again = np.ones(len(columns), np.bool_)
    again[first] = False
    return _phrases(documents, again)


def _no_title(documents: Documents) -> Places:
    phrases = documents.noun_phrases
    titled = np.bincount(phrases.document[documents.in_title], minlength=len(documents))
    return [
        (index, "")
        for index, (text, n) in enumerate(zip(documents.column("text"), titled.tolist(), strict=True))
        if TITLE_END in text and not n
    ]


def _edge_blanks(documents: Documents) -> Places:
    padded = [text != text.strip() for text in documents.noun_phrases.text]
    return _phrases(documents, np.array(padded, np.bool_))


def _linked_times(documents: Documents) -> Places:
    links = documents.links
    starts = documents.noun_phrases.starts[:-1][links.document]
    is_time = np.array([kind == TIME for kind in documents.clusters.kind], np.bool_)[documents.cluster_of]
    linked = np.zeros(len(is_time), np.bool_)
    for phrase in (links.anchor, links.complement):
        linked[starts + phrase] = True
    return _phrases(documents, linked & is_time)


def _no_last_token(documents: Documents) -> Places:
    return [
        (index, phrase["id"])
        for index, nps in enumerate(documents.column("nps"))
        for phrase in nps
        if phrase["last_token"] is None
    ]


def _phrases(documents: Documents, chosen: NDArray[np.bool_]) -> Places:
    phrases = documents.noun_phrases
    places = np.flatnonzero(chosen)
    document = phrases.document[places]
    number = places - phrases.starts[document]
    return [(index, f"np{n}") for index, n in zip(document.tolist(), number.tolist(), strict=True)]


ODDITIES: dict[str, Callable[[Documents], Places]] = {
    "links: given again with the same preposition": _repeated_links,
    "noun phrases: with a part of a token": _cut_tokens,
    "noun phrases: with the span of another": _equal_spans,
    "documents: without a noun phrase in the title": _no_title,
    "noun phrases: with white space at an edge": _edge_blanks,
    "noun phrases: without a last token, for which the one that their words end in is taken": _no_last_token,
    "noun phrases: times, dates or measurements that are linked": _linked_times,
}


RULES = dict.fromkeys(("document", "annotation"), Rules(find_inconsistencies, find_oddities))
