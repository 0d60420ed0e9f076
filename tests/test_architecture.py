"""Who may import whom, checked on the installed package."""

import shutil
import subprocess
import sys
from pathlib import Path

import closeread

ROOT = Path(__file__).parent.parent


def lint(folder):
    """Run import-linter's contracts with `folder` first on the path."""
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"]
    environment = {"PYTHONPATH": str(folder), "PATH": "", "HOME": str(folder)}
    options = ["--config", str(ROOT / ".importlinter"), "--no-cache"]
    return subprocess.run(command + options, cwd=folder, env=environment, capture_output=True, text=True)


def copied(folder):
    """The package as it is installed, copied, so that a test may spoil it."""
    for name in ("", "loaders", "metrics", "schemas", "cards"):
        module = sys.modules.get(f"closeread.{name}") if name else closeread
        if module is None:
            module = __import__(f"closeread.{name}", fromlist=["_"])
        target = folder / "closeread" / name
        shutil.copytree(Path(module.__file__).parent, target, dirs_exist_ok=True)
    return folder


def test_the_contracts_are_kept(tmp_path):
    done = lint(copied(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_forbidden_import_is_caught(tmp_path):
    folder = copied(tmp_path)
    with (folder / "closeread" / "kernels" / "choices.py").open("a") as file:
        file.write("\nfrom closeread.cli import main\n")
    done = lint(folder)
    assert done.returncode == 1
    assert "closeread.tasks.mctaco.kernels.choices -> closeread.cli" in done.stdout


def test_hugging_face_in_the_wrong_room_is_caught(tmp_path):
    folder = copied(tmp_path)
    with (folder / "closeread" / "scoring.py").open("a") as file:
        file.write("\nimport datasets\n")
    done = lint(folder)
    assert done.returncode == 1
    assert "closeread.scoring -> datasets" in done.stdout
