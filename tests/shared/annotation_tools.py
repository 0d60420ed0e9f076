"""One invented text through the formats of annotation tools, as each of them writes it by hand-made rules.

The text is "Ola 😀 saw her dog . It ran ." in two sentences; entities are lists of spans of tokens, ends included.
"""

import io
import json
import zipfile
from itertools import pairwise

WORDS = ["Ola", "😀", "saw", "her", "dog", ".", "It", "ran", "."]
TEXT = "Ola 😀 saw her dog.\nIt ran."
TOKENS = [(0, 3), (4, 5), (6, 9), (10, 13), (14, 17), (17, 18), (19, 21), (22, 25), (25, 26)]
"""Where the words are, in code points; in UTF-16, all after the emoji are one further."""

ENTITIES = [[(0, 0), (3, 3)], [(3, 4), (6, 6)]]
OTHER_ENTITIES = [[(0, 0), (3, 3), (6, 6)], [(3, 4)]]
"""Another annotator, who takes the dog for Ola, and marks "her dog" alone."""

LINK = "de.tudarmstadt.ukp.dkpro.core.api.coref.type.CoreferenceLink"
TYPE_OF_TOKENS = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Token"
TYPE_OF_SENTENCES = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Sentence"


def units(position):
    """The number of UTF-16 units before a character."""
    return position + (position > 4)


def characters(span):
    """Where a span of tokens begins and ends."""
    return TOKENS[span[0]][0], TOKENS[span[1]][1]


def list_spans(entities):
    """All spans with the number of their entity, in the order of the text."""
    numbered = [(span, number) for number, entity in enumerate(entities) for span in entity]
    return sorted(numbered)


def tsv_of_chains(entities):
    """WebAnno TSV with a layer of chains."""
    cells = {token: ([], []) for token in range(len(WORDS))}
    for (first, last), chain in list_spans(entities):
        place = sorted(entities[chain]).index((first, last)) + 1
        for token in range(first, last + 1):
            cells[token][0].append(f"*[{chain + 1}]")
            cells[token][1].append(f"*->{chain + 1}-{place}")
    rows = {token: ["|".join(cell) or "_" for cell in cells[token]] for token in cells}
    return write_tsv([f"#T_CH={LINK}|referenceType|referenceRelation"], rows)


def tsv_of_relations(entities):
    """WebAnno TSV with a layer of spans, and one of relations from each mention to the one before it."""
    identifiers = {span: number for number, (span, _) in enumerate(list_spans(entities), 1)}
    cells = {token: [[], [], []] for token in range(len(WORDS))}
    for (first, last), number in identifiers.items():
        for token in range(first, last + 1):
            cells[token][0].append(f"*[{number}]")
    for entity in entities:
        for before, after in pairwise(sorted(entity)):
            source, target = identifiers[after], identifiers[before]
            cells[before[0]][1].append("same")
            cells[before[0]][2].append(f"{unit(after[0])}[{source}_{target}]")
    rows = {token: ["|".join(cell) or "_" for cell in cells[token]] for token in cells}
    layers = ["#T_SP=custom.Mention|kind", "#T_RL=custom.Coref|label|BT_custom.Mention"]
    return write_tsv(layers, rows)


def unit(token):
    """The name of a token in WebAnno TSV."""
    return f"1-{token + 1}" if token < 6 else f"2-{token - 5}"


def write_tsv(layers, rows):
    """WebAnno TSV with the cells of each token."""
    lines = ["#FORMAT=WebAnno TSV 3.3", *layers, ""]
    for sentence in (range(6), range(6, len(WORDS))):
        begin, end = TOKENS[sentence[0]][0], TOKENS[sentence[-1]][1]
        lines += ["", f"#Text={TEXT[begin:end]}"]
        for token in sentence:
            offsets = "-".join(str(units(position)) for position in TOKENS[token])
            lines.append("\t".join([unit(token), offsets, WORDS[token], *rows[token], ""]))
    return "\n".join(lines) + "\n"


