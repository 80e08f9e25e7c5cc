"""The runs of a standard audit, by what the model and the domain allow."""

import msgspec
import pytest

from fairdesk.app.standard import LIMITS, PlanKind, StandardPlan, standard_runs
from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.plan.spec import Limits
from fairdesk.audit.runs.run import check_run
from fairdesk.models.model import Capability
from fairdesk.repeatability import Repeatability
from tests.app.test_plan import by_arguments, opened

DENSE = (Capability.DECIDES, Capability.SCORES, Capability.LAYERS, Capability.RETRAINS)
FULL, QUICK = StandardPlan(), StandardPlan(PlanKind.QUICK)
MITIGATED = StandardPlan(mitigate=True)
TREES = (Capability.DECIDES, Capability.SCORES, Capability.TREES)


def audit(can=DENSE, protected=("sex",), predictions="", **card):
    """Return an audit of a model that can so much, and its table."""
    found = opened(predictions)
    spec = by_arguments(found, protected, Limits(), predictions)
    model = msgspec.structs.replace(spec.model, can=can, **card)
    return msgspec.structs.replace(spec, model=model), found.table


def keys(standard):
    return [run.method for run in standard.runs]


def test_a_full_audit_answers_all_questions_in_their_order():
    spec, table = audit()
    full = standard_runs(FULL, spec, table)
    assert keys(full) == ["groups", "estimate", "maft", "testsgd", "neighbourhoods", "certify"]
    assert full.left_out == {}


def test_a_quick_audit_proves_nothing():
    assert keys(standard_runs(QUICK, *audit())) == ["groups", "estimate", "maft"]


@pytest.mark.parametrize("kind", [PlanKind.QUICK, PlanKind.FULL])
@pytest.mark.parametrize("can", [DENSE, TREES, (Capability.DECIDES,)])
@pytest.mark.parametrize("protected", [("sex",), ("birthplace",), ("sex", "birthplace")])
@pytest.mark.parametrize("mitigate", [False, True])
def test_every_run_can_begin_and_all_end_within_the_limit(kind, can, protected, mitigate):
    spec, table = audit(can, protected)
    runs = standard_runs(StandardPlan(kind, seed=3, mitigate=mitigate), spec, table).runs
    assert runs
    for run in runs:
        check_run(run, spec)
        assert run.seed == 3
    assert sum(run.budget.seconds for run in runs) < LIMITS[kind]


def test_the_limit_can_be_another():
    spec, table = audit()
    runs = standard_runs(StandardPlan(seconds=20.0), spec, table).runs
    assert 10.0 < sum(run.budget.seconds for run in runs) < 20.0


def test_only_plausible_pairs_are_searched():
    spec, table = audit()
    kept = {run.method for run in standard_runs(FULL, spec, table).runs if run.plausible}
    assert kept == {"maft"}


@pytest.mark.parametrize("can", [TREES, (Capability.DECIDES,)])
def test_where_no_gradient_leads_the_mix_searches(can):
    assert "quick" in keys(standard_runs(QUICK, *audit(can)))


def test_a_model_that_cannot_be_looked_into_is_not_certified_and_the_reason_is_given():
    full = standard_runs(FULL, *audit((Capability.DECIDES, Capability.SCORES)))
    assert "certify" not in keys(full)
    assert METHODS["certify"].title in full.left_out["certify"]
    # the same reason is given once
    assert not {"neighbourhoods"} & {*keys(full), *full.left_out}


def test_of_decisions_alone_groups_are_measured():
    full = standard_runs(MITIGATED, *audit((), ("sex",), predictions="shop"))
    assert keys(full) == ["groups"]
    assert set(full.left_out) == {"estimate", "quick", "testsgd", "certify", "repair-aequitas"}


def test_what_the_model_is_not_given_defines_groups_only():
    full = standard_runs(MITIGATED, *audit(protected=("birthplace",)))
    assert keys(full) == ["groups", "testsgd", "repair-testsgd"]
    assert {"estimate", "maft", "certify"} == set(full.left_out)


def test_random_outputs_are_estimated_with_repeated_queries():
    spec, table = audit(repeatability=Repeatability(rows=100, changed=3))
    full = standard_runs(FULL, spec, table)
    assert "repeats" in keys(full)
    assert "estimate" not in keys(full)
    assert "maft" in full.left_out


def test_a_mitigation_comes_last_where_the_model_can_be_retrained_with_the_labels():
    spec, table = audit()
    assert keys(standard_runs(MITIGATED, spec, table))[-1] == "repair-aequitas"
    other = msgspec.structs.replace(
        spec, model=msgspec.structs.replace(spec.model, classes=("refused", "granted", "later"))
    )
    left_out = standard_runs(MITIGATED, other, table).left_out
    assert "repair-aequitas" in left_out
