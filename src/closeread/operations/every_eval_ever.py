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
from closeread.counts.procedure import Procedure
from closeread.counts.report import Report, list_groups

SCHEMA = "0.3.0"
KINDS = ("precision", "recall", "f1", "exact_match")


def write_result(report: Report, procedure: Procedure, model: str) -> dict[str, Any]:
    """Return a report as a JSON object that the schema of aggregated results accepts; scores are between 0 and 1.

    A score without a value is left out; every slice is an evaluation of its own.
    """
    p, now = report.provenance, str(int(time.time()))
    name = ".".join(part for part in (p.corpus, p.config, p.split) if part and part != "default")
    every = {metric.name: metric for metric in procedure.with_metrics(procedure.families).metrics}
    about = {"dataset_name": name, "source_type": "other"}
    if p.released and p.config != SAMPLE and p.corpus in corpus_names():
        about |= {"source_type": "url", "url": [load_corpus(p.corpus).homepage]}  # type: ignore[dict-item]
    unknown = {"deployment_type": "unknown", "model_availability": "unknown"}
    details = {
        "signature": p.signature,
        "procedure": p.procedure,
        "procedure_version": str(p.procedure_version),
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
        "evaluation_results": [
            {
                "evaluation_result_id": f"{evaluation}/{score}",
                "evaluation_name": evaluation,
                "source_data": about,
                "metric_config": {
                    "evaluation_description": every[score].description,
                    "metric_id": f"closeread.{p.procedure}.{score}",
                    "metric_name": every[score].title,
                    **(
                        {"metric_kind": kind} if (kind := score.rpartition("/")[2]) in KINDS else {}
                    ),
                    "metric_unit": "proportion",
                    "lower_is_better": False,
                    "score_type": "continuous",
                    "min_score": 0.0,
                    "max_score": 1.0,
                    "metric_parameters": dict(p.options),
                },
                "score_details": _describe_score(report, scores, estimate),
            }
            for field, value, scores in list_groups(report)
            for evaluation in [".".join(filter(None, (name, field, value if field else "")))]
            for score, estimate in scores.scores.items()
            if estimate.value is not None
        ],
    }


def _describe_score(report: Report, scores: Scores, estimate: Estimate) -> dict[str, Any]:
    drawn, details = (
        report.resampling,
        {"resampling_unit": report.resampling_unit, "n_blocks": str(scores.n_blocks)},
    )
    details |= {"undefined": "0/0, set by convention"} if estimate.undefined else {}
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
