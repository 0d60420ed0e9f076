"""TNE: which noun phrase relates to which, by which preposition?"""
