"""Blocks of shares: what is stated, drawn and listed of how often the decision changes."""

import msgspec
import pytest

from fairdesk.audit.store.records import RunState
from fairdesk.audit.store.store import Store
from fairdesk.document import shares
from fairdesk.document.blocks import Chart, Grid, Statement
from fairdesk.results.individual import AuditStudy, StudiedValue, ValueChange, ValueChanges
from fairdesk.wording import figures
from tests.gui.auditing import make_audit
from tests.gui.workspace.estimates.test_page import DATA, DOMAIN, GAP, NONE, SEX


@pytest.fixture(scope="module")
def spec(tmp_path_factory):
    with Store.open(make_audit(tmp_path_factory.mktemp("audit"))) as store:
        return store.spec


def composed(spec, *figures, method="estimate"):
    return shares.compose(spec, RunState(1, method, "running", figures=figures), ())


def grid(blocks, key):
    return next(each for each in blocks if isinstance(each, Grid) and each.key.startswith(key))


def test_the_share_of_the_data_leads_and_those_of_one_kind_are_drawn_together(spec):
    of_sex = msgspec.structs.replace(DATA, attributes=SEX.attributes)
    blocks = composed(spec, DOMAIN, SEX, of_sex, DATA)
    (stated,) = (each for each in blocks if isinstance(each, Statement))
    assert stated.number.replace("\u00a0", " ") == "1.5 %"
    data, domain = (
        each for each in blocks if isinstance(each, Chart) and each.key.startswith("bars")
    )
    assert [bar.exact for bar in data.drawing.bars] == [True, True]
    assert [bar.exact for bar in domain.drawing.bars] == [False, False]
    assert (data.appended, domain.appended) == (False, True)
    table = grid(blocks, "shares")
    assert [row[0] for row in table.rows] == ["Applicants in the data"] * 2 + ["Input domain"] * 2
    assert table.note.startswith(figures.quote_sentence(spec, (DATA, DOMAIN)))


def test_what_perturbed_data_rows_are_is_said_where_they_are_listed(spec):
    perturbed = msgspec.structs.replace(DOMAIN, whom="perturbed")
    alone = grid(composed(spec, DOMAIN, perturbed), "shares")
    caution = figures.perturbed_sentence(spec, (perturbed,))
    assert caution in alone.note
    beside = grid(composed(spec, DOMAIN, DATA, perturbed), "shares")
    assert caution not in beside.note
    assert len(beside.rows) == 2


def test_intervals_are_one_where_sampling_may_end_early(spec):
    adaptive = msgspec.structs.replace(DOMAIN, anytime_low=DOMAIN.low, anytime_high=DOMAIN.high)
    assert len(grid(composed(spec, adaptive), "shares").header) == 5
    both = grid(composed(spec, DOMAIN, DATA), "shares")
    assert both.rows[1][3:5] == ("3.61 to 3.99\u00a0%", "3.50 to 4.12\u00a0%")
    assert both.rows[0][3:5] == ("all tested",) * 2
    bound = grid(composed(spec, NONE), "shares")
    assert bound.rows[0][4].replace("\u00a0", " ") == "0.00 to 0.21 %"


def test_it_is_listed_from_which_value_to_which_the_decision_changes(spec):
    changes = [ValueChange(0.0, 1.0, 150, 3, 6)] + 9 * [ValueChange(1.0, 0.0, 40, 1, 0)]
    study = AuditStudy("sex", 1.0, 190, 200, 60, (StudiedValue(1.0, 60, 0, 0, 0.0, 0.0),), 0.95)
    blocks = composed(spec, study, ValueChanges("sex", 10, tuple(changes)))
    table = grid(blocks, "value-changes")
    first = [each.replace("\u00a0", " ") for each in table.rows[0]]
    assert first == ["sex: female", "male", "150", "9 (6.0 %)", "6", "3"]
    # those with most changes; the caption says so
    assert len(table.rows) == 6
    redacted = composed(spec, study, ValueChanges("sex", 10, ()))
    assert not [each for each in redacted if isinstance(each, Grid) and each.key == table.key]


def test_sets_of_attributes_are_listed_the_one_that_changes_most_first(spec):
    blocks = composed(spec, SEX, DOMAIN, GAP, method="themis")
    table = grid(blocks, "sets")
    assert [row[0] for row in table.rows] == ["age and sex", "sex"]
    assert table.rows[0][2] == "not tested"
    assert table.rows[1][2] == "7.1 percentage points (6.0 to 8.2)"
    assert table.rows[1][3].replace("\u00a0", " ") == "sex = male: 31.2 %"
    assert table.rows[1][4].startswith("sex = female: 24.1")
    # a table has them all: bars would say it twice
    assert not any(isinstance(each, Chart) and each.key.startswith("bars") for each in blocks)
    (alone,) = grid(composed(spec, GAP, method="themis"), "sets").rows
    assert alone[1] == "not tested"
