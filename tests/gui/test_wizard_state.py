"""The wizard's state machine; nothing of Qt."""

from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdesk.app.plan import Choice
from fairdesk.app.standard import PlanKind
from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.sandbox.folders import Confinement, Hold
from fairdesk.data.columns.rereading import retype, with_reading
from fairdesk.data.domain.attributes import Role
from fairdesk.data.table import Column, ColumnReading, Dialect, Kind, OddCell, Source, Table
from fairdesk.errors import SpecError
from fairdesk.gui.wizard.state.plans import Length, rows_sentence
from fairdesk.gui.wizard.state.wizard_state import Standing, Step, WizardState
from fairdesk.gui.wizard.telling import question
from fairdesk.models.inputs.input_check import InputCheck
from fairdesk.models.model import Companion, How, Input, Mapping
from tests import phrases
from tests.cards import card
from tests.sizes import many

PROOF = InputCheck(
    rows=4,
    left_out=0,
    accuracy=0.75,
    majority=0.5,
    auc=0.8,
    confusion=((1, 1), (0, 2)),
    warnings=(),
    inputs=("sex", "age"),
    sample=(),
)


def make_table(path="people.csv", delimiter=",", sexes=("f", "m")):
    columns = (
        Column("sex", Kind.NOMINAL, tuple(sexes), 0, len(sexes) - 1),
        Column("age", Kind.INTEGER, (), 20, 60),
        Column("shop", Kind.NOMINAL, ("a", "b"), 0, 1),
        Column("approved", Kind.NOMINAL, ("no", "yes"), 0, 1),
        Column("one", Kind.NOMINAL, ("same",), 0, 0),
    )
    codes = np.array(
        [[0, 20, 0, 0, 0], [1, 60, 1, 1, 0], [0, 33, 0, 1, 0], [1, 41, 1, 0, 0]], dtype=float
    )
    return Table(Source(path, "0" * 64, 4, Dialect(delimiter=delimiter)), columns, codes)


def make_card(sha256="a" * 64):
    return card(
        "sex",
        "age",
        path="loans.pkl",
        sha256=sha256,
        format="scikit-learn pipeline",
        summary="A pipeline",
        needed_trust=True,
    )


def make_mapping(*names):
    names = names or ("sex", "age")
    how = {"sex": How.LABEL, "age": How.AS_IS, "shop": How.LABEL}
    return Mapping(tuple(Input(name, name, how[name]) for name in names), "by name", 1)


@pytest.fixture
def answered(tmp_path):
    """A state with every step answered, at the review."""
    state = WizardState()
    answer_data(state)
    answer_model(state)
    state.choose("sex", Choice(role=Role.PROTECTED))
    assert state.next()
    assert state.next()
    assert state.step is Step.REVIEW
    state.path = tmp_path / "loans.fairdesk"
    return state


def answer_data(state):
    state.set_table(make_table())
    state.set_label("approved")
    state.set_favourable("yes")
    assert state.next()


def answer_model(state):
    state.set_model(make_card(), trusted=True)
    state.set_mapping(make_mapping())
    state.set_proof(PROOF)
    assert state.next()


def test_each_missing_answer_is_named():
    state = WizardState()
    assert "data file" in state.blocked(Step.DATA)
    assert not state.next()
    state.set_table(make_table())
    assert "column" in state.blocked(Step.DATA)
    state.set_label("approved")
    assert "“approved”" in state.blocked(Step.DATA)
    state.set_favourable("yes")
    state.person = "  "
    assert "each row is" in state.blocked(Step.DATA)
    state.person = "applicant"
    assert state.next()
    assert "model file" in state.blocked(Step.MODEL)
    state.set_model(make_card(), trusted=False)
    assert "inputs" in state.blocked(Step.MODEL)
    state.set_mapping(make_mapping())
    assert "tested" in state.blocked(Step.MODEL)
    state.set_proof(PROOF)
    assert state.next()
    assert "protected" in state.blocked(Step.ATTRIBUTES)
    state.choose("sex", Choice(role=Role.PROTECTED))
    assert state.next()
    assert not state.blocked(Step.CHECKS)
    state.choose_methods()
    assert "at least one method" in state.blocked(Step.CHECKS)
    state.choose_methods("quick")
    state.set_option("rounds", 0)
    assert "rounds" in state.blocked(Step.CHECKS)
    state.set_option("rounds", 2)
    assert state.next()
    assert "save" in state.blocked(Step.REVIEW)


