"""Word vectors from the first layer of an encoder: the mean of the vectors of a word's pieces, standardized.

    python benchmarks/word_vectors.py ENCODER VECTORS DOCUMENTS...

ENCODER is a folder or a name on the Hugging Face Hub, DOCUMENTS are files of TNE in JSON Lines, also gzipped, whose
words get a vector; VECTORS is written in word2vec's text format.  Each dimension has mean 0 and deviation 1 over these
words.
"""

import gzip
import json
import sys
from pathlib import Path

import numpy as np
import transformers


def read_words(paths):
    """The different words of documents, sorted, without those that have white space."""
    words = set()
    for path in paths:
        data = path.read_bytes()
        lines = (gzip.decompress(data) if path.suffix == ".gz" else data).splitlines()
        words.update(token for line in lines for token in json.loads(line)["tokens"])
    return sorted(word for word in words if word.split() == [word])


def main():
    """Write the vectors of the words of documents."""
    encoder, output, *documents = sys.argv[1:]
    tokenizer = transformers.AutoTokenizer.from_pretrained(encoder)
    layer = (
        transformers.AutoModel.from_pretrained(encoder)
        .get_input_embeddings()
        .weight.detach()
        .numpy()
    )
    words = read_words(map(Path, documents))
    pieces = tokenizer(words, add_special_tokens=False)["input_ids"]
    vectors = np.array(
        [layer[found].mean(0) if found else np.zeros(layer.shape[1]) for found in pieces]
    )
    vectors = (vectors - vectors.mean(0)) / vectors.std(0)
    with Path(output).open("w", encoding="utf-8") as file:
        file.write(f"{len(words)} {vectors.shape[1]}\n")
        # Nine digits distinguish all 32-bit floats.
        for word, vector in zip(words, vectors.astype(np.float32).tolist(), strict=True):
            file.write(" ".join([word, *(f"{number:.9g}" for number in vector)]) + "\n")


if __name__ == "__main__":
    main()
