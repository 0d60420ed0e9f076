"""Annotated documents in CAT, written as short as tests like them."""


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

    Bo (1) sailed (2) on 3 May 2010 and met (3) Ann Lee (4) [document 7]; the trip (1) in 2010 pleased (2) Bo (3), who
    may return (4) [document 8].  The trip is what Bo sailed.
    """
    write_document(
        folder / "7.xml",
        "Bo sailed in May and met Ann Lee",
        [
            mark("ENTITY_MENTION", 1, 1),
            mark("EVENT_MENTION", 2, 2),
            mark("EVENT_MENTION", 3, 6),
            mark("ENTITY_MENTION", 4, 7, 8),
            mark("TIMEX3", 5, 4, type="DATE", value="2010-05"),
            mark("TIMEX3", 6, type="TIME", value="2010-05-03T10:00"),
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
            relate("HAS_PARTICIPANT", 2, 1, sem_role="Arg0"),
            relate("HAS_PARTICIPANT", 3, 1, sem_role="Arg0"),
            relate("HAS_PARTICIPANT", 3, 4, sem_role="Arg1"),
            relate("HAS_PARTICIPANT", 2, 4, sem_role="Argm-COM"),
            relate("TLINK", 2, 6, relType="BEGUN_BY"),
            relate("TLINK", 2, 5, relType="IS_INCLUDED"),
            relate("TLINK", 5, 31, reltype="includes"),
            relate("TLINK", 2, 3, relType="BEFORE"),
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
            mark("TIMEX3", 9, type="DATE", value="2010"),
        ],
        [
            relate("REFERS_TO", 3, 20),
            relate("REFERS_TO", 1, 30),
            relate("HAS_PARTICIPANT", 2, 20, sem_role="ARG1"),
            relate("HAS_PARTICIPANT", 4, 3, sem_role="ARG0"),
            relate("TLINK", 30, 9, relType="IS_INCLUDED"),
        ],
    )
    return folder
