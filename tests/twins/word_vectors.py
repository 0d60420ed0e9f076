"""Files of word vectors, packed by hand."""

import struct


def pack_text(entries, n_dimensions):
    """Word2vec's text format."""
    return f"{len(entries)} {n_dimensions}\n".encode() + pack_lines(entries, n_dimensions)


def pack_lines(entries, n_dimensions):
    """GloVe's format: Python writes enough digits of any float."""
    return b"".join(
        b" ".join([word, *(repr(x).encode() for x in row)]) + b"\n" for word, row in entries
    )


def pack_binary(entries, n_dimensions, end=b""):
    """Word2vec's binary format, as gensim writes it."""
    body = b"".join(
        word + b" " + struct.pack(f"<{n_dimensions}f", *row) + end for word, row in entries
    )
    return f"{len(entries)} {n_dimensions}\n".encode() + body


def pack_original(entries, n_dimensions):
    """Word2vec's binary format, as the original program writes it."""
    return pack_binary(entries, n_dimensions, b"\n")


PACKERS = (pack_text, pack_lines, pack_binary, pack_original)
