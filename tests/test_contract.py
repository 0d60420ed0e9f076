"""What users rely on changes only on purpose: `tools/contract.py` writes it down."""

import difflib

import contract
import pytest

HOW = "If this is on purpose: python tools/contract.py, and a line in CHANGELOG.md under Added, Changed or Removed."


@pytest.mark.parametrize("subject", contract.SUBJECTS)
def test_nothing_that_users_rely_on_has_changed(subject):
    kept = (contract.FOLDER / f"{subject}.json").read_text("utf-8").splitlines()
    changes = list(
        difflib.unified_diff(kept, contract.write(subject).splitlines(), "contract", "package", n=1)
    )
    assert not changes, "\n".join([*changes[:80], HOW])


def test_every_subject_has_a_file():
    assert {path.stem for path in contract.FOLDER.iterdir()} == set(contract.SUBJECTS)
