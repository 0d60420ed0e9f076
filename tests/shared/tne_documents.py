"""Documents of TNE and submissions for them, given as lists of links."""

from hypothesis import strategies as st
from shared.tne_links import link

FEW = ("of", "in", "member(s) of")
PHRASE = st.integers(0, 3)
LINK = st.tuples(PHRASE, st.sampled_from(FEW), PHRASE).filter(lambda link: link[0] != link[2])
SIDE = st.lists(LINK, max_size=8)
DOCUMENT = st.tuples(SIDE, SIDE, st.none() | SIDE)
DOCUMENTS = st.lists(DOCUMENT, max_size=4)
UPREP = st.sampled_from(["any", "last"])
DOMAINS = ("news", "books", None)


def relations(links):
    """Links given as [anchor's number, preposition, complement's number]; None for none."""
    return None if links is None else [link(*one) for one in links]


def references(documents, texts=(), phrases=()):
    """Gold records; with texts and the noun phrases in them, of which each stands at its first place."""
    records = [
        {"id": f"d{i}", "np_relations": relations(links)} for i, links in enumerate(documents)
    ]
    for record, text, of_document in zip(records, texts, phrases, strict=False):
        record["text"] = text
        record["nps"] = [phrase(i, words, text.index(words)) for i, words in enumerate(of_document)]
    return records


def phrase(number, words, start):
    """A noun phrase with these words at a place of the text; its tokens are of no account."""
    place = {
        "first_char": start,
        "last_char": start + len(words),
        "first_token": 0,
        "last_token": 0,
    }
    return {"id": f"np{number}", "text": words, **place}


def rows(documents, fallbacks=None):
    """What a system sends; None for a document is no row."""
    fallbacks = fallbacks or [None] * len(documents)
    return [
        links
        if links is None
        else {"id": f"d{i}", "relations": relations(links)}
        | ({} if back is None else {"fallback": relations(back)})
        for i, (links, back) in enumerate(zip(documents, fallbacks, strict=True))
    ]


def inputs(documents):
    """Gold and system of documents, each a gold side, a system side and a fallback."""
    gold = references([document[0] for document in documents])
    for i, record in enumerate(gold):
        record["domain"] = DOMAINS[i % 3]
    return {
        "gold": gold,
        "system": rows(*([document[side] for document in documents] for side in (1, 2))),
    }
