"""Pools of event phrases, from which candidate answers are retrieved.

Source: Zhou et al. (2019), step 3, whose pool of 60,000 phrases was made with PropBank and not released; the paper does
not say how.

* ``parsed``: the clauses of a text, with a spaCy parser.
* ``propbank``: the examples of PropBank's frame files.
* ``pool``: put phrases into a pool: each once, and none too long.

Conventions: an event phrase is a subject, a verb and what belongs to them, without other clauses ("she sold the boat").
"""
