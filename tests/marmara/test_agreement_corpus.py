"""Agreement on the simulated annotations of `CLOSEREAD_DATA`, against another program's figures."""

import pytest

import closeread

pytestmark = [
    pytest.mark.extended,
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


def test_all_documents(corpora, tmp_path):
    folder = corpora / "marmara_coref"
    if not (folder / "annotations").is_dir():
        pytest.skip("no annotators' files")
    paths = sorted(folder.glob("annotations/*/*.txt"))
    for path in paths:
        document, annotator = path.parent.name, path.stem
        output = tmp_path / annotator / f"{document}.conll"
        output.parent.mkdir(exist_ok=True)
        given = folder / "given" / f"{document}.conll"
        closeread.prepare("marmara_coref", "chains", path, given=given, output=output)
    agreement = closeread.agreement("coref", *sorted(tmp_path.iterdir()))
    assert len(paths) == 338
    assert len(agreement.documents) == 33
    assert [round(agreement.alpha[name], 2) for name in ("iaa1", "iaa2")] == [0.75, 0.64]
