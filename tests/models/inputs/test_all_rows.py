"""The input check on all rows of a table larger than memory: that of the same rows in memory."""

import joblib
import msgspec
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from fairdesk.data.formats.reading import read_table
from fairdesk.data.profiling.outcomes import auc
from fairdesk.data.table import Table
from fairdesk.models.inputs import all_rows
from fairdesk.models.inputs.all_rows import check_all
from fairdesk.models.inputs.input_check import check
from fairdesk.models.open import open_model
from tests.models.matching import match

ROWS = 3_000


@pytest.fixture(params=[LogisticRegression(), HistGradientBoostingClassifier(max_iter=5)])
def case(request, tmp_path):
    """A model that refuses missing cells, or takes them, and its table, with missing labels."""
    rng = np.random.default_rng(1)
    data = pd.DataFrame(
        {
            "age": rng.integers(18, 80, ROWS).astype(float),
            "income": rng.normal(50, 9, ROWS).round(1),
            "region": rng.integers(0, 4, ROWS).astype(float),
        }
    )
    paid = (data["age"] + data["income"] + rng.normal(0, 20, ROWS) > 100).astype(int)
    model = request.param.fit(data.to_numpy(), paid.astype(str))
    data.loc[rng.random(ROWS) < 0.03, "income"] = np.nan
    # of these there is none in the sample
    data.loc[ROWS - 5 :, "region"] = np.nan
    data["paid"] = np.where(rng.random(ROWS) < 0.02, "", paid.astype(str))
    data.to_csv(tmp_path / "data.csv", index=False)
    joblib.dump(model, tmp_path / "model.joblib")
    table, opened = read_table(tmp_path / "data.csv"), open_model(tmp_path / "model.joblib")
    return opened, table, match(opened.card, table, "paid", "1")


def parts(table, size):
    for start in range(0, len(table.codes), size):
        yield Table(table.source, table.columns, table.codes[start : start + size])


@pytest.mark.parametrize("size", [1, 400, ROWS])
def test_counts_of_all_rows_are_those_in_memory(case, size, monkeypatch):
    monkeypatch.setattr(all_rows, "ROWS", 700)
    opened, table, mapping = case
    if size == 1:
        table = Table(table.source, table.columns, table.codes[-150:])
    whole = check(opened, table, mapping, "paid", "1")
    sample = Table(table.source, table.columns, table.codes[:100])
    found = check(opened, sample, mapping, "paid", "1")
    *read, last = check_all(opened, table, parts(table, size), mapping, "paid", "1", found)
    assert read[-1] == len(table.codes)
    assert last.auc == pytest.approx(whole.auc, abs=1e-12)
    for name in ("rows", "left_out", "confusion", "predictions", "set_aside"):
        assert getattr(last, name) == getattr(whole, name), name
    assert (last.accuracy, last.majority) == pytest.approx((whole.accuracy, whole.majority))
    # what shows single rows stays that of the sample
    assert (last.sample, last.repeatability) == (found.sample, found.repeatability)


def test_warnings_are_of_all_rows(case):
    opened, table, mapping = case
    found = check(opened, table, mapping, "paid", "1")
    wrong = msgspec.structs.replace(found, confusion=((1, 90), (90, 1)), auc=0.1)
    wrong = msgspec.structs.replace(
        wrong, warnings=("Of the column.", *all_rows.warnings_of(wrong, mapping))
    )
    assert len(wrong.warnings) > 1
    *_, last = check_all(opened, table, parts(table, 500), mapping, "paid", "1", wrong)
    assert last.warnings == ("Of the column.", *all_rows.warnings_of(found, mapping))


@pytest.mark.parametrize("kept", [50, 1 << 20])
def test_areas_are_exact_up_to_the_scores_that_are_kept(kept, monkeypatch):
    monkeypatch.setattr(all_rows, "MOST_SCORES", kept)
    rng = np.random.default_rng(0)
    wanted = rng.random(4_000) < 0.3
    scores = (rng.normal(size=4_000) + wanted).astype(np.float32).astype(float)
    found = all_rows.Ranks()
    for start in range(0, 4_000, 300):
        found.add(scores[start : start + 300], wanted[start : start + 300])
    error = abs(found.area - auc(scores, wanted))
    assert error < (0.02 if kept == 50 else 1e-12)
    assert all_rows.Ranks().area is None
