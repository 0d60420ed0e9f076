"""Files of annotation tools, and of systems that count characters, as coreference."""

import json
import random
import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared.annotation_tools import (
    ENTITIES,
    OTHER_ENTITIES,
    TEXT,
    WORDS,
    brat,
    cas_json,
    corenlp,
    doccano,
    fastcoref,
    label_studio,
    prodigy,
    spacy,
    tsv_of_chains,
    tsv_of_relations,
    xmi,
    zip_files,
)
from shared.damaged_zips import FAULTS, zip_damaged
from shared.peers import find_peer

import closeread
from closeread.counts.annotators import Annotator
from closeread.exceptions import InputError, RequestError
from closeread.tasks.annotation.annotators import read_annotators
from closeread.tasks.coref.documents import Document, Documents, Entity, ListedWords, Mention
from closeread.tasks.coref.files import read_documents, write_documents
from closeread.tasks.coref.formats import StandoffOptions

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*coreference is read from:closeread.CloseReadWarning"),
    pytest.mark.filterwarnings(
        "ignore:.*(left out|widened|of one mention|coref_chains|no mentions):closeread.CloseReadWarning"
    ),
]

FILES = {
    "webanno_chains.tsv": tsv_of_chains,
    "webanno_relations.tsv": tsv_of_relations,
    "cas.json": cas_json,
    "cas.xmi": xmi,
    "relations.ann": brat,
    "equivalences.ann": lambda entities: brat(entities, "*"),
    "label_studio.json": lambda entities: label_studio({"ola@example.org": entities}),
    "doccano.jsonl": doccano,
    "prodigy.jsonl": lambda entities: prodigy({"ola": entities}),
    "fastcoref.jsonlines": fastcoref,
    "corenlp.json": corenlp,
    "spacy.json": spacy,
}
"""The name of a file in each format, and what writes it."""


def write(folder, name, entities):
    """Write a file of a format, and the text beside it that brat has."""
    path = folder / name
    path.write_text(FILES[name](entities), "utf-8", newline="")
    if path.suffix == ".ann":
        path.with_suffix(".txt").write_text(TEXT, "utf-8", newline="")
    return path


def spans_of(document):
    """The spans of each entity, ends included, both sorted."""
    return sorted(
        sorted(mention.spans for mention in entity.mentions) for entity in document.entities
    )


def expected_spans(entities):
    return sorted(sorted((span,) for span in entity) for entity in entities)


@pytest.mark.parametrize("name", FILES)
def test_entities_and_words(name, tmp_path):
    (document,) = read_documents(write(tmp_path, name, ENTITIES)).documents
    assert spans_of(document) == expected_spans(ENTITIES)
    assert list(document.words.read()) == WORDS
    assert document.n_tokens == len(WORDS)


@pytest.mark.parametrize("name", FILES)
def test_every_format_is_a_response(name, tmp_path):
    """Against the other annotator, B³ is the same in every format as of the clusters themselves."""
    key = tmp_path / "key.jsonl"
    lists = [[list(span) for span in entity] for entity in ENTITIES]
    key.write_text(
        json.dumps({"document": "dog", "clusters": lists, "n_tokens": len(WORDS)}) + "\n"
    )
    others = [[list(span) for span in entity] for entity in OTHER_ENTITIES]
    expected = closeread.score("coref", [others], gold=[lists]).scores["b3/f1"].value
    folder = tmp_path / "response"
    folder.mkdir()
    path = write(folder, name, OTHER_ENTITIES)
    if path.suffix in (".tsv", ".xmi", ".ann") or name == "cas.json":
        # Their documents are named after the files.
        renamed = path.with_stem("dog")
        path.with_suffix(".txt").rename(
            renamed.with_suffix(".txt")
        ) if path.suffix == ".ann" else None
        path = path.rename(renamed)
    scored = closeread.score("coref", path, gold=key).scores["b3/f1"].value
    # R is (2/2 + 2/2 of Ola, 1/2 + 1/2 of the dog) / 4, P is (2/3 + 2/3 + 1/3, 1) / 4.
    assert scored == expected == pytest.approx(2 * (3 / 4) * (8 / 12) / (3 / 4 + 8 / 12))


def test_heads_of_corenlp(tmp_path):
    (document,) = read_documents(write(tmp_path, "corenlp.json", ENTITIES)).documents
    heads = {mention.spans: mention.head for mention in document.mentions}
    assert heads[(3, 4),] == 4
    assert document.name == "dog"


