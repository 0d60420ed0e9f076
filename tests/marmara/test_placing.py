"""Mentions are put in place in Universal Dependencies by their text: invented documents, each rule apart."""

import pytest

from closeread.tasks.marmara.documents import Annotation, Mention
from closeread.tasks.marmara.placing import place_annotations

A, B = "77000112", "77000113"


def ud(**documents):
    """Documents of UD (`A=` and `B=`, or any name), each a list of sentences of words and blanks."""
    ids = {"A": A, "B": B}
    return {
        ids.get(name, name): [
            {"number": f"{name}{i}", "tokens": [{"form": form} for form in text.split()]}
            for i, text in enumerate(sentences, 1)
        ]
        for name, sentences in documents.items()
    }


def annotate(*mentions, chains=(), file="a.xml", document=A):
    """A coreference file; a mention is (sentence, first word, text), its id is its number, its line 10 more."""
    made = []
    for number, (sentence, first, text) in enumerate(mentions, 1):
        last = first + len(text.split()) - 1
        made.append(Mention(str(number), f"{document}{sentence}", first, last, text, number + 10))
    return Annotation(file, made, chains)


def shown(problems):
    return [problem.at("coreference") for problem in problems]


def places(placed):
    """The sentence and the words of every mention, by id, of the only document."""
    (document,) = placed.documents
    return {one["id"]: (one["sentence"], one["from"], one["to"]) for one in document["mentions"]}


def lost(placed):
    """The file and the id of every mention that was dropped."""
    return [
        (one.file, one.message.split("'")[1])
        for one in placed.notices
        if one.message.startswith("mention ")
    ]


def numbers(placed):
    return {
        one["document"]: [sentence["number"] for sentence in one["sentences"]]
        for one in placed.documents
    }


def test_a_document():
    """The second sentence has a word more in UD, and the documents' offsets go on."""
    treebank = ud(A=["Ali geldi .", "Sonra Veli de kabul etti .", "O gitti ."])
    annotation = annotate(
        ("003.1", 1, "Ali"),
        ("003.2", 4, "kabul_etti"),
        ("004.1", 1, "O"),
        ("003.2", 2, "Veli"),
        chains=[["3", "1"]],
    )
    placed = place_annotations(treebank, [annotation])
    (document,) = placed.documents
    assert document == {
        "document": A,
        "genre": None,
        "sentences": treebank[A],
        "mentions": [
            {"id": "1", "sentence": "A1", "from": 1, "to": 1, "start": 0, "end": 0},
            {"id": "4", "sentence": "A2", "from": 2, "to": 2, "start": 4, "end": 4},
            {"id": "2", "sentence": "A2", "from": 4, "to": 5, "start": 6, "end": 7},
            {"id": "3", "sentence": "A3", "from": 1, "to": 1, "start": 9, "end": 9},
        ],
        "clusters": [[[0, 0], [9, 9]]],
        "n_tokens": 12,
    }
    assert placed[1:] == (["a.xml"], [], [], [], [])


def test_document_order():
    """Of two mentions that begin together the longer is first; chains are in the order of their first mentions."""
    annotation = annotate(
        *[
            ("003.1", n, text)
            for n, text in ((1, "Ali'nin"), (1, "Ali'nin evi"), (3, "bu"), (4, "o"))
        ],
        chains=[["4", "1"], ["3", "2"]],
    )
    (document,) = place_annotations(ud(A=["Ali'nin evi bu o"]), [annotation]).documents
    assert [one["id"] for one in document["mentions"]] == ["2", "1", "3", "4"]
    assert document["clusters"] == [[[0, 1], [2, 2]], [[0, 0], [3, 3]]]


def test_order_decides_between_equal_sentences():
    """`O geldi` stands twice; after `Ali` and before `Veli` it can be the second only."""
    treebank = ud(A=["O geldi", "Ali gitti", "O geldi", "Veli uyudu"])
    annotation = annotate(("003.1", 1, "Ali"), ("003.2", 1, "O"), ("003.10", 1, "Veli"))
    assert places(place_annotations(treebank, [annotation])) == {
        "1": ("A2", 1, 1),
        "2": ("A3", 1, 1),
        "3": ("A4", 1, 1),
    }


def test_left_over_in_its_own_document():
    """`Kedi` comes after `Köpek` in the coreference file and before it in UD: the only sentence with a cat."""
    treebank = ud(A=["Kedi uyudu", "Köpekler havladı"])
    placed = place_annotations(treebank, [annotate(("003.1", 1, "Köpekler"), ("003.2", 1, "Kedi"))])
    assert places(placed) == {"1": ("A2", 1, 1), "2": ("A1", 1, 1)}
    assert numbers(placed) == {A: ["A1", "A2"]}


