import msgspec
from PySide6.QtCore import Qt

from fairdesk.document import pairs
from fairdesk.document.pairs import RECORDED, DataRow
from fairdesk.gui.workspace.pairs.pairs_model import columns_of
from fairdesk.gui.workspace.pairs.side_by_side import SideBySide, side_by_side_table
from tests.document.test_pairs import DECISIONS, pair, spec

__all__ = ["pair", "spec"]


def test_columns_name_what_follows_from_the_protected(spec, pair):
    (debts,) = (each for each in columns_of(spec, lambda: DECISIONS) if each.title == "debts")
    assert debts.text(pair) == "3 → 5"
    assert debts.changed(pair)


def test_the_column_of_one_decision_is_unchanged(spec, pair):
    same = msgspec.structs.replace(pair, partner_class=0)
    (decision,) = (each for each in columns_of(spec, lambda: DECISIONS) if each.title == "Decision")
    assert decision.text(same) == "no"
    assert not decision.changed(same)


def test_a_first_instance_of_the_data_is_told_by_its_row_and_not_shown_twice(
    qtbot, themed, spec, pair
):
    model = SideBySide(themed)
    card = pairs.card(spec, pair, DECISIONS.__getitem__)
    table = side_by_side_table(model, ())
    qtbot.addWidget(table)
    model.show(pairs.with_nearest(spec, pair, card, DataRow(pair.row, 0.0, 1_644, "good")))
    assert model.headerData(1, Qt.Orientation.Horizontal) == "Data row 1,644"
    assert table.isColumnHidden(3)
    (recorded,) = (row for row in range(model.rowCount()) if model.index(row, 0).data() == RECORDED)
    assert model.index(recorded, 1).data() == "good"
    model.show(pairs.with_nearest(spec, pair, card, DataRow(pair.row + 1.0, 0.2, 7, "good")))
    assert model.headerData(1, Qt.Orientation.Horizontal) == "Instance"
    assert not table.isColumnHidden(3)
