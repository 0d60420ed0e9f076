"""Questions to language models: the units of a gold, as prompts.

Prompts are numbered Jinja files of the tasks' packages (`prompts/1.jinja`); a changed prompt is a new number.  A text
of more than `WORDS_PER_WINDOW` words is asked about in windows, which overlap by half, and whose answers are merged.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from closeread.llm.answers import Subject, write_answer
from closeread.records import Record
from closeread.scoring import Scorer, find_gold, find_procedure, open_scorer

if TYPE_CHECKING:
    from closeread.tasks.coref.documents import Documents

WORDS_PER_WINDOW = 2_000

TRAINING = ("train", "validation", "trial")
"""The splits that examples are taken from, the first that a corpus has."""


class Window(NamedTuple):
    """A question, or the part of it that is about a window of a text.

    Attributes:
        fields: what the prompt shows.
        subject: what the answer is about.
    """

    fields: dict[str, Any]
    subject: Subject


class Question(NamedTuple):
    """A question about a unit, in one window or several, with a prompt for each."""

    id: str
    unit: str
    windows: list[Window]
    prompts: Sequence[str] = ()


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
    def documents(self) -> dict[str, Documents]:
        """The documents of a key, each a key of its own; none for other tasks."""
        if self.procedure != "coref":
            return {}
        from closeread.tasks.coref.documents import Documents

        key = cast(Documents, self.scorer.gold.records)
        return {document.name: Documents([document]) for document in key.documents}

    def describe(self) -> dict[str, Any]:
        """Return what a log keeps: how the questions were asked, and the place of the gold, but no gold."""
        config, split = self.scorer.gold.origin[1:3]
        return asdict(replace(self, config=config, split=split))

    def list_questions(self) -> list[Question]:
        """Return all questions, with their prompts.

        Raises:
            RequestError: there is no such prompt, there are too few examples, or units have no text.
        """
        template = load_prompt(self.procedure, self.prompt)
        fields = {
            "ask": self.ask,
            "structured": self.structured,
            "examples": self._choose_examples(),
        }
        if self.procedure == "tne":
            fields["prepositions"] = load_schema("tne")["$defs"]["preposition"]["enum"]
        questions = []
        for question in self._ask_about(self.scorer, self.units):
            texts = [template.render(item=window.fields, **fields) for window in question.windows]
            questions.append(question._replace(prompts=[text.strip() for text in texts]))
        return questions

    def _open(self, gold: str | None, config: str | None, split: str | None) -> Scorer:
        source, _ = find_gold(self.name, gold=gold, config=config, split=split)
        return open_scorer(source, {"missing": "empty"})

    def _choose_examples(self) -> list[dict[str, Any]]:
        """Return examples with their answers, the same for all questions; none is a unit that is scored."""
        if not self.shots:
            return []
        _, config, split_scored, *_ = self.scorer.gold.origin
        if self.examples is not None:
            scorer = self._open(self.examples, None, None)
        else:
            split = self._find_training_split(config)
            if split is None or split == split_scored:
                raise RequestError(
                    "there is no other split to take examples from; name a file of gold by examples=FILE"
                )
            scorer = self._open(None, config, split)
        units = {unit: rows for unit, rows in _list_units(scorer).items() if unit not in self.units}
        if len(units) < self.shots:
            n_examples = pluralize(len(units), "example")
            raise RequestError(f"there are {n_examples} to choose {self.shots} from")
        sample = random.Random(self.seed).sample(list(units), self.shots)  # noqa: S311 (nothing is secret)
        # With ask=candidate, a unit has several questions, of which the first is an example.
        windows: dict[str, Window] = {}
        for question in self._ask_about(scorer, {unit: units[unit] for unit in sample}):
            windows.setdefault(question.unit, question.windows[0])
        examples = []
        for unit, window in windows.items():
            answer = write_answer(
                self.procedure, units[unit], window.subject, structured=self.structured
            )
            examples.append({"item": window.fields, "answer": answer})
        return examples

    def _find_training_split(self, config: str | None) -> str | None:
        """Find the split of a config that examples are from; None if there is none."""
        corpus = find_procedure(self.name)[1]
        if corpus is None or config is None:
            return None
        splits = load_corpus(corpus).configs[config].split_names
        return next((split for split in TRAINING if split in splits), None)

    def _ask_about(self, scorer: Scorer, units: Mapping[str, list[Record]]) -> Iterable[Question]:
        """Return the questions about units."""
        match self.procedure:
            case "mctaco":
                return _ask_about_candidates(units, self.ask)
            case "tne":
                return _ask_about_phrases(units)
            case "wikipossessions":
                return self._ask_about_articles(units)
            case "timeline":
                return _ask_about_timelines(scorer, units)
            case "coref":
                return _ask_about_documents(scorer, units)
        raise RequestError(f"there are no questions for {self.procedure}")

    def _ask_about_articles(self, units: Mapping[str, list[Record]]) -> Iterator[Question]:
        for title, text in self._read_articles(units).items():
            window = Window({"article": title, "text": text}, {"article": title})
            yield Question(title, title, [window])

    def _read_articles(self, units: Mapping[str, list[Record]]) -> Mapping[str, str]:
        from closeread.tasks.wikipossessions.articles import strip_marks
        from closeread.tasks.wikipossessions.baselines import read_folder

        texts: Mapping[str, str | None]
        if self.articles is None:
            texts = {unit: records[0].get("text") for unit, records in units.items()}
        else:
            texts = read_folder(Path(self.articles), list(units))
        articles = {}
        lacking = []
        for unit in units:
            text = texts.get(unit)
            if text:
                articles[unit] = strip_marks(text)
            else:
                lacking.append(unit)
        if lacking:
            n_articles = pluralize(len(lacking), "article")
            raise RequestError(
                f"{n_articles} without a text: {join_names(lacking)}; name a folder of texts by articles=FOLDER"
            )
        return articles


def make_exam(description: Mapping[str, Any], source: object) -> Exam:
    """Return the exam that a log describes; `source` names the log in messages."""
    check_json(description, "closeread.llm/log.schema.json#exam", source)
    return Exam(**description)


def list_windows(n_words: int, size: int = WORDS_PER_WINDOW) -> list[tuple[int, int]]:
    """Return the first word and the end of each window of a text."""
    if n_words <= size:
        return [(0, n_words)]
    starts = range(0, n_words - size // 2, size // 2)
    return [(start, min(start + size, n_words)) for start in starts]


@cache
def load_prompt(procedure: str, number: int) -> Any:
    """Load a prompt of a task by its number."""
    folder = Path(tasks.__path__[0]) / procedure / "prompts"
    numbers = sorted((file.stem for file in folder.glob("*.jinja")), key=int)
    if str(number) not in numbers:
        raise RequestError(describe_unknown(f"prompt of {procedure}", str(number), numbers))
    environment = Environment(undefined=StrictUndefined, trim_blocks=True)  # noqa: S701 (prompts are no HTML)
    return environment.from_string((folder / f"{number}.jinja").read_text("utf-8"))


def _list_units(scorer: Scorer) -> dict[str, list[Record]]:
    units: dict[str, list[Record]] = {}
    records = scorer.gold.records
    for number, unit in enumerate(scorer.gold.units):
        units.setdefault(unit, []).append(records[number])
    return units


def _ask_about_candidates(units: Mapping[str, list[Record]], ask: str) -> Iterator[Question]:
    for unit, rows in units.items():
        if ask == "candidate":
            for row in rows:
                yield Question(row["id"], unit, [_show_candidates([row], ask)])
        else:
            yield Question(unit, unit, [_show_candidates(rows, ask)])


def _show_candidates(rows: Sequence[Record], ask: str) -> Window:
    answers = [row["answer"] for row in rows]
    fields = {**rows[0], "answers": answers, "label": None}
    return Window(fields, {"ids": [row["id"] for row in rows], "ask": ask})


def _ask_about_phrases(units: Mapping[str, list[Record]]) -> Iterator[Question]:
    for unit, (record,) in units.items():
        windows = []
        for start, end in list_windows(len(record["tokens"])):
            windows.append(_show_phrases(record, start, end))
        yield Question(unit, unit, windows)


def _show_phrases(record: Record, start: int, end: int) -> Window:
    """Show the words of a window, with the noun phrases inside it in brackets."""
    phrases = [
        phrase
        for phrase in record["nps"]
        if start <= phrase["first_token"] and phrase["last_token"] < end
    ]
    openings: dict[int, str] = {}
    closings: Counter[int] = Counter()
    # Of phrases that begin at the same word, the longest is the outermost.
    for phrase in sorted(phrases, key=lambda phrase: -phrase["last_token"]):
        first = phrase["first_token"]
        openings[first] = openings.get(first, "") + f"[{phrase['id'][2:]} "
        closings[phrase["last_token"]] += 1
    words = []
    for token in range(start, end):
        word = openings.get(token, "") + record["tokens"][token]
        words.append(word + "]" * closings[token])
    numbered = [{"number": phrase["id"][2:], "text": phrase["text"]} for phrase in phrases]
    fields = {"text": " ".join(words), "phrases": numbered}
    return Window(fields, {"id": record["id"], "nps": [phrase["id"] for phrase in phrases]})


def _ask_about_documents(scorer: Scorer, units: Mapping[str, list[Record]]) -> Iterator[Question]:
    from closeread.tasks.coref.documents import Documents, are_known

    key = cast(Documents, scorer.gold.records)
    for document in key.documents:
        name = document.name
        if name not in units:
            continue
        tokens = document.words.read()
        if not are_known(tokens):
            raise RequestError(f"document {name} of the key has no words")
        windows = []
        for start, end in list_windows(len(tokens)):
            numbered = [{"number": number, "text": tokens[number]} for number in range(start, end)]
            subject = {"document": name, "tokens": [start, end]}
            windows.append(Window({"tokens": numbered}, subject))
        yield Question(name, name, windows)


def _ask_about_timelines(scorer: Scorer, units: Mapping[str, list[Record]]) -> Iterator[Question]:
    from closeread.tasks.timeline.timeline_mentions import timelines_of

    timelines = timelines_of(scorer.gold.records)
    parts = timelines.splits or {"": timelines}
    documents = {name: list(map(_show_document, part.documents)) for name, part in parts.items()}
    if not any(documents.values()):
        raise RequestError("these timelines have no documents")
    for unit, (record,) in units.items():
        split = unit.partition("/")[0] if timelines.splits else ""
        subject = {"id": record["id"], "entity": record["entity"]}
        fields = {"documents": documents[split], "entity": record["entity"]}
        yield Question(unit, unit, [Window(fields, subject)])


def _show_document(document: Record) -> dict[str, Any]:
    sentences: dict[int, list[str]] = {}
    for token, sentence in zip(document["tokens"], document["sentences"], strict=True):
        sentences.setdefault(sentence, []).append(token)
    lines = [{"number": number, "text": " ".join(words)} for number, words in sentences.items()]
    return {"id": document["id"], "date": document["creation_time"], "sentences": lines}
