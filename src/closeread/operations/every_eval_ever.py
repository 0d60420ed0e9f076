"""Results for Every Eval Ever, a shared database of evaluations (https://evalevalai.com), by its schema 0.3.0.

What the schema asks for and a file of predictions does not say, such as who offers the model, is "unknown".
"""

from __future__ import annotations

import time
from typing import Any

from closeread._version import __version__
from closeread.corpus.names import corpus_names, load_corpus
from closeread.corpus.showing import SAMPLE
from closeread.counts.estimates import Estimate, Scores
from closeread.counts.metrics import Metric
from closeread.counts.procedure import Procedure
from closeread.counts.report import Provenance, Report, list_groups

SCHEMA = "0.3.0"
KINDS = ("precision", "recall", "f1", "exact_match")


def write_result(report: Report, procedure: Procedure, model: str) -> dict[str, Any]:
    """Return a report as a JSON object that the schema of aggregated results accepts; scores are between 0 and 1.

    A score without a value is left out; every slice is an evaluation of its own.
    """
    provenance = report.provenance
    now = str(int(time.time()))
    parts = (provenance.corpus, provenance.config, provenance.split)
    name = ".".join(part for part in parts if part and part != "default")
    every = procedure.with_metrics(procedure.families).metrics
    metrics = {metric.name: _describe_metric(metric, provenance) for metric in every}
    source: dict[str, Any] = {"dataset_name": name, "source_type": "other"}
    is_released = provenance.released and provenance.config != SAMPLE
    if is_released and provenance.corpus in corpus_names():
        source["source_type"] = "url"
        source["url"] = [load_corpus(provenance.corpus).homepage]
    results = []
    for field, value, scores in list_groups(report):
        evaluation = ".".join(filter(None, (name, field, value if field else "")))
        for score, estimate in scores.scores.items():
            if estimate.value is None:
                continue
            results.append(
                {
                    "evaluation_result_id": f"{evaluation}/{score}",
                    "evaluation_name": evaluation,
                    "source_data": source,
                    "metric_config": metrics[score],
                    "score_details": _describe_score(report, scores, estimate),
                }
            )
    unknown = {"deployment_type": "unknown", "model_availability": "unknown"}
    details = {
        "signature": provenance.signature,
        "procedure": provenance.procedure,
        "procedure_version": str(provenance.procedure_version),
    }
    return {
        "schema_version": SCHEMA,
        "evaluation_id": f"{name}/{model}/{now}",
        "retrieved_timestamp": now,
        "source_metadata": {
            "source_name": "closeread",
            "source_type": "evaluation_run",
            "source_organization_name": "unknown",
            "evaluator_relationship": "other",
        },
        "eval_library": {
            "name": "closeread",
            "version": __version__,
            "additional_details": details,
        },
        "model_info": {"name": model, "id": model, "additional_details": unknown},
        "evaluation_results": results,
    }


def _describe_metric(metric: Metric, provenance: Provenance) -> dict[str, Any]:
    description: dict[str, Any] = {
        "evaluation_description": metric.description,
        "metric_id": f"closeread.{provenance.procedure}.{metric.name}",
        "metric_name": metric.title,
    }
    kind = metric.name.rpartition("/")[2]
    if kind in KINDS:
        description["metric_kind"] = kind
    return {
        **description,
        "metric_unit": "proportion",
        "lower_is_better": False,
        "score_type": "continuous",
        "min_score": 0.0,
        "max_score": 1.0,
        "metric_parameters": dict(provenance.options),
    }


def _describe_score(report: Report, scores: Scores, estimate: Estimate) -> dict[str, Any]:
    drawn = report.resampling
    details = {"resampling_unit": report.resampling_unit, "n_blocks": str(scores.n_blocks)}
    if estimate.undefined:
        details["undefined"] = "0/0, set by convention"
    uncertainty: dict[str, Any] = {"num_samples": scores.n_units}
    if estimate.low is not None and estimate.high is not None:
        uncertainty["num_bootstrap_samples"] = int(drawn.n_resamples)
        uncertainty["confidence_interval"] = {
            "lower": estimate.low,
            "upper": estimate.high,
            "confidence_level": drawn.confidence,
            "method": f"{drawn.title} over {report.resampling_unit}s, seed {drawn.seed}",
        }
    return {"score": estimate.value, "details": details, "uncertainty": uncertainty}
