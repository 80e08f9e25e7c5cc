"""What holds for every test."""

from __future__ import annotations

import math
import sys

import hypothesis
import pytest

from tests.sizes import many

# A deadline is a time that is asserted, and machines are busy.
hypothesis.settings.register_profile("fairdesk", deadline=None, max_examples=many(100))
hypothesis.settings.load_profile("fairdesk")


@pytest.fixture
def shared_guests(monkeypatch):
    """Let the workers of this test use the guests of earlier ones."""
    from tests import guests

    guests.share(monkeypatch)


@pytest.fixture(autouse=True)
def no_progress_lines(monkeypatch):
    """Say no progress on standard error, however busy the machine: it comes after some seconds."""
    if terminal := sys.modules.get("fairdesk.cli.terminal"):
        monkeypatch.setattr(terminal, "SILENT", math.inf)
