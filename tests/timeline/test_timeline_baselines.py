"""TimeLine's baselines: by hand, on the command line, and their scores in the card."""

import json
from pathlib import Path

import pytest
from shared.annotated_cat import dump_document
from shared.count_tables import score_table
from shared.timelines import CORPUS, lines, skip_unless_available

from closeread.corpus.baselines import load_baseline
from closeread.corpus.gold import read_gold
from closeread.corpus.schema import RowValidator, load_schema
from closeread.exceptions import FormatError, RequestError
from closeread.tasks.timeline.procedure import PROCEDURE
from closeread.tasks.timeline.timeline_mentions import Timelines

CARD = Path(__file__).parent.parent.parent / "cards" / "semeval2015_timeline.md"
NAMES = ("creation-time", "text-order")


def made(name, records, articles=None):
    """The rows of a baseline, which fit the schema."""
    chosen = {} if articles is None else {"articles": articles}
    rows = load_baseline(CORPUS.name, name).predict(records, **chosen)
    assert (
        RowValidator(load_schema(CORPUS.name), "submission").problems(rows, range(len(rows))) == []
    )
    return rows


def on_sample(name):
    gold = read_gold(CORPUS, "sample")
    return {row["entity"]: lines(row) for row in made(name, gold.records)}


def test_the_sample_by_hand():
    # Mara Lindqvist is named in full in sentence 3 of 101 and of 102; in 103 it is Lindqvist, and she.
    dates = on_sample("creation-time")
    assert dates["Mara Lindqvist"] == [
        (1, "2014-03-03", "101-3-signed"), (1, "2014-03-03", "101-3-said"), (1, "2014-03-03", "101-3-start"),
        (2, "2014-05-12", "102-3-visited"), (2, "2014-05-12", "102-3-thanked"),
    ]  # fmt: skip
    texts = on_sample("text-order")
    assert [line[1:] for line in texts["Mara Lindqvist"]] == [
        line[1:] for line in dates["Mara Lindqvist"]
    ]
    assert [line[0] for line in texts["Mara Lindqvist"]] == [1, 2, 3, 4, 5]
    # The Aurelia is named in 101-2, 102-0, 102-2, 103-0 and 103-2.
    assert [line[2] for line in texts["Aurelia"]] == [
        "101-2-ordered", "101-2-called", "102-0-begins", "102-2-began", "103-0-launched", "103-2-launched",
        "103-2-celebrated", "103-2-party",
    ]  # fmt: skip
    assert [line[0] for line in dates["Aurelia"]] == [1, 1, 2, 2, 3, 3, 3, 3]


def document(name, time, *sentences):
    """A document of sentences in which the words that begin with `*` are events."""
    words = [
        (word, number) for number, sentence in enumerate(sentences) for word in sentence.split()
    ]
    tokens = [word.removeprefix("*") for word, _ in words]
    events = [
        {
            "id": str(place),
            "mention": f"{name}-{words[place][1]}-{tokens[place]}",
            "tokens": [place],
        }
        for place in range(len(words))
        if words[place][0].startswith("*")
    ]
    return {
        "id": name,
        "name": None,
        "url": None,
        "title": None,
        "creation_time": time,
        "creation_time_id": None if time is None else "time",
        "creation_time_tokens": [],
        "tokens": tokens,
        "sentences": [number for _, number in words],
        "events": events,
    }


def of_bay(name, *documents):
    """The lines of the timeline of Old Bay."""
    gold = [{"id": "old_bay", "entity": "Old Bay", "entries": []}]
    return lines(made(name, Timelines(gold, documents))[0])


def test_what_names_an_entity():
    # In any case, but word by word and all words; an event before or after the name counts alike.
    first = document(
        "1",
        "2010-05-01",
        "*rose OLD bay",
        "Old Bays *fell",
        "Gold Bay *fell",
        "Old x Bay *fell",
        "old Bay",
    )
    assert of_bay("creation-time", first) == [(1, "2010-05-01", "1-0-rose")]
    # The name does not reach from one sentence into the next.
    assert of_bay("text-order", document("1", "2010-05-01", "*rose Old", "Bay *fell")) == []


def test_documents_are_ordered_by_their_dates():
    late, early = (
        document("1", "2010-05-02", "Old Bay *a *b"),
        document("2", "2010-05-01", "Old Bay *c", "Old Bay *d"),
    )
    dates = [
        (1, "2010-05-01", "2-0-c"),
        (1, "2010-05-01", "2-1-d"),
        (2, "2010-05-02", "1-0-a"),
        (2, "2010-05-02", "1-0-b"),
    ]
    assert of_bay("creation-time", late, early) == dates
    assert of_bay("text-order", late, early) == [
        (n, *line[1:]) for n, line in enumerate(dates, start=1)
    ]


