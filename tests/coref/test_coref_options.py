"""What the options of the coreference procedure do, by hand, and that every door gives the same scores."""

import json
from dataclasses import replace
from fractions import Fraction

import evaluate
import numpy as np
import pytest

import closeread
from closeread.counts.report import Resampling
from closeread.counts.table import merge
from closeread.errors import FormatError, RequestError, SubmissionError
from closeread.tasks.coref.columns import content_digest, mention_table
from closeread.tasks.coref.conll_writer import dump_conll
from closeread.tasks.coref.coref_json import read_coref_json
from closeread.tasks.coref.procedure import PROCEDURE, TITLES, with_metrics
from closeread.tasks.coref.sides import compare, read_documents, read_pair, score

NO_INTERVALS = Resampling(0)
KEY = {"a": [[[0, 0], [1, 1], [2, 2]], [[3, 3], [4, 4], [5, 5], [6, 6]]], "b": [[[0, 1], [3, 3]], [[2, 2]]]}
RESPONSE = {"a": [[[0, 0], [1, 1]], [[2, 2], [3, 3]], [[5, 5], [6, 6], [7, 7], [8, 8]]], "b": [[[0, 1], [3, 3]]]}


def scores(key, response, metrics=tuple(TITLES), **options):
    """Scores of two mappings from names to clusters, as `count` sees them."""
    gold = [{"document": name, "clusters": clusters} for name, clusters in key.items()]
    system = [None if name not in response else {"document": name, "clusters": response[name]} for name in key]
    procedure = with_metrics(metrics)
    table = procedure.count(gold=gold, system=system, **options)
    totals = table.values.sum(axis=0)
    return {metric.name: float(metric.score(totals, table.names)) for metric in procedure.metrics}


def is_fraction(value, text):
    return value == pytest.approx(float(Fraction(text)), abs=1e-12)


def test_counts_are_summed_over_documents():
    # LEA: a has 5/3 of 7 and 8/3 of 8, b 2 of 3 (the singleton is missing) and 2 of 2.
    found = scores(KEY, RESPONSE)
    assert is_fraction(found["lea/recall"], Fraction(5, 3) / 10 + Fraction(2, 10))
    assert is_fraction(found["lea/precision"], (Fraction(8, 3) + 2) / 10)
    assert is_fraction(found["mentions/recall"], "8/10")


def test_or_scores_are_averaged():
    found = scores(KEY, RESPONSE, average="macro")
    assert is_fraction(found["lea/recall"], (Fraction(5, 21) + Fraction(2, 3)) / 2)
    assert is_fraction(found["lea/precision"], (Fraction(1, 3) + 1) / 2)
    # F1 of a is 5/18, of b 4/5: their mean, not the F1 of the means.
    assert is_fraction(found["lea/f1"], (Fraction(5, 18) + Fraction(4, 5)) / 2)
    # MUC of b is 1; CEAFe of b: 1 of 2 and 1 of 1, F1 2/3; B3 of b: 2/3 and 1, F1 4/5.
    a = (Fraction(2, 5) + Fraction(5, 11) + Fraction(13, 25)) / 3
    b = (1 + Fraction(4, 5) + Fraction(2, 3)) / 3
    assert is_fraction(found["conll/f1"], (a + b) / 2)


def test_one_document_is_its_own_average():
    one = ({"a": KEY["a"]}, {"a": RESPONSE["a"]})
    assert scores(*one, average="macro") == pytest.approx(scores(*one), abs=1e-12)


@pytest.mark.parametrize(("missing", "recall"), [("empty", "5/30"), ("skip", "5/21")])
def test_documents_without_a_response(missing, recall):
    # With b as an empty response, LEA finds 5/3 of 10; without it, 5/3 of 7.
    assert is_fraction(scores(KEY, {"a": RESPONSE["a"]}, missing=missing)["lea/recall"], recall)


def test_documents_without_a_response_may_be_an_error():
    with pytest.raises(ValueError, match="1 of 2 documents have no response"):
        scores(KEY, {"a": RESPONSE["a"]}, missing="error")


