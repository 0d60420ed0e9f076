"""Fixtures for the tests of TimeLine."""

import pytest


@pytest.fixture
def offline(monkeypatch, tmp_path, datasets):
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "hf-datasets")
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    datasets.disable_progress_bars()
