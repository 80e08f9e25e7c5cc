"""Repairs from what they are given to what is kept of them."""

import sys
import threading

import msgspec
import numpy as np
import pytest

from fairdesk.audit.catalogue.methods import METHODS, why_off
from fairdesk.audit.plan.spec import Budget, RunSpec
from fairdesk.audit.runs import mitigation as repairing
from fairdesk.audit.runs.mitigation import check_repair, completed, mitigation_inputs, with_rule
from fairdesk.audit.runs.run import check_run, run
from fairdesk.audit.store.store import Store
from fairdesk.audit.worker.client import Worker
from fairdesk.audit.worker.conversation import Patience
from fairdesk.data.formats.reading import read_table
from fairdesk.errors import SpecError
from fairdesk.models.inputs import input_check
from fairdesk.results.mitigation import Repair, Trial
from fairdesk.results.proofs import Condition
from fairdesk.results.subgroups import RuleSearchSummary, RuleSet
from tests import phrases
from tests.audit import fake_guest, making
from tests.audit.making import domain_of

pytestmark = pytest.mark.usefixtures("shared_guests")

AEQUITAS, TESTSGD = RunSpec("repair-aequitas"), RunSpec("repair-testsgd")
SHORT = RunSpec("repair-aequitas", {"batch": 4})
LONG = RunSpec("repair-aequitas", {"batch": 60_000})


def add(store, found, mark=""):
    """Keep findings of a new run, all with this mark; gives the run's number."""
    before = store.count(repairing.PairQuery())
    number = store.begin_run(RunSpec("maft"))
    store.add(number, found)
    for pair in range(before + 1, before + len(found.rows) + 1):
        if mark:
            store.mark(pair, mark)
    return number


def test_pairs_come_once_flagged_ones_first_and_dismissed_ones_never(store, findings):
    first = add(store, findings(6, seed=1))
    second = add(store, findings(4, seed=2), "dismissed")
    third = add(store, findings(3, seed=3), "flagged")
    fourth = add(store, findings(6, seed=1))
    given = mitigation_inputs(AEQUITAS, store)
    assert given.numbers.tolist() == [11, 12, 13, 1, 2, 3, 4, 5, 6]
    assert given.flagged == 3
    pairs = {number: store.pair(number) for number in given.numbers.tolist()}
    np.testing.assert_array_equal(given.pairs, [pair.row for pair in pairs.values()])
    np.testing.assert_array_equal(given.partners, [pair.partner for pair in pairs.values()])

    def chosen(**asked):
        run = msgspec.structs.replace(AEQUITAS, **asked)
        return mitigation_inputs(run, store).numbers.tolist()

    assert chosen(pairs_of=(fourth,)) == [14, 15, 16, 17, 18, 19]
    assert chosen(pairs_of=(third, first)) == [11, 12, 13, 1, 2, 3, 4, 5, 6]
    assert chosen(flagged=True) == [11, 12, 13]
    assert chosen(pairs_of=(second,)) == []
    # a rule set is repaired with none of them
    nobody = mitigation_inputs(TESTSGD, store)
    assert [each.shape for each in (nobody.pairs, nobody.partners)] == [(0, 3), (0, 3)]
    assert (nobody.numbers.shape, nobody.flagged) == ((0,), 0)


def test_of_very_many_pairs_some_are_taken_from_all_over(store, findings, monkeypatch):
    monkeypatch.setattr(repairing, "MOST_PAIRS", 50)
    found = findings(330)
    # nobody twice, so that it can be counted
    found.rows[:, 0] = 18 + np.arange(330) % 52
    found.rows[:, 2] = np.arange(330) // 52
    found.partners[:] = found.rows
    found.partners[:, 1] = 1 - found.rows[:, 1]
    add(store, found)
    for pair in (100, 200):
        store.mark(pair, "flagged")
    given = mitigation_inputs(AEQUITAS, store)
    numbers = given.numbers
    assert numbers[:2].tolist() == [100, 200]
    assert given.flagged == 2
    assert 40 <= len(numbers) <= 50
    assert (np.diff(numbers[2:]) <= 8).all()
    assert numbers[2] == 1
    assert numbers[-1] > 320


