"""The way of a score: the files and functions of closeread through which one call passes, in order of first entry.

Usage: `python tools/trace.py [NAME] [PREDICTIONS] [KEYWORD=VALUE …]` scores predictions twice, by default "yes" to all
questions of McTaco's sample, and lists where the second call goes.  Functions without a name, such as comprehensions,
are not counted.  `coref RESPONSE gold=KEY ci=` scores a response without intervals: an empty value is false.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from pathlib import Path
from types import CodeType, FrameType

import closeread

PACKAGE = Path(closeread.__file__).parent


def trace(name: str, predictions: Path, options: dict[str, str]) -> Counter[CodeType]:
    """Score predictions, and return how often each function of closeread is entered."""
    entered: Counter[CodeType] = Counter()

    def note_call(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call":
            entered[frame.f_code] += 1

    sys.setprofile(note_call)
    try:
        closeread.score(name, predictions, **options)
    finally:
        sys.setprofile(None)
    return Counter({code: times for code, times in entered.items() if is_named(code)})


def is_named(code: CodeType) -> bool:
    """Tell whether code is a function of the package that has a name."""
    return Path(code.co_filename).is_relative_to(PACKAGE) and not code.co_name.startswith("<")


def write_example(folder: Path) -> Path:
    """Write a prediction for each answer of McTaco's sample."""
    lines = [
        json.dumps({"id": row["id"], "label": "yes"})
        for row in closeread.load_dataset("mctaco", "sample", split="test")
    ]
    path = folder / "yes.jsonl"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def main() -> None:
    """Print the way of a score."""
    words = [word for word in sys.argv[1:] if "=" not in word]
    options = dict(word.split("=", 1) for word in sys.argv[1:] if "=" in word)
    with tempfile.TemporaryDirectory() as folder:
        if words:
            name, predictions = words[0], Path(words[1])
        else:
            name, predictions = "mctaco", write_example(Path(folder))
            options = {"config": "sample", **options}
        closeread.score(name, predictions, **options)
        entered = trace(name, predictions, options)
    functions_by_file: dict[str, list[CodeType]] = {}
    for code in entered:
        file = Path(code.co_filename).relative_to(PACKAGE).as_posix()
        functions_by_file.setdefault(file, []).append(code)
    for file, functions in functions_by_file.items():
        print(f"{file}: {len(functions)}")
        for code in functions:
            print(f"    {entered[code]:6,} {code.co_qualname}")
    print(f"{len(functions_by_file)} files, {len(entered)} functions, {entered.total():,} calls")


if __name__ == "__main__":
    main()
