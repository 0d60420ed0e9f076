"""`closeread convert marmara_coref` and `closeread prepare marmara_coref mentions`."""

import json
from pathlib import Path

import pytest
from shared.coref_readers import read_conll
from shared.marmara_sample import ANNOTATIONS, DOCUMENTS, SAMPLE
from shared.marmara_xml import read_coreference, write_coreference
from shared.ud_sentences import document

import closeread
from closeread.exceptions import RequestError

COREFERENCE = SAMPLE / "coreference"
HERE = ("--data-dir", SAMPLE)


def read_chains(folder):
    """The chains of coreference files as sets of places, and all mentions, by file."""
    found = {}
    for annotation in read_coreference(
        {path.name: path for path in sorted(folder.iterdir())}
    ).annotations:
        places = {
            one.id: (one.sentence, one.first, one.last, one.text) for one in annotation.mentions
        }
        chains = {frozenset(places[m_id] for m_id in chain) for chain in annotation.chains}
        found[annotation.file] = chains, set(places.values())
    return found


def test_json_lines_keep_everything_but_ids(ran, tmp_path):
    ran("convert", "marmara_coref", COREFERENCE, "-o", "all.jsonl", *HERE)
    records = list(map(json.loads, (tmp_path / "all.jsonl").read_text("utf-8").splitlines()))
    assert [record["genre"] for record in records] == [
        "News",
        "Travel",
        "Short Story",
        "Essay",
        "Article",
        "Other",
    ]
    ran("convert", "marmara_coref", "all.jsonl", "-o", "xml")  # needs no treebank
    assert read_chains(tmp_path / "xml") == read_chains(COREFERENCE)
    ran("convert", "marmara_coref", "all.jsonl", "-o", "one.conll")
    ran("convert", "marmara_coref", COREFERENCE, "-o", "other.conll", *HERE)
    assert (tmp_path / "one.conll").read_bytes() == (tmp_path / "other.conll").read_bytes()


def test_json_lines_are_read_wherever_clusters_are(ran, run, tmp_path):
    ran("convert", "marmara_coref", COREFERENCE, "-o", "all.jsonl", *HERE)
    ran("export", "marmara_coref", "exported", "--config", "sample", "--format", "jsonl")
    ran("convert", "marmara_coref", COREFERENCE, "-o", "all.conll", *HERE)
    signatures = set()
    for file in ("all.jsonl", "exported/sample/test.jsonl"):
        for sides in ((file, file), ("all.conll", file), (file, "all.conll")):
            found = json.loads(ran("score", "coref", *sides, "--json", "--no-ci"))
            assert found["scores"]["conll/f1"]["value"] == 1
            signatures.add(found["signature"])
        assert "spurious        0" in ran("errors", "chains", file, "all.conll")
        found = json.loads(
            ran("score", "marmara_coref", file, "--config", "sample", "--json", "--no-ci")
        )
        assert found["scores"]["conll/f1"]["value"] == 1
        rows = list(map(json.loads, (tmp_path / file).read_text("utf-8").splitlines()))
        assert closeread.score("coref", rows, gold=rows).provenance.signature in signatures
    assert len(signatures) == 1
    (tmp_path / "bad.jsonl").write_text(json.dumps({**rows[0], "n_tokens": 1}) + "\n", "utf-8")
    assert "bad.jsonl:1: clusters[0][1]:" in run("score", "coref", "bad.jsonl", "all.conll").stderr


def test_what_is_lost_is_told(run, here):
    found = run("convert", "marmara_coref", COREFERENCE / "77000112.xml", "-o", "a.conll", *HERE)
    assert found.stderr == (
        "note: lost: the ids of 24 mentions.\n"
        'note: lost: 4 mentions in no chain of two or more (first: "Kıyıkent\'in eski balıkçılarını" in sentence '
        "'77000112003.2').\n"
    )
    found = run("convert", "marmara_coref", COREFERENCE / "77000467.xml", "-o", "b.xml", *HERE)
    assert (
        found.stderr
        == "note: lost: the ids of 22 mentions; new ones are from 0 in document order.\n"
    )


def test_conll_is_only_written(run, here):
    """Its words and spans would have to be compared with the treebank, which the corpus's XML says by number."""
    found = run("convert", "marmara_coref", ANNOTATIONS[0], "-o", "out", *HERE)
    assert found.exit_code == 1
    assert "contains no coreference files (expected files ending in .xml)" in found.stderr
    assert list(here.iterdir()) == []


