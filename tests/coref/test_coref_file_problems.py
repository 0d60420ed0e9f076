"""Messages for a key and a response that do not fit each other."""

import pytest
from shared.conll_documents import as_ontonotes, document
from shared.coreference import (
    KEY,
    RESPONSE,
    compare_files,
    read_response,
    report_files,
    write_conll,
    write_jsonl,
)

from closeread.exceptions import CloseReadWarning, RequestError, SubmissionError
from closeread.tasks.annotation.annotators import AnnotatorFile, find_ungiven
from closeread.tasks.coref.files import read_documents
from closeread.tasks.coref.formats.lines import StoredWords


@pytest.fixture
def files(tmp_path):
    """Key and response as JSON Lines, the response's documents in another order."""
    return write_jsonl(tmp_path / "key.jsonl", KEY), write_jsonl(
        tmp_path / "response.jsonl", dict(reversed(RESPONSE.items()))
    )


def test_a_wrong_order_and_a_wrong_separator_are_told_in_one_line(files, tmp_path, run):
    part = write_jsonl(tmp_path / "part.jsonl", {"a": KEY["a"]})
    found = "document 'b' is not in the key; --extra skip leaves out what the key lacks"
    swapped = "(or are key and response swapped? The key comes first)"
    assert run("score", "coref", str(part), str(files[0])).stderr == (
        f"Error: {files[0]}: {found} {swapped}\n"
    )
    commas = tmp_path / "commas.conll"
    rows = "d,0,0,Ann,(0)\nd,0,1,saw,-\nd,0,2,her,(0)\n"
    commas.write_text(f"#begin document (d); part 000\n{rows}#end document\n")
    assert run("score", "coref", str(files[0]), str(commas)).stderr == (
        f"Error: {commas}: columns are separated by commas (expected white space)\n"
    )
    page = tmp_path / "page.html"
    page.write_text("<!doctype html>\n<html lang='en'>\n")
    assert f"{page}: is a page in HTML" in run("score", "coref", str(files[0]), str(page)).stderr
    assert "(found 1: 'part'; " in run("compare", "coref", str(files[0]), str(part)).stderr


def test_documents_that_only_one_file_has(files, tmp_path):
    other = write_jsonl(tmp_path / "other.jsonl", {"a": RESPONSE["a"], "c": [], "d": []})
    with pytest.raises(SubmissionError) as caught:
        read_response(files[0], other, missing="error")
    assert [p.text for p in caught.value.problems] == [
        "2 documents are not in the key: 'c', 'd'; extra='skip' leaves out what the key lacks",
        "1 of the 2 documents of the key has no response: 'b'. Add them, or use missing='empty' or missing='skip'",
    ]
    alone = write_jsonl(tmp_path / "alone.jsonl", {"b": RESPONSE["b"]})
    response = read_response(files[0], alone)
    assert [document.is_absent for document in response.documents] == [True, False]


def test_repeated_mentions(tmp_path):
    key = write_conll(tmp_path / "key.conll", KEY)
    twice = write_conll(
        tmp_path / "twice.conll",
        {**KEY, "b": [[[0, 0], [3, 3]], [[3, 3], [4, 4]], [[2, 2], [2, 2]]]},
    )
    with pytest.raises(SubmissionError) as caught:
        read_response(key, twice)
    advice = "keep one of them, or use duplicates='last' or duplicates='reference'"
    assert [(p.line, p.text) for p in caught.value.problems] == [
        (
            16,
            f"document 'b; part 000': the mention of tokens 2 to 2 is twice in entity '2'; {advice}",
        ),
        (
            17,
            f"document 'b; part 000': the mention of tokens 3 to 3 is in entities '0' and '1'; {advice}",
        ),
    ]
    # A key is what it is: its repeated mentions are counted as by the reference scorer.
    assert read_response(twice, key)
    assert read_response(key, twice, duplicates="first")


