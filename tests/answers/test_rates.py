"""Proven bounds of selection rates, beside the rates observed in the data rows."""

import msgspec
import pytest

from fairdesk.answers import (
    Question,
    bounded_rates,
    decision_tables,
    misfit_sentence,
    ratio_sentence,
    without_misfit,
)
from fairdesk.document.answers import answers
from fairdesk.results.groups import GroupLine, GroupTable
from fairdesk.results.proofs import GroupRate, Proven, ProvenRates
from fairdesk.wording import proofs as proof_words
from tests import phrases
from tests.document.test_answers import run
from tests.report.building import people_store

replace = msgspec.structs.replace
RATES = ProvenRates("sex", (GroupRate(0.0, 0.2, 0.3, 0.4), GroupRate(1.0, 0.3, 0.9, 0.6)), 0.2, 1.0)


def plain(text):
    return text.replace("\u00a0", " ")


def line(code, favourable, ratio=None):
    return GroupLine(
        (str(code),), (code,), True, 100, 0.5, favourable, favourable / 100, 0.0, 1.0, False, ratio
    )


TABLE = GroupTable(
    *("decisions", "yes", ("sex",), 200, 0, 0, 60, 1),
    lines=(line(0.0, 10, 0.2), line(1.0, 50, 1.0)),
)


@pytest.fixture(scope="module")
def spec(tmp_path_factory):
    with people_store(tmp_path_factory.mktemp("rates"), ("sex", "age")) as store:
        return store.spec


def test_bounds_of_a_group_that_the_model_of_the_data_does_not_fit_are_not_shown(spec):
    outside, inside = bounded_rates(spec, RATES, (TABLE,))
    assert (outside.observed, inside.observed) == (0.1, 0.5)
    assert (outside.is_outside, inside.is_outside) == (True, False)
    assert misfit_sentence(spec, (RATES,), (TABLE,)) == (
        f"{phrases.UNFIT} sex = female: its shares are not shown."
    )
    fits = replace(TABLE, lines=TABLE.lines[1:])
    assert misfit_sentence(spec, (RATES,), (fits,)) == ""
    # as in the table of the groups: with one decimal of small ones
    assert plain(outside.text) == "10.0 %"
    assert outside.ends == ("–", "–")
    assert tuple(map(plain, inside.ends)) == ("30.00 %", "90.00 %")


@pytest.mark.parametrize(("observed", "fits"), [(17, False), (19, True), (31, True), (33, False)])
def test_bounds_beside_a_rate_that_is_nearly_between_them_are_shown(spec, observed, fits):
    table = replace(TABLE, lines=(line(0.0, observed, 0.5), line(1.0, 50, 1.0)))
    (group, _) = bounded_rates(spec, RATES, (table,))
    assert group.is_outside is not fits


def test_without_a_table_of_the_attribute_nothing_is_observed(spec):
    other = replace(TABLE, attributes=("job",))
    for each in bounded_rates(spec, RATES, (other,)):
        assert each.observed is None
        assert not each.is_outside


def test_a_bin_of_numbers_is_not_the_value_whose_rate_is_proven(spec):
    rates, table = replace(RATES, attribute="age"), replace(TABLE, attributes=("age",))
    assert [each.observed for each in bounded_rates(spec, rates, (table,))] == [None, None]


def test_the_ratio_that_was_counted_is_said_where_the_bounds_do_not_conclude():
    counted = "Counted in the data rows: 0.20."
    open_ended = f"{plain(proof_words.proven_ratio_sentence(RATES))}"
    assert plain(ratio_sentence(RATES, (TABLE,))) == f"{open_ended} {counted}"
    assert plain(ratio_sentence(RATES, (replace(TABLE, attributes=("job",)),))) == open_ended
    low = replace(RATES, ratio_high=0.7)
    assert counted not in plain(ratio_sentence(low, (TABLE,)))


def test_tables_are_of_decisions_and_of_the_latest_run_that_has_some():
    newer = replace(TABLE, n_samples=300)
    runs = (run(1, "groups", TABLE), run(2, "groups", newer), run(3, "groups"))
    labels = run(4, "groups", replace(TABLE, of="label"))
    assert decision_tables((*runs, labels)) == (newer,)


@pytest.mark.parametrize("fits", [True, False])
def test_shares_of_a_population_that_does_not_fit_are_said_nowhere(spec, fits):
    proven = Proven("people", ("sex", "age"), 0.8, 0.1, 0.1)
    of_domain = replace(proven, of="domain", falsified=0.05)
    tables = (replace(TABLE, lines=TABLE.lines[1:]) if fits else TABLE,)
    figures = (of_domain, proven, RATES)
    shown = without_misfit(spec, figures, tables)
    assert shown == (figures if fits else (of_domain, RATES))
    (answer,) = (
        each
        for each in answers(spec, (run(1, "groups", *tables), run(2, "certify", *figures)))
        if each.question is Question.CERTAIN
    )
    lead = proven if fits else of_domain
    assert answer.said.sentence == proof_words.proven_statement(lead).sentence
    assert answer.chart is not None