def test_given_mentions(ran, tmp_path):
    assert (
        ran("prepare", "marmara_coref", "mentions", COREFERENCE, "-o", "given.conll", *HERE)
        == "given.conll: 6 documents, 156 mentions\n"
    )
    written = read_conll(tmp_path / "given.conll").documents
    assert [one.name for one in written] == list(DOCUMENTS)
    for one in written:
        (given,) = read_conll(SAMPLE / "given" / f"{one.name}.conll").documents
        assert one.entities == given.entities
        assert one.words.read_rows() == given.words.read_rows()


@pytest.mark.parametrize(
    ("kind", "source", "options", "message"),
    [
        (
            "mentions",
            "mine.jsonl",
            {"gold": "x"},
            "no such option of prepare marmara_coref mentions: 'gold'",
        ),
        (
            "mention",
            "mine.jsonl",
            {},
            "no such preparation of marmara_coref: 'mention'. Did you mean 'mentions'",
        ),
    ],
)
def test_python_refuses(kind, source, options, message):
    with pytest.raises(RequestError) as error:
        closeread.prepare("marmara_coref", kind, source, **options)
    assert message in str(error.value)


def test_python_refuses_to_convert():
    message = "no such option of convert marmara_coref: 'side'"
    with pytest.raises(RequestError, match=message):
        closeread.convert("marmara_coref", "mine.jsonl", side="key")


def refuse(run, *arguments):
    """The message of a command that must fail and write nothing."""
    command = "convert" if arguments[0] == "marmara_coref" else "prepare marmara_coref"
    found = run(*command.split(), *arguments)
    assert found.exit_code in (1, 2)
    assert found.stdout == ""
    return found.stderr


def test_nothing_is_written_if_anything_is_wrong(run, here):
    text = (COREFERENCE / "77000112.xml").read_text("utf-8")
    (here / "wrong").mkdir()
    (here / "wrong" / "a.xml").write_text(
        text.replace('fromWordIX="4"', 'fromWordIX="40"'), "utf-8"
    )
    (here / "wrong" / "b.xml").write_text(text.replace("77000112003.1", "77000112003.9"), "utf-8")
    message = refuse(run, "marmara_coref", "wrong", "-o", "out", *HERE)
    assert "wrong/a.xml:5: mention '1', sentence '77000112003.1': " in message
    assert (
        "wrong/b.xml:4: mention '0', sentence '77000112003.9': the treebank has no such sentence"
        in message
    )
    (here / "wrong" / "c.xml").write_text('<!DOCTYPE a [<!ENTITY b "c">]><coref/>', "utf-8")
    assert "wrong/c.xml" in refuse(run, "mentions", "wrong", "-o", "out.conll", *HERE)
    assert sorted(path.name for path in here.iterdir()) == ["wrong"]


@pytest.mark.parametrize(
    ("source", "output", "message"),
    [
        (
            "all",
            "a.xml",
            "a.xml can hold one document, but there are 6 documents (expected a folder)",
        ),
        (
            "all",
            "a.txt",
            "a.txt: the suffix is '.txt' (expected .conll, .jsonl, .xml or none, for a folder of coreference files)",
        ),
        ("empty.xml", "a.conll", "empty.xml: is empty"),
        ("missing.xml", "a.conll", "missing.xml: "),
        ("folder", "a.conll", "folder: contains no files"),
        ("all", "full", "full: is not a new or an empty folder"),
        ("copy.xml", "copy.xml", "copy.xml is also an input"),
    ],
)
def test_paths(run, here, source, output, message):
    (here / "empty.xml").touch()
    (here / "folder").mkdir()
    (here / "full").mkdir()
    (here / "full" / "a").touch()
    (here / "copy.xml").write_bytes((COREFERENCE / "77000112.xml").read_bytes())
    before = sorted(here.rglob("*"))
    given = COREFERENCE if source == "all" else source
    assert message in refuse(run, "marmara_coref", given, "-o", output, *HERE)
    assert sorted(here.rglob("*")) == before


def test_a_missing_treebank_is_explained(run, here):
    message = refuse(run, "marmara_coref", COREFERENCE, "-o", "a.conll")
    assert "the METU-Sabanci Turkish Treebank" in message
    assert "closeread prepare marmara_coref treebank" in message
    message = refuse(run, "marmara_coref", COREFERENCE, "-o", "a.conll", "--treebank", "nowhere")
    assert "nowhere" in message


def change(**values):
    """Return a change of a record's first mention."""
    return lambda record: record["mentions"][0].update(values)