def test_only_columns_with_a_few_values_can_be_the_decision():
    state = WizardState()
    state.set_table(make_table())
    assert state.label_candidates() == ("sex", "age", "shop", "approved")
    assert state.label_values() == ()
    state.set_label("age")
    assert state.label_values() == ("20", "33", "41", "60")


def test_a_table_without_a_decision_says_so():
    state = WizardState()
    table = make_table()
    state.set_table(Table(table.source, table.columns[4:], table.codes[:, 4:]))
    assert "at least two different values" in state.blocked(Step.DATA)


def test_back_and_forth_loses_nothing(answered):
    before = answered.plan()
    for _ in range(4):
        assert answered.back()
    assert not answered.back()
    assert answered.step is Step.DATA
    for _ in range(4):
        assert answered.next()
    assert answered.plan().audit.domain == before.audit.domain
    assert answered.plan().runs == before.runs
    assert set(answered.standings().values()) == {Standing.DONE, Standing.OPEN}


def test_a_locked_step_cannot_be_entered():
    state = WizardState()
    assert not state.go(Step.ATTRIBUTES)
    answer_data(state)
    assert not state.go(Step.ATTRIBUTES)
    assert state.go(Step.DATA)
    assert state.go(Step.MODEL)


def test_another_kind_marks_what_hangs_on_it(answered):
    answered.step = Step.DATA
    answered.choose("age", Choice(limits=(25.0, 50.0)))
    answered.set_table(retype(answered.table, "age", Kind.REAL))
    assert "age" in answered.redo[Step.MODEL]
    assert Step.ATTRIBUTES in answered.redo
    assert answered.mapping is None
    assert answered.standings()[Step.DATA] is Standing.DONE
    assert answered.standings()[Step.MODEL] is Standing.REDO
    assert answered.choice("sex").role is Role.PROTECTED
    assert answered.choice("age") == Choice()
    assert not answered.may_enter(Step.ATTRIBUTES)
    answered.next()
    answered.set_mapping(make_mapping())
    answered.set_proof(PROOF)
    assert answered.next()
    assert Step.MODEL not in answered.redo
    assert answered.standings()[Step.ATTRIBUTES] is Standing.REDO
    assert answered.next()
    assert not answered.redo
    # the checks had been answered, and nothing about them changed
    assert answered.standings()[Step.CHECKS] is Standing.DONE


def test_the_same_table_again_marks_nothing(answered):
    answered.set_table(make_table())
    assert not answered.redo
    assert answered.proof is PROOF


def test_another_dialect_or_file_marks_model_and_people(answered):
    answered.set_table(make_table(delimiter=";"))
    assert answered.redo[Step.MODEL].startswith("The data are now read differently")
    answered.set_table(make_table(path="others.csv"))
    assert answered.label == "approved"
    assert answered.favourable == "yes"


def test_a_label_that_is_gone_is_asked_for_again(answered):
    table = make_table()
    answered.set_table(Table(table.source, table.columns[:3], table.codes[:, :3]))
    assert answered.label == ""
    assert answered.favourable == ""
    assert answered.blocked(Step.DATA)


def test_another_decision_marks_model_and_people(answered):
    answered.set_label("shop")
    assert set(answered.redo) == {Step.MODEL, Step.ATTRIBUTES}
    assert answered.favourable == ""


def test_another_good_outcome_marks_the_model_only(answered):
    answered.set_favourable("no")
    assert set(answered.redo) == {Step.MODEL}
    assert answered.proof is None


def test_another_model_marks_the_people(answered):
    answered.clear_model()
    assert answered.standings()[Step.MODEL] is Standing.OPEN
    answered.set_model(make_card(sha256="b" * 64), trusted=False)
    assert Step.ATTRIBUTES in answered.redo
    assert not answered.trusted


def test_another_mapping_asks_for_another_proof(answered):
    answered.set_mapping(make_mapping())
    assert answered.proof is PROOF
    answered.set_mapping(make_mapping("sex", "shop"))
    assert answered.proof is None
    assert "inputs changed" in answered.redo[Step.ATTRIBUTES]
    assert answered.attribute_names() == ("sex", "shop")
    assert answered.unused_names() == ("age", "one")


