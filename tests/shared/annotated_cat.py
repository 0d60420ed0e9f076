"""Documents in CAT: annotated ones, written as short as tests like them, and records as files."""

from xml.sax.saxutils import escape, quoteattr


def mark(name, m_id, *t_ids, **attributes):
    """A markable with these tokens."""
    given = "".join(f' {key}="{value}"' for key, value in attributes.items())
    anchors = "".join(f'<token_anchor t_id="{t_id}"/>' for t_id in t_ids)
    return f'<{name} m_id="{m_id}"{given}>{anchors}</{name}>'


def relate(name, source, target, **attributes):
    """A relation of two markables."""
    given = "".join(f' {key}="{value}"' for key, value in attributes.items())
    return f'<{name}{given}><source m_id="{source}"/><target m_id="{target}"/></{name}>'


def write_document(path, text, markables=(), relations=()):
    """Write a document of one sentence; line 1 is the head, then a line for each token, markable and relation."""
    words = text.split()
    lines = [f'<Document doc_id="{path.stem}">']
    lines += [
        f'<token number="{i}" sentence="0" t_id="{i + 1}">{word}</token>'
        for i, word in enumerate(words)
    ]
    lines += [
        "<Markables>",
        *markables,
        "</Markables>",
        "<Relations>",
        *relations,
        "</Relations>",
        "</Document>",
    ]
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def write_voyage(folder):
    """Write two documents about Bo, who sailed, and Ann Lee, whom he met; return the folder.

    Bo (1) sailed (2) and met (3) Ann Lee (4) [document 7]; the trip (1) pleased (2) Bo (3), who may return (4)
    [document 8].
    """
    write_document(
        folder / "7.xml",
        "Bo sailed in May and met Ann Lee",
        [
            mark("ENTITY_MENTION", 1, 1),
            mark("EVENT_MENTION", 2, 2),
            mark("EVENT_MENTION", 3, 6),
            mark("ENTITY_MENTION", 4, 7, 8),
            mark("ENTITY", 20, TAG_DESCRIPTOR="Bo"),
            mark("ENTITY", 21, TAG_DESCRIPTOR="Ann Lee"),
            mark("EVENT", 30, TAG_DESCRIPTOR="trip", instance_id="E1"),
            mark("EVENT", 31, TAG_DESCRIPTOR="meeting"),
        ],
        [
            relate("REFERS_TO", 1, 20),
            relate("REFERS_TO", 4, 21),
            relate("REFERS_TO", 2, 30),
            relate("REFERS_TO", 3, 31),
        ],
    )
    write_document(
        folder / "8.xml",
        "the trip pleased Bo , who may return",
        [
            mark("EVENT_MENTION", 2, 3, **{"class": "COGNITIVE"}),
            mark("EVENT_MENTION", 1, 2),
            mark("ENTITY_MENTION", 3, 4),
            mark("EVENT_MENTION", 4, 8, certainty="POSSIBLE"),
            mark("ENTITY", 20, TAG_DESCRIPTOR="Bo"),
            mark("EVENT", 30, TAG_DESCRIPTOR="the trip", instance_id="E1"),
        ],
        [
            relate("REFERS_TO", 3, 20),
            relate("REFERS_TO", 1, 30),
        ],
    )
    return folder


def dump_document(document):
    """The record of a document as the text of a file, without its title."""
    names = {"doc_id": "id", "doc_name": "name", "src_url": "url"}
    given = {attribute: document[name] for attribute, name in names.items()}
    attributes = [
        f" {name}={quoteattr(value)}" for name, value in given.items() if value is not None
    ]
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<Document{''.join(attributes)}>"]
    for number, (token, sentence) in enumerate(
        zip(document["tokens"], document["sentences"], strict=True)
    ):
        text = escape(token, {"\r": "&#13;"})
        lines.append(
            f'<token number="{number}" sentence="{sentence}" t_id="{number + 1}">{text}</token>'
        )
    mentions = [("EVENT_MENTION", one["id"], "", one["tokens"]) for one in document["events"]]
    if document["creation_time"] is not None:
        about = f' functionInDocument="CREATION_TIME" type="DATE" value={quoteattr(document["creation_time"])}'
        places = document["creation_time_tokens"]
        mentions.insert(0, ("TIMEX3", document["creation_time_id"], about, places))
    lines.append("<Markables>")
    for name, m_id, about, tokens in mentions:
        anchors = [f'  <token_anchor t_id="{number + 1}"/>' for number in tokens]
        lines += [f"<{name} m_id={quoteattr(m_id)}{about}>", *anchors, f"</{name}>"]
    return "\n".join([*lines, "</Markables>", "</Document>", ""])
