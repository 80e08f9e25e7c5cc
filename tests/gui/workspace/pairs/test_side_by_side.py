import msgspec

from fairdesk.document import pairs
from fairdesk.document.pairs import RECORDED, DataRow
from fairdesk.gui.workspace.pairs.pairs_model import columns_of
from fairdesk.gui.workspace.pairs.side_by_side import SideBySide
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
    card = pairs.card(spec, pair, DECISIONS.__getitem__)
    table = SideBySide()
    qtbot.addWidget(table)
    table.show_card(pairs.with_nearest(spec, pair, card, DataRow(pair.row, 0.0, 1_644, "good")))
    assert table.head(1) == "Data row 1,644"
    assert table.columnCount() == 3
    rows = range(table.rowCount())
    (recorded,) = (row for row in rows if table.item(row, 0).text() == RECORDED)
    assert table.item(recorded, 1).text() == "good"
    other = DataRow(pair.row + 1.0, 0.2, 7, "good")
    table.show_card(pairs.with_nearest(spec, pair, card, other))
    assert table.head(1) == "Instance"
    assert table.columnCount() == 4
