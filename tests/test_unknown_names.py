"""An unknown name gets a suggestion wherever it is written: options, keywords, procedures, attributes, keys."""

import pickle

import datasets
import evaluate
import huggingface_hub
import pytest
from shared.coreference import KEY, RESPONSE

import closeread
from closeread.exceptions import RequestError, UnknownOptionError
from closeread.hf.modules import suggest_module

YES = [{"id": "test-00000", "label": "yes"}]
SCORED = ["score", "coref", "key.conll", "response.conll"]


@pytest.mark.parametrize(
    ("option", "value", "meant"),
    [
        ("preset", "corefut", "corefud"),  # of a procedure
        ("matching", "heads", "head"),
        ("keep-singletons", "no", "false"),
        ("format", "tex", "latex"),  # of printing
        ("interval", "bcaa", "bca"),  # of the function
    ],
)
def test_choices_on_the_command_line(option, value, meant, here, run):
    done = run(*SCORED, f"--{option}", value)
    assert done.exit_code == 2
    assert f"Invalid value for '--{option}': '{value}' is not one of " in done.stderr
    assert done.stderr.endswith(f"; did you mean '{meant}'?\n")


def test_a_choice_of_reading_a_corpus(run):
    done = run("info", "marmara_coref", "--stats", "--unaligned", "dorp")
    assert done.stderr.endswith(": 'dorp' is not one of 'drop', 'error'; did you mean 'drop'?\n")


def test_choices_in_python():
    expected = "option matching: 'heads' is not one of .*; did you mean 'head'[?]$"
    with pytest.raises(RequestError, match=expected):
        closeread.score("coref", RESPONSE, gold=KEY, matching="heads")


CALLS = {
    "of score": (lambda **o: closeread.score("mctaco", YES, **o), "confg", "config"),
    "its metrics": (lambda **o: closeread.score("coref", [], **o), "metric", "metrics"),
    "the key": (lambda **o: closeread.score("coref", RESPONSE, **o), "key", "gold"),
    "references": (lambda **o: closeread.score("coref", RESPONSE, **o), "references", "gold"),
    "an option": (lambda **o: closeread.score("coref", RESPONSE, gold=KEY, **o), "zeroes", "zeros"),
    "of reading": (lambda **o: closeread.score("marmara_coref", [], **o), "tribank", "treebank"),
    "of show": (lambda **o: closeread.show("mctaco", **o), "confg", "config"),
    "of a baseline": (lambda **o: closeread.baseline("mctaco", "random", **o), "sed", "seed"),
    "with a baseline": (lambda **o: closeread.baseline("mctaco", "random", **o), "splt", "split"),
    "of errors": (lambda **o: closeread.errors("mctaco", YES, **o), "confg", "config"),
    "of agreement": (lambda **o: closeread.agreement("coref", KEY, KEY, **o), "gven", "given"),
    "of a dataset": (lambda **o: closeread.load_dataset("mctaco", **o), "splt", "split"),
}


@pytest.mark.parametrize("called", CALLS)
def test_keywords(called):
    """Those of the function itself come first in what there is to choose from."""
    call, wrong, meant = CALLS[called]
    with pytest.raises(UnknownOptionError) as error:
        call(**{wrong: "x"})
    question, _, known = str(error.value).partition(" (choose from: ")
    assert question.startswith("no such option of ")
    assert question.endswith(f": '{wrong}'. Did you mean '{meant}'?")
    assert meant in known.removesuffix(")").split(", ")
    assert str(pickle.loads(pickle.dumps(error.value))) == str(error.value)


@pytest.mark.parametrize(
    ("name", "kind", "option"),
    [
        ("lea", "metric", "metrics lea"),
        ("bcub", "metric", "metrics b3"),
        ("coref_lea", "metric", "metrics lea"),
        ("crac2024", "preset", "preset crac2024"),
    ],
)
def test_metrics_and_presets_named_as_procedures(name, kind, option, run):
    expected = f"'{name}' is a {kind} of coref: closeread"
    shell = f"Error: {expected} score coref KEY RESPONSE --{option}\n"
    assert run("score", name, "key", "response").stderr == shell
    assert run("info", name).stderr == shell
    keyword = "='".join(option.split())
    with pytest.raises(RequestError) as error:
        closeread.score(name, RESPONSE, gold=KEY)
    assert str(error.value) == f"{expected}.score('coref', …, {keyword}')"