def test_singletons_can_be_dropped():
    kept, dropped = (scores(KEY, RESPONSE, keep_singletons=keep) for keep in ("true", "false"))
    assert is_fraction(kept["b3/recall"], (Fraction(35, 12) + 2) / 10)
    assert is_fraction(dropped["b3/recall"], (Fraction(35, 12) + 2) / 9)
    # A mention that stands alone on one side only is then found on neither.
    gone = scores({"a": [[[0, 0], [1, 1]]]}, {"a": [[[0, 0]]]}, keep_singletons="false")
    assert gone["mentions/recall"] == 0


def test_edges_of_blanc():
    key, response = {"a": [[[0, 0], [1, 1]]]}, {"a": [[[0, 0], [1, 1]], [[2, 2]], [[3, 3]], [[4, 4]]]}
    assert scores(key, response)["blanc/f1"] == 1
    for average in ("micro", "macro"):
        assert scores(key, response, blanc_edge="luo2014", average=average)["blanc/f1"] == 0.5


def test_duplicates():
    twice = {"a": [[[0, 0], [1, 1]], [[1, 1], [2, 2]]]}
    once = {"a": [[[0, 0], [1, 1]], [[2, 2]]]}
    with pytest.raises(ValueError, match="the response has mentions that stand twice"):
        scores(once, twice)
    assert scores(once, twice, duplicates="first") == scores(once, once)
    assert scores(twice, once, duplicates="first") == scores(once, once)
    # The reference scorer drops the response's repeats, and keeps the key's (`test_reference.py`).
    assert scores(once, twice, duplicates="reference") == scores(once, once)
    assert scores(twice, once, duplicates="reference") != scores(once, once)


def test_metrics_are_the_same_alone():
    every = scores(KEY, RESPONSE)
    for name in TITLES:
        alone = scores(KEY, RESPONSE, metrics=(name,))
        assert alone == {full: value for full, value in every.items() if full.startswith(f"{name}/")}
        mean = scores(KEY, RESPONSE, metrics=(name,), average="macro")
        assert set(mean) == set(alone)


def test_counts_of_shards_add():
    def table(names):
        gold = [{"document": n, "clusters": KEY[n]} for n in names]
        return PROCEDURE.count(gold=gold, system=[{"document": n, "clusters": RESPONSE[n]} for n in names])

    both, apart = table(["a", "b"]), merge([table(["a"]), table(["b"])])
    assert both.units == apart.units
    np.testing.assert_array_equal(both.values, apart.values)


@pytest.mark.parametrize("metric", ["mctaco", "leo", ""])
def test_metrics_that_do_not_exist(metric):
    with pytest.raises(RequestError, match="no coreference metric"):
        with_metrics((metric,))


def test_matching_heads_needs_heads():
    with pytest.raises(RequestError, match="matching head needs heads on both sides, which only CorefUD files tell"):
        scores(KEY, RESPONSE, matching="head")


# Files


def jsonl(path, documents):
    rows = [{"document": name, "clusters": clusters} for name, clusters in documents.items()]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def files(tmp_path):
    """Key and response as JSON Lines, the response's documents in another order."""
    return jsonl(tmp_path / "key.jsonl", KEY), jsonl(tmp_path / "response.jsonl", dict(reversed(RESPONSE.items())))


def conll(path, documents, length=9):
    """The documents as CoNLL, with invented words."""
    lines = []
    for name, clusters in documents.items():
        cells = [[] for _ in range(length)]
        for number, cluster in enumerate(clusters):
            for start, end in cluster:
                if start == end:
                    cells[start].append(f"({number})")
                else:
                    cells[start].insert(0, f"({number}")
                    cells[end].append(f"{number})")
        rows = [f"{name}\t0\t{i}\tword{i}\tX\t{'|'.join(cell) or '-'}" for i, cell in enumerate(cells)]
        lines += [f"#begin document ({name}); part 000", *rows, "", "#end document"]
    path.write_text("\n".join(lines) + "\n")
    return path


def as_values(report):
    return {name: estimate.value for name, estimate in report.total.scores.items()}


