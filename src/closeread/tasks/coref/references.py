"""The papers that define the coreference metrics, as BibTeX.

Entries without a DOI have none, or none that could be verified; they link to the paper if it is on the web.
"""

from __future__ import annotations

VILAIN_1995 = """@inproceedings{vilain-etal-1995-model,
  title = {A Model-Theoretic Coreference Scoring Scheme},
  author = {Vilain, Marc and Burger, John and Aberdeen, John and Connolly, Dennis and Hirschman, Lynette},
  booktitle = {Sixth Message Understanding Conference (MUC-6)},
  year = {1995},
  pages = {45--52},
  doi = {10.3115/1072399.1072405},
  url = {https://aclanthology.org/M95-1005}
}"""

BAGGA_1998 = """@inproceedings{bagga-baldwin-1998-algorithms,
  title = {Algorithms for Scoring Coreference Chains},
  author = {Bagga, Amit and Baldwin, Breck},
  booktitle = {The First International Conference on Language Resources and Evaluation, Workshop on Linguistics
               Coreference},
  year = {1998},
  pages = {563--566},
  url = {https://citeseerx.ist.psu.edu/viewdoc/summary?doi=10.1.1.47.5848}
}"""

LUO_2005 = """@inproceedings{luo-2005-coreference,
  title = {On Coreference Resolution Performance Metrics},
  author = {Luo, Xiaoqiang},
  booktitle = {Proceedings of Human Language Technology Conference and Conference on Empirical Methods in Natural
               Language Processing},
  year = {2005},
  pages = {25--32},
  url = {https://aclanthology.org/H05-1004}
}"""

DENIS_2009 = """@article{denis-baldridge-2009-global,
  title = {Global Joint Models for Coreference Resolution and Named Entity Classification},
  author = {Denis, Pascal and Baldridge, Jason},
  journal = {Procesamiento del Lenguaje Natural},
  number = {42},
  year = {2009},
  pages = {87--96}
}"""

RECASENS_2011 = """@article{recasens-hovy-2011-blanc,
  title = {{BLANC}: Implementing the {R}and Index for Coreference Evaluation},
  author = {Recasens, Marta and Hovy, Eduard},
  journal = {Natural Language Engineering},
  volume = {17},
  number = {4},
  year = {2011},
  pages = {485--510},
  doi = {10.1017/S135132491000029X}
}"""

LUO_2014 = """@inproceedings{luo-etal-2014-extension,
  title = {An Extension of {BLANC} to System Mentions},
  author = {Luo, Xiaoqiang and Pradhan, Sameer and Recasens, Marta and Hovy, Eduard},
  booktitle = {Proceedings of the 52nd Annual Meeting of the Association for Computational Linguistics (Volume 2: Short
               Papers)},
  year = {2014},
  pages = {24--29},
  doi = {10.3115/v1/P14-2005},
  url = {https://aclanthology.org/P14-2005}
}"""

PRADHAN_2014 = """@inproceedings{pradhan-etal-2014-scoring,
  title = {Scoring Coreference Partitions of Predicted Mentions: A Reference Implementation},
  author = {Pradhan, Sameer and Luo, Xiaoqiang and Recasens, Marta and Hovy, Eduard and Ng, Vincent and
            Strube, Michael},
  booktitle = {Proceedings of the 52nd Annual Meeting of the Association for Computational Linguistics (Volume 2: Short
               Papers)},
  year = {2014},
  pages = {30--35},
  doi = {10.3115/v1/P14-2006},
  url = {https://aclanthology.org/P14-2006}
}"""

MOOSAVI_2016 = """@inproceedings{moosavi-strube-2016-coreference,
  title = {Which Coreference Evaluation Metric Do You Trust? {A} Proposal for a Link-based Entity Aware Metric},
  author = {Moosavi, Nafise Sadat and Strube, Michael},
  booktitle = {Proceedings of the 54th Annual Meeting of the Association for Computational Linguistics (Volume 1: Long
               Papers)},
  year = {2016},
  pages = {632--642},
  doi = {10.18653/v1/P16-1060},
  url = {https://aclanthology.org/P16-1060}
}"""

MOOSAVI_2019 = """@inproceedings{moosavi-etal-2019-using,
  title = {Using Automatically Extracted Minimum Spans to Disentangle Coreference Evaluation from Boundary Detection},
  author = {Moosavi, Nafise Sadat and Born, Leo and Poesio, Massimo and Strube, Michael},
  booktitle = {Proceedings of the 57th Annual Meeting of the Association for Computational Linguistics},
  year = {2019},
  pages = {4168--4178},
  doi = {10.18653/v1/P19-1408},
  url = {https://aclanthology.org/P19-1408}
}"""

ZABOKRTSKY_2022 = """@inproceedings{zabokrtsky-etal-2022-findings,
  title = {Findings of the Shared Task on Multilingual Coreference Resolution},
  author = {{\\v{Z}}abokrtsk{\\'y}, Zden{\\v{e}}k and Konop{\\'\\i}k, Miloslav and Nedoluzhko, Anna and
            Nov{\\'a}k, Michal and Ogrodniczuk, Maciej and Popel, Martin and Pra{\\v{z}}{\\'a}k, Ond{\\v{r}}ej and
            Sido, Jakub and Zeman, Daniel and Zhu, Yilun},
  booktitle = {Proceedings of the CRAC 2022 Shared Task on Multilingual Coreference Resolution},
  year = {2022},
  pages = {1--17},
  url = {https://aclanthology.org/2022.crac-mcr.1}
}"""

YU_2022 = """@inproceedings{yu-etal-2022-universal,
  title = {The Universal Anaphora Scorer},
  author = {Yu, Juntao and Khosla, Sopan and Moosavi, Nafise Sadat and Paun, Silviu and Pradhan, Sameer and
            Poesio, Massimo},
  booktitle = {Proceedings of the Thirteenth Language Resources and Evaluation Conference},
  year = {2022},
  pages = {4873--4883},
  url = {https://aclanthology.org/2022.lrec-1.521}
}"""

YU_2023 = """@inproceedings{yu-etal-2023-universal,
  title = {The Universal Anaphora Scorer 2.0},
  author = {Yu, Juntao and Nov{\\'a}k, Michal and Aloraini, Abdulrahman and Moosavi, Nafise Sadat and Paun, Silviu and
            Pradhan, Sameer and Poesio, Massimo},
  booktitle = {Proceedings of the 15th International Conference on Computational Semantics},
  year = {2023},
  pages = {183--194},
  url = {https://aclanthology.org/2023.iwcs-1.19}
}"""

REFERENCES = {
    "mentions": (PRADHAN_2014,),
    "muc": (VILAIN_1995,),
    "b3": (BAGGA_1998,),
    "ceafm": (LUO_2005,),
    "ceafe": (LUO_2005,),
    "blanc": (RECASENS_2011, LUO_2014),
    "lea": (MOOSAVI_2016,),
    "conll": (DENIS_2009, VILAIN_1995, BAGGA_1998, LUO_2005),
    "mor": (ZABOKRTSKY_2022,),
    "zeros": (ZABOKRTSKY_2022,),
    "non_referring": (YU_2022, YU_2023),
    "bridging_anaphors": (YU_2022, YU_2023),
    "bridging_mentions": (YU_2022, YU_2023),
    "bridging_entities": (YU_2022, YU_2023),
}
"""The papers that define each family of metrics; predicted mentions are counted as in Pradhan et al. (2014)."""