@pytest.mark.parametrize(
    ("key", "response", "message"),
    [
        (
            '"n_tokens": 3, "clusters": []',
            '"n_tokens": 4, "clusters": []',
            "has 4 tokens, but 3 in the key",
        ),
        (
            '"n_tokens": 3, "clusters": []',
            '"clusters": [[[3, 3]]]',
            r"the mention \[3, 3\] is outside the document, which",
        ),
        (
            '"clusters": [[[5, 5]]]',
            '"n_tokens": 3, "clusters": []',
            r"has 3 tokens, but the key has a mention \[5, 5\]",
        ),
    ],
)
def test_lengths_that_differ(tmp_path, key, response, message):
    paths = tmp_path / "k.jsonl", tmp_path / "r.jsonl"
    for path, rest in zip(paths, (key, response), strict=True):
        path.write_text(f'{{"document": "a", {rest}}}\n')
    with pytest.raises(SubmissionError, match=message):
        read_response(*paths)


def test_a_part_belongs_to_the_name(tmp_path):
    text = document("w\t-", name="(a); part 000") + document("w\t-", name="(a); part 1")
    (key := tmp_path / "key.conll").write_text(text, "utf-8")
    with pytest.raises(
        SubmissionError, match="document 'a' is not in the key; did you mean 'a; part"
    ):
        read_response(key, write_jsonl(tmp_path / "r.jsonl", {"a": []}))


@pytest.mark.parametrize(
    ("in_key", "in_response"),
    [
        ("(a); part 000", "(a); part 0"),
        ("(a); part 0", "(a); part 00"),
        ("(a); part 3", "(a); part 003"),
        ("(a); part 0", "(a)"),
        ("(a); part 7", "(a_07)"),
        ("(a_0)", "(a)"),
    ],
)
def test_parts_are_compared_as_numbers(tmp_path, in_key, in_response):
    paths = tmp_path / "key.conll", tmp_path / "response.conll"
    for path, name in zip(paths, (in_key, in_response), strict=True):
        path.write_text(document("w\t(1)", name=name), "utf-8")
    with pytest.warns(CloseReadWarning, match="1 document matched by name and part"):
        report = report_files(*paths)
    assert report.total.scores["mentions/f1"].value == 1


def test_responses_that_lack_different_documents(tmp_path):
    paths = [write_jsonl(tmp_path / "k.jsonl", KEY)]
    paths += [write_jsonl(tmp_path / f"{name}.jsonl", {name: RESPONSE[name]}) for name in KEY]
    assert compare_files(*paths)
    with pytest.raises(RequestError, match="With missing='skip', all systems must cover the same"):
        compare_files(*paths, missing="skip")


MANY = 300
CONLL_KEY = "".join(
    document(*(f"w\t(1)|({i})" if i % 2 else "w\t-" for i in range(MANY)), name=f"({name})")
    for name in "ab"
)
CONLLU_KEY = "# global.Entity = eid-etype-head-other\n" + "".join(
    f"# newdoc id = {name}\n"
    + "".join(
        f"{i}\tw\t_\t_\t_\t_\t{i - 1}\t_\t_\tEntity=(e1-x-1-)(f{i}-x-1-)\n"
        if i % 2
        else f"{i}\tw\t_\t_\t_\t_\t{i - 1}\t_\t_\t_\n"
        for i in range(1, MANY)
    )
    + "\n"
    for name in "ab"
)


@pytest.mark.parametrize(
    "text",
    [CONLL_KEY, as_ontonotes(CONLL_KEY), CONLLU_KEY],
    ids=["conll", "ontonotes", "conllu"],
)
def test_the_lines_of_many_problems_are_looked_up_in_one_reading(tmp_path, monkeypatch, text):
    file = tmp_path / "key"
    file.write_text(text, "utf-8")
    parsed = []
    read = StoredWords._iterate_lines
    monkeypatch.setattr(
        StoredWords,
        "_iterate_lines",
        lambda *arguments: parsed.append(arguments) or read(*arguments),
    )
    with pytest.raises(SubmissionError) as caught:
        read_response(file, file)
    found = caught.value.problems
    assert len(found) == MANY
    lines = text.splitlines()
    assert all("(1)" in lines[one.line - 1] or "(e1" in lines[one.line - 1] for one in found)
    assert len({one.line for one in found}) == MANY
    assert len(parsed) == 2  # once for each document
    table = read_documents(file)
    parsed.clear()
    (tmp_path / "given").write_text(
        document("w\t-", name="(a)") + document("w\t-", name="(b)"), "utf-8"
    )
    given = AnnotatorFile("given", read_documents(tmp_path / "given"))
    assert len(find_ungiven(table, given)) == 2 * MANY
    assert len(parsed) == 2
