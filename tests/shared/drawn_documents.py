"""Documents of every kind, drawn at random, as far as their formats can hold them."""

from hypothesis import strategies as st

from closeread.formats.timeml import (
    RELATION_TYPES,
    EmptyElement,
    Passage,
    Span,
    TimeMLDocument,
    Tlink,
)
from closeread.tasks.wikipossessions.rules import derive_anchor

SHORT = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=6)
NAME = SHORT.filter(bool)
TRIMMED = NAME.filter(lambda text: text == text.strip(" "))

# Possessions: cells between number signs.
CELL = (
    st.text(
        st.sampled_from("ab,.\"'\xa0 é’\u202e") | st.characters(exclude_categories=["Cs", "Cc"])
    )
    .map(lambda text: text.replace("#", "").strip())
    .filter(bool)
)
ANCHORS = ["Unknown", "1888", "1888-Now", "Unknown-1930", "1900-1888", "44 BC", "the Flood"]
RELATION = st.tuples(
    st.sampled_from(["before", "during", "after"]), st.sampled_from(["certain", "uncertain"])
)


@st.composite
def draw_possession(draw):
    """Draw a possession of an article."""
    anchor = draw(st.none() | st.sampled_from(ANCHORS) | CELL)
    relation, certainty = None, None
    if anchor is not None and draw(st.booleans()):
        relation, certainty = draw(RELATION)
    numbers = draw(st.lists(st.integers(1, 999_999).map(str), min_size=1, max_size=3))
    return {
        "type": draw(st.sampled_from(["PER", "ORG", "LOC"])),
        "possessor": draw(CELL),
        "certainty": draw(st.sampled_from(["certain", "uncertain"])),
        "order": ".".join(numbers),
        "anchor": anchor,
        **derive_anchor(anchor),
        "relation": relation,
        "relation_certainty": certainty,
    }


ARTICLES = st.lists(
    st.fixed_dictionaries(
        {
            "article": CELL,
            "possessions": st.lists(draw_possession(), min_size=1, max_size=4),
            "text": st.none(),
        }
    ),
    min_size=1,
    max_size=4,
    unique_by=lambda record: record["article"],
)


@st.composite
def draw_timeline(draw):
    """Draw a timeline, of which the last mention of a line does not end in white space."""
    entries = []
    for _ in range(draw(st.integers(0, 4))):
        mentions = [*draw(st.lists(SHORT, max_size=3)), draw(TRIMMED)]
        position = draw(st.integers(0, 2**53 - 1))
        entries.append({"position": position, "anchor": draw(SHORT), "mentions": mentions})
    return {"id": "ann", "entity": draw(TRIMMED), "entries": entries}


@st.composite
def draw_cat_document(draw):
    """Draw a document in CAT."""
    n_tokens = draw(st.integers(1, 6))
    tokens = draw(st.lists(NAME, min_size=n_tokens, max_size=n_tokens))
    sentences = sorted(draw(st.lists(st.integers(0, 4), min_size=n_tokens, max_size=n_tokens)))
    name = draw(NAME)
    places = st.lists(st.integers(0, n_tokens - 1), min_size=1, max_size=3)
    time, *names = draw(st.lists(NAME, unique=True, min_size=1, max_size=4))
    has_time = draw(st.booleans())
    events = []
    for event in names:
        numbers = draw(places)
        words = "_".join(tokens[number] for number in numbers)
        mention = f"{name}-{sentences[numbers[0]]}-{words}"
        events.append({"id": event, "mention": mention, "tokens": numbers})
    return {
        "id": name,
        "name": draw(st.none() | SHORT),
        "url": draw(st.none() | SHORT),
        "title": None,
        "creation_time": draw(SHORT) if has_time else None,
        "creation_time_id": time if has_time else None,
        "creation_time_tokens": draw(places) if has_time else [],
        "tokens": tokens,
        "sentences": sentences,
        "events": events,
    }


# What XML can hold.
CHARACTERS = st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="\ufffe\uffff")
TEXT = st.text(CHARACTERS | st.sampled_from("\n\t\r <&"), max_size=20)


@st.composite
def draw_timeml(draw):
    """Draw a document in TimeML: spans of the text nested in any way, all intervals, any links between them."""
    text = draw(TEXT)
    spans = []

    def nest(start, end, depth):
        while depth and start < end and draw(st.booleans()):
            first = draw(st.integers(start, end - 1))
            last = draw(st.integers(first + 1, end))
            name = draw(st.sampled_from(["s", "EVENT", "TIMEX3"]))
            ids = {"s": {}, "EVENT": {"eid": f"e{len(spans)}"}, "TIMEX3": {"tid": f"t{len(spans)}"}}
            spans.append(Span(name, first, last, {**ids[name], "x": draw(TEXT)}))
            nest(first, last, depth - 1)
            start = last

    nest(0, len(text), 3)
    events = [span.id for span in spans if span.name == "EVENT"]
    instances = []
    for number in range(draw(st.integers(0, 4)) if events else 0):
        attributes = {"eiid": f"ei{number}", "eventID": draw(st.sampled_from(events))}
        instances.append(EmptyElement("MAKEINSTANCE", attributes))
    name = draw(st.none() | st.just("a & b"))
    passages = (Passage("TITLE", draw(TEXT)), Passage("TEXT", text, tuple(spans)))
    intervals = list(TimeMLDocument(name, passages, tuple(instances)).intervals)
    links = []
    for number in range(draw(st.integers(0, 3)) if intervals else 0):
        source, target = draw(st.tuples(*[st.sampled_from(intervals)] * 2))
        relation = draw(st.sampled_from(RELATION_TYPES))
        links.append(Tlink(source, target, relation, {"lid": f"l{number}"}))
    return TimeMLDocument(name, passages, tuple(instances), tuple(links))


# Rows of McTaco.
NASTY = "\ufeff\u2028\u2029\"'\\, \xa0\xad\u202e\u2003é́😀\ufffe\uffff"
FIELD = st.text(st.sampled_from(NASTY) | st.characters(exclude_categories=["Cs", "Cc"]), min_size=1)
QUESTIONS = st.lists(
    st.fixed_dictionaries(
        {
            "sentence": st.sampled_from(["It rained.", " It rained."]) | FIELD,
            "question": st.sampled_from(["How long?", "How  long?"]) | FIELD,
            "answer": FIELD,
            "label": st.sampled_from(["yes", "no"]),
            "category": st.sampled_from(["Frequency", "Event Duration"]),
        }
    ),
    min_size=1,
)

SAFE = st.text(st.characters(exclude_categories=["Cs", "Cc"]))
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | SAFE,
    lambda value: st.lists(value, max_size=3) | st.dictionaries(SAFE, value, max_size=3),
    max_leaves=8,
)
OBJECTS = st.lists(st.dictionaries(SAFE, JSON, max_size=3), min_size=1, max_size=5)
