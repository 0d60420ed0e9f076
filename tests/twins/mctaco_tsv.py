"""A file of McTaco, read slowly and obviously, one line after the other."""

import unicodedata

COLUMNS = ("sentence", "question", "answer", "label", "category")


def read(text, split):
    """Read a text: its rows with their line numbers, and the (line, column) of what is wrong.

    The column is None for a line with another number of columns.
    """
    rows, numbers, wrong = [], [], []
    sentences, questions = [], []
    for number, line in enumerate(text.removesuffix("\n").split("\n"), start=1):
        cells = line.removesuffix("\r").split("\t")
        if len(cells) != len(COLUMNS):
            wrong.append((number, None))
            continue
        row = dict(zip(COLUMNS, cells, strict=True))
        for name, cell in row.items():
            if any(unicodedata.category(character) == "Cc" for character in cell):
                wrong.append((number, name))
        if row["sentence"] not in sentences:
            sentences.append(row["sentence"])
        if (row["sentence"], row["question"]) not in questions:
            questions.append((row["sentence"], row["question"]))
        ids = {
            "id": f"{split}-{number - 1:05d}",
            "question_id": f"{split}-q{questions.index((row['sentence'], row['question'])):04d}",
            "sentence_id": f"{split}-s{sentences.index(row['sentence']):04d}",
        }
        rows.append({**ids, **row})
        numbers.append(number)
    return rows, numbers, wrong
