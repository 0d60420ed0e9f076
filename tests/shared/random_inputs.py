"""Random inputs of realistic shape for the recording: gold with two systems or annotators of every task.

Everything is drawn with one seed and Python's own generator, so that it is the same everywhere.
"""

import random
import re

from agreed.corefud_zeros import PAIRS
from agreed.coval import document_text, random_arrau_pair, random_sentence, random_span, shift
from shared import coreference, json_lines
from shared.annotated_cat import mark, relate, write_document
from shared.annotators import random_annotators
from shared.doors import timeml
from shared.tne_annotated import document as tne_document
from shared.universal_anaphora import random_pair as random_anaphora
from twins.possessions import ANCHORS

from closeread.tasks.tlinks.temporal_graph import TYPES
from closeread.tasks.wikipossessions.dates import parse_anchor


def write_all(folder):
    """Write all inputs into a folder."""
    folder.mkdir()
    for write in (
        write_conll, write_corefud, write_anaphora, write_arrau, write_annotators, write_questions, write_links,
        write_timelines, write_temporal_links, write_possessions, write_cat,
    ):  # fmt: skip
        write(random.Random(write.__name__), folder)  # no secret


def write_conll(rng, folder):
    """A key with trees and genres, and two responses that shift and drop mentions; the second lacks a document."""
    texts = {"key": "", "first": "", "second": ""}
    for number in range(8):
        name = f"{rng.choice(['bc', 'nw', 'wb'])}/x/0{number}/x_{number:04}"
        sentences = [random_sentence(rng) for _ in range(rng.randint(2, 7))]
        mentions = set()
        for _ in range(rng.randint(6, 22)):
            sentence = rng.randrange(len(sentences))
            mentions.add((sentence, *random_span(rng, len(sentences[sentence]))))
        key = [(*mention, rng.randrange(rng.choice((2, 5)))) for mention in sorted(mentions)]
        texts["key"] += document_text(name, sentences, key)
        for side, share in (("first", 0.9), ("second", 0.7)):
            kept = [one for one in key if rng.random() < share]
            shifted = {shift(rng, one, len(sentences[one[0]]), 5) if rng.random() < 0.5 else one for one in kept}
            spans = {one[:3]: one for one in sorted(shifted)}
            if side == "first" or number != 5:
                texts[side] += document_text(name, sentences, list(spans.values()))
    for side, text in texts.items():
        (folder / f"{side}.conll").write_text(text, "utf-8")


TAGS = ("NOUN", "PRON", "VERB", "PROPN", "DET")


def write_corefud(rng, folder):
    """Files with empty nodes, and files whose mentions have few heads, each of many documents."""
    for kind, make in PAIRS.items():
        pairs = [make(rng.randrange(10**6)) for _ in range(8)]
        for side, texts in zip(("key", "first"), zip(*pairs, strict=True), strict=True):
            text = "".join(one.replace("newdoc id = d", f"newdoc id = {n}d") for n, one in enumerate(texts))
            text = re.sub(
                r"(?<=\tw)(\d)\t_\t_", lambda found: f"{found[1]}\t_\t{TAGS[int(found[1]) % len(TAGS)]}", text
            )
            (folder / f"{kind}-{side}.conllu").write_text(text, "utf-8")


def write_anaphora(rng, folder):
    """Files of Universal Anaphora with all layers; in the last pair mentions cross."""
    for number in range(6):
        seed = 2 * rng.randrange(10**6) + (number == 5)
        for side, text in zip(("key", "first"), random_anaphora(seed), strict=True):
            (folder / f"anaphora{number}-{side}.conllua").write_text(text, "utf-8")


def write_arrau(rng, folder):
    for number in range(6):
        for side, text in zip(("key", "first"), random_arrau_pair(rng.randrange(10**6)), strict=True):
            (folder / f"arrau-{side}").mkdir(exist_ok=True)
            (folder / f"arrau-{side}" / f"{number}.conll").write_text(text, "utf-8")


