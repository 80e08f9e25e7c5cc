"""What the guest tells about pairs: how plausible, how near to real people, and why."""

import re
import sys
from pathlib import Path

import msgspec
import numpy as np
import pytest

from fairdesk.audit.worker.answer_checks import check_explanation
from fairdesk.audit.worker.client import Worker
from fairdesk.errors import DataError, ModelError, WorkerError
from fairdesk.individual.surrogates.explanation import Explanation, Side, Variant
from fairdesk.population.nearest import everywhere, gower
from tests import guests, phrases
from tests.audit import fake_guest, making

pytestmark = pytest.mark.usefixtures("shared_guests")

QUICK_GUEST = (sys.executable, str(Path(fake_guest.__file__)))


class Pairs:
    """A model that is open in a guest, and instances of it."""

    def __init__(self, worker, table, path):
        self.worker = worker
        self.card = worker.open_model(path, trusted=True)
        self.spec = making.spec_of(table, self.card)
        self.domain = self.spec.domain
        self.people = self.domain.people(table)
        # whoever is between 40 and 51 is decided by their sex
        self.rows = np.array([[50, 0, 0], [40, 1, 11], [45, 1, 3], [49, 1, 7.0]])

    def shrink(self, rows=None):
        rows = self.rows if rows is None else rows
        return self.worker.shrink(self.spec.mapping, self.domain, self.people, rows)

    def explain(self, pair, seed=0):
        return self.worker.explain(self.spec.mapping, self.domain, self.people, pair, seed)


@pytest.fixture
def worker():
    worker = Worker(command=QUICK_GUEST)
    yield worker
    worker.close()


@pytest.fixture
def pairs(worker, table, tmp_path):
    def make(misbehaviour="pass"):
        path = fake_guest.write_source(tmp_path / "model.txt", misbehaviour)
        return Pairs(worker, table, path)

    return make


def test_weighing_needs_no_model(worker, spec, table):
    people = spec.domain.people(table)
    rows = np.array([[*people[7]], [69, 1, 11.0]])
    partners = rows.copy()
    partners[:, spec.domain.protected] = 1 - partners[:, spec.domain.protected]
    weighed = worker.score_plausibility(spec.domain, people, rows, partners)
    whole = everywhere(spec.domain)
    distances = np.array([gower(spec.domain, people, row, whole) for row in rows])
    assert weighed.distance == pytest.approx(distances.min(axis=1))
    assert weighed.nearest.tolist() == distances.argmin(axis=1).tolist()
    assert weighed.nearest.dtype == np.intp
    assert weighed.distance[0] == 0
    others = np.array([gower(spec.domain, people, row, whole).min() for row in partners])
    assert weighed.partner_distance == pytest.approx(others)
    # too few rows for more than distances
    assert np.isnan(weighed.typicality).all()
    assert weighed.reference.by_distance
    with pytest.raises(DataError, match=phrases.NO_ROW_TO_COMPARE):
        worker.score_plausibility(spec.domain, people[:0], rows, rows)
    assert worker.alive


def test_shrinking_and_explaining(pairs):
    made = pairs()
    found = made.shrink()
    before, after = (
        np.array([gower(made.domain, made.people, row).min() for row in rows])
        for rows in (made.rows, found.rows)
    )
    assert (after <= before + 1e-9).all()
    assert found.phase == "minimal"
    assert (found.rows[:, 1] == made.rows[:, 1]).all()
    assert (found.partners[:, 1] == 1 - made.rows[:, 1]).all()
    scores = made.worker.predict(made.spec.mapping, made.domain.attributes, found.rows)
    np.testing.assert_allclose(found.row_scores, scores, atol=1e-6)
    assert ((found.row_scores > 0.5) != (found.partner_scores > 0.5)).all()
    assert found.sufficient_alone.all()

    pair = np.stack([found.rows[0], found.partners[0]])
    explanation = made.explain(pair)
    assert explanation == made.explain(pair)
    assert explanation != made.explain(pair, seed=1)
    # the model looks at age and sex only, and is for men
    _, sex, income = explanation.row.weights
    assert sex < -0.1
    assert abs(income) < 0.05
    assert explanation.partner.weights[1] > 0.1
    assert [each.values for each in explanation.variants] == [(1.0,), (0.0,)]
    assert [each.decided for each in explanation.variants] == [1, 0]
    told = sorted((found.row_scores[0, 0], found.partner_scores[0, 0]), reverse=True)
    assert [each.score for each in explanation.variants] == pytest.approx(told)


