"""The columns of the table of pairs: what a cell says, how it is sorted, drawn and copied."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import partial
from operator import attrgetter
from typing import Any

from PySide6.QtCore import Qt

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.pair import (
    FIELDS,
    FIRST,
    FOUND,
    MARKED,
    WEIGHED,
    Kind,
    Pair,
    orderable,
    sides,
)
from fairdesk.data.domain.attributes import Role
from fairdesk.document.pairs import change
from fairdesk.models.decisions.rule import own_number
from fairdesk.wording import words
from fairdesk.wording.pairs import UNKNOWN, entitled, usual, writers

#: The sign of each mark, and what it is called.
MARKS = {"": ("", "no review status"), "flagged": ("⚑", "flagged"), "dismissed": ("✕", "dismissed")}
NOTE = "✎"
#: The column of what changes between both sides of a pair.
CHANGE = "Change"


class PairRole(IntEnum):
    """What else the model gives, besides Qt's own roles."""

    PAIR = Qt.ItemDataRole.UserRole
    """The `Pair` of the row, or nothing while its page is on the way."""
    SHARE = Qt.ItemDataRole.UserRole + 1
    """Of a cell that is drawn as a bar too: how much of it is full, 0 to 1."""


@dataclass(frozen=True)
class Cells:
    """One column of the table.

    Attributes
    ----------
    title : str
        Its header.
    order : str
        What `PairQuery.order` calls it; empty when the store cannot sort by it.
    text : callable
        Writes a pair's cell.
    tip : str
        What the header means.
    number : bool
        Whether its cells are numbers, set at the right.
    full : callable
        Writes a pair's cell in full, for its tip; none: as the cell.
    changed : callable
        Whether the cell shows a difference between the two people; none: it never does.
    share : callable
        Gives how much of a bar is full beside the text; none: there is no bar.
    """

    title: str
    order: str
    text: Callable[[Pair], str]
    tip: str
    number: bool = False
    full: Callable[[Pair], str] | None = None
    changed: Callable[[Pair], bool] | None = None
    share: Callable[[Pair], float | None] | None = None


def mark_text(pair: Pair) -> str:
    """Write the signs of a pair's mark and note."""
    return MARKS[pair.mark][0] + (NOTE if pair.note else "")


def mark_in_full(pair: Pair) -> str:
    """Write a pair's mark, and the note where there is one."""
    return MARKS[pair.mark][1].capitalize() + (f"\n{pair.note}" if pair.note else "")


def columns_of(spec: AuditSpec, decisions: Callable[[], Sequence[str]]) -> tuple[Cells, ...]:
    """Make the table's columns: mark, number, decision, what changes, scores, what differs, others.

    Where several attributes are protected, what changes has a column of its own.

    Parameters
    ----------
    decisions : callable
        Gives what each of the model's classes is called, once that is known.
    """
    attributes = spec.domain.attributes

    def attribute(position: int, tip: str, *, differs: bool) -> Cells:
        text = attributes[position].text

        def sides(pair: Pair) -> dict[float, None]:
            return dict.fromkeys((pair.row[position], pair.partner[position]))

        return Cells(
            attributes[position].name,
            attributes[position].name,
            lambda pair: " → ".join(map(text, sides(pair))),
            tip,
            number=not differs and attributes[position].kind.is_number,
            changed=(lambda pair: len(sides(pair)) > 1) if differs else None,
        )

    protected = [
        attribute(position, "Protected attribute: the two values tested", differs=True)
        for position in spec.domain.protected
    ]
    following = [
        attribute(position, "Changes with a protected attribute", differs=True)
        for position in spec.domain.differing
        if attributes[position].role is not Role.PROTECTED
    ]
    others = [
        attribute(position, "Identical in both instances", differs=False)
        for position in spec.domain.others
    ]
    changed = Cells(
        CHANGE,
        "",
        partial(change, spec),
        "The protected attributes that change",
        changed=lambda _pair: True,
    )
    fields = partial(_fields, spec, decisions)
    decided = [name for name, field in FOUND.items() if field.kind == "decision"]
    difference = Cells(
        "Difference",
        "difference",
        lambda pair: f"{_apart(spec, pair):.3f}",
        "Difference between the two scores",
        number=True,
        full=lambda pair: f"{_apart(spec, pair):.9g}",
    )
    return (
        *(replace(each, text=mark_text, full=mark_in_full) for each in fields(("mark",))),
        *fields(FIRST),
        *(*fields(MARKED.keys() - {"mark"}), *fields(decided)),
        *((changed,) if len(protected) > 1 else (*protected, *following)),
        *(*fields(name for name in FOUND if name not in decided), difference),
        *((*protected, *following) if len(protected) > 1 else ()),
        *(*fields(WEIGHED), *others),
    )


def _fields(
    spec: AuditSpec, decisions: Callable[[], Sequence[str]], names: Iterable[str]
) -> Iterator[Cells]:
    """Make the columns of those fields of a pair that have one."""
    many = words.plural(spec.person)
    write = writers(spec, lambda position: decisions()[position])
    in_full: dict[Kind, Callable[[Any], str]] = {
        **write,
        "score": lambda value: f"{own_number(value, spec.mapping, spec.model):.9g}",
        "distance": lambda value: UNKNOWN if value is None else f"{value:.9g}",
        "share": lambda value: UNKNOWN if value is None else usual(value, many),
    }
    for name in names:
        if (field := FIELDS[name]).title:
            both = [each for each in sides(name) if each == name or not FIELDS[each].title]
            yield Cells(
                entitled(spec, field.title),
                name if orderable(name) else "",
                partial(_written, both, write[field.kind]),
                entitled(spec, field.tip),
                number=field.kind in ("number", "score", "distance", "share"),
                full=partial(_written, both, in_full[field.kind]),
                changed=partial(_differ, both) if len(both) > 1 else None,
                share=attrgetter(name) if field.kind == "share" else None,
            )


def _written(names: Sequence[str], write: Callable[[Any], str], pair: Pair) -> str:
    """Write a field's value, or the two of a pair's two sides where these differ."""
    return " → ".join(map(write, dict.fromkeys(getattr(pair, name) for name in names)))


def _differ(names: Sequence[str], pair: Pair) -> bool:
    return len({getattr(pair, name) for name in names}) > 1


def _apart(spec: AuditSpec, pair: Pair) -> float:
    """Return how far the model's own numbers for both people are apart."""
    one, other = (
        own_number(score, spec.mapping, spec.model)
        for score in (pair.row_score, pair.partner_score)
    )
    return abs(one - other)


def as_tsv(columns: Sequence[Cells], pairs: Sequence[Pair]) -> str:
    """Write pairs for a spreadsheet: tabs between cells, a header first."""
    lines = [[column.title for column in columns]]
    lines += [[column.text(pair) for column in columns] for pair in pairs]
    return "\n".join(
        "\t".join(cell.replace("\t", " ").replace("\n", " ") for cell in line) for line in lines
    )