def write_annotators(rng, folder):
    """Three annotators of five documents, one of whom has chains that others split, and the given mentions."""
    documents = {}
    for number in range(5):
        annotators = random_annotators(rng, 7, 3)
        documents[f"d{number}"] = [[_drop_crossing(chain) for chain in chains] for chains in annotators]
    for who in range(3):
        chains = {name: annotators[who] for name, annotators in documents.items()}
        coreference.write_conll(folder / f"annotator{who}.conll", chains, 24)
    given = {
        name: [[span] for span in sorted({span for chains in annotators for chain in chains for span in chain})]
        for name, annotators in documents.items()
    }
    coreference.write_conll(folder / "given.conll", given, 24)


def _drop_crossing(chain):
    """The mentions of a chain without those that its brackets could not tell from others."""
    kept = []
    for start, end in chain:
        if not any(start <= b and a <= end for a, b in kept):
            kept.append((start, end))
    return kept


CATEGORIES = ("Event Duration", "Event Ordering", "Frequency", "Stationarity", "Typical Time")
ANSWERS = ("{} hours", "{} days", "in {} years", "{} minutes later", "every {} weeks", "yes", "she left", "at noon")


def write_questions(rng, folder):
    """Answers to questions of one to nine candidates, and two systems; the second leaves out whole questions."""
    gold = []
    for question in range(25):
        sentence = question // 2
        share = rng.choice((0.0, 0.3, 0.6, 1.0))
        gold += [
            {
                "id": f"test-{len(gold) + answer:05}",
                "question_id": f"test-q{question:04}",
                "sentence_id": f"test-s{sentence:04}",
                "sentence": f"Sentence {sentence}.",
                "question": f"How long is question {question}?",
                "answer": rng.choice(ANSWERS).format(rng.randint(1, 40)),
                "label": "yes" if rng.random() < share else "no",
                "category": CATEGORIES[question % 5],
            }
            for answer in range(rng.randint(1, 9))
        ]
    json_lines.write(folder / "mctaco.jsonl", gold)
    for side, share in (("first", 0.2), ("second", 0.35)):
        rows = [
            {
                "id": row["id"],
                "label": {"yes": "no", "no": "yes"}[row["label"]] if rng.random() < share else row["label"],
            }
            for row in gold
            if side == "first" or int(row["question_id"][-4:]) % 7
        ]
        json_lines.write(folder / f"mctaco-{side}.jsonl", rows)
    annotators = [
        [{"id": row["id"], "label": rng.choice(("likely", "likely", "unlikely"))} for row in gold] for _ in range(3)
    ]
    for number, rows in enumerate(annotators):
        json_lines.write(folder / f"mctaco-annotator{number}.jsonl", rows)


def write_links(rng, folder):
    """Annotated documents of TNE by two annotators, the first of whom is gold, and two systems, one with fallbacks."""
    prepositions = ("of", "in", "near", "on", "member(s) of")
    sides = {"tne": [], "tne-ben": [], "tne-first": [], "tne-second": []}
    for number in range(7):
        size = rng.randint(4, 9)
        words = " ".join(rng.choice(("roof", "house", "town", "it", "Ann", ".")) for _ in range(size))
        owner = [rng.randrange(size) if rng.random() < 0.5 else i for i in range(size)]
        clusters = [[i for i in range(size) if owner[i] == o] for o in sorted(set(owner))]
        cluster_of = {i: n for n, cluster in enumerate(clusters) for i in cluster}

        def links(k, size=size, cluster_of=cluster_of):
            pairs = [(rng.randrange(size), rng.randrange(size)) for _ in range(k)]
            return [(a, rng.choice(prepositions), b) for a, b in pairs if cluster_of[a] != cluster_of[b]]

        def close(found, clusters=clusters, cluster_of=cluster_of):
            found = dict.fromkeys((a, p, cluster_of[b]) for a, p, b in found)
            return [(a, p, clusters[c][0]) for a, p, c in found]

        first = close(links(3 * size))
        second = close([link for link in first if rng.random() < 0.7] + links(size))
        about = {"domain": rng.choice(("news", "reddit", "books")), "forum": rng.choice(("a", "b", None))}
        for name, found in (("tne", first), ("tne-ben", second)):
            record = tne_document(f"t{number}", words, found, clusters)
            sides[name].append(record | (about if about["domain"] == "reddit" else {"domain": about["domain"]}))
        gold = [(link["anchor"], link["complement"], link["preposition"]) for link in sides["tne"][-1]["np_relations"]]
        for name, share in (("tne-first", 0.75), ("tne-second", 0.5)):
            kept = {
                (a, b): (p if rng.random() < 0.8 else rng.choice(prepositions))
                for a, b, p in gold
                if rng.random() < share
            }
            more = {(f"np{a}", f"np{b}"): p for a, p, b in links(size) if rng.random() < 0.5}
            rows = [{"anchor": a, "complement": b, "preposition": p} for (a, b), p in (more | kept).items()]
            is_fallback = [rng.random() < 0.4 for _ in rows]
            fallback = [row for row, is_one in zip(rows, is_fallback, strict=True) if is_one]
            relations = [row for row, is_one in zip(rows, is_fallback, strict=True) if not is_one]
            row = {"id": f"t{number}", "relations": relations}
            sides[name].append(row | {"fallback": fallback} if name == "tne-second" and number % 2 else row)
    for name, rows in sides.items():
        json_lines.write(folder / f"{name}.jsonl", rows)


