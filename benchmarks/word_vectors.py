"""Static word vectors out of a pretrained encoder, for TNE's static models of `neural.md`.

    python benchmarks/word_vectors.py ENCODER FILE TNE...

TNE are files of the corpus, in JSON Lines; FILE gets a vector for each of their words, in the text format of word2vec.
The vector of a word is the mean of those of its tokens, as they enter the encoder's first layer of attention.
"""

import gzip
import json
import sys
from pathlib import Path

import torch
import transformers

WORDS_AT_ONCE = 256
DIGITS = 4


def list_words(paths):
    """Return the words of documents without those that contain white space, in the order of their first occurrence."""
    words = {}
    for path in paths:
        text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        for line in text.splitlines():
            for word in json.loads(line)["tokens"]:
                if not any(map(str.isspace, word)):
                    words[word] = None
    return list(words)


@torch.inference_mode()
def embed(words, tokenizer, encoder):
    """Yield each word that has tokens, with its vector as a list of numbers."""
    for start in range(0, len(words), WORDS_AT_ONCE):
        batch = words[start : start + WORDS_AT_ONCE]
        inputs = tokenizer(
            batch, padding=True, return_special_tokens_mask=True, return_tensors="pt"
        )
        is_special = inputs.pop("special_tokens_mask").bool()
        vectors = encoder(**inputs, output_hidden_states=True).hidden_states[0]
        for word, word_vectors, is_extra in zip(batch, vectors, is_special, strict=True):
            if not is_extra.all():
                yield word, word_vectors[~is_extra].mean(dim=0).tolist()


def main(name, output, *paths):
    """Write the vectors of the words of some files."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(name)
    encoder = transformers.AutoModel.from_pretrained(name).eval()
    rows = list(embed(list_words(map(Path, paths)), tokenizer, encoder))
    with Path(output).open("w", encoding="utf-8") as file:
        print(len(rows), len(rows[0][1]), file=file)
        for word, vector in rows:
            print(word, *(f"{number:.{DIGITS}f}" for number in vector), file=file)


if __name__ == "__main__":
    main(*sys.argv[1:])