def test_a_text_of_other_words_is_refused(tmp_path):
    key = tmp_path / "key.jsonl"
    key.write_text('{"document": "1", "clusters": []}\n')
    conll = "".join(f"{word}\t-\n" for word in [*WORDS[:3], "his", *WORDS[4:]])
    conll = f"#begin document (1);\n{conll}#end document\n"
    (tmp_path / "key.conll").write_text(conll)
    path = write(tmp_path, "fastcoref.jsonlines", ENTITIES)
    with pytest.raises(
        InputError,
        match=re.escape("'her dog.\\nIt ran.' at character 10 (expected token 3, 'his')"),
    ):
        closeread.score("coref", path, gold=tmp_path / "key.conll")


# Tokens


def test_words_between_blanks_are_tokens_if_marks_are_words(tmp_path):
    (tmp_path / "a.txt").write_text("Mr. Ek , 's hat , his , oh .")
    (tmp_path / "a.ann").write_text("T1\tP 0 6\tMr. Ek\nT2\tP 18 21\this\n*\tCoref T1 T2\n")
    (document,) = read_documents(tmp_path / "a.ann").documents
    assert list(document.words.read()) == [
        "Mr.",
        "Ek",
        ",",
        "'s",
        "hat",
        ",",
        "his",
        ",",
        "oh",
        ".",
    ]
    assert spans_of(document) == [[((0, 1),), ((6, 6),)]]


def test_scripts_without_blanks(tmp_path):
    (tmp_path / "a.txt").write_text("她走了。हिन्दी é!")
    (tmp_path / "a.ann").write_text("T1\tP 0 1\t她\nT2\tP 4 10\tहिन्दी\nR1\tCoref Arg1:T1 Arg2:T2\n")
    (document,) = read_documents(tmp_path / "a.ann").documents
    assert list(document.words.read()) == ["她", "走", "了", "。", "हिन्दी", "é", "!"]


def test_mentions_inside_words_are_widened_and_may_be_lost(tmp_path):
    (tmp_path / "a.txt").write_text("Damjan came-home. Er.")
    lines = [
        "T1\tP 0 6\tDamjan",
        "T2\tP 18 20\tEr",
        "T3\tQ 7 11\tcame",
        "T4\tQ 12 15\thom",
        "T5\tQ 3 6\tjan",
    ]
    lines += ["T6\tP 6 6\t", "*\tCoref T1 T2", "*\tCoref T3 T5 T6", "*\tCoref T4 T2"]
    (tmp_path / "a.ann").write_text("\n".join(lines[:7] + lines[7:8]) + "\n")
    documents = read_documents(tmp_path / "a.ann")
    # "jan" has the words of "Damjan", of another entity; nobody can see "".
    assert spans_of(documents.documents[0]) == [[((0, 0),), ((5, 5),)], [((1, 1),)], [((3, 3),)]]
    assert [notice.partition("a.ann: ")[2] for notice in documents.notices] == [
        "2 mentions widened to whole words.",
        "1 widened mention left out: another mention has the same words.",
        "1 mention without any text left out.",
        "coreference is read from the relation Coref.",
    ]


# What makes entities


STACKED = """#FORMAT=WebAnno TSV 3.2
#T_SP=custom.Mention|kind|new
#T_RL=custom.Coref|label|BT_custom.Mention

#Summary=ignored
#Text=Eva met her aunt
1-1\t0-3\tEva\tper[1]\t*[1]\tcoref|bridge\t1-3[3_1]|1-3[2_1]\t
1-2\t4-7\tmet\t_\t_\t_\t_\t
1-3\t8-11\ther\tper[2]|per[3]\tyes[3]\t_\t_\t
1-4\t12-16\taunt\tper[2]\t_\t_\t_
"""


