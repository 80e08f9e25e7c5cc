"""A table of rules: as high as its words need at its width."""

from fairdesk.gui.workspace.common.rule_table import Cell, RuleTable


def test_rows_are_as_high_as_their_words_need_at_each_width(qtbot, themed):
    table = RuleTable("Rates", ("Group", "Observed"))
    qtbot.addWidget(table)
    table.show()
    rule = "race is not Amer-Indian-Eskimo or Other"
    table.show_rows([(Cell(rule, 0.0), Cell("9.1 %", 9.1))])
    line = table.fontMetrics().height()
    wide = table.fontMetrics().horizontalAdvance(rule)
    for width, lines in ((wide + 300, 1), (wide // 2 + 200, 2), (wide + 300, 1)):
        table.resize(width, table.height())
        assert round(table.rowHeight(0) / line - 0.4) == lines
        assert sum(table.columnWidth(place) for place in range(2)) == table.viewport().width()
