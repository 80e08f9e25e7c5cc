"""The memory of a search is exact: equal rows are one, and no answer is mixed up."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from fairdesk.data.domain.attributes import Attribute, Role
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Kind
from fairdesk.individual.engine.cached_model import MOST_BYTES, CachedModel
from fairdesk.individual.engine.context import SearchContext
from fairdesk.individual.engine.kernels import condemn, meet, move, row_keys, verdicts
from fairdesk.individual.engine.steps import Steps, VisitedSet
from tests.individual.conftest import integer

rows = hnp.arrays(
    np.float64,
    st.tuples(st.integers(1, 200), st.integers(1, 5)),
    elements=st.one_of(st.integers(-3, 3).map(float), st.floats(-1e6, 1e6)),
)


def held(asked):
    """Return how many bytes a model's memory takes."""
    memories = (asked._scores, asked._slopes)
    return sum(m._slots.nbytes + (0 if m._kept is None else m._kept.nbytes) for m in memories)


@given(rows)
def test_keys_are_equal_exactly_for_equal_rows(batch):
    keys = row_keys(batch)
    _, of_rows = np.unique(batch + 0.0, axis=0, return_inverse=True)
    _, of_keys = np.unique(keys, return_inverse=True)
    assert len(np.unique(of_rows)) == len(np.unique(of_keys))
    assert len(np.unique(np.stack([of_rows.ravel(), of_keys.ravel()]), axis=1).T) == len(
        np.unique(of_rows)
    )


def test_codes_that_differ_little_have_different_keys():
    grid = np.stack(np.meshgrid(*[np.arange(8.0)] * 6), axis=-1).reshape(-1, 6)
    assert len(np.unique(row_keys(grid))) == len(grid)
    assert len(np.unique(row_keys(grid / 8 + 0.1))) == len(grid)


@given(
    st.lists(
        hnp.arrays(
            np.float64,
            st.tuples(st.integers(1, 60), st.just(3)),
            elements=st.integers(0, 6).map(float),
        )
    )
)
def test_people_are_met_once_and_judged_as_in_a_dictionary(batches):
    people, reference = VisitedSet(np.array([0, 2])), {}
    for batch in batches:
        keys = people.keys(batch)
        new = people.meet(keys)
        expected = []
        for position, row in enumerate(batch[:, [0, 2]].tolist()):
            if tuple(row) not in reference:
                reference[tuple(row)] = False
                expected.append(position)
        assert new.tolist() == expected
        people.condemn(keys[new[::2]])
        reference |= {tuple(batch[position, [0, 2]].tolist()): True for position in new[::2]}
        told = [reference[tuple(row)] for row in batch[:, [0, 2]].tolist()]
        assert people.verdicts(keys).tolist() == told
    assert people.size == len(reference)


def test_nobody_is_lost_when_the_table_grows():
    people = VisitedSet(np.array([0]))
    rows = np.random.default_rng(0).permutation(np.arange(400_000.0))[:, None]
    for part in np.array_split(rows, 1_000):
        keys = people.keys(part)
        assert len(people.meet(keys)) == len(part)
        people.condemn(keys[part[:, 0] % 3 == 0])
    for part in np.array_split(rows, 1_000):
        assert people.meet(people.keys(part)).size == 0
    assert (people.verdicts(people.keys(rows)) == (rows[:, 0] % 3 == 0)).all()
    assert people.size == len(rows)
    assert people._slots.nbytes <= 16 * people.size


def test_crowded_keys_are_kept_apart_and_survive_growth():
    """All belong at the very ends of the table, where places wrap around."""
    slots = np.zeros(4_000, dtype=np.uint64)
    keys = np.concatenate([np.arange(2, 2_000, 2), 2**64 - np.arange(2, 1_000, 2, dtype=object)])
    keys = keys.astype(np.uint64)
    assert len(meet(keys, slots)) == len(keys)
    condemn(keys[::5].copy(), slots)
    longer = np.zeros(6_000, dtype=np.uint64)
    move(slots, longer)
    slots = longer
    assert np.count_nonzero(slots) == len(keys)
    assert (verdicts(keys, slots) == (np.arange(len(keys)) % 5 == 0)).all()
    assert meet(keys, slots).size == 0


