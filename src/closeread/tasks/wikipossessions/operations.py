"""Operations on WikiPossessions: commands, and functions in Python."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from closeread.parameters import (
    GoldSource,
    Operations,
    Param,
    Source,
    Sources,
    Written,
    within,
)
from closeread.progress import track

if TYPE_CHECKING:
    from closeread.corpus.figures import Drawing
    from closeread.counts.results import Result

CORPUS = "wikipossessions"


def possession(
    article: str,
    *,
    place: Annotated[GoldSource, Param(corpus=CORPUS)],
    predictions: Annotated[Source | None, Param(metavar="FILE")] = None,
) -> Drawing:
    """Draw the possession timeline of an article.

    Possessors are drawn in order, with their anchors below: persons as rectangles, locations as rounded rectangles,
    organisations as ovals.  Dashed lines mean uncertain.  Predicted possessors that are not in gold are marked.

    \b
    Examples:
      closeread plot possession "The Blue Kettle (painting)" --config sample \\
        -o kettle.png
      closeread plot possession "The Night Café" --predictions mine.jsonl \\
        -o cafe.svg

    Args:
        article: its title.
        predictions: Draw a system's predictions for the article below gold.
    """
    from closeread.corpus.figures import Drawing
    from closeread.corpus.gold import read_corpus_gold
    from closeread.corpus.notices import warn_all
    from closeread.corpus.predictions import read_prediction
    from closeread.exceptions import pluralize
    from closeread.tasks.wikipossessions.plots import draw_timeline, find_article

    gold = read_corpus_gold(place)
    possessions = find_article(gold.records, article)["possessions"]
    drawn = pluralize(len(possessions), "possession")
    predicted = None
    if predictions is not None:
        predicted = read_prediction(gold, predictions, article)["possessions"]
        drawn += f", {len(predicted):,} predicted"
    warn_all(gold.notices_about(article))
    return Drawing(draw_timeline(article, possessions, predicted), drawn)


def agreement(
    annotators: Annotated[Sources, Param(metavar="FILES...")],
    **options: Annotated[str, Param(declared="agreement", corpus="wikipossessions")],
) -> Result:
    """Score the second annotator against the first.

    Possessors and ordered pairs are scored, and Cohen's kappa of the labels is added.  Each file is an annotator.  With
    more than two, each is scored against all earlier ones, and F1 scores and kappas are averaged over pairs.

    Files are in the corpus's format, JSON Lines or Parquet.  Labels and ordered pairs are compared on the possessors
    that both annotators have, as in the paper; --pairs all compares the ordered pairs of all possessors.

    \b
    Examples:
      closeread agreement wikipossessions anna.csv ben.csv
      closeread agreement wikipossessions anna.csv ben.csv cem.csv --pairs all
      closeread agreement wikipossessions anna.csv ben.csv --setting partial \\
        --json
    """
    from closeread.tasks.wikipossessions.agreement import compare_annotators

    return compare_annotators(annotators, **options)


def articles(
    folder: Annotated[Path, Param(kind="write")],
    *,
    as_of: Annotated[date, Param(metavar="DATE")],
    place: Annotated[GoldSource, Param(corpus=CORPUS)],
    api: Annotated[str | None, Param(metavar="URL")] = None,
    contact: Annotated[str, Param(metavar="TEXT")] = "",
    delay: Annotated[float, within(0, 3600), Param(metavar="SECONDS")] = 1.0,
) -> Written:
    """Fetch the texts of articles from Wikipedia.

    They are written into FOLDER, as <title>.txt.  Texts are plain, with headings as `== History ==`.  The file
    manifest.jsonl in FOLDER lists their revisions.  Articles that are already there are not fetched again, so the same
    command resumes an interrupted one.  Moved articles are found under their new titles.

    \b
    Examples:
      closeread prepare wikipossessions articles texts --as-of 2017-06-12 \\
        --contact me@example.org
      closeread prepare wikipossessions articles more --gold mine.csv --as-of 2017-06-12

    Args:
        folder: the folder.
        as_of: Fetch the last revision of this day (UTC) of each article; the corpus was downloaded on 2017-06-12.
        api: Use this MediaWiki API.  [default: English Wikipedia's]
        contact: Your e-mail address or web page, sent with each request, as Wikimedia asks.
        delay: Wait at least this long between two requests.
    """
    from contextlib import closing
    from datetime import UTC, datetime

    from closeread.corpus.notices import warn
    from closeread.corpus.predictions import read_noted_gold
    from closeread.exceptions import RequestError, name_option, pluralize, quote
    from closeread.tasks.wikipossessions.articles import WIKIPEDIA, Wiki, fetch_articles

    if as_of >= datetime.now(UTC).date():
        raise RequestError(
            f"{name_option('as_of').rstrip('=')} is {as_of:%Y-%m-%d} (expected a day that is over)"
        )
    titles = [record["article"] for record in read_noted_gold(place).records]
    with closing(Wiki(api or WIKIPEDIA, delay, contact)) as wiki:
        rows, n_fetched = fetch_articles(
            titles, folder, as_of, wiki, lambda lacking: track(lacking, "fetching", len(lacking))
        )
    for row in rows:
        if row["page"] != row["title"]:
            warn(f"{quote(row['title'])} redirects to {quote(row['page'])}.")
    n_present = len(titles) - n_fetched
    fetched = f"{pluralize(n_fetched, 'article')} fetched, {n_present:,} already there"
    return Written(folder, fetched, rows)


OPERATIONS: Operations = {
    "agreement": {CORPUS: agreement},
    "plot": {"possession": possession},
    f"prepare {CORPUS}": {"articles": articles},
}
