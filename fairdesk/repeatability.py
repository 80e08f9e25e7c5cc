"""What came of querying rows again: whether a model answers alike. Also read by older Pythons."""

from __future__ import annotations

import msgspec


class Repeatability(msgspec.Struct, frozen=True, tag=True):
    """Whether the model answers alike when the same rows are queried again.

    Of a run it is kept only where it did not, and counts the rows that were queried again then:
    before the run, and to confirm what was found.

    Attributes
    ----------
    rows : int
        Rows that were queried again.
    changed : int
        Of these, rows whose scores differ by more than rounding can explain.
    decisions : int
        Of these, rows whose decision differs.
    largest : float
        The largest difference of two scores of one row, as a part of the greater of them and 1.
    batch : bool
        Whether the answers differ only when other rows are queried together with a row: they
        depend on the rest of the batch. Else they differ by themselves.
    """

    rows: int = 0
    changed: int = 0
    decisions: int = 0
    largest: float = 0.0
    batch: bool = False

    @property
    def holds(self) -> bool:
        """Whether no row's answer changed."""
        return not self.changed
