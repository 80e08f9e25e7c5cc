"""What is proven as stacked bars: certified, falsified, undecided; estimates hatched.

What is proven is rounded down and solid. What is only estimated is hatched, inside of what is
undecided, and never added to what is proven.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, NamedTuple

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.charts.kinds import bars
from fairdesk.charts.shapes import Colour, Laid, Marked, Paper, Tint
from fairdesk.results.events import Metric
from fairdesk.results.individual import Share
from fairdesk.results.proofs import NeighbourhoodCounts, Proven
from fairdesk.wording import proofs as proof_words
from fairdesk.wording import words
from fairdesk.wording.figures import instances, share_of_domain
from fairdesk.wording.language import say
from fairdesk.wording.proofs import neighbourhoods_of

#: Of a data row whose own decision is unchanged, and that of one of its neighbours changes.
_NEIGHBOUR: Final = "neighbour"
#: How parts look, by their verdicts, and the word on them: a neighbour is paler than a row itself.
_LOOKS: Final[dict[str, tuple[Colour, str]]] = {
    "consistent": ("consistent", "unchanged"),
    "discriminatory": ("discriminatory", "changes"),
    _NEIGHBOUR: (Tint("discriminatory", 0.45, "card"), "if altered"),
    "undecided": ("undecided", "undecided"),
}
#: What they are called; and of data rows with their neighbours.
_NAMES: Final = {
    "consistent": "proven unchanged (certified)",
    "discriminatory": "proven to change (falsified)",
    "undecided": "undecided",
}
_AROUND: Final = {
    "consistent": "unchanged, neighbours too",
    "discriminatory": "changes",
    _NEIGHBOUR: "changes only after another value is altered",
    "undecided": "undecided",
}
_HEADING: Final = "Certified, falsified and undecided shares"
_OF_ROWS: Final = "Certified of the data, with neighbours"
_OF_COMBINATIONS: Final = "Shares of all combinations of values, not of people"


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
    """Of what something is proven, and how much.

    Attributes
    ----------
    name : str
        ``"Input domain"``; may be empty.
    certified, falsified : Fraction
        Proven shares, 0 to 1; the rest is undecided.
    exact : bool
        Everything is decided.
    n_samples : int
        How many there are; 0 where they are not counted.
    guess : Guess, optional
        What sampling says of the rest.
    attributes : tuple of str
        The protected attributes that are changed.
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
    attributes: tuple[str, ...] = ()
    own: Fraction | None = None

    @property
    def names(self) -> Mapping[str, str]:
        """What its parts are called, by their verdicts."""
        return _NAMES if self.own is None else _AROUND

    def parts(self) -> Iterator[tuple[str, Fraction]]:
        """Yield the verdicts with their shares, those of none left out."""
        own = self.falsified if self.own is None else self.own
        for verdict, share in (
            ("consistent", self.certified),
            ("discriminatory", own),
            (_NEIGHBOUR, self.falsified - own),
            ("undecided", 1 - self.certified - self.falsified),
        ):
            if share > 0:
                yield verdict, share

    def share(self, verdict: str, share: Fraction) -> str:
        """Write a share: what is proven is at least that, and rounded down, but not counts."""
        if self.own is not None:
            return words.shown_percent(float(share), 1)
        left = verdict == "undecided"
        text = (proof_words.most_percent if left else proof_words.least_percent)(share)
        if self.exact or share == 1 or text.startswith(">"):
            return text
        return say("at most {share}" if left else "at least {share}", share=text)

    def text(self, verdict: str, share: Fraction) -> str:
        """Write a share with its verdict: ``at least 70.95 % proven unchanged (certified)``."""
        name = say(self.names[verdict])
        return say("{share} {name}", share=self.share(verdict, share), name=name)

    def count(self, share: Fraction) -> str:
        """Write how many a share is; empty where they are not counted."""
        return words.number(round(share * self.n_samples)) if self.n_samples else ""

    def guessed(self) -> str:
        """Say what is estimated of the undecided; empty where nothing is."""
        if self.guess is None:
            return ""
        share = self.guess.text()
        if self.certified or self.falsified:
            share = say("{share} of the undecided share", share=share)
        return say("estimated, not proven: the decision changes for {share}", share=share)

    def tip(self, verdict: str, share: Fraction) -> str:
        """Say one part of the bar in a sentence."""
        many = f", {self.count(share)} of {words.number(self.n_samples)}" if self.n_samples else ""
        said = f"{self.name}: {self.text(verdict, share)}{many}"
        if verdict != "undecided":
            return f"{said}: proven"
        return f"{said}; {self.guessed()}" if self.guess else said

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


