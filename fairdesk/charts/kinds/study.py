"""Audit studies: the selection rates of the same rows under each protected value, and as they are.

Drawn as a forest plot, a row for each value. The interval is that of the paired difference from the
reference value, around it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.charts.kinds.forest import Plot, Row, percents
from fairdesk.charts.shapes import Laid, Marked, Paper
from fairdesk.results.individual import AuditStudy
from fairdesk.wording import words
from fairdesk.wording.comparisons import difference_text, shown_values
from fairdesk.wording.decisions import name_of
from fairdesk.wording.language import say


class Rate(NamedTuple):
    """The rate under one value: its name, count and rate as text, the rate with its interval."""

    name: str
    value: str
    ends: tuple[float, float, float]
    difference: str
    reference: bool = False
    known: bool = True


class Studied(NamedTuple):
    """The rates of one study: the rows as they are, the reference, the other values."""

    attribute: str
    rates: tuple[Rate, ...]


def studied(spec: AuditSpec, study: AuditStudy, most: int) -> Studied:
    """Write an audit study for a chart: of more than so many values the farthest apart."""
    attribute = spec.domain.attributes[spec.domain.names.index(study.attribute)]
    n, name = max(study.n_rows, 1), words.quoted(study.attribute)
    shown = shown_values(study, most)
    middle = shown[0].favourable / n

    def text(count: int) -> str:
        return f"{words.number(count)} ({words.percent(count, study.n_rows)})"

    at = study.actual / n
    rates = [
        Rate(
            say("{name}: as recorded", name=name), text(study.actual), (at, at, at), "", known=False
        )
    ]
    rates += [
        Rate(
            f"{name}: {name_of(attribute, each.code)}",
            text(each.favourable),
            (each.favourable / n,) * 3
            if each.code == study.reference
            else (max(0.0, middle + each.low), each.favourable / n, middle + each.high),
            difference_text(study, each),
            each.code == study.reference,
        )
        for each in shown
    ]
    return Studied(study.attribute, tuple(rates))


@dataclass(frozen=True)
class Studies:
    """The rates of the same rows under each value of one or more protected attributes."""

    studies: tuple[Studied, ...] = ()
    title: str = "Selection rates of the same rows under each protected value"

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not self.studies

    def summary(self) -> str:
        """Return it in words."""
        return self.alt()

    def alt(self) -> str:
        """Return it in words, in the language of the report."""
        said = "; ".join(
            f"{each.name}: {each.value}" + (f", {each.difference}" if each.difference else "")
            for study in self.studies
            for each in study.rates
        )
        return say("Audit study, selection rates of the same rows. {said}.", said=said)

    def plot(self) -> Plot:
        """Return what is drawn."""
        rates = [each for study in self.studies for each in study.rates]
        rows = [
            Row(
                each.name,
                each.value,
                each.ends,
                "reference" if each.reference else "" if each.known else "apart",
                key,
                f"{each.name}: {each.value}" + (f", {each.difference}" if each.difference else ""),
                each.known,
            )
            for key, each in enumerate(rates)
        ]
        highest = max((row.ends[2] for row in rows if row.ends), default=1.0)
        title = say("would be selected (square: reference value)")
        return Plot(rows, (), min(max(highest, 1e-3), 1.0), percents, title)

    def lay_out(self, paper: Paper, marked: Marked = Marked()) -> Laid:  # noqa: B008 - immutable
        """Put everything in its place."""
        return self.plot().lay_out(paper, marked)
