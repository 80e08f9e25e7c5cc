"""What is proven of whom, as stacked bars: alike, unlike, and what is left; estimates hatched.

What is proven is rounded down and solid. What is only estimated is hatched, inside of what is
undecided, and never added to what is proven.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.charts import bars
from fairdesk.charts.shapes import Laid, Marked, Paper
from fairdesk.gui.charts.verdicts import MARKS, shown
from fairdesk.results.events import Metric
from fairdesk.results.individual import Share
from fairdesk.results.proofs import Proven
from fairdesk.wording import proofs as proof_words
from fairdesk.wording import words


class Guess(NamedTuple):
    """What sampling says of an undecided part: how much of it is unlike, and the interval."""

    share: float
    low: float
    high: float
    confidence: float

    def text(self) -> str:
        """Write it: ``41.0 % (38.1 to 44.0)``."""
        digits = words.digits_of(self.low, self.high)
        return (
            f"{words.shown_percent(self.share, digits)} "
            f"({100 * self.low:.{digits}f} to {100 * self.high:.{digits}f})"
        )


@dataclass(frozen=True)
class Space:
    """Of whom something is proven, and how much.

    Attributes
    ----------
    name : str
        ``"All possible applicants"``.
    alike, unlike : Fraction
        Proven shares, 0 to 1; the rest is undecided.
    exact : bool
        Everybody is decided.
    people : int
        How many there are; 0 where they are not counted.
    guess : Guess, optional
        What sampling says of the rest.
    """

    name: str
    alike: Fraction
    unlike: Fraction
    exact: bool
    people: int = 0
    guess: Guess | None = None

    @property
    def left(self) -> Fraction:
        """The undecided share."""
        return 1 - self.alike - self.unlike

    def parts(self) -> Iterator[tuple[str, Fraction]]:
        """Yield the verdicts with their shares, those of nobody left out."""
        for verdict, share in zip(MARKS, (self.alike, self.unlike, self.left), strict=True):
            if share > 0:
                yield verdict, share

    def text(self, verdict: str, share: Fraction) -> str:
        """Write a share: what is proven is at least that."""
        if self.exact:
            return f"{words.shown_percent(float(share), 2)} {verdict}"
        least = "" if verdict == "undecided" else "at least "
        return f"{least}{shown(verdict, share)} {verdict}"

    def count(self, share: Fraction) -> str:
        """Write how many people a share is; empty where they are not counted."""
        return f"{round(share * self.people):,}" if self.people else ""

    def told(self, verdict: str, share: Fraction) -> str:
        """Say one part of the bar in a sentence."""
        many = f" ({self.count(share)} of {self.people:,})" if self.people else ""
        kind = "" if verdict == "undecided" else ": proven"
        said = f"{self.name}: {self.text(verdict, share)}{many}{kind}"
        if verdict == "undecided" and self.guess is not None:
            said += f"; of these an estimated {self.guess.text()} are treated unlike, not proven"
        return said


def spaces_of(spec: AuditSpec, measured: Sequence[Metric]) -> tuple[Space, ...]:
    """Make a bar of everything that a run says of people: proven, counted or only estimated.

    All protected attributes are changed together there; `alone_of` is for each of them.
    """
    many = words.plural(spec.person)
    names = {
        "domain": f"All possible {many}",
        "population": "Your population: every value as common as in your data",
        "data": f"The {many} in your data",
        "perturbed": f"{many.capitalize()} a little unlike your data",
    }
    found: dict[str, Space] = {}
    for figure in measured:
        match figure:
            # the first of each kind is of all protected attributes
            case Proven():
                found.setdefault(figure.of, _proven(names[figure.of], figure))
            case Share() if figure.people:
                found.setdefault(figure.whom, _asked(names[figure.whom], figure))
            case _:
                pass
    return tuple(found[whom] for whom in names if whom in found)


def alone_of(spec: AuditSpec, measured: Sequence[Metric]) -> tuple[Space, ...]:
    """Make a bar of each protected attribute by itself, of all possible people."""
    several = len(spec.domain.protected) > 1
    return tuple(
        _proven(f"When only {words.quoted(figure.attributes[0])} changes", figure)
        for figure in measured
        if isinstance(figure, Proven)
        and figure.of == "domain"
        and several
        and len(figure.attributes) == 1
    )


def _proven(name: str, proven: Proven) -> Space:
    alike, unlike, _left = proof_words.proven_fractions(proven)
    guess, seen = None, proven.estimated
    if seen is not None and seen.people and not proven.exact:
        guess = Guess(seen.estimate, seen.low, seen.high, seen.confidence)
    return Space(name, alike, unlike, proven.exact, int(proven.total or 0), guess)


def _asked(name: str, share: Share) -> Space:
    """Tell of people who were asked about one by one, or of whom some were."""
    if share.exhaustive:
        unlike = Fraction(share.hits, share.people)
        return Space(name, 1 - unlike, unlike, exact=True, people=share.people)
    guess = Guess(share.estimate, share.low, share.high, share.confidence)
    return Space(name, Fraction(0), Fraction(0), exact=False, guess=guess)


@dataclass(frozen=True)
class Spaces:
    """All that the bars show."""

    bars: tuple[Space, ...] = ()
    heading: str = "Of whom"
    title: str = "What is proven, and what is left"

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not self.bars

    def parts(self) -> list[tuple[Space, str, Fraction]]:
        """Return every part of every bar."""
        return [(bar, verdict, share) for bar in self.bars for verdict, share in bar.parts()]

    def summary(self) -> str:
        """Tell it in words, for those who do not see it."""
        if self.empty:
            return f"{self.title}: nothing yet."
        return ". ".join(bar.told(*part) for bar in self.bars for part in bar.parts()) + "."

    def table(self, most: int | None = None) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return it as a table: a header and rows; of these at most so many."""
        rows: list[tuple[str, ...]] = []
        for bar, verdict, share in self.parts():
            known = "not known" if verdict == "undecided" else "proven"
            at_least = bar.text(verdict, share).removesuffix(f" {verdict}")
            rows.append((bar.name, verdict, at_least, bar.count(share), known))
            if verdict == "undecided" and bar.guess is not None:
                kind = f"estimated, {100 * bar.guess.confidence:g}{words.NBSP}%"
                rows.append((bar.name, "of the undecided: unlike", bar.guess.text(), "", kind))
        return ("Of whom", "Treated", "Share", "How many", "Known how"), rows[:most]

    def lay_out(self, paper: Paper, marked: Marked) -> Laid:
        """Put everything in its place."""
        return bars.lay_out([_bar(each) for each in self.bars], paper, marked)


def _bar(space: Space) -> bars.Bar:
    """Return what is drawn of some people."""
    found = []
    for verdict, share in space.parts():
        guess = None
        if verdict == "undecided" and space.guess is not None:
            seen = space.guess
            of = "of the undecided " if space.alike or space.unlike else ""
            label = f"estimated, not proven: {of}{seen.text()} unlike"
            guess = bars.Guess(seen.share, label, (seen.low, seen.high))
        text, told = space.text(verdict, share), space.told(verdict, share)
        found.append(bars.Part(float(share), verdict, MARKS[verdict], text, told, guess))
    return bars.Bar(space.name, found)
