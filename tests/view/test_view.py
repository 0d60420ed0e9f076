"""Pages with a key and systems: what they show is what went in, what was scored and what `errors coref` counts."""

import base64
import hashlib
import json
import random
from html.parser import HTMLParser
from importlib.resources import files
from itertools import permutations

import pytest
from shared.coreference import write_jsonl

import closeread
from closeread.views.page import draw_page
from closeread.views.texts import find_glued


def draw_clusters(rng, n_tokens=17):
    """Clusters of random mentions, no mention in two of them."""
    places = [(start, start + length) for start in range(n_tokens - 3) for length in range(3)]
    mentions = [list(place) for place in rng.sample(places, rng.randint(1, 9))]
    clusters = [[] for _ in range(rng.randint(1, 4))]
    for mention in mentions:
        rng.choice(clusters).append(mention)
    return [cluster for cluster in clusters if cluster]


def draw_side(seed):
    rng = random.Random(seed)
    return {f"doc {number}": draw_clusters(rng) for number in range(6)}


def read_side(side):
    """The clusters of a side of the page, as sets of mentions."""
    clusters = [set() for _ in side["entities"]]
    for start, end, entity, *_ in side["mentions"]:
        clusters[entity].add((start, end))
    sizes = [entity["size"] for entity in side["entities"]]
    assert sizes == list(map(len, clusters))
    return {frozenset(cluster) for cluster in clusters}


def as_sets(clusters):
    return {frozenset(map(tuple, cluster)) for cluster in clusters}


class Scripts(HTMLParser):
    """Collects the texts of scripts and styles, the policy, and every address."""

    def __init__(self):
        super().__init__()
        self.texts, self.policy, self.addresses, self._open = [], "", [], None
        self.images = 0

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.images += tag == "img"
        if tag in ("script", "style"):
            self._open = attributes.get("type", tag)
        if attributes.get("http-equiv") == "Content-Security-Policy":
            self.policy = attributes["content"]
        self.addresses += [attributes[name] for name in ("src", "href") if name in attributes]

    def handle_endtag(self, tag):
        self._open = None

    def handle_data(self, data):
        if self._open:
            self.texts.append((self._open, data))


def read_page(page):
    """The data in a page, and its other scripts and styles."""
    scripts = Scripts()
    scripts.feed(page)
    ((_, text),) = [part for part in scripts.texts if part[0] == "application/json"]
    return json.loads(text), scripts


@pytest.mark.parametrize("seed", range(30))
def test_mentions_scores_and_counts_are_those_of_score_and_errors(seed):
    key, a, b = (draw_side(3 * seed + side) for side in range(3))
    view = closeread.view("coref", a, b, gold=key)
    data, _ = read_page(view.to_html())
    assert data == json.loads(view.to_json())
    names = [document["name"] for document in data["documents"]]
    assert names == list(key)
    for document in data["documents"]:
        assert read_side(document["key"]) == as_sets(key[document["name"]])
        for system, response in zip(document["systems"], (a, b), strict=True):
            assert read_side(system) == as_sets(response[document["name"]])
    for number, response in enumerate((a, b)):
        shown = data["systems"][number]
        report = closeread.score("coref", response, gold=key)
        assert data["signature"] == report.provenance.signature
        for score in shown["scores"]:
            estimate = report[score["name"]]
            expected = (estimate.value, estimate.low, estimate.high)
            assert (score["value"], score["low"], score["high"]) == expected
        counts = closeread.errors("coref", response, gold=key).counts
        del counts["right entity"]
        assert {kind: n for kind, n in shown["counts"].items() if kind in counts} == counts
        in_documents = [document["systems"][number]["counts"] for document in data["documents"]]
        for kind, n in shown["counts"].items():
            assert n == sum(counts_of_document[kind] for counts_of_document in in_documents)
        for document, unit in zip(data["documents"], report.units, strict=True):
            assert document["systems"][number]["score"] == unit["conll/f1"]


def similarity(first, second):
    return 2 * len(first & second) / (len(first) + len(second))


