"""Folders of coreference files: read as one side, whatever the formats, and what is refused."""

import gzip
import json
import os
import re
from pathlib import Path

import pytest
from shared.conll_documents import as_ontonotes
from shared.coreference import as_values, report_files, write_conll, write_corefud, write_jsonl

from closeread import limits, validate
from closeread.exceptions import CloseReadWarning, FormatError, SubmissionError
from closeread.tasks.coref.files import EXPECTED, read_documents
from closeread.tasks.coref.selection import order_as_reference

CLUSTERS = [[[0, 0], [1, 1]], [[2, 2]]]


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A folder with a document in each format, in subfolders, gzipped or not."""
    monkeypatch.chdir(tmp_path)
    tree = Path("tree")
    (tree / "b" / "c").mkdir(parents=True)
    write_jsonl(tree / "lines.jsonl", {"z": CLUSTERS, "y": []})
    write_conll(tree / "b" / "x_gold.conll", {"x": CLUSTERS}, form=as_ontonotes)
    write_corefud(tree / "b" / "c" / "d.conllu", {1: "(e1-x-1-)", 2: "(e1-x-1-)", 3: "(e7-x-1-)"})
    plain = write_jsonl(tree / "b" / "w", {"w": CLUSTERS})
    (tree / "b" / "W.TXT.GZ").write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()
    (tree / ".git").mkdir()
    (tree / ".git" / "HEAD").write_text("ref")
    (tree / ".DS_Store").write_text("x")
    return tree


def problems(folder, **options):
    with pytest.raises(FormatError) as caught:
        read_documents(folder, **options)
    return [problem.at(str(folder)) for problem in caught.value.problems]


def test_documents_of_all_files(tree):
    read = read_documents(tree)
    documents = read.documents
    assert read.names == ["w", "d", "x; part 000", "z", "y"]
    assert [document.file for document in documents] == [
        "b/W.TXT.GZ",
        "b/c/d.conllu",
        "b/x_gold.conll",
        "lines.jsonl",
        "lines.jsonl",
    ]
    assert [record["clusters"] for record in read] == [
        CLUSTERS,
        CLUSTERS,
        CLUSTERS,
        CLUSTERS,
        [],
    ]
    assert [[entity.label for entity in document.entities] for document in documents] == [
        ["", ""],
        ["e1", "e7"],
        ["0", "1"],
        ["", ""],
        [],
    ]
    assert [documents[3].label_of(number) for number in (0, 1)] == ["0", "1"]
    assert list(documents[0].words.read()) == []
    assert list(documents[1].words.read()) == ["w", "w", "w"]
    assert [document.words.line_of(0) for document in documents[:3]] == [0, 4, 2]
    assert (read.has_heads, read.has_lengths) == (False, False)
    assert read.columns.head is None


def test_a_folder_scores_as_one_file(tree):
    write_jsonl(
        whole := Path("whole.jsonl"),
        dict.fromkeys(("z", "w", "d", "x; part 000"), CLUSTERS) | {"y": []},
    )
    expected = report_files(whole, whole)
    for key, response in ((tree, whole), (whole, tree), (tree, tree)):
        report = report_files(key, response)
        assert as_values(report) == as_values(expected)
        assert report.provenance.signature == expected.provenance.signature


def test_heads_and_lengths_are_kept_if_all_files_have_them(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_text(
            f'{{"document": "{name}", "clusters": [[[0, 2, 1]]], "n_tokens": 3}}\n'
        )
    (tmp_path / "none.jsonl").write_text('{"document": "c", "clusters": [], "n_tokens": 0}\n')
    documents = read_documents(tmp_path)
    assert [record["clusters"] for record in documents] == [[[[0, 2, 1]]], [[[0, 2, 1]]], []]
    assert [document.n_tokens for document in documents.documents] == [3, 3, 0]
    assert (documents.has_heads, documents.has_lengths) == (True, True)
    assert report_files(tmp_path, tmp_path, matching="head").total.scores["lea/f1"].value == 1


def test_only_gold_files_of_conll_2012(tmp_path):
    folder = tmp_path / "annotations" / "bn"
    folder.mkdir(parents=True)
    for ending in ("v4_gold_conll", "v4_auto_conll", "v4_gold_skel", "v4_gold_parse"):
        write_conll(folder / f"x_0001.{ending}", {"bn/x_0001": CLUSTERS})
    documents = read_documents(tmp_path)
    (document,) = documents.documents
    assert (document.name, document.file) == (
        "bn/x_0001; part 000",
        "annotations/bn/x_0001.v4_gold_conll",
    )
    assert documents.notices == [
        f"{tmp_path}: 3 files are left out: 'annotations/bn/x_0001.v4_auto_conll', "
        "'annotations/bn/x_0001.v4_gold_parse', 'annotations/bn/x_0001.v4_gold_skel' "
        "(expected names ending in _gold_conll)"
    ]
    (folder / "x_0001.v4_gold_conll").unlink()
    assert (
        "duplicate document 'bn/x_0001; part 000' (also in annotations/bn/x_0001.v4_auto_conll)"
        in str(problems(tmp_path))
    )


def test_problems_name_the_file_and_the_line(tree):
    write_conll(tree / "b" / "x_gold.skel_conll", {"v": [], "x": CLUSTERS})
    (tree / "b" / "bad.conll").write_text("#begin document (v)\na\t(1\n#end document\n")
    (tree / "b" / "cut.gz").write_bytes(gzip.compress(b"#begin document (u)\n")[:-1])
    (tree / "README.md").write_text("About.\n")
    (tree / "empty.jsonl").touch()
    (tree / "link.jsonl").symlink_to("lines.jsonl")
    os.mkfifo(tree / "pipe")
    assert problems(tree) == [
        "tree/link.jsonl: is a symbolic link (expected a file)",
        "tree/pipe: is not a regular file",
        "tree/b/bad.conll:2: column 2: entity 1 opens but never closes",
        "tree/b/cut.gz: is not a valid gzip file: it is truncated",
        "tree/empty.jsonl: is empty",
        "tree/b/x_gold.skel_conll: duplicate document 'x; part 000' (also in b/x_gold.conll)",
    ]


def test_problems_of_two_sides_name_the_files(tree):
    write_conll(other := Path("other.conll"), {"x": [[[0, 0], [8, 8]], [[8, 8]]]})
    other.write_text(other.read_text().replace("word3", "Word3"))
    with pytest.raises(SubmissionError) as caught:
        report_files(tree, other)
    found = "token 3 of document 'x; part 000' is 'Word3', but 'word3' in the key (line 6 of b/x_gold.conll)"
    assert str(caught.value).splitlines()[1] == f"other.conll:5: {found}"
    Path("key.jsonl").write_text('{"document": "x; part 000", "clusters": [], "n_tokens": 2}\n')
    write_jsonl(tree / "lines.jsonl", {"v": [[[0, 0], [0, 0]]]})
    with pytest.raises(SubmissionError) as caught:
        report_files(Path("key.jsonl"), tree)
    extra = (
        "extra='skip' leaves out what the key lacks "
        "(or are key and response swapped? The key comes first)"
    )
    assert sorted(str(caught.value).splitlines()[1:]) == [
        f"tree/b/W.TXT.GZ: document 'w' is not in the key; {extra}",
        f"tree/b/c/d.conllu: document 'd' is not in the key; {extra}",
        "tree/b/x_gold.conll: document 'x; part 000' has 9 tokens, but 2 in the key",
        f"tree/lines.jsonl: document 'v' is not in the key; {extra}",
        "tree/lines.jsonl: document 'v': the mention of tokens 0 to 0 is twice in entity '0'; "
        "keep one of them, or use duplicates='last' or duplicates='reference'",
    ]


def test_empty_folders(tmp_path):
    assert problems(tmp_path) == [f"{tmp_path}: contains no files ({EXPECTED})"]
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / ".hidden").touch()
    assert problems(tmp_path) == [f"{tmp_path}: contains no files ({EXPECTED})"]


def test_folders_that_are_too_large(tree, monkeypatch):
    monkeypatch.setattr(limits, "MAX_FILES", 3)
    assert problems(tree) == ["tree: contains more than 3 files"]


def test_predictions_are_preferred_in_a_response(tmp_path):
    line = '{"doc_key": "a", "clusters": [[[0, 0]]], "predicted_clusters": [[[1, 1]]]}\n'
    for name in ("one", "two"):
        (tmp_path / f"{name}.jsonl").write_text(line.replace('"a"', f'"{name}"'))
    key, response = read_documents(tmp_path), read_documents(tmp_path, is_response=True)
    assert [document["clusters"] for document in key] == [[[[0, 0]]]] * 2
    assert [document["clusters"] for document in response] == [[[[1, 1]]]] * 2
    notice = "'one.jsonl', 'two.jsonl': entities are read from 'predicted_clusters'; 'clusters' is ignored."
    assert response.notices == [f"{tmp_path}: {notice}"]


def test_documents_without_a_name_are_named_after_their_file(tmp_path):
    (tmp_path / "c").mkdir()
    rows = "1\tIda\t_\tNOUN\t_\t_\t0\troot\t_\t_\n\n"
    text = "".join(f"{line}\n{rows}" for line in ("# newdoc", "# newdoc id = b", "# newdoc"))
    (tmp_path / "c" / "GUM_a.b.conllu.gz").write_bytes(gzip.compress(text.encode()))
    text = "".join(f"#begin document {name}\nx\t-\n#end document\n" for name in ("", "(2)", "(3)"))
    (tmp_path / "a.conll").write_text(text)
    documents = read_documents(tmp_path)
    assert documents.names == ["a", "2", "3", "c/GUM_a.b 1", "b", "c/GUM_a.b 2"]
    assert all(document.is_named for document in documents.documents)


def test_the_reference_scorer_s_order_of_entities_is_kept(tmp_path):
    (tmp_path / "a.conll").write_text("#begin document (a)\nx (1\ny 1)\n#end document\n")
    rows = "#begin document (b)\nx (1|(2)\ny 1)\nz (1)|(2)\n#end document\n"
    (tmp_path / "b.conll").write_text(rows)
    (first,) = read_documents(tmp_path / "a.conll").documents
    assert first.reference_order is None
    (second,) = read_documents(tmp_path / "b.conll").documents
    entities = list(second.reference_order)
    assert entities != sorted(entities)
    documents = read_documents(tmp_path)
    assert [document.reference_order for document in documents.documents] == [None, entities]
    ordered = order_as_reference(second)
    assert [ordered.entities[place] for place in entities] == list(second.entities)
    assert order_as_reference(first) is first


def test_documents_of_formats_that_have_no_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("key", "a").mkdir(parents=True)
    arrau = "TOKEN MARKABLE\nIda B-markable_1=set_1\nleft\n"
    Path("key", "a", "rain.CONLL").write_text(arrau)
    Path("key", "sun.txt.gz").write_bytes(gzip.compress(arrau.encode()))
    Path("key", "one.conll").write_text("#begin document \nIda\t(1)\n#end document\n")
    Path("key", "two.conll").write_text("#begin document \nIda\t-\n#end document\n" * 2)
    documents = read_documents(Path("key"))
    assert list(documents.names) == ["a/rain", "one", "sun", "two 1", "two 2"]
    assert list(read_documents(Path("key", "sun.txt.gz")).names) == ["sun"]
    assert list(read_documents(Path("key", "two.conll")).names) == ["1", "2"]


def test_other_files_of_a_folder_are_left_out(tree):
    expected = list(read_documents(tree).names)
    about = ("README.md", "LICENSE", "b/README.txt", "notes.txt", "notes.ann")
    for name in about:
        (tree / name).write_text("About [the guidelines](guide).\n")
    documents = read_documents(tree)
    assert list(documents.names) == expected
    assert documents.notices[0] == (
        "tree: 5 files are left out: 'LICENSE', 'README.md', 'b/README.txt', … "
        "(expected files of coreference)"
    )


def test_an_export_of_a_tool_is_left_out_beside_rows_and_refused_if_it_is_gzipped(tree):
    expected = list(read_documents(tree).names)
    export = '[{"id": 1, "annotations": [{"id": 2, "result": []}], "data": {"text": "Ida"}}]'
    (tree / "export.json").write_text(export)
    documents = read_documents(tree)
    assert list(documents.names) == expected
    assert documents.notices[0].startswith("tree: 1 file is left out: 'export.json'")
    Path("export.json.gz").write_bytes(gzip.compress(export.encode()))
    with pytest.raises(FormatError, match="expected a file that is neither gzipped nor a pipe"):
        read_documents(Path("export.json.gz"))


def test_a_folder_of_texts_and_one_without_coreference(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = Path("texts")
    texts.mkdir()
    (texts / "README.txt").write_text("About.\n")
    (texts / "a.txt").write_text("No mention.\n")
    assert len(read_documents(texts)) == 1
    (texts / "a.txt").rename(texts / "a.ann")
    (found,) = problems(texts)
    assert found.startswith("texts: contains no file of coreference (expected CoNLL, ")
    assert found.endswith("), but 'README.txt', 'a.ann'")
    Path("conll").mkdir()
    write_conll(Path("conll/a.conll"), {"a": []})
    assert problems(texts)[0].endswith("; did you mean conll?")


@pytest.mark.filterwarnings("ignore:.*has the same name:closeread.CloseReadWarning")
@pytest.mark.filterwarnings("ignore:.*matched by name and part:closeread.CloseReadWarning")
def test_two_files_with_documents_of_one_name(tmp_path):
    sides = []
    for side, clusters in (("key", CLUSTERS), ("response", [CLUSTERS[0]])):
        (folder := tmp_path / side).mkdir()
        write_jsonl(folder / "de.jsonl", {"ferry": CLUSTERS, "other": []})
        write_jsonl(folder / "en.jsonl", {"ferry": clusters})
        sides.append(folder)
    key = read_documents(sides[0])
    assert list(key.names) == ["de/ferry", "other", "en/ferry"]
    assert any("'de/ferry', 'en/ferry'" in notice for notice in key.notices)
    # Of the 6 mentions of the key, the response lacks the singleton of one file.
    assert report_files(*sides).total.scores["mentions/recall"].value == pytest.approx(5 / 6)
    (sides[1] / "de.jsonl").unlink()
    assert report_files(*sides).total.scores["mentions/recall"].value == pytest.approx(2 / 6)
    write_jsonl(sides[1] / "fr.jsonl", {"ferry": []})
    with pytest.raises(SubmissionError, match="document 'fr/ferry' is not in the key"):
        report_files(*sides)


def write_named(path, suffix):
    """Write documents of which two files have one of the same name; returns the folder."""
    folder = path / suffix
    folder.mkdir()
    for file in ("de", "en"):
        record = {"document": "ferry", "clusters": CLUSTERS}
        if suffix == "conllu":
            write_corefud(folder / f"{file}.conllu", {1: "(e1-x-1-)", 2: "(e1-x-1-)"})
        elif suffix == "conll":
            write_conll(folder / f"{file}.conll", {"ferry": CLUSTERS})
        elif suffix == "json":
            row = {"doc_id": "ferry", "tokens": list("abcd"), "clusters_token_offsets": CLUSTERS}
            (folder / f"{file}.json").write_text(json.dumps([row]), "utf-8")
        else:
            (folder / f"{file}.jsonl").write_text(json.dumps(record), "utf-8")
    return folder


@pytest.mark.filterwarnings("ignore:.*has the same name:closeread.CloseReadWarning")
@pytest.mark.parametrize("suffix", ["conll", "conllu", "jsonl", "json"])
def test_two_treebanks_of_every_format_may_have_documents_of_one_name(tmp_path, suffix):
    folder = write_named(tmp_path, suffix)
    names = list(read_documents(folder).names)
    assert [name.partition("/")[0] for name in names] == ["de", "en"]
    assert len({name.partition("/")[2] for name in names}) == 1
    report = report_files(folder, folder)
    assert report.total.n_units == 2
    assert report.total.scores["mentions/f1"].value == 1


@pytest.mark.filterwarnings("ignore:.*has the same name:closeread.CloseReadWarning")
@pytest.mark.filterwarnings("ignore:.*matched by name and part:closeread.CloseReadWarning")
@pytest.mark.filterwarnings("ignore:1 document of the response left out:closeread.CloseReadWarning")
def test_the_response_alone_has_documents_of_one_name(tmp_path):
    key, response = tmp_path / "key", tmp_path / "response"
    for folder in (key, response):
        folder.mkdir()
        write_jsonl(folder / "de.jsonl", {"ferry": CLUSTERS})
        write_jsonl(folder / "fr.jsonl", {"train": CLUSTERS})
    write_jsonl(response / "en.jsonl", {"ferry": []})
    with pytest.raises(SubmissionError, match="document 'en/ferry' is not in the key"):
        report_files(key, response)
    report = report_files(key, response, extra="skip")
    assert report.total.scores["mentions/f1"].value == 1


def write_broken(folder, broken):
    """Write three documents of two mentions, of which one is in a file that is broken."""
    folder.mkdir()
    for name in "abc":
        cells = ["(1", "(2)"] if name == broken else ["(1)", "(1)"]
        rows = "".join(f"w\t{cell}\n" for cell in cells)
        text = f"#begin document ({name})\n{rows}#end document\n"
        (folder / f"file_{name}.conll").write_text(text, "utf-8")
    return folder


@pytest.mark.filterwarnings("ignore:.*1 file with errors is left out:closeread.CloseReadWarning")
@pytest.mark.parametrize("missing", ["empty", "skip", "error"])
def test_broken_files_are_left_out_on_both_sides(tmp_path, missing):
    key, response = write_broken(tmp_path / "k", "b"), write_broken(tmp_path / "r", "c")
    with pytest.raises(FormatError, match=r"never closes; leave out .* by skip_invalid='true'"):
        report_files(key, response)
    left_out = r"file with errors is left out: 'file_b\.conll'; first: file_b\.conll:2: column 2: entity 1 opens"
    with pytest.warns(CloseReadWarning, match=left_out):
        report = report_files(key, response, skip_invalid="true", missing=missing)
    assert report.total.n_units == 1
    assert report.total.scores["mentions/f1"].value == 1
    assert "skip_invalid:true" in report.provenance.signature
    whole = write_broken(tmp_path / "w", "")
    assert report_files(whole, response, skip_invalid="true").total.n_units == 2
    verdict = validate("coref", response, gold=whole, skip_invalid="true", missing=missing)
    assert (verdict.rows, verdict.total, verdict.left_out) == (2, 3, 1)
    assert str(verdict).endswith(" have predictions; 1 document left out, in files with errors")
    assert validate("coref", response, gold=key, skip_invalid="true").to_dict()["left_out"] == 2
    assert "left out" not in str(validate("coref", whole, gold=whole))
    assert report_files(key, whole, skip_invalid="true").total.n_units == 2


@pytest.mark.filterwarnings("ignore:.*1 file with errors is left out:closeread.CloseReadWarning")
@pytest.mark.parametrize("missing", ["empty", "skip", "error"])
@pytest.mark.filterwarnings("ignore:1 document aligned:closeread.CloseReadWarning")
@pytest.mark.filterwarnings("ignore:1 word of the response differs:closeread.CloseReadWarning")
@pytest.mark.parametrize(("words", "n_found"), [("warn", 4), ("ignore", 4), ("align", 3)])
def test_broken_files_are_left_out_however_words_are_compared(tmp_path, words, n_found, missing):
    key, response = write_broken(tmp_path / "k", ""), write_broken(tmp_path / "r", "c")
    other_word = (response / "file_a.conll").read_text("utf-8").replace("w\t", "v\t", 1)
    (response / "file_a.conll").write_text(other_word, "utf-8")
    report = report_files(key, response, skip_invalid="true", words=words, missing=missing)
    assert report.total.n_units == 2
    # A mention of a word that is not the key's stands nowhere in the key.
    assert report.total.scores["mentions/recall"].value == n_found / 4


def test_broken_files_on_the_command_line(run, tmp_path):
    key, response = write_broken(tmp_path / "k", ""), write_broken(tmp_path / "r", "c")
    done = run("score", "coref", key, response)
    assert (done.exit_code, "by --skip-invalid true" in done.stderr) == (1, True)
    done = run("errors", "coref", key, response, "--skip-invalid", "true")
    assert (done.exit_code, re.search(r"missing mention +(\d)", done.stdout)[1]) == (0, "0")
    for command in ("validate", "score"):
        assert run(command, "coref", key, response, "--skip-invalid", "true").exit_code == 0
