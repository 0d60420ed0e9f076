"""Candidate generation and unit normalization: the tools McTaco was built with.

Source: Zhou et al. (2019), steps 3 and 4 of corpus construction, and their unit normalization.

* ``units``: normalize temporal units ("30 months" becomes "2.5 years").
* ``rules``: replace words, units and numbers of an answer (the rules are in ``rule_table`` and ``number_rules``, what
  they change in the words beside a replacement in ``edits``).
* ``masked``: mask one word at a time and fill it in with a language model.
* ``retrieval``: find the phrases of a list that are most similar to an answer.
* ``candidates``: apply these techniques in turn until a question has enough candidate answers.
* ``number_words``: read and write English number words.

These are pure functions: no files, no network, and no random state other than the seed.
"""
