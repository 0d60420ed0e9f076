"""Every command says the same of documents with a column for each predicate of the sentence, as of plain columns."""

import re
from pathlib import Path

import pytest
from shared.conll_documents import as_ontonotes
from shared.coreference import KEY, RESPONSE, write_conll

SIDES = "key.conll response.conll"
LINES = [
    f"score coref {SIDES} --by entity_size --by distance --per-unit --json --no-ci",
    f"score coref {SIDES} --preset conll2012 --json --no-ci",
    f"score coref {SIDES} --words align --json --no-ci",
    f"validate coref {SIDES}",
    f"compare coref {SIDES} key.conll --resamples 20 --json",
    f"table coref {SIDES} --resamples 20",
    f"errors coref {SIDES} --json",
    f"errors chains {SIDES} --json",
    f"agreement coref {SIDES} --json",
    f"adjudicate coref {SIDES} -o gold.jsonl --report report.json",
    f"adjudicate coref {SIDES} -o gold.jsonl --forced forced.conll",
    "convert coref key.conll -o out.conllu",
    "convert coref key.conll -o out.txt",
    f"plot mistakes {SIDES} -o out.svg",
]


@pytest.mark.parametrize("line", LINES)
def test_every_command(line, here, ran):
    said = []
    for form in (str, as_ontonotes):
        write_conll(Path("key.conll"), KEY, form=form)
        write_conll(Path("response.conll"), RESPONSE, form=form)
        if "--forced" in line:
            text = Path("key.conll").read_text("utf-8")
            Path("forced.conll").write_text(re.sub(r"(?<=\s)-$", "=-", text, flags=re.M), "utf-8")
        printed = ran(*line.split())
        written = [path for path in here.iterdir() if path.suffix != ".conll"]
        said.append([printed, *(path.read_bytes() for path in sorted(written))])
    assert said[0] == said[1]