def space_of(
    spec: AuditSpec, figure: Proven | Share | NeighbourhoodCounts, name: str = ""
) -> Space:
    """Make a bar of what is proven, of a share of the domain, or of rows with their neighbours."""
    guess = None
    match figure:
        case Proven():
            certified, falsified, _left = proof_words.proven_fractions(figure)
            seen = figure.estimated
            if seen is not None and seen.n_samples and not figure.exact:
                guess = Guess(seen.estimate, seen.low, seen.high, seen.confidence)
            return Space(
                *(name or instances(spec, figure.of), certified, falsified, figure.exact),
                *(int(figure.total or 0), guess, figure.attributes),
            )
        case NeighbourhoodCounts():
            certified, falsified, own = (
                Fraction(each, figure.rows)
                for each in (figure.certified, figure.falsified, figure.flipped)
            )
            people = words.capital(words.plural(spec.person))
            name = say("{people} in the data, with neighbours", people=people)
            exact = not figure.undecided
            return Space(name, certified, falsified, exact, n_samples=figure.rows, own=own)
        case Share():
            falsified, name = Fraction(0), name or instances(spec, figure.whom)
            if figure.exhaustive:
                falsified = Fraction(figure.hits, figure.n_samples)
                return Space(name, 1 - falsified, falsified, exact=True, n_samples=figure.n_samples)
            guess = Guess(figure.estimate, figure.low, figure.high, figure.confidence)
            return Space(name, falsified, falsified, exact=False, guess=guess)


def proven_bar(spec: AuditSpec, figures: Sequence[Metric]) -> Spaces:
    """Draw what stands for a run that certifies: one bar, none where nothing was tried.

    Of the population if it is there, else of the domain, also where it is only estimated; or of the
    data rows with their neighbours.
    """
    proven, around = proof_words.main_proof(figures), neighbourhoods_of(figures)
    found = proven or around or share_of_domain(figures)
    if found is None or (isinstance(found, Share) and not found.n_samples):
        return Spaces()
    heading = _OF_ROWS if found is around else _OF_COMBINATIONS
    if isinstance(found, Proven) and found.of == "people":
        heading = _HEADING
    return Spaces((space_of(spec, found),), say(heading))


def alone_bars(
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
            spec,
            figure,
            words.capital(words.when_change(figure.attributes))
            + " (pairs found)" * (set(figure.attributes) <= known and not figure.falsified),
        )
        for figure in (*together[:1], *alone)
    )


@dataclass(frozen=True)
class Spaces:
    """All that the bars show."""

    bars: tuple[Space, ...] = ()
    heading: str = _HEADING

    @property
    def title(self) -> str:
        """What it is called."""
        return self.heading

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not self.bars

    @property
    def parts(self) -> list[tuple[Space, str]]:
        """The bar and the verdict of each part, by its key."""
        return [(bar, verdict) for bar in self.bars for verdict, _share in bar.parts()]

    @property
    def falsified(self) -> tuple[bool, ...]:
        """Whether each part, by its key, is a falsified share."""
        return tuple(verdict in ("discriminatory", _NEIGHBOUR) for _bar, verdict in self.parts)

    def summary(self) -> str:
        """Say it in words, for those who do not see it."""
        if self.empty:
            return f"{self.title}: no results yet."
        return ". ".join(bar.tip(*part) for bar in self.bars for part in bar.parts()) + "."

    def alt(self) -> str:
        """Say it in words, in the language of the report."""
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
                text, known = bar.share(verdict, share), "proven"
                if verdict == "undecided":
                    known = "not known"
                rows.append((bar.name, bar.names[verdict], text, bar.count(share), known))
                if verdict == "undecided" and bar.guess is not None:
                    kind = f"estimated, {100 * bar.guess.confidence:g}{words.NBSP}%"
                    of = "of the undecided share: falsified"
                    rows.append((bar.name, of, bar.guess.text(), "", kind))
        return ("Share of", "Verdict", "Share", "Number", "Evidence"), rows[:most]

    def lay_out(self, paper: Paper, marked: Marked = Marked()) -> Laid:  # noqa: B008 - immutable
        """Put everything in its place."""
        return bars.lay_out([each.bar() for each in self.bars], paper, marked)
