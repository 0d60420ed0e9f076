"""Write the files of a version, which all later versions must read, and reproduce in their scores.

Run it once for every release, with the released code: `python tests/releases/make_files.py tests/releases/VERSION`.
What is written is never edited afterwards; a folder of a state between releases ends in its commit.
"""

import json
import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from click.testing import CliRunner
from shared.entry_points import CORPORA, KEY, RESPONSE, TIMEML_FILES, sample_gold, system_rows

import closeread
from closeread.cli import main
from closeread.corpus.names import load_corpus
from closeread.corpus.schema import load_schema
from closeread.counts.estimates import Resampling
from closeread.exceptions import InputError, RequestError
from closeread.formats.json_lines import dump_json_lines
from closeread.hf.builder import features
from closeread.tasks import load_procedure

QUICK = Resampling(n_resamples=0)
FREE = {"now_year": "1900", "tolerance": "0.5"}
"""Values of options that have no choices."""

LOCAL = ("word_column", "fields", "words", "layer")
"""Options of reading, which change nothing here."""

WITHOUT_CORPUS = {"coref": "jsonl", "tlinks": ""}
"""Procedures that score pairs of files, with the suffix of the files; folders have none."""


def main_script(folder):
    """Write all files of a version."""
    folder.mkdir(parents=True)
    rows = []
    for corpus in CORPORA:
        sides = write_sides(folder, corpus)
        rows += list_scores(corpus, *sides)
        keep_results(folder, corpus, *sides)
    for name, suffix in WITHOUT_CORPUS.items():
        sides = write_pair(folder, name, suffix)
        rows += list_scores(name, *sides)
        keep_results(folder, name, *sides)
    write_table(folder / "scores.json", "scores", rows)
    schemas = [{"corpus": name, "schemas": describe_schema(name)} for name in CORPORA]
    write_table(folder / "schemas.json", "schemas", schemas)


def write_table(path, name, rows):
    """Write rows as JSON, each on a line, so that a diff shows what has changed."""
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    head = f'"format": 1, "closeread": "{closeread.__version__}"'
    path.write_text(f'{{{head}, "{name}": [\n{lines}\n]}}\n', "utf-8")


def write_sides(folder, corpus):
    """Write the gold of a corpus's sample and a system's rows, in all formats of submissions."""
    gold, system = folder / "gold" / f"{corpus}.jsonl", folder / "systems" / f"{corpus}.jsonl"
    for path, rows in ((gold, sample_gold(corpus)), (system, system_rows(corpus))):
        path.parent.mkdir(exist_ok=True)
        path.write_text(dump_json_lines(rows), "utf-8")
    if CORPORA[corpus].write is not None:
        CORPORA[corpus].write(system_rows(corpus), folder / "systems" / f"{corpus}-other", corpus)
    return gold, system


def write_pair(folder, name, suffix):
    """Write key and response of a procedure without a corpus."""
    gold, system = (
        folder / side / (f"{name}.{suffix}" if suffix else name) for side in ("gold", "systems")
    )
    if name == "coref":
        gold.write_text(dump_json_lines(KEY), "utf-8")
        system.write_text(dump_json_lines(RESPONSE), "utf-8")
    else:
        for path, side in ((gold, "key"), (system, "response")):
            path.mkdir()
            for document, text in TIMEML_FILES[side].items():
                (path / f"{document}.tml").write_text(text, "utf-8")
    return gold, system


def list_scores(name, gold, system):
    """Score with the defaults, and with every other value of every option."""
    procedure = load_procedure(load_corpus(name).procedure if name in CORPORA else name)
    choices = [{}]
    for option in procedure.options:
        values = option.choices or filter(None, [FREE.get(option.name)])
        choices += [
            {option.name: v} for v in values if v != option.default and option.name not in LOCAL
        ]
    choices += [{"preset": preset} for preset in procedure.presets]
    for options in choices:
        try:
            report = closeread.score(name, system, gold=gold, resampling=QUICK, **options)
        except (RequestError, InputError):
            continue  # these files don't have what the option needs, such as heads
        yield {
            "name": name,
            "gold": gold.name,
            "system": system.name,
            "options": options,
            "procedure_version": procedure.version,
            "signature": report.provenance.signature,
            "scores": {metric: estimate.value for metric, estimate in report.total.scores.items()},
        }


def keep_results(folder, name, gold, system):
    """Write a report, the counts and a comparison."""
    for sort in ("reports", "counts", "comparisons"):
        (folder / sort).mkdir(exist_ok=True)
    own = ["coref" if name == "coref" else name]
    files = [gold, system] if name in WITHOUT_CORPUS else [system, "--gold", gold]
    run = partial(invoke, folder)
    said = run(
        "score",
        *own,
        *files,
        "--no-ci",
        "--json",
        "--counts",
        folder / "counts" / f"{name}.parquet",
    )
    (folder / "reports" / f"{name}.json").write_text(said, "utf-8")
    again = [gold, system, system] if name in WITHOUT_CORPUS else [system, system, "--gold", gold]
    said = run("compare", *own, *again, "--resamples", "20", "--json")
    (folder / "comparisons" / f"{name}.json").write_text(said, "utf-8")


def invoke(folder, *arguments):
    """Run a command, and return what it prints; paths are written relative to the folder."""
    done = CliRunner().invoke(
        main, [str(argument) for argument in arguments], catch_exceptions=False
    )
    if done.exit_code:
        raise SystemExit(done.stderr)
    return done.stdout.replace(f"{folder}/", "")


def describe_schema(corpus):
    """The columns of every table of a corpus, as Arrow names their types, in exported and cached files."""
    found = {}
    declared = load_corpus(corpus)
    for definition in dict.fromkeys(config.definition for config in declared.configs.values()):
        schema = features(load_schema(corpus), definition).arrow_schema
        found[definition] = {field.name: str(field.type) for field in schema}
    return found


if __name__ == "__main__":
    main_script(Path(sys.argv[1]))
