import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdesk.data.profiling.outcomes import canonical, favourable_rows, several, spelt_as
from fairdesk.data.table import Kind
from fairdesk.errors import DataError, SpecError
from tests import phrases
from tests.models.tables import names, number, table

ROWS = table(
    number("score", [10, 50, np.nan, 90]),
    number("rate", [0.5, 1.5, 2.5, 2.5], Kind.REAL),
    names("grade", ["good", "bad", None, "fair"]),
    names("home", ["rent", "rent or own", "own", "free"]),
    names("text", ["10", "9", ">= 50", "9"]),
)


@pytest.mark.parametrize(
    ("label", "favourable", "good", "known"),
    [
        ("grade", "good", [1, 0, 0, 0], [1, 1, 0, 1]),
        ("grade", "fair or good", [1, 0, 0, 1], [1, 1, 0, 1]),
        ("score", "50", [0, 1, 0, 0], [1, 1, 0, 1]),
        ("score", "50.0 or 90", [0, 1, 0, 1], [1, 1, 0, 1]),
        ("score", ">= 50", [0, 1, 0, 1], [1, 1, 0, 1]),
        ("score", "> 50", [0, 0, 0, 1], [1, 1, 0, 1]),
        ("score", "<=50", [1, 1, 0, 0], [1, 1, 0, 1]),
        ("rate", "< 1.5", [1, 0, 0, 0], [1, 1, 1, 1]),
        # a value is that value before it is anything else
        ("text", ">= 50", [0, 0, 1, 0], [1, 1, 1, 1]),
        ("home", "rent or own", [0, 1, 0, 0], [1, 1, 1, 1]),
        ("home", "rent or own or free", [0, 1, 0, 1], [1, 1, 1, 1]),
        ("home", "free or rent", [1, 0, 0, 1], [1, 1, 1, 1]),
    ],
)
def test_favourable_rows(label, favourable, good, known):
    found = favourable_rows(ROWS, label, favourable)
    assert [array.astype(int).tolist() for array in found] == [good, known]


@pytest.mark.parametrize(
    ("label", "wanted", "said"),
    [
        ("grade", " Good", "good"),
        ("grade", "good or FAIR", "fair or good"),
        ("score", "50.0", "50"),
        ("score", "90 or 50.0", "50 or 90"),
        ("score", " ≥50 ", ">= 50"),
        ("rate", ">1.50", "> 1.5"),
        ("text", "10.0", "10"),
    ],
)
def test_what_somebody_types_is_written_as_the_column_does(label, wanted, said):
    assert canonical(ROWS, label, wanted) == said
    favourable_rows(ROWS, label, said)


@pytest.mark.parametrize(
    ("label", "wanted", "told"),
    [
        ("grade", "great", f"{phrases.ITS_VALUES}: bad, fair, good"),
        ("grade", "good or great", phrases.ITS_VALUES),
        ("grade", ">= 50", phrases.ITS_VALUES),
        ("score", "51", "Write a limit like “>= 50”"),
        ("score", ">= 5", "every value"),
        ("score", "< 10", "no value"),
    ],
)
def test_what_is_no_value_is_refused_with_those_there_are(label, wanted, told):
    with pytest.raises(SpecError, match=told):
        canonical(ROWS, label, wanted)


def test_a_value_that_is_gone_is_told():
    with pytest.raises(DataError, match="no value “great”"):
        favourable_rows(ROWS, "grade", "great")


def test_an_empty_label_and_a_long_one():
    empty = table(names("x", [None] * 100), number("y", list(range(100))))
    with pytest.raises(SpecError, match="is empty"):
        canonical(empty, "x", "a")
    with pytest.raises(SpecError, match=r"… \(100 in all\)"):
        canonical(empty, "y", "a")


def test_other_spellings_of_a_value():
    assert spelt_as("1.0", ("0", "1")) == 1
    assert spelt_as("TRUE", ("0", "1")) == 1
    assert spelt_as("yes ", ("Yes", "no")) == 0
    assert spelt_as("yes", ("Yes", "yes")) == 1
    assert spelt_as("YES", ("Yes", "yes")) is None


@given(st.sets(st.sampled_from(["a", "b", "a or b", "or", "c d"]), min_size=1))
def test_any_values_joined_are_found_again(chosen):
    values = ("a", "b", "a or b", "or", "c d")
    found = {values[i] for i in several(" or ".join(sorted(chosen)), values)}
    # what can be read in two ways is read as the longer value
    assert found == chosen or ({"a", "b"} <= chosen and found == chosen - {"a", "b"} | {"a or b"})
