"""The window's answers and the command line's arguments come to the same question."""

import json
from dataclasses import replace

import msgspec
import numpy as np
import pytest

from fairdesk.app.audit import Question, plan_of
from fairdesk.app.plan import AuditPlan, Choice
from fairdesk.app.standard import LIMITS, PlanKind, planned, standard_runs
from fairdesk.audit.plan.spec import Limits, RunSpec, read_limits
from fairdesk.audit.runs.inspection import Inspection, Subject
from fairdesk.cli.audit import question_of
from fairdesk.cli.commands import parse
from fairdesk.data.domain.domain import Role
from fairdesk.data.table import Column, Dialect, Kind, Source, Table
from fairdesk.errors import DataError, SpecError
from fairdesk.gui.wizard.state.plans import Length
from fairdesk.gui.wizard.state.wizard_state import WizardState
from fairdesk.models.inputs.input_check import InputCheck
from fairdesk.models.model import How, Input, Mapping
from fairdesk.models.pickles.contents import Contents
from tests import phrases
from tests.cards import card as made_up

NAN = float("nan")
COLUMNS = (
    Column("sex", Kind.NOMINAL, ("f", "m"), 0, 1, missing=1),
    Column("age", Kind.INTEGER, (), 20, 60),
    Column("shop", Kind.NOMINAL, ("a", "b", "c"), 0, 2, missing=1),
    Column("income", Kind.REAL, (), 0.0, 9.0),
    Column("birthplace", Kind.NOMINAL, ("here", "there"), 0, 1, missing=2),
    Column("note", Kind.TEXT, ("so", "thus"), 0, 1),
    Column("approved", Kind.NOMINAL, ("no", "yes"), 0, 1),
)
ROWS = [
    [0, 20, 0, 0.5, 0, 0, 0],
    [1, 60, 1, 9.0, NAN, 1, 1],
    [NAN, 33, 2, 4.0, 1, 0, 1],
    [1, 41, NAN, 2.0, NAN, 1, 0],
    [0, 44, 1, 7.5, 0, 0, 1],
]
INPUTS = (("sex", How.LABEL), ("age", How.AS_IS), ("shop", How.LABEL), ("income", How.AS_IS))


def opened(predictions=""):
    """Return what comes of opening the data and a model; or a column of decisions."""
    source = Source("people.csv", "0" * 64, len(ROWS), Dialect())
    table = Table(source, COLUMNS, np.array(ROWS, dtype=float))
    card = made_up(
        *(name for name, _ in INPUTS),
        path="loans.pkl",
        sha256="a" * 64,
        needed_trust=not predictions,
    )
    inputs = () if predictions else tuple(Input(name, name, how) for name, how in INPUTS)
    proof = InputCheck(5, 0, 0.75, 0.5, 0.8, ((1, 1), (0, 2)), (), takes_missing=("sex", "shop"))
    mapping = Mapping(inputs, "by name", 1)
    return Inspection(table, "yes", card, Contents("pickle"), mapping, proof)


def by_arguments(found, protected, limits, predictions=""):
    subject = Subject("people.csv", "approved", "yes", predictions=predictions)
    question = Question(subject, protected, (RunSpec("quick"),), title="Loans", person="applicant")
    return plan_of(msgspec.structs.replace(question, limits=limits), found).spec()


def by_answers(found, choices, constraints=(), predictions=""):
    state = WizardState(title="Loans")
    state.set_table(found.table)
    state.set_label("approved")
    state.set_favourable("yes")
    if predictions:
        state.set_predictions(predictions, found.card, found.mapping)
    else:
        state.set_model(found.card, trusted=True)
        state.set_mapping(found.mapping)
    state.set_proof(found.proof)
    for name, choice in choices.items():
        state.choose(name, choice)
    state.set_constraints(constraints)
    return state.spec()


CASES = {
    "nothing left out": ({}, ("sex",), {}, ()),
    "limits, steps and roles": (
        {
            "age": {"low": 21, "high": 51, "step": 10},
            "income": [1, 8],
            "shop": {"values": ["a", "b", "Unknown"]},
        },
        ("sex", "birthplace"),
        {
            "age": Choice(limits=(21.0, 51.0), step=10.0),
            "income": Choice(limits=(1.0, 8.0)),
            "shop": Choice(limits=("a", "b")),
        },
        (),
    ),
    "names without those that are missing": (
        {"sex": ["f", "m"], "shop": ["c", "a"]},
        ("sex", "age"),
        {
            "sex": Choice(Role.PROTECTED, ("f", "m"), unknown=False),
            "shop": Choice(limits=("a", "c"), unknown=False),
        },
        (),
    ),
    "what everybody fulfils": (
        {"shop": {"role": "fixed"}},
        ("sex",),
        {"shop": Choice(Role.FIXED)},
        ("age >= 25 or income <= 5", "sex = f implies age <= 50"),
    ),
}


