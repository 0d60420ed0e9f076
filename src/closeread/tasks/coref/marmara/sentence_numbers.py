"""Numbers of sentences, such as `77000112003.1`: document id, number of the fragment, number in the fragment.

Conventions: a document id has 8 digits, the number of a fragment 1 to 4; what follows the point is nearly always a
number, but may be anything without blanks.
"""

from __future__ import annotations

import re

FRAGMENT = re.compile(r"([0-9]{8})([0-9]{1,4})")
"""The name of a fragment: a document id and a number."""

SENTENCE = re.compile(rf"{FRAGMENT.pattern}\.([0-9]*+)(\S*)(?<!\.)")
EXPECTED = "expected a number such as 77000112003.1"


def is_sentence_number(text: str) -> bool:
    """Return whether a text has the form of the number of a sentence.

    >>> [is_sentence_number(text) for text in ("77000112003.1", "77000112003", "1", "77000112003.")]
    [True, False, False, False]
    """
    return SENTENCE.fullmatch(text) is not None


def find_document_id(number: str) -> str:
    """Return the id of the document that a sentence belongs to.

    >>> find_document_id("77000112003.1")
    '77000112'
    """
    return number[:8]


def find_fragment(number: str) -> str:
    """Return the name of the fragment that a sentence belongs to.

    >>> find_fragment("77000112003.1")
    '77000112003'
    """
    return number.partition(".")[0]


def sort_key(number: str) -> tuple[str, int, int]:
    """Return what sorts sentences by document, then by the numbers of fragment and sentence.

    >>> sorted(["77000112010.1", "77000112009.10", "77000112009.9"], key=sort_key)
    ['77000112009.9', '77000112009.10', '77000112010.1']
    """
    found = SENTENCE.fullmatch(number)
    if found is None:
        return number, 0, 0
    return found[1], int(found[2]), int(found[3][:9] or 0)