def test_values_of_a_stack_belong_together_by_their_ids(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text(STACKED)
    with pytest.raises(RequestError) as error:
        read_documents(path)
    assert str(error.value).splitlines() == [
        f"{path}: coreference could be in 2 places; choose with",
        "  relation='custom.Coref=coref'   1 link",
        "  relation='custom.Coref=bridge'  1 link",
    ]
    (document,) = read_documents(path, standoff=StandoffOptions(relation="Coref=coref")).documents
    assert spans_of(document) == [[((0, 0),), ((2, 2),)], [((2, 3),)]]
    (document,) = read_documents(
        path, standoff=StandoffOptions(relation="Coref=coref,bridge")
    ).documents
    assert spans_of(document) == [[((0, 0),), ((2, 2),), ((2, 3),)]]
    with pytest.raises(RequestError, match=r"no such label of custom\.Coref: 'corf'"):
        read_documents(path, standoff=StandoffOptions(relation="Coref=corf"))
    with pytest.raises(RequestError, match="no such relation: 'Core'"):
        read_documents(path, standoff=StandoffOptions(relation="Core"))


def test_each_layer_has_numbers_of_its_own(tmp_path):
    """The name "aunt" has the number that "her aunt" has in another layer."""
    text = STACKED.replace("#T_RL", "#T_SP=custom.Name|kind\n#T_RL")
    rows = {"\tcoref|bridge": "\t_\tcoref|bridge", "\tyes[3]": "\tyes[3]\t_"}
    rows |= {
        "_\t_\t_\t_\t\n": "_\t_\t_\t_\t_\t\n",
        "per[2]\t_\t_\t_\n": "per[2]\t_\tname[2]\t_\t_\n",
    }
    for old, new in rows.items():
        assert old in text
        text = text.replace(old, new)
    (tmp_path / "a.tsv").write_text(text)
    bridging = StandoffOptions(relation="Coref=bridge")
    (document,) = read_documents(tmp_path / "a.tsv", standoff=bridging).documents
    assert spans_of(document) == [[((0, 0),), ((2, 3),)], [((2, 2),)]]


def test_singletons_are_mentions_of_a_linked_label_in_any_document(tmp_path):
    (tmp_path / "a.txt").write_text("Eva saw it . It ran .")
    (tmp_path / "a.ann").write_text(
        "T1\tP 0 3\tEva\nT2\tQ 8 10\tit\nT3\tQ 13 15\tIt\nR1\tSame A:T2 B:T3\n"
    )
    (tmp_path / "b.txt").write_text("Day : she .")
    (tmp_path / "b.ann").write_text("T1\tQ 6 9\tshe\nT2\tDate 0 3\tDay\n")
    first, second = read_documents(tmp_path).documents
    assert spans_of(first) == [[((2, 2),), ((4, 4),)]]
    assert spans_of(second) == [[((2, 2),)]]
    expected = "labels in no link, whose spans are no mentions: P 1, Date 1; name them with layer= to read them."
    assert read_documents(tmp_path).notices[0].endswith(expected)
    first, second = read_documents(
        tmp_path, standoff=StandoffOptions(relation="Same", layer="P,Q")
    ).documents
    assert spans_of(first) == [[((0, 0),)], [((2, 2),), ((4, 4),)]]


def test_numbered_labels_are_entities(tmp_path):
    (tmp_path / "a.txt").write_text("Eva saw it . She ran .")
    lines = ["T1\tPER 0 3\tEva", "T2\tEva-4 0 3\tEva", "T3\tEva-4 13 16\tShe", "T4\tPRON 8 10\tit"]
    (tmp_path / "a.ann").write_text("\n".join(lines) + "\n")
    documents = read_documents(tmp_path / "a.ann")
    assert spans_of(documents.documents[0]) == [[((0, 0),), ((4, 4),)], [((2, 2),)]]
    assert documents.documents[0].entities[0].label == "Eva-4"


def test_nothing_that_makes_entities(tmp_path):
    (tmp_path / "a.txt").write_text("Eva saw it .")
    (tmp_path / "a.ann").write_text("T1\tPER 0 3\tEva\n")
    with pytest.raises(
        RequestError, match=r"a\.ann: no annotation of coreference .*, but spans: PER 1$"
    ):
        read_documents(tmp_path / "a.ann")
    (tmp_path / "a.ann").write_text("")
    (document,) = read_documents(tmp_path / "a.ann").documents
    assert (spans_of(document), document.n_tokens) == ([], 4)


# brat


@pytest.mark.parametrize("offsets", ["code points", "one line end", "UTF-16"])
def test_offsets_of_brat(offsets, tmp_path):
    text = "😀 Eva\r\nsaw it ."
    at = {"code points": (11, 13), "one line end": (10, 12), "UTF-16": (12, 14)}[offsets]
    first = (3, 6) if offsets == "UTF-16" else (2, 5)
    (tmp_path / "a.txt").write_bytes(text.encode())
    lines = [f"T1\tP {first[0]} {first[1]}\tEva", f"T2\tP {at[0]} {at[1]}\tit", "R1\tC A:T1 B:T2"]
    (tmp_path / "a.ann").write_text("\n".join(lines))
    (document,) = read_documents(tmp_path / "a.ann").documents
    assert spans_of(document) == [[((1, 1),), ((3, 3),)]]


def test_parts_of_brat(tmp_path):
    """A part ends at each line end, which makes no gap; words between make one."""
    (tmp_path / "a.txt").write_text("the old\ndog saw the cat , it .")
    lines = [
        "T1\tP 0 7;8 11\tthe old dog",
        "T2\tP 0 3;16 23\tthe the cat",
        "T3\tP 26 28\tit",
        "*\tC T1 T3",
    ]
    (tmp_path / "a.ann").write_text("\n".join(lines))
    (document,) = read_documents(tmp_path / "a.ann").documents
    assert spans_of(document) == [[((0, 0), (4, 5))], [((0, 2),), ((7, 7),)]]


# Projects and annotators


def project(tmp_path):
    """A project of INCEpTION with two annotators, a curator, and what every project has."""
    files = {"exportedproject.json": "{}", "source/dog.txt": TEXT}
    for user, entities in (("ola", ENTITIES), ("per", OTHER_ENTITIES), ("INITIAL_CAS", [])):
        files[f"annotation/dog.txt/{user}.json"] = cas_json(entities)
        files[f"annotation/dog.txt/{user}.tsv"] = tsv_of_chains(entities)
    inner = zip_files({"CURATION_USER.xmi": xmi(ENTITIES), "TypeSystem.xml": "<typeSystem/>"})
    for name, text in files.items():
        path = tmp_path / "project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    curated = tmp_path / "project/curation/dog.txt/CURATION_USER.zip"
    curated.parent.mkdir(parents=True)
    curated.write_bytes(inner)
    archive = tmp_path / "project.zip"
    archive.write_bytes(zip_files({**files, "curation/dog.txt/CURATION_USER.zip": inner}))
    return tmp_path / "project", archive


def test_a_project_has_its_annotators(tmp_path):
    folder, archive = project(tmp_path)
    for path in (folder, archive):
        files = read_annotators([Annotator("project", path)])
        assert [file.name for file in files] == ["ola", "per"]
        assert [spans_of(file.documents.documents[0]) for file in files] == [
            expected_spans(ENTITIES),
            expected_spans(OTHER_ENTITIES),
        ]
        assert files[0].documents.notices[0] == f"{path}: 1 curated document left out."
    with pytest.raises(
        RequestError, match=r"has 2 annotators: 'ola', 'per'; choose with annotator="
    ):
        closeread.score("coref", folder, gold=folder / "curation")
    scored = closeread.score("coref", folder, gold=folder / "curation", annotator="ola")
    assert scored.scores["conll/f1"].value == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [("export.json", label_studio), ("export.jsonl", prodigy)],
)
def test_a_file_with_several_annotators(name, text, tmp_path):
    path = tmp_path / name
    path.write_text(text({"ola": ENTITIES, "per": OTHER_ENTITIES}))
    agreement = closeread.agreement("coref", path)
    assert agreement.annotators == ["ola", "per"]
    conll = tmp_path / "ola.jsonl", tmp_path / "per.jsonl"
    for file, entities in zip(conll, (ENTITIES, OTHER_ENTITIES), strict=True):
        lists = [[list(span) for span in entity] for entity in entities]
        file.write_text(json.dumps({"document": "dog", "clusters": lists}) + "\n")
    assert dict(agreement.alpha) == dict(closeread.agreement("coref", *conll).alpha)