def test_equal_rows_are_found_as_they_would_be_one_by_one():
    rng = np.random.default_rng(5)
    rows = rng.integers(0, 4, (3_000, 6)).astype(float)
    seen, expected = set(), []
    for place, row in enumerate(map(tuple, rows.tolist())):
        if row not in seen:
            seen.add(row)
            expected.append(place)
    assert repairing._first_of_each(rows).tolist() == expected
    assert repairing._first_of_each(rows[:0]).tolist() == []


def rule(score, code, outcome="1", leader=-1):
    return RuleSet(
        (Condition("sex", (code,)),),
        outcome,
        *(score, 0.6, 0.6 - score, 0.04, 0.9, 0.5, 30, 100, 100, 0.0, 1.0, 0.5),
        leader=leader,
    )


def mined(outcome="1"):
    return RuleSearchSummary(outcome, ("sex",), 0.05, 2, 2, 100, 0.04, 0.1)


def test_the_worst_rule_set_of_the_last_search_is_repaired(store):
    with pytest.raises(SpecError, match=phrases.NO_RULE_SET_YET):
        completed(TESTSGD, store)
    early = store.begin_run(RunSpec("testsgd"))
    store.measure(early, (mined(), rule(0.9, 0.0)))
    last = RunSpec("testsgd", edges={"age": (40.0,)}, terms={"gender": ("a", "b")})
    number = store.begin_run(last)
    sets = (rule(0.2, 0.0, "0"), rule(0.1, 1.0, "0"), rule(0.3, 0.0, "1"), rule(0.05, 1.0, "1"))
    store.measure(number, (mined("0"), *sets[:2], mined("1"), *sets[2:]))
    store.measure(store.begin_run(RunSpec("groups")), ())
    whole = completed(TESTSGD, store)
    assert (whole.rule, whole.outcome) == (sets[2].conditions, "1")
    assert (whole.edges, whole.terms) == (last.edges, last.terms)
    # what is said is kept, and pairs need no rule set
    assert completed(whole, store) == whole
    assert completed(AEQUITAS, store) == AEQUITAS
    for place, each in enumerate(sets, start=1):
        chosen = with_rule(TESTSGD, store, place)
        assert (chosen.rule, chosen.outcome) == (each.conditions, each.outcome)
    for number in (0, 5):
        with pytest.raises(SpecError, match=f"{phrases.NO_SUCH_RULE_SET} {number}") as caught:
            with_rule(TESTSGD, store, number)
        assert "from 1 to 4" in caught.value.remedy


def test_a_mean_score_is_not_compared_with_shares(store):
    number = store.begin_run(RunSpec("testsgd"))
    sets = (rule(0.2, 0.0), rule(0.1, 1.0), rule(7.0, 0.0, ""))
    store.measure(number, (mined(), *sets[:2], mined(""), sets[2]))
    assert completed(TESTSGD, store).outcome == "1"


@pytest.mark.parametrize(
    ("asked", "words", "remedy"),
    [
        ({}, phrases.NO_PAIRS, "Run a search"),
        ({"pairs_of": (1,)}, "no run 1 that found pairs", "Run a search"),
        ({"flagged": True}, "no flagged", "Flag some"),
    ],
)
def test_a_repair_without_pairs_is_refused(store, asked, words, remedy):
    with pytest.raises(SpecError, match=words) as caught:
        check_repair(msgspec.structs.replace(AEQUITAS, **asked), store)
    assert remedy in caught.value.remedy


def test_pairs_that_are_not_there_are_named(store, findings):
    number = add(store, findings(4), "dismissed")
    with pytest.raises(SpecError, match="no run 9 that found pairs") as caught:
        check_repair(msgspec.structs.replace(AEQUITAS, pairs_of=(9,)), store)
    assert caught.value.remedy == f"{phrases.RUNS_WITH_PAIRS} {number}."
    with pytest.raises(SpecError, match=phrases.NO_PAIRS) as caught:
        check_repair(AEQUITAS, store)
    assert "dismissed" in caught.value.why
    add(store, findings(4))
    check_repair(AEQUITAS, store)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"scores": "values", "classes": ()}, "estimates a number"),
        ({"classes": ("0", "1", "2")}, f"{phrases.TWO_ANSWERS} “no”"),
    ],
)
def test_answers_that_are_no_labels_are_refused(tmp_path, spec, table, findings, changed, words):
    card = msgspec.structs.replace(spec.model, **changed)
    changed_spec = msgspec.structs.replace(spec, model=card)
    with Store.create(tmp_path / "other.fairdesk", changed_spec, table) as store:
        with pytest.raises(SpecError, match=words) as caught:
            check_repair(AEQUITAS, store)
        assert caught.value.remedy