def test_people_must_be_left(answered):
    answered.choose("age", Choice(limits=(21.0, 22.0)))
    assert "No row" in answered.blocked(Step.ATTRIBUTES)
    answered.choose("age", Choice(limits=(20.0, 40.0)))
    assert answered.people() == 2
    assert not answered.blocked(Step.ATTRIBUTES)


def test_combinations_are_counted(answered):
    assert answered.combinations() == 2
    answered.choose("age", Choice(role=Role.PROTECTED))
    assert answered.combinations() == 20
    # nobody can be invented; groups can be compared all the same
    assert not answered.blocked(Step.ATTRIBUTES)
    assert not answered.blocked(Step.CHECKS)
    assert (
        "make at least one with two or more values variable"
        in (answered.first_runs().left_out["estimate"])
    )
    answered.choose_methods("quick")
    assert "make at least one with two or more values variable" in answered.blocked(Step.CHECKS)
    answered.choose("age", Choice(role=Role.PROTECTED, every_value=True))
    assert answered.combinations() == 82
    answered.choose("age", Choice(role=Role.PROTECTED, limits=(30.0, 34.0)))
    assert answered.combinations() == 10
    answered.choose("sex", Choice())
    answered.choose("age", Choice())
    assert answered.combinations() == 0


def test_the_plan_says_all(answered):
    answered.title = "Loans of May"
    answered.person = "customer"
    answered.seed = 7
    answered.choose_methods("quick")
    answered.length = Length.QUICK
    answered.set_option("rounds", 5)
    plan = answered.plan()
    assert plan.audit.title == "Loans of May"
    assert plan.audit.person == "customer"
    assert plan.audit.label == "approved"
    assert plan.audit.favourable == "yes"
    assert plan.audit.trusted
    assert plan.audit.domain.names == ("sex", "age")
    (run,) = plan.runs
    assert run.method == "quick"
    assert run.options == {"rounds": 5}
    assert run.seed == 7
    # what is left is for the report
    assert plan.seconds == 60
    assert 30 < run.budget.seconds < 60
    assert plan.path == answered.path
    assert msgspec.json.decode(msgspec.json.encode(plan.audit), type=type(plan.audit)) == plan.audit
    answered.length = Length.UNTIL_DONE
    assert answered.plan().seconds is None
    assert answered.plan().runs[0].budget.seconds is None


@pytest.mark.parametrize(
    ("method", "repair"),
    [("quick", "repair-aequitas"), ("maft", "repair-aequitas"), ("testsgd", "repair-testsgd")],
)
def test_what_is_found_is_repaired_afterwards(answered, method, repair):
    answered.choose_methods(method)
    assert [run.method for run in answered.plan().runs] == [method]
    answered.seed = 3
    answered.repair = True
    first, second = answered.plan().runs
    assert (first.method, second.method, second.seed) == (method, repair, 3)
    assert first.budget.seconds + second.budget.seconds < answered.plan().seconds
    assert METHODS[repair].sentence in dict(question(answered))["Methods"]


@pytest.mark.parametrize("method", ["estimate", "groups"])
def test_a_repair_needs_something_that_was_found(answered, method):
    answered.repair = True
    answered.choose_methods(method)
    assert phrases.SEARCH_FOR_EXAMPLES in answered.repair_off()
    assert "TestSGD" in answered.repair_off()
    assert [run.method for run in answered.plan().runs] == [method]
    # another choice, and it is as it was wanted
    answered.choose_methods("quick")
    assert answered.plan().runs[-1].method == "repair-aequitas"


def test_a_repair_needs_labels_that_the_model_knows(answered):
    assert answered.repair_off() == ""
    card = msgspec.structs.replace(make_card("b" * 64), classes=("0", "1", "2"))
    answered.set_model(card, trusted=True)
    answered.set_mapping(make_mapping())
    answered.repair = True
    assert phrases.TWO_ANSWERS in answered.repair_off()
    assert not any(run.method.startswith("repair") for run in answered.first_runs().runs)


def test_a_repair_is_no_search_to_choose(answered):
    assert not any(key.startswith("repair") for key in answered.usable_methods())


