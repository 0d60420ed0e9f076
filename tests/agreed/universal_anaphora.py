"""Run the Universal Anaphora scorer, version 2.0, on its own test files and on random ones, and keep its scores.

    python tests/agreed/universal_anaphora.py SCORER [CORPORA]

SCORER is a checkout of github.com/ufal/corefud-scorer at the commit named below, which contains that scorer; Python
needs NumPy and SciPy.  CORPORA is a folder with checkouts of CODI-CRAC21-Corpus and CODI-CRAC22-Corpus (from
github.com/UniversalAnaphora), which annotate some documents twice; without it, their scores stay as they are, since
the scorer needs several minutes.  Writes `universal_anaphora.json` beside this file.  The call that scores is
commented out in `ua-scorer.py`, so its reader and its metrics are called as in the scorer's own tests.  Random files
are made here from their seeds, so that a test can make them again; the scorer's own files are named by their paths.
"""

import json
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from shared.universal_anaphora import HEADER, random_pair  # noqa: E402

COMMIT = "4fd7b0e0c661aeeff88bc60c19ef507b84d1b590"
N_PAIRS = 45
METRICS = ("muc", "bcub", "ceafm", "ceafe", "lea", "blanc")

OWN = {
    "original-conll": ("exact",),
    "plural": ("split", "only-split"),
    "discontinuous-craft": ("exact",),
    "partial-match-corefud": ("exact",),
    "partial-match-corefud/noncontig_mentions": ("exact", "partial"),
    "partial-match-corefud/overlapping_mentions": ("exact", "partial"),
    "zeros": ("exact", "exact-no-zeros"),
}
"""The folders of the scorer's own files, and the settings to score them in."""

RANDOM = (
    *(
        "exact",
        "exact-no-singletons",
        "exact-no-zeros",
        "partial",
        "split",
        "split-partial",
        "only-split",
    ),
    *("deixis", "non-referring", "bridging"),
)
"""The settings to score random files in."""


RELEASED = {
    "light_dev": "light_train.2022",
    "light_test": "light_dev.2022",
    "AMI_test_partial": "AMI_dev_v2.2022",
    "Persuasion_dev": "Persuasion_train.2022",
    "Persuasion_test": "Persuasion_dev.2022",
}
"""Files of CODI-CRAC 2021, and those of 2022 with the same documents; the latter are the key."""

NOT_OWN = ("TC-A-8.response", "TC-A-9.response")
"""Files that the scorer's own tests leave out: their mentions belong to several entities."""


def list_own(tests):
    """List the pairs of the scorer's own files: their folder and the names of key and response."""
    for folder in OWN:
        for key in sorted((tests / folder).glob("*.key")):
            for response in sorted((tests / folder).glob(f"{key.stem}-*")):
                if response.name not in NOT_OWN:
                    yield folder, key.name, response.name


def released_pair(corpora, name):
    """Return key and response as text: the documents of both releases with the same words."""
    paths = (f"CODI-CRAC22-Corpus/{RELEASED[name]}.CONLLUA", f"CODI-CRAC21-Corpus/{name}.CONLLUA")
    key, response = (dict(_read_documents(Path(corpora) / path)) for path in paths)
    shared = [name for name, rows in key.items() if _words(rows) == _words(response.get(name, []))]
    return tuple(
        HEADER
        + "".join(f"# newdoc id = {name}\n" + "\n".join(rows[name]) + "\n" for name in shared)
        for rows in (key, response)
    )


def _read_documents(path):
    for text in path.read_text("utf-8").split("# newdoc id = ")[1:]:
        name, *rows = text.split("\n")
        yield name.partition("/")[2].strip(), [row for row in rows if not row.startswith("#")]


def _words(rows):
    return [row.split()[1] for row in rows if row.strip()]


