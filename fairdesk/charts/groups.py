"""How groups are named and marked in tables and pictures of them; what is undefined says so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from fairdesk.results.groups import GroupLine, GroupTable
from fairdesk.wording import words
from fairdesk.wording.groups.tables import rate_of
from fairdesk.wording.language import say
from fairdesk.wording.words import UNDEFINED

#: No groups at all.
NOTHING: Final = GroupTable("label", "", (), 0, 0, 0, 0, -1, ())


def name(line: GroupLine) -> str:
    """Name a group: ``Male, Black``."""
    return ", ".join(line.values)


def rate_and_size(table: GroupTable, line: GroupLine) -> str:
    """Write a group's rate, as its table has it, with how many it is of."""
    if line.rate is None:
        return UNDEFINED
    return say("{rate} of {n}", rate=rate_of(table, line), n=words.number(line.n_samples))


def describe(table: GroupTable, line: GroupLine, person: str) -> str:
    """Say how a group fares."""
    if not line.n_samples:
        return f"{name(line)}: empty group, so the rate is {UNDEFINED}"
    said = (
        f"{name(line)}: {rate_of(table, line)} ({words.number(line.favourable)} of "
        f"{words.counted(line.n_samples, person)}), 95{words.NBSP}% CI "
        f"{words.percent_ends(line.low, line.high)}"
    )
    if line.impact_ratio is not None:
        said += f"; impact ratio {words.number(line.impact_ratio, 2)}"
    return "; ".join([said, *remarks(line)])


def remarks(line: GroupLine) -> list[str]:
    """Say what sets a group apart from others; mostly nothing."""
    found = []
    if line.below:
        found.append("below the four-fifths threshold")
    if line.excluded:
        found.append("too small to be compared")
    if not line.known:
        found.append("group not recorded, not compared")
    return found


@dataclass(frozen=True)
class OfGroups:
    """A picture of the groups of a table.

    Attributes
    ----------
    groups : GroupTable
        The groups.
    title : str
        What it tells.
    person : str
        The auditor's word for one of the people.
    """

    groups: GroupTable = NOTHING
    title: str = ""
    person: str = "person"

    def summary(self) -> str:
        """Tell it in words, for those who do not see it."""
        lines = self.groups.lines
        if not lines:
            return f"{self.title}: no results yet."
        first = "; ".join(describe(self.groups, line, self.person) for line in lines[:4])
        more = f" {words.number(len(lines) - 4)} more groups" if len(lines) > 4 else ""
        said = f"{self.title}, observed. {first}.{more} in the table (T)."
        return f"{said} Arrow keys move between groups."

    def table(self, most: int | None = None) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return it as a table: a header and rows; of these at most so many."""
        heads = ("People", "Favourable", "Rate, %", "from", "to", "Impact ratio", "Remark")
        return (*self.groups.attributes, *heads), [
            (
                *line.values,
                *(str(line.n_samples), str(line.favourable)),
                *(
                    (UNDEFINED,) * 3
                    if line.rate is None
                    else (f"{100 * part:.2f}" for part in (line.rate, line.low, line.high))
                ),
                UNDEFINED if line.impact_ratio is None else f"{line.impact_ratio:.3f}",
                "; ".join(remarks(line)),
            )
            for line in self.groups.lines[:most]
        ]
