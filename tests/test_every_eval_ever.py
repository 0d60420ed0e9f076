"""Results for Every Eval Ever have what its schema requires, and the scores and intervals of the report."""

import json

import pytest
from shared.entry_points import system_rows

REQUIRED = {
    "": "schema_version evaluation_id retrieved_timestamp source_metadata model_info eval_library evaluation_results",
    "source_metadata": "source_type source_organization_name evaluator_relationship",
    "eval_library": "name version",
    "model_info": "name id additional_details",
}
REQUIRED_IN_RESULTS = {
    "": "evaluation_name source_data metric_config score_details",
    "metric_config": "lower_is_better min_score max_score",
    "source_data": "dataset_name source_type",
    "score_details": "score uncertainty",
}


def lacks(found, required):
    """The required fields that are not there."""
    parts = {place: found[place] if place else found for place in required}
    return [
        f"{place}.{name}"
        for place, names in required.items()
        for name in names.split()
        if name not in parts[place]
    ]


@pytest.fixture
def results(tmp_path, monkeypatch, ran):
    """A result, and the report of the same predictions as JSON."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in system_rows("mctaco")), "utf-8"
    )
    asked = (
        "score",
        "mctaco",
        "mine.jsonl",
        "--config",
        "sample",
        "--by",
        "category",
        "--resamples",
        "50",
    )
    return [
        json.loads(ran(*asked, "--interval", "bca", "--format", style)) for style in ("eee", "json")
    ]


def test_a_result_has_the_scores_and_intervals_of_the_report(results):
    found, report = results
    assert lacks(found, REQUIRED) == []
    assert found["schema_version"] == "0.3.0"
    assert found["model_info"]["name"] == "mine"
    assert found["source_metadata"]["source_type"] in ("documentation", "evaluation_run")
    assert found["source_metadata"]["evaluator_relationship"] in (
        "first_party",
        "third_party",
        "collaborative",
        "other",
    )
    assert found["eval_library"]["additional_details"]["signature"] == report["signature"]
    groups = {"mctaco.sample.test": report}
    groups |= {
        f"mctaco.sample.test.category.{value}": one
        for value, one in report["slices"]["category"].items()
    }
    scores = [(place, name) for place, one in groups.items() for name in one["scores"]]
    of_found = {
        tuple(one["evaluation_result_id"].split("/")): one for one in found["evaluation_results"]
    }
    assert sorted(of_found) == sorted(scores)
    for (place, name), one in of_found.items():
        assert lacks(one, REQUIRED_IN_RESULTS) == []
        score, uncertainty = groups[place]["scores"][name], one["score_details"]["uncertainty"]
        assert one["score_details"]["score"] == score["value"]
        assert uncertainty["num_samples"] == groups[place]["n_units"]
        interval = uncertainty.get("confidence_interval", {})
        assert (interval.get("lower"), interval.get("upper")) == (score["low"], score["high"])
        if interval:
            assert interval["confidence_level"] == 0.95
            assert interval["method"] == "BCa bootstrap over sentences, seed 0"
            assert uncertainty["num_bootstrap_samples"] == 50
        assert all(isinstance(value, str) for value in one["score_details"]["details"].values())


def test_the_schema_accepts_a_result(results):
    schema = pytest.importorskip(
        "every_eval_ever.schemas", reason="every_eval_ever is not installed"
    )
    from importlib.resources import files

    import jsonschema

    text = (files(schema) / "eval.schema.json").read_text("utf-8")
    jsonschema.validate(results[0], json.loads(text))


def test_a_score_without_intervals_or_value(tmp_path, monkeypatch, ran):
    monkeypatch.chdir(tmp_path)
    words = ["#begin document (a); part 000", "a\t0\t0\tshe\t-\t-", "", "#end document"]
    (tmp_path / "key.conll").write_text("\n".join(words) + "\n", "utf-8")
    found = json.loads(
        ran(
            "score",
            "coref",
            "key.conll",
            "key.conll",
            "--no-ci",
            "--metrics",
            "muc",
            "--format",
            "eee",
        )
    )
    assert found["model_info"]["id"] == "key"
    for one in found["evaluation_results"]:
        assert one["source_data"] == {"dataset_name": "coref", "source_type": "other"}
        assert one["score_details"]["uncertainty"] == {"num_samples": 1}
        assert one["score_details"]["details"]["undefined"]
