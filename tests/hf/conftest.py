"""What the tests of the Hugging Face face share: caches of their own, and no network."""

import datasets
import evaluate
import pytest


@pytest.fixture
def offline(monkeypatch, tmp_path):
    """Empty caches, and the Hub declared out of reach."""
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "hf-datasets")
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(evaluate.config, "HF_METRICS_CACHE", tmp_path / "hf-metrics")
    monkeypatch.setattr(evaluate.config, "HF_MODULES_CACHE", tmp_path / "hf-modules")
    datasets.disable_progress_bars()
    return tmp_path
