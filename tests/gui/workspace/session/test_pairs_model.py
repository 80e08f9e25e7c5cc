import msgspec
import pytest
from PySide6.QtCore import QObject, Qt

from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.store.records import PairQuery
from fairdesk.audit.store.store import Store
from fairdesk.gui.workspace.pairs import pairs_model
from fairdesk.gui.workspace.pairs.pairs_model import PairRole, PairsModel, as_tsv
from tests.gui.auditing import make_audit, store_thread
from tests.report.building import run_into


@pytest.fixture
def path(tmp_path):
    return make_audit(tmp_path, samples=2000)


@pytest.fixture
def model(qtbot, path):
    owner = QObject()
    with Store.open(path) as store:
        spec = store.spec
    with store_thread(path, owner) as thread:
        model = PairsModel(spec, thread, lambda: ("no", "yes"))
        model.failed.connect(lambda error: pytest.fail(str(error)))
        yield model


def show(qtbot, model, query):
    with qtbot.waitSignal(model.counted):
        model.show_query(query)


def column(model, title):
    return next(i for i, each in enumerate(model.columns) if each.title == title)


def read(qtbot, model, row):
    qtbot.waitUntil(lambda: model.pair(row) is not None)
    return model.pair(row)


def expected(path, query, upto=None):
    with Store.open(path) as store:
        return [pair.id for pair in store.each_pair(query)]


def test_it_keeps_the_rules_of_a_model(qtbot, qtmodeltester, model):
    show(qtbot, model, PairQuery())
    qtmodeltester.check(model)


def test_every_row_is_there_but_few_pages_are_kept(qtbot, model, path, monkeypatch):
    monkeypatch.setattr(pairs_model, "KEPT", 2)
    show(qtbot, model, PairQuery())
    wanted = expected(path, PairQuery())
    assert model.rowCount() == len(wanted) > 3 * pairs_model.PAGE
    for row in (0, pairs_model.PAGE, 2 * pairs_model.PAGE, len(wanted) - 1, 1):
        assert read(qtbot, model, row).id == wanted[row]
        assert len(model._pages) <= 2


def test_a_cell_is_empty_until_its_page_has_come(qtbot, model):
    show(qtbot, model, PairQuery())
    far = model.index(model.rowCount() - 1, column(model, "No."))
    assert far.data() is None
    with qtbot.waitSignal(model.arrived):
        pass
    assert far.data() == str(model.pair(far.row()).id)


@pytest.mark.parametrize(
    "title", ["No.", "sex", "Score", "Counterfactual’s score", "Difference", "age"]
)
@pytest.mark.parametrize("order", list(Qt.SortOrder))
def test_a_header_sorts_in_the_store(qtbot, model, path, title, order):
    show(qtbot, model, PairQuery())
    place = column(model, title)
    if (title, order) != ("No.", Qt.SortOrder.AscendingOrder):
        with qtbot.waitSignal(model.counted):
            model.sort(place, order)
    query = PairQuery(
        order=model.columns[place].order, descending=order == Qt.SortOrder.DescendingOrder
    )
    wanted = expected(path, query)
    assert [model.pair(row).id for row in range(50)] == wanted[:50]


def test_filters_narrow_it(qtbot, model, path):
    query = PairQuery(where={"sex": "male", "debts": (2.0, 4.0)})
    show(qtbot, model, query)
    wanted = expected(path, query)
    assert model.rowCount() == len(wanted) > 0
    assert model.pair(0).id == wanted[0]
    show(qtbot, model, PairQuery(mark="flagged"))
    assert model.rowCount() == 0


def test_cells_tell_what_differs_by_more_than_colour(qtbot, model):
    show(qtbot, model, PairQuery())
    pair = model.pair(0)
    domain = model.columns
    for place, cells in enumerate(domain):
        index = model.index(0, place)
        if cells.changed is not None and cells.changed(pair):
            assert "→" in index.data()
            assert index.data(Qt.ItemDataRole.FontRole).bold() or (
                index.data(Qt.ItemDataRole.FontRole).weight() > 500
            )
        assert cells.title in index.data(Qt.ItemDataRole.AccessibleTextRole)
        assert index.data(PairRole.PAIR) is pair
    score = model.index(0, column(model, "Score"))
    assert f"{pair.row_score:.9g}" in score.data(Qt.ItemDataRole.ToolTipRole)


