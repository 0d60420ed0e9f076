"""Files that the corpus's own baselines write: chains with the sentences, and candidate links."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from closeread.exceptions import RequestError
from closeread.files import open_text, replacing
from closeread.formats.json_lines import dump_json_lines
from closeread.records import Record
from closeread.tasks.coref.marmara.baseline import Prediction
from closeread.tasks.coref.marmara.conll_files import format_document, make_rows


def dump_conll(records: Sequence[Record], rows: Sequence[Record]) -> str:
    """Return rows as CoNLL, with the sentences of the corpus.

    Args:
        records: the records of the corpus.
        rows: predictions for some of them.

    Raises:
        RequestError: CoNLL can't express a word or a name.
    """
    sentences = {record["document"]: record["sentences"] for record in records}
    try:
        return "".join(
            format_document(row["document"], make_rows(sentences[row["document"]]), row["clusters"]) for row in rows
        )
    except ValueError as error:
        raise RequestError(f"{error}; choose a file name that ends in .jsonl") from None


@contextmanager
def writing_links(path: Path | None) -> Iterator[Callable[[Prediction], None]]:
    """Yield what writes the candidate links of a prediction to a file, which appears if the block succeeds.

    Args:
        path: the file, JSON Lines; None to write nothing.

    Raises:
        OSError: the file can't be written.
    """
    if path is None:
        yield lambda prediction: None
        return
    with replacing(path) as partial, open_text(partial, path) as file:
        # One by one: a document may have hundreds of thousands.
        yield lambda prediction: file.writelines(dump_json_lines([link]) for link in prediction.iterate_links())
