"""TNE: which noun phrase of a text is related to which other, by which preposition?"""
