"""The form of what methods about groups compare: bins, texts, terms."""

import msgspec
import numpy as np
import pytest
from PySide6.QtWidgets import QPushButton

from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.store.store import Store
from fairdesk.data.domain.attributes import Role, attribute_of
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Column, Kind
from fairdesk.groups.tabular.rules import rules_about
from fairdesk.groups.text.terms import TERMS
from fairdesk.gui.forms.rules_form import RulesForm, usual_edges
from fairdesk.gui.workspace.shell.again_dialog import AgainDialog
from tests import phrases
from tests.gui.auditing import make_audit

AGE = Column("age", Kind.INTEGER, (), 17, 90)
INCOME = Column("income", Kind.REAL, (), 0.0, 1.0)
SAID = Column("said", Kind.TEXT, ("a gay man", "an old man"), 0, 1)
PEOPLE = Domain((attribute_of(AGE, Role.PROTECTED), attribute_of(INCOME)))
TEXTS = Domain((attribute_of(SAID, Role.FIXED),))
BOTH = Domain((attribute_of(SAID, Role.FIXED), attribute_of(AGE, Role.PROTECTED)))


@pytest.fixture
def form(qtbot, themed):
    made = RulesForm()
    qtbot.addWidget(made)
    made.resize(800, 500)
    return made


def show(form, run, domain):
    form.show_run(run, domain, (AGE, INCOME, SAID), "applicant")


def write(field, text):
    field.setText(text)
    field.textEdited.emit(text)


@pytest.mark.parametrize("bins", [2, 7, 10, 50])
@pytest.mark.parametrize("column", [AGE, INCOME])
def test_the_usual_edges_are_those_of_the_method(column, bins):
    whole = column.kind is Kind.INTEGER
    codes = np.arange(17.0, 91.0) if whole else np.linspace(0.0, 1.0, 500)
    rules = rules_about(attribute_of(column, Role.PROTECTED), codes, bins=bins)
    starts = {each.low for each in rules.conditions} - {None}
    assert usual_edges(column, bins) == tuple(sorted(starts))


def test_numbers_with_few_values_have_a_bin_for_each():
    assert usual_edges(msgspec.structs.replace(AGE, low=1, high=4), 10) == (2.0, 3.0, 4.0)


def test_bins_are_offered_and_checked(form, qtbot):
    show(form, RunSpec("quick"), PEOPLE)
    assert form.isHidden()
    show(form, RunSpec("testsgd", {"bins": 4}), PEOPLE)
    form.show()
    assert form.edges.keys() == {"age"}
    field = form.edges["age"]
    assert field.text() == "36, 54, 73"
    # what was hidden before has room now
    qtbot.waitUntil(lambda: field.height() >= field.minimumSizeHint().height())
    assert form.answers.edges == {}
    with qtbot.waitSignal(form.changed):
        write(field, "25, 40.5")
    assert form.answers == RunSpec("testsgd", {"bins": 4}, edges={"age": (25.0, 40.5)})
    for wrong in ("40, 25", "25, old"):
        write(field, wrong)
        assert phrases.MUST_RISE in form.wrong.text()
    write(field, "")
    assert form.answers.edges == {}
    assert not form.wrong.text()
    # what was not touched follows the number of bins
    write(field, "36, 54, 73")
    show(form, RunSpec("testsgd", {"bins": 2}), PEOPLE)
    assert form.edges["age"].text() == "54"
    show(form, RunSpec("testsgd", edges={"age": (30.0,)}), PEOPLE)
    assert form.edges["age"].text() == "30"


def test_terms_can_be_edited_by_category(form, qtbot):
    show(form, RunSpec("testsgd", text="said"), TEXTS)
    form.show()
    assert form.offers_texts
    assert [category.text() for category, _ in form.categories] == list(TERMS)
    assert form.answers == RunSpec("testsgd", text="said")
    for button in form.findChildren(QPushButton):
        if button.accessibleName() in ("Remove race", "Remove religion", "Remove age"):
            button.click()
    write(form.categories[0][1], "gay, straight ,")
    assert form.answers.terms == {"gender": ("gay", "straight")}
    form.more.click()
    assert "two terms" not in form.wrong.text()
    write(form.categories[1][0], "faith")
    assert f"“faith” has {phrases.TOO_FEW_TERMS}" in form.wrong.text()
    write(form.categories[1][1], "sikh, gay")
    assert "“gay” is in both the categories" in form.wrong.text()
    form.paper.click()
    assert form.answers.terms == {}
    assert not form.wrong.text()
    assert len(form.categories) == len(TERMS)
    qtbot.waitUntil(form.categories[-1][0].isVisible)
    for button in form.findChildren(QPushButton):
        if button.accessibleName().startswith("Remove") and button.isVisible():
            button.click()
    assert phrases.TOO_FEW_TERMS in form.wrong.text()


def test_groups_or_texts_are_compared(form):
    show(form, RunSpec("testsgd", edges={"age": (30.0,)}), BOTH)
    form.show()
    assert not form._bins.isHidden()
    assert form._texts.isHidden()
    form.about.setCurrentIndex(form.about.findData("said"))
    assert (form.answers.text, form.answers.edges) == ("said", {})
    assert form._bins.isHidden()
    assert not form._texts.isHidden()
    # a method that reads no texts
    show(form, RunSpec("groups", edges={"age": (30.0,)}), BOTH)
    assert not form.offers_texts
    assert form.answers == RunSpec("groups", edges={"age": (30.0,)})


def test_another_run_compares_the_same(qtbot, themed, tmp_path):
    with Store.open(make_audit(tmp_path)) as store:
        spec, (last,) = store.spec, store.runs()
    numbers = [each.name for each in spec.domain.attributes if not each.values]
    protected = tuple(
        msgspec.structs.replace(each, role=Role.PROTECTED, compared=(each.low, each.high))
        if each.name == numbers[0]
        else each
        for each in spec.domain.attributes
    )
    spec = msgspec.structs.replace(spec, domain=Domain(protected))
    edges = {numbers[0]: (30.0,)}
    before = RunSpec("testsgd", {"outcome": "each"}, edges=edges, max_distance=None)
    last = msgspec.structs.replace(last, spec=before)
    dialog = AgainDialog(spec, last)
    qtbot.addWidget(dialog)
    dialog.show()
    assert dialog.run() == msgspec.structs.replace(before, seed=1)
    assert not dialog.near.isVisible()
    assert dialog.goes_on.isHidden()
    write(dialog.rules.edges[numbers[0]], "50, 40")
    assert not dialog.ok_button.isEnabled()
    write(dialog.rules.edges[numbers[0]], "40, 50")
    assert dialog.ok_button.isEnabled()
    assert dialog.run().edges == {numbers[0]: (40.0, 50.0)}
    dialog.picker.list.setCurrentItem(dialog.picker.items["maft"])
    assert dialog.run().edges == {}
    assert dialog.near.isVisible()