def test_options_of_one_method_do_not_reach_another(answered):
    answered.choose_methods("quick", "uniform")
    answered.set_option("rounds", 5)
    assert [run.options for run in answered.plan().runs] == [{"rounds": 5}, {}]
    assert not answered.blocked(Step.CHECKS)


def test_an_unfinished_question_gives_no_plan():
    with pytest.raises(SpecError, match="data file"):
        WizardState().plan()


def test_where_it_is_kept(answered, tmp_path):
    assert answered.suggest_title() == "people, loans"
    answered.title = "A/B: loans"
    first = answered.suggest_path(tmp_path)
    assert first == tmp_path / "A_B_ loans.fairdesk"
    first.touch()
    assert answered.suggest_path(tmp_path) == tmp_path / "A_B_ loans 2.fairdesk"
    answered.path = first
    assert "already" in answered.blocked(Step.REVIEW)
    answered.path = tmp_path / "new" / "a.fairdesk"
    assert not answered.blocked(Step.REVIEW)
    answered.path = tmp_path / "no" / "such" / "a.fairdesk"
    assert "no folder" in answered.blocked(Step.REVIEW)
    answered.path = tmp_path / "a.txt"
    assert ".fairdesk" in answered.blocked(Step.REVIEW)


def test_the_question_in_sentences(answered):
    answered.choose("age", Choice(limits=(20.0, 45.0)))
    told = dict(question(answered))
    # every question that the runs answer, each once
    assert "How do the recorded outcomes and the decisions of applicants" in told["Question"]
    searched = "Does the decision change for any applicant when only sex changes?"
    assert told["Question"].count(searched) == 1
    answered.choose_methods("maft", "quick")
    assert dict(question(answered))["Question"] == searched
    assert "“people.csv”: 4 applicants" in told["Data"]
    assert "75.0" in told["Model"]
    assert phrases.CAN_RUN_CODE in told["Model"]
    assert "sex (f and m): 2 combinations" in told["Attributes"]
    assert "age to 20–45" in told["Attributes"]
    assert "10\N{NO-BREAK SPACE}min" in told["Methods"]
    assert question(WizardState()) == ()


def test_a_good_outcome_may_be_several_values_or_a_limit(answered):
    answered.set_label("age")
    answered.set_favourable("33 or 41")
    assert answered.outcome() == (2, 4)
    answered.set_favourable(">= 41")
    assert answered.outcome() == (2, 4)
    assert not answered.blocked(Step.DATA)
    answered.set_favourable("> 60")
    assert "No row" in answered.blocked(Step.DATA)
    answered.set_favourable("<= 60")
    assert "Every row" in answered.blocked(Step.DATA)
    answered.set_favourable("much")
    assert "no value “much”" in answered.blocked(Step.DATA)
    answered.set_table(make_table(delimiter=";"))
    assert answered.favourable == ""


def test_numbers_with_many_values_can_be_the_decision():
    table = make_table()
    codes = np.tile(table.codes, (60, 1))
    codes[:, 1] = np.arange(240)
    columns = (table.columns[0], Column("age", Kind.INTEGER, (), 0, 239), *table.columns[2:])
    state = WizardState()
    state.set_table(Table(table.source, columns, codes))
    assert "age" in state.label_candidates()
    state.set_label("age")
    assert state.label_values() == ()
    state.set_favourable(">= 200")
    assert state.outcome() == (40, 240)
    assert not state.blocked(Step.DATA)


def test_constraints_bind_the_domain_and_are_undone(answered):
    answered.set_constraints(("age >= 33",))
    assert answered.plan().audit.domain.constraints == ("age >= 33",)
    assert answered.people() == 3
    assert rows_sentence(answered.examined(), "applicant") == (
        "3 of 4 applicants are eligible for testing. Excluded: 1 violates “age >= 33”."
    )
    answered.set_constraints(("age >= ",))
    assert "was expected" in answered.blocked(Step.ATTRIBUTES)
    assert answered.undo_constraints()
    assert answered.constraints == ("age >= 33",)
    assert answered.undo_constraints()
    assert not answered.undo_constraints()
    assert rows_sentence(answered.examined(), "applicant") == (
        "All 4 applicants are eligible for testing."
    )


