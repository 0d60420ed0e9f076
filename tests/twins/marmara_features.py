"""Features of pairs of mentions, examples and chains, slowly: one pair at a time, from the words, as the spec says."""

import itertools

APOSTROPHES = "'’‘`´"
PRONOUNS = [
    "ben",
    "sen",
    "o",
    "biz",
    "siz",
    "onlar",
    "kendi",
    "kendisi",
    "bu",
    "şu",
    "bunlar",
    "şunlar",
    "birbiri",
]


def small(text):
    return text.replace("I", "ı").replace("İ", "i").lower()


def stripped(form):
    for i in range(1, len(form)):
        if form[i] in APOSTROPHES:
            return form[:i]
    return form


def is_capital(letter):
    return letter.isalpha() and small(letter) != letter


class Mention:
    """A mention with what its features are made of."""

    def __init__(self, record, span):
        tokens, stems, offset = [], set(), 0
        for sentence in record["sentences"]:
            for i, token in enumerate(sentence["tokens"]):
                head = None if token["head"] is None else offset + token["head"] - 1
                tokens.append((token, head))
                if i > 0 and is_capital(token["form"][0]):
                    stems.add(small(stripped(token["form"])))
            offset += len(sentence["tokens"])
        start, end = span
        tops = [
            i
            for i in range(start, end + 1)
            if tokens[i][1] is None or not start <= tokens[i][1] <= end
        ]
        words = [i for i in tops if tokens[i][0]["groups"][0][0] != "Punc"]
        head = tokens[(words or tops)[-1]][0]
        self.forms = [token["form"] for token, _ in tokens[start : end + 1]]
        self.head, self.lemma = small(head["form"]), small(stripped(head["lemma"]))
        self.last_part = small(stripped(head["form"])).split("_")[-1]
        if small(head["lemma"]) in PRONOUNS:
            self.type = "pronoun"
        elif is_capital(head["form"][0]) and small(stripped(head["form"])) in stems:
            self.type = "proper"
        else:
            self.type = "noun"

    def is_acronym_of(self, other):
        letters = stripped(self.forms[0]).replace(".", "")
        parts = [part for form in other.forms for part in stripped(form).split("_")]
        initials = [part[0] for part in parts if part and is_capital(part[0])]
        is_single = (
            len(self.forms) == 1
            and len(letters) >= 2
            and all(is_capital(letter) for letter in letters)
        )
        return is_single and len(initials) >= 2 and list(letters) == initials


def features(m1, m2):
    """The names of the features that are 1, of A, B and A*B."""
    a = {f"m1:{m1.type}", f"m2:{m2.type}"}
    if m1.type == m2.type:
        a.add(f"both:{m1.type}")
    b = set()
    if m1.head == m2.head:
        b.add("head")
    if m1.lemma == m2.lemma:
        b.add("lemma")
    if m1.type == m2.type == "proper" and m1.last_part == m2.last_part:
        b.add("last_part")
    directed = {
        "acronym": (m1.is_acronym_of(m2), m2.is_acronym_of(m1)),
        "head_in": (m1.head in m2.head, m2.head in m1.head),
        "lemma_in": (m1.lemma in m2.lemma, m2.lemma in m1.lemma),
    }
    for name, (forward, backward) in directed.items():
        if forward:
            b.add(name)
        if backward:
            b.add(f"{name}_reverse")
        if forward or backward:
            b.add(f"{name}_any")
    return a | b | {f"{one}*{other}" for one in a for other in b}


def examples(spans, chains):
    """The positive and the negative pairs of mentions of a document."""
    chain_of = {span: i for i, chain in enumerate(chains) for span in chain}
    positive, negative = set(), set()
    for j, second in enumerate(spans):
        for i in range(j - 1, -1, -1):
            if second in chain_of and chain_of.get(spans[i]) == chain_of[second]:
                positive.add((i, j))
                break
    for i, j in itertools.combinations(range(len(spans)), 2):
        is_linked = spans[i] in chain_of and chain_of[spans[i]] == chain_of.get(spans[j])
        if j - i < 100 and not is_linked:
            negative.add((i, j))
    return positive, negative


def overlap(one, other):
    return any(a[0] <= b[1] and b[0] <= a[1] for a in one for b in other)


def link(learner, spans, types, scores):
    """Chains of two or more mentions, from the scores of pairs (i, j), i < j."""
    chains = [[span] for span in spans]

    def join(i, j):
        first, second = (next(chain for chain in chains if spans[k] in chain) for k in (i, j))
        if first is not second and not overlap(first, second):
            first += second
            chains.remove(second)

    for j in range(len(spans)):
        candidates = [
            i for i in range(j - 1, -1, -1) if types[i] != "pronoun" or types[j] == "pronoun"
        ]
        if learner == "svc":
            for i in candidates:
                if scores[i, j] > 0:
                    join(i, j)
        elif candidates:
            # the first of equals, which is the nearest
            best = max(candidates, key=lambda i: scores[i, j])
            if scores[best, j] > 0.1:
                join(best, j)
    found = [
        sorted(chain, key=lambda span: (span[0], -span[1])) for chain in chains if len(chain) > 1
    ]
    return sorted(found, key=lambda chain: (chain[0][0], -chain[0][1]))