def test_a_label_that_is_none_of_the_answers_is_named(tmp_path, spec):
    path = tmp_path / "three.csv"
    text = making.write_people(path).read_text(encoding="utf-8").replace(",no\n", ",later\n", 4)
    path.write_text(text, encoding="utf-8")
    table = read_table(path)
    about = {"columns": table.columns, "data": table.source}
    with Store.create(
        tmp_path / "other.fairdesk", msgspec.structs.replace(spec, **about), table
    ) as store:
        with pytest.raises(SpecError, match="Augmentation rows cannot be labelled") as caught:
            check_repair(AEQUITAS, store)
        assert "“0” is not a value of the label “hired”" in caught.value.why


def test_data_without_labels_cannot_be_trained_with(tmp_path, spec, table, findings):
    codes = table.codes.copy()
    age, hired = (table.index(name) for name in ("age", "hired"))
    codes[codes[:, age] >= 30, hired] = np.nan
    codes[np.flatnonzero(codes[:, age] < 30)[:2], hired] = (0.0, 1.0)
    domain = msgspec.structs.replace(
        spec.domain,
        attributes=tuple(
            msgspec.structs.replace(each, low=30.0) if each.name == "age" else each
            for each in spec.domain.attributes
        ),
    )
    narrow = msgspec.structs.replace(spec, domain=domain)
    bare = type(table)(table.source, table.columns, codes)
    with (
        Store.create(tmp_path / "other.fairdesk", narrow, bare) as store,
        pytest.raises(SpecError, match="no rows to train a model with"),
    ):
        check_repair(TESTSGD, store)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (msgspec.structs.replace(AEQUITAS, max_distance=0.1), "on the whole input domain"),
        (msgspec.structs.replace(TESTSGD, max_distance=0.1), "on the whole input domain"),
        (msgspec.structs.replace(AEQUITAS, text="age"), phrases.COMPARES_NO_TERMS),
        (
            msgspec.structs.replace(AEQUITAS, edges={"age": (40.0,)}),
            "does not divide numbers into bins",
        ),
        (msgspec.structs.replace(TESTSGD, text="age"), phrases.NO_COLUMN_OF_TEXTS),
        (RunSpec("repair-aequitas", {"labels": "mine"}), "cannot be “mine”"),
        (RunSpec("repair-aequitas", {"most": 200.0}), "cannot be “200.0”"),
        (RunSpec("repair-testsgd", {"least": 0}), "cannot be “0”"),
        (RunSpec("repair-aequitas", {"least": 50}), "no option “least”"),
        (RunSpec("repair-aequitas", budget=Budget(seconds=0.0)), "0 seconds"),
    ],
)
def test_repairs_that_cannot_begin_are_refused(spec, asked, words):
    with pytest.raises(SpecError, match=words):
        check_run(asked, spec)


def test_without_a_model_nothing_is_repaired(spec, table):
    card, mapping = input_check.card_of(table, "hired"), input_check.mapping_of("yes")
    domain = domain_of(table, mapping, "", ("sex",), predictions="hired")
    decided = msgspec.structs.replace(
        spec, model=card, mapping=mapping, predictions="hired", domain=domain
    )
    for asked in (AEQUITAS, TESTSGD):
        with pytest.raises(SpecError, match=phrases.NO_MODEL):
            check_run(asked, decided)


def test_groups_that_the_model_is_not_told_of_can_be_repaired(spec, table):
    domain = msgspec.structs.replace(
        spec.domain,
        attributes=tuple(each for each in spec.domain.attributes if each.name != "sex"),
        unseen=tuple(each for each in spec.domain.attributes if each.name == "sex"),
    )
    assert phrases.NOT_GIVEN in why_off(METHODS["repair-aequitas"], spec.model, domain)
    assert why_off(METHODS["repair-testsgd"], spec.model, domain) == ""


# In the guest's process


