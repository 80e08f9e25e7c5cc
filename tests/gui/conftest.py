"""What every test of the window needs: no display, folders of its own, nothing left running."""

import os

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import csv
import pickle
import time
from functools import partial

import numpy as np
import pytest
from PySide6.QtCore import QCoreApplication

from fairdesk import files
from fairdesk.audit.store.store import Store
from fairdesk.audit.worker.client import Worker
from fairdesk.gui.kit import theme, threads
from fairdesk.gui.wizard import review_page
from fairdesk.gui.workspace.common.run_page import EXAMPLES
from fairdesk.gui.workspace.session import weighing
from fairdesk.gui.workspace.shell.workspace import Workspace
from tests.gui.auditing import Scales, make_audit


@pytest.fixture
def qtbot(qtbot):
    """Wait for a minute at most, unless a test says how long: machines are busy."""
    for wait in ("waitUntil", "waitSignal", "waitSignals"):
        setattr(qtbot, wait, partial(getattr(qtbot, wait), timeout=60_000))
    return qtbot


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    """Keep settings, logs and audits out of the user's own folders."""
    for name in ("settings", "log", "audits"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(files, "settings_folder", lambda: tmp_path / "settings")
    monkeypatch.setattr(files, "log_folder", lambda: tmp_path / "log")
    monkeypatch.setattr(review_page, "audits_folder", lambda: tmp_path / "audits")


@pytest.fixture(autouse=True)
def no_guest_of_ones_own(shared_guests):
    """Open the model in a guest that an earlier test has done with."""


@pytest.fixture(autouse=True)
def quick_scales(monkeypatch):
    """Compare findings with real people in this process: windows that open need no second one."""
    monkeypatch.setattr(weighing, "Worker", Scales)


@pytest.fixture(autouse=True)
def nothing_left():
    """Wait until no background call is under way, so that none reaches into the next test."""
    yield
    deadline = time.monotonic() + 30
    while threads._running and time.monotonic() < deadline:
        QCoreApplication.processEvents()
        time.sleep(0.005)
    assert not threads._running


@pytest.fixture
def themed(qapp):
    theme.apply(qapp, "light")
    return qapp


@pytest.fixture
def opened(qtbot):
    """Open workspaces that are closed in the end."""
    made = []

    def make(path):
        workspace = Workspace(Store.open(path))
        made.append(workspace)
        qtbot.addWidget(workspace)
        workspace.resize(1280, 800)
        workspace.show()
        workspace.activateWindow()
        qtbot.waitUntil(workspace.isActiveWindow)
        qtbot.waitUntil(lambda: workspace._session.loaded)
        return workspace

    yield make
    for each in made:
        each.close_audit()


@pytest.fixture
def path(tmp_path):
    return make_audit(tmp_path)


@pytest.fixture
def reading(qtbot, opened, path):
    """A workspace with a pair beside the table."""
    workspace = opened(path)
    workspace.show_page(EXAMPLES)
    qtbot.waitUntil(lambda: workspace.examples.detail.pair is not None)
    return workspace


@pytest.fixture(scope="session")
def loans(tmp_path_factory):
    """A small table of loan decisions, and a pipeline that learned to prefer men."""
    from sklearn.compose import make_column_transformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    folder = tmp_path_factory.mktemp("loans")
    rng = np.random.default_rng(4)
    n = 240
    sex = rng.choice(["female", "male"], n)
    age = rng.integers(18, 80, n)
    income = rng.integers(8, 120, n)
    housing = rng.choice(["own", "rent", "other"], n)
    approved = np.where(income + 25 * (sex == "male") + rng.normal(0, 6, n) > 60, "yes", "no")
    heads = ["sex", "age", "income", "housing", "approved"]
    rows = list(zip(sex, age, income, housing, approved, strict=True))
    with (folder / "loans.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(heads)
        writer.writerows(rows)
    import pandas as pd

    frame = pd.DataFrame(rows, columns=heads)
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["sex", "housing"]),
        (StandardScaler(), ["age", "income"]),
    )
    pipeline = make_pipeline(encode, LogisticRegression())
    pipeline.fit(frame[heads[:-1]], frame["approved"])
    (folder / "loans.pkl").write_bytes(pickle.dumps(pipeline))
    return folder


@pytest.fixture
def clerk():
    clerk = Worker()
    yield clerk
    clerk.close()