def test_left_over_in_another_document():
    """A sentence under another id follows the sentence before it, is no longer there, and needs no neighbour."""
    treebank = ud(A=["Ali geldi", "Veli gitti"], B=["Can uyudu", "Kedi uyudu", "Köpek de"])
    first = annotate(("003.1", 1, "Ali"), ("003.2", 1, "Kedi"), ("003.3", 1, "Köpek"))
    second = annotate(("003.1", 1, "Can"), file="b.xml", document=B)
    placed = place_annotations(treebank, [second, first])
    assert numbers(placed) == {A: ["A1", "B2", "B3", "A2"], B: ["B1"]}
    assert placed.files == ["a.xml", "b.xml"]
    assert [one["start"] for one in placed.documents[0]["mentions"]] == [0, 2, 4]
    assert placed.notices == []


def test_inserted_before_all_others():
    treebank = ud(A=["Ali geldi"], B=["Kedi uyudu"])
    placed = place_annotations(treebank, [annotate(("003.1", 1, "Kedi"), ("003.2", 1, "Ali"))])
    assert numbers(placed) == {A: ["B1", "A1"]}


def test_a_sentence_in_use_is_not_used_again():
    """Both files name a cat; the sentence of the first one's own document is its own."""
    treebank = ud(A=["Kedi uyudu"], B=["Can geldi"])
    second = annotate(("003.1", 1, "Kedi"), ("003.2", 1, "Can"), file="b.xml", document=B)
    placed = place_annotations(treebank, [annotate(("003.1", 1, "Kedi")), second])
    assert lost(placed) == [("b.xml", "1")]


@pytest.mark.parametrize(
    ("other", "n_lost"),
    [
        ("bir Kedi uyudu", 0),  # 2 and 2 / 1.3: 1.3 times
        ("Kedi uyudu", 1),
    ],
)
def test_left_over_needs_a_clear_advantage(other, n_lost):
    """Both sentences fit; with the order against them, one must be 1.2 times better."""
    treebank = ud(A=["Kedi uyudu", other, "Köpekler havladı"])
    placed = place_annotations(treebank, [annotate(("003.1", 1, "Köpekler"), ("003.2", 1, "Kedi"))])
    assert len(lost(placed)) == n_lost


def test_lost_mentions_are_told():
    """Chain 1-2 is left with one mention, chain 3-4-8 with two, chain 6-5 with none."""
    treebank = ud(A=["Ali geldi", "Veli gitti", "O uyudu", "bu"])
    texts = ["Ali", "yok", "Veli", "O", "hiç", "’", "bu", "yine"]
    mentions = [(f"003.{i}", 1, text) for i, text in enumerate(texts, 1)]
    placed = place_annotations(
        treebank, [annotate(*mentions, chains=[["1", "2"], ["3", "4", "8"], ["6", "5"]])]
    )
    dropped = "dropped, since its place in the treebank was not found"
    assert shown(placed.notices) == [
        "coreference: 4 of 8 mentions (50.0%) and 2 of 3 chains dropped, since they were not found in the treebank by "
        "their text",
        f"coreference/a.xml:12: mention '2', sentence '{A}003.2', 'yok': {dropped}",
        f"coreference/a.xml:15: mention '5', sentence '{A}003.5', 'hiç': {dropped}",
        f"coreference/a.xml:16: mention '6', sentence '{A}003.6', '’': dropped, since it has no text to look for",
        f"coreference/a.xml:18: mention '8', sentence '{A}003.8', 'yine': {dropped}",
        "coreference/a.xml: the chain of mentions '1', '2' is left with 1 mention; dropped",
        "coreference/a.xml: the chain of mentions '6', '5' is left with 0 mentions; dropped",
    ]
    (document,) = placed.documents
    assert document["clusters"] == [[[2, 2], [4, 4]]]
    assert [one["id"] for one in document["mentions"]] == ["1", "3", "4", "7"]


def test_lost_mentions_as_errors():
    annotation = annotate(("003.1", 1, "Ali"), ("003.2", 1, "yok"), chains=[["1", "2"]])
    placed = place_annotations(ud(A=["Ali geldi"]), [annotation], unaligned="error")
    assert shown(placed.problems) == [
        f"coreference/a.xml:12: mention '2', sentence '{A}003.2', 'yok': its place in the treebank was not found "
        "(use unaligned='drop' to drop such mentions)"
    ]
    assert placed.notices == []


