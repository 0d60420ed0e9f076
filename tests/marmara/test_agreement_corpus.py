"""Agreement on the simulated annotations of `CLOSEREAD_DATA`, against another program's figures."""

import pytest

from closeread.tasks.coref.agreement import measure_agreement, resolve
from closeread.tasks.coref.annotators import gather_annotations
from closeread.tasks.coref.marmara.equalities import read_annotation_files


def test_all_documents(corpora):
    folder = corpora / "marmara_coref" / "annotations"
    if not folder.is_dir():
        pytest.skip("no annotators' files")
    gathered = gather_annotations(read_annotation_files(folder).tables)
    assert (len(gathered), sum(len(one.annotations) for one in gathered)) == (33, 338)
    found = measure_agreement(gathered, resolve({})).alpha
    assert [round(found[name], 2) for name in ("iaa1", "iaa2")] == [0.75, 0.64]