@pytest.mark.parametrize("seed", range(40))
def test_entities_are_aligned_as_ceafe_maps_them(seed):
    # All mappings are tried, and only the best has this similarity.
    rng = random.Random(seed)
    key, response = draw_clusters(rng), draw_clusters(rng)
    data = closeread.view("coref", [response], gold=[key], ci=False).to_dict()
    key_sets = [set(map(tuple, cluster)) for cluster in key]
    response_sets = [set(map(tuple, cluster)) for cluster in response]
    aligned = data["documents"][0]["systems"][0]["aligned"]
    total = 0
    for number, other in enumerate(aligned):
        if other >= 0:
            shared = similarity(key_sets[other], response_sets[number])
            assert shared > 0
            total += shared
    used = [other for other in aligned if other >= 0]
    assert len(used) == len(set(used))
    small, large = sorted((key_sets, response_sets), key=len)
    best = max(sum(map(similarity, small, chosen)) for chosen in permutations(large, len(small)))
    assert total == pytest.approx(best)


def test_what_a_second_system_repairs_adds_and_shares():
    key = [[[[0, 0], [1, 1], [2, 2], [3, 3]], [[5, 5], [6, 6]]]]
    # misses 3, has 9 too many, puts 6 into the first entity
    first = [[[[0, 0], [1, 1], [2, 2], [6, 6]], [[5, 5], [9, 9]]]]
    # misses 3 and 5, has 8 and 9 too many
    second = [[[[0, 0], [1, 1], [2, 2], [8, 8]], [[6, 6], [9, 9]]]]
    data = closeread.view("coref", first, second, gold=key).to_dict()
    assert [system["counts"]["wrong entity"] for system in data["systems"]] == [1, 0]
    assert [system["counts"]["missing mention"] for system in data["systems"]] == [1, 2]
    assert [system["counts"]["spurious mention"] for system in data["systems"]] == [1, 2]
    assert data["comparison"] == {"repaired": 1, "added": 2, "shared": 2}
    assert data["documents"][0]["comparison"] == data["comparison"]
    assert closeread.view("coref", first, gold=key).to_dict()["comparison"] is None
    listed = closeread.errors("coref", first, second, gold=key).to_dict()
    assert listed["counts"] == data["comparison"]
    assert [(row["second system"], row["error"], row["mention"]) for row in listed["errors"]] == [
        ("repaired", "wrong entity", "6-6"),
        ("added", "missing mention", "5-5"),
        ("added", "spurious mention", "8-8"),
        ("shared", "missing mention", "3-3"),
        ("shared", "spurious mention", "9-9"),
    ]


HOSTILE = ["</script>", "<!--", "a\u2028b", "<script>", "]]>", "&lt;", '"', "\\u003c/script>"]


def test_hostile_words_stay_text():
    clusters = [[[0, 0], [1, 1]]]
    gold = {"</script><img src=x onerror=alert(1)>": clusters}
    view = closeread.view("coref", gold, gold=gold)
    data = json.loads(view.to_json()) | {"title": "</title><script>alert(1)</script>"}
    data["documents"][0]["words"] = HOSTILE
    data["systems"][0]["name"] = "<img src=x onerror=alert(1)>"
    page = draw_page(data)
    read, scripts = read_page(page)
    assert read == data
    assert [kind for kind, _ in scripts.texts] == ["style", "application/json", "script"]
    assert scripts.images == 0
    assert "\u2028" not in page


def test_the_policy_has_the_hashes_of_script_and_style_and_nothing_is_requested():
    _, scripts = read_page(closeread.view("coref", [[[[0, 0]]]], gold=[[[[0, 0]]]]).to_html())
    policy = dict(part.split(" ", 1) for part in scripts.policy.split("; "))
    assert policy["default-src"] == "'none'"
    for kind, text in scripts.texts:
        if kind != "application/json":
            digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            assert policy[f"{kind}-src"] == f"'sha256-{digest}'"
    assert [
        address for address in scripts.addresses if address[:5] != "data:" and address[0] != "#"
    ] == []


