"""Five words, worked out by hand: 3 of 5 correct, 3 edits of 25 characters."""


def inputs():
    gold = ["anchor", "sail", "mast", "Compass", "rope"]
    system = ["anchor", "sale", "mast", "compass", "rope"]
    records = [{"id": str(i), "page": "1", "word": word} for i, word in enumerate(gold)]
    return {"five words": {"gold": records, "system": [{"word": word} for word in system]}}