def test_all_mentions_of_a_sentence_must_fit():
    """One wrong mention makes its sentence unknown: its others are lost, too."""
    placed = place_annotations(
        ud(A=["Ali geldi"]), [annotate(("003.1", 1, "Ali"), ("003.1", 2, "gitti"))]
    )
    assert [m_id for _, m_id in lost(placed)] == ["1", "2"]


def test_a_document_of_two_files():
    """UD's document is divided before the first sentence that was found for the second file, in order."""
    treebank = ud(A=["Ali geldi", "bir", "Veli gitti", "iki", "Kedi uyudu", "Son"])
    first = annotate(("003.1", 1, "Ali"), ("003.9", 1, "Son"), file="z.xml")
    second = annotate(("003.10", 1, "Veli"), ("004.1", 1, "Kedi"), file="a.xml")
    placed = place_annotations(treebank, [second, first])
    # `Son` is in the first file's text, though UD has it at the end.
    assert numbers(placed) == {A: ["A1", "A6", "A2"], f"{A}_2": ["A3", "A4", "A5"]}
    assert placed.files == ["z.xml", "a.xml"]
    assert shown(placed.notices) == [
        f"coreference/a.xml: document '{A}' is cut before sentence 'A3', where this file begins"
    ]


def test_a_second_file_that_is_not_found():
    """A document without sentences is left out."""
    second = annotate(("004.1", 1, "yok"), file="b.xml")
    placed = place_annotations(ud(A=["Ali"]), [annotate(("003.1", 1, "Ali")), second])
    assert (numbers(placed), placed.files) == ({A: ["A1"]}, ["a.xml"])
    assert [m_id for _, m_id in lost(placed)] == ["1"]
    assert shown(placed.notices)[:2] == [
        f"coreference/b.xml: no sentence of document '{A}_2' was found; left out",
        f"coreference/b.xml: document '{A}' is not cut, since no sentence of this file was found there in order",
    ]


def test_files_that_interleave():
    first = annotate(("003.1", 1, "Ali"), ("003.3", 1, "Kedi"))
    second = annotate(("003.2", 1, "Veli"), file="b.xml")
    placed = place_annotations(ud(A=["Ali", "Veli", "Kedi"]), [first, second])
    assert shown(placed.problems) == [
        f"coreference/b.xml: its sentences interleave with those of a.xml, in document '{A}' (expected one file for "
        "each document)"
    ]


def test_documents_that_are_not_there():
    other = annotate(("003.1", 1, "Ali"), file="b.xml", document=B)
    mixed = Annotation(
        "c.xml",
        [Mention("x", f"{A}003.1", 1, 1, "Ali", 3), Mention("y", f"{B}003.1", 1, 1, "Ali", 4)],
        [],
    )
    wrong = Annotation("d.xml", [Mention("x", "003", 1, 1, "Ali", 3)], [])
    placed = place_annotations(ud(A=["Ali"]), [annotate(file="a.xml"), other, mixed, wrong])
    assert shown(placed.problems) == [
        f"coreference/b.xml:11: no document of the treebank has the id '{B}' (expected '# newdoc id = {B}')",
        f"coreference/c.xml:4: mention 'y', sentence '{B}003.1': is of another document than sentence '{A}003.1' "
        "(expected one document a file)",
        "coreference/d.xml:3: mention 'x', sentence '003': the sentence number has another form (expected a number "
        "such as 77000112003.1)",
    ]
    assert shown(placed.notices) == [
        "coreference/a.xml: has no mentions, so it belongs to no document"
    ]
    assert shown(placed.rest) == [
        f"coreference: 1 document of the treebank without a coreference file left out: '{A}'"
    ]


def test_quotation_marks():
    """Mentions that differ by quotation marks only have different places, if UD can tell them apart."""
    treebank = ud(A=['"  Ev  " dedi'], B=['"Ev" dedi'])
    both = (("003.1", 1, '" Ev "'), ("003.1", 2, "Ev"))
    placed = place_annotations(ud(A=['" Ev " dedi']), [annotate(*both)])
    assert places(placed) == {"1": ("A1", 1, 3), "2": ("A1", 2, 2)}
    placed = place_annotations({A: treebank[B]}, [annotate(*both)])
    assert places(placed) == {"1": ("B1", 1, 1)}
    assert [m_id for _, m_id in lost(placed)] == ["2"]