def test_explaining_where_a_confined_guest_loads_what_it_needs(table, tmp_path):
    guests.end_idle()
    worker = Worker()
    try:
        made = Pairs(worker, table, making.write_model(tmp_path / "model.pkl"))
        explanation = made.explain(np.array([[45.0, 0, 3], [45, 1, 3]]))
        assert worker.alive
    finally:
        worker.close()
    assert explanation.partner.weights[1] == pytest.approx(0.2, abs=0.1)
    assert explanation.row.weights[1] == pytest.approx(-0.2, abs=0.1)


def test_a_model_that_changed_its_mind(pairs):
    made = pairs("return np.full((len(rows), 1), 0.9)")
    with pytest.raises(ModelError, match="no longer") as caught:
        made.shrink()
    assert caught.value.why
    assert caught.value.remedy
    assert made.worker.alive


def test_pairs_without_an_open_model(spec, table, request):
    guests.end_idle()
    worker = request.getfixturevalue("worker")
    people = spec.domain.people(table)
    for ask in (worker.shrink, worker.explain):
        with pytest.raises(WorkerError, match=phrases.NO_MODEL_OPEN):
            ask(spec.mapping, spec.domain, people, people[:2])


def lying_guest(tmp_path, lie):
    """A guest whose analyses were replaced."""
    program = tmp_path / "lying.py"
    source = Path(fake_guest.__file__).read_text(encoding="utf-8")
    lies = (
        "    from fairdesk.individual.realism import minimal, pair_plausibility\n"
        "    from fairdesk.individual.surrogates import explanation as why\n"
        f"{lie}\n    guest.main()"
    )
    program.write_text(re.sub(r"    guest\.main\(\)", lambda _: lies, source), encoding="utf-8")
    return Worker(command=(sys.executable, str(program)))


@pytest.mark.parametrize(
    "lie",
    [
        "distance=np.full(2, 2.0)",
        "distance=np.full(2, -0.1)",
        "partner_distance=np.full(2, np.nan)",
        "nearest=np.full(2, 60)",
        "typicality=np.full(2, 1.5)",
        "partner_typicality=np.full(2, np.nan)",
        "plausible=np.ones(3, bool)",
        "reference=pair_plausibility.Reference(1.2, None, False)",
        "reference=pair_plausibility.Reference(0.9, -1.0, False)",
    ],
)
def test_nobody_is_nearer_than_can_be(tmp_path, spec, table, lie):
    lying = (
        "    from dataclasses import replace\n"
        "    weigh = pair_plausibility.score_plausibility\n"
        "    def lie(*given):\n"
        "        ones = np.ones(2)\n"
        "        told = replace(weigh(*given), typicality=ones, partner_typicality=ones)\n"
        f"        return replace(told, {lie})\n"
        "    pair_plausibility.score_plausibility = lie"
    )
    worker = lying_guest(tmp_path, lying)
    people = spec.domain.people(table)
    try:
        with pytest.raises(WorkerError, match=phrases.MISFIT):
            worker.score_plausibility(spec.domain, people, people[:2], people[:2])
    finally:
        worker.close()


def test_other_pairs_are_no_answer(tmp_path, table):
    lie = (
        "    shrink = minimal.shrink\n"
        "    minimal.shrink = lambda context, people, rows: shrink(context, people, rows[1:])"
    )
    worker = lying_guest(tmp_path, lie)
    path = fake_guest.write_source(tmp_path / "model.txt")
    try:
        with pytest.raises(WorkerError, match=phrases.MISFIT):
            Pairs(worker, table, path).shrink()
    finally:
        worker.close()


SIDE = Side((0.1, -0.2, 0.0), 0.9)
TRUE = Explanation(SIDE, SIDE, (Variant((1.0,), 0.7, 1), Variant((0.0,), 0.4, 0)))


@pytest.mark.parametrize(
    "changed",
    [
        {"row": Side((0.1, 0.2), 0.9)},
        {"partner": Side((0.1, float("inf"), 0.0), 0.9)},
        {"row": Side((0.1, 0.2, 0.0), 1.5)},
        {"partner": Side((0.1, 0.2, 0.0), float("nan"))},
        {"variants": (Variant((2.0,), 0.7, 1),)},
        {"variants": (Variant((1.0, 1.0), 0.7, 1),)},
        {"variants": (Variant((1.0,), float("nan"), 1),)},
        {"variants": (Variant((1.0,), 0.7, 2),)},
        {"variants": (Variant((1.0,), 0.7, -1),)},
        {"variants": TRUE.variants * 101},
    ],
)
def test_explanations_are_of_what_there_is(spec, changed):
    check_explanation(TRUE, spec.domain, 1)
    with pytest.raises(WorkerError, match=phrases.MISFIT):
        check_explanation(msgspec.structs.replace(TRUE, **changed), spec.domain, 1)
