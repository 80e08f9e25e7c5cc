"""What holds for every test."""

from __future__ import annotations

import hypothesis
import pytest

# A deadline is a time that is asserted, and machines are busy.
hypothesis.settings.register_profile("fairdesk", deadline=None)
hypothesis.settings.load_profile("fairdesk")


@pytest.fixture
def shared_guests(monkeypatch):
    """Let the workers of this test use the guests of earlier ones."""
    from tests import guests

    guests.share(monkeypatch)
