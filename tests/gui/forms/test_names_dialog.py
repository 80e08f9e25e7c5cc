"""The names of a model's decisions: asked for, kept, and shown wherever a decision is."""

import msgspec
import pytest

from fairdesk.audit.plan.decisions import decisions
from fairdesk.audit.plan.labels import class_labels
from fairdesk.audit.store.store import Store
from fairdesk.gui.forms.dialogs import NamesDialog
from fairdesk.gui.wizard.model.cards import AnswerField
from fairdesk.gui.wizard.state.wizard_state import WizardState
from fairdesk.models.model import Mapping, Takes
from tests.cards import card as made_up
from tests.gui.auditing import make_audit


@pytest.fixture
def dialog(qtbot, themed):
    from PySide6.QtWidgets import QWidget

    above = QWidget()
    qtbot.addWidget(above)
    # the dialog goes with what it stands above
    yield NamesDialog(("0", "1", "2"), (), above)
    above.close()


def test_all_are_named_or_none(dialog):
    assert dialog.names() == ()
    assert dialog.ok_button.isEnabled()
    dialog.fields[0].setText("hate")
    assert not dialog.ok_button.isEnabled()
    dialog.fields[1].setText("offensive")
    dialog.fields[2].setText("hate")
    assert not dialog.ok_button.isEnabled()
    dialog.fields[2].setText(" neither ")
    assert dialog.ok_button.isEnabled()
    assert dialog.names() == ("hate", "offensive", "neither")


def test_names_are_shown_for_decisions_and_labels_are_matched_by_the_model_s_own(tmp_path):
    store = Store.open(make_audit(tmp_path))
    spec, table = store.spec, store.table()
    store.close()
    named = msgspec.structs.replace(
        spec, mapping=msgspec.structs.replace(spec.mapping, names=("refused", "granted"))
    )
    assert named.decisions == ("refused", "granted")
    assert named.mapping.written(named.model) == spec.decisions
    assert class_labels(named, table) == class_labels(spec, table)
    (told,) = [each for each in decisions(named, table) if "names" in each.facts]
    assert all(name in told.what for name in (*spec.decisions, "refused", "granted"))
    assert not [each for each in decisions(spec, table) if "names" in each.facts]


def test_names_outlive_another_way_to_feed_the_model():
    state = WizardState()
    state.set_mapping(Mapping((), "by name", 0))
    state.name_decisions(("hate", "offensive", "neither"))
    state.set_mapping(Mapping((), "by position", 2))
    assert state.mapping.names == ("hate", "offensive", "neither")
    state.name_decisions(())
    assert state.mapping.names == ()


def test_the_field_offers_to_name_numbers_only_and_shows_the_names(qtbot, themed):
    field = AnswerField()
    qtbot.addWidget(field)
    card = made_up(inputs=(), takes=Takes.MATRIX, named=False, classes=("0", "1", "2"))
    mapping = Mapping((), "by name", 2, names=("hate", "offensive", "neither"))
    field.show_answers(card, mapping)
    assert not field.naming.isHidden()
    assert field.combo.currentText() == "neither (2)"
    assert field.combo.currentData() == "2"
    field.show_answers(msgspec.structs.replace(card, classes=("a", "b", "c")), None)
    assert field.naming.isHidden()