@given(rows)
def test_neighbours_have_the_keys_of_their_rows(batch):
    domain = Domain(
        (
            integer("sex", 0, 1, Role.PROTECTED, (0, 1)),
            integer("a", -3, 3),
            Attribute("b", Kind.REAL, low=-1.0, high=1.0),
            Attribute("c", Kind.INTEGER, low=-10.0, high=30.0, step=5.0),
        )
    )
    wide = np.resize(batch, (len(batch), 4))
    people, _ = domain.snap(wide)
    steps = Steps(domain, 1.0)
    keys, make = steps.around(people, row_keys(people))
    made = make(np.arange(keys.size)).reshape(*keys.shape, 4)
    assert (made[:, 0] == people).all()
    for column, i in enumerate(domain.varying):
        expected = people.copy()
        by = np.where(people[:, i] + domain.unit[i] <= domain.high[i], 1, -1) * domain.unit[i]
        expected[:, [i]] = domain.clip(people[:, [i]] + by[:, None], np.array([i]))
        assert (steps.room(people)[:, column] == (by > 0)).all()
        assert (made[:, column + 1] == expected).all()
        assert (keys[:, column + 1] == row_keys(expected)).all()


class CountingModel:
    """Answers with a number that tells which row was asked."""

    def __init__(self):
        self.rows = []

    def predict(self, batch):
        self.rows += batch.tolist()
        return (batch @ [[1.0], [10.0]]).astype(np.float32)


@given(st.lists(hnp.arrays(np.float64, (7, 2), elements=st.integers(0, 3).map(float)), max_size=9))
def test_each_row_is_sent_once_and_answered_rightly(batches):
    model = CountingModel()
    asked = CachedModel(model)
    for batch in batches:
        assert (asked.predict(batch)[:, 0] == batch @ [1.0, 10.0]).all()
    assert len(model.rows) == asked.queries == len({tuple(row) for row in model.rows})


@given(st.lists(hnp.arrays(np.float64, (7, 2), elements=st.integers(0, 3).map(float)), max_size=9))
def test_each_gradient_is_asked_once_for_each_column(batches):
    class Sloped(CountingModel):
        def gradients(self, batch, column):
            self.rows += np.column_stack([batch, column]).tolist()
            return batch * (column[:, None] + 2.0)

    model = Sloped()
    asked = CachedModel(model)
    for number, batch in enumerate(batches):
        column = np.arange(7) % (number + 1)
        assert (asked.gradients(batch, column) == batch * (column[:, None] + 2.0)).all()
    assert len(model.rows) == asked.queries == len({tuple(row) for row in model.rows})


def test_what_is_forgotten_is_asked_again_and_counted():
    model = CountingModel()
    asked = CachedModel(model, most_bytes=200_000)
    rng = np.random.default_rng(0)
    for _ in range(40):
        batch = rng.integers(0, 1_000, (5_000, 2)).astype(float)
        assert (asked.predict(batch)[:, 0] == (batch @ [1.0, 10.0]).astype(np.float32)).all()
        assert held(asked) <= 250_000
    assert asked.queries == len(model.rows) > len({tuple(row) for row in model.rows})


def test_a_ledger_of_millions_is_lean_and_still_exact():
    """A million people of a large domain, a quarter of whom are met again."""
    domain = Domain(
        (
            integer("sex", 0, 1, Role.PROTECTED, (0, 1)),
            *(integer(f"number {i}", 0, 100) for i in range(5)),
        )
    )

    class Simple:
        def predict(self, rows):
            return (0.4 + 0.2 * rows[:, :1] * (rows[:, 1:2] < 50)).astype(np.float32)

    rng = np.random.default_rng(0)
    context = SearchContext(Simple(), domain)
    parts = [domain.snap(domain.sample(rng, 50_000)) for _ in range(20)]
    told = 0
    for rows, combination in parts + parts[:5]:
        assert (context.check(rows, combination) == (rows[:, 1] < 50)).all()
        found = context.take("random")
        told += 0 if found is None else len(found.rows)
    everyone = np.concatenate([rows for rows, _ in parts])[:, 1:]
    unlike = np.unique(everyone @ 101.0 ** np.arange(5))
    assert context.tried == len(unlike)
    assert told == context.found == (unlike % 101 < 50).sum()
    assert (
        context._people._slots.nbytes + held(context.cached_model)
        <= 16 * context.tried + 1.25 * MOST_BYTES
    )
