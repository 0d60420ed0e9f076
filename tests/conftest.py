"""What every test gets: an empty cache, no corpora but the ones it asks for, and a way to run commands."""

import gc
import os
import random
import re
import sys
import tempfile
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import settings

from closeread.cli import main
from closeread.corpus import downloads, notices
from closeread.corpus.sources import CACHE_VARIABLE, DATA_VARIABLE

# Shared modules hold assertions, too; without this, a failure shows no values.
pytest.register_assert_rewrite("shared")

FIRST_TIER, GATE = "not gate and not extended", "gate and not extended"

REAL_DATA = os.environ.get(DATA_VARIABLE)

# A machine that is busy with something else is no failure.
settings.register_profile("closeread", deadline=None, print_blob=True, max_examples=30)
settings.register_profile("many", settings.get_profile("closeread"), max_examples=100)
# With other libraries it is they that may fail, not our arithmetic.
settings.register_profile("few", settings.get_profile("closeread"), max_examples=6)
settings.load_profile("closeread")


def pytest_addoption(parser):
    parser.addoption(
        "--extras-only",
        action="store_true",
        help="Run only the tests that need an extra of the package.",
    )
    parser.addoption("--skips", metavar="FILE", help="Append to FILE what was skipped and why.")


def pytest_configure(config):
    # Many tests score a file against itself, or against nothing like it; tests/faults has those of the warnings.
    for message in (
        ".* is the same (file|folder) as the gold, ",
        ".* (has no mentions|is predicted|no [a-z]+) (at all|in common) ",
    ):
        config.addinivalue_line("filterwarnings", f"ignore:{message}:UserWarning")
    # The seed of changed files is chosen once for all processes of a run.
    os.environ.setdefault("CLOSEREAD_FUZZ_SEED", str(random.SystemRandom().randrange(2**32)))


def pytest_report_header(config):
    return f"CLOSEREAD_FUZZ_SEED={os.environ['CLOSEREAD_FUZZ_SEED']}"


def pytest_ignore_collect(collection_path, config):
    """Leave out tests that need an extra that is not installed; the summary names them."""
    # not above: assertions are rewritten in what is imported later
    from shared.extras import find_lacking, find_needs

    if not collection_path.is_file():
        return None
    if collection_path.suffix == ".py" and not has_tests_of_tier(
        collection_path, config.option.markexpr
    ):
        return True
    needs = find_needs(collection_path)
    is_wanted = bool(needs) or not config.getoption("--extras-only")
    return None if is_wanted and not any(map(find_lacking, needs)) else True


def has_tests_of_tier(path, wanted):
    """Tell whether a test module may have tests of the tier that `-m` asks for; else it need not be imported."""
    text = path.read_text("utf-8")
    whole = re.search(r"^pytestmark = .*?\bmark\.(gate|extended)\b", text, re.MULTILINE)
    if wanted == FIRST_TIER:
        return whole is None
    if wanted == GATE:
        return ".gate" in text and (whole is None or whole[1] == "gate")
    return True


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Keep what is collected out of the garbage collector, which would look through all tests again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_terminal_summary(terminalreporter, config):
    from shared.extras import describe_skipped

    left_out = list(describe_skipped())
    for line in left_out:
        terminalreporter.write_line(line, yellow=True)
    if config.option.skips:
        skipped = [
            f"{report.nodeid.partition('::')[0]}: {report.longrepr[2].removeprefix('Skipped: ')}"
            for report in terminalreporter.stats.get("skipped", ())
        ]
        with open(config.option.skips, "a", encoding="utf-8") as file:
            file.writelines(
                f"{line}\n"
                for line in [*skipped, *(line.removeprefix("SKIPPED ") for line in left_out)]
            )


@pytest.fixture(scope="session")
def caches(tmp_path_factory):
    """The folder of all caches; pytest's own would be read for a free number before every test."""
    return tmp_path_factory.mktemp("caches")


@pytest.fixture(autouse=True)
def same_everywhere(monkeypatch, caches):
    """Make tests independent of this machine and of each other, in one fixture, since each takes time."""
    # No corpora, so that a test passes or fails alike with and without them; no width or colours of a terminal.
    for name in (DATA_VARIABLE, "COLUMNS", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(CACHE_VARIABLE, tempfile.mkdtemp(dir=caches))
    # Warnings that earlier tests have seen.
    monkeypatch.setattr(notices, "_shown", set())


@pytest.fixture
def here(monkeypatch, tmp_path):
    """An empty working directory, so that messages name files without folders."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def corpora(monkeypatch):
    """The folder of the real corpora, in which the code under test looks as well."""
    if not REAL_DATA:
        pytest.skip("CLOSEREAD_DATA is not set")
    monkeypatch.setenv(DATA_VARIABLE, REAL_DATA)
    return Path(REAL_DATA)


@pytest.fixture(scope="session")
def datasets():
    """The library, which takes a second to import."""
    import datasets

    return datasets


@pytest.fixture(scope="session")
def evaluate(datasets):
    """The library; without `transformers`, which it would import."""
    from shared.late import evaluate

    return sys.modules[evaluate.load.__module__.partition(".")[0]]


@pytest.fixture
def offline_caches(monkeypatch, tmp_path, evaluate):
    """Puts evaluate's files of modules into a folder of the test's own."""
    monkeypatch.setattr(evaluate.config, "HF_METRICS_CACHE", tmp_path / "hf-metrics")


@pytest.fixture(scope="session")
def features(datasets):
    """`closeread.hf.builder.features`, whose module imports datasets."""
    from closeread.hf.builder import features

    return features


@pytest.fixture
def ran(run, tmp_path, monkeypatch):
    """Runs a command in a folder of the test's own; it must end well."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments, stdin=None):
        result = run(*arguments, stdin=stdin)
        assert result.exit_code == 0, result.stderr
        return result.stdout

    return call


@pytest.fixture
def run():
    """Runs `closeread ARGUMENTS`; an exception that is no message to the user fails the test."""

    def invoke(*arguments, stdin=None):
        return CliRunner().invoke(
            main, [str(a) for a in arguments], input=stdin, catch_exceptions=False
        )

    return invoke


@pytest.fixture
def no_proxy(monkeypatch):
    """Send requests to this machine directly, not through a proxy."""
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("no_proxy", "*")


@pytest.fixture
def loopback(monkeypatch, no_proxy):
    """Download from servers on this machine, unencrypted, and wait for nobody; the seconds that were asked for."""
    from requests.adapters import HTTPAdapter

    waits, open_session = [], downloads.open_session

    def open_loopback():
        session = open_session()
        session.mount("http://127.0.0.1", HTTPAdapter())
        return session

    monkeypatch.setattr(downloads, "open_session", open_loopback)
    monkeypatch.setattr(downloads, "sleep", waits.append)
    return waits


@pytest.fixture
def server(loopback):
    """A web server on this machine, to download from."""
    from shared.file_server import serving

    with serving() as server:
        yield server
