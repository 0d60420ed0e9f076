"""CoNLL files that other people publish, read and scored as they are, from the checkouts of `shared.peers`."""

import pytest
from shared.coref_readers import read_conll
from shared.coreference import score_files
from shared.peers import find_peer

from closeread.exceptions import FormatError

# Recall, precision and F1 by coval, as printed in data/manualeval/README.md of github.com/andreasvc/dutchcoref.
FIGURES = {
    ("coreawebservice", "true"): {
        "mentions": "50.00 58.82 54.05",
        "muc": "50.00 38.46 43.48",
        "b3": "40.00 32.63 35.94",
        "ceafe": "18.36 45.90 26.23",
        "ceafm": "40.00 47.06 43.24",
        "lea": "25.00 25.49 25.24",
        "conll": "35.22",
    },
    ("dutchcoref", "true"): {
        "mentions": "70.00 87.50 77.78",
        "muc": "70.00 77.78 73.68",
        "b3": "60.00 80.21 68.65",
        "ceafe": "60.09 85.84 70.70",
        "ceafm": "70.00 87.50 77.78",
        "lea": "55.00 75.00 63.46",
        "conll": "71.01",
    },
    ("coreawebservice", "false"): {
        "mentions": "53.33 47.06 50.00",
        "muc": "50.00 38.46 43.48",
        "b3": "40.00 30.32 34.50",
        "ceafe": "35.38 44.23 39.32",
        "ceafm": "53.33 47.06 50.00",
        "lea": "33.33 25.49 28.89",
        "conll": "39.10",
    },
    ("dutchcoref", "false"): {
        "mentions": "80.00 85.71 82.76",
        "muc": "70.00 77.78 73.68",
        "b3": "66.67 77.38 71.63",
        "ceafe": "80.18 80.18 80.18",
        "ceafm": "80.00 85.71 82.76",
        "lea": "60.00 71.43 65.22",
        "conll": "75.16",
    },
}


@pytest.mark.parametrize(("system", "keep_singletons"), FIGURES)
def test_semeval_2010_and_three_columns(system, keep_singletons):
    """The key has the 17 columns of SemEval-2010, the responses have three; words are in the second of both."""
    folder = find_peer("dutchcoref") / "data" / "manualeval"
    pair = folder / "knack_file7.gold.conll", folder / f"knack_file7.{system}.conll"
    scores = score_files(*pair, keep_singletons=keep_singletons)
    for metric, figures in FIGURES[system, keep_singletons].items():
        names = ["f1"] if metric == "conll" else ["recall", "precision", "f1"]
        found = [f"{100 * scores[f'{metric}/{name}']:.2f}" for name in names]
        assert found == figures.split(), metric


@pytest.mark.parametrize("scheme", ["gum", "ontogum"])
def test_gum(scheme):
    """GUM has ids with letters; OntoGUM documents without names, brackets that don't match, and an empty word."""
    files = sorted((find_peer("gum") / "coref" / scheme / "conll").glob("*.conll"))
    assert len(files) > 200
    broken = []
    for file in files:
        text = file.read_text("utf-8")
        try:
            documents = read_conll(file)
        except FormatError as error:
            broken += error.problems
            continue
        (document,) = documents.documents
        assert document.is_named == (scheme == "gum")
        rows = [line.split("\t")[-1] for line in text.split("\n") if not line.startswith("#")]
        assert len(document.mentions) == sum(row.count("(") for row in rows)
        assert not documents.notices
    assert len(broken) <= 3
    expected = ("opens but never closes", "closes but is not open", "number of columns")
    assert all(any(what in problem.message for what in expected) for problem in broken)