@pytest.mark.parametrize(
    ("text", "quotation"),
    [
        ('He left . " I stay , " said she .', 'He left. "I stay," said she.'),
        ('" Go " . She went . " No " .', '"Go". She went. "No".'),
    ],
)
def test_straight_quotes_have_blanks_outside(text, quotation):
    words = text.split()
    starts = [0, *(number + 1 for number, word in enumerate(words[:-1]) if word == ".")]
    glued = find_glued(words, starts)
    written = "".join(word if number in glued else f"{word} " for number, word in enumerate(words))
    assert written.strip() == quotation


def test_the_title_has_names_and_no_folder(tmp_path):
    paths = [tmp_path / f"{name}.jsonl" for name in ("key", "anna", "ben", "cleo")]
    for number, path in enumerate(paths):
        write_jsonl(path, draw_side(number))
    page = closeread.view("coref", *paths[1:], gold=paths[0], ci=False)
    assert page.to_dict()["title"] == "anna, ben and cleo on key.jsonl"


@pytest.mark.parametrize(("name", "limit"), [("page.js", 30_000), ("page.css", 12_000)])
def test_script_and_style_stay_small(name, limit):
    assert (files("closeread.views") / name).stat().st_size <= limit


def test_the_main_score_comes_first_and_hostile_names_stay_text():
    key = [[[[0, 0], [1, 1]]]]
    data = json.loads(closeread.view("coref", key, gold=key).to_json())
    assert data["systems"][0]["scores"][0]["name"] == data["measure"]
    data["systems"][0]["name"] = "<img src=x onerror=alert(1)>"
    data["systems"] *= 2
    _, scripts = read_page(draw_page(data))
    assert scripts.images == 0


def test_a_notebook_shows_the_page_in_a_frame():
    view = closeread.view("coref", [[[[0, 0]]]], gold=[[[[0, 0]]]])
    scripts = Scripts()
    frames = []
    scripts.handle_starttag = lambda tag, attributes: frames.append((tag, dict(attributes)))
    scripts.feed(view._repr_html_())
    ((tag, attributes),) = frames
    assert tag == "iframe"
    assert attributes["srcdoc"] == view.to_html()


def test_empty_nodes_of_either_side_have_a_place(tmp_path):
    rows = ["1\tShe\t_\t_\t_\t_\t0\t_\t_\tEntity=(e1--1)|SpaceAfter=No"]
    zero = "1.1\t_\t_\t_\t_\t_\t_\t_\t1:x\tEntity=(e1--1)"
    last = "2\tslept\t_\t_\t_\t_\t1\t_\t_\t_"
    head = ["# newdoc id = d", "# global.Entity = eid-etype-head-other"]
    key, response = tmp_path / "key.conllu", tmp_path / "response.conllu"
    key.write_text("\n".join([*head, *rows, last, "", ""]))
    response.write_text("\n".join([*head, *rows, zero, last, "", ""]))
    with pytest.warns(closeread.CloseReadWarning):
        (document,) = closeread.view("coref", response, gold=key).to_dict()["documents"]
    assert document["words"] == ["She", "∅", "slept"]
    assert (document["empty"], document["glued"], document["sentences"]) == ([1], [0], [0])
    assert document["key"]["mentions"] == [[0, 0, 0]]
    assert document["systems"][0]["mentions"] == [[0, 0, 0], [1, 1, 0]]


def test_the_command(run, tmp_path):
    files = []
    for number, name in enumerate(("key", "anna", "ben", "cleo")):
        files.append(tmp_path / f"{name}.jsonl")
        write_jsonl(files[-1], draw_side(number))
    page = tmp_path / "page.html"
    result = run("view", "coref", *files, "-o", page, "--document", "doc 2", "--document", "doc 4")
    assert result.output == f"{page}: 2 documents, 3 systems\n"
    data, _ = read_page(page.read_text())
    assert [system["name"] for system in data["systems"]] == ["anna", "ben", "cleo"]
    assert [document["name"] for document in data["documents"]] == ["doc 2", "doc 4"]
    run("view", "coref", *files, "-o", page, "--limit", 1)
    assert len(read_page(page.read_text())[0]["documents"]) == 1
    result = run("view", "coref", *files, "-o", page, "--document", "doc 9")
    assert (result.exit_code, "no document 'doc 9' in the key" in result.output) == (2, True)
    result = run("view", "mctaco", *files, "-o", page)
    assert "no such kind of page: 'mctaco' (choose from: coref)" in result.output


