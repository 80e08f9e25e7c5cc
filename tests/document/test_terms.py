"""What is said of identity terms, composed once for window and report."""

import msgspec
import pytest

from fairdesk.data.formats.reading import read_table
from fairdesk.document import terms
from fairdesk.document.blocks import Grid, Statement, Text
from fairdesk.results.subgroups import TermRate
from tests.gui.group_figures import FLIP, TERMS
from tests.report.building import spec_of, write_people

CALLED = {"toxic": "unfavourable"}


@pytest.fixture(scope="module")
def spec(tmp_path_factory):
    data = read_table(write_people(tmp_path_factory.mktemp("terms") / "people.csv"))
    return spec_of(data, "credit", "yes", ("sex",))


def test_terms_are_listed_by_category_the_lowest_rate_first_and_untested_ones_last(spec):
    never = TermRate("gender", "queer", 0, 0, 0.0, 0, 0)
    grid = terms.listed(spec, (never, *reversed(TERMS)), "terms")
    assert [row[1] for row in grid.rows] == ["gay", "straight", "old", "queer"]
    assert grid.rows[0][2:] == ("12", "300", "62.0\u00a0%", "9 of 40")
    assert grid.rows[-1][4:] == ("undefined", "undefined")
    assert terms.listed(spec, TERMS, "terms", 2).note.startswith("the first 2 of 3; ")


def test_the_first_category_is_stated_and_texts_are_shown_once(spec):
    other = msgspec.structs.replace(TERMS[1], examples=(FLIP,))
    blocks = terms.compose(spec, (TERMS[0], other, TERMS[2]), CALLED, "1")
    assert [type(each) for each in blocks] == [Statement, Text, Grid, Grid]
    (row,) = blocks[-1].rows
    assert row[0] == "2"
    assert row[2:] == ("unfavourable (0.410)", "“straight”", "fine (0.720)")
    assert terms.compose(spec, (), CALLED, "1") == []


def test_a_term_has_its_sentence_its_examples_and_texts_of_the_data(spec):
    asked = terms.detail(spec, TERMS[0], CALLED)
    assert [type(each) for each in asked] == [Statement, Grid]
    found = terms.detail(spec, TERMS[0], CALLED, [(2, "A gay man")])
    assert found[-1].rows == (("2", "“A gay man”"),)
    assert found[-1].note == "the first 1"
    assert "replaced" not in found[-1].note
    none = terms.detail(spec, TERMS[2], CALLED, [])
    assert [type(each) for each in none] == [Statement, Text]


def test_decisions_that_were_given_names_are_called_by_these(spec):
    assert terms.names_of(spec, ("no", "yes")) == dict(
        zip(spec.decisions, ("no", "yes"), strict=True)
    )
    named = msgspec.structs.replace(spec.mapping, names=("neither", "toxic"))
    assert terms.names_of(msgspec.structs.replace(spec, mapping=named), ("no", "yes")) == {}
