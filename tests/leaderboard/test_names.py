"""What submitters write: checked before it is stored, and harmless wherever it is shown."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from closeread.leaderboard.names import (
    check_link,
    check_model,
    check_name,
    escape_markdown,
    show_safely,
)

BIDIRECTIONAL = {
    chr(code) for code in (0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
}
"""The characters with the property Bidi_Control of the Unicode Standard."""

HOSTILE = [
    "<script>alert(1)</script>", "@everyone", "[click](javascript:alert(1))", "![x](https://example.org/x.png)",
    "# heading", "| a | b |", "--- ", "www.example.org", "https://example.org", "``` a", "`", "a`b``c",
    "&#64;ann &lt;", "$$x$$", "*a* _b_ ~~c~~", "\\", "- item", "1. item", "    code", "> quoted", "<!-- -->",
    "[a]: https://example.org",
]  # fmt: skip


def sentences(text, limit=100):
    return [problem.text for problem in check_name(text, "system", limit)]


def test_plain_names_are_accepted():
    names = [
        "BERT",
        "GPT-4 (few-shot, k=5)",
        "Привет 2",
        "模型",
        "ناظر",
        "Ünïted naïve é",
        "v3 + CRF",
        "7",
        "<b>",
    ]
    assert [text for text in [*names, "a" * 100] if sentences(text)] == []


SPACES = "has other spaces than single ones between words (expected only such)"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["system: '' is empty (expected a text)"]),
        (
            "a" * 101,
            [f"system: '{'a' * 27} … {'a' * 27}' has 101 characters (expected at most 100)"],
        ),
        (
            "ﬁne²",
            [
                "system: 'ﬁne²' contains compatibility characters (expected their plain forms: 'fine2')"
            ],
        ),
        (
            "a\u00a0b",
            [
                r"system: 'a\xa0b' contains compatibility characters (expected their plain forms: 'a b')",
            ],
        ),
        ("a\u1680b", [rf"system: 'a\u1680b' {SPACES}"]),
        (" a", [f"system: ' a' {SPACES}"]),
        ("a ", [f"system: 'a ' {SPACES}"]),
        ("a  b", [f"system: 'a  b' {SPACES}"]),
        ("***", ["system: '***' contains no letter and no digit (expected at least one)"]),
        (
            "x" + "\u0323" * 4,
            [
                f"system: 'x{chr(0x323) * 4}' has combining marks without a letter, or more than 3 on one letter"
            ],
        ),
        (
            " *\x1b",
            [
                r"system: ' *\x1b' contains an invisible character, U+001B; remove it",
                r"system: ' *\x1b' contains no letter and no digit (expected at least one)",
            ],
        ),
    ],
)
def test_everything_that_is_wrong_with_a_name_is_told(text, expected):
    assert sentences(text) == expected


@pytest.mark.parametrize(
    "character", "\0\n\x85\u202e\u2066\u200b\ue000\u0378\ud800\u2028\ufe0f\u2800"
)
def test_invisible_characters_are_named(character):
    name = unicodedata.name(character, "").lower()
    code = f"U+{ord(character):04X}" + (f" ({name})" if name else "")
    (told,) = sentences(f"a{character}b")
    assert told.endswith(f" contains an invisible character, {code}; remove it")


def test_the_limit_is_counted_in_characters():
    assert sentences("ab", limit=2) == []
    assert sentences("abc", limit=2) == ["system: 'abc' has 3 characters (expected at most 2)"]


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org",
        "https://example.org/",
        "https://Example.ORG:8443/a/b?c=d&e=%20#f",
        "https://xn--bcher-kva.example/x",
        "https://github.com/org/name/tree/main/(a)",
        "https://example.org./",
    ],
)
def test_links_that_are_accepted(url):
    assert check_link(url) == []


REFUSED_LINK = "is not a link to a public page (expected https://HOST/…, percent-encoded)"


@pytest.mark.parametrize(
    "url",
    [
        "",
        "http://example.org",
        "javascript:alert(1)",
        "data:text/html,x",
        "//example.org",
        "https:example.org",
        "https://",
        "https:///path",
        "https://localhost/",
        "https://127.0.0.1/",
        "https://127.1/",
        "https://0x7f.0x0.0x0.0x1/",
        "https://2130706433/",
        "https://[::1]/",
        "https://[::1/",
        "https://ann:secret@example.org/",
        "https://example.org@evil.example/",
        'https://example.org/"onclick="x',
        "https://example.org/a b",
        "https://example.org/a\n",
        "https://example.org\\@evil.example",
        "https://exаmple.org/",  # a Cyrillic letter
        "https://example.org/<script>",
        "https://example.org/\u202e",
    ],
)
def test_links_that_are_refused(url):
    [problem] = check_link(url, "paper")
    assert problem.path == ("paper",)
    assert problem.message.endswith(f" {REFUSED_LINK}")


def test_the_length_of_links():
    start = "https://example.org/"
    assert check_link(start + "a" * (300 - len(start))) == []
    [problem] = check_link(start + "a" * (301 - len(start)))
    assert problem.message.endswith("has 301 characters (expected at most 300)")


@pytest.mark.parametrize("name", ["org/name", "org/name-7b.v1", "Ab_c/d", "_a/b_", "a/" + "b" * 94])
def test_model_names_that_are_accepted(name):
    assert check_model(name) == []


REFUSED = [
    "",
    "a",
    "a/b/c",
    "/b",
    "a/",
    "a/b ",
    "a/b\n",
    "a/.b",
    "a/b-",
    "a/b--c",
    "a/b..c",
    "a/b.git",
    "é/b",
    "../b",
]


@pytest.mark.parametrize("name", [*REFUSED, "a/" + "b" * 95])
def test_model_names_that_are_refused(name):
    [problem] = check_model(name)
    assert (
        "is not the name of a model on the Hub (expected ORG/NAME of letters, digits, -, _ and .)"
        in problem.message
    )


@pytest.mark.parametrize(
    "name", ["org/name", "a/b--c", "a/b..c", "a/b.git", "a/.b", "a/b-", "a/b/c", "a/b c"]
)
def test_model_names_are_judged_as_by_the_client_of_the_hub(name):
    from huggingface_hub.utils import HFValidationError, validate_repo_id

    try:
        validate_repo_id(name)
    except HFValidationError:
        assert check_model(name)
    else:
        assert not check_model(name)


@given(st.text(max_size=40))
@example("a\u0600b")
def test_nothing_accepted_contains_a_forbidden_character(text):
    if not check_name(text, "system", 40):
        assert unicodedata.is_normalized("NFKC", text)
        assert not BIDIRECTIONAL & set(text)
        assert not {unicodedata.category(c) for c in text} & {
            "Cc",
            "Cf",
            "Cs",
            "Co",
            "Cn",
            "Zl",
            "Zp",
        }
        assert text == " ".join(text.split())
        assert any(c.isalnum() for c in text)
        assert show_safely(text) == text


@given(st.text(max_size=40))
def test_nothing_shown_contains_a_forbidden_character(text):
    shown = show_safely(text)
    assert shown.isprintable()
    assert not BIDIRECTIONAL & set(shown)
    assert "\n" not in shown


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_are_shown_as_they_are(text):
    for around in ("{}", "- {}", "Thank you, {}!", "{}\n---"):
        check_rendering(text, around)


@given(st.text(st.sampled_from("ab `*_[]()<>!#@&;$\\|~-:/.\n"), max_size=30) | st.text(max_size=30))
def test_any_name_is_shown_as_it_is(text):
    check_rendering(text, "Thank you, {}!")


def check_rendering(text, around):
    """Render a text in a comment by a parser of GitHub's dialect, and look for it in a code span of its own."""
    shown = escape_markdown(text)
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(around.format(shown))
    [inline] = [token for token in tokens if token.type == "inline"]
    codes = [token.content for token in inline.children if token.type == "code_inline"]
    assert codes == ([show_safely(text)] if text else [])
    assert {token.type for token in inline.children} <= {"text", "code_inline"}
