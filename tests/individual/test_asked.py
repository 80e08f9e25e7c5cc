"""The memory of a search is exact: equal rows are one, and no answer is mixed up."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from fairdesk.individual.asked import AskedModel, KeyTable
from fairdesk.individual.kernels import row_keys

rows = hnp.arrays(
    np.float64,
    st.tuples(st.integers(1, 200), st.integers(1, 5)),
    elements=st.one_of(st.integers(-3, 3).map(float), st.floats(-1e6, 1e6)),
)


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
            st.tuples(st.integers(1, 60), st.just(2)),
            elements=st.integers(0, 6).map(float),
        )
    )
)
def test_table_numbers_rows_like_a_dictionary(batches):
    table, reference = KeyTable(), {}
    for batch in batches:
        rows = [tuple(row) for row in batch.tolist()]
        numbers, new = table.number(batch)
        for position in new:
            assert rows[position] not in reference
            reference[rows[position]] = len(reference)
        assert numbers.tolist() == [reference[row] for row in rows]
    assert table.size == len(reference)


def test_table_grows_and_keeps_its_numbers():
    table = KeyTable()
    rows = np.random.default_rng(0).permutation(np.arange(400_000.0))[:, None]
    numbers = np.concatenate([table.number(part)[0] for part in np.array_split(rows, 40)])
    again, new = table.number(rows)
    assert new.size == 0
    assert (numbers == again).all()
    assert (numbers == np.arange(len(rows))).all()


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
    asked = AskedModel(model)
    for batch in batches:
        assert (asked.predict(batch)[:, 0] == batch @ [1.0, 10.0]).all()
    assert len(model.rows) == asked.queries == len({tuple(row) for row in model.rows})
