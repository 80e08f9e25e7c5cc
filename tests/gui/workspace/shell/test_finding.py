"""Whatever there is in an audit is found by typing its name, and shown where it belongs."""

import pytest
from PySide6.QtGui import QAction

from fairdesk.gui.kit.settings import Settings
from fairdesk.gui.main_window import MainWindow
from fairdesk.gui.menus import Commands, Found
from fairdesk.gui.workspace.common.run_page import DATA, EXAMPLES, GROUPS, NAMES
from fairdesk.gui.workspace.evidence import COLUMNS
from fairdesk.wording.rules import rule_phrase
from tests.gui.group_figures import FIGURES
from tests.gui.workspace.groups import test_page
from tests.gui.workspace.groups.test_group_tables import measure


@pytest.fixture
def window(qtbot, themed, path):
    measure(path)
    test_page.measure(path, "testsgd", FIGURES)
    window = MainWindow(Settings())
    qtbot.addWidget(window)
    window.show()
    window.open_audit(path)
    qtbot.waitUntil(lambda: window.workspace._session.loaded, timeout=10_000)
    yield window
    window.close_audit()


def choose(window, text):
    """Type into the list of commands and take the first entry; gives the entries."""
    window.choose_command()
    dialog = window.findChildren(Commands)[-1]
    dialog.search.setText(text)
    listed = [dialog.list.item(row).text() for row in range(dialog.list.count())]
    dialog.search.returnPressed.emit()
    return listed


def page_of(window):
    return NAMES[window.workspace._pages.currentIndex()]


def test_nothing_of_the_audit_is_listed_before_something_is_typed(window):
    window.choose_command()
    (dialog,) = window.findChildren(Commands)
    first = {dialog.list.item(row).text().partition(":")[0] for row in range(dialog.list.count())}
    assert "Attribute" not in first
    dialog.search.setText("attribute: a")
    assert dialog.list.count() > 0


def test_an_attribute_is_chosen_in_its_table(qtbot, window):
    assert choose(window, "attribute: age") == ["Attribute: age"]
    view = window.workspace.data.view
    assert page_of(window) == DATA
    qtbot.waitUntil(lambda: COLUMNS in view.shown, timeout=10_000)
    table = view.shown[COLUMNS]
    assert table.item(table.currentRow(), 0).text() == "age"


def test_a_pair_is_found_by_its_number(qtbot, window):
    pairs = window.workspace.examples
    assert choose(window, "pair 7")[0] == "Pair 7"
    qtbot.waitUntil(lambda: getattr(pairs.detail.pair, "id", None) == 7, timeout=10_000)
    assert page_of(window) == EXAMPLES
    with qtbot.waitSignal(window.workspace.said) as said:
        choose(window, "99,999")
    assert "99,999" in said.args[0]


def test_what_begins_with_the_words_comes_before_what_holds_them_somewhere(window):
    opened = QAction("Open recent", window)
    runs = [Found("Run 1: MAFT", window.show)]
    dialog = Commands([("Audit: Open recent: prun 17", opened)], window, lambda _text: runs)
    dialog.search.setText("run 1")
    listed = [dialog.list.item(row).text() for row in range(dialog.list.count())]
    assert listed == ["Run 1: MAFT", "Audit: Open recent: prun 17"]


def test_a_run_is_found_by_its_method(window):
    assert choose(window, "run 1")[0].startswith("Run 1: ")
    assert page_of(window) == EXAMPLES


def test_a_group_is_chosen_in_the_table_of_its_attribute(qtbot, window):
    tables = window.workspace.groups.tables
    listed = choose(window, "group: sex =")
    assert page_of(window) == GROUPS
    alone = [name for name in listed if " and " not in name]
    assert len(alone) == 2
    for name in alone:
        choose(window, name.casefold())
        shown = next(each for each in tables.shown if each.tables[0].attributes == ("sex",))
        figures = next(each for key, each in shown.view.shown.items() if key.startswith("rates"))
        assert name == f"Group: sex = {figures.item(figures.currentRow(), 0).text()}"


def test_a_subgroup_is_chosen_in_the_list(qtbot, window):
    findings = window.workspace.groups.findings

    def phrase():
        return rule_phrase(window.workspace._session.spec, findings.finding.rule_set.conditions)

    listed = choose(window, "subgroup:")
    choose(window, listed[-1])
    assert f"Subgroup: {phrase()}" == listed[-1]
    # whatever the list is filtered by
    findings._search.setText(phrase())
    choose(window, listed[0])
    assert f"Subgroup: {phrase()}" == listed[0]


def test_a_term_is_found_without_an_audit_too(qtbot, window):
    window.close_audit()
    listed = choose(window, "term: impact ratio")
    assert listed == ["Term: Impact ratio"]
    assert window.help.terms.text() == "Impact ratio"
    window.help.close()
