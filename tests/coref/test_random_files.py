"""CoNLL and CoNLL-U files with random changes: read or refused, whatever the line ends and with a byte-order mark."""

from hypothesis import example, given
from hypothesis import strategies as st
from shared.conll_documents import ONTONOTES, as_ontonotes, document, random_documents
from shared.coref_readers import read_conll, read_conllu

from closeread.exceptions import FormatError
from closeread.tasks.coref.formats.conll import dump_conll
from closeread.tasks.coref.formats.conllu import dump_conllu

PIECES = [
    *(
        "(",
        ")",
        "-",
        "|",
        "_",
        "=",
        "\t",
        " ",
        "\n",
        "#",
        "0",
        "1",
        "é",
        "\x1c",
        "(0",
        "0)",
        "(0)",
        "Entity=(e1--1-",
    ),
    *(
        "e1)",
        "[1/2]",
        "Bridge=a<b|",
        "SplitAnte=a<b|",
        "1-2\t",
        "1.1\t",
        "#begin document (a)\n",
        "#end document\n",
    ),
    *("# newdoc\n", "# newdoc id = a\n", "# global.Entity = GRP\n"),
]


@st.composite
def changed_files(draw, dump):
    try:
        text = dump(draw(random_documents()).documents)
    except ValueError:
        text = ""
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(st.sampled_from(PIECES)) + text[at + draw(st.integers(0, 2)) :]
    return text


def describe(file, text, read):
    """Return what is read from a file as plain values, or its error message."""
    file.write_bytes(text.encode())
    try:
        documents = read(file)
    except FormatError as error:
        return str(error)
    values = [
        (
            document.name,
            document.is_named,
            document.n_tokens,
            list(document.entities),
            document.words.read(),
            document.words.digest,
        )
        for document in documents.documents
    ]
    return values, documents.notices


def dump_ontonotes(documents):
    return as_ontonotes(dump_conll(documents))


def check(file, text, read):
    found = describe(file, text, read)
    if text.strip("\n"):
        assert describe(file, "\ufeff" + text.replace("\n", "\r\n"), read) == found


@given(text=changed_files(dump_conll) | changed_files(dump_ontonotes))
@example(text=ONTONOTES)
@example(text=document("a (1(01(1", "b 1)01)", "c 1)"))
@example(text=document(f"a ({'a' * 129}|(1|({'a' * 129})|1)", f"b {'a' * 129})"))
def test_conll(file, text):
    check(file, text, read_conll)


@given(text=changed_files(dump_conllu))
@example(
    text="# newdoc\n# global.Entity = eid\n0.1"
    + "\t_" * 7
    + "\t2:x|0.2:y\t_\n1\tw"
    + "\t_" * 8
    + "\n"
)
def test_conllu(file, text):
    check(file, text, read_conllu)