def test_what_is_found_later_waits_until_it_is_let_in(qtbot, model, path):
    show(qtbot, model, PairQuery(order="difference", descending=True))
    before, first = model.rowCount(), model.pair(0).id
    last = expected(path, model.query)[-1]
    with Store.open(path) as store:
        run_into(store, "uniform", seed=9, options={"samples": 2000})
    with qtbot.waitSignal(model.counted):
        model.look_for_fresh()
    assert model.rowCount() == before
    assert model.pair(0).id == first
    assert read(qtbot, model, before - 1).id == last
    assert model.fresh > 0
    fresh = model.fresh
    with qtbot.waitSignal(model.counted):
        model.show_fresh()
    assert (model.rowCount(), model.fresh) == (before + fresh, 0)


def test_in_the_order_found_rows_are_only_added(qtbot, model, path):
    show(qtbot, model, PairQuery())
    before = model.rowCount()
    reset = []
    model.modelReset.connect(lambda: reset.append(1))
    with Store.open(path) as store:
        run_into(store, "uniform", seed=9, options={"samples": 500})
    with qtbot.waitSignals([model.rowsInserted, model.counted]):
        model.show_fresh()
    assert not reset
    wanted = expected(path, PairQuery())
    assert model.rowCount() == len(wanted) > before
    for row in (before - 1, before, len(wanted) - 1):
        assert read(qtbot, model, row).id == wanted[row]


def test_a_run_without_findings_is_empty(qtbot, model, path):
    with Store.open(path) as store:
        nothing = store.begin_run(RunSpec("uniform"))
    show(qtbot, model, PairQuery(run=nothing))
    assert model.rowCount() == 0
    assert model.loaded


def test_a_changed_pair_is_shown_where_it_is(qtbot, model, path):
    show(qtbot, model, PairQuery())
    pair = model.pair(3)
    with Store.open(path) as store:
        store.mark(pair.id, "flagged")
        store.note(pair.id, "look <b>here</b>")
        changed = store.pair(pair.id)
    with qtbot.waitSignal(model.dataChanged):
        model.replace(changed)
    mark = model.index(3, column(model, "Mark"))
    assert mark.data() == "⚑✎"
    tip = mark.data(Qt.ItemDataRole.ToolTipRole)
    assert "<b>" not in tip
    assert "look" in tip


def test_a_copy_has_a_header_and_no_stray_tabs(qtbot, model, path):
    show(qtbot, model, PairQuery())
    pairs = [model.pair(row) for row in range(3)]
    lines = as_tsv(model.columns, pairs).split("\n")
    assert len(lines) == 4
    # what changes goes before the scores, and what differs otherwise after them
    heads = lines[0].split("\t")
    assert heads[:5] == ["Mark", "No.", "Decision", "Change", "Score"]
    assert heads.index("Difference") < heads.index("age")
    with Store.open(path) as store:
        domain = store.spec.domain
    for line, pair in zip(lines[1:], pairs, strict=True):
        names = {domain.names[i] for i in domain.protected if pair.row[i] != pair.partner[i]}
        assert line.split("\t")[3].count(" → ") == len(names)
    assert all(line.count("\t") == len(model.columns) - 1 for line in lines)


def test_an_overtaken_query_is_dropped(qtbot, model):
    show(qtbot, model, PairQuery())
    for wanted in ("age", "debts", "income"):
        model.show_query(msgspec.structs.replace(model.query, order=wanted))
    with qtbot.waitSignal(model.counted):
        pass
    incomes = [model.pair(row).row[3] for row in range(20)]
    assert model.query.order == "income"
    assert incomes == sorted(incomes)
