"""The example of Moosavi and Strube (2016, section 3), worked out by hand."""


def inputs():
    key = [[[0, 0], [1, 1], [2, 2]], [[3, 3], [4, 4], [5, 5], [6, 6]]]
    response = [[[0, 0], [1, 1]], [[2, 2], [3, 3]], [[5, 5], [6, 6], [7, 7], [8, 8]]]
    return {"example of Moosavi and Strube": {"gold": [key], "system": [response]}}
