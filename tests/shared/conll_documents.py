"""CoNLL documents as text and as random documents."""

import re
from dataclasses import replace
from itertools import permutations

from hypothesis import strategies as st
from shared.coreference_tables import make_document

from closeread.tasks.coref.documents import Documents, Words


def document(*rows, name="(a)", end="#end document\n"):
    return f"#begin document {name}\n" + "".join(f"{row}\n" for row in rows) + end


ONTONOTES = """#begin document (nw/invented/00/ferry_0001); part 000
nw/invented/00/ferry_0001   0   0     The   DT   (TOP(S(NP*   -      -   -   -   *   (ARG0*   (ARG0*   (12
nw/invented/00/ferry_0001   0   1   ferry   NN            *)  -      -   1   -   *        *)       *)   12)
nw/invented/00/ferry_0001   0   2    left  VBD      (VP(VP*)  leave  01  2   -   *       (V*)      *    -
nw/invented/00/ferry_0001   0   3     and   CC            *   -      -   -   -   *        *        *    -
nw/invented/00/ferry_0001   0   4    sank  VBD      (VP*))))  sink   01  1   -   *        *       (V*)  -

nw/invented/00/ferry_0001   0   0   Quiet   JJ   (TOP(NP*))   -      -   -   -   *   -

nw/invented/00/ferry_0001   0   0   It    PRP   (TOP(S(NP*)   -     -   -   -   *   (ARG1*)  (12)
nw/invented/00/ferry_0001   0   1   was   VBD       (VP*)))   be    01  1   -   *      (V*)  -

#end document
#begin document (nw/invented/00/ferry_0001); part 001
nw/invented/00/ferry_0001   1   0   She   PRP   (TOP(S(NP*)   -     -   -  Ada  *   (ARG0*)   (ARG0*)   (ARG0*)   (4|(3)
nw/invented/00/ferry_0001   1   1   saw   VBD       (VP*)))   see   01  1  Ada  *      (V*)      (V*)      (V*)   4)

#end document
"""
"""An invented file as in OntoNotes: a column for each predicate of the sentence, of which there are none to three."""

ONTONOTES_CLUSTERS = {
    "nw/invented/00/ferry_0001; part 000": [[[0, 1], [6, 6]]],
    "nw/invented/00/ferry_0001; part 001": [[[0, 1]], [[0, 0]]],
}


SENTENCE = 3  # tokens of a sentence in OntoNotes' form


def as_ontonotes(text):
    """The same documents as in OntoNotes: sentences of up to three tokens, which have two, one, no and three predicates."""
    lines, n_tokens = [], 0
    for line in text.split("\n"):
        cells = re.split(r"[ \t]+", line)
        if line.startswith(("#begin", "#end")):
            n_tokens = 0
        elif len(cells) > 1:
            sentence, number = divmod(n_tokens, SENTENCE)
            if number == 0 and n_tokens:
                lines.append("")
            word = cells[3] if len(cells) > 4 else cells[-2]
            predicates = ["(V*)"] * ((2 - sentence) % 4)
            tag = cells[4] if len(cells) > 5 else "NN"
            columns = ["nw/a", "0", str(number), word, tag, "*", "-", "-", "-", "-", "*"]
            line = "   ".join([*columns, *predicates, cells[-1]])
            n_tokens += 1
        lines.append(line)
    return "\n".join(lines)


def as_plain_values(documents):
    """Return everything in documents that can be compared, with the mentions of an entity in order of position."""
    return [
        (
            document.name,
            document.n_tokens,
            [sorted(mention.spans for mention in entity.mentions) for entity in document.entities],
            list(document.words.read()),
        )
        for document in documents.documents
    ]


NAME = st.text(
    st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8
) | st.sampled_from(
    ["a; part 000", "(a); part 1", "a); part b)", "#", "a;", ")", "; part 0", " a "]
)
WORD = st.text(st.sampled_from("a#_-()|é\x85\u2028😀\u3000\ufeff"), min_size=1, max_size=4)


@st.composite
def random_documents(draw, *, with_words=True, crossing=False):
    """Draw documents whose mentions a CoNLL file can express, unless mentions of an entity may be `crossing`."""
    documents = []
    for number, name in enumerate(draw(st.lists(NAME, min_size=1, max_size=3, unique=True))):
        n = draw(st.integers(1, 8))
        span = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).map(sorted)
        clusters = []
        for mentions in draw(st.lists(st.lists(span, min_size=1, max_size=5), max_size=4)):
            kept = []
            for start, end in sorted(mentions, key=lambda m: (m[0], -m[1])):
                if crossing or not any(s < start <= e < end for s, e in kept):
                    kept.append([start, end])
            clusters.append(kept)
        # In order of opening: by the first mention, longer ones first, single tokens last.
        clusters.sort(key=lambda c: (c[0][0], -c[0][1]))
        document = make_document(name, clusters, n_tokens=n)
        if with_words:
            words = draw(st.lists(WORD, min_size=n, max_size=n))
            document = replace(document, words=InventedWords(words, number))
        documents.append(document)
    return Documents(documents)


def has_crossing(documents):
    """Whether two mentions of an entity cross, or share the token on which one ends and the other begins."""
    return any(
        first.start < second.start <= first.end < second.end
        for document in documents.documents
        for entity in document.entities
        for first, second in permutations(entity.mentions, 2)
    )


class InventedWords(Words):
    """Words that are not in a file; the line of a token is 100 times the number of its document, plus the token."""

    def __init__(self, words, document=0):
        self.words = words
        self.document = document

    def read(self):
        return self.words

    def line_of(self, token):
        return 100 * (self.document + 1) + token