def test_files_give_the_same(files, tmp_path):
    assert as_values(score(*files, resampling=NO_INTERVALS)) == pytest.approx(scores(KEY, RESPONSE), abs=1e-15)
    pair = conll(tmp_path / "key.conll", KEY), conll(tmp_path / "response.conll", RESPONSE)
    assert as_values(score(*pair, resampling=NO_INTERVALS)) == pytest.approx(scores(KEY, RESPONSE), abs=1e-15)


def test_the_digest_knows_neither_format_nor_order(tmp_path):
    names = {f"{name}; part 000": clusters for name, clusters in KEY.items()}
    turned = {name: [cluster[::-1] for cluster in clusters[::-1]] for name, clusters in names.items()}
    conll_file = conll(tmp_path / "key.conll", KEY)
    tables = [read_documents(conll_file), read_coref_json(jsonl(tmp_path / "k.jsonl", names))]
    tables.append(read_coref_json(jsonl(tmp_path / "t.jsonl", turned)))
    assert len({content_digest(table) for table in tables}) == 1
    reordered = dict(reversed(turned.items()))
    assert content_digest(read_coref_json(jsonl(tmp_path / "d.jsonl", reordered))) == content_digest(tables[0])
    other = {**names, "b; part 000": [[[0, 1], [2, 2]], [[3, 3]]]}
    assert content_digest(read_coref_json(jsonl(tmp_path / "o.jsonl", other))) != content_digest(tables[0])


def test_modules_give_the_same(files, offline_caches):
    every = as_values(score(*files, resampling=NO_INTERVALS))
    for name in PROCEDURE.modules:
        module = evaluate.load(name)
        found = module.compute(predictions=[RESPONSE["a"], RESPONSE["b"]], references=[KEY["a"], KEY["b"]])
        assert found == pytest.approx({n: every[n] for n in found}, abs=1e-15)
        module.add(prediction=RESPONSE["a"], reference=KEY["a"])
        module.add_batch(predictions=[RESPONSE["b"]], references=[KEY["b"]])
        assert module.compute() == pytest.approx(found, abs=1e-15)
        assert module.compute(predictions=[], references=[]) == dict.fromkeys(found, 0.0)


@pytest.fixture
def offline_caches(monkeypatch, tmp_path):
    monkeypatch.setattr(evaluate.config, "HF_METRICS_CACHE", tmp_path / "hf-metrics")


def test_a_module_takes_arrays_and_tuples(offline_caches):
    lea = closeread.load_metric("coref_lea")
    wanted = lea.compute(predictions=[RESPONSE["a"]], references=[KEY["a"]])
    assert (
        lea.compute(
            predictions=[[np.array(cluster) for cluster in RESPONSE["a"]]],
            references=[[tuple(tuple(mention) for mention in cluster) for cluster in KEY["a"]]],
        )
        == wanted
    )
    both = {"references": [KEY["a"], KEY["b"]], "keep_singletons": False}
    report = lea.report(predictions=[RESPONSE["a"], None], **both, resampling=NO_INTERVALS)
    assert as_values(report) == lea.compute(predictions=[RESPONSE["a"], []], **both)
    assert report.provenance.missing == 1
    assert "keep_singletons:false" in report.provenance.signature