def test_an_attribute_can_follow_another(answered):
    answered.set_mapping(make_mapping("sex", "age", "shop"))
    answered.set_proof(PROOF)
    answered.determine("shop", "sex")
    assert answered.determined_by() == {"shop": "sex"}
    assert [each.attribute for each in answered.domain().determined] == ["shop"]
    answered.determine("shop", "sex")
    assert answered.constraints == ("shop is determined by sex",)
    answered.determine("shop", "")
    assert answered.constraints == ()


def test_who_is_set_aside_adds_up(answered):
    table = answered.table
    codes = table.codes.copy()
    codes[0, 0] = np.nan
    columns = (msgspec.structs.replace(table.columns[0], missing=1), *table.columns[1:])
    answered.set_table(Table(msgspec.structs.replace(table.source, path="x"), columns, codes))
    answered.set_mapping(make_mapping("sex", "age", "shop"))
    answered.choose("shop", Choice(role=Role.PROTECTED))
    answered.choose("sex", Choice())
    answered.choose("age", Choice(limits=(20.0, 41.0), step=1.0))
    answered.set_constraints(("shop = a implies age < 33",))
    assert rows_sentence(answered.examined(), "person") == (
        "1 of 4 people are eligible for testing. Excluded: 1 lacks sex, 1 is outside the allowed "
        "values of age and 1 violates “shop = a implies age < 33”."
    )
    answered.choose("sex", Choice(role=Role.PROTECTED))
    assert answered.attribute("sex").values == ("f", "m")
    answered.set_proof(msgspec.structs.replace(PROOF, takes_missing=("sex",)))
    assert answered.attribute("sex").values == ("f", "m", "Unknown")
    assert answered.people() == 2
    answered.choose("sex", Choice(role=Role.PROTECTED, limits=("m",)))
    assert answered.attribute("sex").values == ("m", "Unknown")
    answered.choose("sex", Choice(role=Role.PROTECTED, unknown=False))
    assert not answered.attribute("sex").unknown


def test_a_domain_that_admits_nobody_blocks_the_people(answered):
    answered.refuse(
        answered.domain(), SpecError("No combination of values satisfies all constraints.")
    )
    assert (
        answered.blocked(Step.ATTRIBUTES) == "No combination of values satisfies all constraints."
    )
    answered.set_constraints(("age >= 33",))
    assert not answered.blocked(Step.ATTRIBUTES)


def test_a_model_that_needs_no_trust_is_not_trusted(answered):
    answered.set_model(msgspec.structs.replace(answered.card, needed_trust=False), trusted=True)
    answered.set_mapping(make_mapping())
    answered.set_proof(PROOF)
    answered.next()
    for step in (Step.MODEL, Step.ATTRIBUTES, Step.CHECKS):
        answered.step = step
        answered.next()
    assert not answered.plan().audit.trusted
    assert "trusted" not in dict(question(answered))["Model"]


def test_without_a_model_groups_are_measured(answered):
    answered.predictions = "shop"
    answered.set_model(
        msgspec.structs.replace(answered.card, can=(), summary="The decisions stand in “shop”"),
        trusted=False,
    )
    answered.set_mapping(Mapping((), "not at all", 1, outcomes=("not b", "b")))
    answered.set_proof(PROOF)
    assert answered.attribute_names() == ("sex", "age", "one")
    answered.choose("one", Choice(role=Role.FIXED))
    answered.choose_methods("quick")
    assert phrases.NO_MODEL in answered.blocked(Step.CHECKS)
    answered.choose_kind(PlanKind.FULL)
    assert phrases.NO_MODEL in answered.first_runs().left_out["certify"]
    plan = answered.plan()
    assert [run.method for run in plan.runs] == ["groups"]
    assert plan.audit.predictions == "shop"
    told_all = dict(question(answered))
    assert "How do the recorded outcomes and the decisions of applicants" in told_all["Question"]
    assert "Group metrics" in told_all["Methods"]
    assert "Left out: " in told_all["Methods"]


