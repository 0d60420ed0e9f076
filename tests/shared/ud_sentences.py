"""Invented Turkish sentences as CoNLL-U."""


def row(text):
    """Write a row given as `ID FORM LEMMA UPOS HEAD DEPREL [FEATS]`; blanks in a form as `~`."""
    number, form, lemma, tag, head, relation, *features = text.split()
    form = form.replace("~", " ")
    return "\t".join(
        [number, form, lemma, tag, "_", features[0] if features else "_", head, relation, "_", "_"]
    )


def multiword(numbers, form):
    """Write the row of a multiword token."""
    return "\t".join([numbers, form, *"________"])


def sentence(name, *rows):
    """Write a sentence of rows, as lines or as `row` takes them."""
    return "\n".join(
        [f"# sent_id = {name}", *(one if "\t" in one else row(one) for one in rows), "", ""]
    )


def plain(name, text):
    """Write a sentence of nouns that all depend on the last."""
    words = text.split()
    n = len(words)
    return sentence(
        name,
        *(
            f"{i} {word} {word} NOUN {n if i < n else 0} {'nmod' if i < n else 'root'}"
            for i, word in enumerate(words, 1)
        ),
    )


def document(name, *sentences):
    """Write a document; sentences of blanks and words only are named by their number in it."""
    written = [
        one if "\t" in one else plain(f"{name}_{i}", one) for i, one in enumerate(sentences, 1)
    ]
    return "".join([f"# newdoc id = {name}\n", *written])