def test_what_divides_annotators(tmp_path):
    path = tmp_path / "export.json"
    path.write_text(label_studio({"ola": ENTITIES, "per": OTHER_ENTITIES}))
    agreement = closeread.agreement("coref", path)
    # Both marked four spans, the same ones.
    (division,) = agreement.pairs.values()
    assert (division.precision, division.recall, division.f1) == (1, 1, 1)
    # It: {dog, it} and {Ola, her, it} share one of four, so that M is 0 and the distance 1.  Ola and her: {Ola, her}
    # is inside the other, 1 - 2/3 * 2/3.  Her dog: {dog, it} and {dog}, 1 - 2/3 * 1/2.
    divided = {mention.text: mention.distance for mention in agreement.divided}
    assert divided == pytest.approx({"It": 1, "her dog": 2 / 3, "Ola": 5 / 9, "her": 5 / 9})
    assert next(iter(divided)) == "It"


# Written


def test_gold_goes_back_with_text_and_offsets(tmp_path):
    folder, archive = project(tmp_path)
    closeread.adjudicate("coref", archive, output=tmp_path / "gold")
    gold = (tmp_path / "gold/dog.tsv").read_text()
    source = (folder / "annotation/dog.txt/ola.tsv").read_text()
    places = [line.split("\t")[:3] for line in source.splitlines() if line[:1].isdigit()]
    assert [line.split("\t")[:3] for line in gold.splitlines() if line[:1].isdigit()] == places
    assert [line for line in gold.splitlines() if line.startswith("#Text")] == [
        line for line in source.splitlines() if line.startswith("#Text")
    ]
    # One annotator of two has the links of "It" and "her dog".
    assert "undecided[" in gold