def test_a_creation_time_that_is_no_date():
    texts = [
        document("1", "2010-05-02", "Old Bay *a"),
        document("2", "03-02-2009", "Old Bay *b *c"),
        document("3", None, "Old Bay *d"),
        document("4", "2010-05-02", "Old Bay *e"),
    ]
    unknown = [(0, "03-02-2009", "2-0-b"), (0, "03-02-2009", "2-0-c"), (0, "XXXX-XX-XX", "3-0-d")]
    assert of_bay("creation-time", *texts) == [
        *unknown,
        (1, "2010-05-02", "1-0-a"),
        (1, "2010-05-02", "4-0-e"),
    ]
    assert of_bay("text-order", *texts) == [
        *unknown,
        (1, "2010-05-02", "1-0-a"),
        (2, "2010-05-02", "4-0-e"),
    ]


def test_events_are_taken_in_the_order_of_the_text():
    text = document("1", "2010-05-02", "Old Bay *a *b *c")
    text["events"].reverse()
    assert [line[2] for line in of_bay("text-order", text)] == ["1-0-a", "1-0-b", "1-0-c"]


def test_documents_of_ones_own(ran, tmp_path):
    (tmp_path / "texts").mkdir()
    Path("texts/1.xml").write_text(
        dump_document(document("1", "2010-05-01", "Old Bay *rose")), "utf-8"
    )
    Path("gold").mkdir()
    Path("gold/old_bay.txt").write_text("Old Bay\n1\t2010-05-01\t1-0-rose\n", "utf-8")
    ran(
        "baseline",
        CORPUS.name,
        "creation-time",
        "--gold",
        "gold",
        "--articles",
        "texts",
        "-o",
        "said",
    )
    assert Path("said/old_bay.txt").read_text("utf-8") == Path("gold/old_bay.txt").read_text(
        "utf-8"
    )
    report = json.loads(ran("score", CORPUS.name, "said", "--gold", "gold", "--no-ci", "--json"))
    assert report["scores"]["awareness/f1"]["value"] == 1


def test_without_documents(run, tmp_path):
    with pytest.raises(RequestError, match="use articles= to name a folder of documents"):
        of_bay("creation-time")
    with pytest.raises(RequestError, match="these timelines have no documents"):
        made("text-order", [])
    (tmp_path / "bad.xml").write_text("<Document/>")
    with pytest.raises(FormatError, match=r"bad\.xml:1: Document has no doc_id"):
        made("text-order", [], articles=tmp_path)


def in_card():
    """The lines of the card's table: corpus, baseline, and the figures as they are printed."""
    table = CARD.read_text("utf-8").split("### Baselines")[1].split("###")[0]
    rows = [
        [cell.strip(" `") for cell in line.split("|")[1:-1]]
        for line in table.splitlines()
        if line.startswith("| `")
    ]
    return {(row[0], row[1]): row[2:] for row in rows}


def figures(gold, name):
    """What the card says of a baseline: precision, recall and F1 of both tracks and of events, and anchors."""
    rows = made(name, gold.records)
    scores = {}
    for track in ("full", "ordering"):
        scores[track] = score_table(
            PROCEDURE.count(gold=gold.records, system=rows, track=track), PROCEDURE
        )
    parts = ("precision", "recall", "f1")
    awareness = [scores[track][f"awareness/{part}"] for track in scores for part in parts]
    events = [
        *(scores["full"][f"events/{part}"] for part in parts),
        scores["full"]["anchor_accuracy"],
    ]
    return [f"{100 * value:.2f}" for value in awareness + events]


def test_the_card_has_the_evaluation_corpora():
    assert set(in_card()) == {(f"corpus_{n}", name) for n in (1, 2, 3) for name in NAMES}


@pytest.mark.parametrize("split", ["corpus_1", "corpus_2", "corpus_3"])
def test_scores_in_the_card(corpora, split):
    skip_unless_available(split)
    gold = read_gold(CORPUS, "default", split)
    assert {name: figures(gold, name) for name in NAMES} == {
        name: in_card()[split, name] for name in NAMES
    }


def test_the_command_in_the_card(corpora, ran):
    block = CARD.read_text("utf-8").split("### Baselines")[1].split("```")[1].strip().splitlines()
    _, *printed = [ran(*line.split()[1:]) for line in block]
    stated = in_card()["corpus_1", "creation-time"]
    for text, values in zip(printed, (stated[:3] + stated[6:], stated[3:6]), strict=True):
        assert all(f" {value} " in text for value in values)
