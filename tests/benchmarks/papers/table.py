"""A table that stands beside a published one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np


class Table(NamedTuple):
    """A table of a paper with the figures measured here.

    Attributes
    ----------
    title : str
        Which table of which paper.
    head : sequence of str
        Names of the columns.
    lines : sequence of sequence of str
        Its cells.
    note : str, optional
        What differs from the paper's experiment, and why.
    """

    title: str
    head: Sequence[str]
    lines: Sequence[Sequence[str]]
    note: str = ""


class Paper(Protocol):
    """The module of one paper."""

    def tables(self, *, seeds: int, quick: bool) -> Iterator[Table]:
        """Measure its tables, one after the other.

        Parameters
        ----------
        seeds : int
            Runs with seeds 0, 1, ... of each search; a cell is their mean and spread.
        quick : bool
            Whether only the smaller half of the experiments is made.
        """
        ...


def show(table: Table) -> None:
    """Print a table as Markdown, as `docs/reference/papers.md` holds it."""
    lines = [list(table.head), ["---"] * len(table.head), *map(list, table.lines)]
    print(f"**{table.title}**\n")
    print("\n".join("| " + " | ".join(line) + " |" for line in lines))
    print(f"\n{table.note}\n" if table.note else "", flush=True)


def spread(values: Iterable[float], digits: int = 0) -> str:
    """Return the mean of several runs with their standard deviation."""
    array = np.fromiter(values, float)
    if len(array) < 2:
        return f"{array.mean():,.{digits}f}"
    return f"{array.mean():,.{digits}f} ± {array.std(ddof=1):,.{digits}f}"
