"""Counting what agrees and what differs, for one check."""

from __future__ import annotations

from collections.abc import Iterable

from fairdesk.certify.proof.verify.statements import Check

#: What differs is told one by one of so many.
MOST_TOLD = 5


class Tally:
    """A check that is under way."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._tried = self._failed = self._unknown = 0
        self._messages: list[tuple[str, int]] = []
        self._remarks: list[str] = []

    def agree(self, count: int = 1) -> None:
        """Count what was compared and is as it should be."""
        self._tried += count

    def differ(self, message: str, count: int = 1) -> None:
        """Count what was compared and is otherwise; a sentence says how: of the first few."""
        self._tried += count
        self._failed += count
        if message and len(self._messages) < MOST_TOLD:
            self._messages.append((message, count))

    def leave(self, message: str, count: int = 1) -> None:
        """Count what could not be compared; a sentence says why."""
        self._tried += count
        self._unknown += count
        self.remark(message)

    def compare(self, same: bool, message: str) -> bool:  # noqa: FBT001 - what is counted
        """Count one comparison; gives whether it agreed."""
        if same:
            self.agree()
        else:
            self.differ(message)
        return same

    def remark(self, message: str) -> None:
        """Add a sentence that must be known; once."""
        if message not in self._remarks:
            self._remarks.append(message)

    def check(self) -> Check:
        """Return what came of it."""
        messages = [message for message, _ in self._messages]
        if more := self._failed - sum(count for _, count in self._messages):
            messages.append(f"And {more:,} more.")
        messages += self._remarks[:MOST_TOLD]
        return Check(self._name, self._tried, self._failed, self._unknown, tuple(messages))


def untried(name: str, why: str) -> Check:
    """Return a check that nothing could be compared for, and why."""
    return Check(name, 0, 0, 1, (why,))


def failures(checks: Iterable[Check]) -> int:
    """Count what differs."""
    return sum(each.failed for each in checks)
