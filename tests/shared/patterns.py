"""Regular expressions of the package, how they are used, and the worst texts for them, all derived.

A worst text almost matches for as long as it can: what a repetition takes, many times, and then what ends no match.
"""

import ast
import importlib
import pkgutil
import re
import re._constants as sre
import re._parser as parser
from collections import defaultdict
from pathlib import Path

import closeread

METHODS = "search", "match", "fullmatch", "findall", "finditer", "split", "sub", "subn"
ALL = "search", "match", "fullmatch"
"""The methods that stand for others, where no call has the name of a pattern."""

WHOLE = ("fullmatch",)
"""That of CorefUD's relations and of brat's features, which are applied by another name."""

APPLIED_WHOLE = "RELATIONS", "FEATURES", "ATTRIBUTE"
"""The names of these."""

OPTIONAL = "closeread.neural", "closeread.llm.tasks"
"""Packages whose modules need libraries that may be missing."""

REPEATS = sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT
ANY = "a1 _-.,:;\"'\\[](){}<>|/#=*`\n\t~&$@\0é"
"""From which a character that a class has is chosen."""


def list_modules():
    """Import all modules of the package, but those that need a library that is not here."""
    for found in pkgutil.walk_packages(closeread.__path__, "closeread."):
        try:
            yield importlib.import_module(found.name)
        except ImportError:
            if not found.name.startswith(OPTIONAL):
                raise


def list_patterns():
    """Every pattern of a module, and every one in its tables and objects: the methods that are called on it."""
    methods = defaultdict(set)
    uses, inline = list_uses()
    for module in list_modules():
        for name, value in vars(module).items():
            for holder, pattern in find_patterns(name, value):
                known = WHOLE if holder in APPLIED_WHOLE else uses.get(holder)
                methods[pattern] |= set(known or ALL)
    for pattern, method in inline:
        methods[pattern].add(method)
    return methods


def find_patterns(name, value, depth=3):
    """The patterns in a value, each with the name of the variable or the field that holds it."""
    if isinstance(value, re.Pattern):
        yield name, value
    elif depth and isinstance(value, dict):
        for one in value.values():
            yield from find_patterns(name, one, depth - 1)
    elif depth and isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        for one in value:
            yield from find_patterns(name, one, depth - 1)
    elif depth and type(value).__module__.startswith("closeread"):
        fields = value._asdict() if hasattr(value, "_asdict") else getattr(value, "__dict__", {})
        for field, one in fields.items():
            yield from find_patterns(field, one, depth - 1)


def list_uses():
    """The methods that are called on names, and the patterns that are written where they are used."""
    uses, inline = defaultdict(set), []
    for path in Path(closeread.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr in METHODS:
                owner = getattr(node.value, "attr", None) or getattr(node.value, "id", None)
                uses[owner].add(node.attr)
            if isinstance(node, ast.Call) and is_of_re(node.func) and node.args:
                source = getattr(node.args[0], "value", None)
                if isinstance(source, (str, bytes)):
                    inline.append((re.compile(source), node.func.attr))
    return uses, inline


def is_of_re(function):
    """Whether a node is such as `re.search`."""
    is_method = isinstance(function, ast.Attribute) and function.attr in METHODS
    return is_method and getattr(function.value, "id", None) == "re"


def sample(items, repeated=None, n=0):
    """A text that these items of a parsed pattern take; the repetition `repeated` takes `n` times as much."""
    text = ""
    for code, value in items:
        if code is sre.LITERAL:
            text += chr(value)
        elif code is sre.NOT_LITERAL:
            text += next(c for c in ANY if ord(c) != value)
        elif code is sre.ANY:
            text += "a"
        elif code is sre.IN:
            text += choose(value)
        elif code in REPEATS:
            low, _, inner = value
            times = n if value is repeated else max(low, int(contains(inner, repeated)))
            text += sample(inner, repeated, n) * times
        elif code is sre.SUBPATTERN:
            text += sample(value[3], repeated, n)
        elif code is sre.ATOMIC_GROUP:
            text += sample(value, repeated, n)
        elif code is sre.BRANCH:
            branches = [one for one in value[1] if contains(one, repeated)] or value[1]
            text += sample(branches[0], repeated, n)
        elif code is sre.ASSERT and contains(value[1], repeated):
            text += sample(value[1], repeated, n)
    return text


def choose(members):
    """A character of a class."""
    negated = members[0][0] is sre.NEGATE
    for character in ANY:
        if any(has(one, character) for one in members) != negated:
            return character
    code, value = members[-1]
    return chr(value[0] if code is sre.RANGE else value)


def has(member, character):
    """Whether a part of a class has a character."""
    code, value = member
    if code is sre.LITERAL:
        return ord(character) == value
    if code is sre.RANGE:
        return value[0] <= ord(character) <= value[1]
    if code is sre.CATEGORY:
        return re.match(CLASSES[value], character) is not None
    return False


CLASSES = {
    sre.CATEGORY_DIGIT: r"\d",
    sre.CATEGORY_NOT_DIGIT: r"\D",
    sre.CATEGORY_SPACE: r"\s",
    sre.CATEGORY_NOT_SPACE: r"\S",
    sre.CATEGORY_WORD: r"\w",
    sre.CATEGORY_NOT_WORD: r"\W",
}


def contains(items, repeated):
    """Whether a repetition is among these items, at any depth."""
    return repeated is not None and any(one is repeated for one in list_repeats(items))


def list_repeats(items):
    """All repetitions of a parsed pattern that may be long."""
    for code, value in items:
        if code in REPEATS:
            if value[1] > 100:
                yield value
            yield from list_repeats(value[2])
        elif code is sre.SUBPATTERN:
            yield from list_repeats(value[3])
        elif code is sre.ATOMIC_GROUP:
            yield from list_repeats(value)
        elif code is sre.BRANCH:
            for branch in value[1]:
                yield from list_repeats(branch)
        elif code in (sre.ASSERT, sre.ASSERT_NOT):
            yield from list_repeats(value[1])


def list_worst(pattern):
    """Functions of a size to the worst texts that follow from a pattern; none if it repeats nothing."""
    is_bytes = isinstance(pattern.pattern, bytes)
    source = pattern.pattern.decode("latin-1") if is_bytes else pattern.pattern
    parsed = parser.parse(source, pattern.flags & ~re.DEBUG)
    whole = sample(parsed)
    makers = []
    for repeated in list_repeats(parsed):
        piece = sample(repeated[2]) or "a"
        start = whole.split(piece)[0] or "a"

        def at_its_place(n, repeated=repeated, piece=piece):
            text = sample(parsed, repeated, n // len(piece))
            return text[: text.rfind(piece) + len(piece)]

        makers += [
            at_its_place,
            lambda n, piece=piece: piece * (n // len(piece)),
            lambda n, piece=piece: f"{whole}{piece}" * (n // len(whole + piece)),
            lambda n, start=start: start * (n // len(start)),
        ]

    def finish(make):
        return lambda n: f"{make(n)}\0".encode("latin-1", "replace") if is_bytes else f"{make(n)}\0"

    return list(map(finish, makers))
