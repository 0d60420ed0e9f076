"""Names of procedures that score any key are not taken for those of a corpus where texts are shown."""

import pytest

import closeread
from closeread.operations.data import WITH_KEYS
from closeread.tasks import load_procedure, procedure_names


def test_all_are_known():
    keys = [name for name in procedure_names() if load_procedure(name).reader.key_first]
    assert sorted(WITH_KEYS) == sorted(keys)


@pytest.mark.parametrize("command", ["show", "stats"])
def test_a_procedure_has_no_texts(command, run):
    words = {"show": ("show",), "stats": ("info", "--stats")}[command]
    done = run(*words, "coref", "--config", "sample")
    assert done.exit_code == 2
    assert "coref has no corpus of its own (it scores " in done.stderr
    assert "litbank, marmara_coref" in done.stderr
    assert "to see errors: closeread errors coref KEY RESPONSE" in done.stderr
    assert run(*words, "tlinks").stderr.startswith(
        "Error: tlinks has no corpus of its own (it scores matres, "
    )
    with pytest.raises(
        closeread.RequestError, match=r"closeread.errors\('coref', response, gold=key"
    ):
        getattr(closeread, command)("coref", config="sample")


def test_info_describes_the_procedure(run):
    shown = run("info", "coref").stdout
    assert "Turkish" not in shown
    for text in ("closeread score coref KEY RESPONSE", "marmara_coref", "lea", "conll2012"):
        assert text in shown
    assert "Turkish" in run("info", "marmara_coref").stdout
