"""Choosing a method: what each tells, which are off, and another run that goes on with one."""

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox

from fairdesk.app.standard import SECONDS
from fairdesk.audit.catalogue.method import QuestionKind
from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.store import Store
from fairdesk.gui.forms.method_picker import MethodPicker
from fairdesk.gui.kit import theme
from fairdesk.gui.workspace.shell.again_dialog import AgainDialog
from fairdesk.models.model import Capability
from tests.gui.auditing import make_audit


@pytest.fixture
def picker(qtbot):
    made = MethodPicker()
    qtbot.addWidget(made)
    made.show_methods("maft", {}, {"uniform": "It is off: for a reason."}, {"maft": "Mind this."})
    made.show()
    return made


@pytest.fixture
def audit(tmp_path) -> tuple[AuditSpec, tuple]:
    with Store.open(make_audit(tmp_path)) as store:
        return store.spec, store.runs()


def test_every_method_has_its_page(picker):
    # a repair needs what others have found, and is asked for on its own page
    offered = {
        key: each for key, each in METHODS.items() if each.answers is not QuestionKind.REPAIR
    }
    assert picker.items.keys() == offered.keys()
    for key, method in offered.items():
        picker.list.setCurrentItem(picker.items[key])
        assert picker.key == key
        for text in (method.shows, method.cannot, f"Source: {method.paper}."):
            assert text in [each.text() for each in (picker._tells, picker._cannot, picker._paper)]
        # how long it may take is asked elsewhere
        assert picker.form.fields.keys() == set(method.options.__struct_fields__) - {SECONDS}


def test_what_is_off_says_why_and_offers_no_parameters(picker):
    assert picker._remark.text() == "Mind this."
    picker.list.setCurrentItem(picker.items["uniform"])
    assert picker.items["uniform"].text().endswith("(off)")
    assert picker.reason.isVisible()
    assert picker._fold.isHidden()
    assert picker._remark.isHidden()


def test_what_is_off_follows_a_change_of_colours(themed, picker):
    theme.apply(themed, "dark")
    themed.processEvents()
    colour = picker.items["uniform"].foreground().color().name().upper()
    theme.apply(themed, "light")
    assert colour == theme.DARK.quiet.upper()
    themed.processEvents()
    assert picker.items["uniform"].foreground().color().name().upper() == theme.LIGHT.quiet.upper()


def test_keys_walk_past_the_headings(picker, qtbot):
    picker.list.setCurrentItem(picker.items[next(iter(METHODS))])
    picker.list.setFocus()
    met = [picker.key]
    for _ in range(len(picker.items) - 1):
        qtbot.keyClick(picker.list, Qt.Key.Key_Down)
        met.append(picker.key)
    # what is off stands at the end
    assert met == [*(key for key in picker.items if key != "uniform"), "uniform"]


def test_several_methods_are_ticked(qtbot):
    picker = MethodPicker(several=True)
    qtbot.addWidget(picker)
    picker.show_methods("maft", {}, {"uniform": "It is off."}, {}, ("maft", "groups"))
    ticked = [k for k, item in picker.items.items() if item.checkState() is Qt.CheckState.Checked]
    assert ticked == ["maft", "groups"]
    picker.show()
    picker.list.setFocus()
    told = []
    picker.taken.connect(lambda key, wanted: told.append((key, wanted)))
    # the space bar ticks the method that is looked at
    qtbot.keyClick(picker.list, Qt.Key.Key_Space)
    qtbot.keyClick(picker.list, Qt.Key.Key_Down)
    qtbot.keyClick(picker.list, Qt.Key.Key_Space)
    assert told == [("maft", False), ("eidig", True)]


def test_every_parameter_shows_its_default_and_not_a_rounded_one(picker):
    for key, item in picker.items.items():
        method = METHODS[key]
        picker.list.setCurrentItem(item)
        for name, field in picker.form.fields.items():
            default = getattr(method.options(), name)
            if isinstance(field, QComboBox):
                assert field.currentData() == default
                continue
            assert field.value() == default
            assert float(field.text().replace(",", "")) == default


def test_a_parameter_is_told(picker, qtbot):
    with qtbot.waitSignal(picker.option_set) as caught:
        picker.form.fields["global_num"].setValue(7)
    assert caught.args == ["global_num", 7]


def test_another_run_has_the_next_seed_and_may_go_on(qtbot, audit):
    spec, (last,) = audit
    dialog = AgainDialog(spec, last)
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.resize(300, 400)
    picker = dialog.picker
    assert picker.width() >= picker.minimumSizeHint().width(), "no part covers another"
    run = dialog.run()
    assert (run.method, run.seed, run.options) == ("uniform", 1, {"samples": 400})
    assert (run.max_distance, run.continues) == (None, 0)
    assert not run.plausible, "the one before was not kept to plausible pairs"
    dialog.near.plausible.setChecked(True)
    assert dialog.run().plausible
    dialog.picker.list.setCurrentItem(dialog.picker.items["estimate"])
    assert not dialog.near.plausible.isVisible()
    assert not dialog.run().plausible
    dialog.picker.list.setCurrentItem(dialog.picker.items["uniform"])
    assert "exclude the 119 pairs" in dialog.goes_on.text()
    dialog.goes_on.setChecked(True)
    dialog.near.only.setChecked(True)
    dialog.near.most.setValue(0.25)
    assert (dialog.run().max_distance, dialog.run().continues) == (0.25, last.id)


def test_a_run_cannot_begin_with_a_method_that_is_off(qtbot, audit):
    spec, (last,) = audit
    model = msgspec.structs.replace(spec.model, can=(Capability.DECIDES,))
    dialog = AgainDialog(msgspec.structs.replace(spec, model=model), last, method="maft")
    qtbot.addWidget(dialog)
    off = [key for key, item in dialog.picker.items.items() if item.text().endswith("(off)")]
    assert "maft" not in off
    for key, item in dialog.picker.items.items():
        dialog.picker.list.setCurrentItem(item)
        assert dialog.ok_button.isEnabled() == (key not in off)


def test_the_heads_of_questions_can_be_read(qtbot, themed):
    made = MethodPicker()
    qtbot.addWidget(made)
    made._colour()
    text = made.list.palette().text().color()
    assert all(head.foreground().color() == text for head in made._heads.values())
