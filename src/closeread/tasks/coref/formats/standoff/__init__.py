"""Annotation that stands off the text, as annotation tools and some systems write it.

Such files have spans, and links between them, of which some may mean that two spans are the same entity: readers make
`StandoffDocument`s, `models` decides what makes entities, and `tokens` turns characters into tokens.
"""
