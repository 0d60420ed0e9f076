"""Read random CorefUD files with udapi, the library of corefud-scorer, and keep the mentions that it finds.

    python tests/agreed/udapi_reader.py PYTHON

PYTHON has udapi at the commit named below, from github.com/udapi/udapi-python.  Writes `udapi_reader.json` beside this
file.  The files are made here from their seeds, so that a test can make them again: some directly, with brackets in
several orders, and some by closeread from random documents.
"""

import hashlib
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
COMMIT = "c05494e11b45a14b66386ecd0618fd15b7ad124a"
N_FILES = 200
READ = """
import json, sys
from pathlib import Path
from udapi.core.document import Document
from udapi.block.read.conllu import Conllu

def read(path):
    document = Document()
    Conllu(files=[str(path)]).apply_on_document(document)
    token, number = {}, -1
    for tree in document.trees:
        if tree.newdoc or number < 0:
            number, n = number + 1, 0
        for node in tree.descendants_and_empty:
            token[node] = number, n
            n += 1
    found = []
    for entity in document.coref_entities:
        label = entity.eid_or_grp
        for mention in entity.mentions:
            places = [token[word] for word in mention.words]
            found.append([places[0][0], label, [place for _, place in places], token[mention.head][1]])
    return sorted(found)

result = {}
for path in sorted(Path(sys.argv[1]).iterdir()):
    try:
        result[path.stem] = read(path)
    except Exception as error:
        result[path.stem] = type(error).__name__
print(json.dumps(result))
"""


def random_text(seed):
    """A file of one or two documents, each of one or two sentences."""
    rng = random.Random(seed)
    field = rng.choice(["eid", "GRP"])
    lines = [f"# global.Entity = {field}-etype-head-other"]
    for document in range(rng.randint(1, 2)):
        lines.append(rng.choice([f"# newdoc id = d{document}", "# newdoc"]))
        for _ in range(rng.randint(1, 2)):
            # Ids of the field eid are the file's: udapi joins what has the same one in several documents.
            label = f"d{document}e" if field == "eid" else "e"
            lines += [*random_sentence(rng, label), ""]
    return "\n".join([*lines, ""])


def random_sentence(rng, label):
    """The rows of a sentence with some mentions, as wholes and in parts."""
    length = rng.randint(3, 8)
    brackets = [[] for _ in range(length)]  # (is opening, order in the cell, text) of each token
    for _ in range(rng.randint(1, 4)):
        places = sorted(rng.sample(range(length), rng.randint(1, min(4, length))))
        parts = [(places[0], places[-1])] if rng.random() < 0.6 else make_parts(places)
        entity = f"{label}{rng.randint(1, 2)}"
        size = sum(end - start + 1 for start, end in parts)
        head = rng.randint(1, size)
        for number, (start, end) in enumerate(parts, start=1):
            name = entity if len(parts) == 1 else f"{entity}[{number}/{len(parts)}]"
            if start == end:
                # Udapi writes mentions of a single token before all that closes, unless something else opens there.
                before_closing = rng.random() < 0.5
                brackets[start].append((not before_closing, 1, f"({name}-x-{head}-)"))
            else:
                brackets[start].append((True, -end, f"({name}-x-{head}-"))
                brackets[end].append((False, 1 + length - start, f"{name})"))
    rows, word, second = [], 0, 0
    for cell in brackets:
        # Udapi drops sentences without a word.
        word, second = (word, second + 1) if word and rng.random() < 0.2 else (word + 1, 0)
        misc = "".join(text for _, _, text in sorted(cell, key=lambda bracket: bracket[:2]))
        columns = [
            f"{word}.{second}" if second else str(word),
            "w",
            "_",
            "_",
            "_",
            "_",
            "_" if second else "0",
        ]
        rows.append("\t".join([*columns, "_", "_", f"Entity={misc}" if misc else "_"]))
    return rows


def make_parts(places):
    """The runs of adjacent places as parts."""
    parts = []
    for place in places:
        if parts and parts[-1][1] == place - 1:
            parts[-1] = parts[-1][0], place
        else:
            parts.append((place, place))
    return parts


def random_documents(seed):
    """Documents with mentions, some of which the format can't express."""
    from closeread.tasks.coref.documents import Document, EmptyNode, Entity
    from closeread.tasks.coref.formats.lines import make_mention

    rng = random.Random(seed)
    documents = []
    for document in range(rng.randint(1, 2)):
        n_tokens = rng.randint(3, 8)
        nodes = [EmptyNode(token, 0, []) for token in range(1, n_tokens) if rng.random() < 0.2]
        mentions = set()
        for _ in range(rng.randint(1, 4)):
            places = sorted(rng.sample(range(n_tokens), rng.randint(1, 3)))
            parts = [(places[0], places[-1])] if rng.random() < 0.6 else make_parts(places)
            mentions.add((rng.randint(1, 2), tuple(parts), rng.choice(places)))
        entities = []
        for entity in sorted({entity for entity, _, _ in mentions}):
            of_entity = [
                make_mention(parts, head=head) for e, parts, head in sorted(mentions) if e == entity
            ]
            entities.append(Entity(f"d{document}e{entity}", of_entity))
        documents.append(Document(f"d{document}", entities, n_tokens, nodes=nodes))
    return documents


def written(seed):
    """Random documents as closeread writes them; None if it refuses."""
    from closeread.tasks.coref.formats.conllu import dump_conllu

    try:
        return dump_conllu(random_documents(seed))
    except ValueError:
        return None


def digest(text):
    """A digest of a file."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def main(python):
    """Read all files."""
    texts = {f"text {seed}": random_text(seed) for seed in range(N_FILES)}
    texts |= {f"table {seed}": text for seed in range(N_FILES) if (text := written(seed))}
    with tempfile.TemporaryDirectory() as folder:
        for name, text in texts.items():
            (Path(folder) / f"{name}.conllu").write_text(text, "utf-8")
        done = subprocess.run(
            [python, "-c", READ, folder], capture_output=True, text=True, check=True
        )
    found = json.loads(done.stdout)
    lines = [
        json.dumps(name) + ": " + json.dumps({"digest": digest(text), "mentions": found[name]})
        for name, text in texts.items()
    ]
    head = {
        "tool": "udapi",
        "commit": COMMIT,
        "command": "Conllu(files=[FILE]).apply_on_document(document)",
    }
    text = json.dumps(head, indent=0)[:-2] + ',\n"files": {\n' + ",\n".join(lines) + "\n}\n}\n"
    (HERE / "udapi_reader.json").write_text(text, "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
