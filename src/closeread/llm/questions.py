"""Questions to language models: the units of a gold, as prompts.

Prompts are numbered Jinja files of the tasks' packages (`prompts/1.jinja`); a changed prompt is a new number.  A text
of more than `WINDOW` words is asked about in windows, which overlap by half, and whose answers are merged.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from jinja2 import Environment, StrictUndefined

from closeread import tasks
from closeread.corpus.names import load_corpus
from closeread.corpus.schema import load_schema
from closeread.exceptions import RequestError, describe_unknown, join_names, pluralize
from closeread.json_schema import check_json
from closeread.llm.answers import About, write_answer
from closeread.records import Record
from closeread.scoring import Scorer, find_gold, find_procedure, open_scorer

if TYPE_CHECKING:
    from closeread.tasks.coref.documents import MentionTable

WINDOW = 2_000  # words

TRAINING = ("train", "validation", "trial")
"""The splits that examples are taken from, the first that a corpus has."""


class Item(NamedTuple):
    """A question, or a window of a text that it is about."""

    fields: dict[str, Any]  # what the prompt shows
    about: About  # what the answer is about


class Question(NamedTuple):
    """A question to a model: a prompt for each window."""

    id: str
    unit: str
    prompts: list[str]
    abouts: list[About]


@dataclass(frozen=True)
class Exam:
    """The questions of a task, and how they are asked.

    Attributes:
        name: the corpus, or the procedure if it is scored by a key of the user's.
        config, split: the part of the corpus; None for its default.
        gold: a file of gold of the user's; None for the corpus.
        ask: "question" for all answers of a question of McTaco at once, "candidate" for one at a time.
        shots: the number of examples.
        examples: a file of gold that they are from; None for the training or development split of the corpus.
        seed: of their choice.
        prompt: the number of the prompt.
        structured: whether the model is made to write JSON by a schema.
        articles: a folder with the texts of articles; None for the corpus's own.
    """

    name: str
    config: str | None = None
    split: str | None = None
    gold: str | None = None
    ask: str = "question"
    shots: int = 0
    examples: str | None = None
    seed: int = 0
    prompt: int = 1
    structured: bool = False
    articles: str | None = None

    @cached_property
    def scorer(self) -> Scorer:
        """What counts: a unit without an answer counts as an empty prediction."""
        return self._open(self.gold, self.config, self.split)

    @cached_property
    def procedure(self) -> str:
        """The name of the procedure that scores the answers."""
        return find_procedure(self.name)[0].name

    @cached_property
    def units(self) -> dict[str, list[Record]]:
        """The gold records of each unit."""
        return _list_units(self.scorer)

    @cached_property
    def documents(self) -> dict[str, MentionTable]:
        """The documents of a key, each a key of its own; none for other tasks."""
        if self.procedure != "coref":
            return {}
        from closeread.tasks.coref.documents import (
            JoinedWords,
            MentionTable,
            find_words,
            make_table,
            split_table,
        )

        key = cast(MentionTable, self.scorer.gold.records)
        return {
            document.name: make_table([document], words=JoinedWords([find_words(key, number)]))
            for number, document in enumerate(split_table(key))
        }

    def describe(self) -> dict[str, Any]:
        """Return what a log keeps: how the questions were asked, and the place of the gold, but no gold."""
        config, split = self.scorer.gold.origin[1:3]
        return asdict(replace(self, config=config, split=split))

    def list_questions(self) -> list[Question]:
        """Return all questions.

        Raises:
            RequestError: there is no such prompt, there are too few examples, or units have no text.
        """
        template = load_prompt(self.procedure, self.prompt)
        shared = {
            "ask": self.ask,
            "structured": self.structured,
            "examples": self._choose_examples(),
        }
        if self.procedure == "tne":
            shared["prepositions"] = load_schema("tne")["$defs"]["preposition"]["enum"]
        questions = []
        for unit, name, items in self._list_items(self.scorer, self.units):
            prompts = [template.render(item=item.fields, **shared).strip() for item in items]
            questions.append(Question(name, unit, prompts, [item.about for item in items]))
        return questions

    def _open(self, gold: str | None, config: str | None, split: str | None) -> Scorer:
        source, _ = find_gold(self.name, gold=gold, config=config, split=split)
        return open_scorer(source, {"missing": "empty"})

    def _choose_examples(self) -> list[dict[str, Any]]:
        """Return examples with their answers, the same for all questions; none is a unit that is scored."""
        if not self.shots:
            return []
        corpus = find_procedure(self.name)[1]
        config = self.scorer.gold.origin[1]
        splits = (
            []
            if corpus is None or config is None
            else load_corpus(corpus).configs[config].split_names
        )
        split = next((one for one in TRAINING if one in splits), None)
        if self.examples is None and (split is None or split == self.scorer.gold.origin[2]):
            raise RequestError(
                "there is no other split to take examples from; name a file of gold by examples=FILE"
            )
        scorer = self._open(self.examples, *((None, None) if self.examples else (config, split)))
        units = {unit: rows for unit, rows in _list_units(scorer).items() if unit not in self.units}
        if len(units) < self.shots:
            raise RequestError(
                f"there are {pluralize(len(units), 'example')} to choose {self.shots} from"
            )
        chosen = random.Random(self.seed).sample(list(units), self.shots)  # noqa: S311 (nothing is secret)
        every = dict[str, tuple[str, list[Item]]]()
        for unit, _, items in self._list_items(scorer, {unit: units[unit] for unit in chosen}):
            every.setdefault(unit, (unit, items))
        return [
            {
                "item": items[0].fields,
                "answer": write_answer(
                    self.procedure, units[unit], items[0].about, structured=self.structured
                ),
            }
            for unit, items in every.values()
        ]

    def _list_items(
        self, scorer: Scorer, units: Mapping[str, list[Record]]
    ) -> Iterator[tuple[str, str, list[Item]]]:
        """Yield the unit, the name and the items of each question."""
        match self.procedure:
            case "mctaco":
                for unit, rows in units.items():
                    for part in [[row] for row in rows] if self.ask == "candidate" else [rows]:
                        fields = {"answers": [row["answer"] for row in part]}
                        about = {"ids": [row["id"] for row in part], "ask": self.ask}
                        name = part[0]["id"] if self.ask == "candidate" else unit
                        yield unit, name, [Item({**part[0], **fields, "label": None}, about)]
            case "tne":
                for unit, (record,) in units.items():
                    yield (
                        unit,
                        unit,
                        [
                            _show_phrases(record, *one)
                            for one in list_windows(len(record["tokens"]))
                        ],
                    )
            case "wikipossessions":
                texts = self._read_articles(units)
                for unit in units:
                    yield (
                        unit,
                        unit,
                        [Item({"article": unit, "text": texts[unit]}, {"article": unit})],
                    )
            case "timeline":
                yield from _list_timelines(scorer, units)
            case "coref":
                from closeread.tasks.coref.documents import MentionTable, are_known, find_words

                table = cast(MentionTable, scorer.gold.records)
                for document, name in enumerate(table.names):
                    if name in units:
                        words, index = find_words(table, document)
                        tokens = () if words is None else words(index)
                        if not are_known(tokens):
                            raise RequestError(f"document {name} of the key has no words")
                        yield (
                            name,
                            name,
                            [
                                _number_tokens(name, tokens, *one)
                                for one in list_windows(len(tokens))
                            ],
                        )
            case other:
                raise RequestError(f"there are no questions for {other}")

    def _read_articles(self, units: Mapping[str, list[Record]]) -> Mapping[str, str]:
        from closeread.tasks.wikipossessions.articles import strip_marks
        from closeread.tasks.wikipossessions.baselines import read_folder

        found: Mapping[str, str | None] = {
            unit: rows[0].get("text") for unit, rows in units.items()
        }
        if self.articles is not None:
            found = read_folder(Path(self.articles), list(units))
        texts = {unit: strip_marks(text) for unit, text in found.items() if text}
        if lacking := [unit for unit in units if unit not in texts]:
            found_none = (
                f"{pluralize(len(lacking), 'article')} without a text: {join_names(lacking)}"
            )
            raise RequestError(f"{found_none}; name a folder of texts by articles=FOLDER")
        return texts


def make_exam(about: Mapping[str, Any], source: object) -> Exam:
    """Return the exam that a log describes; `source` names the log in messages."""
    check_json(about, "closeread.llm/log.schema.json#exam", source)
    return Exam(**about)


def list_windows(n: int, size: int = WINDOW) -> list[tuple[int, int]]:
    """Return the first word and the end of each window of a text."""
    return (
        [(0, n)]
        if n <= size
        else [(start, min(start + size, n)) for start in range(0, n - size // 2, size // 2)]
    )


@cache
def load_prompt(procedure: str, number: int) -> Any:
    """Load a prompt of a task by its number."""
    folder = Path(tasks.__path__[0]) / procedure / "prompts"
    known = sorted((file.stem for file in folder.glob("*.jinja")), key=int)
    if str(number) not in known:
        raise RequestError(describe_unknown(f"prompt of {procedure}", str(number), known))
    environment = Environment(undefined=StrictUndefined, trim_blocks=True)  # noqa: S701 (prompts are no HTML)
    return environment.from_string((folder / f"{number}.jinja").read_text("utf-8"))


def _list_units(scorer: Scorer) -> dict[str, list[Record]]:
    units = dict[str, list[Record]]()
    records = scorer.gold.records
    for number, unit in enumerate(scorer.gold.units):
        units.setdefault(unit, []).append(records[number])
    return units


def _show_phrases(record: Record, start: int, end: int) -> Item:
    """Return the words of a window, with the noun phrases inside it in brackets."""
    phrases = [
        one for one in record["nps"] if start <= one["first_token"] and one["last_token"] < end
    ]
    opened, closed = dict[int, list[Record]](), dict[int, int]()
    for one in sorted(phrases, key=lambda one: -one["last_token"]):
        opened.setdefault(one["first_token"], []).append(one)
        closed[one["last_token"]] = closed.get(one["last_token"], 0) + 1
    words = []
    for token in range(start, end):
        before = "".join(f"[{one['id'][2:]} " for one in opened.get(token, ()))
        words.append(f"{before}{record['tokens'][token]}{']' * closed.get(token, 0)}")
    numbered = [{"number": one["id"][2:], "text": one["text"]} for one in phrases]
    fields = {"text": " ".join(words), "phrases": numbered}
    return Item(fields, {"id": record["id"], "nps": [one["id"] for one in phrases]})


def _number_tokens(name: str, tokens: Sequence[str], start: int, end: int) -> Item:
    numbered = [{"number": number, "text": tokens[number]} for number in range(start, end)]
    return Item({"tokens": numbered}, {"document": name, "tokens": [start, end]})


def _list_timelines(
    scorer: Scorer, units: Mapping[str, list[Record]]
) -> Iterator[tuple[str, str, list[Item]]]:
    from closeread.tasks.timeline.timeline_mentions import timelines_of

    known = timelines_of(scorer.gold.records)
    parts = known.splits or {"": known}
    shown = {name: [_show_document(one) for one in part.documents] for name, part in parts.items()}
    if not any(shown.values()):
        raise RequestError("these timelines have no documents")
    for unit, (record,) in units.items():
        split = unit.partition("/")[0] if known.splits else ""
        fields = {"documents": shown[split], "entity": record["entity"]}
        yield unit, unit, [Item(fields, {"id": record["id"], "entity": record["entity"]})]


def _show_document(document: Record) -> dict[str, Any]:
    sentences = dict[int, list[str]]()
    for token, sentence in zip(document["tokens"], document["sentences"], strict=True):
        sentences.setdefault(sentence, []).append(token)
    lines = [{"number": number, "text": " ".join(words)} for number, words in sentences.items()]
    return {"id": document["id"], "date": document["creation_time"], "sentences": lines}
