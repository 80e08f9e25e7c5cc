"""How many cases a test tries: a third in CI, all in a nightly run.

`FAIRDESK_TEST_SIZE=nightly` chooses the nightly run.
"""

from __future__ import annotations

import os

NIGHTLY = os.environ.get("FAIRDESK_TEST_SIZE") == "nightly"


def many(count: int) -> int:
    """Return how many of so many cases are tried."""
    return count if NIGHTLY else max(1, count // 3)
