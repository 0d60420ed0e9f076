"""New answers made out of old ones, and answers brought into one form: the tools behind McTaco.

Source: Zhou et al. (2019), steps 3 and 4 of how the corpus was built, and its unit normalization.

* ``units``: "30 months" becomes "2.5 years".
* ``rules``: one word, unit or number of an answer exchanged (the table stands in ``rule_table``).
* ``masked``: one word at a time masked and filled in again by a language model.
* ``retrieval``: the phrases of a list that are most like an answer.
* ``candidates``: these one after another, until a question has enough candidate answers.
* ``number_words``: numbers read from English words and written in them.

Everything here is a function of its arguments: no files, no network, no random state but the seed.
"""