@st.composite
def random_documents(draw):
    """A document of a few words, of which some are unusual, with nested and crossing mentions."""
    words = draw(
        st.lists(
            st.sampled_from(["a", "_", "|", "[1]", "*", "\\", "x;y", "😀", "a b"]),
            min_size=1,
            max_size=8,
        )
    )
    last = len(words) - 1
    spans = draw(
        st.lists(st.tuples(st.integers(0, last), st.integers(0, last)), unique=True, max_size=6)
    )
    entities = {}
    for span in sorted({tuple(sorted(span)) for span in spans}):
        entities.setdefault(draw(st.integers(0, 2)), []).append(Mention(*span))
    listed = [Entity(str(number), mentions) for number, mentions in entities.items()]
    return Document("a", listed, len(words), ListedWords(words))


@given(random_documents())
def test_webanno_tsv_is_read_as_it_was_written(tmp_path_factory, document):
    path = tmp_path_factory.mktemp("tsv") / "a.tsv"
    write_documents(Documents([document]), path)
    (again,) = read_documents(path).documents
    assert spans_of(again) == spans_of(document)
    assert list(again.words.read()) == list(document.words.read())


# Refused


def refusal(path):
    with pytest.raises(InputError) as error:
        read_documents(path)
    return str(error.value).replace(f"{path}", path.name)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("1-3\t", "1-x\t", ": '1-x\\t8-11\\ther\\tper[2]|per[3]\\tyes[3]\\t_\\t_\\t' is not a row of a token (expected "
         "SENTENCE-TOKEN, BEGIN-END and a word, separated by tabs)"),
        ("1-3\t", "1-1\t", ": 1-1 after 1-2 (expected tokens in ascending order)"),
        ("\t_\t_\t_\t_\t\n", "\t_\n", ": the row of 1-2 has 4 columns (expected 7, as in the header)"),
    ],
)  # fmt: skip
def test_refused_tsv(old, new, message, tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text(STACKED.replace(old, new))
    line = 1 + STACKED[: STACKED.index(old)].count("\n")
    assert refusal(path) == f"a.tsv:{line}{message}"


def test_refused_chains(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text(tsv_of_chains(ENTITIES).replace("*->1-1", "*->1"))
    assert refusal(path) == "a.tsv:6: 1-1: '*->1' names no chain (expected TEXT->CHAIN-PLACE)"


def test_refused_brat(tmp_path):
    path = tmp_path / "a.ann"
    path.write_text("T1\tP 0 3\tEvi\nT1\tP 4 7\tsaw\nT2\tP 4-7\tsaw\nR1\tC T1 T2\n")
    assert (
        refusal(path) == "a.ann: has no text (expected a file of the same name that ends in .txt)"
    )
    (tmp_path / "a.txt").write_text("Eva saw it .")
    assert refusal(path).splitlines() == [
        "a.ann: 4 problems:",
        "a.ann:1: the text at its offsets is 'Eva' (expected 'Evi')",
        "a.ann:2: duplicate id 'T1' (first on line 1)",
        "a.ann:3: 'T2\\tP 4-7\\tsaw' is not a text-bound annotation (expected T1, LABEL BEGIN END and the text, "
        "separated by tabs)",
        "a.ann:4: 'R1\\tC T1 T2' is not a relation (expected R1, a tab, and LABEL Arg1:ID Arg2:ID)",
    ]


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("doccano.jsonl", '"start_offset": 0', '"start_offset": "0"',
         "doccano.jsonl:1: expected 'int', got 'str' - at 'entities[0].start_offset'"),
        ("doccano.jsonl", '"end_offset": 3', '"end_offset": 99',
         "doccano.jsonl:1: entity 1 is at 0 to 99 (expected characters from 0 to 26); does the project count grapheme "
         "clusters?"),
        ("prodigy.jsonl", '"token_end": 0', '"token_end": 30',
         "prodigy.jsonl:1: a span is at 0 to 30 (expected tokens from 0 to 8)"),
        ("prodigy.jsonl", '"start": 0, "end": 3', '"start": 0, "end": 30',
         "prodigy.jsonl:1: a token is at 0 to 30 (expected characters from 0 to 26)"),
        ("spacy.json", '"start": 0, "end": 3', '"start": 0, "end": 30',
         "spacy.json:1: a token is at 0 to 30 (expected characters from 0 to 26)"),
        ("label_studio.json", '"text": "her dog"', '"text": "his dog"',
         "label_studio.json: task 'dog': region 'r(3, 4)' has the text 'her dog' at its offsets (expected 'his dog')"),
        ("fastcoref.jsonlines", "[0, 3]", "[0, 30]",
         "fastcoref.jsonlines:1: a mention is at 0 to 30 (expected characters from 0 to 26)"),
        ("corenlp.json", '"endIndex": 2', '"endIndex": 20',
         "corenlp.json: a mention is at sentence 1, 1 to 20 (expected sentences and tokens from 1, and an end after "
         "the last token)"),
        ("cas.json", '"end": 3', '"end": 300',
         "cas.json: a Token is at '0' to '300' (expected 0 <= begin <= end <= 27)"),
        ("cas.xmi", 'next="101"', 'next="100"', "cas.xmi:15: a chain comes back to its link 100"),
    ],
)  # fmt: skip
def test_refused_exports(name, old, new, message, tmp_path):
    path = tmp_path / name
    text = FILES[name](ENTITIES)
    assert old in text
    path.write_text(text.replace(old, new, 1) if name != "corenlp.json" else text.replace(old, new))
    found = refusal(path)
    assert found.splitlines()[-1] == message or message in found


