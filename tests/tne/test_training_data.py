"""What a model of links can't be trained on is refused before training; no neural library is needed for that."""

from types import SimpleNamespace

import pytest

import closeread
from closeread.tasks.tne.models import train


@pytest.mark.parametrize("part", ["training", "validation"])
def test_documents_without_pairs_are_refused_before_training(part, tmp_path):
    records = list(closeread.load_dataset("tne", "sample")["test"])
    single = [{**record, "nps": record["nps"][:1], "np_relations": []} for record in records]
    golds = {"training": records, "validation": records, part: single}
    golds = {name: SimpleNamespace(records=rows) for name, rows in golds.items()}
    with pytest.raises(closeread.RequestError, match=f"{part} has no document with two noun"):
        train(golds["training"], golds["validation"], tmp_path / "run", None, resume=False)
    assert not (tmp_path / "run").exists()
