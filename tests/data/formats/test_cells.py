"""The names of columns: all there, and all different."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fairdesk.data.formats.raw_table import unique_names


@given(st.lists(st.text(max_size=4) | st.sampled_from(["a", "a (2)", "", "column 1"])))
def test_names_are_unique_and_kept_where_they_can_be(header):
    names = unique_names(header)
    assert len(set(names)) == len(header)
    assert all(names)
    for cell, name in zip(header, names, strict=True):
        assert name.startswith(cell.strip())


def test_names_are_made_where_they_lack():
    assert unique_names(["name", " name ", "", "name"]) == (
        "name",
        "name (2)",
        "column 3",
        "name (3)",
    )
    assert unique_names(["a", "a", "a (2)"]) == ("a", "a (3)", "a (2)")