def mutate(text, generator):
    """Cut, double or change a place of a text."""
    place = generator.randrange(len(text))
    width = generator.randrange(1, 9)
    kind = generator.randrange(4)
    if kind == 0:
        return text[:place] + text[place + width :]
    if kind == 1:
        return text[: place + width] + text[place:]
    if kind == 2:
        return text[:place]
    return text[:place] + generator.choice('|_*[]{}"\\\t\n0-;:,é') + text[place + 1 :]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("times", [60, pytest.param(1000, marks=pytest.mark.extended)])
def test_changed_files_are_read_or_refused(name, times, tmp_path):
    generator = random.Random(f"{name} {times}")
    path = write(tmp_path, name, ENTITIES)
    text = path.read_text("utf-8")
    for _ in range(times):
        path.write_text(mutate(text, generator), "utf-8", newline="")
        with suppress(InputError, RequestError):
            read_documents(path)


# Released


TOOLS = [
    *(f"webanno_tsv_{model}" for model in ("chain", "relation", "slot", "entity")),
    *("brat_relation", "brat_equiv", "brat_label", "inception_xmi", "inception_json"),
    *("label_studio/project.json", "doccano", "prodigy/coref.jsonl"),
    *("allennlp", "fastcoref", "corenlp", "stanza"),
]


def annotators_in(path):
    """The arguments of a command: the one that has both annotators, or two."""
    for suffix in ("", ".jsonl", ".jsonlines"):
        if (path / f"anna{suffix}").exists() and path.name != "doccano":
            return [path / f"{name}{suffix}" for name in ("anna", "ben")]
    return [path]


@pytest.mark.parametrize("tool", TOOLS)
def test_one_project_through_every_format(tool, corpora):
    """Alpha and the cost of gold were computed from JSON Lines of the same entities, before other formats were read."""
    paths = annotators_in(corpora / "annotation_tools" / tool)
    agreement = closeread.agreement("coref", *paths)
    expected = [0.08035714285714285, 0.5539626288659794, 0.3767007108521835]
    assert list(agreement.alpha.values()) == pytest.approx(expected, abs=1e-12)


