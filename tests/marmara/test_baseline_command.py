"""`closeread baseline marmara_coref` on the sample, and bad input."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from twins import marmara_features as twin

import closeread
from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus
from closeread.exceptions import RequestError
from closeread.progress import showing_progress, track
from closeread.tasks.marmara.baseline import predict, predict_mentions
from closeread.tasks.marmara.documents import read_tokens
from closeread.tasks.marmara.mentions import detect_mentions
from closeread.tasks.marmara.operations import ChainLearner
from closeread.tasks.marmara.pairs import A, B

BASELINE = ("baseline", "marmara_coref")
SAMPLE = ("--config", "sample")


@pytest.fixture(scope="module")
def records():
    return read_gold(load_corpus("marmara_coref"), "sample").records


@pytest.fixture(scope="module")
def vectors(records, tmp_path_factory):
    """Random vectors of 16 dimensions for most words of the sample."""
    rng = np.random.default_rng(5)
    forms = {
        token["form"]
        for record in records
        for one in record["sentences"]
        for token in one["tokens"]
    }
    words = sorted({twin.small(twin.stripped(form)) for form in forms})[::2]
    rows = [f"{word} {' '.join(f'{x:.3f}' for x in rng.normal(size=16))}\n" for word in words]
    path = tmp_path_factory.mktemp("vectors") / "random.vec"
    path.write_text(f"{len(words)} 16\n{''.join(rows)}", "utf-8")
    return path


def read_rows(path):
    return [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]


def test_mentions_are_chains_of_their_own(ran, records):
    shown = ran(*BASELINE, "mentions", *SAMPLE, "-o", "m.jsonl")
    rows = read_rows("m.jsonl")
    n = sum(len(detect_mentions(read_tokens(record))) for record in records)
    assert shown == f"m.jsonl: {len(records)} documents, {n} mentions\n"
    assert rows == predict_mentions(records)
    for row, record in zip(rows, records, strict=True):
        assert row["clusters"] == [[list(span)] for span in detect_mentions(read_tokens(record))]
    ran(*BASELINE, "mentions", *SAMPLE, "--derived-modifiers", "include", "-o", "more.jsonl")
    assert read_rows("more.jsonl") == predict_mentions(records, derived_modifiers="include") != rows


def test_mentions_need_no_coreference(ran, run, records):
    sample = Path(__file__).parents[2] / "loaders" / "marmara_coref" / "sample"
    ran(*BASELINE, "mentions", "--treebank", sample / "treebank", "-o", "m.jsonl")
    assert read_rows("m.jsonl") == predict_mentions(records)
    done = run(*BASELINE, "svr", "--treebank", sample / "treebank", "-o", "x.jsonl")
    assert done.exit_code == 1
    assert "the coreference annotation of Marmara was not given" in done.stderr
    assert not Path("x.jsonl").exists()


def test_conll_has_the_same_chains_and_the_sentences(ran):
    ran(*BASELINE, "svr", *SAMPLE, "-o", "a.conll")
    ran(*BASELINE, "svr", *SAMPLE, "-o", "a.jsonl")
    lines = Path("a.conll").read_text("utf-8").splitlines()
    assert lines[0] == "#begin document (77000112)"
    assert lines[1].split("\t")[:2] == ["77000112003.1", "1"]
    scores = [
        ran("score", "marmara_coref", f"a.{suffix}", *SAMPLE, "--json", "--no-ci")
        for suffix in ("conll", "jsonl")
    ]
    assert json.loads(scores[0])["scores"] == json.loads(scores[1])["scores"]


def test_python_has_the_same_baselines(ran, records):
    assert closeread.corpora()["marmara_coref"].baselines == (
        "one-entity",
        "singletons",
        "mentions",
        "svc",
        "svr",
    )
    assert closeread.baseline("marmara_coref", "mentions", config="sample") == predict_mentions(
        records
    )
    for learner in ("svc", "svr"):
        ran(*BASELINE, learner, *SAMPLE, "-o", "theirs.jsonl", "--seed", "3")
        assert closeread.baseline("marmara_coref", learner, config="sample", seed=3) == read_rows(
            "theirs.jsonl"
        )
    with pytest.raises(RequestError, match="no such baseline of marmara_coref: 'svm'"):
        closeread.baseline("marmara_coref", "svm", config="sample")


def test_python_predicts_single_documents_and_writes_links_and_conll(ran, records):
    names = [record["document"] for record in records]
    ran(
        *BASELINE,
        "svr",
        *SAMPLE,
        "-o",
        "theirs.conll",
        "--only",
        names[1],
        "--links",
        "theirs.jsonl",
    )
    for only in (names[1], iter([names[1]])):
        given = {"only": only, "links": "mine.jsonl", "output": Path("mine.conll")}
        rows = closeread.baseline("coref", "svr", config="sample", **given)
        assert [row["document"] for row in rows] == [names[1]]
        for suffix in ("conll", "jsonl"):
            assert (
                Path(f"mine.{suffix}").read_bytes() == Path(f"theirs.{suffix}").read_bytes() != b""
            )
    ran(
        *BASELINE, "mentions", *SAMPLE, "-o", "theirs.conll", "--only", names[1], "--only", names[0]
    )
    rows = closeread.baseline(
        "coref", "mentions", config="sample", only=names[:2], output="mine.conll"
    )
    assert [row["document"] for row in rows] == names[:2]
    assert Path("mine.conll").read_bytes() == Path("theirs.conll").read_bytes()
    with pytest.raises(
        RequestError, match=r"^no such document: ''; no such document: '7700112'\. Did you mean"
    ):
        closeread.baseline("coref", "mentions", config="sample", only=["", "7700112"])
    with pytest.raises(RequestError, match=r"^x is given for two outputs; choose two files$"):
        closeread.baseline("coref", "svr", config="sample", links="./x", output="x")
    assert not Path("x").exists()


@pytest.mark.parametrize(("learner", "features"), [("svc", "T"), ("svr", "TP")])
def test_only_and_repetition_change_nothing(ran, records, learner, features, vectors):
    more = ("--mentions", "predicted", "--features", features, *SAMPLE)
    if features != "T":
        more += ("--vectors", vectors)
    ran(*BASELINE, learner, *more, "-o", "one.jsonl", "--links", "one.links")
    ran(*BASELINE, learner, *more, "-o", "two.jsonl", "--links", "two.links")
    assert Path("one.jsonl").read_bytes() == Path("two.jsonl").read_bytes()
    assert Path("one.links").read_bytes() == Path("two.links").read_bytes()
    names = [records[i]["document"] for i in (3, 1)]
    ran(*BASELINE, learner, *more, "-o", "only.jsonl", "--only", names[0], "--only", names[1])
    rows = read_rows("one.jsonl")
    assert read_rows("only.jsonl") == [rows[1], rows[3]]
    assert [row["document"] for row in rows] == [record["document"] for record in records]


@pytest.mark.parametrize("features", ["T", "TF"])
def test_a_document_is_not_learnt_from_itself(records, vectors, features):
    learner = ChainLearner(features=features, vectors=vectors if features == "TF" else None)
    together = {
        **records[0],
        "clusters": [sorted(span for chain in records[0]["clusters"] for span in chain)],
    }
    found = [
        next(iter(predict([one, *records[1:]], "svr", learner))) for one in (records[0], together)
    ]
    assert list(found[0].iterate_links()) == list(found[1].iterate_links())


def test_the_seed_draws_other_wrong_mentions(ran):
    for seed in (0, 1):
        ran(
            *BASELINE,
            "svr",
            "--mentions",
            "predicted",
            "--seed",
            seed,
            *SAMPLE,
            "-o",
            f"{seed}.jsonl",
            "--links",
            f"{seed}",
        )
    assert Path("0").read_bytes() != Path("1").read_bytes()


@pytest.mark.parametrize("learner", ["svc", "svr"])
def test_links_explain_the_chains(ran, records, learner):
    ran(*BASELINE, learner, *SAMPLE, "-o", "a.jsonl", "--links", "links.jsonl")
    links = read_rows("links.jsonl")
    assert [list(link) for link in links[:1]] == [
        ["document", "first", "second", "features", "score"]
    ]
    for record, row in zip(records, read_rows("a.jsonl"), strict=True):
        own = [link for link in links if link["document"] == record["document"]]
        spans = sorted(
            {tuple(s) for chain in record["clusters"] for s in chain}, key=lambda s: (s[0], -s[1])
        )
        mentions = [twin.Mention(record, span) for span in spans]
        scores = {
            (spans.index(tuple(one["first"])), spans.index(tuple(one["second"]))): one["score"]
            for one in own
        }
        n_candidates = sum(
            mentions[i].type != "pronoun" or mentions[j].type == "pronoun"
            for j in range(len(spans))
            for i in range(j)
        )
        assert len(scores) == len(own) == n_candidates
        for (i, j), link in zip(scores, own, strict=True):
            named = {name for name in twin.features(mentions[i], mentions[j]) if "*" not in name}
            assert link["features"] == [name for name in (*A, *B) if name in named]
        chains = twin.link(learner, spans, [mention.type for mention in mentions], scores)
        assert row["clusters"] == [[list(span) for span in chain] for chain in chains]


def test_a_document_says_nothing_about_its_own_training(records):
    """Another annotation of the document that is predicted changes its mentions, and no score of a pair."""
    record = records[2]
    halves = [chain[:2] for chain in record["clusters"]]
    changed = [*records[:2], {**record, "clusters": halves}, *records[3:]]
    before, after = (
        {
            (tuple(link["first"]), tuple(link["second"])): link["score"]
            for link in next(
                iter(predict(some, "svr", ChainLearner(only=[record["document"]])))
            ).iterate_links()
        }
        for some in (records, changed)
    )
    assert after.items() <= before.items()
    assert 0 < len(after) < len(before)


def test_vectors_change_scores(ran, vectors):
    for features, more in (
        ("T", ()),
        ("TF", ("--vectors", vectors)),
        ("TP", ("--vectors", vectors)),
    ):
        ran(
            *BASELINE,
            "svr",
            *SAMPLE,
            "--features",
            features,
            *more,
            "-o",
            "a.jsonl",
            "--links",
            features,
        )
    found = [read_rows(features) for features in ("T", "TF", "TP")]
    assert [link["features"] for link in found[0]] == [link["features"] for link in found[1]]
    scores = [[link["score"] for link in links] for links in found]
    assert np.abs(np.array(scores[0]) - scores[1]).max() > 0.01
    assert np.abs(np.array(scores[1]) - scores[2]).max() > 0.001


def test_vectors_of_other_words_are_no_use(run, here):
    (here / "v.vec").write_text("1 2\nGargoyle 1 1\n")
    done = run(*BASELINE, "svr", *SAMPLE, "-o", "a.jsonl", "--features", "TF", "--vectors", "v.vec")
    expected = "expected words in lower case, without suffixes after an apostrophe"
    assert (done.exit_code, done.stderr) == (
        1,
        f"Error: v.vec: has no word of the documents ({expected})\n",
    )


def test_pronouns_of_ones_own(ran):
    Path("p.txt").write_text("hiçbiri\n", "utf-8")
    ran(*BASELINE, "svr", *SAMPLE, "--pronouns", "p.txt", "-o", "a.jsonl", "--links", "links")
    assert not any("m1:pronoun" in link["features"] for link in read_rows("links"))


def test_svc_on_predicted_mentions_comes_with_a_note(run, here):
    done = run(*BASELINE, "svc", "--mentions", "predicted", *SAMPLE, "-o", "a.jsonl")
    assert done.exit_code == 0
    assert done.stderr == (
        "note: svc on predicted mentions links nearly all of them in a single chain (svr does not)\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("svr", "-o", "a.txt"), "a.txt: the suffix is '.txt' (expected .jsonl or .conll)"),
        (("mentions", "-o", "a"), "a: the suffix is '' (expected .jsonl or .conll)"),
        (
            ("svr", "-o", "a.jsonl", "--only", "7700112"),
            "no such document: '7700112'. Did you mean '77000112'?",
        ),
        (
            ("mentions", "-o", "a.jsonl", "--only", "x", "--only", "77000112", "--only", "y"),
            "no such document: 'x'; no such document: 'y' (choose from: 77000112, ",
        ),
        (
            ("svr", "-o", "a.jsonl", "--links", "b/l"),
            "Error: b/l: can't be written: No such file or directory",
        ),
        (
            ("svr", "-o", "b/a.jsonl", "--links", "l"),
            "Error: b/a.jsonl: can't be written: No such file or directory",
        ),
        (
            ("svc", "-o", "a.jsonl", "--features", "TF"),
            "features TF need word vectors (expected a file with --vectors)",
        ),
        (
            ("svc", "-o", "a.jsonl", "--vectors", "v.vec"),
            "features T use no word vectors (expected TF or TP)",
        ),
        (
            ("svc", "-o", "a.jsonl", "--features", "TP", "--vectors", "v.vec"),
            "v.vec:2: 'ev' has 1 number (expected 16)",
        ),
        (
            ("svc", "-o", "a.jsonl", "--pronouns", "none.txt"),
            "none.txt: can't be read: No such file or directory",
        ),
        (("svc", "-o", "a.jsonl", "--links", "a.jsonl"), "a.jsonl is given for two outputs"),
        (("svc", "-o", "v.vec", "--vectors", "v.vec"), "v.vec is also an input"),
    ],
)
def test_bad_requests(run, here, arguments, message):
    (here / "v.vec").write_text("1 16\nev 1\n")
    done = run(*BASELINE, *arguments, *SAMPLE)
    assert done.exit_code in (1, 2)
    assert message in done.stderr
    assert [path.name for path in here.iterdir()] == ["v.vec"]


def test_nothing_to_learn_from(run, here, records):
    """Gold of the user's own: one document, and documents without chains."""
    (here / "one.jsonl").write_text(json.dumps(records[0]) + "\n", "utf-8")
    done = run(*BASELINE, "svr", "--gold", "one.jsonl", "-o", "a.jsonl")
    assert done.exit_code == 2
    assert "there is only 1 document (expected two or more, to leave one out)" in done.stderr
    empty = {"mentions": [], "clusters": []}
    rows = [records[0], *({**record, **empty} for record in records[1:])]
    (here / "bare.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    done = run(*BASELINE, "svr", "--gold", "bare.jsonl", "-o", "a.jsonl", "--links", "links.jsonl")
    assert done.exit_code == 2
    message = "cannot train a model for document '77000112' on the other documents: there are no positive examples"
    assert done.stderr == f"Error: {message}\n"
    assert not (here / "a.jsonl").exists()
    assert not (here / "links.jsonl").exists()


def test_without_scikit_learn(run, here, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.svm", None)
    assert run(*BASELINE, "mentions", *SAMPLE, "-o", "m.jsonl").exit_code == 0
    done = run(*BASELINE, "svc", *SAMPLE, "-o", "a.jsonl")
    assert done.exit_code != 0
    purpose = "training a support vector machine"
    assert (
        done.stderr == f"Error: {purpose} needs scikit-learn: pip install 'closeread[baseline]'\n"
    )
    assert not (here / "a.jsonl").exists()


def test_a_progress_bar_on_a_terminal_only(run, here, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    shown = []
    with showing_progress(lambda *what: shown.append(what)):
        assert list(track(iter("abc"), "predicting", 3)) == ["a", "b", "c"]
    assert shown == [("predicting", done, 3) for done in range(4)]
    done = run(*BASELINE, "svc", *SAMPLE, "-o", "a.jsonl")
    assert done.stderr == ""
