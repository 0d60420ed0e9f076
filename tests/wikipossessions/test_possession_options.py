"""Options of WikiPossessions with free values: which are accepted, and how they are normalized."""

import pytest
from shared.for_each import for_each

from closeread.exceptions import RequestError
from closeread.tasks.wikipossessions.procedure import PROCEDURE

DECIMAL = "(expected a decimal number such as 0.1)"
YEAR = "(expected a year such as 2017)"


@for_each(
    ("option", "value", "message"),
    [
        ("tolerance", "x", f"option tolerance: 'x' is not valid {DECIMAL}"),
        ("tolerance", "-0.1", f"option tolerance: '-0.1' is not valid {DECIMAL}"),
        ("tolerance", "0.1\n", f"option tolerance: '0.1\\n' is not valid {DECIMAL}"),
        ("tolerance", float("nan"), f"option tolerance: 'nan' is not valid {DECIMAL}"),
        ("now_year", "now", f"option now_year: 'now' is not valid {YEAR}"),
        ("setting", "loose", "option setting: 'loose' is not one of 'exact', 'partial'"),
    ],
)
def test_invalid_values(option, value, message):
    with pytest.raises(RequestError) as error:
        PROCEDURE.resolve_options({option: value})
    assert str(error.value) == message


@for_each(("option", "given", "canonical"), [
    ("tolerance", "0.10", "0.1"), ("tolerance", 0.0, "0"), ("tolerance", "00.1", "0.1"), ("tolerance", 1.0, "1"),
    ("tolerance", "100", "100"), ("now_year", "02017", "2017"), ("now_year", "-0", "0"), ("now_year", "-0044", "-44"),
])  # fmt: skip
def test_equal_computations_have_equal_signatures(option, given, canonical):
    options = PROCEDURE.resolve_options({option: given})
    assert options[option] == canonical
    assert PROCEDURE.signature(options, "0" * 64) == PROCEDURE.signature(
        PROCEDURE.resolve_options({option: canonical}), "0" * 64
    )


def test_free_values_are_kept_as_text():
    for tolerance, year in ((0.1, 2026), ("0.05", -44), (0, 0), ("12", 99999), ("10.101", 1000)):
        options = PROCEDURE.resolve_options({"tolerance": tolerance, "now_year": year})
        assert (options["tolerance"], options["now_year"]) == (str(tolerance), str(year))
    assert list(options) == [option.name for option in PROCEDURE.options]
    assert all(option.default in (option.choices or (option.default,)) for option in PROCEDURE.options)
    assert all(option.choices[0] == option.default for option in PROCEDURE.options if option.choices)


def test_the_signature_names_an_option_that_was_added_later_only_if_it_is_changed():
    default, anchored = (PROCEDURE.resolve_options({"relation_requires": value}) for value in ("none", "anchor"))
    assert "relation_requires" not in PROCEDURE.signature(default, "0" * 64)
    assert "|relation_requires:anchor|" in PROCEDURE.signature(anchored, "0" * 64)
