"""`closeread adjudicate coref`."""

import json
import random
from pathlib import Path

import pytest
from shared.annotators import annotators_of, random_annotators
from twins import adjudication as twin

from closeread.tasks.annotation import branching
from closeread.tasks.coref.files import read_documents

pytestmark = pytest.mark.usefixtures("here")

WORDS = ["Tea", "was", "made", "by", "Ida", "and", "she", "drank", "it"]
ANNA = [[(0, 0), (8, 8)], [(4, 4), (6, 6)]]
BEN = [[(4, 4), (6, 6)]]
CLEO = [[(0, 0), (6, 6), (8, 8)]]
EVERYBODY = {"anna": ANNA, "ben": BEN, "cleo": CLEO}


def conll(chains, words=WORDS, name="tea", ids=None):
    """A document with words and mentions that don't cross."""
    cells = [[] for _ in words]
    for number, chain in enumerate(chains):
        label = ids[number] if ids else number + 1
        for start, end in sorted(chain, key=lambda mention: mention[0] - mention[1]):
            if start == end:
                cells[start].append(f"({label})")
            else:
                cells[start].insert(0, f"({label}")
                cells[end].append(f"{label})")
    rows = [
        f"{i}\t{word}\t{'|'.join(cell) or '-'}\n"
        for i, (word, cell) in enumerate(zip(words, cells, strict=True))
    ]
    return "".join([f"#begin document ({name});\n", *rows, "#end document\n"])


def write(annotators, **more):
    """Write a file for every annotator; return their names."""
    for name, chains in annotators.items():
        Path(f"{name}.conll").write_text(conll(chains, **more), "utf-8")
    return [f"{name}.conll" for name in annotators]


def clusters(path):
    """The chains of the documents of a file, as sets."""
    return [
        {frozenset(map(tuple, cluster)) for cluster in record["clusters"]}
        for record in read_documents(Path(path))
    ]


def test_the_papers_example(ran):
    letters = {letter: (i, i) for i, letter in enumerate("ABCDE")}
    chains = [["AB", "CD"]] * 4 + [["AB"]] * 3 + [["CDE"]] * 2
    annotators = {
        f"a{i}": [[letters[x] for x in chain] for chain in own] for i, own in enumerate(chains)
    }
    files = write(annotators, words=list("vwxyz"))
    said = ran(
        "adjudicate",
        "coref",
        *files,
        "-o",
        "gold.conll",
        "--report",
        "report.json",
    )
    assert said == "gold.conll: 1 document, 2 chains, 4 mentions; cost 13, optimal\n"
    assert clusters("gold.conll") == [{frozenset({(0, 0), (1, 1)}), frozenset({(2, 2), (3, 3)})}]
    report = json.loads(Path("report.json").read_text("utf-8"))
    (document,) = report.pop("documents")
    assert report == {
        "objective": "v",
        "incompatible": "overlap",
        "empty_annotators": "count",
        "cost": 13,
        "optimal": True,
    }
    rows = [
        ([0, 0], [1, 1], files[:7], True, 2),
        ([2, 2], [3, 3], files[:4] + files[7:], True, 3),
        ([2, 2], [4, 4], files[7:], False, 4),
        ([3, 3], [4, 4], files[7:], False, 4),
    ]
    names = ("first", "second", "linked_by", "together", "cost")
    links = [{**dict(zip(names, row, strict=True)), "annotators": len(row[2])} for row in rows]
    assert document == {
        "document": "tea",
        "annotators": 9,
        "mentions": 4,
        "chains": 2,
        "cost": 13,
        "optimal": True,
        "links": links,
    }


def test_result_has_the_words_and_numbers_chains_by_first_mention(ran):
    ran("adjudicate", "coref", *write(EVERYBODY, ids="97"), "-o", "gold.conll")
    # k = 3; (0, 8) and (4, 6) by two annotators each: together 1; (0, 6) and (6, 8) by one: apart 2 each.
    text = Path("gold.conll").read_text("utf-8")
    rows = [row.split() for row in text.splitlines()[1:-2]]
    assert [row[-2] for row in rows] == WORDS
    assert {row[-2]: row[-1] for row in rows if row[-1] != "-"} == {
        "Tea": "(1)",
        "Ida": "(2)",
        "she": "(2)",
        "it": "(1)",
    }


