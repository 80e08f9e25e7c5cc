"""What is really sent for any row, through the pipe."""

import numpy as np
import pytest

from fairdesk.audit.worker.client import Worker
from tests.audit import making
from tests.models.matching import match

pytestmark = pytest.mark.usefixtures("shared_guests")


def test_any_rows_are_shown_as_they_are_sent(tmp_path):
    path = making.write_model(tmp_path / "model.pkl")
    worker = Worker()
    try:
        table = worker.read_table(making.write_people(tmp_path / "people.csv"))
        card = worker.open_model(path, trusted=True)
        mapping = match(card, table, "hired", "yes")
        proof = worker.prove(mapping, table, "hired", "yes")
        shown = worker.show(mapping, table, "hired", [3, 1, len(table.codes)])
    finally:
        worker.close()
    assert [row.row for row in shown] == [3, 1, len(table.codes)]
    first = {row.row: row for row in proof.sample}
    for row in shown[:2]:
        assert row.sent == first[row.row].sent
        assert row.score == pytest.approx(first[row.row].score, abs=1e-6)
    place = table.index(mapping.inputs[0].attribute)
    np.testing.assert_allclose([row.sent[0] for row in shown], table.codes[[2, 0, -1], place])
