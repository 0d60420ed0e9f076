"""Documents in TimeML as text."""

from xml.sax.saxutils import escape, quoteattr

from closeread.formats.timeml import TIMEX


def dump_timeml(document):
    """The document as the text of a TimeML file."""
    intervals = document.intervals
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', "<TimeML>"]
    if document.id is not None:
        lines.append(f"<DOCID>{escape(document.id)}</DOCID>")
    lines += [
        f"<{passage.name}>{_dump_passage(passage)}</{passage.name}>"
        for passage in document.passages
    ]
    lines += [f"<{one.name}{_dump_attributes(one.attributes)}/>" for one in document.instances]
    for tlink in document.tlinks:
        attributes = dict(tlink.attributes)
        for interval, (event, time) in (
            (tlink.source, ("eventInstanceID", "timeID")),
            (tlink.target, ("relatedToEventInstance", "relatedToTime")),
        ):
            attributes[time if intervals[interval][1].name == TIMEX else event] = interval
        lines.append(f"<TLINK{_dump_attributes({**attributes, 'relType': tlink.relation})}/>")
    return "\n".join([*lines, "</TimeML>", ""])


def _dump_passage(passage):
    written = []
    opened = []
    place = 0

    def write_to(end):
        nonlocal place
        written.append(escape(passage.text[place:end], {"\r": "&#13;"}))
        place = end

    def close(end):
        while opened and (end is None or opened[-1].end <= end):
            write_to(opened[-1].end)
            written.append(f"</{opened.pop().name}>")

    for span in passage.spans:
        close(span.start)
        write_to(span.start)
        written.append(f"<{span.name}{_dump_attributes(span.attributes)}>")
        opened.append(span)
    close(None)
    write_to(len(passage.text))
    return "".join(written)


def _dump_attributes(attributes):
    return "".join(f" {name}={quoteattr(value)}" for name, value in attributes.items())
