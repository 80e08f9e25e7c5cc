import numpy as np
import pytest

from fairdesk.audit.store.store import Store
from fairdesk.data.formats.reading import read_table
from fairdesk.results.events import Found
from tests.audit import making
from tests.cards import card as made_up


@pytest.fixture
def table(tmp_path):
    return read_table(making.write_people(tmp_path / "people.csv"))


@pytest.fixture
def card():
    return made_up(
        width=3,
        path="/models/hiring.pkl",
        sha256="ab" * 32,
        format="scikit-learn model",
        summary="Model, 3 inputs, 2 classes.",
        classes=("0", "1"),
    )


@pytest.fixture
def spec(table, card):
    return making.spec_of(table, card)


@pytest.fixture
def store(tmp_path, spec, table):
    with Store.create(tmp_path / "audit.fairdesk", spec, table) as store:
        yield store


@pytest.fixture
def findings():
    """Make findings of the small table's domain: age, sex (protected), income."""

    def make(n, seed=0, phase="local"):
        rng = np.random.default_rng(seed)
        rows = np.column_stack(
            (rng.integers(18, 70, n), rng.integers(0, 2, n), rng.integers(0, 12, n))
        ).astype(float)
        partners = rows.copy()
        partners[:, 1] = 1 - rows[:, 1]
        scores = rng.random((2, n, 1)).astype(np.float32)
        return Found(rows, partners, scores[0], scores[1], np.ones((n, 1), dtype=bool), phase)

    return make