def test_what_the_model_is_not_given_tells_groups_apart_only(answered):
    assert answered.unseen_names() == ("shop", "one")
    answered.choose("sex", Choice())
    assert "protected" in answered.blocked(Step.ATTRIBUTES)
    answered.choose("shop", Choice(role=Role.PROTECTED))
    assert not answered.blocked(Step.ATTRIBUTES)
    domain = answered.domain()
    assert (domain.names, [each.name for each in domain.grouping]) == (("sex", "age"), ["shop"])
    assert phrases.NOT_GIVEN in answered.methods_off()["maft"]
    assert [run.method for run in answered.first_runs().runs] == ["groups", "testsgd"]
    told_all = dict(question(answered))
    assert "defined by shop" in told_all["Question"]
    assert "the model does not receive it: shop" in told_all["Attributes"]
    assert answered.plan().audit.domain == domain
    # all is back once it can be made, unless the auditor has chosen the methods
    answered.choose_methods("testsgd")
    answered.choose("sex", Choice(role=Role.PROTECTED))
    assert [run.method for run in answered.first_runs().runs] == ["testsgd"]
    answered.choose_kind(PlanKind.FULL)
    assert len(answered.first_runs().runs) > 2


def test_bins_are_of_protected_numbers_and_rise(answered):
    answered.choose_methods("testsgd")
    answered.max_distance = 0.1
    answered.edges = {"age": (30.0, 45.0)}
    assert answered.chosen_run("testsgd").edges == {}
    answered.choose("age", Choice(role=Role.PROTECTED))
    (run,) = answered.first_runs().runs
    assert (run.edges, run.max_distance) == ({"age": (30.0, 45.0)}, None)
    assert "Bin boundaries of age: 30, 45." in dict(question(answered))["Methods"]
    answered.edges = {"age": (45.0, 30.0)}
    assert phrases.MUST_RISE in answered.blocked(Step.CHECKS)
    answered.choose_methods("maft")
    answered.choose("age", Choice())
    (run,) = answered.first_runs().runs
    assert (run.edges, run.max_distance) == ({}, 0.1)
    assert run.plausible
    answered.plausible = False
    assert not answered.chosen_run("maft").plausible
    answered.plausible = True
    assert not answered.chosen_run("enumerate").plausible


def test_terms_in_a_text_are_compared_where_nothing_is_protected():
    state = WizardState()
    table = make_table()
    said = Column("said", Kind.TEXT, tuple(f"a gay man said {i}" for i in range(4)), 0, 3)
    codes = np.column_stack((table.codes, np.arange(4.0)))
    state.set_table(Table(table.source, (*table.columns, said), codes))
    state.set_label("approved")
    state.set_favourable("yes")
    assert state.next()
    card = msgspec.structs.replace(make_card(), inputs=("said",), accepts=("text",))
    state.set_model(card, trusted=True)
    state.set_mapping(Mapping((Input("said", "said", How.LABEL),), "by name", 1))
    state.set_proof(PROOF)
    assert state.next()
    assert not state.blocked(Step.ATTRIBUTES)
    assert state.usable_methods() == ("testsgd",)
    (run,) = state.first_runs().runs
    assert (run.method, run.text, run.terms) == ("testsgd", "said", {})
    state.terms = {"gender": ("gay",)}
    assert phrases.TOO_FEW_TERMS in state.blocked(Step.CHECKS)
    state.terms = {"gender": ("gay", "straight")}
    assert not state.blocked(Step.CHECKS)
    told_all = dict(question(state))
    assert "the decision for texts in “said”" in told_all["Question"]
    assert "gender: gay, straight" in told_all["Methods"]
    # whoever protects a column compares people, unless they ask for the texts
    state.choose("sex", Choice(role=Role.PROTECTED))
    run = state.chosen_run("testsgd")
    assert (run.text, run.terms) == ("", {})
    state.text = "said"
    assert state.chosen_run("testsgd").text == "said"


def test_the_review_tells_all_that_was_decided(answered):
    answered.set_label("age")
    answered.set_favourable(">= 41")
    answered.set_model(
        msgspec.structs.replace(
            answered.card,
            environment="scikit-learn 1.3.2, Python 3.11",
            companions=(Companion("/x/scaler.pkl"), Companion("/x/order.json")),
            outputs=("a", "b"),
            output="b",
        ),
        trusted=True,
    )
    answered.set_mapping(
        msgspec.structs.replace(make_mapping("sex", "shop"), threshold=0.3, together=())
    )
    answered.set_proof(PROOF)
    answered.choose("shop", Choice(limits=("b",), role=Role.FIXED))
    answered.choose("shop", Choice())
    answered.set_constraints(("shop = b implies sex = m",))
    answered.confinement = Confinement(
        "limits", (Hold("network", holds=False, how="."), Hold("memory", holds=True, how="."))
    )
    told_all = dict(question(answered))
    assert "at least 41 is favourable. 2 of 4 outcomes are favourable (50.0" in told_all["Data"]
    for part in (
        "“scaler.pkl” and “order.json”",
        "The decision is taken from its output “b”",
        "The decision is “yes” where the score is above 0.3",
        "scikit-learn 1.3.2, Python 3.11",
        "trusted",
        "confined; blocked or limited: memory. Not blocked on this computer: network.",
    ):
        assert part in told_all["Model"]
    assert "“shop = b implies sex = m”" in told_all["Attributes"]
    assert "eligible for testing" in told_all["Attributes"]