def structures(entities):
    """Feature structures of UIMA CAS with a layer of chains: id, type, plain features and references."""
    listed = [(1, "uima.cas.Sofa", {"sofaID": "_InitialView", "sofaString": TEXT}, {})]
    places = [(TYPE_OF_TOKENS, token) for token in TOKENS] + [
        (TYPE_OF_SENTENCES, (0, 18)),
        (TYPE_OF_SENTENCES, (19, 26)),
    ]
    for number, (kind, (begin, end)) in enumerate(places, 2):
        listed.append((number, kind, {"begin": units(begin), "end": units(end)}, {"sofa": 1}))
    number = 100
    for entity in entities:
        for place, span in enumerate(sorted(entity)):
            begin, end = characters(span)
            references = {"sofa": 1}
            if place + 1 < len(entity):
                references["next"] = number + 1
            positions = {"begin": units(begin), "end": units(end)}
            listed.append((number, LINK, positions, references))
            number += 1
        first = number - len(entity)
        listed.append((number, LINK.replace("Link", "Chain"), {}, {"first": first}))
        number += 1
    return listed


def cas_json(entities):
    """UIMA CAS as JSON."""
    listed = []
    for number, kind, features, references in structures(entities):
        renamed = {f"@{name}": value for name, value in references.items()}
        listed.append({"%ID": number, "%TYPE": kind, **features, **renamed})
    return json.dumps({"%TYPES": {}, "%FEATURE_STRUCTURES": listed, "%VIEWS": {}}, indent=1)


def xmi(entities):
    """UIMA CAS as XMI."""
    packages, elements = {}, []
    for number, kind, features, references in structures(entities):
        package, _, name = kind.rpartition(".")
        prefix = packages.setdefault(package, f"p{len(packages)}")
        values = {**features, **references}
        if "sofaString" in values:
            values["sofaString"] = values["sofaString"].replace("\n", "&#10;")
        attributes = "".join(f' {key}="{value}"' for key, value in values.items())
        elements.append(f'<{prefix}:{name} xmi:id="{number}"{attributes}/>')
    spaces = "".join(
        f' xmlns:{prefix}="http:///{package.replace(".", "/")}.ecore"'
        for package, prefix in packages.items()
    )
    head = f'<?xml version="1.0" encoding="UTF-8"?><xmi:XMI xmlns:xmi="http://www.omg.org/XMI"{spaces}>'
    return head + "\n".join(elements) + "</xmi:XMI>"


def brat(entities, relation="R"):
    """The annotation file of brat, with relations or with equivalences; its text is `TEXT`."""
    identifiers, lines = {}, []
    for number, (span, _) in enumerate(list_spans(entities), 1):
        begin, end = characters(span)
        identifiers[span] = f"T{number}"
        lines.append(f"T{number}\tMention {begin} {end}\t{TEXT[begin:end]}")
    links = 0
    for entity in entities:
        spans = sorted(entity)
        if relation == "*" and len(spans) > 1:
            lines.append("*\tCoref " + " ".join(identifiers[span] for span in spans))
        for before, after in pairwise(spans) if relation == "R" else ():
            links += 1
            lines.append(f"R{links}\tCoref Arg1:{identifiers[after]} Arg2:{identifiers[before]}\t")
    return "".join(f"{line}\n" for line in lines)


def label_studio(annotations, text=TEXT):
    """A project of Label Studio with one task; annotators by e-mail address."""
    made = []
    for number, (person, entities) in enumerate(annotations.items()):
        result = []
        for span, _ in list_spans(entities):
            begin, end = characters(span)
            value = {"start": begin, "end": end, "text": TEXT[begin:end], "labels": ["Mention"]}
            region = {"id": f"r{span}", "type": "labels", "from_name": "l", "to_name": "text"}
            result.append({**region, "value": value})
        for entity in entities:
            for before, after in pairwise(sorted(entity)):
                ends = {"from_id": f"r{after}", "to_id": f"r{before}"}
                result.append(
                    {"type": "relation", "direction": "right", "labels": ["same"], **ends}
                )
        made.append(
            {"id": number, "completed_by": {"id": number, "email": person}, "result": result}
        )
    return json.dumps([{"id": 7, "data": {"text": text, "document": "dog"}, "annotations": made}])


