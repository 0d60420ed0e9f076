"""The sample has the texts of its articles, in which all possessors and years of its records stand."""

import re

from closeread.llm.questions import Exam


def test_the_texts_fit_the_records():
    for record in Exam("wikipossessions", config="sample").scorer.gold.records:
        text = record["text"].lower()
        for possession in record["possessions"]:
            name = possession["possessor"].replace("\N{NO-BREAK SPACE}", " ")
            assert name.strip(" ,.").lower() in text
            years = re.findall(r"\d{2,4}", possession["anchor"] or "")
            assert all(re.search(rf"\b0*{int(year)}", text) for year in years), possession
