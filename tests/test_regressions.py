"""`compare --fail-if-worse` ends with status 3 if a system is worse than the first."""

import pytest

import closeread


@pytest.fixture
def systems(ran):
    """McTaco's sample: F1 of yes is 61.31 and of random 44.95, significantly less without correction only."""
    ran("baseline", "mctaco", "always-positive", "--config", "sample", "-o", "yes.jsonl")
    ran("baseline", "mctaco", "random", "--seed", "1", "--config", "sample", "-o", "random.jsonl")
    ran("baseline", "mctaco", "always-negative", "--config", "sample", "-o", "no.jsonl")


@pytest.mark.parametrize(
    ("files", "options", "status"),
    [
        ("yes random", "--fail-if-worse 16", 3),
        ("yes random", "--fail-if-worse 17", 0),
        ("random yes", "--fail-if-worse 0", 0),
        ("yes random", "", 0),
        ("yes no", "--fail-if-worse", 3),
        ("no yes", "--fail-if-worse", 0),
        ("yes yes", "--fail-if-worse", 0),
        ("random yes no", "--fail-if-worse 1 --json", 3),
    ],
)
def test_status(run, systems, files, options, status):
    names = [f"{name}.jsonl" for name in files.split()]
    done = run("compare", "mctaco", *names, "--config", "sample", *options.split())
    assert done.exit_code == status
    assert ("is worse than" in done.stderr) == (status == 3)


def test_the_system_is_named(run, systems):
    options = ("--config", "sample", "--fail-if-worse", "1")
    done = run("compare", "mctaco", "yes.jsonl", "random.jsonl", *options)
    assert "random is worse than yes: f1 -16.36" in done.stderr


def test_in_python_a_comparison_tells(systems):
    comparison = closeread.compare("mctaco", "yes.jsonl", "random.jsonl", config="sample")
    assert comparison.is_worse("f1", 16)
    assert not comparison.is_worse("f1", 17)