def add_chain(*spans):
    """Return a change that adds a chain to a record."""
    return lambda record: record["clusters"].append(list(map(list, spans)))


def repeat_mention(record):
    record["mentions"].append({**record["mentions"][0], "id": "x"})


def repeat_number(record):
    record["sentences"][1]["number"] = "77000112003.1"


def move_head(record):
    record["sentences"][0]["tokens"][0]["head"] = 8


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (
            change(start=6, end=9),
            "mentions[0]: tokens 6 to 9 are not in its sentence (expected tokens 0 to 6)",
        ),
        (
            change(sentence="77000112003.9"),
            "mentions[0].sentence: the document has no sentence '77000112003.9'",
        ),
        (change(**{"from": 3}), "mentions[0]: it ends before it starts"),
        (change(id="2"), "mentions[2].id: '2' is the id of an earlier mention"),
        (repeat_mention, "mentions[24]: an earlier mention has the same tokens, 0 to 0"),
        (
            lambda record: record.update(n_tokens=79),
            "n_tokens: 79 (expected 78, as many as the sentences have)",
        ),
        (add_chain((1, 1), (3, 4)), "clusters[7][0]: [1, 1] is not one of the mentions"),
        (add_chain((0, 0), (8, 10)), "clusters[7][0]: [0, 0] is already in a chain"),
        (add_chain((8, 10), (8, 13)), "clusters[7]: [8, 10] overlaps [8, 13] of the same chain"),
        (
            repeat_number,
            "sentences[1].number: '77000112003.1' is the number of an earlier sentence",
        ),
        (move_head, "sentences[0].tokens[0].head: 8 is outside the sentence (expected 1 to 7)"),
        (
            lambda record: record.update(document="../a"),
            "the document name '../a' can't be the name of a file",
        ),
    ],
)
def test_records_that_disagree_with_themselves(run, here, damage, message):
    run("convert", "marmara_coref", COREFERENCE / "77000112.xml", "-o", "a.jsonl", *HERE)
    record = json.loads((here / "a.jsonl").read_text("utf-8"))
    damage(record)
    (here / "a.jsonl").write_text(json.dumps(record), "utf-8")
    assert message in refuse(run, "marmara_coref", "a.jsonl", "-o", "out")
    assert not (here / "out").exists()


@pytest.mark.extended
def test_released_files(ran, corpora, tmp_path):
    """All documents there and back."""
    folder = corpora / "marmara_coref"
    ran("convert", "marmara_coref", folder / "coreference", "-o", "all.jsonl")
    ran("convert", "marmara_coref", "all.jsonl", "-o", "xml")
    before, after = read_chains(folder / "coreference"), read_chains(tmp_path / "xml")
    assert after == before
    ran("convert", "marmara_coref", folder / "coreference", "-o", "all.conll")
    for one in read_conll(tmp_path / "all.conll").documents:
        chains, _ = before[f"{one.name}.xml"]
        assert len(one.entities) == len(chains)
        assert sum(len(entity.mentions) for entity in one.entities) == sum(map(len, chains))


@pytest.mark.parametrize("output", ["given.xml", "given.jsonl", "given"])
def test_given_mentions_are_conll(run, here, output):
    found = run("prepare", "marmara_coref", "mentions", COREFERENCE, "-o", output, *HERE)
    suffix = "." + output.partition(".")[2] if "." in output else ""
    assert (
        found.stderr
        == f"Error: cannot write {output}: the suffix is '{suffix}' (expected .conll)\n"
    )
    assert list(here.iterdir()) == []


def test_nothing_is_said_of_documents_that_are_not_converted(run, here):
    """The treebank has a document more, and a file that is none; only mentions without a place are told."""
    Path("ud").mkdir()
    texts = [document("77000112", "Ali geldi ."), document("77000113", "Veli gitti .")]
    Path("ud/own.conllu").write_text("".join(texts), "utf-8")
    Path("ud/readme.md").write_text("Words.\n", "utf-8")
    words = enumerate(("Ali", "geldi", "Kedi"), start=1)
    mentions = [(f"{word}", "77000112003.1", word, word, text) for word, text in words]
    Path("a.xml").write_text(write_coreference(mentions, []), "utf-8")
    done = run("convert", "marmara_coref", "a.xml", "--treebank", "ud", "-o", "a.jsonl")
    assert done.stdout == "a.jsonl: 1 document\n"
    assert "mention '3'" in done.stderr
    assert "77000113" not in done.stderr
    assert "without a coreference file" not in done.stderr
    assert "readme.md" not in done.stderr
