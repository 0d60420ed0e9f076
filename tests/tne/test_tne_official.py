"""Our scores beside those of the official evaluator, kept in `agreed/tne_official.json`."""

import json
from pathlib import Path

import pytest
from agreed import tne_official as official
from shared import tne_submissions
from shared.tne_links import scores

from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus
from closeread.tasks.tne import tne_arrays
from closeread.tasks.tne.procedure import count

AGREED = Path(__file__).parent.parent / "agreed"
SAID = json.loads((AGREED / "tne_official.json").read_text("utf-8"))["said"]
NAMES = {
    f"{theirs}_{letter}": f"{ours}/{part}"
    for theirs, ours in (("labeled", "links"), ("unlabeled", "unlabeled"))
    for letter, part in (("p", "precision"), ("r", "recall"), ("f1", "f1"))
}


OF_CORPUS = [name for name in SAID if ": " in name]
INVENTED = [name for name in SAID if name not in OF_CORPUS]


def compared(table, name):
    """Compare all six scores of a table with the evaluator's."""
    found = scores(table)
    assert {theirs: found[ours] for theirs, ours in NAMES.items()} == pytest.approx(
        SAID[name], abs=1e-9
    )


def documents_of(name):
    return (
        official.random_documents(int(name.split()[1]))
        if name.startswith("random ")
        else official.CASES[name]
    )


@pytest.mark.parametrize("name", INVENTED)
def test_agrees_with_the_official_evaluator(name):
    documents = documents_of(name)
    gold = [
        {
            "id": str(number),
            "nps": [{"id": f"np{i}"} for i in range(size)],
            "np_relations": [
                {
                    "anchor": f"np{anchor}",
                    "complement": f"np{complement}",
                    "preposition": preposition,
                }
                for anchor, preposition, complement in links
            ],
        }
        for number, (size, links, _) in enumerate(documents)
    ]
    lines = [json.dumps({"predicted_prepositions": array}) for _, _, array in documents]
    parsed = tne_arrays.parse_submission(lines, gold)
    assert parsed.problems == []
    compared(count(gold=gold, system=parsed.records), name)


@pytest.mark.extended
@pytest.mark.parametrize("name", OF_CORPUS)
def test_agrees_on_the_release(corpora, tmp_path, name):
    # The evaluator read version 1.0 of the validation split, we read version 1.1.
    split, system = name.split(": ")
    gold = read_gold(load_corpus("tne"), split=split)
    path = tmp_path / "system.jsonl"
    with path.open("w", encoding="utf-8") as lines:
        for number, record in enumerate(gold.records):
            links = [
                (
                    official.number(link["anchor"]),
                    link["preposition"],
                    official.number(link["complement"]),
                )
                for link in record["np_relations"]
            ]
            array = official.perturbed(system, number, len(record["nps"]), links)
            lines.write(json.dumps({"predicted_prepositions": array}) + "\n")
    compared(tne_submissions.count(path, gold), name)


def test_the_figures_cover_what_they_should():
    assert set(OF_CORPUS) == {
        f"{split}: {system}" for split in official.SPLITS for system in official.SHARES
    }
    assert [*official.CASES, *(f"random {seed}" for seed in range(official.N_RANDOM))] == INVENTED
    random = [official.random_documents(seed) for seed in range(official.N_RANDOM)]
    documents = [document for of_seed in random for document in of_seed]
    # Several prepositions of a pair, the same one again, and labels on the diagonal.
    pairs = [[(anchor, complement) for anchor, _, complement in links] for _, links, _ in documents]
    assert sum(len(set(of)) < len(of) for of in pairs) > 100
    assert sum(len(set(links)) < len(links) for _, links, _ in documents) > 50
    assert sum(any(array[:: size + 1]) for size, _, array in documents) > 100
    assert any(not links for _, links, _ in documents)
    assert any(not any(array) for _, _, array in documents)
    found = [SAID[name] for name in INVENTED]
    assert sum(0 < said["labeled_f1"] < said["unlabeled_f1"] < 1 for said in found) > 150
