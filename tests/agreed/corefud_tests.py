"""Run the cases of CorefUD's scorer's own tests through that scorer, and keep its counts.

    python tests/agreed/corefud_tests.py SCORER

SCORER is a checkout of github.com/ufal/corefud-scorer at the commit named below; this Python needs udapi and SciPy.
Writes `corefud_tests.json` beside this file: what each test reads, how, and the counts of all metrics, but nothing of
the files.  Tests that their authors skip are kept with the reason that they give; the scorer has counts for these, too.
"""

import importlib.util
import json
import logging
import sys
import types
from pathlib import Path

HERE = Path(__file__).parent
COMMIT = "4fd7b0e0c661aeeff88bc60c19ef507b84d1b590"
COUNTS = ("found_of_response", "response", "found_of_key", "key")
FOLDERS = {True: "zeros", False: "{}-match"}


class Anything:
    """A result that every assertion accepts."""

    def __eq__(self, other):
        return True

    __hash__ = None


def load_tests(path, calls):
    """Load the module of tests; what its tests read is appended to `calls`."""
    pytest = types.ModuleType("pytest")
    pytest.approx = lambda expected, **tolerance: expected
    pytest.mark = types.SimpleNamespace(skip=skip)
    sys.modules["pytest"] = pytest
    spec = importlib.util.spec_from_file_location("unittests", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.evaluate = lambda document, metric: Anything()

    def read(
        key, response, matching="partial-corefud", keep_zeros=False, zero_match_method="linear"
    ):
        folder = FOLDERS[key.startswith("TC-Z")].format(matching)
        zeros = zero_match_method if keep_zeros else "exclude"
        calls.append(
            {
                "key": f"{folder}/{key}",
                "response": f"{folder}/{response}",
                "match": matching,
                "zeros": zeros,
            }
        )

    module.read = read
    return module


def skip(reason):
    """Mark a test as one that its authors skip."""

    def mark(test):
        test.skipped = reason
        return test

    return mark


def count(key, response, match, zeros, keep_singletons=True):
    """Return the counts of all metrics that the scorer has for two files."""
    from scorer.corefud.reader import CorefUDReader
    from scorer.eval import evaluator

    metrics = {
        "muc": evaluator.muc,
        "b3": evaluator.b_cubed,
        "ceafe": evaluator.ceafe,
        "ceafm": evaluator.ceafm,
        "coreference": evaluator.blancc,
        "other": evaluator.blancn,
        "lea": evaluator.lea,
        "mor": evaluator.mention_overlap,
        "zeros": evaluator.als_zeros,
    }
    kept = zeros != "exclude"
    method = zeros if kept else "linear"
    reader = CorefUDReader(
        keep_singletons=keep_singletons, keep_zeros=kept, match=match, zero_match_method=method
    )
    reader.get_coref_infos(str(key), str(response))
    found = {}
    for name, metric in metrics.items():
        total = evaluator.Evaluator(metric)
        for document in reader.doc_coref_infos.values():
            total.update(document)
        found[name] = [float(value) for value in total.get_counts()]
    return found


def main(scorer):
    """Count what every test reads."""
    logging.disable(logging.CRITICAL)
    sys.path.insert(0, scorer)
    folder = Path(scorer) / "tests" / "tests-corefud"
    said = {}
    calls = []
    tests = load_tests(Path(scorer) / "tests" / "unittests-corefud.py", calls)
    for name, test in vars(tests).items():
        if name.startswith("test_"):
            test()
            call = calls.pop()
            counts = count(
                folder / call["key"], folder / call["response"], call["match"], call["zeros"]
            )
            said[name] = {**call, "skipped": getattr(test, "skipped", None), "counts": counts}
    result = {
        "tool": "corefud-scorer 1.2",
        "commit": COMMIT,
        "command": "tests/unittests-corefud.py, read by CorefUDReader and counted by Evaluator",
        "columns": COUNTS,
        "said": said,
    }
    lines = (
        json.dumps(result, indent=0).replace(",\n", ", ").replace("[\n", "[").replace("\n]", "]")
    )
    (HERE / "corefud_tests.json").write_text(lines.replace("}, ", "},\n") + "\n", "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
