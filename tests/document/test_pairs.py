"""Pairs as blocks: what follows from the protected values, the nearest row, and explanations."""

import msgspec
import numpy as np
import pytest

from fairdesk.audit.store.pair import Pair
from fairdesk.audit.store.store import Store
from fairdesk.data.domain.dependencies import Determined
from fairdesk.data.domain.domain import Domain
from fairdesk.document import pairs
from fairdesk.document.blocks import Chart
from fairdesk.document.pairs import RECORDED, DataRow
from fairdesk.individual.surrogates.explanation import Explanation, Side
from fairdesk.wording.pairs import distance_text, typicality_text, usual
from tests import phrases
from tests.gui.auditing import make_audit

DECISIONS = ("no", "yes")


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


def lines_of(spec, pair, near=None):
    made = pairs.card(spec, pair, DECISIONS.__getitem__)
    made = made if near is None else pairs.with_nearest(spec, pair, made, near)
    return {line.name: line for line in (*made.rows, *made.outcome)}


def test_what_follows_from_the_protected_is_said_with_it(spec, pair):
    said = pairs.statement(spec, pair).sentence
    assert "Changing sex from female to male, and with it debts from 3 to 5, with" in said
    changed = [name for name, line in lines_of(spec, pair).items() if line.changed]
    assert changed == ["sex", "debts", "Decision", "Score (favourable above 0.5)"]


def test_the_nearest_row_has_a_recorded_outcome_and_no_decision(spec, pair):
    near = DataRow(np.array([31.0, 0.0, 1.0, 40.0, 3.0]), 0.02, 7, "good")
    lines = lines_of(spec, pair, near)
    decision, recorded = lines["Decision"], lines[RECORDED]
    assert (decision.first, decision.second, decision.nearest) == ("no", "yes", "")
    assert (recorded.first, recorded.second, recorded.nearest) == ("", "", "good")
    assert lines["age"].strays
    assert not lines["income"].strays


def test_two_scores_that_are_apart_are_no_other_decision(spec, pair):
    same = msgspec.structs.replace(pair, partner_class=0)
    said = pairs.statement(spec, same).sentence
    assert "the decision stays unfavourable" in said
    assert not lines_of(spec, same)["Decision"].changed


def test_two_unfavourable_decisions_are_told_apart_by_their_names(spec, pair):
    model = msgspec.structs.replace(spec.model, classes=("no", "later", "yes"))
    mapping = msgspec.structs.replace(spec.mapping, favourable_class=2)
    three = msgspec.structs.replace(spec, model=model, mapping=mapping)
    assert len(three.decisions) == 3
    one, other = 0, 1
    both = msgspec.structs.replace(pair, row_class=one, partner_class=other)
    said = pairs.statement(three, both).sentence
    assert f"from “{three.decisions[one]}” to “{three.decisions[other]}”" in said
    assert "stays" not in said


def test_what_was_made_alike_is_told(spec, pair):
    nearer = msgspec.structs.replace(pair, row=np.array([30.0, 0.0, 1.0, 44.0, 3.0]), distance=0.05)
    said = pairs.brought(spec, pair, nearer)
    assert said.startswith(f"{phrases.DISTANCE_NOW} 0.05 (it was 0.20).")
    assert "income 40.00 → 44.00" in said or "income 40 → 44" in said
    assert "No further change is possible" in pairs.brought(spec, pair, pair)
    assert "No change was needed" in pairs.brought(
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
    blocks = pairs.explanation(spec, pair, why, DECISIONS)
    (drawn,) = (each.drawing for each in blocks if isinstance(each, Chart))
    assert drawn.alt().startswith("Values that raise or lower")
    weights = drawn.weights
    assert [each.name.split(":")[0] for each in weights] == ["sex", "income", "job"]
    assert weights[0].name == "sex: female / male"
    said = blocks[0].text
    assert "well around the instance (R squared 0.83)" in said
    assert "poorly around the counterfactual (0.31)" in said
    assert "its bars explain little" in said
    good = msgspec.structs.replace(why, partner=Side(why.partner.weights, 0.9))
    assert (
        "fits the model well (R squared 0.83 and 0.90)."
        in pairs.explanation(spec, pair, good, DECISIONS)[0].text
    )
