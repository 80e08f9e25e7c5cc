"""What is said of attributes in window and report: which values are tested."""

import pytest

from fairdesk.data.domain.attributes import Attribute, Role
from fairdesk.data.table import Kind
from fairdesk.wording.attributes import compared_values, texts_summary


def age(*compared, kind=Kind.INTEGER, step=0.0):
    return Attribute(
        "age", kind, low=18.0, high=22.0, role=Role.PROTECTED, compared=compared, step=step
    )


@pytest.mark.parametrize(
    ("attribute", "said"),
    [
        (age(18.0, 19.0, 20.0, 21.0, 22.0), "every whole number from 18 to 22"),
        (age(18.0, 20.0, 22.0, step=2.0), "every step of 2 from 18 to 22"),
        (Attribute("sex", Kind.NOMINAL, ("f", "m"), high=1.0, compared=(0.0, 1.0)), "f, m"),
    ],
)
def test_every_value_that_is_tested_is_named(attribute, said):
    assert compared_values(attribute).replace("\u00a0", " ") == said


def test_of_numbers_in_bins_the_midpoints_are_tested():
    said = compared_values(age(19.0, 21.0))
    assert said.startswith("19, 21: the midpoints of 2 bins")


def test_texts_are_counted_not_listed():
    assert texts_summary(("a", "bcd")) == "2 different texts of 1 to 3 characters"
