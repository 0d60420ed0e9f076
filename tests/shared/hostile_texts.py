"""Texts that break writers, readers, tables and terminals: what tests of files draw names, words and ids from."""

from hypothesis import strategies as st

ODD = (
    "abA_.- \t\n\r\0\x01\x1f\x7f\x85\u2028\ufeff\ufffe\uffff\u202e\xa0é&/\\:*?#|()<>'\"=+%0\ud800Ａ"
)

HOSTILE = (
    *(
        "",
        " a",
        "a ",
        "a b",
        "\xa0",
        "\u3000a",
        "a\u2028b",
        "\u202ea",
        "\u200b",
        "\ufeff",
        "\ufeffa",
        "\ufffe",
        "\uffff",
    ),
    *("\0", "\t", "a\nb", "a\rb", "\x1c", "\x7f", "\x85", "\ud800", "\udcff"),
    *(
        '"',
        "'",
        '""a',
        "=1+1",
        "+1",
        "-1",
        "-",
        "@x",
        "#a",
        "#begin document (a)",
        "#end document",
        "_",
        "*",
        "|",
        ",",
    ),
    *(
        "NA",
        "null",
        "None",
        "nan",
        "NaN",
        "true",
        "1",
        "01",
        "1e5",
        "(0)",
        "(a); part 1",
        "[1]",
        "{}",
        "%s",
        "$x$",
    ),
    *(
        "<b>",
        "&amp;",
        "]]>",
        "\\",
        "\\n",
        "a/b",
        "..",
        "CON",
        "s&p",
        "e\u0301",
        "\xe9",
        "E",
        "e",
        "😀",
        "a" * 20_000,
    ),
)
"""Every kind once; some are the same after normalisation, or in another case."""

TEXT = st.text(st.sampled_from(ODD) | st.characters(), max_size=6) | st.sampled_from(HOSTILE)


def split_refused(make, check, texts=HOSTILE):
    """The texts of which `make` refuses to make something, with a ValueError; of all others, what is made is checked.

    An encoding error is no refusal: it says nothing of the place.

    Args:
        make: makes something of a text.
        check: takes the text and what was made of it.
        texts: the texts.
    """
    refused = set()
    for text in texts:
        try:
            made = make(text)
        except UnicodeError:
            raise
        except ValueError:
            refused.add(text)
        else:
            check(text, made)
    return refused
