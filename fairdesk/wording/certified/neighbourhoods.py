"""What is certified around the data rows, in sentences."""

from __future__ import annotations

from collections.abc import Iterable

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.results.events import Metric
from fairdesk.results.proofs import NeighbourhoodCounts
from fairdesk.wording import words
from fairdesk.wording.language import fixed, say, say_many
from fairdesk.wording.statements import Statement

#: What such a figure does not mean.
NOT_MEANT = fixed(
    "Neighbours are defined by the values that differ, not by how likely they are: many may "
    "resemble no real person. An instance that differs more from every data row is not covered. "
    "The counts are of the rows in this table; they are not shares of other people."
)

#: The same in a few words.
UNLIKE = fixed("With such a difference, an instance may resemble no real person.")


def neighbourhoods_of(figures: Iterable[Metric]) -> NeighbourhoodCounts | None:
    """Return what was certified around the data rows, if that was tried."""
    return next((each for each in figures if isinstance(each, NeighbourhoodCounts)), None)


def neighbourhood_statement(spec: AuditSpec, found: NeighbourhoodCounts) -> Statement:
    """Say for how many rows all neighbours are certified, one is falsified, or neither is known."""
    values = {
        "certified": words.number(found.certified),
        "rows": words.counted(found.rows, spec.person),
        "names": words.listed(found.attributes),
        "even": _even_if(found),
        **words.whom(spec.person),
    }
    sentence = say(
        "For {certified} of {rows} in the data the decision is certified to be the same for every "
        "tested value of {names}{even}.",
        **values,
    )
    rest = [say("For {own} it changes.", own=words.number(found.flipped))]
    if found.falsified > found.flipped:
        rest = [
            say(
                "For {own}, changing the protected values is enough to change it; for {more}, "
                "another value must change too.",
                own=words.number(found.flipped),
                more=words.number(found.falsified - found.flipped),
            )
        ]
    if found.undecided:
        rest.append(say_many(found.undecided, "{n} is undecided.", "{n} are undecided."))
    if found.unsupported:
        rest.append(
            say_many(
                found.unsupported,
                "{n} more has no comparison that the data support.",
                "{n} more have no comparison that the data support.",
            )
        )
    said = " ".join((sentence, *rest))
    return Statement(
        "proven",
        _label(found),
        say("{certified} of {rows}", **values),
        said,
        # the value and the label have the number
        " ".join((say("The same for every tested value of {names}{even}.", **values), *rest)),
    )


def neighbourhood_counts(found: NeighbourhoodCounts) -> str:
    """Write shortly how many rows are certified and falsified."""
    return say(
        "{certified} certified, {own} falsified, {more} by a neighbour only",
        certified=words.number(found.certified),
        own=words.number(found.flipped),
        more=words.number(found.falsified - found.flipped),
    )


def neighbourhood_standing(found: NeighbourhoodCounts) -> str:
    """Say in a few words how many rows are certified, falsified and undecided."""
    return say(
        "{certified} rows certified with their neighbours, {falsified} falsified, {undecided} "
        "undecided",
        certified=words.number(found.certified),
        falsified=words.number(found.falsified),
        undecided=words.number(found.undecided),
    )


def _label(found: NeighbourhoodCounts) -> str:
    """Name what is certified of the rows."""
    if not found.changed and not found.together:
        return say("Proven unchanged")
    if found.changed == 1 and not found.together:
        return say("Proven unchanged, even after one other change")
    return say("Proven unchanged, even after other changes")


def _even_if(found: NeighbourhoodCounts) -> str:
    """Say who is a neighbour, as the end of a sentence; empty where only the row itself is."""
    digits = 0 if round(100 * found.reach, 6) % 1 == 0 else 2
    share = words.percent(found.reach, 1.0, digits) if found.reach else words.percent_of("0")
    if not found.together and not found.changed:
        return ""
    if not found.together:
        return say_many(
            found.changed,
            ", even if any one other attribute were different (a number by up to {share} of its "
            "range)",
            ", even if any {n} other attributes were different (a number by up to {share} of its "
            "range)",
            share=share,
        )
    if not found.changed:
        return say(
            ", even if all numbers were different, each by up to {share} of its range",
            share=share,
        )
    return say_many(
        found.changed,
        ", even if any one other attribute were different, or all numbers at once (a number by up "
        "to {share} of its range)",
        ", even if any {n} other attributes were different, or all numbers at once (a number by "
        "up to {share} of its range)",
        share=share,
    )
