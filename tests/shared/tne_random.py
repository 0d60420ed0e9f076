"""Small random documents of TNE, with links between them."""

from hypothesis import strategies as st

from closeread.tasks.tne.links import PREPOSITIONS

WORDS = [
    "roof",
    "house",
    "town",
    "of",
    "in",
    "near",
    "member(s)",
    "the",
    ".",
    "?",
    "\n",
    "\n\n",
    "\n\n",
]
LABELS = [PREPOSITIONS.index(name) for name in ("of", "in", "near", "member(s) of")]


@st.composite
def documents(draw, n_documents=3):
    """A list of documents; links are not closed over clusters, and may be given twice."""
    return [_document(draw, f"d{number}") for number in range(draw(st.integers(1, n_documents)))]


def _document(draw, name):
    tokens = ["House", *draw(st.lists(st.sampled_from(WORDS), max_size=25)), "town"]
    text, starts = "", []
    for before, token in zip([" ", *tokens], tokens, strict=False):
        text += "" if token.isspace() or before.isspace() else " "
        starts.append(len(text))
        text += token
    nps = []
    for number in draw(st.permutations(range(draw(st.integers(1, 8))))):
        first = draw(st.integers(0, len(tokens) - 1))
        last = draw(st.integers(first, min(first + 2, len(tokens) - 1)))
        begin, end = starts[first], starts[last] + len(tokens[last])
        spans = {"first_char": begin, "last_char": end, "first_token": first, "last_token": last}
        nps.append({"id": f"np{number}", "text": text[begin:end], **spans})
    return {"id": name, "text": text, "tokens": tokens, "nps": nps, **_structure(draw, len(nps))}


def _structure(draw, size):
    """Clusters, and links between noun phrases of different ones."""
    cluster = draw(st.lists(st.integers(0, 3), min_size=size, max_size=size))
    members = {c: [f"np{i}" for i in range(size) if cluster[i] == c] for c in cluster}
    apart = [(a, b) for a in range(size) for b in range(size) if cluster[a] != cluster[b]]
    chosen = (
        draw(st.lists(st.tuples(st.sampled_from(apart), st.sampled_from(LABELS)), max_size=20))
        if apart
        else []
    )
    return {
        "coref": [{"id": f"cc{c}", "members": of_cluster} for c, of_cluster in members.items()],
        "np_relations": [
            {
                "anchor": f"np{a}",
                "complement": f"np{b}",
                "preposition": PREPOSITIONS[label],
                "complement_coref_cluster_id": f"cc{cluster[b]}",
            }
            for (a, b), label in chosen
        ],
    }
