"""The procedure `tlinks`: its options, metrics and sides; `closeread.tasks.tlinks.counting` defines the counts."""

from __future__ import annotations

from closeread.corpus.citing import papers
from closeread.counts.metrics import Ratio, precision_recall_f1
from closeread.counts.procedure import Help, Option, Procedure, missing_option
from closeread.tasks.tlinks.counting import MATCHINGS, REDUCTIONS, count
from closeread.tasks.tlinks.kernels.temporal_graph import DURINGS
from closeread.tasks.tlinks.sides import TimeMLSides

PROCEDURE = Procedure(
    name="tlinks",
    version=1,
    title="temporal awareness over the links of TimeML files",
    unit="document",
    resampling_unit="document",
    options=(
        missing_option("empty"),
        Option(
            "matching",
            MATCHINGS,
            "id",
            "Match events and times of the two sides by id, by equal extents in the text (strict), or by overlapping "
            "extents (relaxed).",
        ),
        Option(
            "reduction",
            REDUCTIONS,
            "sequential",
            "Count only links that do not follow from earlier links (sequential), or all links (none).",
        ),
        Option(
            "during",
            tuple(DURINGS),
            "simultaneous",
            "Treat DURING and DURING_INV as SIMULTANEOUS, or as Allen's overlaps and its inverse.",
        ),
    ),
    metrics=precision_recall_f1(
        "awareness",
        "Awareness",
        Ratio("awareness/verified_of_system", "awareness/system", "Reduced system links that the gold links verify."),
        Ratio("awareness/verified_of_gold", "awareness/gold", "Reduced gold links that the system links verify."),
    ),
    headline="awareness/f1",
    modules=(),
    count=count,
    breakdowns=("type",),
    sides=TimeMLSides(),
    help=Help(
        """Key and response are TimeML files, or folders of them, whose documents are matched by file name. Links that
contradict earlier ones are reported on standard error; they are counted, but ignored for inference. So are links of
an interval with itself, except that SIMULTANEOUS, IDENTITY and DURING are true of any interval, and not counted.""",
        key="key/",
        response="response/",
        flags=("--by type --per-unit", "--matching relaxed"),
    ),
    citation=papers("uzzaman-etal-2013-semeval")[0],
    references={"awareness": papers("uzzaman-allen-2011-temporal", "uzzaman-etal-2013-semeval")},
)
