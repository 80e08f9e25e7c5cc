"""What the tests of the data share: files written on the spot, and the real tables beside us."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from fairdesk.data.formats.reading import read_table
from fairdesk.data.table import Dialect, Table

SHARED = Path(os.environ.get("FAIRDESK_TEST_DATA", Path(__file__).parents[3] / "shared" / "data"))


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write a file: a text in an encoding, or bytes."""

    def write(content: str | bytes, encoding: str = "utf-8", name: str = "table.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
        return path

    return write


@pytest.fixture
def table(write: Callable[..., Path]) -> Callable[..., Table]:
    """Read a table from a text."""

    def table(content: str, dialect: Dialect | None = None) -> Table:
        return read_table(write(content), dialect)

    return table


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of real data by others; skip where it is absent."""
    if not SHARED.is_dir():
        pytest.skip("the folder of real models and data is not here")
    return SHARED
