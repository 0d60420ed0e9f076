"""A lack of memory ends in one line in every command; sizes that data only claim are refused before they are made."""

import gzip
import json
import resource
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

import closeread
from closeread import limits
from closeread.cli import OUT_OF_MEMORY, TOO_DEEP, main
from closeread.errors import FormatError
from closeread.formats.gzipped import decompress
from closeread.formats.json_lines import parse_json_lines

GIBIBYTE = 2**30


@pytest.mark.parametrize(("error", "message"), [(MemoryError(), OUT_OF_MEMORY), (RecursionError("deep"), TOO_DEEP)])
def test_a_command_without_memory_says_so_in_one_line(error, message, monkeypatch):
    def fail(*args, **kwargs):
        raise error

    commands = main.list_commands(click.Context(main))
    assert len(commands) > 20
    for name in commands:
        monkeypatch.setattr(main.get_command(click.Context(main), name), "invoke", fail)
        done = CliRunner().invoke(main, [name, *(["x"] if name == "completion" else [])])
        if done.exit_code != 2:  # a word that the command needs is missing
            assert (done.exit_code, done.output) == (1, f"Error: {message}\n")


def test_a_process_without_memory_says_so_in_one_line(tmp_path):
    path = tmp_path / "long.jsonl"
    path.write_bytes(b'{"document": "a", "clusters": [' + b"[[0, 0]], " * 3_000_000 + b"[[0, 0]]]}\n")

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (GIBIBYTE // 4 + 2**26, GIBIBYTE // 4 + 2**26))

    command = [sys.executable, "-c", "from closeread.cli import main; main()", "score", "coref", str(path), str(path)]
    done = subprocess.run(
        command, preexec_fn=limit, capture_output=True, text=True, env={"OPENBLAS_NUM_THREADS": "1"}, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"Error: {OUT_OF_MEMORY}\n")


@pytest.mark.parametrize("suffix", ["conll", "conllu", "conllua"])
def test_a_document_that_claims_billions_of_tokens_is_not_written(suffix, tmp_path):
    path = tmp_path / "key.jsonl"
    rows = [{"document": "a", "clusters": [], "n_tokens": 3}, {"document": "b", "clusters": [], "n_tokens": 2**31 - 1}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(ValueError, match=r"2,147,483,650 tokens \(most: 'b', 2,147,483,647\)") as caught:
        closeread.convert("coref", path, to=tmp_path / f"out.{suffix}")
    assert f"limit: {limits.MAX_TOKENS:,}" in str(caught.value)
    assert not (tmp_path / f"out.{suffix}").exists()


def test_a_small_file_does_not_become_a_huge_one(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "MAX_SMALL_BYTES", 1000)
    path, small, large = tmp_path / "a.gz", b"x" * 1000, b"x" * 1_000_000
    assert decompress(path, gzip.compress(small)) == small
    data = gzip.compress(large)
    assert len(large) > limits.MAX_EXPANSION * len(data)
    most = limits.MAX_EXPANSION * len(data)
    with pytest.raises(FormatError, match=f"is too large: more than {most:,} bytes when decompressed"):
        decompress(path, data)


def test_a_repeated_key_is_found_in_one_pass():
    keys = [f"k{i}" for i in range(40_000)]
    line = "{" + ", ".join(f'"{key}": 1' for key in [*keys, keys[-1]]) + "}"
    parsed = parse_json_lines([line])
    assert [problem.what for problem in parsed.problems] == ["duplicate key 'k39999'"]