def prove(state):
    if state.table is not None and state.card is not None:
        state.set_mapping(make_mapping())
        state.set_proof(PROOF)


def favour(value):
    return lambda state: state.set_favourable(value) if state.label else None


MOVES = {
    "next": lambda state: state.next(),
    "back": lambda state: state.back(),
    "table": lambda state: state.set_table(make_table()),
    "other table": lambda state: state.set_table(make_table("x.csv", sexes=("f", "m", "x"))),
    "label": lambda state: state.set_label("approved") if state.table else None,
    "good": favour("yes"),
    "bad": favour("no"),
    "model": lambda state: state.set_model(make_card(), trusted=False),
    "other model": lambda state: state.set_model(make_card("b" * 64), trusted=False),
    "proof": prove,
    "protect": lambda state: state.choose("sex", Choice(role=Role.PROTECTED)),
    "free": lambda state: state.choose("sex", Choice()),
}


@settings(max_examples=many(100))
@given(st.lists(st.sampled_from(sorted(MOVES)), max_size=40))
def test_no_way_through_reaches_a_step_past_a_gap(moves):
    state = WizardState()
    for move in moves:
        MOVES[move](state)
        standings = list(state.standings().values())
        for step, standing in enumerate(standings):
            if standing is Standing.DONE:
                assert not state.blocked(Step(step))
            if standing in (Standing.DONE, Standing.OPEN):
                assert all(before is Standing.DONE for before in standings[:step])
        assert Step.REVIEW not in state.redo
        if all(standing is Standing.DONE for standing in standings[:4]):
            state.path = Path("here.fairdesk")
            assert state.plan().audit.domain.protected.size


def test_undecided_cells_are_told_at_the_review_and_a_decision_asks_to_look_again(answered):
    table = answered.table
    odd = msgspec.structs.replace(table.column("age"), odd=(OddCell("O", 2, (3, 9)),), odd_rows=2)
    columns = tuple(odd if each.name == "age" else each for each in table.columns)
    answered.table = replace(table, columns=columns)
    said = dict(question(answered))["Data"]
    assert f"age holds numbers and 2 {phrases.CELLS_NOT_NUMBERS}" in said
    dialect = with_reading(table.source.dialect, "age", ColumnReading(odd="missing"))
    source = msgspec.structs.replace(table.source, dialect=dialect)
    answered.set_table(replace(answered.table, source=source))
    assert answered.standings()[Step.MODEL] is Standing.REDO
    assert answered.blocked(Step.DATA) == ""


def test_a_custom_plan_begins_as_the_full_one(answered):
    full = answered.first_runs().runs
    answered.choose_kind(PlanKind.CUSTOM)
    assert answered.first_runs().runs == full
    # and is then the auditor's own
    answered.take_method("groups", wanted=False)
    answered.take_method("uniform", wanted=True)
    answered.take_method("uniform", wanted=True)
    answered.move_method("uniform", -1)
    methods = [run.method for run in answered.first_runs().runs]
    assert methods == [*(run.method for run in full[1:-1]), "uniform", full[-1].method]
    answered.choose_kind(PlanKind.QUICK)
    assert answered.limit == 60.0
    answered.choose_kind(PlanKind.CUSTOM)
    assert [run.method for run in answered.first_runs().runs] == methods


def test_a_method_moves_no_farther_than_the_ends(answered):
    answered.choose_methods("groups", "maft")
    answered.move_method("groups", -1)
    assert answered.chosen == ["groups", "maft"]
    answered.move_method("groups", 1)
    answered.move_method("groups", 1)
    assert answered.chosen == ["maft", "groups"]