def test_all_of_gum():
    """Words and entities are those of the same release in CoNLL; bridging is no identity."""
    folder = find_peer("gum") / "coref/gum"
    if not (folder / "tsv").is_dir():
        pytest.skip("CLOSEREAD_PEERS has no coref/gum/tsv in gum")
    identity = StandoffOptions(relation="webanno.custom.Coref=coref,ana,cata,appos,pred,disc")
    documents = read_documents(folder / "tsv", standoff=identity)
    assert len(documents) == 281
    for document in documents.documents:
        (other,) = read_documents(folder / f"conll/{document.name}.conll").documents
        assert list(document.words.read()) == list(other.words.read())
        assert spans_of(document) == spans_of(other)


def test_all_of_litbank():
    """The hundredth document has other labels in brat than in CoNLL."""
    folder = find_peer("litbank") / "coref"
    if not (folder / "brat").is_dir():
        pytest.skip("CLOSEREAD_PEERS has no coref/brat in litbank")
    documents = read_documents(folder / "brat", standoff=StandoffOptions(entity_feature="label"))
    differing = []
    for document in documents.documents:
        (other,) = read_documents(folder / f"conll/{document.name}.conll").documents
        assert list(document.words.read()) == list(other.words.read())
        if spans_of(document) != spans_of(other):
            differing.append(document.name)
    assert len(documents) == 100
    assert differing == ["1400_great_expectations_brat"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        # A sentence with the number 0, a feature that links without targets, and a structure that is a number.
        ("a.tsv", "#FORMAT=WebAnno TSV 3.3\n#T_SP=x.M|\n\n\n#Text=Ida\n0-1\t0-3\tIda\t_\t\n"),
        ("b.tsv", "#FORMAT=WebAnno TSV 3.3\n#T_SP=x.M|ROLE_x.M:a_L\n\n\n#Text=Ida\n1-1\t0-3\tIda\ta\t\n"),
        ("c.json", '{"%TYPES": {}, "%FEATURE_STRUCTURES": {"1": 0}, "%VIEWS": {}}'),
    ],
)  # fmt: skip
def test_oddities_without_a_traceback(name, text, tmp_path):
    path = tmp_path / name
    path.write_text(text)
    if name == "a.tsv":
        (document,) = read_documents(path).documents
        assert list(document.words.read()) == ["Ida"]
    else:
        expected = {"b.tsv": "ends with ROLE_ (expected the type of the targets after it)",
                    "c.json": "%FEATURE_STRUCTURES[0] has no %ID and %TYPE"}  # fmt: skip
        assert expected[name] in refusal(path)


def test_candidates_are_those_of_the_file_and_their_options_work(tmp_path):
    """The annotator, whom Label Studio numbers, says nothing of the file; a relation without a label needs a value."""
    regions = [
        {"id": name, "type": "labels", "value": {"start": n, "end": n + 1, "labels": ["Mention"]}}
        for n, name in ((0, "a"), (2, "b"), (4, "c"))
    ]
    links = [
        {"type": "relation", "from_id": "b", "to_id": "a"},
        {"type": "relation", "from_id": "c", "to_id": "b", "labels": ["same"]},
    ]
    task = {
        "id": 1,
        "data": {"text": "I I I"},
        "annotations": [{"completed_by": 4, "result": [*regions, *links]}],
    }
    path = tmp_path / "export.json"
    path.write_text(json.dumps([task]))
    with pytest.raises(RequestError) as error:
        read_documents(path)
    assert str(error.value).splitlines() == [
        f"{path}: coreference could be in 2 places; choose with",
        "  relation='='     1 link without a label",
        "  relation='same'  1 link",
    ]
    (document,) = read_documents(path, standoff=StandoffOptions(relation="=")).documents
    assert spans_of(document) == [[((0, 0),), ((1, 1),)], [((2, 2),)]]
    (document,) = read_documents(path, standoff=StandoffOptions(relation="same")).documents
    assert spans_of(document) == [[((0, 0),)], [((1, 1),), ((2, 2),)]]


@pytest.mark.parametrize("fault", FAULTS[:2])
def test_a_project_that_can_not_be_unpacked(fault, tmp_path, run):
    zip_damaged(tmp_path / "project.zip", "project/annotation/dog.tsv", fault)
    done = run("agreement", "coref", tmp_path / "project.zip")
    assert done.exit_code == 1
    assert "project.zip/project/annotation/dog.tsv: " in done.stderr
    assert fault in done.stderr
