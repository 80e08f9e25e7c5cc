"""What is proven of whom, as stacked bars: certified, falsified, undecided; estimates hatched.

What is proven is rounded down and solid. What is only estimated is hatched, inside of what is
undecided, and never added to what is proven.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.charts.kinds import bars
from fairdesk.charts.shapes import Colour, Laid, Marked, Paper, Tint
from fairdesk.charts.verdicts import (
    AROUND,
    COUNTED,
    NAMES,
    NEIGHBOUR,
    WORDS,
    is_too_small,
    sentence,
    sentence_around,
    shown,
)
from fairdesk.results.events import Metric
from fairdesk.results.individual import Share
from fairdesk.results.proofs import NeighbourhoodCounts, Proven
from fairdesk.wording import proofs as proof_words
from fairdesk.wording import words
from fairdesk.wording.figures import instances
from fairdesk.wording.language import say

#: How parts look: a neighbour's decision is paler than a row's own.
_LOOKS: dict[str, tuple[Colour, str]] = {
    **{verdict: (verdict, word) for verdict, word in WORDS.items()},
    NEIGHBOUR: (Tint("discriminatory", 0.45, "card"), "if altered"),
}


class Guess(NamedTuple):
    """What sampling says of an undecided part: how much of it is falsified, and the interval."""

    share: float
    low: float
    high: float
    confidence: float

    def text(self) -> str:
        """Write it: ``41.0 % (38.1 to 44.0)``."""
        digits = words.digits_of(self.low, self.high)
        ends = words.ends(*(words.plain(100 * end, digits) for end in (self.low, self.high)))
        return f"{words.shown_percent(self.share, digits)} ({ends})"


@dataclass(frozen=True)
class Space:
    """Of whom something is proven, and how much.

    Attributes
    ----------
    name : str
        ``"All possible applicants"``; may be empty.
    certified, falsified : Fraction
        Proven shares, 0 to 1; the rest is undecided.
    exact : bool
        Everybody is decided.
    n_samples : int
        How many there are; 0 where they are not counted.
    guess : Guess, optional
        What sampling says of the rest.
    counted : bool
        Rows of the data, counted one by one: observed, not proven.
    attributes : tuple of str
        The protected attributes that are changed, of what is proven.
    own : Fraction, optional
        Of data rows with their neighbours: the share whose own decision changes, a part of
        ``falsified``.
    """

    name: str
    certified: Fraction
    falsified: Fraction
    exact: bool
    n_samples: int = 0
    guess: Guess | None = None
    counted: bool = False
    attributes: tuple[str, ...] = ()
    own: Fraction | None = None

    @property
    def names(self) -> Mapping[str, str]:
        """What its parts are called, by their verdicts."""
        if self.own is not None:
            return AROUND
        return COUNTED if self.counted else NAMES

    def parts(self) -> Iterator[tuple[str, Fraction]]:
        """Yield the verdicts with their shares, those of nobody left out."""
        own = self.falsified if self.own is None else self.own
        for verdict, share in (
            ("consistent", self.certified),
            ("discriminatory", own),
            (NEIGHBOUR, self.falsified - own),
            ("undecided", 1 - self.certified - self.falsified),
        ):
            if share > 0:
                yield verdict, share

    def share(self, verdict: str, share: Fraction) -> str:
        """Write a share: what is proven is rounded down, but not a share of counted rows."""
        rows = self.counted or self.own is not None
        return words.shown_percent(float(share), 2) if rows else shown(verdict, share)

    def text(self, verdict: str, share: Fraction) -> str:
        """Write a share with its verdict: what is proven is at least that."""
        if self.own is not None:
            return sentence_around(verdict, self.share(verdict, share))
        least = not self.exact and share < 1 and not is_too_small(verdict, share)
        return sentence(verdict, self.share(verdict, share), least=least, counted=self.counted)

    def count(self, share: Fraction) -> str:
        """Write how many people a share is; empty where they are not counted."""
        return words.number(round(share * self.n_samples)) if self.n_samples else ""

    def guessed(self) -> str:
        """Say what is estimated of the undecided; empty where nothing is."""
        if self.guess is None:
            return ""
        if self.certified or self.falsified:
            said = say("{share} of the undecided share", share=self.guess.text())
        else:
            said = self.guess.text()
        return say("estimated, not proven: the decision changes for {share}", share=said)

    def tip(self, verdict: str, share: Fraction) -> str:
        """Say one part of the bar in a sentence."""
        many = f", {self.count(share)} of {words.number(self.n_samples)}" if self.n_samples else ""
        said = f"{self.name}: {self.text(verdict, share)}{many}"
        if verdict != "undecided":
            return f"{said}: {self.evidence(verdict)}"
        return f"{said}; {self.guessed()}" if self.guess else said

    def evidence(self, verdict: str) -> str:
        """Say in a word on what a part rests."""
        if verdict == "undecided":
            return "not known"
        return "counted" if self.counted else "proven"

    def bar(self) -> bars.Bar:
        """Return what is drawn."""
        found = []
        for verdict, share in self.parts():
            guess = None
            if verdict == "undecided" and self.guess is not None:
                ends = (self.guess.low, self.guess.high)
                guess = bars.Guess(self.guess.share, self.guessed(), ends)
            text, tip = self.text(verdict, share), self.tip(verdict, share)
            found.append(bars.Part(float(share), *_LOOKS[verdict], text, tip, guess))
        return bars.Bar(self.name, found)


def spaces_of(spec: AuditSpec, measured: Sequence[Metric]) -> tuple[Space, ...]:
    """Make a bar of everything that a run says of people: proven, counted or only estimated.

    All protected attributes are changed together there; `alone_of` is for each of them.
    """
    whoms = ("data", "people", "domain", "population", "perturbed")
    names = {whom: instances(spec, whom) for whom in whoms}
    found: dict[str, Space] = {}
    for figure in measured:
        match figure:
            # the first of each kind is of all protected attributes
            case Proven():
                found.setdefault(figure.of, space_of(names[figure.of], figure))
            case Share() if figure.n_samples:
                found.setdefault(figure.whom, _asked(names[figure.whom], figure))
            case NeighbourhoodCounts():
                found["neighbours"] = space_around(spec, figure)
            case _:
                pass
    return tuple(found[whom] for whom in (*names, "neighbours") if whom in found)


def alone_of(
    spec: AuditSpec, measured: Sequence[Metric], known: AbstractSet[str] = frozenset()
) -> tuple[Space, ...]:
    """Make a bar of each protected attribute by itself, below one of all of them together.

    All are of the input domain. Of those ``known`` to change a decision alone it says so where no
    share of them is proven.
    """
    of_domain = [each for each in measured if isinstance(each, Proven) and each.of == "domain"]
    alone = [each for each in of_domain if len(each.attributes) == 1]
    if len(spec.domain.protected) < 2 or not alone:
        return ()
    together = [each for each in of_domain if len(each.attributes) == len(spec.domain.protected)]
    return tuple(
        space_of(
            words.capital(words.when_change(figure.attributes))
            + " (pairs found)" * (set(figure.attributes) <= known and not figure.falsified),
            figure,
        )
        for figure in (*together[:1], *alone)
    )


def space_of(name: str, proven: Proven) -> Space:
    """Make a bar of what is proven."""
    certified, falsified, _left = proof_words.proven_fractions(proven)
    guess, seen = None, proven.estimated
    if seen is not None and seen.n_samples and not proven.exact:
        guess = Guess(seen.estimate, seen.low, seen.high, seen.confidence)
    return Space(
        *(name, certified, falsified, proven.exact, int(proven.total or 0), guess),
        attributes=proven.attributes,
    )


def space_around(spec: AuditSpec, counts: NeighbourhoodCounts) -> Space:
    """Make a bar of the data rows with their neighbours."""
    certified, falsified, own = (
        Fraction(each, counts.rows) for each in (counts.certified, counts.falsified, counts.flipped)
    )
    name = words.capital(
        say("{people} in the data, with neighbours", people=words.plural(spec.person))
    )
    exact = not counts.undecided
    return Space(name, certified, falsified, exact=exact, n_samples=counts.rows, own=own)


def _asked(name: str, share: Share) -> Space:
    """Tell of people who were asked about one by one, or of whom some were."""
    if share.exhaustive:
        falsified = Fraction(share.hits, share.n_samples)
        return Space(
            name if share.whom == "domain" else say("{name} (counted, not proven)", name=name),
            1 - falsified,
            falsified,
            exact=True,
            n_samples=share.n_samples,
            counted=share.whom != "domain",
        )
    guess = Guess(share.estimate, share.low, share.high, share.confidence)
    return Space(name, Fraction(0), Fraction(0), exact=False, guess=guess)


@dataclass(frozen=True)
class Spaces:
    """All that the bars show."""

    bars: tuple[Space, ...] = ()
    heading: str = "Certified, falsified and undecided shares"
    title: str = "Certified, falsified and undecided shares"

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not self.bars

    @property
    def falsified(self) -> tuple[bool, ...]:
        """Whether each part, by its key, is a falsified share: not one that rows only show."""
        return tuple(
            verdict in ("discriminatory", NEIGHBOUR) and not bar.counted
            for bar in self.bars
            for verdict, _share in bar.parts()
        )

    def bar_at(self, key: int) -> int:
        """Return which bar a part belongs to, by its key."""
        return [place for place, bar in enumerate(self.bars) for _part in bar.parts()][key]

    def summary(self) -> str:
        """Tell it in words, for those who do not see it."""
        if self.empty:
            return f"{self.title}: no results yet."
        return ". ".join(bar.tip(*part) for bar in self.bars for part in bar.parts()) + "."

    def alt(self) -> str:
        """Tell it in words, in the language of the report."""
        said = []
        for bar in self.bars:
            shares = [bar.text(*part) for part in bar.parts()]
            text = ", ".join([*shares, bar.guessed()] if bar.guess else shares)
            said.append(f"{bar.name}: {text}" if bar.name else text)
        return say(
            "Bars of the certified, falsified and undecided shares. {said}.", said=". ".join(said)
        )

    def table(self, most: int | None = None) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return it as a table: a header and rows; of these at most so many."""
        rows: list[tuple[str, ...]] = []
        for bar in self.bars:
            for verdict, share in bar.parts():
                name = bar.names[verdict]
                text = bar.text(verdict, share).removesuffix(f" {name}")
                rows.append((bar.name, name, text, bar.count(share), bar.evidence(verdict)))
                if verdict == "undecided" and bar.guess is not None:
                    kind = f"estimated, {100 * bar.guess.confidence:g}{words.NBSP}%"
                    of = "of the undecided share: falsified"
                    rows.append((bar.name, of, bar.guess.text(), "", kind))
        return ("Share of", "Verdict", "Share", "Number", "Evidence"), rows[:most]

    def lay_out(self, paper: Paper, marked: Marked = Marked()) -> Laid:  # noqa: B008 - immutable
        """Put everything in its place."""
        return bars.lay_out([each.bar() for each in self.bars], paper, marked)
