"""`timeline_awareness` as an evaluate module: whose timelines are compared, and what predictions may hold."""

import pytest
from shared.timelines import entry

import closeread
from closeread.exceptions import SubmissionError

pytestmark = pytest.mark.gate


@pytest.fixture(scope="module")
def metric(evaluate):
    return evaluate.load("timeline_awareness")


@pytest.fixture(scope="module")
def records():
    """The sample's timelines, with the spans of their mentions."""
    return list(closeread.load_dataset("semeval2015_timeline", "sample", split="test"))


def bare(records):
    """Timelines without spans."""
    fields = ("position", "anchor", "mentions")
    return [{**row, "entries": [{name: entry[name] for name in fields} for entry in row["entries"]]} for row in records]


def test_timelines_stand_in_the_order_of_gold(metric, records):
    with pytest.raises(SubmissionError) as caught:
        metric.compute(predictions=bare(records)[::-1], references=records)
    assert [record["id"] for record in records] == ["aurelia", "mara_lindqvist", "northbay_ferries"]
    assert str(caught.value) == (
        "predictions: 2 problems:\n"
        "predictions: row 0: id is 'northbay_ferries' (expected 'aurelia', as in the gold)\n"
        "predictions: row 2: id is 'aurelia' (expected 'northbay_ferries', as in the gold)"
    )


def test_timelines_of_other_names_are_refused(metric, records):
    foreign = [{**row, "id": f"{row['id']}_x"} for row in bare(records)]
    for face in (metric.compute, metric.report):
        with pytest.raises(SubmissionError, match=r"row 0: id is 'aurelia_x' \(expected 'aurelia', as in the gold\)"):
            face(predictions=foreign, references=records)


def test_a_missing_timeline_has_no_id(metric, records):
    rows = [None, *bare(records)[1:]]
    assert metric.compute(predictions=rows, references=records)["awareness/precision"] == 1


def test_spans_are_not_read(metric, records):
    assert any(entry["spans"] for row in records for entry in row["entries"])
    wrong = [{**row, "entries": [{**entry, "spans": []} for entry in row["entries"]]} for row in records]
    for rows in (records, wrong, bare(records)):
        assert metric.compute(predictions=rows, references=records)["awareness/f1"] == 1


def test_spans_are_still_judged(metric, records):
    first = {**records[0], "entries": [{**records[0]["entries"][0], "spans": "here"}]}
    with pytest.raises(SubmissionError, match=r"row 0: entries\[0\].spans: expected a list, found 'here'"):
        metric.compute(predictions=[first], references=records[:1])


def test_with_and_without_spans_can_be_added_together(metric, records):
    metric.add_batch(predictions=[records[0]], references=[records[0]])
    metric.add_batch(predictions=bare(records[1:2]), references=records[1:2])
    metric.add(prediction=bare(records)[2], reference=records[2])
    assert metric.compute()["events/recall"] == 1


def test_the_average_over_events_by_hand(metric):
    # Three events and one; awareness F1 is 4/7, since (b) is missing between (a) and (c), and 1.
    long = [entry(i, f"201{i}", f"1-{i}-{name}") for i, name in enumerate("abc", 1)]
    short = [entry(1, "2014", "1-4-d")]
    gold = [{"id": "bo", "entity": "Bo", "entries": long}, {"id": "cy", "entity": "Cy", "entries": short}]
    system = [{**gold[0], "entries": [long[0], {**long[2], "position": 2}]}, gold[1]]
    scores = metric.compute(predictions=system, references=gold, average="events")
    assert scores["awareness/f1"] == pytest.approx((3 * 4 / 7 + 1) / 4)
    assert scores["events/recall"] == pytest.approx((3 * 2 / 3 + 1) / 4)
    report = metric.report(predictions=system, references=gold, average="events")
    assert "|average:events|" in report.provenance.signature
    assert report.total.scores["awareness/f1"].value == scores["awareness/f1"]
    assert report.total.scores["awareness/f1"].low == pytest.approx(4 / 7)
    assert report.total.scores["awareness/f1"].high == 1
