"""Heads, types and features of pairs of mentions: by hand, and against a slow twin."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared.turkish_sentences import document
from twins import marmara_features as twin

from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus
from closeread.exceptions import FormatError
from closeread.tasks.marmara.documents import read_tokens
from closeread.tasks.marmara.mentions import (
    PRONOUNS,
    TYPES,
    detect_mentions,
    find_head,
    read_pronouns,
)
from closeread.tasks.marmara.pairs import (
    FEATURES,
    INDEPENDENT,
    N_CODES,
    A,
    B,
    describe_mentions,
    encode_pairs,
    expand_codes,
    find_substrings,
    mark_candidates,
    name_features,
)

TEXTS = [
    """
    Dün dün Adv
    Ankara'da Ankara Noun+Prop
    Türkiye Türkiye Noun+Prop
    Büyük_Millet büyük_millet Adj 5 MODIFIER
    Meclisi'nde meclis Noun
    o o Pron
    """,
    """
    ANKARA'ya Ankara Noun+Prop
    T.B.M.M. T.B.M.M. Noun
    TBMM'nin TBMM Noun
    ankara'ya ankara Noun
    Onlar onlar Pron
    """,
    """
    Kemal kemal Noun
    Mustafa_Kemal'in mustafa_kemal Noun
    (Mustafa_KEMAL'in mustafa_kemal Noun
    kemalin kemal Noun
    Mustafa_Kemal mustafa_kemal Noun
    İnönü İnönü Noun
    """,
]
RECORD = document(*TEXTS)
ANKARA, MECLIS, HE, ANKARAYA, DOTTED, TBMM = (1, 1), (2, 4), (5, 5), (6, 6), (7, 7), (8, 8)
SMALL, ONLAR, KEMAL, MUSTAFA, QUOTED, KEMALIN, AGAIN = (
    (9, 9),
    (10, 10),
    (11, 11),
    (12, 12),
    (13, 13),
    (14, 14),
    (15, 15),
)


def pair(first, second, record=RECORD):
    """The features of A and B that are 1."""
    spans = sorted([first, second])
    mentions = describe_mentions(read_tokens(record), spans, PRONOUNS)
    one = spans.index(first)
    return name_features(int(encode_pairs(mentions, np.array(one), np.array(1 - one))))


def types(*spans, record=RECORD):
    return [TYPES[one] for one in describe_mentions(read_tokens(record), spans, PRONOUNS).type]


def test_there_are_129_features():
    assert (len(A), len(B), len(FEATURES), len(set(FEATURES))) == (9, 12, 129, 129)
    assert FEATURES[:4] == ("m1:pronoun", "m1:proper", "m1:noun", "m2:pronoun")
    assert {"both:noun", "last_part", "m1:pronoun*head", "both:proper*lemma_in_any"} <= set(
        FEATURES
    )
    assert 9 * 2 ** len(INDEPENDENT) == N_CODES


def test_types():
    assert types(HE, ONLAR) == ["pronoun", "pronoun"]
    # Ankara'da stands inside its sentence; ANKARA'ya is the same without its suffix, in lower case.
    assert types(ANKARA, ANKARAYA) == ["proper", "proper"]
    # Without a capital it is none; TBMM'nin and T.B.M.M. are different words, each inside its sentence.
    assert types(DOTTED, TBMM, SMALL) == ["proper", "proper", "noun"]
    # Kemal is only at the beginning of its sentence; Mustafa_Kemal stands inside it, a bracket is no capital.
    assert types(KEMAL, MUSTAFA, QUOTED, KEMALIN) == ["noun", "proper", "noun", "noun"]
    assert types((0, 0)) == ["noun"]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (ANKARA, ANKARAYA, "lemma last_part lemma_in lemma_in_reverse lemma_in_any"),
        (ANKARA, SMALL, "lemma lemma_in lemma_in_reverse lemma_in_any"),
        (
            ANKARAYA,
            SMALL,
            "head lemma head_in head_in_reverse head_in_any lemma_in lemma_in_reverse lemma_in_any",
        ),
        (KEMAL, MUSTAFA, "head_in head_in_any lemma_in lemma_in_any"),
        (MUSTAFA, KEMALIN, "lemma_in_reverse lemma_in_any"),
        (
            MUSTAFA,
            AGAIN,
            "lemma last_part head_in_reverse head_in_any lemma_in lemma_in_reverse lemma_in_any",
        ),
        (HE, ONLAR, "head_in head_in_any lemma_in lemma_in_any"),
        (TBMM, MECLIS, "acronym acronym_any"),
        (MECLIS, TBMM, "acronym_reverse acronym_any"),
        (DOTTED, MECLIS, "acronym acronym_any"),
        (DOTTED, TBMM, ""),
        (ANKARA, MECLIS, ""),
    ],
)
def test_features_that_words_share(first, second, expected):
    assert [name for name in pair(first, second) if ":" not in name] == expected.split()


def test_features_of_types():
    assert pair(ANKARA, HE)[:2] == ["m1:proper", "m2:pronoun"]
    assert pair(HE, ANKARA)[:2] == ["m1:pronoun", "m2:proper"]
    assert pair(HE, ONLAR)[:3] == ["m1:pronoun", "m2:pronoun", "both:pronoun"]


@pytest.mark.parametrize(
    ("text", "initials"),
    [
        ("Orta_Doğu Orta_Doğu Noun\nTeknik Teknik Adj", "ODT"),
        # what is cut is no part
        ("İstanbul'un_X İstanbul Noun\nÜniversitesi'nin_Y üniversite Noun", "İÜ"),
        ("Birleşmiş birleşmiş Adj\nve ve Conj\nMilletler millet Noun", "BM"),
        ("Ankara Ankara Noun\n_ _ Punc", None),
    ],
)
def test_acronyms(text, initials):
    record = document(text, f"{initials or 'A'}'nin x Noun")
    n = record["n_tokens"]
    found = pair((0, n - 2), (n - 1, n - 1), record)
    assert ("acronym_reverse" in found) is (initials is not None)


@pytest.mark.parametrize("acronym", ["Bm", "B", "BM1", "B_M", "BMM", "'BM"])
def test_what_is_no_acronym(acronym):
    record = document("Birleşmiş birleşmiş Adj\nMilletler millet Noun", f"{acronym} x Noun")
    assert "acronym_any" not in pair((0, 1), (2, 2), record)


@pytest.mark.parametrize(
    ("why", "text", "span", "head"),
    [
        ("the top", "eski eski Adj 2 MODIFIER\nev ev Noun 3 SUBJECT\nyandı yan Verb", (0, 1), 1),
        (
            "the last of two tops",
            "ev ev Noun 3 SUBJECT\nyol yol Noun 3 SUBJECT\nvar var Verb",
            (0, 1),
            1,
        ),
        (
            "a top that is not the last token",
            "ev ev Noun 3 SUBJECT\neski eski Adj 1 MODIFIER\nvar var Verb",
            (0, 1),
            0,
        ),
        ("no punctuation", "ev ev Noun 3 SUBJECT\n, , Punc\nvar var Verb", (0, 1), 0),
        (
            "punctuation if there is nothing else",
            "ev ev Noun 2 OBJECT\n, , Punc\nvar var Verb",
            (0, 1),
            1,
        ),
        (
            "a circle: the last word",
            "ev ev Noun 2 OBJECT\nyol yol Noun 1 OBJECT\n, , Punc 1 OBJECT",
            (0, 2),
            1,
        ),
    ],
)
def test_heads(why, text, span, head):
    assert find_head(read_tokens(document(text)), span) == head, why


def test_candidates():
    mentions = describe_mentions(read_tokens(RECORD), [ANKARA, HE, SMALL, ONLAR], PRONOUNS)
    allowed = mark_candidates(mentions, np.arange(4)[:, None], np.arange(4)[None, :])
    assert allowed.astype(int).tolist() == [[1, 1, 1, 1], [0, 1, 0, 1], [1, 1, 1, 1], [0, 1, 0, 1]]


@given(st.lists(st.text("abç", max_size=4), unique=True, max_size=12))
@settings(max_examples=40)
def test_substrings(texts):
    assert find_substrings(texts).tolist() == [[one in other for other in texts] for one in texts]


def compare_with_twin(record, spans):
    """Every pair of mentions, features by name."""
    slow = [twin.Mention(record, span) for span in spans]
    mentions = describe_mentions(read_tokens(record), spans, PRONOUNS)
    pairs = list(itertools.combinations(range(len(spans)), 2))
    first, second = np.array(pairs, np.int64).reshape(-1, 2).T
    rows = expand_codes(encode_pairs(mentions, first, second))
    assert set(np.unique(rows)) <= {0.0, 1.0}
    found = [{FEATURES[i] for i in np.flatnonzero(row)} for row in rows]
    assert found == [twin.features(slow[i], slow[j]) for i, j in pairs]


def test_the_sample_against_the_twin():
    records = read_gold(load_corpus("marmara_coref"), "sample").records
    assert len(records) >= 5
    for record in records[:3]:
        compare_with_twin(record, detect_mentions(read_tokens(record))[:40])


FORMS = [
    "Ali",
    "ali",
    "ALİ'ye",
    "Ali_Can",
    "AC",
    "A.C.",
    "Can'ın",
    "can",
    "Işık",
    "IŞIK",
    "o",
    "Onu",
    "'",
    "ev_",
]
TAGS = ["Noun", "Pron", "Adj", "Punc"]


@st.composite
def random_documents(draw):
    texts = []
    for _ in range(draw(st.integers(1, 3))):
        n = draw(st.integers(1, 6))
        lines = []
        for i in range(1, n + 1):
            head = draw(st.none() | st.integers(i + 1, n)) if i < n else None
            link = "" if head is None else f" {head} MODIFIER"
            form, lemma, tag = (draw(st.sampled_from(values)) for values in (FORMS, FORMS, TAGS))
            lines.append(f"{form} {lemma} {tag}{link}")
        texts.append("\n".join(lines))
    n_tokens = sum(text.count("\n") + 1 for text in texts)
    start = st.integers(0, n_tokens - 1)
    spans = draw(st.sets(st.tuples(start, st.integers(0, 2)), max_size=7))
    spans = {(start, min(start + more, n_tokens - 1)) for start, more in spans}
    return document(*texts), sorted(spans, key=lambda span: (span[0], -span[1]))


@given(random_documents())
@settings(max_examples=80)
def test_random_documents_against_the_twin(made):
    compare_with_twin(*made)


def test_a_file_of_pronouns(here):
    path = here / "pronouns.txt"
    path.write_text("# the speaker\nBEN\n\nkendi  # and the like\nI\n", "utf-8")
    assert read_pronouns(path) == {"ben", "kendi", "ı"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "ben\nben sen\no bu\n",
            "p.txt: 2 problems:\np.txt:2: 'ben sen' has blanks (expected one lemma per line)\n"
            "p.txt:3: 'o bu' has blanks (expected one lemma per line)",
        ),
        ("# nothing\n", "p.txt: has no lemmas (expected one lemma per line)"),
        ("", "p.txt: is empty"),
    ],
)
def test_bad_files_of_pronouns(here, text, message):
    (here / "p.txt").write_text(text, "utf-8")
    with pytest.raises(FormatError) as error:
        read_pronouns(here / "p.txt")
    assert str(error.value).replace(f"{here}/", "") == message