def doccano(entities):
    """A line of doccano."""
    identifiers = {span: number for number, (span, _) in enumerate(list_spans(entities), 1)}
    listed, relations = [], []
    for span, number in identifiers.items():
        begin, end = characters(span)
        listed.append({"id": number, "label": "M", "start_offset": begin, "end_offset": end})
    for entity in entities:
        for before, after in pairwise(sorted(entity)):
            ends = {"from_id": identifiers[after], "to_id": identifiers[before], "type": "same"}
            relations.append({"id": len(relations), **ends})
    record = {"id": 3, "text": TEXT, "entities": listed, "relations": relations, "document": "dog"}
    return json.dumps(record, ensure_ascii=False) + "\n"


def prodigy(annotations):
    """A data set of Prodigy: a line for each annotator."""
    tokens = [
        {"text": word, "start": begin, "end": end, "id": number}
        for number, (word, (begin, end)) in enumerate(zip(WORDS, TOKENS, strict=True))
    ]
    lines = []
    for person, entities in annotations.items():
        spans = [make_prodigy_span(span) for span, _ in list_spans(entities)]
        relations = []
        for entity in entities:
            for before, after in pairwise(sorted(entity)):
                ends = {"head": after[1], "child": before[1], "label": "COREF"}
                both = {
                    "head_span": make_prodigy_span(after),
                    "child_span": make_prodigy_span(before),
                }
                relations.append({**ends, **both})
        record = {"text": TEXT, "tokens": tokens, "spans": spans, "relations": relations}
        record |= {"answer": "accept", "_annotator_id": person, "meta": {"document": "dog"}}
        lines.append(json.dumps(record) + "\n")
    return "".join(lines)


def make_prodigy_span(span):
    """A span of Prodigy, whose last token is included."""
    begin, end = characters(span)
    first, last = span
    return {"start": begin, "end": end, "token_start": first, "token_end": last, "label": None}


def fastcoref(entities):
    """A line of fastcoref."""
    clusters = [[characters(span) for span in entity] for entity in entities]
    strings = [[TEXT[begin:end] for begin, end in cluster] for cluster in clusters]
    record = {"text": TEXT, "clusters": clusters, "clusters_strings": strings}
    return json.dumps(record) + "\n"


def corenlp(entities):
    """A document of CoreNLP, whose numbers are from 1."""
    sentences = []
    for sentence in (range(6), range(6, len(WORDS))):
        tokens = [{"index": n, "word": WORDS[n], "originalText": WORDS[n]} for n in sentence]
        sentences.append({"tokens": tokens})
    corefs = {}
    for number, entity in enumerate(entities):
        mentions = []
        for first, last in entity:
            sentence, begin = (2, 6) if first >= 6 else (1, 0)
            place = {"startIndex": first - begin + 1, "endIndex": last - begin + 2}
            mentions.append({"sentNum": sentence, "headIndex": last - begin + 1, **place})
        corefs[str(number)] = mentions
    return json.dumps({"docId": "dog.txt", "sentences": sentences, "corefs": corefs}, indent=1)


def spacy(entities):
    """`Doc.to_json` of spaCy with the clusters of a coreference component."""
    tokens = [{"id": n, "start": begin, "end": end} for n, (begin, end) in enumerate(TOKENS)]
    spans = {}
    for number, entity in enumerate(entities, 1):
        places = [characters(span) for span in entity]
        spans[f"coref_clusters_{number}"] = [
            {"start": begin, "end": end, "label": ""} for begin, end in places
        ]
    return json.dumps({"text": TEXT, "tokens": tokens, "spans": spans})


def zip_files(files):
    """A ZIP archive of files by name."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return data.getvalue()
