"""Small annotations of coreference: mentions are letters, as in `shared.coreference_kernels`."""

from hypothesis import strategies as st

from closeread.tasks.annotation.agreement import measure_clusters, resolve

MENTIONS = "abcdef"
CLUSTERED = st.lists(st.none() | st.integers(0, 3), min_size=len(MENTIONS), max_size=len(MENTIONS))


def clusters(numbers):
    """Return the clusters of letters with equal numbers; letters without one are not mentioned."""
    placed = zip(numbers, MENTIONS, strict=True)
    by_number = {}
    for number, mention in placed:
        if number is not None:
            by_number.setdefault(number, []).append(mention)
    return list(by_number.values())


ANNOTATION = CLUSTERED.map(clusters)
DOCUMENT = st.lists(ANNOTATION, min_size=2, max_size=4)
DOCUMENTS = st.lists(st.lists(ANNOTATION, max_size=4), min_size=1, max_size=3)
OPTIONS = st.fixed_dictionaries(
    {
        "unannotated": st.sampled_from(["singleton", "missing"]),
        "average": st.sampled_from(["macro", "pooled"]),
    }
)


def spread(annotation):
    """Turn letters into mentions of one token."""
    return [[[ord(m) - ord("a")] * 2 for m in cluster] for cluster in annotation]


def measure(documents, **options):
    """Return alpha by distance, as the package computes it."""
    spans = [[spread(annotation) for annotation in annotations] for annotations in documents]
    return measure_clusters(spans, resolve(options)).alpha
