"""How many cases a test tries: a third, all of them where `FAIRDESK_TEST_SIZE=nightly` is set."""

from __future__ import annotations

import os

NIGHTLY = os.environ.get("FAIRDESK_TEST_SIZE") == "nightly"


def many(count: int) -> int:
    """Return how many of so many cases are tried: a third, rounded up, unless all are."""
    return count if NIGHTLY else -(-count // 3)
