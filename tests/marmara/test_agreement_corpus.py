"""Agreement on the simulated annotations of `CLOSEREAD_DATA`, against another program's figures."""

import pytest
from shared.coref_readers import read_conll

import closeread

pytestmark = [
    pytest.mark.extended,
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


def join_mentions(path, given):
    """Join given mentions into chains by lines such as `1 = 4 = 17`, of which those that share an id join."""
    clusters = {entity.label: [[*entity.mentions[0][:2]]] for entity in given.entities}
    for line in path.read_text("utf-8").splitlines():
        if "=" not in line or line.startswith("#"):
            continue
        first, *others = [part.strip() for part in line.split("=")]
        for other in others:
            joined, moved = clusters[first], clusters[other]
            if joined is not moved:
                joined += moved
                clusters.update({label: joined for label in clusters if clusters[label] is moved})
    return list({id(cluster): cluster for cluster in clusters.values()}.values())


def test_all_documents(corpora):
    folder = corpora / "marmara_coref"
    if not (folder / "annotations").is_dir():
        pytest.skip("no annotators' files")
    paths = sorted(folder.glob("annotations/*/*.txt"))
    rows_by_annotator = {}
    for path in paths:
        document, annotator = path.parent.name, path.stem
        (given,) = read_conll(folder / "given" / f"{document}.conll").documents
        row = {"document": document, "clusters": join_mentions(path, given)}
        rows_by_annotator.setdefault(annotator, []).append(row)
    agreement = closeread.agreement("coref", *rows_by_annotator.values())
    assert len(paths) == 338
    assert len(agreement.documents) == 33
    assert [round(agreement.alpha[name], 2) for name in ("iaa1", "iaa2")] == [0.75, 0.64]
