"""GUM and OntoGUM in CoNLL-U, read and scored next to udapi and corefud-scorer: their figures in `agreed/gum.json`.

The corpus is read from a checkout named by `shared.peers`.
"""

import hashlib
import json
from pathlib import Path

import pytest
from agreed import gum as maker
from shared.coref_readers import read_conllu
from shared.coreference import score_files
from shared.peers import find_peer

from closeread.exceptions import FormatError

AGREED = Path(__file__).parent.parent / "agreed"
FIGURES = json.loads((AGREED / "gum.json").read_text("utf-8"))
NAMES = {
    "muc": "muc",
    "bcub": "b3",
    "ceafe": "ceafe",
    "ceafm": "ceafm",
    "blanc": "blanc",
    "lea": "lea",
}


@pytest.fixture(scope="module", params=maker.FORMS)
def form(request, tmp_path_factory):
    """The name of a form, and a folder with what is released, a key and a response."""
    released, digests = (
        maker.released_text(find_peer("gum"), request.param),
        FIGURES[request.param]["digests"],
    )
    if maker.digest(released) != digests["released"]:
        pytest.skip(f"the checkout of gum is not at {FIGURES['commits']['gum']}")
    folder = tmp_path_factory.mktemp("gum")
    for name, text in {"released": released, **maker.scored_texts(released)}.items():
        assert maker.digest(text) == digests[name]
        (folder / f"{name}.conllu").write_text(text, "utf-8")
    return request.param, folder


def test_mentions(form):
    name, folder = form
    documents = read_conllu(folder / "released.conllu")
    found = {}
    for document in documents.documents:
        mentions = [
            [entity.label, list(range(mention.start, mention.end + 1)), mention.head]
            for entity in document.entities
            for mention in entity.mentions
        ]
        text = json.dumps(sorted(mentions))
        counts = [document.n_tokens, len(document.entities), len(mentions)]
        found[document.name] = [*counts, hashlib.sha256(text.encode()).hexdigest()[:16]]
        assert not any(mention.subspans for mention in document.mentions)
        assert document.fields["genre"]
    assert found == FIGURES[name]["documents"]
    split, bridging = FIGURES[name]["relations"]
    expected = f"{split:,} split antecedents and {bridging:,} bridging relations are not scored"
    assert documents.notices == ([expected] if split else [])


def test_documents_that_udapi_refuses_are_refused():
    for name, documents in maker.REFUSED.items():
        for document in documents:
            with pytest.raises(FormatError, match="closes but is not open"):
                read_conllu(find_peer("gum") / maker.FORMS[name] / f"{document}.conllu")


@pytest.mark.parametrize("setting", [" ".join(setting) for setting in maker.SETTINGS])
def test_scores(form, setting):
    name, folder = form
    files = folder / "key.conllu", folder / "response.conllu"
    matching, keep_singletons = setting.split()
    scores = score_files(
        *files, metrics=tuple(NAMES.values()), matching=matching, keep_singletons=keep_singletons
    )
    for theirs, ours in NAMES.items():
        found = [100 * scores[f"{ours}/{part}"] for part in ("precision", "recall", "f1")]
        assert found == pytest.approx(FIGURES[name]["scores"][setting][theirs], abs=0.00501), theirs