def test_a_corpus_by_name(run, tmp_path):
    rows = closeread.convert("coref", closeread.load_dataset("marmara_coref", "sample")["test"])
    write_jsonl(tmp_path / "mine.jsonl", {row["document"]: row["clusters"] for row in rows})
    page = tmp_path / "page.html"
    result = run("view", "marmara_coref", tmp_path / "mine.jsonl", "--config", "sample", "-o", page)
    assert result.exit_code == 0, result.output
    assert read_page(page.read_text())[0]["systems"][0]["scores"][-1]["value"] == 1


FIRST = {"a": [[[0, 0], [1, 1], [2, 2], [6, 6]], [[5, 5], [9, 9]]], "b": [[[0, 0]]]}
SECOND = {"a": [[[0, 0], [1, 1], [2, 2], [8, 8]], [[6, 6], [9, 9]]], "b": [[[0, 0], [1, 1]]]}
KEY = {
    "a": [[[0, 0], [1, 1], [2, 2], [3, 3]], [[5, 5], [6, 6]]],
    "b": [[[0, 0], [1, 1]]],
}


def test_errors_of_two_systems_of_a_kind_and_of_a_document():
    def count(**options):
        return closeread.errors("coref", FIRST, SECOND, gold=KEY, **options).to_dict()["counts"]

    assert count() == {"repaired": 2, "added": 2, "shared": 2}
    assert count(document="a") == {"repaired": 1, "added": 2, "shared": 2}
    assert count(document="b") == {"repaired": 1, "added": 0, "shared": 0}
    assert count(kinds=["missing mention"]) == {"repaired": 1, "added": 1, "shared": 1}
    both = ["wrong entity", "spurious mention"]
    assert count(kinds=both, document="a") == {"repaired": 1, "added": 1, "shared": 1}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kinds": ["split entity"]}, "no such kind of error: 'split entity'"),
        ({"document": "c"}, "no document 'c' in the key"),
        ({"by": ["entity_size"], "sort": "name"}, "compared without by=, sort="),
        ({"metrics": ["muc"]}, "two responses are compared without metrics="),
    ],
)
def test_options_that_two_systems_have_not(options, message):
    with pytest.raises(closeread.RequestError) as raised:
        closeread.errors("coref", FIRST, SECOND, gold=KEY, **options)
    assert message in str(raised.value)


@pytest.mark.parametrize("order", [1, -1])
def test_a_document_that_one_of_two_systems_lacks(tmp_path, run, order):
    lacking = {"a": SECOND["a"]}
    files = [tmp_path / f"{name}.jsonl" for name in ("first", "second")]
    for file, clusters in zip(files, (FIRST, lacking), strict=True):
        write_jsonl(file, clusters)
    write_jsonl(tmp_path / "key.jsonl", KEY)
    command = ["errors", "coref", tmp_path / "key.jsonl", *files[::order]]
    result = run(*command, "--missing", "error")
    assert result.exit_code == 1
    assert "1 of the 2 documents of the key has no response: 'b'" in result.output
    result = run(*command, "--missing", "skip", "--json")
    assert result.exit_code == 0, result.output
    # only "a" is compared: of "b", one of them has nothing
    of_first = {"repaired": 1, "added": 2, "shared": 2}
    of_second = {"repaired": 2, "added": 1, "shared": 2}
    counts = json.loads(result.stdout)["counts"]
    assert counts == (of_first if order == 1 else of_second)


def test_notes_of_two_systems_name_the_system(tmp_path, run):
    for name, clusters in (("key", KEY), ("first", FIRST), ("second", {**SECOND, "c": []})):
        write_jsonl(tmp_path / f"{name}.jsonl", clusters)
    files = [tmp_path / f"{name}.jsonl" for name in ("key", "first", "second")]
    notes = run("errors", "coref", *files, "--extra", "skip").stderr
    assert "second: 1 document of the response left out, not in the key: 'c'" in notes
