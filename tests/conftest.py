"""What holds for every test."""

from __future__ import annotations

from pathlib import Path

import hypothesis
import pytest

# A deadline is a time that is asserted, and machines are busy.
hypothesis.settings.register_profile("fairdesk", deadline=None)
hypothesis.settings.load_profile("fairdesk")

_GUI = Path(__file__).parent / "gui"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let one process run all tests of the window, in their order: what is Qt's is shared."""
    for item in items:
        group = "gui" if _GUI in item.path.parents else str(item.path)
        item.add_marker(pytest.mark.xdist_group(group))
