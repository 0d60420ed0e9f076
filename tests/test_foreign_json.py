"""No object is made of the fields of foreign JSON unless its names are known: `Class(**found)` would believe the file."""

import ast
import itertools
from pathlib import Path

import pytest

import closeread

PACKAGE = Path(closeread.__file__).parent
ROOT = PACKAGE.parents[1]

# by module and class, why the names of the fields are known
OWN = "no JSON: arguments of our own"
KNOWN = {
    ("cli/commands.py", "ProcedureGroup"): OWN,
    ("cli/options.py", "Option"): OWN,
    ("cli/printing.py", "Sheet"): OWN,
    ("counts/comparison.py", "Comparison"): OWN,
    ("counts/resampling.py", "Difference"): OWN,
    ("drawing/pictures.py", "Line2D"): OWN,
    ("hf/metric.py", "MetricInfo"): OWN,
    ("leaderboard/judge.py", "JudgingReport"): OWN,
    ("leaderboard/submission.py", "About"): OWN,
    ("leaderboard/submission.py", "Request"): OWN,
    ("neural/training.py", "TrainingArguments"): OWN,
    ("operations/leaderboard.py", "Limits"): OWN,
    ("llm/logs.py", "Log"): OWN,
    ("llm/questions.py", "Exam"): "llm/log.schema.json has checked it",
    ("loaders/coref/__init__.py", "Corpus"): "the facts of a declaration, which are no JSON",
    ("loaders/tlinks/__init__.py", "Corpus"): "the facts of a declaration, which are no JSON",
    ("tasks/coref/formats/lines.py", "Mention"): OWN,
    ("tasks/coref/key_response.py", "StandoffOptions"): OWN,
    ("tasks/marmara/pairs.py", "LinearSVC"): OWN,
    ("tasks/marmara/pairs.py", "LinearSVR"): OWN,
    ("tasks/mctaco/models.py", "TrainedRun"): "tasks/mctaco/runs.schema.json has checked it",
    ("tasks/wikipossessions/plots.py", "Ellipse"): OWN,
    ("tasks/wikipossessions/plots.py", "FancyBboxPatch"): OWN,
    ("tasks/wikipossessions/plots.py", "Polygon"): OWN,
    ("tasks/wikipossessions/plots.py", "Rectangle"): OWN,
}
READERS = {"loads", "load", "parse_json", "read_json", "json"}


def find_believed(tree):
    """The names of classes, and of anything that reads JSON in the call, to which ** passes fields."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        passed = [keyword.value for keyword in node.keywords if keyword.arg is None]
        name = name_last(node.func)
        if any(reads_json(value) for value in passed):
            yield f"{name} as it is read"
        elif passed and (name == "cls" or name[:1].isupper()):
            yield name


def name_last(node):
    return getattr(node, "attr", getattr(node, "id", ""))


def reads_json(value):
    calls = (node for node in ast.walk(value) if isinstance(node, ast.Call))
    return any(name_last(call.func) in READERS for call in calls)


@pytest.mark.parametrize(
    "source",
    [
        "Exam(**json.loads(text))",
        "Exam(**about['exam'])",
        "questions.Exam(name, **about)",
        "cls(**{**found, 'a': 1})",
        "make(**read_json(path))",
        "[make(**one) for one in [Run(**one) for one in runs]]",
    ],
)
def test_believed_json_is_noticed(source):
    assert list(find_believed(ast.parse(source)))


def test_objects_of_foreign_json_have_fields_that_are_checked():
    found = set()
    places = [PACKAGE, *(ROOT / name for name in ("loaders", "metrics"))]
    for path in itertools.chain.from_iterable(place.rglob("*.py") for place in places):
        base = PACKAGE if path.is_relative_to(PACKAGE) else ROOT
        for name in find_believed(ast.parse(path.read_text("utf-8"))):
            found.add((path.relative_to(base).as_posix(), name))
    assert found == set(KNOWN)


@pytest.mark.parametrize(
    "schema", sorted({reason.split()[0] for reason in KNOWN.values() if ".schema.json" in reason})
)
def test_the_schemas_that_check_them_are_in_use(schema):
    assert (PACKAGE / schema).is_file()
    package, _, file = f"closeread/{schema}".rpartition("/")
    named = f"{package.replace('/', '.')}/{file}"
    assert any(named in path.read_text("utf-8") for path in PACKAGE.rglob("*.py"))
