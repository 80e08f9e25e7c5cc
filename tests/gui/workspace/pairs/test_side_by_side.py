from types import SimpleNamespace

import msgspec
import numpy as np
import pytest
from PySide6.QtCore import Qt

from fairdesk.audit.store.pair import Pair
from fairdesk.audit.store.store import Store
from fairdesk.data.domain.determined import Determined
from fairdesk.data.domain.domain import Domain
from fairdesk.gui.workspace.pairs.side_by_side import (
    RECORDED,
    SideBySide,
    changes,
    compare,
    sentence,
    side_by_side_table,
)
from fairdesk.gui.workspace.pairs.why_view import fit_words, strongest
from fairdesk.gui.workspace.session.nearest_rows import Real
from fairdesk.gui.workspace.session.pair_columns import (
    columns_of,
    usual,
)
from fairdesk.individual.surrogates.explanation import Explanation, Side
from fairdesk.wording.pairs import distance_text, typicality_text
from tests import phrases
from tests.gui.auditing import make_audit


@pytest.fixture
def spec(tmp_path):
    """A question in which debts follow from sex."""
    with Store.open(make_audit(tmp_path, runs=0, protected=("sex",))) as store:
        spec = store.spec
    names = spec.domain.names
    domain = Domain(
        spec.domain.attributes,
        ("debts is determined by sex",),
        (Determined("debts", "sex", ((0.0, 3.0), (1.0, 5.0))),),
    )
    assert names == ("age", "sex", "job", "income", "debts")
    return msgspec.structs.replace(spec, domain=domain)


@pytest.fixture
def pair():
    return Pair(
        id=1,
        run=1,
        phase="",
        row=np.array([30.0, 0.0, 1.0, 40.0, 3.0]),
        partner=np.array([30.0, 1.0, 1.0, 40.0, 5.0]),
        row_score=0.4,
        partner_score=0.7,
        row_class=0,
        partner_class=1,
        sufficient_alone=(True,),
        mark="",
        note="",
        plausible=1,
        distance=0.2,
        partner_distance=0.3,
        typicality=0.35,
        partner_typicality=0.5,
        nearest=3,
        repeats=0,
    )


def test_what_follows_from_the_protected_is_told_with_it(spec, pair):
    said = sentence(spec, ("no", "yes"), pair)
    assert said.startswith("Only sex changes (female to male), and debts with it (3 to 5), and")
    lines = compare(spec, ("no", "yes"), pair, None)
    assert [line.name for line in lines if line.differs] == ["sex", "debts", "Decision", "Score"]
    (debts,) = (each for each in columns_of(spec, lambda: ("no", "yes")) if each.title == "debts")
    assert debts.text(pair) == "3 → 5"
    assert debts.changed(pair)


def test_the_nearest_row_has_a_recorded_outcome_and_no_decision(spec, pair):
    real = Real(np.array([31.0, 0.0, 1.0, 40.0, 3.0]), 0.02, 7, "good")
    lines = {line.name: line for line in compare(spec, ("no", "yes"), pair, real)}
    assert lines["Decision"].texts == ("no", "yes", "")
    assert lines[RECORDED].texts == ("", "", "good")


def test_a_first_instance_of_the_data_is_told_by_its_row_and_not_shown_twice(
    qtbot, themed, spec, pair
):
    session = SimpleNamespace(spec=spec, decisions=("no", "yes"))
    model = SideBySide(session, themed)
    table = side_by_side_table(model, ())
    qtbot.addWidget(table)
    model.show(pair, Real(pair.row, 0.0, 1_644, "good"))
    assert model.headerData(1, Qt.Orientation.Horizontal) == "Data row 1,644"
    assert table.isColumnHidden(3)
    (recorded,) = (row for row in range(model.rowCount()) if model.index(row, 0).data() == RECORDED)
    assert model.index(recorded, 1).data() == "good"
    model.show(pair, Real(pair.row + 1.0, 0.2, 7, "good"))
    assert model.headerData(1, Qt.Orientation.Horizontal) == "Instance"
    assert not table.isColumnHidden(3)


def test_two_scores_that_are_apart_are_no_other_decision(spec, pair):
    same = msgspec.structs.replace(pair, partner_class=0)
    said = sentence(spec, ("no", "yes"), same)
    assert "the decision stays “no”" in said
    assert "decision changes" not in said
    (decision,) = (
        each for each in columns_of(spec, lambda: ("no", "yes")) if each.title == "Decision"
    )
    assert decision.text(same) == "no"
    assert not decision.changed(same)
    verdict = next(e for e in compare(spec, ("no", "yes"), same, None) if e.name == "Decision")
    assert not verdict.differs


def test_what_was_made_alike_is_told(spec, pair):
    nearer = msgspec.structs.replace(pair, row=np.array([30.0, 0.0, 1.0, 44.0, 3.0]), distance=0.05)
    said = changes(spec, pair, nearer)
    assert said.startswith(f"{phrases.DISTANCE_NOW} 0.05 (it was 0.20).")
    assert "income 40.00 → 44.00" in said or "income 40 → 44" in said
    assert "No further change is possible" in changes(spec, pair, pair)
    assert "No change was needed" in changes(
        spec, msgspec.structs.replace(pair, distance=0.0), pair
    )


def test_numbers_are_never_more_exact_than_they_are():
    assert [distance_text(each) for each in (None, 0.0, 0.001, 0.083)] == [
        "–",
        "0.00",
        "<0.01",
        "0.08",
    ]
    assert typicality_text(None) == "–"
    assert typicality_text(0.35) == "35\u00a0%"
    assert typicality_text(0.001) == "<1\u00a0%"
    assert usual(0.0, "applicants") == "Less typical than all applicants in the data."
    assert "35\u00a0% of the applicants in the data" in usual(0.35, "applicants")
    assert usual(0.002, "applicants") == "Less typical than nearly all applicants in the data."


def test_why_names_both_values_of_what_differs_and_the_fit(spec, pair):
    why = Explanation(
        Side((0.0, 0.3, 0.1, -0.2, 0.0), 0.83), Side((0.0, -0.4, 0.0, 0.1, 0.0), 0.31), ()
    )
    drawn = strongest(spec, pair, why)
    weights = drawn.weights
    assert [each.name.split(":")[0] for each in weights] == ["sex", "income", "job"]
    assert weights[0].name == "sex: female / male"
    said = fit_words(why)
    assert "well around the instance (R squared 0.83)" in said
    assert "poorly around the counterfactual (0.31)" in said
    assert "its bars explain little" in said
    good = msgspec.structs.replace(why, partner=Side(why.partner.weights, 0.9))
    assert "fits the model well (R squared 0.83 and 0.90)." in fit_words(good)
