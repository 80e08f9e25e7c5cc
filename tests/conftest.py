"""What holds for every test."""

from __future__ import annotations

import gc
import math
import os
import sys

import hypothesis
import pytest

from fairdesk.audit.sandbox.folders import CACHE_NAMES
from tests.sizes import many

# before any loop is loaded, and for all that the tests start; numba has places of its own, too
if "NUMBA_CACHE_DIR" in os.environ:
    os.environ.update(CACHE_NAMES)
# A deadline is a time that is asserted, and machines are busy.
hypothesis.settings.register_profile("fairdesk", deadline=None, max_examples=many(100))
hypothesis.settings.load_profile("fairdesk")


def pytest_collection_finish():
    """Look for garbage seldom, and never in what is imported: it took a tenth of all time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)


@pytest.fixture(scope="module")
def shared_guests():
    """Let the workers of this file, from its first test that wants it, use the guests of others."""
    from tests import guests

    with pytest.MonkeyPatch.context() as patch:
        guests.share(patch)
        yield


@pytest.fixture
def worker():
    """A worker whose guest is a process of its own, as in the product."""
    from fairdesk.audit.worker.client import Worker

    worker = Worker()
    yield worker
    worker.close()


@pytest.fixture(autouse=True)
def no_progress_lines(monkeypatch):
    """Say no progress on standard error, however busy the machine: it comes after some seconds."""
    if terminal := sys.modules.get("fairdesk.cli.terminal"):
        monkeypatch.setattr(terminal, "SILENT", math.inf)