def test_a_procedure_that_is_not_named(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "key.conll").touch()
    done = run("score", "key.conll", "response.conll")
    assert done.stderr.startswith(
        "Error: 'key.conll' is a file; the name of what scores it comes first, as in closeread score coref FILE "
    )
    done = run("score", "--preset", "corefud", "key.conll")
    expected = (
        "No such option '--preset' before the name of a procedure; its options go after it.\n"
    )
    assert done.stderr.endswith(expected)
    # the names of many corpora have as many letters of `tlinks`
    assert run("score", "libank", "x").stderr.startswith(
        "Error: no such procedure: 'libank' (choose from: "
    )


@pytest.mark.parametrize("name", ["muc lea", "muc;lea", "muc, lea"])
def test_several_names_in_one(name, run):
    with pytest.raises(RequestError, match=rf"'{name}'\. Give a list: \['muc', 'lea'\] \(choose"):
        closeread.score("coref", RESPONSE, gold=KEY, metrics=name)
    if "," not in name:
        done = run(*SCORED, "--metrics", name)
        assert f"'{name}'. Separate several by commas: muc,lea (choose from" in done.stderr


def test_attributes_of_the_module():
    with pytest.raises(
        AttributeError, match=r"^module 'closeread' has no attribute 'scores'[.] Did you"
    ):
        _ = closeread.scores
    with pytest.raises(AttributeError, match=r"^module 'closeread' has no attribute 'chess'$"):
        _ = closeread.chess
    with pytest.raises(AttributeError, match=r"'_score'$"):  # not meant for people
        _ = closeread._score


def test_keys_of_catalogues():
    corpora, metrics = closeread.corpora(), pickle.loads(pickle.dumps(closeread.metrics()))
    with pytest.raises(KeyError, match=r"^no such corpus: 'mctacco'\. Did you mean 'mctaco'[?]"):
        corpora["mctacco"]
    with pytest.raises(KeyError, match=r"^no such metric: 'lea'\. Did you mean 'coref_lea'[?]"):
        metrics["lea"]
    assert metrics["timeline"] is metrics["timeline_awareness"]
    assert "mctacco" not in corpora
    assert corpora.get("mctacco") is None
    assert {**corpora}.keys() == corpora.keys()


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("coref_lee", "coref_lea"),
        ("mctacco", "mctaco"),
        ("timelin", "timeline_awareness"),
        ("posession", "possession"),
        ("bleu", None),
        ("somebody/coref_lee", None),
    ],
)
def test_modules_of_evaluate(name, meant, monkeypatch):
    monkeypatch.setattr(evaluate.config, "HF_EVALUATE_OFFLINE", True)
    with pytest.raises((FileNotFoundError, ConnectionError)) as error:
        evaluate.load(name)
    expected = [] if meant is None else [f"Did you mean '{meant}'?"]
    assert getattr(error.value, "__notes__", []) == expected


def test_no_metric_of_the_hub_is_taken_for_ours():
    names = "accuracy bleu bertscore cer comet coval exact_match f1 mae mape mase mauve mean_iou meteor mse pearsonr"
    names += " perplexity poseval precision recall rouge sacrebleu seqeval spearmanr squad super_glue ter trec_eval wer"
    assert "".join(map(suggest_module, names.split())) == ""


@pytest.mark.parametrize(
    ("name", "meant"), [("wikiposessions", "wikipossessions"), ("timelin", "semeval2015_timeline")]
)
def test_datasets(name, meant, monkeypatch):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises((ConnectionError, FileNotFoundError)) as error:
        datasets.load_dataset(name)
    assert error.value.__notes__ == [f"Did you mean '{meant}'?"]
