"""Coreference: mentions, MUC, B-cubed, CEAF, BLANC, LEA and CoNLL F1, from one contingency table.

Sources: Vilain et al. (1995), Bagga and Baldwin (1998), Luo (2005), Recasens and Hovy (2011), Luo et al. (2014),
Moosavi and Strube (2016); where they leave a choice, the reference scorer (Pradhan et al. 2014, version 8.01).

Conventions: the unit, also for resampling, is the document.  Numerators and denominators are summed over documents and
then divided (`average="micro"`), or the scores of documents are averaged (`"documents"`).  0/0 is 0;
in averages over documents, `undefined` says whether it counts.

Metrics:
    mentions, muc, b3, ceafm, ceafe, blanc, lea: precision, recall and F1 of each.
    conll/f1: the mean of the F1 of MUC, B-cubed and CEAFe.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, Literal

import numpy as np

from closeread.arrays import Floats
from closeread.corpus.citing import papers
from closeread.counts.metrics import Metric, average, unit_scores
from closeread.counts.procedure import (
    Help,
    Option,
    PathOption,
    Preset,
    Procedure,
    average_options,
    check_present,
    missing_option,
    name_documents,
)
from closeread.counts.table import CountTable
from closeread.tasks.coref import crac
from closeread.tasks.coref.crac import COREFUD, ZABOKRTSKY_2022
from closeread.tasks.coref.document_fields import list_fields
from closeread.tasks.coref.documents import documents_of
from closeread.tasks.coref.formats import FORMATS, STANDOFF_HELP
from closeread.tasks.coref.key_response import CoreferenceReader
from closeread.tasks.coref.metrics.entity import EDGES, LINKS
from closeread.tasks.coref.metrics.matching import ZEROS, match_sides, order_entities_by_text
from closeread.tasks.coref.metrics.scores import (
    BLANC,
    BOTH_SIDES,
    EACH_SIDE,
    IN_CONLL,
    OF_ENTITIES,
    SELECTED,
    TITLES,
    compare_sides,
    name_columns,
    scores_of,
)
from closeread.tasks.coref.metrics.slices import FIELDS, count_slices, find_lacking, require_fields


def make_name_option(name: str, text: str) -> Option:
    """Return an option whose value is a name in a file; empty to find it."""
    # The gold's digest and the file tell which annotator and which fields were read.
    is_signed = name in ("relation", "entity_feature")
    signed: Literal["if_changed", "never"] = "if_changed" if is_signed else "never"
    return Option(name, (), "", text, "(?s).*", "a name", signed=signed, reading=True)


def count(
    *,
    gold: Any,
    system: Any,
    metrics: Sequence[str] = tuple(TITLES),
    missing: str = "empty",
    duplicates: str = "error",
    keep_singletons: str = "true",
    blanc_edge: str = "reference",
    average: str = "micro",
    undefined: str = "skip",
    matching: str = "exact",
    zeros: str = "linear",
    split_antecedents: str = "ignore",
    windows: str = "none",
    breakdowns: Sequence[str] = (),
) -> CountTable:
    """Count every document.

    Args:
        gold: the entities of each document, each a list of mentions [start, end] or [start, end, head]; or a record
            with the entities as `clusters` and the document's name as `document`.
        system: the same documents in the same order; None for a document without a response.
        metrics: names of metrics, from `TITLES` and `SELECTED`.
        missing: whether documents without a response count as "empty", are left out ("skip"), or are an "error".
        duplicates, keep_singletons, blanc_edge, average, undefined, matching, zeros, split_antecedents, windows: the
            options of `PROCEDURE`.
        breakdowns: names from `closeread.tasks.coref.metrics.slices.FIELDS`.

    Raises:
        ValueError: a document has no response and `missing` is "error", or a mention occurs twice and `duplicates` is
            "error".
        RequestError: an option needs something that a side does not have, such as heads.
    """
    key = documents_of(gold)
    response = documents_of(system)
    names = key.names
    is_counted = np.array([name not in response.broken for name in names], bool)
    if missing != "empty":
        is_present = np.array(response.are_present(), bool)
        check_present(is_present | ~is_counted, "documents", missing, "response")
        if missing == "skip":
            is_counted &= is_present
    if windows != "none":
        from closeread.tasks.coref.windows import cut_windows

        key, response = cut_windows(key, response, windows, metrics)
    if duplicates == "last" and matching != "minimum":
        key, response = map(order_entities_by_text, (key, response))
    matched = match_sides(key, response, duplicates, keep_singletons, matching, zeros)
    options = {
        "duplicates": duplicates,
        "keep_singletons": keep_singletons,
        "average": average,
        "matching": matching,
        "zeros": zeros,
        "split_antecedents": split_antecedents,
    }
    computed = {"mentions", *metrics}
    if "conll" in metrics:
        computed.update(IN_CONLL)
    counted = [name for name in OF_ENTITIES if name in computed]
    # These have numerators of their own for recall and precision.
    each_side = {"b3", "lea"}
    if duplicates == "last" or matching == "minimum":
        each_side.add("muc")
    columns: dict[str, Floats] = {}
    with name_documents(names):
        count_entities = compare_sides(matched, duplicates, matching)
        if split_antecedents != "ignore":
            from closeread.tasks.coref.universal_anaphora.split_antecedents import (
                check_options,
                split_columns,
            )

            check_options(metrics, options, breakdowns)
            columns = split_columns((key, response), matched, counted, split_antecedents)
            counted = ["mentions"]
        for name in counted:
            counts = count_entities(name)
            if name == "blanc":
                columns |= name_columns(BLANC[blanc_edge], LINKS, counts)
            elif name in each_side:
                columns |= name_columns(name, EACH_SIDE, counts)
            else:
                columns |= name_columns(name, BOTH_SIDES, counts[:, [0, 1, 3]])
            if name == "muc" and matched.aliases is not None and duplicates != "last":
                columns["muc/found_of_response"] = counts[:, 2]
        for name in SELECTED:
            if name in metrics:
                from closeread.tasks.coref.metrics.mentions import count_selected

                columns |= name_columns(name, BOTH_SIDES, count_selected(name, matched))
    if average == "documents":
        columns = unit_scores(columns, _scores(metrics), undefined=undefined)
    table = replace(CountTable.of_columns(list(names), columns), fields=list_fields(key))
    if breakdowns:
        require_fields(key, response, options, breakdowns)
        table = replace(table, breakdowns=count_slices(breakdowns, matched))
    return table.select(is_counted)


def _scores(metrics: Sequence[str]) -> tuple[Metric, ...]:
    """Precision, recall and F1 of each metric, from summed counts or as means over documents."""
    names = [name for name in (*TITLES, *SELECTED) if name in metrics]
    return average(chain.from_iterable(map(scores_of, names)))


VILAIN_1995 = papers("vilain-etal-1995-model")
BAGGA_1998 = papers("bagga-baldwin-1998-algorithms")
LUO_2005 = papers("luo-2005-coreference")
LUO_2014 = papers("luo-etal-2014-extension")
PRADHAN_2014 = papers("pradhan-etal-2014-scoring")
YU_2023 = papers("yu-etal-2023-universal")
YU_2022 = papers("yu-etal-2022-universal") + YU_2023

PROCEDURE = Procedure(
    name="coref",
    version=1,
    title="coreference: mentions, MUC, B³, CEAF, BLANC, LEA and CoNLL F1",
    unit="document",
    resampling_unit="document",
    options=(
        missing_option("empty"),
        Option(
            "duplicates",
            ("error", "first", "reference", "last"),
            "error",
            "What to do with a mention of several entities: reject it (in a key, count it as the reference scorer "
            "does); keep it in its first entity of the text; count it as the reference scorer does; or keep it in all, "
            "its own being the last of the text, as coval and the scorers of CorefUD and Universal Anaphora do.",
            references=PRADHAN_2014 + papers("moosavi-etal-2019-using") + ZABOKRTSKY_2022,
        ),
        Option(
            "keep_singletons",
            ("true", "false"),
            "true",
            "Score entities of one mention; if false, drop them from both sides.",
        ),
        Option(
            "blanc_edge",
            EDGES,
            "reference",
            "How to compute BLANC when one kind of link is absent: as the reference scorer does, or as in Luo et al. "
            "(2014).",
            references=PRADHAN_2014 + LUO_2014,
        ),
        *average_options("document"),
        Option(
            "matching",
            ("exact", "head", "partial", "minimum"),
            "exact",
            "How to match mentions: by the same tokens, by the same head, if the response's lies within the key's, or by "
            "the same minimum span (MINA).",
            references=papers("moosavi-etal-2019-using") + ZABOKRTSKY_2022,
        ),
        Option(
            "words",
            ("error", "warn", "ignore", "align"),
            "error",
            "How to treat words of the response that differ from the key's: reject them, score and warn, score, or "
            "align them with the key's.",
            signed="if_changed",
            reading=True,
        ),
        Option(
            "word_column",
            (),
            "auto",
            "Read the words of CoNLL files from this column, from 1; auto guesses it.",
            pattern="auto|[1-9][0-9]{0,5}",
            expected="auto or the number of a column, from 1",
            signed="never",
            reading=True,
        ),
        Option(
            "skip_invalid",
            ("false", "true"),
            "false",
            "Leave out the files of a folder that have errors, with a note, and their documents on the other side.",
            signed="if_changed",
            reading=True,
        ),
        Option(
            "zeros",
            ZEROS,
            "linear",
            "How to match zeros, mentions whose head is an empty node: by its place, by its dependencies, or by its "
            "dependencies with the lookups of corefud-scorer; or drop them from both sides.",
            signed="if_changed",
            references=ZABOKRTSKY_2022,
        ),
        Option(
            "split_antecedents",
            ("ignore", "score", "only"),
            "ignore",
            "How to treat entities with split antecedents in Universal Anaphora files: ignore that they have any, "
            "score their antecedents as one more mention, or score only these.",
            signed="if_changed",
            references=YU_2023,
        ),
        Option(
            "windows",
            (),
            "none",
            "Score long documents in windows of so many tokens, where an entity is one for each window; bookcoref:1500 "
            "has the windows of BOOKCOREF's script.",
            "none|(bookcoref:)?[1-9][0-9]{0,8}",
            "none, a number of tokens, or bookcoref: and a number",
            signed="if_changed",
        ),
        Option(
            "layer",
            (),
            "identity",
            "Choose the layer to score: identity or discourse_deixis of Universal Anaphora files, or the chains of an "
            "annotation tool's files.",
            "(?s).+",
            "the name of a layer",
            signed="if_changed",
            reading=True,
            references=YU_2022,
        ),
        *(make_name_option(name, text) for name, text in STANDOFF_HELP.items() if name != "layer"),
        Option(
            "extra",
            ("error", "skip"),
            "error",
            "How to treat documents of the response that the key lacks: refuse the response, or leave them out, with a "
            "note.",
            signed="never",
            reading=True,
        ),
        PathOption(
            "fields",
            (),
            "",
            "Read document fields to slice by from this file: CSV, TSV or JSON Lines with a column 'document' and "
            "others.",
            "(?s).*",
            "a path",
            signed="never",
            reading=True,
            metavar="FILE",
        ),
    ),
    metrics=_scores(tuple(TITLES)),
    more_metrics=_scores(SELECTED),
    presets={
        "conll2012": Preset(
            {"duplicates": "reference", "undefined": "zero", "extra": "skip"},
            ("mentions", "muc", "b3", "ceafm", "ceafe", "blanc", "conll"),
            "CoNLL-2011 and CoNLL-2012, reference scorer 8.01 (Pradhan et al. 2014)",
            PRADHAN_2014,
        ),
        "corefud": Preset(
            COREFUD,
            ("muc", "b3", "ceafm", "ceafe", "blanc", "lea", "conll", "mor", "zeros"),
            "CRAC shared tasks on multilingual coreference since 2024, corefud-scorer 1.2; the mean over treebanks if "
            "there are several",
            ZABOKRTSKY_2022,
        ),
        **crac.PRESETS,
        "codicrac_anaphora": Preset(
            {
                "duplicates": "last",
                "undefined": "zero",
                "zeros": "exclude",
                "split_antecedents": "score",
            },
            ("mentions", "muc", "b3", "ceafe", "conll"),
            "CODI-CRAC 2022, anaphora resolution, Universal Anaphora scorer 2.0 (Yu et al. 2022)",
            YU_2022,
        ),
        "codicrac_deixis": Preset(
            {
                "duplicates": "last",
                "zeros": "exclude",
                "split_antecedents": "score",
                "layer": "discourse_deixis",
            },
            ("mentions", "muc", "b3", "ceafe", "conll"),
            "CODI-CRAC 2022, discourse deixis, Universal Anaphora scorer 2.0 (Yu et al. 2022)",
            YU_2022,
        ),
        "codicrac_bridging": Preset(
            {"duplicates": "last", "undefined": "zero", "zeros": "exclude"},
            ("bridging_anaphors", "bridging_mentions", "bridging_entities"),
            "CODI-CRAC 2022, bridging, Universal Anaphora scorer 2.0 (Yu et al. 2022)",
            YU_2022,
        ),
    },
    headline="conll/f1",
    modules=("coref", *(f"coref_{name}" for name in TITLES if name != "mentions")),
    count=count,
    fields=("genre", "treebank", "language", "folder"),
    breakdowns=tuple(FIELDS),
    find_lacking=find_lacking,
    more_fields="columns of the file given as fields",
    aliases={
        "bcub": "b3",
        "bcubed": "b3",
        "ceaf": "ceafe",
        "ceaf_phi4": "ceafe",
        "ceaf_φ4": "ceafe",
        "entity_ceaf": "ceafe",
        "ceaf_phi3": "ceafm",
        "ceaf_φ3": "ceafm",
        "mention_ceaf": "ceafm",
        "avg": "conll",
        "average": "conll",
        "conll2012": "conll",
        "mention_detection": "mentions",
        "md": "mentions",
        "cluster_size": "entity_size",
        "size": "entity_size",
        "type": "mention_type",
        "pos": "mention_type",
        "upos": "mention_type",
        "antecedent_distance": "distance",
    },
    citation=PRADHAN_2014[0],
    references={  # predicted mentions are counted as in Pradhan et al. (2014)
        "mentions": PRADHAN_2014,
        "muc": VILAIN_1995,
        "b3": BAGGA_1998,
        "ceafm": LUO_2005,
        "ceafe": LUO_2005,
        "blanc": papers("recasens-hovy-2011-blanc") + LUO_2014,
        "lea": papers("moosavi-strube-2016-coreference"),
        "conll": papers("denis-baldridge-2009-global") + VILAIN_1995 + BAGGA_1998 + LUO_2005,
        "mor": ZABOKRTSKY_2022,
        "zeros": ZABOKRTSKY_2022,
        **dict.fromkeys(SELECTED[2:], YU_2022),
    },
    selective=True,
    always_counted=("mentions",),
    secondary=crac.SECONDARY,
    by_name=("document", "clusters"),
    help=Help(
        """KEY and RESPONSE are files, gzipped or not, folders of files, or - for standard input. The first line of a
file decides whether it is CoNLL, CorefUD, Universal Anaphora, ARRAU, JSON Lines, coref-data, CRAC's JSON or CRAC's text.
JSON Lines of neural systems and exports of annotation tools (INCEpTION, brat, Label Studio and others) are read, too.

Documents are matched by name; that of '#begin document (a); part 000' is 'a; part 000'. If both files have words, these
must be the same, except with --words warn or ignore: CoNLL-2012 has them in the fourth column, SemEval-2010 in the
second, other files in the last but one (see --word-column). Empty nodes of CorefUD may differ (see --zeros).

Fields for --by: genre, from names as in CoNLL-2012 and GUM; the columns of --fields; and of mentions entity_size,
mention_type, distance (tokens from the start of the antecedent) and zero. For a field of mentions, recall is over the
mentions of the key and precision over those of the response; CEAF, BLANC and CoNLL F1 have no such slices.""",
        key="key.conll",
        response="response.conll",
        flags=("--metrics lea --per-unit", "--preset corefud", "--by genre --by mention_type"),
        formats=[form.title for form in FORMATS.values()],
    ),
    reader=CoreferenceReader(),
)