BAD_MODULE_INPUT = {
    "a mention of three": ([[[0, 1, 2]]], "row 0: [0][0]: [0, 1, 2] is too long"),
    "a share of a token": ([[[0, 1.5]]], "row 0: [0][0][1]: 1.5 is not of type 'integer'"),
    "an end before its start": ([[[3, 2]]], "row 0: [3, 2] ends before it starts; needed: [start, end]"),
    "a mention twice": (
        [[[0, 0]], [[0, 0], [1, 1]]],
        "row 0: [0, 0] stands in entities 0 and 1, counted from 0; "
        "needed: once, unless duplicates is first or reference",
    ),
    "an entity without mentions": ([[]], "row 0: [0]: [] should be non-empty"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_MODULE_INPUT)
def test_bad_input_of_a_module(name, offline_caches):
    clusters, message = BAD_MODULE_INPUT[name]
    with pytest.raises(SubmissionError) as caught:
        closeread.load_metric("coref_muc").compute(predictions=[clusters], references=[KEY["a"]])
    assert str(caught.value) == f"predictions: {message}"


def test_intervals_and_tests_by_document(tmp_path):
    rng = np.random.default_rng(0)
    key, good, bad = {}, {}, {}
    for i in range(40):
        entities = [[[3 * e + m, 3 * e + m] for m in range(3)] for e in range(4)]
        key[f"d{i}"] = entities
        good[f"d{i}"] = [entity[: 2 + int(rng.random() < 0.9)] for entity in entities]
        bad[f"d{i}"] = [entity[: 2 + int(rng.random() < 0.2)] for entity in entities]
    paths = [jsonl(tmp_path / f"{n}.jsonl", d) for n, d in (("key", key), ("bad", bad), ("good", good))]
    report = score(*paths[:2])
    assert report.total.n_blocks == 40
    lea = report.total.scores["lea/f1"]
    assert lea.low < lea.value < lea.high
    found = compare(*paths, metrics=("lea", "conll"))
    assert found.differences["conll/f1"].value > 0
    assert found.differences["conll/f1"].p_randomization < 0.01


# What is wrong with files


def test_documents_that_only_one_file_has(files, tmp_path):
    other = jsonl(tmp_path / "other.jsonl", {"a": RESPONSE["a"], "c": [], "d": []})
    with pytest.raises(SubmissionError) as caught:
        read_pair(files[0], other, missing="error")
    assert [p.what for p in caught.value.problems] == [
        "document 'c' is not in the key; needed: none but the key's",
        "document 'd' is not in the key; needed: none but the key's",
        "lacks 1 of the 2 documents of the key: 'b'; needed: all of them, unless missing is empty or skip",
    ]
    alone = jsonl(tmp_path / "alone.jsonl", {"b": RESPONSE["b"]})
    assert read_pair(files[0], alone).response.absent == {0}


def test_mentions_that_stand_twice(tmp_path):
    key = conll(tmp_path / "key.conll", KEY)
    twice = conll(tmp_path / "twice.conll", {**KEY, "b": [[[0, 0], [3, 3]], [[3, 3], [4, 4]], [[2, 2], [2, 2]]]})
    with pytest.raises(SubmissionError) as caught:
        read_pair(key, twice)
    needed = "needed: once, unless duplicates is first or reference"
    assert [(p.line, p.what) for p in caught.value.problems] == [
        (16, f"document 'b; part 000': the mention of tokens 2 to 2 stands twice in entity '2'; {needed}"),
        (17, f"document 'b; part 000': the mention of tokens 3 to 3 stands in entities '0' and '1'; {needed}"),
    ]
    with pytest.raises(FormatError, match="stands in entities"):
        read_pair(twice, key)
    assert read_pair(key, twice, duplicates="first")


def test_other_tokens(tmp_path):
    key, response = conll(tmp_path / "key.conll", KEY), conll(tmp_path / "response.conll", RESPONSE)
    response.write_text(response.read_text().replace("word5", "Word5", 1))
    with pytest.raises(SubmissionError, match=r"response\.conll:7: .*Word5.*word5"):
        read_pair(key, response)


def test_mentions_beyond_the_key(tmp_path):
    key = conll(tmp_path / "key.conll", KEY)
    response = jsonl(tmp_path / "r.jsonl", {"a; part 000": [[[0, 0], [8, 9]]], "b; part 000": []})
    with pytest.raises(SubmissionError, match=r"the mention \[8, 9\] is not in the document, which has 9 tokens"):
        read_pair(key, response)


def test_a_response_in_another_order_keeps_its_entities(tmp_path):
    # The same clusters, document by document, in any order of documents.
    key = jsonl(tmp_path / "key.jsonl", KEY)
    wanted = as_values(score(key, jsonl(tmp_path / "r.jsonl", RESPONSE), resampling=NO_INTERVALS))
    three = {"x": [[[0, 0]]], **KEY}
    first = score(jsonl(tmp_path / "k3.jsonl", three), jsonl(tmp_path / "r3.jsonl", {"x": [[[0, 0]]], **RESPONSE}))
    turned = {"b": RESPONSE["b"], "x": [[[0, 0]]], "a": RESPONSE["a"]}
    assert as_values(score(tmp_path / "k3.jsonl", jsonl(tmp_path / "t3.jsonl", turned))) == as_values(first)
    assert wanted != as_values(first)


def test_written_files_read_back(tmp_path):
    table = mention_table(list(KEY), list(KEY.values()))
    (tmp_path / "written.conll").write_text(dump_conll(replace(table, n_tokens=np.array([9, 9]))))
    assert [d["clusters"] for d in read_documents(tmp_path / "written.conll")] == list(KEY.values())


# Options together


CORPUS_UD = """# newdoc id = d
# global.Entity = eid-etype-head-other
# sent_id = 1
{rows}

"""


def corefud(path, cells, words=None):
    """One document as CorefUD, a row a cell; ids as they are numbered."""
    rows = [
        f"{number}\t{(words or {}).get(number, 'w')}\t_\tNOUN\t_\t_\t_\t_\t_\t{f'Entity={cell}' if cell else '_'}"
        for number, cell in cells.items()
    ]
    path.write_text(CORPUS_UD.format(rows="\n".join(rows)))
    return path


def test_singletons_are_dropped_before_heads_are_matched(tmp_path):
    # e2 of the response is nearer to the long mention of the key than e1's, but alone: it must not take its place.
    key = corefud(tmp_path / "k.conllu", {1: "(e1-x-2-", 2: "", 3: "", 4: "e1)", 5: "", 6: "(e1-x-1-)"})
    cells = {1: "(e2-x-2-", 2: "(e1-x-1-)", 3: "e2)", 4: "", 5: "", 6: "(e1-x-1-)"}
    response = corefud(tmp_path / "r.conllu", cells)
    kept, dropped = (
        as_values(score(key, response, resampling=NO_INTERVALS, matching="head", keep_singletons=keep))
        for keep in ("true", "false")
    )
    assert kept["lea/f1"] == 0
    assert dropped["lea/f1"] == dropped["conll/f1"] == 1


def test_repeats_go_before_singletons():
    key = {"a": [[[0, 0], [1, 1]], [[1, 1], [2, 2]], [[5, 5], [5, 5]]]}
    response = {"a": [[[0, 0], [1, 1]]]}
    found = scores(key, response, duplicates="first", keep_singletons="false")
    assert found["mentions/recall"] == found["ceafe/recall"] == 1
    assert scores(key, response, duplicates="first")["mentions/recall"] == 0.5


def test_what_stands_twice_does_not_depend_on_matching(tmp_path):
    cells = {1: "(e1-x-1-(e2-x-2-", 2: "e2)e1)", 3: "(e1-x-1-)"}
    path = corefud(tmp_path / "k.conllu", cells)
    for matching in ("exact", "head", "partial"):
        with pytest.raises(FormatError, match="tokens 0 to 1 stands in entities 'e1' and 'e2'"):
            score(path, path, matching=matching)
        report = score(path, path, matching=matching, duplicates="first", resampling=NO_INTERVALS)
        assert report.total.counts["mentions/key"] == 2


def test_heads_are_part_of_the_gold_where_they_are_compared(tmp_path):
    paths = [corefud(tmp_path / f"{h}.conllu", {1: f"(e1-x-{h}-", 2: "e1)", 3: "(e1-x-1-)"}) for h in (1, 2)]
    signatures = {
        matching: {score(path, path, matching=matching).provenance.signature for path in paths}
        for matching in ("exact", "head")
    }
    assert [len(signatures[matching]) for matching in ("exact", "head")] == [1, 2]


def test_empty_nodes_have_no_words(tmp_path):
    cells = {"1": "(e1-x-1-)", "1.1": "(e1-x-1-)", "2": ""}
    key = corefud(tmp_path / "k.conllu", cells, {"1.1": "él"})
    response = corefud(tmp_path / "r.conllu", cells, {"1.1": "ella"})
    assert as_values(score(key, response, resampling=NO_INTERVALS))["lea/f1"] == 1
    fewer = corefud(tmp_path / "f.conllu", {"1": "(e1-x-1-)", "2": ""})
    with pytest.raises(SubmissionError, match="'d' has 2 tokens, empty nodes among them; in the key it has 3"):
        read_pair(key, fewer)


def test_an_average_of_nothing_is_undefined():
    def reported(key, response):
        table = PROCEDURE.count(gold=key, system=response, average="macro")
        totals = table.values.sum(axis=0)
        return {metric.name: metric.decided(totals, table.names) for metric in PROCEDURE.metrics}

    assert set(reported([[], []], [[], []]).values()) == {True}
    one = [[[[0, 0], [1, 1]]], []]
    assert not any(reported(one, one).values())


def test_macro_leaves_out_what_is_skipped():
    only_a = scores({"a": KEY["a"]}, {"a": RESPONSE["a"]}, average="macro")
    assert scores(KEY, {"a": RESPONSE["a"]}, average="macro", missing="skip") == only_a


# Files that say more than their mentions


@pytest.mark.parametrize(
    ("key", "response", "message"),
    [
        ('"n_tokens": 3, "clusters": []', '"n_tokens": 4, "clusters": []', "has 4 tokens; in the key it has 3"),
        (
            '"n_tokens": 3, "clusters": []',
            '"clusters": [[[3, 3]]]',
            r"the mention \[3, 3\] is not in the document, which",
        ),
        (
            '"clusters": [[[5, 5]]]',
            '"n_tokens": 3, "clusters": []',
            r"has 3 tokens; the key has a mention \[5, 5\] in it",
        ),
    ],
)
def test_lengths_that_differ(tmp_path, key, response, message):
    paths = tmp_path / "k.jsonl", tmp_path / "r.jsonl"
    for path, rest in zip(paths, (key, response), strict=True):
        path.write_text(f'{{"document": "a", {rest}}}\n')
    with pytest.raises(SubmissionError, match=message):
        read_pair(*paths)


@pytest.mark.parametrize("suffix", [".txt", ".json", ".JSONL", ".conllu"])
def test_the_first_line_tells_the_format(tmp_path, suffix):
    wanted = [d["clusters"] for d in read_documents(conll(tmp_path / "key.conll", KEY))]
    for make in (conll, jsonl):
        assert [d["clusters"] for d in read_documents(make(tmp_path / f"any{suffix}", KEY))] == wanted
    assert read_documents(corefud(tmp_path / f"ud{suffix}", {1: "(e1-x-1-)"})).labels == ["e1"]


def test_a_part_belongs_to_the_name(tmp_path):
    key = conll(tmp_path / "key.conll", KEY)
    with pytest.raises(
        SubmissionError, match="document 'a' is not in the key; there is 'a; part 000', and a part belongs"
    ):
        read_pair(key, jsonl(tmp_path / "r.jsonl", {"a": []}))


def test_responses_that_lack_different_documents(tmp_path):
    paths = [jsonl(tmp_path / "k.jsonl", KEY)]
    paths += [jsonl(tmp_path / f"{name}.jsonl", {name: RESPONSE[name]}) for name in KEY]
    assert compare(*paths)
    with pytest.raises(RequestError, match=r"lacks document '[ab]', which the other has; with missing=skip both"):
        compare(*paths, missing="skip")


def test_metrics_by_one_name_and_none():
    assert [metric.name for metric in with_metrics("lea").metrics] == ["lea/precision", "lea/recall", "lea/f1"]
    with pytest.raises(RequestError, match="no coreference metric is named"):
        with_metrics(())


def test_a_module_refuses_what_is_nested_too_deeply(offline_caches):
    deep = []
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(SubmissionError, match="nested too deeply"):
        closeread.load_metric("coref_lea").compute(predictions=[deep], references=[KEY["a"]])


def test_a_missing_prediction_is_not_added(offline_caches):
    with pytest.raises(SubmissionError, match="predictions: row 0: is None; needed: a prediction"):
        closeread.load_metric("coref_lea").add(prediction=None, reference=KEY["a"])