def write_timelines(rng, folder):
    """Timelines with ties, copies, vague anchors and position 0, and two systems; the second misses one."""
    anchors = ("2014", "2014-03", "2014-03-XX", "2014-03-03", "2014-XX-XX", "XXXX-XX-XX", "2015-01-02", "2013-12-31")

    def entry(position):
        mentions = [
            f"{rng.randint(1, 4)}-{rng.randint(0, 5)}-{rng.choice(('go', 'ran', 'met'))}"
            for _ in range(rng.choice((1, 1, 2, 3)))
        ]
        return {"position": position, "anchor": rng.choice(anchors), "mentions": list(dict.fromkeys(mentions))}

    gold, sides = [], {"first": [], "second": []}
    for number in range(9):
        name = {"id": f"e{number}", "entity": f"E{number}"}
        entries = [entry(position) for position in sorted(rng.choices(range(8), k=rng.randint(2, 12)))]
        gold.append({**name, "entries": entries})
        for side, share in (("first", 0.85), ("second", 0.6)):
            kept = [one if rng.random() < 0.7 else entry(one["position"]) for one in entries if rng.random() < share]
            moved = [{**one, "position": max(0, one["position"] + rng.choice((-1, 0, 0, 1)))} for one in kept]
            if side == "first" or number:
                sides[side].append({**name, "entries": sorted(moved, key=lambda one: one["position"])})
    json_lines.write(folder / "timeline.jsonl", gold)
    for side, rows in sides.items():
        json_lines.write(folder / f"timeline-{side}.jsonl", rows)


def write_temporal_links(rng, folder):
    """TimeML of four events, with contradictions and repeated links; the second response has fewer files."""
    for side in ("tlinks-key", "tlinks-first", "tlinks-second"):
        (folder / side).mkdir()
    types = [one for one in TYPES if one.isupper()]
    for number in range(9):
        links = [f"ei{rng.randint(1, 4)} {rng.choice(types)} ei{rng.randint(1, 4)}" for _ in range(rng.randint(2, 7))]
        for side, share in (("tlinks-key", 1), ("tlinks-first", 0.8), ("tlinks-second", 0.4)):
            other = [f"ei{rng.randint(1, 4)} {rng.choice(types)} ei{rng.randint(1, 4)}" for _ in links]
            kept = [a if share == 1 or rng.random() < 0.7 else b for a, b in zip(links, other, strict=True)]
            kept = [one for one in kept if rng.random() < share]
            if side != "tlinks-second" or number != 4:
                (folder / side / f"{number}.tml").write_text(timeml(*kept), "utf-8")


NAMES = ("Ann Poe", "the Poe", "Poe", "Ann of Roe", "Roe", "the Hall", "Hall of Roe", "King of the Hall", "Bo")


