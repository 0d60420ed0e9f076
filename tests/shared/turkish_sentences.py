"""Invented Turkish sentences, written as tables, and documents made of them."""


def sentence(text, number="77000999001.1"):
    """A sentence from lines of FORM LEMMA GROUPS [HEAD RELATION].

    Groups are separated by `|`, and their tags by `+`; a token without head and relation has none.
    """
    tokens = []
    for line in text.strip().splitlines():
        form, lemma, groups, *link = line.split()
        tokens.append(
            {
                "form": form,
                "lemma": lemma,
                "groups": [group.split("+") for group in groups.split("|")],
                "head": int(link[0]) if link else None,
                "head_group": 1 if link else None,
                "relation": link[1] if link else None,
            }
        )
    return {"number": number, "tokens": tokens}


def document(*texts, clusters=(), name="77000999"):
    """A record of the corpus from the texts of its sentences, with these chains of spans."""
    sentences = [
        sentence(text, f"{name}001.{number}") for number, text in enumerate(texts, start=1)
    ]
    places = [
        (one["number"], word) for one in sentences for word in range(1, len(one["tokens"]) + 1)
    ]
    spans = sorted(
        (span for chain in clusters for span in chain), key=lambda span: (span[0], -span[1])
    )
    mentions = [
        {
            "id": str(i),
            "sentence": places[start][0],
            "from": places[start][1],
            "to": places[end][1],
            "start": start,
            "end": end,
        }
        for i, (start, end) in enumerate(spans)
    ]
    return {
        "document": name,
        "genre": None,
        "sentences": sentences,
        "mentions": mentions,
        "clusters": [[list(span) for span in chain] for chain in clusters],
        "n_tokens": len(places),
    }


def texts_of(record, spans):
    """The words of spans."""
    forms = [token["form"] for one in record["sentences"] for token in one["tokens"]]
    return [" ".join(forms[start : end + 1]) for start, end in spans]