@pytest.mark.parametrize("seed", range(6))
def test_order_and_ids_do_not_matter(ran, seed):
    """Nothing but the files' names in the report changes if ids, chains and files are in another order."""
    rng = random.Random(seed)
    annotators = annotators_of([rng.randrange(4) for _ in range(14)], 4, 0.5, seed)
    annotators = [
        [[(s // 3, e // 3) for s, e in chain] for chain in chains] for chains in annotators
    ]
    words = [f"w{i}" for i in range(14)]
    options = ("--objective", rng.choice(("v", "va", "u", "ua")), "--report")
    files = write({f"a{i}": chains for i, chains in enumerate(annotators)}, words=words)
    ran("adjudicate", "coref", *files, "-o", "one.conll", *options, "one.json")
    others = {}
    for i in rng.sample(range(4), 4):
        chains = [
            rng.sample(chain, len(chain)) for chain in rng.sample(annotators[i], len(annotators[i]))
        ]
        ids = rng.sample(range(1, 100), len(chains))
        Path(f"b{i}.conll").write_text(conll(chains, words, ids=ids), "utf-8")
        others[f"b{i}.conll"] = f"a{i}.conll"
    ran("adjudicate", "coref", *others, "-o", "other.conll", *options, "other.json")
    assert Path("one.conll").read_bytes() == Path("other.conll").read_bytes()
    one, other = (json.loads(Path(f"{name}.json").read_text("utf-8")) for name in ("one", "other"))
    for report, names in ((one, {file: file for file in files}), (other, others)):
        for link in report["documents"][0]["links"]:
            link["linked_by"] = sorted(names[file] for file in link["linked_by"])
    assert one == other


def test_annotators_need_not_have_all_documents(ran):
    Path("anna.conll").write_text(conll(ANNA) + conll(ANNA, name="pot"), "utf-8")
    Path("ben.jsonl").write_text(
        '{"document": "tea", "clusters": [[[0, 0], [8, 8]], [[3, 3]]]}\n', "utf-8"
    )
    Path("cleo").mkdir()
    for name in ("cup", "pot"):
        Path(f"cleo/{name}.conll").write_text(conll(CLEO, name=name), "utf-8")
    files = ("anna.conll", "ben.jsonl", "cleo")
    said = ran("adjudicate", "coref", *files, "-o", "gold.jsonl", "--report", "report.json")
    assert said.startswith("gold.jsonl: 3 documents, ")
    found = json.loads(Path("report.json").read_text("utf-8"))["documents"]
    assert [(document["document"], document["annotators"]) for document in found] == [
        ("cup", 1),
        ("pot", 2),
        ("tea", 2),
    ]
    by_name = dict(
        zip(read_documents(Path("gold.jsonl")).names, clusters("gold.jsonl"), strict=True)
    )
    assert by_name["cup"] == {frozenset(CLEO[0])}
    cost, chains = twin.adjudicate([ANNA, [[(0, 0), (8, 8)]]], "v")[::-1]
    assert by_name["tea"] == {frozenset(chain) for chain in chains}
    assert found[2]["cost"] == cost


def test_crossing_mentions_in_json_lines(ran):
    for name in ("anna", "ben"):
        Path(f"{name}.jsonl").write_text(
            '{"document": "d", "clusters": [[[0, 2], [1, 3], [9, 9]]]}\n', "utf-8"
        )
    files = ("anna.jsonl", "ben.jsonl")
    ran("adjudicate", "coref", *files, "-o", "gold.jsonl")
    assert clusters("gold.jsonl") == [{frozenset({(0, 2), (9, 9)})}]
    ran("adjudicate", "coref", *files, "-o", "gold.jsonl", "--incompatible", "containment")
    assert clusters("gold.jsonl") == [{frozenset({(0, 2), (1, 3), (9, 9)})}]


def test_worksheets_do_not_show_crossing_mentions_as_nested(run):
    """CoNLL has no cells for two crossing mentions of a chain, be it an annotator's or that of the result."""
    Path("anna.jsonl").write_text(
        '{"document": "d", "clusters": [[[0, 2], [1, 3]]], "n_tokens": 4}\n', "utf-8"
    )
    command = (
        "adjudicate",
        "coref",
        "anna.jsonl",
        "-o",
        "gold.jsonl",
        "--worksheet",
        "sheet.conll",
    )
    for where, more in (("anna.jsonl", ()), ("the result", ("--incompatible", "containment"))):
        done = run(*command, *more)
        message = (
            f"a worksheet can't express document 'd': two mentions of a chain cross in {where}"
        )
        assert (done.exit_code, done.stderr) == (2, f"Error: {message}\n")
        assert [path.name for path in Path.cwd().iterdir()] == ["anna.jsonl"]


def test_time_limit(run, monkeypatch):
    """What the solver had no time for is joined link by link, the most gain first; that is no error."""
    monkeypatch.setattr(branching, "MAX_NODES", 0)
    done = run(
        "adjudicate",
        "coref",
        *write(EVERYBODY),
        "-o",
        "gold.conll",
        "--time-limit",
        "1e-9",
    )
    assert done.exit_code == 0
    # (0, 8) and (4, 6) by two annotators of three: together 1 each; (0, 6) and (6, 8) by one: apart 2 each.
    assert (
        done.stdout
        == "gold.conll: 1 document, 2 chains, 4 mentions; cost 6, not proved to be optimal\n"
    )
    assert done.stderr == (
        "note: 1 document not solved in time: 'tea'; the best chains found are written, and better ones may exist.\n"
    )


def test_best_so_far(run):
    rng = random.Random(1)
    annotators = annotators_of([rng.randrange(9) for _ in range(110)], 5, 0.6, 1)
    for i, chains in enumerate(annotators):
        Path(f"a{i}.jsonl").write_text(
            json.dumps({"document": "d", "clusters": chains}) + "\n", "utf-8"
        )
    files = [f"a{i}.jsonl" for i in range(5)]
    options = ("--objective", "ua", "--time-limit", "0.2")
    done = run("adjudicate", "coref", *files, "-o", "gold.jsonl", *options)
    assert done.exit_code == 0
    assert "not proved" in done.stdout
    cost = twin.cost(clusters("gold.jsonl")[0], annotators, "ua")
    assert cost < twin.cost([], annotators, "ua")
    assert f"cost {cost:,}, " in done.stdout


def test_a_file_by_two_names_is_told(run):
    write({"anna": ANNA})
    Path("ben.conll").symlink_to("anna.conll")
    done = run("adjudicate", "coref", "anna.conll", "ben.conll", "-o", "gold.conll")
    assert (done.exit_code, done.stderr) == (
        0,
        "note: ben.conll is given twice, also as anna.conll; it counts as two files.\n",
    )


def test_what_is_left_out_is_told(run):
    for name, head in (("anna", [1]), ("ben", [])):
        record = {
            "document": "d",
            "clusters": [[[0, 1, *head], [3, 3, *[3] * len(head)]], [[4, 4, *[4] * len(head)]]],
            "n_tokens": 5,
        }
        Path(f"{name}.jsonl").write_text(json.dumps(record) + "\n", "utf-8")
    done = run("adjudicate", "coref", "anna.jsonl", "ben.jsonl", "-o", "gold.jsonl")
    assert done.stderr == (
        "note: heads of mentions are left out of the result.\nnote: 2 chains of one mention ignored.\n"
    )
    assert json.loads(Path("gold.jsonl").read_text()) == {
        "document": "d",
        "clusters": [[[0, 1], [3, 3]]],
        "n_tokens": 5,
    }


OTHER_WORDS = [*WORDS[:-1], "that"]
BAD = {
    "a mention twice": (
        {"ben.conll": conll([[(4, 4), (6, 6)], [(0, 0), (6, 6)]])},
        "ben.conll:8: document 'tea': the mention of tokens 6 to 6 is in entities '2' and '1'; keep one of them",
    ),
    "other words": (
        {"cleo.conll": conll(CLEO, OTHER_WORDS)},
        "cleo.conll:10: token 8 of document 'tea' is 'that', but 'it' in anna.conll (line 10)",
    ),
    "fewer tokens": (
        {"cleo.conll": conll([], WORDS[:-1])},
        "cleo.conll: document 'tea' has 8 tokens, but 9 in anna.conll",
    ),
    "several files": (
        {"ben.conll": conll(BEN, OTHER_WORDS), "cleo.conll": conll([], WORDS[:-1])},
        "ben.conll:10: token 8 of document 'tea' is 'that', but 'it' in anna.conll (line 10)\n"
        "cleo.conll: document 'tea' has 8 tokens, but 9 in anna.conll",
    ),
    "a mention outside": (
        {"ben.conll": '{"document": "tea", "clusters": [[[0, 0], [8, 9]]]}\n'},
        "ben.conll: document 'tea' has a mention that ends at token 9, but 9 tokens in anna.conll (numbered from 0)",
    ),
    "no CoNLL": (
        {"ben.conll": "Tea\n", "cleo.conll": "#begin document (tea)\n"},
        "ben.conll:1: token outside a document (expected '#begin document (NAME)' before it)\n"
        "cleo.conll:1: document 'tea' never ends (expected '#end document')",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(run, name):
    files, message = BAD[name]
    write(EVERYBODY)
    for file, text in files.items():
        Path(file).write_text(text, "utf-8")
    done = run("adjudicate", "coref", "anna.conll", "ben.conll", "cleo.conll", "-o", "gold.conll")
    assert done.exit_code == 1
    assert done.stderr == f"Error: {message}\n"
    assert not Path("gold.conll").exists()


REQUESTS = {
    "a file twice": (
        ["anna.conll"],
        "anna.conll is given twice (expected one file for each annotator)",
    ),
    "output is input": (
        ["-o", "ben.conll"],
        "ben.conll is also an input; choose another output file",
    ),
    "two outputs": (
        ["--report", "gold.conll"],
        "gold.conll is given for two outputs; choose two files",
    ),
    "no folder": (
        ["-o", "none/gold.conll"],
        "none/gold.conll: can't be written: No such file or directory",
    ),
    "no folder (2)": (
        ["--report", "none/r.json"],
        "none/r.json: can't be written: No such file or directory",
    ),
    "no number": (
        ["--time-limit", "nan"],
        "Invalid value for '--time-limit': nan (expected a number above 0)",
    ),
    "unknown suffix": (["-o", "gold.doc"], "gold.doc: the suffix is '.doc' (expected one of "),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_bad_requests(run, name):
    more, message = REQUESTS[name]
    files = write(EVERYBODY)
    before = [Path(file).read_bytes() for file in files]
    output = [] if "-o" in more else ["-o", "gold.conll"]
    done = run("adjudicate", "coref", *files, *output, "--worksheet", "sheet.conll", *more)
    assert done.exit_code == (1 if name.startswith("no folder") else 2)
    assert f"Error: {message}" in done.stderr
    assert [Path(file).read_bytes() for file in files] == before
    assert sorted(str(path) for path in Path.cwd().iterdir()) == sorted(
        str(Path(file).resolve()) for file in files
    )


def test_documents_of_real_size(ran, corpora):
    """Three of the shared documents, in the order of the folders; every link's cost is counted again."""
    for name, n_annotators in (("00170166_2", 11), ("00048220", 11)):
        files = sorted((corpora / "marmara_coref/conll" / name).glob("*.conll"))
        ran("adjudicate", "coref", *files, "-o", "gold.jsonl", "--report", "report.json")
        annotators = [
            [[tuple(m) for m in c] for c in read_documents(file)[0]["clusters"]] for file in files
        ]
        report = json.loads(Path("report.json").read_text("utf-8"))
        assert report["documents"][0]["annotators"] == n_annotators
        assert report["cost"] == sum(link["cost"] for link in report["documents"][0]["links"])
        assert report["cost"] == twin.cost(clusters("gold.jsonl")[0], annotators, "v")


def keep_nested(chain):
    """Leave out the mentions that cross an earlier one: CoNLL can't express them in one chain."""
    kept = []
    for start, end in sorted(chain, key=lambda mention: (mention[0], -mention[1])):
        if not any(first < start <= last < end for first, last in kept):
            kept.append((start, end))
    return kept


def test_random_worksheets_come_back(ran):
    """Given back unchanged, a worksheet makes the same result; so it does if all of its cells are forced."""
    for seed in range(4):
        rng = random.Random(seed)
        annotators = [
            [keep_nested(of) for of in chains] for chains in random_annotators(rng, 6, 4, 2)
        ]
        n_tokens = 4 + max(end for chains in annotators for chain in chains for _, end in chain)
        for i, chains in enumerate(annotators):
            record = {"document": "d", "clusters": chains, "n_tokens": n_tokens}
            Path(f"a{i}.jsonl").write_text(json.dumps(record) + "\n", "utf-8")
        command = (
            "adjudicate",
            "coref",
            *(f"a{i}.jsonl" for i in range(4)),
            "--objective",
            rng.choice(("v", "u")),
        )
        said = ran(*command, "-o", "one.conll", "--worksheet", "sheet.conll")
        again = ran(
            *command, "-o", "two.conll", "--worksheet", "again.conll", "--forced", "sheet.conll"
        )
        assert again == said.replace("one", "two")
        assert Path("one.conll").read_bytes() == Path("two.conll").read_bytes()
        assert Path("sheet.conll").read_bytes() == Path("again.conll").read_bytes()
        lines = Path("sheet.conll").read_text("utf-8").split("\n")
        forced = "\n".join("\t=".join(line.rsplit("\t", 1)) for line in lines)
        Path("sheet.conll").write_text(forced, "utf-8")
        ran(*command, "-o", "two.conll", "--worksheet", "again.conll", "--forced", "sheet.conll")
        assert Path("one.conll").read_bytes() == Path("two.conll").read_bytes()
        assert Path("again.conll").read_text("utf-8") == forced
