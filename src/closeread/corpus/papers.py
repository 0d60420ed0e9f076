"""Papers that several tasks cite, as BibTeX: those that define temporal awareness."""

from __future__ import annotations

UZZAMAN_2011 = """@inproceedings{uzzaman-allen-2011-temporal,
  title = {Temporal Evaluation},
  author = {UzZaman, Naushad and Allen, James},
  booktitle = {Proceedings of the 49th Annual Meeting of the Association for Computational Linguistics: Human Language
               Technologies},
  year = {2011},
  pages = {351--356},
  url = {https://aclanthology.org/P11-2061}
}"""

UZZAMAN_2013 = """@inproceedings{uzzaman-etal-2013-semeval,
  title = {{S}em{E}val-2013 Task 1: {T}emp{E}val-3: Evaluating Time Expressions, Events, and Temporal Relations},
  author = {UzZaman, Naushad and Llorens, Hector and Derczynski, Leon and Allen, James and Verhagen, Marc and
            Pustejovsky, James},
  booktitle = {Second Joint Conference on Lexical and Computational Semantics (*SEM), Volume 2: Proceedings of the
               Seventh International Workshop on Semantic Evaluation (SemEval 2013)},
  year = {2013},
  pages = {1--9},
  url = {https://aclanthology.org/S13-2001}
}"""