@pytest.fixture
def prepared(tmp_path, table, monkeypatch):
    """Make a worker, and an audit with pairs, for a model that does this when it is “trained”."""
    monkeypatch.setitem(METHODS, "steps", fake_guest.STEPS)
    worker = Worker(command=(sys.executable, fake_guest.__file__))
    stores = []

    def make(training="pass", **patience):
        worker._patience = Patience(**patience)
        source = f"if len(rows) == 7: {training}"
        path = fake_guest.write_source(tmp_path / "model.txt", source)
        spec = making.spec_of(table, worker.open_model(path, trusted=True))
        stores.append(Store.create(tmp_path / "audit.fairdesk", spec, table))
        *_, last = run(worker, stores[-1], RunSpec("steps", {"steps": 8}))
        assert last.state == "done"
        return worker, stores[-1]

    yield make
    worker.close()
    for store in stores:
        store.close()


def test_a_repair_is_kept_whole_and_found_again(prepared):
    worker, store = prepared()
    store.mark(5, "flagged")
    *_, last = run(worker, store, SHORT)
    assert (last.state, last.message) == ("done", "")
    repair, *trials = last.figures
    # it is given all labelled rows, the pairs, and how many of them are flagged
    assert (repair.train, repair.pairs, repair.test) == (60, 24, 1)
    assert [each.number for each in trials] == [0, 1, 2, 3]
    assert repair.chosen == 3
    with Store.open(store.path) as again:
        record = again.runs()[-1]
        assert record.figures == last.figures
        assert record.spec == SHORT
        assert record.state == "done"
        added = again.added_rows(record.id)
        assert added.rows.shape == (48, 3)
        assert added.pairs[:4].tolist() == [5, 5, 1, 1]
        pair = again.pair(5)
        np.testing.assert_array_equal(added.rows[:2], [pair.row, pair.partner])
        assert set(added.labels.tolist()) <= {0, 1}
        files = again.models(record.id, 3)
        assert {name: file.size for name, file in files.items()} == {
            "model.joblib": 7,
            "model.onnx": 0,
        }
        assert files["model.onnx"].remark == "This is model.onnx."
        assert again.model(record.id, 3, "model.joblib") == b"a model"
        assert again.models(record.id, 2) == {}
        assert again.model(record.id, 2, "model.joblib") == b""
    entries = [entry.what for entry in store.log_entries()]
    begun = phrases.RUN_STARTED.format(run=record.id, title=phrases.RETRAIN_WITH_PAIRS)
    assert begun in entries


def test_a_repair_that_is_told_to_stop_says_what_it_came_to(prepared):
    worker, store = prepared("time.sleep(0.05)")
    running = run(worker, store, LONG)
    for state in running:
        if len(state.figures) > 3:
            worker.stop()
            break
    *_, last = running
    assert last.state == "stopped"
    repair, *trials = last.figures
    assert repair.chosen == len(trials) - 1
    assert store.models(last.id, repair.chosen).keys() == {"model.joblib", "model.onnx"}


def test_a_budget_lets_a_repair_come_to_its_end(prepared):
    worker, store = prepared("time.sleep(0.05)")
    *_, last = run(worker, store, msgspec.structs.replace(LONG, budget=Budget(seconds=0.3)))
    assert last.state == "done"
    assert phrases.AT_ITS_LIMIT in last.message
    assert store.models(last.id, last.figures[0].chosen)


def test_stopping_while_a_model_is_trained_ends_the_process_and_keeps_what_is_known(prepared):
    worker, store = prepared("calls > 40 and time.sleep(100)", finish=0.5, terminate=0.5)
    running = run(worker, store, LONG)
    # it has come as far as it ever will
    stopping = threading.Timer(3.0, worker.stop)
    stopping.start()
    *_, last = running
    stopping.join()
    assert last.state == "stopped"
    assert isinstance(last.figures[0], Repair)
    assert isinstance(last.figures[-1], Trial)
    record = store.runs()[-1]
    assert record.figures == last.figures
    assert record.state == "stopped"
    assert store.added_rows(record.id) is not None
    assert not worker.alive
    # and the next one has a process again
    *_, again = run(worker, store, RunSpec("steps", {"steps": 2}))
    assert again.state == "done"


def test_a_repair_begins_with_what_was_found_before_only(prepared):
    worker, store = prepared()
    with pytest.raises(SpecError, match=phrases.NO_RULE_SET_YET):
        next(run(worker, store, TESTSGD))
    with pytest.raises(SpecError, match="no run 7 that found pairs"):
        next(run(worker, store, msgspec.structs.replace(SHORT, pairs_of=(7,))))
    assert len(store.runs()) == 1
