"""Files that are refused, and the whole message about each: one text file of cases for each format.

A file begins with the commands that refuse each case (`$ closeread …`) and the files that are good (`--- NAME`).  Each
case (`=== NAME`) has the files that it has instead, and the message.  Lines of a file that is `(escaped)` have Python's
escapes, and its line ends are escaped, too.

Every command ends with code 1 and says the message, and nothing else, and writes nothing; so does `closeread.score`
where `closeread score` is among the commands.
"""

import shlex
from pathlib import Path
from typing import NamedTuple

import pytest

import closeread
from closeread.exceptions import InputError, word_for_command_line

pytestmark = pytest.mark.filterwarnings("ignore::closeread.CloseReadWarning")

FOLDER = Path(__file__).parent
COMMAND, CASE, FILE, MESSAGE = "$ closeread ", "=== ", "--- ", "--- message"
ESCAPED = " (escaped)"


class Case(NamedTuple):
    """Files by name, and the message that each of the commands ends with."""

    commands: list[list[str]]
    files: dict[str, bytes]
    message: str


def read_cases(path):
    """Read the cases of a format by name."""
    # A blank line before each case is not part of the file that is above it.
    head, *parts = split(path.read_text("utf-8"), CASE)
    lines = [line for line in head.splitlines() if line.startswith(COMMAND)]
    commands = [shlex.split(line.removeprefix(COMMAND)) for line in lines]
    good = read_files(head.removesuffix("\n"))
    cases = {}
    for part in parts:
        name = part.partition("\n")[0]
        files = good | read_files(part)
        message = files.pop("message").decode().strip("\n")
        cases[name] = Case(commands, files, message)
    return cases


def read_files(text):
    """Read the files of a part by name."""
    files = {}
    for part in split(text, FILE)[1:]:
        title, _, content = f"{part}\n".partition("\n")
        name = title.removesuffix(ESCAPED)
        if title.endswith(ESCAPED):
            content = content.replace("\n", "").encode("ascii").decode("unicode_escape")
            files[name] = content.encode("latin-1")
        else:
            files[name] = content.encode("utf-8")
    return files


def split(text, marker):
    """Split a text at the lines that begin with a marker; the line end before a marker belongs to it."""
    first, *parts = f"\n{text}".split(f"\n{marker}")
    return [first.removeprefix("\n"), *parts]


CASES = {
    f"{path.stem}: {name}": case
    for path in sorted(FOLDER.glob("*.txt"))
    for name, case in read_cases(path).items()
}


@pytest.mark.parametrize("name", CASES)
def test_a_refused_file_and_the_message(name, here, run):
    case = CASES[name]
    for file, content in case.files.items():
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        Path(file).write_bytes(content)
    before = list_files()
    for command in case.commands:
        done = run(*command)
        assert (done.exit_code, done.stdout) == (1, "")
        assert done.stderr == f"Error: {case.message}\n"
        if command[0] == "score":
            with word_for_command_line(), pytest.raises(InputError) as caught:
                score(command)
            assert str(caught.value) == case.message
    assert list_files() == before


def score(command):
    """Call `closeread.score` as a command does."""
    _, name, *words = command
    files = []
    options = {}
    while words:
        word = words.pop(0)
        if word.startswith("--"):
            options[word.removeprefix("--").replace("-", "_")] = words.pop(0)
        else:
            files.append(word)
    if name in ("coref", "tlinks"):
        options["gold"] = files.pop(0)
    closeread.score(name, files[0], **options)


def list_files():
    """Return the files of the working directory."""
    return sorted(str(path) for path in Path().rglob("*"))


def test_cases_of_a_format_have_different_names():
    for path in FOLDER.glob("*.txt"):
        text = path.read_text("utf-8")
        assert f"\n{text}".count(f"\n{CASE}") == len(read_cases(path)), path.name
