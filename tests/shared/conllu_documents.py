"""CoNLL-U documents with CorefUD's annotation, as text."""


def row(number, misc="_", form="w", dependencies="_"):
    return "\t".join([str(number), form, *"______", dependencies, misc])


def document(*rows, name="a", fields="eid-etype-head-other"):
    """A document of rows, given as lines or as the Entity of a word."""
    lines = [
        line if "\t" in line or not line else row(i, line) for i, line in enumerate(rows, start=1)
    ]
    return "\n".join([f"# newdoc id = {name}", f"# global.Entity = {fields}", *lines, "", ""])


def entities(documents):
    """(id, spans, head) of every mention, in order."""
    return [
        (entity.label, mention.spans, mention.head)
        for document in documents.documents
        for entity in document.entities
        for mention in entity.mentions
    ]
