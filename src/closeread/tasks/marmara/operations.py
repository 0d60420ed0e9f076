"""What users can do with the Marmara corpus."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TextIO

from closeread.corpus.notices import warn_all
from closeread.exceptions import RequestError, describe_problems, pluralize
from closeread.files import open_text, replacing, text_suffix, write_text
from closeread.parameters import (
    GoldSource,
    Operations,
    Output,
    Param,
    Seed,
    Write,
    Written,
)
from closeread.progress import track

if TYPE_CHECKING:
    from closeread.corpus.gold import Gold
    from closeread.records import Record

Folder = Annotated[Path, Param(metavar="DIR")]
Only = Annotated[Sequence[str], Param(metavar="DOCUMENT")]
Anything = Annotated[Output, Param(metavar="PATH")]
CORPUS = "marmara_coref"
Documents = Annotated[GoldSource, Param(corpus=CORPUS)]


def convert(
    source: Annotated[Path, Param(metavar="SOURCE")],
    *,
    output: Anything | None = None,
    data_dir: Folder | None = None,
    treebank: Folder | None = None,
) -> Written:
    """Convert the coreference of Marmara.

    SOURCE is a coreference file in XML, a folder of such files, or a file of records (.jsonl).  An output without a
    suffix is a folder with one coreference file for each document.  CoNLL has four columns: sentence number, word
    number, form and chains.  Spans and chains in XML are checked against the treebank.  Notes say what is lost.

    \b
    Examples:
      closeread convert marmara_coref coreference -o marmara.conll
      closeread convert marmara_coref coreference/00016112.xml \\
        --treebank treebank -o 00016112.conll
      closeread convert marmara_coref marmara.jsonl -o new_coreference

    Args:
        output: Write to this file (.conll, .jsonl or .xml) or to this new folder of coreference files.
        treebank: Read the METU-Sabanci Turkish Treebank from this folder.
    """
    from closeread.tasks.marmara.converting import (
        find_losses,
        locate_treebank,
        read_source,
        write_source,
    )

    content = read_source(source, lambda: locate_treebank(data_dir, treebank))
    warn_all(content.notices)
    if output is not None:
        write_source(content, output)
        warn_all(f"lost: {loss}." for loss in find_losses(content, output))
    return Written(output, pluralize(len(content.documents), "document"), content.documents)


def convert_given(
    source: Annotated[Path, Param(metavar="SOURCE")],
    *,
    output: Output | None = None,
    data_dir: Folder | None = None,
    treebank: Folder | None = None,
) -> Written:
    """Write all mentions of Marmara as CoNLL.

    Each mention is a chain of its own, as in the files that annotators are given.  SOURCE is a coreference file, a
    folder of coreference files, or a file of records (.jsonl).  Mentions are numbered from 1 in each document, by their
    start, then the longer first.

    \b
    Examples:
      closeread prepare marmara_coref mentions coreference/00016112.xml -o given.conll
      closeread prepare marmara_coref mentions coreference -o given.conll --treebank treebank

    Args:
        treebank: Read the METU-Sabanci Turkish Treebank from this folder.
    """
    from closeread.tasks.marmara.converting import dump_given, locate_treebank, read_source

    if output is not None and text_suffix(output) != ".conll":
        raise RequestError(
            f"cannot write {output}: the suffix is '{output.suffix}' (expected .conll)"
        )
    content = read_source(source, lambda: locate_treebank(data_dir, treebank))
    if output is not None:
        try:
            text = dump_given(content)
        except ValueError as error:
            raise RequestError(f"cannot write {output}: {error}") from None
        write_text(output, text)
    warn_all(content.notices)
    return _report(output, content.documents, "mention", "mentions")


def extract(
    fragments: Path,
    *,
    output: Annotated[Output, Param(metavar="DIR")],
    splits: Annotated[Sequence[str], Param(flag="--split", metavar="SENTENCE")] = (),
) -> Written:
    """Extract the documents of the METU-Sabanci treebank.

    Each document of the Marmara corpus is written as a well-formed XML file.  FRAGMENTS is the folder with the
    treebank's .xml files as they are distributed, in windows-1254, each named by its document (8 digits) and a number.
    Quotation marks, <, > and & inside words are escaped; any other error in a file is reported, and then nothing is
    written. Notes list odd attributes, which are copied as they are.

    \b
    Examples:
      closeread prepare marmara_coref treebank fragments/ -o treebank
      closeread prepare marmara_coref treebank fragments/ -o treebank \\
        --split 77000112003.5

    Args:
        output: Write to this folder, which must be new or empty.
        splits: Begin a new document, ID_2, with this sentence, such as 77000112003.5; may be repeated.
    """
    from closeread.tasks.marmara import extraction

    documents, notices = extraction.extract(fragments, splits)
    warn_all(describe_problems(str(fragments), notices))
    extraction.write_documents(output, documents)
    n_sentences = 0
    n_tokens = 0
    for sentences in documents.values():
        n_sentences += len(sentences)
        n_tokens += sum(len(sentence.words) for sentence in sentences)
    return Written(
        output,
        f"{pluralize(len(documents), 'document')}, {pluralize(n_sentences, 'sentence')}, {pluralize(n_tokens, 'token')}",
    )


def mentions(
    *,
    derived_modifiers: Literal["exclude", "include"] = "exclude",
    only: Only = (),
    place: Documents,
    output: Output | None = None,
) -> Written:
    """Detect mentions, each a chain of its own.

    They are found by rules; no coreference annotation is needed.  Mentions are noun phrases, pronouns, nouns whose
    lemma has a capital, and nouns with a capital that occur twice or more in the document.

    \b
    Examples:
      closeread baseline marmara_coref mentions --config sample -o mentions.conll
      closeread baseline marmara_coref mentions --treebank treebank \\
        -o mentions.jsonl

    Args:
        derived_modifiers: Include or exclude modifiers derived from verbs (participles), and their dependents, in noun
            phrases.
        only: Predict only this document; may be repeated.
        output: Write to this file, in the format of its suffix: .jsonl or .conll.
    """
    from closeread.tasks.marmara.baseline import predict_mentions, select_documents

    _check_suffix(output)
    records = _read_text(place).records
    rows = predict_mentions(select_documents(records, only), derived_modifiers=derived_modifiers)
    if output is not None:
        write_text(output, _dump(output, records, rows))
    return _report(output, rows, "mention")


@dataclass(frozen=True)
class ChainLearner:
    """How chains are learnt.

    Attributes:
        mentions: Link gold mentions, or those that `mentions` finds.
        features: Use features from the treebank (T), these and word vectors (TF), or these and the first 15 principal
            components of word vectors (TP).
        vectors: Read word vectors from this file in word2vec's text format (.vec, .vec.gz); for TF and TP.
        pronouns: Read the lemmas of pronouns from this file, one per line, instead of the usual 13.
        derived_modifiers: Include or exclude modifiers derived from verbs (participles), and their dependents, in noun
            phrases.
        only: Predict only this document; may be repeated.
        links: Also write all candidate links to this file, as JSON Lines, with their features and scores.
    """

    mentions: Literal["gold", "predicted"] = "gold"
    features: Literal["T", "TF", "TP"] = "T"
    vectors: Annotated[Path | None, Param(metavar="FILE")] = None
    pronouns: Annotated[Path | None, Param(metavar="FILE")] = None
    derived_modifiers: Literal["exclude", "include"] = "exclude"
    seed: Seed = 0
    only: Only = ()
    links: Write | None = None


DEFAULT = ChainLearner()


def svc(
    *, learner: ChainLearner = DEFAULT, place: Documents, output: Output | None = None
) -> Written:
    """Link mentions by a support vector machine (classification).

    Each mention is linked with all earlier ones that a linear support vector classifier says are coreferent.  Each
    document is predicted by a model that is trained on all other documents.

    \b
    Examples:
      closeread baseline marmara_coref svc --config sample -o svc.jsonl
      closeread baseline marmara_coref svc -o svc.conll --links links.jsonl
      closeread baseline marmara_coref svc --features TP \\
        --vectors wiki.tr.vec.gz -o svc.jsonl

    Args:
        output: Write to this file, in the format of its suffix: .jsonl or .conll.
    """
    return _link("svc", learner, place, output)


def svr(
    *, learner: ChainLearner = DEFAULT, place: Documents, output: Output | None = None
) -> Written:
    """Link mentions by a support vector machine (regression).

    Each mention is linked with the earlier one that linear support vector regression gives the best score, above 0.1.
    Each document is predicted by a model that is trained on all other documents.

    \b
    Examples:
      closeread baseline marmara_coref svr --config sample -o svr.jsonl
      closeread baseline marmara_coref svr --mentions predicted -o svr.conll
      closeread baseline marmara_coref svr --only 00002213 -o svr.jsonl \\
        --links links.jsonl

    Args:
        output: Write to this file, in the format of its suffix: .jsonl or .conll.
    """
    return _link("svr", learner, place, output)


def _link(method: str, learner: ChainLearner, place: GoldSource, output: Path | None) -> Written:
    """Predict with one of the learners, and write its chains and, if asked for, its candidate links."""
    from closeread.corpus.gold import read_corpus_gold
    from closeread.formats.json_lines import dump_json_lines
    from closeread.tasks.marmara.baseline import predict

    _check_suffix(output)
    gold = read_corpus_gold(place)
    warn_all(gold.notices)
    if (method, learner.mentions) == ("svc", "predicted"):
        warn_all(
            ["svc on predicted mentions links nearly all of them in a single chain (svr does not)"]
        )
    rows: list[Record] = []
    with ExitStack() as stack:
        files: dict[Path, TextIO] = {}
        for path in (output, learner.links):
            if path is not None:
                draft = stack.enter_context(replacing(path))
                files[path] = stack.enter_context(open_text(draft, path))
        total = len(set(learner.only)) or len(gold.records)
        for prediction in track(predict(gold.records, method, learner), "predicting", total):
            rows.append(prediction.row)
            if learner.links is not None:
                # One by one: a document may have hundreds of thousands.
                for link in prediction.iterate_links():
                    files[learner.links].write(dump_json_lines([link]))
        if output is not None:
            files[output].write(_dump(output, gold.records, rows))
    return _report(output, rows, "chain")


def _read_text(place: GoldSource) -> Gold:
    """Read the corpus, without coreference if there is none.

    Where there is coreference it is read, since it says which file of the treebank holds two documents.
    """
    from closeread.corpus.gold import read_corpus_gold
    from closeread.corpus.sources import data_folder

    files = place.files
    folder = files.data_dir or data_folder(CORPUS)
    has_coreference = "coreference" in files.folders
    if folder is not None and (folder / "coreference").is_dir():
        has_coreference = True
    if place.config in (None, "default") and place.gold is None and not has_coreference:
        without_coreference = {**files.folders, "coreference": None}
        place = replace(place, files=replace(files, folders=without_coreference))
    gold = read_corpus_gold(place)
    warn_all(gold.notices)
    return gold


def _check_suffix(path: Path | None) -> None:
    if path is not None and text_suffix(path) not in (".jsonl", ".conll"):
        raise RequestError(f"{path}: the suffix is '{path.suffix}' (expected .jsonl or .conll)")


def _dump(path: Path, records: Sequence[Record], rows: Sequence[Record]) -> str:
    """Return predictions for some records of the corpus as the text of a file."""
    from closeread.formats.json_lines import dump_json_lines
    from closeread.tasks.marmara.conll import dump_conll

    if text_suffix(path) == ".jsonl":
        return dump_json_lines(rows)
    records_by_name = {record["document"]: record for record in records}
    documents = [records_by_name[row["document"]] for row in rows]
    try:
        return dump_conll(documents, [row["clusters"] for row in rows])
    except ValueError as error:
        raise RequestError(f"{error}; choose a file name that ends in .jsonl") from None


def _report(
    path: Path | None, documents: Sequence[Record], noun: str, field: str = "clusters"
) -> Written:
    """Say how many documents were written, and how many of what a field of theirs has."""
    number = sum(len(document[field]) for document in documents)
    return Written(
        path, f"{pluralize(len(documents), 'document')}, {pluralize(number, noun)}", documents
    )


OPERATIONS: Operations = {
    "baseline marmara_coref": {"mentions": mentions, "svc": svc, "svr": svr},
    "convert": {"marmara_coref": convert},
    "prepare marmara_coref": {
        "mentions": convert_given,
        "treebank": extract,
    },
}
