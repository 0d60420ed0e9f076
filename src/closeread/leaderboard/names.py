r"""Check and display what submitters write: names of systems, descriptions, links and names of models.

All of it is shown on pages that others read, so a text may contain nothing that is invisible, changes the direction of
the text around it or looks like a text that it is not.  The checks return problems, whose path is the name of the
field; whoever shows a text that may not have been checked uses `show_safely` or `escape_markdown`.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime

from closeread.exceptions import Problem, pluralize, quote
from closeread.hub.client import is_repository
from closeread.tables import quote_code

HUB = "hf://datasets/"
"""How the place of a leaderboard on the Hub begins."""

MAX_LINK_LENGTH = 300  # characters
# combining marks on one letter; some languages need two, and Vietnamese none after NFKC
MAX_MARKS_PER_LETTER = 3
INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)
"""Characters of other categories that leave no ink, from Unicode's list of code points to ignore, and the empty braille
pattern."""

LINK = re.compile(
    r"https://(?:[a-z0-9-]+\.)+[a-z][a-z0-9-]*\.?(?::[0-9]+)?(?:[/?#][a-z0-9._~:/?#\[\]@!$&'()*+,;=%-]*)?",
    re.IGNORECASE,
)
"""A link over https to a host with a name, without a user, in the characters of RFC 3986.

The name of no host below a top-level domain is one of the reader's own network, and no IP address matches.
"""


def check_name(text: str, field: str, limit: int = 100) -> list[Problem]:
    r"""Return the problems of a field, a text of one line and at most `limit` characters.

    >>> check_name("BERT (large, tuned)", "system")
    []
    >>> print(*(problem.text for problem in check_name("\u202etuned", "system")), sep="\n")
    system: '\u202etuned' contains an invisible character, U+202E (right-to-left override); remove it
    """
    if not text:
        return [Problem("'' is empty (expected a text)", path=(field,))]
    faults = []
    if len(text) > limit:
        faults.append(f"has {pluralize(len(text), 'character')} (expected at most {limit:,})")
    normal = unicodedata.normalize("NFKC", text)
    forbidden = [character for character in text if _is_forbidden(character)]
    if forbidden:
        name = unicodedata.name(forbidden[0], "").lower()
        code = f"U+{ord(forbidden[0]):04X}" + (f" ({name})" if name else "")
        faults.append(f"contains an invisible character, {code}; remove it")
    elif normal != text:
        plain = quote(normal)
        faults.append(f"contains compatibility characters (expected their plain forms: {plain})")
    elif text != " ".join(text.split()):
        faults.append("has other spaces than single ones between words (expected only such)")
    if not any(unicodedata.category(c)[0] in "LN" for c in text):
        faults.append("contains no letter and no digit (expected at least one)")
    starts_with_mark = unicodedata.category(text[0])[0] == "M"
    if starts_with_mark or _count_stacked_marks(text) > MAX_MARKS_PER_LETTER:
        faults.append(
            f"has combining marks without a letter, or more than {MAX_MARKS_PER_LETTER} on one letter"
        )
    return [Problem(f"{quote(text)} {fault}", path=(field,)) for fault in faults]


def _count_stacked_marks(text: str) -> int:
    """Return the largest number of combining marks in a row."""
    n_marks = 0
    largest = 0
    for character in text:
        is_mark = unicodedata.category(character) in ("Mn", "Me")
        n_marks = n_marks + 1 if is_mark else 0
        largest = max(largest, n_marks)
    return largest


def _is_forbidden(character: str) -> bool:
    """Whether it is a control, a separator of lines or paragraphs, for private use, unassigned or invisible."""
    is_unprintable = not character.isprintable() and unicodedata.category(character) != "Zs"
    return is_unprintable or INVISIBLE.match(character) is not None


def check_link(url: str, field: str = "link") -> list[Problem]:
    """Return the problems of a link that readers of a page may follow."""
    if len(url) > MAX_LINK_LENGTH:
        number = pluralize(len(url), "character")
        fault = f"has {number} (expected at most {MAX_LINK_LENGTH})"
    elif not LINK.fullmatch(url):
        fault = "is not a link to a public page (expected https://HOST/…, percent-encoded)"
    else:
        return []
    return [Problem(f"{quote(url)} {fault}", path=(field,))]


def check_model(name: str) -> list[Problem]:
    """Return the problems of the name of a model on the Hub."""
    if is_repository(name):
        return []
    expected = "expected ORG/NAME of letters, digits, -, _ and ."
    message = f"{quote(name)} is not the name of a model on the Hub ({expected})"
    return [Problem(message, path=("model",))]


def show_safely(text: str) -> str:
    """Escape visibly everything that is invisible, moves the cursor or changes the direction of text.

    The result is one line, for terminals and pages; pages escape it as HTML in addition.
    """
    return "".join(ascii(c)[1:-1] if not c.isprintable() or _is_forbidden(c) else c for c in text)


def escape_markdown(text: str) -> str:
    """Return Markdown that shows a text as it is: a code span, in which nothing is markup.

    Not for the cells of a table, which end at `|` even inside of code.
    """
    return quote_code(show_safely(text))


TIME = "%Y-%m-%dT%H:%M:%SZ"


def write_time(time: datetime) -> str:
    """Write a time as the files of a store have it: UTC, such as "2026-11-22T10:00:00Z"."""
    return time.astimezone(UTC).strftime(TIME)


def read_now() -> str:
    """Return the time as the files of a store have it."""
    return write_time(datetime.now(UTC))


def is_time(text: object, form: str = TIME) -> bool:
    """Return whether a value is a time in a form, that of the files of a store.

    >>> is_time("2026-11-22T10:00:00Z"), is_time("2026-02-31T10:00:00Z")
    (True, False)
    """
    try:
        return isinstance(text, str) and datetime.strptime(text, form).strftime(form) == text
    except ValueError:
        return False


def format_time(time: str) -> str:
    """Format a time for readers."""
    return f"{time.replace('T', ' ').removesuffix('Z').removesuffix(':00')} UTC"
