"""All that writes does so through `closeread.files`, or is named here with the reason why it need not."""

import ast
from pathlib import Path

from closeread import files

ROOT = Path(files.__file__).resolve().parent
METHODS = {
    *(
        "write_text",
        "write_bytes",
        "touch",
        "mkdir",
        "makedirs",
        "mkdtemp",
        "mkstemp",
        "symlink_to",
        "hardlink_to",
    ),
    *(
        "savefig",
        "to_parquet",
        "to_csv",
        "write_table",
        "savez",
        "save_pretrained",
        "copyfile",
        "copytree",
        "move",
    ),
}

OWN = "writes into what `replacing` or `creating_folder` yields"
SCRATCH = "writes into a temporary folder that nobody else reads"
NONE = "writes no file"
ALLOWED = {
    **{
        f"files.py: {name}": "is what all others use"
        for name in ("open_text", "creating_folder", "make_folders")
    },
    "cli/printing.py: prepare_streams": "opens the null device",
    "corpus/sources.py: _download": OWN,
    "counts/counts.py: save": OWN,
    "counts/storage.py: encode_counts": NONE,
    "drawing/pictures.py: write_picture": OWN,
    "formats/text.py: plain_file": SCRATCH,
    **{
        f"hf/export.py: {name}": OWN
        for name in (
            "export",
            "_write_parquet",
            "_write_json_lines",
            "_write_csv",
            "_write_config",
            "_write_card",
        )
    },
    "leaderboard/codabench/bundle.py: make_bundle": OWN,
    **{
        f"leaderboard/codabench/bundle.py: _write_{name}": OWN
        for name in ("gold", "starting_kit", "program", "texts")
    },
    "drawing/pictures.py: figure_class": "draws into memory",
    "drawing/pictures.py: _repr_png_": "draws into memory",
    "leaderboard/codabench/score.py: fail": "has no closeread yet, in a container that ends with it",
    "hub/client.py: download": SCRATCH,
    "leaderboard/index.py: index_files": NONE,
    "leaderboard/teams.py: write_teams": OWN,
    "operations/submitting.py: _write_rows": SCRATCH,
    "operations/publishing.py: publish_leaderboard": NONE,
    "leaderboard/results.py: write": OWN,
    "leaderboard/store.py: _write": OWN,
    "leaderboard/store.py: _lock": "a lock",
    "leaderboard/sandbox.py: _run_child": SCRATCH,
    "leaderboard/submission.py: unpacked": SCRATCH,
    "leaderboard/submission.py: _write_texts": OWN,
    "leaderboard/submission.py: write_predictions": OWN,
    "neural/encoders.py: save": "writes what is written again if the run did not come to a checkpoint",
    "neural/run_folders.py: save": OWN,
    "neural/run_folders.py: _begin": "makes the folder of a run, which grows with every epoch",
    "neural/pairs.py: save": "writes what is written again if the run did not come to a checkpoint",
    "tasks/coref/marmara/converting.py: write_source": OWN,
    "tasks/coref/marmara/extraction.py: write_documents": OWN,
    "tasks/timeline/timeline_txt.py: write_folder": OWN,
}
"""The functions that write by themselves."""


def find_writers():
    """Yield the module and the function of every call that writes a file or makes a folder by itself."""
    for path in sorted(ROOT.rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef):
                calls = (node for node in ast.walk(function) if isinstance(node, ast.Call))
                if any(map(is_write, calls)):
                    yield f"{path.relative_to(ROOT).as_posix()}: {function.name}"


def is_write(call):
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name in ("open", "fdopen"):
        values = [*call.args, *(one.value for one in call.keywords)]
        modes = [
            one.value
            for one in values
            if isinstance(one, ast.Constant) and isinstance(one.value, str)
        ]
        return any(len(mode) < 4 and not set(mode).isdisjoint("wax+") for mode in modes)
    return isinstance(call.func, ast.Attribute) and name in METHODS


def test_nothing_is_written_in_place():
    assert sorted(find_writers()) == sorted(ALLOWED)
