"""Windows over sequences, one piece at a time."""


def find_windows(length, limit, overlap):
    """Return the windows of one sequence as (start, end): the fewest that cover it, evenly spread."""
    if not length:
        return []
    n = 1
    while limit + (n - 1) * (limit - overlap) < length:
        n += 1
    room = max(0, length - limit)
    return [(start := room * i // max(1, n - 1), min(start + limit, length)) for i in range(n)]


def choose_window(windows, piece, length):
    """Return the window in which a piece has the most context on its shorter side; the last of equally good ones."""

    def context(window):
        start, end = window
        before = piece - start if start else float("inf")
        after = end - 1 - piece if end < length else float("inf")
        return min(before, after)

    inside = [i for i, (start, end) in enumerate(windows) if start <= piece < end]
    return max(inside, key=lambda i: (context(windows[i]), i))
