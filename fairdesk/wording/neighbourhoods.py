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


def neighbourhoods_of(figures: Iterable[Metric]) -> NeighbourhoodCounts | None:
    """Return what was certified around the data rows, if that was tried."""
    return next((each for each in figures if isinstance(each, NeighbourhoodCounts)), None)


def neighbourhood_statement(spec: AuditSpec, found: NeighbourhoodCounts) -> Statement:
    """Say for how many rows the decision does not change, and for which of these nor a neighbour's.

    The first count is of the rows themselves, which other methods count too: without it, the second
    would be read as that.
    """
    rows, certified = words.counted(found.rows, spec.person), words.number(found.certified)
    # where rows are undecided, of some nothing may be known
    own = words.number(found.certified + found.falsified - found.flipped)
    values = {
        "own": say("at least {own}", own=own) if found.undecided else own,
        "names": words.listed(found.attributes, "or"),
        **words.whom(spec.person),
    }
    if found.changed or found.together:
        sentence = say(
            "Of {own} {people} unaffected by any tested {names}, {n} provably stay so even if "
            "{differs}.",
            n=certified,
            differs=_differs(found),
            **values,
        )
    else:
        sentence = say(
            "{own} of {rows} are provably unaffected by any tested {names}.", rows=rows, **values
        )
    value = say("{certified} of {rows}", certified=certified, rows=rows)
    return Statement("proven", _label(found), value, words.capital(sentence))


def _differs(found: NeighbourhoodCounts) -> str:
    """Say what may differ of a neighbour, as a clause."""
    if not found.changed:
        return say("all numbers differ within limits")
    if found.together:
        return say_many(
            found.changed,
            "one other value, or every number, differs within limits",
            "any {n} other values, or all numbers, differ within limits",
        )
    return say_many(
        found.changed,
        "one other value differs within limits",
        "any {n} other values differ within limits",
    )


def neighbour_sentence(found: NeighbourhoodCounts) -> str:
    """Say what the limits are, and of how many rows nothing is known."""
    said = []
    if found.changed or found.together:
        digits = 0 if round(100 * found.reach, 6) % 1 == 0 else 2
        share = words.percent(found.reach, 1.0, digits) if found.reach else words.percent_of("0")
        said.append(say("Within limits: a number by up to {share} of its range.", share=share))
    if found.undecided:
        said.append(say_many(found.undecided, "{n} is undecided.", "{n} are undecided."))
    if found.unsupported:
        said.append(
            say_many(
                found.unsupported,
                "{n} more has no comparison that the data support.",
                "{n} more have no comparison that the data support.",
            )
        )
    return " ".join(said)


def neighbourhood_counts(found: NeighbourhoodCounts) -> str:
    """Write shortly how many rows are certified and falsified."""
    return say(
        "{certified} certified, {own} falsified, {more} by a neighbour only",
        certified=words.number(found.certified),
        own=words.number(found.flipped),
        more=words.number(found.falsified - found.flipped),
    )


def _label(found: NeighbourhoodCounts) -> str:
    """Name what is certified of the rows."""
    if not found.changed and not found.together:
        return say("Proven unchanged")
    if found.changed == 1 and not found.together:
        return say("Proven unchanged, even after one other change")
    return say("Proven unchanged, even after other changes")
