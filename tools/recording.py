"""Record what commands and functions do: exit codes, what they print, and the files that they write.

`python tools/recording.py` runs the lines of `tests/recorded/*.txt` and keeps the results beside them, compressed;
`make test` runs them again and compares.  What has changed is printed as a difference before it is kept, so that it
can be read; `--check` keeps nothing.  Each file of lines is run from top to bottom in one folder: a line may use what
an earlier one wrote into `out/`.  A line that begins with `>>>` is Python, any other a command without `closeread`,
perhaps in a terminal of another width, or to be completed (`tab`).

`samples.txt` needs no data, and its outputs are kept as they are; so are those of `requests.txt`, most of which can't
be met, and of `random.txt`, whose inputs were drawn at random and are kept in `inputs.zip`, so that there is more to
count than in the samples.  `released.txt` needs `CLOSEREAD_DATA`; of its outputs only numbers and digests are kept, no
text.
"""

import argparse
import contextlib
import difflib
import getpass
import gzip
import hashlib
import io
import json
import os
import re
import shlex
import shutil
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "tests" / "recorded"
DATA = "CLOSEREAD_DATA"
PICTURES = (".svg", ".png", ".pdf")
PASSING = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|\+00:00| UTC)?|\b[0-9a-f]{64}\b"
    + r'|(?<="day":")[\d-]+'
)
"""Times, days and digests of files with times, which are not the same twice."""

VERSIONS = re.compile(r"(?<===)\d[\w.]*|(?<=download_size: )\d+")
"""What depends on the versions of libraries: pinned versions, and the sizes of compressed files."""

LINK_SCORE = re.compile(r'(?<="score": )-?\d*\.\d{4,}(?:e[-+]?\d+)?')
"""Scores of trained links: where learning stops depends on a machine's linear algebra, so three digits are kept."""

AUTHOR = re.compile(rf"\b{re.escape(getpass.getuser())}\b")
NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?![\w.])")
MAX_NUMBERS = 400
"""The most numbers of an output on released corpora that are kept; its digest covers the rest."""

MAX_SHOWN = 2_000
"""The most lines of a difference that are printed."""

MAX_CHARACTERS = 20_000
"""The most characters of an output that are kept as they are; of longer ones, a digest covers the rest."""

Result = dict[str, Any]


