"""The errors of a response, slow and obvious.  A side is a list of documents, each a list of clusters of letters."""

from itertools import groupby

from shared.enumeration import where


def find_errors(key, response):
    """Count the identical entities; list the errors as (kind, document, mentions), pieces separated by a bar."""
    right, errors = 0, []
    for document, (own, other) in enumerate(zip(key, response, strict=True)):
        right += sum(set(cluster) in map(set, other) for cluster in own)
        for side, there, parted, unmatched, alone in (
            (own, where(other), "split entity", "missing entity", "missing mention"),
            (other, where(own), "merged entities", "spurious entity", "spurious mention"),
        ):
            for cluster in side:
                places = {there[mention] for mention in cluster if mention in there}
                if len(places) != 1:
                    errors.append(
                        (parted if places else unmatched, document, write_pieces(cluster, there))
                    )
                errors += [
                    (alone, document, mention) for mention in cluster if mention not in there
                ]
    return right, errors


def write_pieces(cluster, there):
    """Group mentions by their cluster on the other side, in order of first appearance."""
    order = list(dict.fromkeys(there.get(mention) for mention in cluster))
    ordered = sorted(cluster, key=lambda mention: order.index(there.get(mention)))
    return "|".join("".join(piece) for _, piece in groupby(ordered, key=there.get))
