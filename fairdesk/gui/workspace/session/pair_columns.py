"""The columns of the table of pairs: what a cell says, how it is sorted, drawn and copied."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum

from PySide6.QtCore import Qt

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.records import Pair
from fairdesk.data.domain.attributes import Role
from fairdesk.models.decisions.rule import own_number, own_number_text, score_name
from fairdesk.wording import words

#: The sign of each mark, and what it is called.
MARKS = {"": ("", "not marked"), "flagged": ("⚑", "flagged"), "dismissed": ("✕", "dismissed")}
NOTE = "✎"


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
    changed: Callable[[Pair], bool] | None = None
    share: Callable[[Pair], float | None] | None = None


#: Instead of what is not known yet.
UNKNOWN = "–"


def distance_text(distance: float | None) -> str:
    """Write how far the nearest real person is; only who is the same is at 0."""
    if distance is None:
        return UNKNOWN
    return "<0.01" if 0 < distance < 0.005 else f"{distance:.2f}"


def plausibility_text(plausibility: float | None) -> str:
    """Write how usual somebody is, as a share of the real people."""
    if plausibility is None:
        return UNKNOWN
    whole = words.percent(plausibility, 1, 0)
    return whole.replace("below ", "<").replace("above ", ">")


def usual(plausibility: float, many: str) -> str:
    """Say how usual somebody is among the real ``many``."""
    if not plausibility:
        return f"Less usual than any of the real {many}."
    share = words.percent(plausibility, 1, 0)
    if share.startswith("below "):
        return f"Less usual than nearly all of the real {many}."
    return f"At least as usual as {share} of the real {many}."


def mark_text(pair: Pair) -> str:
    """Write the signs of a pair's mark and note."""
    return MARKS[pair.mark][0] + (NOTE if pair.note else "")


def columns_of(spec: AuditSpec, decisions: Callable[[], Sequence[str]]) -> tuple[Cells, ...]:
    """Make the table's columns: mark, number, how plausible, what differs, verdict, the others.

    Parameters
    ----------
    spec : AuditSpec
        The audit's question.
    decisions : callable
        Gives what each of the model's classes is called, once that is known.
    """
    attributes = spec.domain.attributes

    def differs(position: int) -> Callable[[Pair], bool]:
        return lambda pair: bool(pair.row[position] != pair.partner[position])

    def both(position: int) -> Callable[[Pair], str]:
        text = attributes[position].text

        def write(pair: Pair) -> str:
            here, there = pair.row[position], pair.partner[position]
            return text(here) if here == there else f"{text(here)} ≠ {text(there)}"

        return write

    def one(position: int) -> Callable[[Pair], str]:
        text = attributes[position].text
        return lambda pair: text(pair.row[position])

    def decided(pair: Pair) -> str:
        here, there = decisions()[pair.row_class], decisions()[pair.partner_class]
        # two scores that are far enough apart are a finding too, for a method that is told so
        return here if pair.row_class == pair.partner_class else f"{here} ≠ {there}"

    many = words.plural(spec.person)
    first = [
        Cells("Mark", "mark", mark_text, "⚑ flagged, ✕ dismissed, ✎ has a note"),
        Cells("No.", "id", lambda pair: str(pair.id), "In the order found", number=True),
        Cells(
            f"Nearest real {spec.person}",
            "distance",
            lambda pair: distance_text(pair.distance),
            f"How far the nearest real {spec.person} is: 0 is the same, 1 the farthest",
            number=True,
        ),
        Cells(
            "Plausible",
            "plausibility",
            lambda pair: plausibility_text(pair.plausibility),
            f"At least as usual as so many of the real {many}",
            number=True,
            share=lambda pair: pair.plausibility,
        ),
    ]
    protected = [
        Cells(
            attributes[position].name,
            attributes[position].name,
            both(position),
            "Protected: the two values that were compared",
            changed=differs(position),
        )
        for position in spec.domain.protected
    ]
    following = [
        Cells(
            attributes[position].name,
            attributes[position].name,
            both(position),
            "Follows from what is protected",
            changed=differs(position),
        )
        for position in spec.domain.differing
        if attributes[position].role is not Role.PROTECTED
    ]
    verdict = [
        Cells(
            "Decision",
            "",
            decided,
            "The decision for each of the two",
            changed=lambda pair: pair.row_class != pair.partner_class,
        ),
        Cells(
            score_name(spec.model),
            "row_score",
            lambda pair: own_number_text(pair.row_score, spec.mapping, spec.model),
            "Score of the favourable class for the first of the two",
            number=True,
        ),
        Cells(
            f"Other’s {score_name(spec.model).lower()}",
            "partner_score",
            lambda pair: own_number_text(pair.partner_score, spec.mapping, spec.model),
            "Score of the favourable class for the second of the two",
            number=True,
        ),
        Cells(
            "Difference",
            "difference",
            lambda pair: f"{_apart(spec, pair):.3f}",
            "How far the two scores are apart",
            number=True,
        ),
    ]
    others = [
        Cells(
            attributes[position].name,
            attributes[position].name,
            one(position),
            "The same for both",
            number=attributes[position].kind.is_number,
        )
        for position in spec.domain.others
    ]
    return (*first, *protected, *following, *verdict, *others)


def aligned(*, number: bool) -> Qt.AlignmentFlag:
    """Return the side at which a cell stands."""
    side = Qt.AlignmentFlag.AlignRight if number else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter


def _apart(spec: AuditSpec, pair: Pair) -> float:
    """Return how far the model's own numbers for both people are apart."""
    one, other = (
        own_number(score, spec.mapping, spec.model)
        for score in (pair.row_score, pair.partner_score)
    )
    return abs(one - other)


def tip_of(spec: AuditSpec, pair: Pair, column: Cells, text: str) -> str:
    """Tell a cell in full: scores with every digit, the note where there is one."""
    if column.order == "mark":
        note = f"\n{pair.note}" if pair.note else ""
        return MARKS[pair.mark][1].capitalize() + note
    match column.order:
        case "row_score":
            text = f"{own_number(pair.row_score, spec.mapping, spec.model):.9g}"
        case "partner_score":
            text = f"{own_number(pair.partner_score, spec.mapping, spec.model):.9g}"
        case "difference":
            text = f"{_apart(spec, pair):.9g}"
        case "distance" if pair.distance is not None:
            text = f"{pair.distance:.9g}"
        case "plausibility" if pair.plausibility is not None:
            text = usual(pair.plausibility, words.plural(spec.person))
    return text


def as_tsv(columns: Sequence[Cells], pairs: Sequence[Pair]) -> str:
    """Write pairs for a spreadsheet: tabs between cells, a header first."""
    lines = [[column.title for column in columns]]
    lines += [[column.text(pair) for column in columns] for pair in pairs]
    return "\n".join(
        "\t".join(cell.replace("\t", " ").replace("\n", " ") for cell in line) for line in lines
    )