@pytest.mark.parametrize("predictions", ["", "shop"])
@pytest.mark.parametrize("case", CASES)
def test_the_window_and_the_command_line_plan_alike(case, predictions, tmp_path):
    attributes, protected, choices, constraints = CASES[case]
    if predictions:
        attributes = {name: each for name, each in attributes.items() if name != predictions}
        choices = {name: each for name, each in choices.items() if name != predictions}
    file = tmp_path / "domain.json"
    file.write_text(json.dumps({"attributes": attributes, "constraints": constraints}))
    found = opened(predictions)
    choices = {name: Choice(Role.PROTECTED) for name in protected} | choices
    typed = by_arguments(found, protected, read_limits(file), predictions)
    clicked = by_answers(found, choices, constraints, predictions)
    assert msgspec.structs.replace(typed, created="") == msgspec.structs.replace(
        clicked, created=""
    )
    names = {each.name for each in (*typed.domain.attributes, *typed.domain.unseen)}
    assert set(protected) <= names
    assert not names & {"approved", "note", predictions}


@pytest.mark.parametrize(
    ("protected", "attributes", "words"),
    [
        (("approved",), {}, f"label column “approved” {phrases.NOT_TO_BE_PROTECTED}"),
        (("shop",), {}, f"column of decisions “shop” {phrases.NOT_TO_BE_PROTECTED}"),
        (("note",), {}, "contains free text"),
        (("race",), {}, "race"),
        (("sex",), {"note": ["so"]}, "“note”, which is not an attribute"),
    ],
)
def test_what_cannot_be_planned_is_told(protected, attributes, words):
    with pytest.raises((SpecError, DataError), match=words):
        by_arguments(opened("shop"), protected, Limits(attributes), "shop")


def asked_for(*arguments, out="o"):
    """Return the question of a command line about the small table."""
    line = ["audit", "--data", "people.csv", "--model", "loans.pkl", "--label", "approved"]
    line += ["--favourable", "yes", "--protected", "sex", "--out", out, *arguments]
    return question_of(parse(line))


def clicked_state(found):
    state = WizardState(title="Loans", seed=3)
    state.set_table(found.table)
    state.set_label("approved")
    state.set_favourable("yes")
    state.set_model(found.card, trusted=True)
    state.set_mapping(found.mapping)
    state.set_proof(found.proof)
    state.choose("sex", Choice(Role.PROTECTED))
    return state


@pytest.mark.parametrize("kind", [PlanKind.QUICK, PlanKind.FULL])
@pytest.mark.parametrize("mitigate", [False, True])
def test_a_standard_audit_is_the_same_by_clicks_and_by_arguments(kind, mitigate):
    found = opened()
    more = ["--mitigate"] if mitigate else []
    question = asked_for("--plan", kind.value, "--seed", "3", *more)
    typed = standard_runs(question.standard, plan_of(question, found).spec(), found.table)
    state = clicked_state(found)
    state.choose_kind(kind)
    state.repair = mitigate
    assert state.first_runs() == typed
    assert state.limit == question.limit == LIMITS[kind]
    assert len(typed.runs) >= 3


def test_chosen_methods_are_the_same_by_clicks_and_by_arguments():
    found = opened()
    question = asked_for(
        *("--method", "testsgd", "--method", "maft", "--option", "maft.local_num=7"),
        *("--seed", "3", "--time", "60"),
    )
    state = clicked_state(found)
    state.choose_methods("testsgd", "maft")
    state.options["maft"] = {"local_num": 7}
    state.length = Length.QUICK
    assert state.first_runs().runs == planned(question.runs, question.limit)
    assert state.limit == question.limit


@pytest.mark.parametrize(
    ("names", "wizard", "command"),
    [(("note",), "text", "text"), (("note", "age"), AuditPlan.person, "person")],
)
def test_a_row_is_a_text_where_a_model_reads_nothing_else(names, wizard, command):
    found = opened()
    inputs = tuple(Input(name, name, How.LABEL) for name in names)
    mapping = msgspec.structs.replace(found.mapping, inputs=inputs)
    found = replace(found, mapping=mapping)
    state = WizardState(title="Loans")
    state.set_table(found.table)
    state.set_mapping(found.mapping)
    assert state.person == wizard
    subject = Subject("people.csv", "approved", "yes")
    question = Question(subject, ("sex",), (RunSpec("testsgd"),), title="Loans")
    assert plan_of(question, found).person == command
    # what the auditor says is kept
    own = msgspec.structs.replace(question, person="comment")
    assert plan_of(own, found).person == "comment"
    state.person = "comment"
    state.set_mapping(msgspec.structs.replace(found.mapping, inputs=()))
    state.set_mapping(found.mapping)
    assert state.person == "comment"