def settings_of(name, *, is_own):
    """Return the reader's arguments of a setting; those of the scorer's own files are scored as in its tests."""
    keep_singletons = name != "exact-no-singletons"
    return {
        "keep_singletons": keep_singletons,
        "keep_zeros": name != "exact-no-zeros",
        "keep_split_antecedents": "split" in name
        or name == "deixis"
        or (is_own and keep_singletons),
        "match": {
            "partial": "partial-corefud",
            "split-partial": "partial-corefud",
        }.get(name, "exact"),
        "evaluate_discourse_deixis": name == "deixis",
        "keep_non_referring": name == "non-referring",
        "keep_bridging": name == "bridging",
    }


def score(key, response, setting, *, named_brackets, is_own=False):
    """Score a pair of files: [precision, recall, F1] of each metric, in order; None if the scorer fails."""
    from scorer.eval import evaluator
    from scorer.ua.reader import UAReader

    metrics = [
        *(evaluator.muc, evaluator.b_cubed, evaluator.ceafm, evaluator.ceafe, evaluator.lea),
        [evaluator.blancc, evaluator.blancn],
    ]
    reader = UAReader(
        format="ua", allow_boundary_crossing=named_brackets, **settings_of(setting, is_own=is_own)
    )
    try:
        reader.get_coref_infos(key, response, unit_test=True)
        if setting == "non-referring":
            found = [evaluator.evaluate_non_referrings(reader.doc_non_referring_infos)]
        elif setting == "bridging":
            found = evaluator.evaluate_bridgings(reader.doc_bridging_infos)
        else:
            documents = (
                reader.doc_discourse_deixis_infos if setting == "deixis" else reader.doc_coref_infos
            )
            only = setting == "only-split"
            found = [
                evaluator.evaluate_documents(documents, m, only_split_antecedent=only)
                for m in metrics
            ]
    except (ArithmeticError, TypeError, ValueError, KeyError, AttributeError, NotImplementedError):
        return None
    return [
        [round(float(value), 8) for value in (precision, recall, f1)]
        for recall, precision, f1 in found
    ]


def score_released(corpora):
    """Score the first release against the second, in all settings."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder) / name) for name in ("key.conllua", "response.conllua")]
        for name in RELEASED:
            for path, text in zip(paths, released_pair(corpora, name), strict=True):
                Path(path).write_text(text, "utf-8")
            found |= {
                f"{name} {setting}": score(*paths, setting, named_brackets=False)
                for setting in RANDOM
            }
    return found


def main(scorer, corpora=None):
    """Score all pairs in all settings."""
    sys.path.insert(0, scorer)
    kept = HERE / "universal_anaphora.json"
    released = (
        json.loads(kept.read_text("utf-8"))["released"]
        if corpora is None
        else score_released(corpora)
    )
    tests = Path(scorer) / "tests" / "tests-ua"
    own = {}
    for folder, key, response in list_own(tests):
        for setting in OWN[folder]:
            paths = [str(tests / folder / name) for name in (key, response)]
            scores = score(*paths, setting, named_brackets="overlapping" in folder, is_own=True)
            own[f"{folder}/{key} {response} {setting}"] = scores
    random = {}
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder) / name) for name in ("key.conllua", "response.conllua")]
        for seed in range(N_PAIRS):
            for path, text in zip(paths, random_pair(seed), strict=True):
                Path(path).write_text(text, "utf-8")
            for setting in RANDOM:
                random[f"{seed} {setting}"] = score(*paths, setting, named_brackets=seed % 2 == 1)
    result = {
        "tool": "Universal Anaphora scorer 2.0, as contained in corefud-scorer",
        "commit": COMMIT,
        "command": "UAReader(format='ua', …).get_coref_infos(KEY, RESPONSE, unit_test=True); evaluate_documents(…)",
        "metrics": METRICS,
    }
    lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in result.items()]
    for name, scores in (("own", own), ("random", random), ("released", released)):
        rows = ",\n".join(
            f"{json.dumps(case)}: {json.dumps(values)}" for case, values in scores.items()
        )
        lines.append(f"{json.dumps(name)}: {{\n{rows}\n}}")
    kept.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