def write_possessions(rng, folder):
    """Possessions of every kind of anchor, by two annotators, the first of whom is gold, and two systems."""
    anchors = [anchor for anchor in ANCHORS if anchor] + ["1600-1610", "1605-1700", "12th Century", "300 BC", "1650"]
    orders = ("1", "2", "2.1", "2.2", "2.1.1", "3", "4", "5", "6")

    def possession():
        anchor = rng.choice([*anchors, None])
        relation = anchor and rng.choice(("before", "during", "during", "after", None))
        return {
            "type": rng.choice(("PER", "ORG", "LOC")),
            "possessor": rng.choice(NAMES),
            "certainty": rng.choice(("certain", "certain", "uncertain")),
            "order": rng.choice(orders),
            "anchor": anchor,
            "relation": relation,
            "relation_certainty": relation and rng.choice(("certain", "uncertain")),
        }

    def change(row, share):
        other = possession()
        relation = ("anchor", "relation", "relation_certainty")
        changed = {name: other[name] for name in ("possessor", "certainty", "order") if rng.random() > share}
        return {**row, **changed, **({name: other[name] for name in relation} if rng.random() > share else {})}

    sides = {"possessions": [], "possessions-ben": [], "possessions-first": [], "possessions-second": []}
    for number in range(8):
        gold = [possession() for _ in range(rng.randint(1, 9))]
        for name, share in zip(sides, (1, 0.85, 0.8, 0.55), strict=True):
            rows = [change(row, share) for row in gold if rng.random() < share + 0.1]
            rows += [possession() for _ in range(rng.choice((0, 0, 1, 2)))] if share < 1 else []
            if name in ("possessions", "possessions-ben"):
                rows = [{**row, **_years(row["anchor"])} for row in rows]
            if name != "possessions-second" or number != 3:
                sides[name].append({"article": f"Artifact {number}", "possessions": rows})
    for name, rows in sides.items():
        json_lines.write(folder / f"{name}.jsonl", rows)


def _years(anchor):
    """The fields of gold that follow from an anchor."""
    parsed = parse_anchor(anchor)
    return {name: getattr(parsed, name) for name in ("lower", "upper", "open_start", "open_end")} | {
        "anchor_kind": parsed.kind
    }


def write_cat(rng, folder):
    """Two annotators of documents about two entities and their events, for agreement and for building timelines."""
    words = ["Bo", "ran", "and", "Ann", "met", "him", "in", "May", "then", "left", "home", "again"]
    roles = ("Arg0", "Arg1", "Argm-LOC")
    orders = ("BEFORE", "AFTER", "SIMULTANEOUS", "IS_INCLUDED")
    dates = ("2010-05", "2010-05-03", "2010", "2011-01-01")

    def draw():
        """What stands in a document: first and last token of each mention, its role, event and time, and dates."""
        tokens = rng.sample(range(1, len(words)), 6)
        mentions = [
            (token, token + rng.choice((0, 0, 1)), rng.choice((30, 31, None)), rng.choice((1, 2)), rng.choice(roles),
             rng.choice((7, 8)), rng.choice(orders))
            for token in tokens
        ]  # fmt: skip
        return [*mentions, rng.choice(dates), rng.choice(dates), rng.choice(orders), rng.choice(orders)]

    for number in range(1, 5):
        anna = draw()
        ben = [one if rng.random() < 0.75 else other for one, other in zip(anna, draw(), strict=True)]
        for who, drawn in (("cat-anna", anna), ("cat-ben", ben)):
            *mentions, date, other, first_order, second_order = drawn
            names = ["ENTITY_MENTION"] * 2 + ["EVENT_MENTION"] * 4
            markables = [
                mark(name, m_id, *range(first, min(last, len(words)) + 1))
                for m_id, (name, (first, last, *_)) in enumerate(zip(names, mentions, strict=True), start=1)
            ]
            markables += [
                mark("TIMEX3", 7, 8, type="DATE", value=date),
                mark("TIMEX3", 8, 12, type="DATE", value=other),
            ]
            markables += [mark("ENTITY", 20, TAG_DESCRIPTOR="Bo"), mark("ENTITY", 21, TAG_DESCRIPTOR="Ann")]
            markables += [mark("EVENT", m_id, TAG_DESCRIPTOR=f"event {m_id}") for m_id in (30, 31)]
            relations = [relate("REFERS_TO", 1, 20), relate("REFERS_TO", 2, 21)]
            for m_id, (_, _, event, entity, role, time, order) in enumerate(mentions[2:], start=3):
                relations += [relate("REFERS_TO", m_id, event)] if event else []
                relations.append(relate("HAS_PARTICIPANT", m_id, entity, sem_role=role))
                relations.append(relate("TLINK", m_id, time, relType=order))
            relations += [relate("TLINK", 3, 4, relType=first_order), relate("TLINK", 5, 6, relType=second_order)]
            write_document(folder / who / f"{number}.xml", " ".join(words), markables, relations)
