"""What to cite: BibTeX entries are complete and found by the names that users know; CITATION.cff agrees."""

import re
from pathlib import Path

import pytest
import yaml

from closeread.corpus.citing import SOFTWARE, cite, list_papers
from closeread.corpus.names import corpus_names, load_corpus
from closeread.hf.modules import module_names
from closeread.tasks import load_procedure, procedure_names

ENTRY = re.compile(r"@(?P<type>[a-z]+)\{(?P<key>[a-z0-9-]+),\n(?P<fields>.*)\n\}", re.DOTALL)
FIELD = re.compile(r"  (?P<name>[a-z]+) = \{(?P<value>.*?)\}(?:,\n(?=  [a-z]+ = )|$)", re.DOTALL)
FAMILIES = [
    (name, family) for name in procedure_names() for family in load_procedure(name).families
]

PRADHAN = ["pradhan-etal-2014-scoring"]
WITHOUT_PAGES = {"schuller-etal-2018-marmara"}  # a preprint
WITHOUT_ADDRESS = {"denis-baldridge-2009-global"}  # a journal of its time, without DOIs


def parse(entry):
    """The type, the key and the fields of an entry, after checking that it is nothing else."""
    whole = ENTRY.fullmatch(entry)
    assert whole, entry
    fields = {found["name"]: found["value"] for found in FIELD.finditer(whole["fields"])}
    again = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
    assert again == whole["fields"], "the fields are not of the form NAME = {VALUE}"
    assert entry.count("{") == entry.count("}")
    return whole["type"], whole["key"], fields


def every_paper():
    declared = [entry for name in corpus_names() for entry in split(load_corpus(name).citation)]
    procedures = list(map(load_procedure, procedure_names()))
    options = [
        paper
        for procedure in procedures
        for option in procedure.options
        for paper in option.references
    ]
    of_modules = [paper for name in module_names() for paper in split(cite(name))]
    return list(dict.fromkeys([*declared, *of_modules, *options]))


def split(text):
    return re.split(r"\n\n(?=@)", text)


def keys(*names):
    return [parse(entry)[1] for entry in split(cite(*names))]


@pytest.mark.parametrize("entry", every_paper(), ids=lambda entry: parse(entry)[1])
def test_an_entry_is_complete(entry):
    kind, key, fields = parse(entry)
    assert {"title", "author", "year"} <= set(fields)
    assert all(value.strip() for value in fields.values())
    assert re.fullmatch(r"(19|20)\d\d", fields["year"])
    if kind == "misc":  # unpublished
        return
    assert {"inproceedings": "booktitle", "article": "journal"}[kind] in fields
    assert fields["year"] in key
    assert key in WITHOUT_PAGES or re.fullmatch(r"(\d+)--(\d+)", fields["pages"])
    assert key in WITHOUT_ADDRESS or {"doi", "url"} & set(fields)
    assert re.fullmatch(r"10\.\d{4,}/\S+", fields.get("doi", "10.1000/none"))
    assert re.fullmatch(r"https://[!-~]+", fields.get("url", "https://none"))
    # The first author's name begins the key, as in the ACL Anthology.
    letters = re.sub(r"\\[a-z]\b|[^a-zA-Z]", "", fields["author"].split(",")[0])
    assert key.split("-")[0] == letters.lower()


def test_keys_are_unique():
    found = [parse(entry)[1] for entry in every_paper()]
    assert len(set(found)) == len(found) > 15


@pytest.mark.parametrize(("name", "family"), FAMILIES)
def test_every_metric_has_a_paper(name, family):
    assert list_papers(load_procedure(name), [family])


@pytest.mark.parametrize("name", procedure_names())
def test_papers_are_of_metrics_that_exist(name):
    procedure = load_procedure(name)
    assert set(procedure.references) <= set(procedure.families)


def test_every_preset_has_a_paper():
    for procedure in map(load_procedure, procedure_names()):
        assert all(preset.references for preset in procedure.presets.values())


def test_the_entry_of_the_package_is_that_of_citation_cff():
    cff = yaml.safe_load((Path(__file__).parents[1] / "CITATION.cff").read_text("utf-8"))
    kind, key, fields = parse(SOFTWARE)
    assert (kind, key) == (cff["type"], cff["title"])
    assert fields == {
        "title": cff["title"],
        "author": " and ".join(f"{{{author['name']}}}" for author in cff["authors"]),
        "year": str(cff["date-released"].year),
        "version": cff["version"],
    }
