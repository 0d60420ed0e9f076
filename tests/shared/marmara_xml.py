"""Invented files of the Marmara corpus: treebank and coreference, in Turkish of our own."""

import gzip
from types import SimpleNamespace
from xml.sax.saxutils import escape, quoteattr

from closeread.tasks.marmara.coreference import read_annotations
from closeread.tasks.marmara.documents import Notes
from closeread.tasks.marmara.placing import place_annotations

SENTENCES = {
    "77000112003.1": (
        ("Ayşe'nin", '[(1,"Ayşe+Noun+Prop+A3sg+Pnon+Gen")]', "[2,1,(POSSESSOR)]"),
        ("evindeki", '[(1,"ev+Noun+A3sg+P3sg+Loc")(2,"Adj+Rel")]', "[3,1,(MODIFIER)]"),
        ("kedi", '[(1,"kedi+Noun+A3sg+Pnon+Nom")]', "[4,1,(SUBJECT)]"),
        ("uyudu", '[(1,"uyu+Verb+Pos+Past+A3sg")]', "[5,1,(SENTENCE)]"),
        (".", '[(1,".+Punc")]', "[,( )]"),
    ),
    "77000112003.2": (
        ('"', '[(1,""+Punc")]', "[,( )]"),
        ("O", '[(1,"o+Pron+PersP+A3sg+Pnon+Nom")]', "[4,1,(SUBJECT)]"),
        ("kediyi", '[(1,"kedi+Noun+A3sg+Pnon+Acc")]', "[4,1,(OBJECT)]"),
        ("sever", '[(1,"sev+Verb+Pos+Aor+A3sg")]', "[5,1,(SENTENCE)]"),
        (".", '[(1,".+Punc")]', "[,( )]"),
    ),
    "77000112010.1": (
        ("Orası", '[(1,"ora+Pron+A3sg+P3sg+Nom")]', "[2,1,(SUBJECT)]"),
        ("sıcak", '[(1,"sıcak+Adj")]', "[3,1,(SENTENCE)]"),
        (".", '[(1,".+Punc")]', "[,( )]"),
    ),
}
"""Sentences by number: the words' forms, IG and REL."""


def write_treebank(sentences):
    """The text of an extracted file with these sentences, written by other code than the package's."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f'<Set sentences="{len(sentences)}">']
    for number, words in sentences.items():
        lines.append(f"<S No={quoteattr(number)}>")
        for ix, (form, groups, relation) in enumerate(words, start=1):
            attributes = (
                f'IX="{ix}" LEM="" MORPH=" " IG={quoteattr(groups)} REL={quoteattr(relation)}'
            )
            lines.append(f"<W {attributes}> {escape(form)} </W>")
        lines.append("</S>")
    return "\n".join([*lines, "</Set>", ""])


def write_fragment(sentences, quote='"'):
    """The text of a fragment as distributed: nothing escaped, sentences numbered in the file."""
    lines = [
        '<?xml version="1.0" encoding="windows-1254" ?>',
        f'<Set sentences="{len(sentences)}">',
    ]
    for number, words in enumerate(sentences, start=1):
        lines.append(f'<S No="{number}">')
        lines += [
            f'<W IX="{ix}" LEM="" MORPH=" " IG={quote}{groups}{quote} REL="{relation}"> {form} </W>'
            for ix, (form, groups, relation) in enumerate(words, start=1)
        ]
        lines.append("</S>")
    return "\n".join([*lines, "</Set>", ""])


def write_coreference(mentions, chains):
    """The text of a coreference file.

    Args:
        mentions: id, sentence, first and last word, and text of each.
        chains: the ids of each.
    """
    texts = {m_id: text for m_id, *_, text in mentions}
    lines = ["<coref>", "<mentions>"]
    lines += [
        f'<mention fromWordIX="{first}" id="{m_id}" sentenceNo="{number}" toWordIX="{last}">{text}</mention>'
        for m_id, number, first, last, text in mentions
    ]
    lines += ["</mentions>", "<chains>"]
    for chain in chains:
        lines += [
            "<chain>",
            *(f'<mention mentionId="{one}">{texts.get(one, "")}</mention>' for one in chain),
            "</chain>",
        ]
    return "\n".join([*lines, "</chains>", "</coref>", ""])


MENTIONS = (
    ("0", "77000112003.1", 1, 2, "Ayşe'nin evindeki"),
    ("1", "77000112003.1", 1, 3, "Ayşe'nin evindeki kedi"),
    ("3", "77000112003.2", 3, 3, "kediyi"),
    ("4", "77000112003.2", 2, 2, "O"),
    ("7", "77000112010.1", 1, 1, "Orası"),
)
CHAINS = (("0", "7"), ("3", "1"))


def put(folder, files):
    """Write files, UTF-8 or bytes, into a folder; return their paths by name."""
    paths = {name: folder / name for name in files}
    for name, content in files.items():
        paths[name].parent.mkdir(parents=True, exist_ok=True)
        paths[name].write_bytes(content if isinstance(content, bytes) else content.encode())
    return paths


def write_corpus(folder, treebank, coreference=None, genres=None):
    """Write a folder of the corpus: files of the treebank and of the coreference by name; return it."""
    put(folder / "treebank", treebank)
    put(folder / "coreference", coreference or {})
    put(folder, {} if genres is None else {"genres.tsv": genres})
    return folder


def truncate(data):
    """The first half of a gzip file."""
    packed = gzip.compress(data)
    return packed[: len(packed) // 2]


def messages(problems):
    """Problems and notices as a terminal shows them, below the folder `DIR`."""
    return [problem.at("DIR") for problem in problems]


def list_tokens(sentences):
    """The sentences of an extracted document, as a treebank has them."""
    return [{"number": sentence.number, "tokens": sentence.tokens} for sentence in sentences]


def read_coreference(files):
    """The annotations of coreference files by name, and what is wrong with them and odd about them."""
    notes = Notes()
    annotations = read_annotations(files, notes)
    return SimpleNamespace(annotations=annotations, problems=notes.problems, notices=notes.notices)


def place(treebank, annotations, **options):
    """The documents that annotations make of a treebank, their files, and what is wrong and what was changed."""
    notes = Notes()
    placed = place_annotations(treebank, annotations, notes, **options)
    assert notes.notices == []
    return SimpleNamespace(
        documents=[document for document, _ in placed],
        files=[file for _, file in placed],
        problems=notes.problems,
        changes=notes.changes,
    )