def list_lines(name: str) -> list[str]:
    """Return the lines of a file, without comments."""
    lines = (FOLDER / f"{name}.txt").read_text("utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def run(name: str) -> Iterator[tuple[str, Result]]:
    """Run the lines of a file in a new folder, and yield each with its result."""
    from shared import every_command

    with (
        tempfile.TemporaryDirectory() as scratch,
        contextlib.chdir(scratch),
        _surroundings(with_data=name == "released"),
    ):
        submission = every_command.write_inputs()
        write_more_inputs(Path("in"))
        Path("out").mkdir()
        shutil.copytree("in/judged", "out/judged")
        shutil.copytree("in/store", "out/store")
        known = _read_files()
        with every_command.standing_in():
            for line in list_lines(name):
                if line.startswith(">>> "):
                    result = _run_python(line[4:])
                else:
                    result = (
                        _complete(line[4:-1])
                        if line.startswith("tab ")
                        else _run_command(line, submission)
                    )
                written = _read_files()
                result["files"] = {
                    path: data for path, data in written.items() if known.get(path) != data
                }
                known = written
                yield line, _condense(result, submission, only_numbers=name == "released")


@contextlib.contextmanager
def _surroundings(*, with_data: bool) -> Iterator[None]:
    """Have terminals of one width without colours, an empty cache, and data or none."""
    before = dict(os.environ)
    cache = {"CLOSEREAD_CACHE": str(Path("cache").resolve()), "HF_HOME": str(Path("hf").resolve())}
    os.environ |= {"COLUMNS": "100", "HF_HUB_OFFLINE": "1", "NO_COLOR": "1", **cache}
    # The id of a submission depends on its author and time.
    signature = mock.Mock(return_value={"author": "ann", "submitted": "2026-03-01T12:00:00Z"})
    for variable in ("FORCE_COLOR", *(() if with_data else (DATA,))):
        os.environ.pop(variable, None)
    try:
        with mock.patch("closeread.leaderboard.store.FolderStore.sign", signature):
            yield
    finally:
        os.environ.clear()
        os.environ |= before


def _run_command(line: str, submission: str) -> Result:
    from click.testing import CliRunner

    from closeread.cli import main

    words = [submission if word == "SUBMISSION" else word for word in shlex.split(line)]
    columns = {"COLUMNS": words.pop(0).partition("=")[2]} if words[0].startswith("COLUMNS=") else {}
    done = CliRunner(env=columns).invoke(main, words)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        return {
            "exit": f"{type(done.exception).__name__}: {done.exception}",
            "out": done.stdout,
            "err": done.stderr,
        }
    return {"exit": done.exit_code, "out": done.stdout, "err": done.stderr}


def _complete(line: str) -> Result:
    from click.shell_completion import ShellComplete

    from closeread.cli import main

    *words, incomplete = line.split(" ")
    found = ShellComplete(main, {}, "closeread", "_CLOSEREAD_COMPLETE").get_completions(
        words, incomplete
    )
    return {"exit": 0, "out": "\n".join(item.value for item in found), "err": ""}


def _run_python(line: str) -> Result:
    import closeread
    from closeread.corpus import notices

    notices._shown.clear()  # a line is the same whatever was run before it
    out = io.StringIO()
    with warnings.catch_warnings(record=True) as told, contextlib.redirect_stdout(out):
        warnings.simplefilter("always")
        try:
            value = eval(line, {"closeread": closeread, "json": json, "read": _read_rows})  # noqa: S307  # our own line
            code: int | str = 0
            out.write(
                value
                if isinstance(value, str)
                else json.dumps(value, ensure_ascii=False, default=repr, indent=1)
            )
        except Exception as error:  # its type and message are what is recorded
            code = f"{type(error).__name__}: {error}"
    err = "".join(
        f"{one.category.__name__}: {one.message}\n"
        for one in told
        if "closeread" in one.category.__module__
    )
    return {"exit": code, "out": out.getvalue(), "err": err}


def _read_rows(path: str) -> list[Any]:
    """Read JSON Lines."""
    return [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]


def _read_files() -> dict[str, bytes]:
    """Read all files below `out`, but for hidden ones."""
    files = (path for path in sorted(Path("out").rglob("*")) if path.is_file())
    return {
        str(path): path.read_bytes()
        for path in files
        if not any(part[0] == "." for part in path.parts)
    }


def _condense(result: Result, submission: str, *, only_numbers: bool) -> Result:
    """Keep what is the same on every machine: texts, tables, and of pictures that they are there."""

    def keep(text: str) -> Any:
        for word, found in (
            ("SUBMISSION", submission),
            (".", str(Path.cwd())),
            ("DATA", os.environ.get(DATA, "")),
        ):
            text = text.replace(found, word) if found else text
        text = AUTHOR.sub("AUTHOR", VERSIONS.sub("VERSION", PASSING.sub("PASSING", text)))
        text = LINK_SCORE.sub(lambda found: f"{float(found[0]):.3g}", text)
        return _keep_numbers(text) if only_numbers else _keep_text(text)

    kept: Result = {"exit": result["exit"]}
    for stream in ("out", "err"):
        if result[stream]:
            kept[stream] = keep(result[stream])
    for path, data in result["files"].items():
        kept[PASSING.sub("PASSING", path)] = _describe_file(path, data, keep)
    if only_numbers and isinstance(kept["exit"], str):
        kept["exit"] = kept["exit"].split(":")[0]
    return kept


def _describe_file(path: str, data: bytes, keep: Callable[[str], Any]) -> Any:
    if path.endswith(PICTURES):
        return "a picture"
    if path.endswith(".parquet"):
        import pyarrow.parquet as pq

        return keep(
            json.dumps(
                pq.read_table(io.BytesIO(data)).to_pylist(),
                default=str,
                ensure_ascii=False,
                indent=1,
            )
        )
    if path.endswith("closeread.zip"):
        return "the package"
    if path.endswith((".zip", ".whl")):
        return sorted(zipfile.ZipFile(io.BytesIO(data)).namelist())
    try:
        return keep((gzip.decompress(data) if path.endswith(".gz") else data).decode("utf-8"))
    except UnicodeDecodeError:
        return f"{len(data)} bytes"


def _keep_text(text: str) -> list[str]:
    shown = text if len(text) <= MAX_CHARACTERS else f"{text[:MAX_CHARACTERS]}\n… {_digest(text)}"
    return shown.splitlines()


def _keep_numbers(text: str) -> dict[str, Any]:
    found = NUMBER.findall(text)
    return {
        "digest": _digest(text),
        "lines": text.count("\n"),
        "numbers": " ".join(found[:MAX_NUMBERS]),
    }


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def write_more_inputs(folder: Path) -> None:
    """Write what the lines need besides the inputs of every command: random inputs, and files with faults."""
    from shared import json_lines
    from shared.conll_documents import ONTONOTES
    from shared.every_command import CORPORA, system_rows

    with zipfile.ZipFile(FOLDER / "inputs.zip") as archive:
        archive.extractall(folder)
    for corpus in CORPORA:
        rows = system_rows(corpus)
        name = {"semeval2015_timeline": "timeline"}.get(corpus, corpus)
        json_lines.write(folder / f"{name}-short.jsonl", rows[:-1])
        json_lines.write(folder / f"{name}-twice.jsonl", [*rows, rows[0]])
        json_lines.write(folder / f"{name}-unknown.jsonl", [{**rows[0], "posessor": 1}, *rows[1:]])
        json_lines.write(folder / f"{name}-types.jsonl", [{key: [] for key in rows[0]}, *rows[1:]])
        text = (folder / f"{name}.jsonl").read_text("utf-8")
        (folder / f"{name}-cut.jsonl").write_text(text[: len(text) // 2], "utf-8")
        (folder / f"{name}.jsonl.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    text = (folder / "key.conll").read_text("utf-8")
    (folder / "open.conll").write_text(text.replace(")", "", 1), "utf-8")
    (folder / "ragged.conll").write_text(
        text.replace("\t", " ", 1).replace("\t0\t", "\t", 1), "utf-8"
    )
    (folder / "ontonotes.conll").write_text(ONTONOTES, "utf-8")
    (folder / "ontonotes2.conll").write_text(ONTONOTES.replace("(12)", "(7)"), "utf-8")
    (folder / "latin.conll").write_bytes(text.encode().replace(b"a", b"\xe4"))
    (folder / "empty.jsonl").write_text("", "utf-8")
    (folder / "list.jsonl").write_text("[1, 2]\n", "utf-8")
    (folder / "broken.tml").write_text("<TimeML><TEXT>", "utf-8")


def load(name: str) -> dict[str, Result]:
    """Read what is kept of a file of lines, by number and line; empty if nothing is."""
    path = FOLDER / f"{name}.json.gz"
    return json.loads(gzip.decompress(path.read_bytes())) if path.exists() else {}


def compare(kept: dict[str, Result], found: dict[str, Result]) -> list[str]:
    """Describe the differences, line by line."""
    differences = []
    for line in dict.fromkeys([*kept, *found]):
        before, after = (
            json.dumps(one.get(line), ensure_ascii=False, indent=1).splitlines()
            for one in (kept, found)
        )
        differences += difflib.unified_diff(
            before, after, f"kept: {line}", f"found: {line}", n=1, lineterm=""
        )
    return differences


def record(name: str) -> dict[str, Result]:
    """Run the lines of a file, and return the results by number and line."""
    return {f"{number} {line}": result for number, (line, result) in enumerate(run(name), start=1)}


def main() -> None:
    """Record the lines of all files, or of those that are named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "names",
        nargs="*",
        metavar="samples|random|requests|released",
        help="default: all that have data",
    )
    parser.add_argument("--check", action="store_true", help="compare only, and keep what is there")
    arguments = parser.parse_args()
    differs = False
    for name in arguments.names or [
        "samples",
        "random",
        "requests",
        *(["released"] if os.environ.get(DATA) else []),
    ]:
        found = record(name)
        differences = compare(load(name), found)
        differs |= bool(differences)
        print(
            "\n".join(differences[:MAX_SHOWN]) or f"{name}: {len(found)} lines, nothing has changed"
        )
        if differences and not arguments.check:
            text = json.dumps(found, ensure_ascii=False, indent=0)
            (FOLDER / f"{name}.json.gz").write_bytes(
                gzip.compress(text.encode("utf-8", "surrogatepass"), 9, mtime=0)
            )
    if arguments.check and differs:
        sys.exit(1)


if __name__ == "__main__":
    sys.path[:0] = [str(ROOT / "tests")]
    main()
