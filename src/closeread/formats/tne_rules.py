"""What no schema can say of TNE's documents: the rules that all released ones keep, and what is odd but no error.

Conventions: every problem names the noun phrase, the cluster or the link; fields that a record lacks are not judged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from closeread.errors import quoted
from closeread.kernels.links import pairs, triplets
from closeread.links import PREPOSITIONS, TITLE_END, Documents, Ints, documents_of, numbers
from closeread.records import Record

Problems = Iterator[tuple[int, str]]
TIME = "time/date/measurement"


def inconsistencies(records: Sequence[Record]) -> Problems:
    """The index of a document and what is wrong with it: every rule's violations, by document."""
    documents = documents_of(records)
    # What follows is only asked where what came before is sound: a noun phrase that does not exist has no cluster.
    for rules in ((_ids,), (_spans, _tokens, _partition, _endpoints), (_links,)):
        found = [problem for rule in rules for problem in rule(documents)]
        if found:
            yield from sorted(found, key=lambda problem: problem[0])
            return


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
        found = "given twice" if held[place] else "missing"
        needed = f"needed: np0 to np{sizes[index] - 1}, each once"
        yield index, f"nps: np{place - starts[index]} is {found}; {needed}"
    clusters = documents.clusters
    if len(set(zip(clusters.document.tolist(), clusters.ids, strict=True))) == len(clusters.ids):
        return
    seen: set[tuple[int, str]] = set()
    for index, name in zip(clusters.document.tolist(), clusters.ids, strict=True):
        if (index, name) in seen:
            yield index, f"coref: the cluster {quoted(name)} is given twice; needed: unique ids"
        seen.add((index, name))


def _spans(documents: Documents) -> Problems:
    """A noun phrase's span of the text is its words."""
    phrases = documents.noun_phrases
    begins, ends, starts = phrases.first_char.tolist(), phrases.last_char.tolist(), phrases.starts.tolist()
    for index, (text, (start, end)) in enumerate(zip(documents.column("text"), pairwise(starts), strict=True)):
        for place in range(start, end) if text is not None else ():
            begin, stop, words = begins[place], ends[place], phrases.text[place]
            if text[begin:stop] != words or begin >= stop:
                span = f"characters {begin} to {stop} of the text are {quoted(text[begin:stop])}"
                yield index, f"np{place - start}: {span}; needed: its text {quoted(words)}"


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
        needed = f"needed: a first and a last of the {lengths[index]:,} tokens"
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
    held = np.bincount((starts[document] + clusters.member)[known], minlength=int(starts[-1]))
    judged = np.repeat(np.array([coref is not None for coref in documents.column("coref")], np.bool_), sizes)
    for place in np.flatnonzero((held != 1) & judged).tolist():
        index = int(np.searchsorted(starts, place, side="right")) - 1
        found = f"is a member of {held[place]} clusters" if held[place] else "is a member of no cluster"
        yield index, f"coref: np{place - starts[index]} {found}; needed: of one"


def _endpoints(documents: Documents) -> Problems:
    """A link's anchor and complement are noun phrases of the document, and two of them."""
    links, sizes = documents.links, documents.sizes
    judged = np.array([nps is not None for nps in documents.column("nps")], np.bool_)[links.document]
    for name, phrase in (("anchor", links.anchor), ("complement", links.complement)):
        unknown = (phrase < 0) | (judged & (phrase >= sizes[links.document]))
        for place in np.flatnonzero(unknown).tolist():
            index = int(links.document[place])
            position = place - int(np.searchsorted(links.document, index))
            said = quoted(documents.column("np_relations")[index][position][name])
            needed = _known(int(sizes[index])) if judged[place] else "np0, np1 or so on"
            yield index, f"np_relations[{position}]: {name} is {said}; needed: {needed}"
    for place in np.flatnonzero((links.anchor == links.complement) & (links.anchor >= 0)).tolist():
        found = "anchor and complement are the same"
        yield int(links.document[place]), f"{_link(documents, place)}: {found}; needed: two noun phrases"


def _links(documents: Documents) -> Problems:
    """Links leave a cluster, name the complement's, and reach all of its members by the same preposition."""
    if not len(documents.links) or None in documents.column("coref") or None in documents.column("nps"):
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
                found = f"complement_coref_cluster_id is {quoted(said)}"
                yield int(links.document[place]), f"{_link(documents, place)}: {found}; needed: {quoted(right)}"
    yield from _open_links(documents, starts + links.anchor, other)


def _open_links(documents: Documents, anchor: Ints, cluster: Ints) -> Problems:
    """Links to some members of a cluster and not to all.

    Args:
        documents: whose links they are.
        anchor: (n_links,) the place of every link's anchor among all noun phrases.
        cluster: (n_links,) the cluster of every link's complement.
    """
    links, clusters = documents.links, documents.clusters
    fan = (anchor * len(clusters.ids) + cluster) * len(PREPOSITIONS) + links.label
    member = documents.noun_phrases.starts[:-1][links.document] + links.complement
    order = np.lexsort((member, fan))
    fan, member = fan[order], member[order]
    again = (fan[1:] == fan[:-1]) & (member[1:] == member[:-1])
    distinct = np.concatenate([[True], ~again])
    begins = np.concatenate([[True], fan[1:] != fan[:-1]])
    reached = np.add.reduceat(distinct.astype(np.int64), np.flatnonzero(begins))
    first = order[begins]
    size = np.bincount(clusters.member_of, minlength=len(clusters.ids))[cluster[first]]
    for place, n, wanted in np.column_stack([first, reached, size])[reached != size].tolist():
        name = clusters.ids[cluster[place]]
        needed = f"needed: links to all {wanted} members of the complement's cluster"
        yield int(links.document[place]), f"{_link(documents, place)}: {name} is reached {n} times; {needed}"


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


def _known(size: int) -> str:
    return f"np0 to np{size - 1}" if size else "none, since there are no noun phrases"


def notices(records: Sequence[Record]) -> Iterator[str]:
    """What a user should know about valid documents, one sentence a kind, with the first place."""
    documents = documents_of(records)
    # An annotator's or a system's documents may lack what is looked at.
    if not len(documents) or any(None in documents.column(name) for name in ("text", "tokens", "nps", "coref")):
        return
    for what, find in ODDITIES.items():
        places = find(documents)
        if places:
            index, name = places[0]
            where = f"{quoted(documents.column('id')[index])}{f', {name}' if name else ''}"
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
