"""Files of other tools are named behind every door, and never judged as a broken form of ours."""

import gzip
import io
import pickle
import tarfile
import zipfile

import pytest

import closeread
from closeread.exceptions import InputError
from closeread.formats.foreign import FOREIGN_FILES, describe_foreign_file


def zip_of(name):
    """Return a zip archive with one file."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as opened:
        opened.writestr(name, '{"id": "a"}\n')
    return archive.getvalue()


def tar_of(name):
    """Return a tar archive with one empty file."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as opened:
        opened.addfile(tarfile.TarInfo(name))
    return archive.getvalue()


FILES = {
    "an Office document": zip_of("[Content_Types].xml"),
    "a page in HTML": b"<!DOCTYPE html>\n<html><body>Not found</body></html>",
    "a zip archive": zip_of("predictions.jsonl"),
    "a tar archive": tar_of("key.conll"),
    "a PDF": b"%PDF-1.7\n%\xe2\xe3\n",
    "a pickle, which is never loaded": pickle.dumps({"a": 1}),
    "a binary CAS of UIMA": b"UIMA\0\0\0\x01",
    "brat's standoff": b"T1\tPER 0 3\tIda\nT2\tPER 10 13\tshe\nR1\tCoref Arg1:T2 Arg2:T1\n",
    "WebAnno's TSV (INCEpTION)": b"#FORMAT=WebAnno TSV 3.3\n\n\n#Text=Ida left.\n1-1\t0-3\tIda\n",
    "XMI of UIMA (INCEpTION)": b'<?xml version="1.1" encoding="UTF-8"?>\n<xmi:XMI xmi:version="2.0"/>',
    "a document of GATE": b"<?xml version='1.0' encoding='utf-8'?>\n<GateDocument version=\"3\"/>",
    "markables of MMAX2": b'<?xml version="1.0"?>\n<!DOCTYPE markables SYSTEM "markables.dtd">\n<markables/>',
    "CAS JSON of UIMA (INCEpTION)": b'{\n  "%TYPES" : {}, "%FEATURE_STRUCTURES": []}',
    "an export of Label Studio": b'[{"id": 1, "annotations": [{"id": 2, "result": []}], "data": {"text": "Ida"}}]',
    "an export of Prodigy": b'{"text": "Ida left.", "_input_hash": 12, "tokens": [], "relations": []}\n',
    "an export of doccano": b'{"id": 1, "text": "Ida left.", "entities": [], "relations": []}\n',
    "a document of spaCy": b'{"text": "Ida left.", "tokens": [{"id": 0, "start": 0, "end": 3}], "spans": {}}\n',
    "output of CoreNLP": b'{"sentences": [], "corefs": {"1": []}}\n',
}

READ_AS_COREFERENCE = (
    "brat's standoff",
    "WebAnno's TSV (INCEpTION)",
    "XMI of UIMA (INCEpTION)",
    "CAS JSON of UIMA (INCEpTION)",
    "an export of Label Studio",
    "an export of Prodigy",
    "an export of doccano",
    "output of CoreNLP",
)
"""What only coreference is read from."""

DOORS = {
    "score": lambda file, key: closeread.score("coref", file, gold=key),
    "validate": lambda file, key: closeread.validate("mctaco", file, config="sample"),
    "errors": lambda file, key: closeread.errors("coref", file, gold=key),
    "convert": lambda file, key: closeread.convert("coref", file),
    "agreement": lambda file, key: closeread.agreement("coref", file, key),
    "timelines": lambda file, key: closeread.score("timeline", file, config="sample"),
    "temporal links": lambda file, key: closeread.score("tlinks", file, gold=file),
}


def test_every_kind_has_a_file():
    assert [kind.name for kind in FOREIGN_FILES] == list(FILES)


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_named(name, tmp_path, run):
    assert describe_foreign_file(FILES[name]).startswith(f"is {name} (expected a file that ")
    key, file = tmp_path / "key.conll", tmp_path / "theirs"
    key.write_text("#begin document (a)\nIda\t(1)\n#end document\n")
    file.write_bytes(FILES[name])
    if name == "a zip archive":
        expected = "theirs: has no file of an annotation tool (expected WebAnno TSV, "
        message = run("score", "coref", key, file).stderr
        assert expected in message
        assert "; unpack an archive of other files)" in message
    elif name not in READ_AS_COREFERENCE:
        assert f"theirs: is {name} (" in run("score", "coref", key, file).stderr
    assert f"theirs: is {name} (" in run("score", "mctaco", file, "--config", "sample").stderr


def test_a_gzipped_tar_archive_is_named(tmp_path, run):
    key, file = tmp_path / "key.conll", tmp_path / "corpus.tgz"
    key.write_text("#begin document (a)\nIda\t(1)\n#end document\n")
    file.write_bytes(gzip.compress(FILES["a tar archive"]))
    message = "corpus.tgz: is a tar archive (expected a file that closeread reads; unpack it)"
    assert message in run("score", "coref", key, file).stderr


@pytest.mark.parametrize("door", DOORS)
def test_every_door_names_it(door, tmp_path):
    key, file = tmp_path / "key.conll", tmp_path / "theirs.xml"
    key.write_text("#begin document (a)\nIda\t(1)\n#end document\n")
    file.write_bytes(FILES["a document of GATE"])
    if door == "validate":
        verdict = DOORS[door](file, key)
        assert any("is a document of GATE" in str(problem) for problem in verdict.problems)
        return
    with pytest.raises(InputError, match="is a document of GATE"):
        DOORS[door](file, key)
