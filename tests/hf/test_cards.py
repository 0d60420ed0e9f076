"""Dataset cards and metric cards: front matter by a schema of ours, and the sections that a reader looks for."""

import json
from pathlib import Path

import jsonschema
import pytest
import yaml
from shared.evaluate_modules import AGREEMENT, SCORING

from closeread.corpus.names import corpus_names, load_corpus
from closeread.hf.modules import module_names
from closeread.tasks import procedure_names

ROOT = Path(__file__).parent.parent.parent
CARDS = {
    **{f"cards/{name}.md": "dataset_card" for name in corpus_names()},
    **{f"metrics/{name}/README.md": "metric_card" for name in module_names()},
}
SECTIONS = {
    "dataset_card": [
        *("How to get it", "What a record holds", "How it was annotated", "Figures"),
        *("How it is scored", "Limits", "Citation"),
    ],
    "metric_card": [
        "What it computes",
        "How to use it",
        "What it returns",
        "How scorers differ",
        "Limits",
        "Citation",
    ],
}


def parts(path):
    _, front, body = (ROOT / path).read_text("utf-8").split("---\n", 2)
    return yaml.safe_load(front), body


@pytest.mark.parametrize(("path", "kind"), CARDS.items())
def test_front_matter_fits_its_schema(path, kind):
    schema = json.loads((ROOT / "cards" / f"{kind}.json").read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    errors = jsonschema.Draft202012Validator(schema).iter_errors(parts(path)[0])
    messages = [
        f"{path}: {'/'.join(map(str, error.path)) or 'front matter'}: {error.message}"
        for error in errors
    ]
    assert not messages, "\n".join([*messages, f"cards/{kind}.json says what is expected"])


@pytest.mark.parametrize(("path", "kind"), CARDS.items())
def test_sections(path, kind):
    body = parts(path)[1]
    assert [
        line.removeprefix("## ") for line in body.splitlines() if line.startswith("## ")
    ] == SECTIONS[kind]


@pytest.mark.parametrize("name", corpus_names())
def test_a_dataset_card_agrees_with_the_declaration(name):
    corpus = load_corpus(name)
    front, body = parts(f"cards/{name}.md")
    assert front["pretty_name"] == corpus.title
    assert front["language"] == [corpus.language]
    assert corpus.homepage in body
    assert "Licence" in body
    known = "doi" if "doi = {" in corpus.citation else "title"  # not every paper has a DOI
    assert corpus.citation.split(f"{known} = {{")[1].split("}")[0] in body


def test_every_declared_module_exists_and_the_other_way_round():
    assert sorted([*SCORING, *AGREEMENT]) == module_names()
    assert {load_corpus(name).procedure for name in corpus_names()} <= set(procedure_names())
