"""How a group fares beside everybody else: rates with their intervals, on one scale."""

from __future__ import annotations

from dataclasses import dataclass

from fairdesk.charts.kinds.forest import Plot, Row, percents, tenths
from fairdesk.charts.shapes import Laid, Marked, Paper
from fairdesk.groups.statistics import wilson_ends
from fairdesk.results.subgroups import RuleSet
from fairdesk.wording import words
from fairdesk.wording.groups import subgroups as subgroup_words


@dataclass(frozen=True)
class Rate:
    """One rate.

    Attributes
    ----------
    name : str
        Of whom.
    kind : str
        ``"estimated"`` from samples, or ``"observed"`` in the untouched rows.
    inside : bool
        Whether it is of the group, and not of everybody else.
    value : float
        The rate, or mean score.
    n_samples : int
        Of how many.
    low, high : float, optional
        Wilson's interval (95 %) of an observed rate; none of a mean score.
    """

    name: str
    kind: str
    inside: bool
    value: float
    n_samples: int
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Rates:
    """All that the chart shows.

    Attributes
    ----------
    rates : tuple[Rate, ...]
        From top to bottom.
    outcome : str
        What is counted; empty for mean scores.
    title : str
        What it tells.
    digits : int
        Decimals of a rate in percent, as in the sentence about them.
    """

    rates: tuple[Rate, ...] = ()
    outcome: str = ""
    title: str = "Rates in the subgroup and among all others"
    digits: int = 1
    heading = "Subgroup and all others"

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not self.rates

    def text(self, rate: Rate) -> str:
        """Write a rate with its interval."""
        if not self.outcome:
            return f"{rate.value:.3f}"
        value, digits = words.percent(rate.value, 1.0, self.digits), self.digits
        if rate.low is None or rate.high is None:
            return value
        return f"{value} ({100 * rate.low:.{digits}f} to {100 * rate.high:.{digits}f})"

    def summary(self) -> str:
        """Tell it in words, for those who do not see it."""
        if self.empty:
            return f"{self.title}: no result yet."
        text = "; ".join(
            f"{each.name}, {each.kind}: {self.text(each)}, of {words.number(each.n_samples)}"
            for each in self.rates
        )
        return f"{self.title}. {text}."

    def table(self, most: int | None = None) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return it as a table, a header and rows; of these at most so many."""
        factor, digits = (100, self.digits) if self.outcome else (1, 3)
        header = ("Group", "Evidence", "%" if self.outcome else "Mean score", "From", "To", "n")
        return header, [
            (
                each.name,
                each.kind,
                *(
                    "" if value is None else f"{factor * value:.{digits}f}"
                    for value in (each.value, each.low, each.high)
                ),
                str(each.n_samples),
            )
            for each in self.rates[:most]
        ]

    def lay_out(self, paper: Paper, marked: Marked) -> Laid:
        """Put everything in its place."""
        rows = [self._row(*each) for each in enumerate(self.rates)]
        return Plot(rows, (), 1.0, percents if self.outcome else tenths).lay_out(paper, marked)

    def _row(self, place: int, rate: Rate) -> Row:
        name, text = f"{rate.name}, {rate.kind}", self.text(rate)
        low, high = (rate.value if end is None else end for end in (rate.low, rate.high))
        return Row(
            f"{_MARKS[rate.kind]} {name}",
            text,
            (max(low, 0.0), max(rate.value, 0.0), high),
            "inside" if rate.inside else "outside",
            place,
            f"{name}: {text}, of {words.number(rate.n_samples)}",
            estimated=rate.kind == "estimated",
        )


def rates_of(rule_set: RuleSet, many: str) -> Rates:
    """Draw the rates of a rule set: of the samples, and of the untouched rows."""
    everybody = round(rule_set.rows / rule_set.support) if rule_set.support else rule_set.rows
    texts = any(each.term for each in rule_set.conditions)
    inside, outside = ("With it", "With other terms") if texts else ("Subgroup", "All others")
    others = everybody - rule_set.rows
    observed = (
        (inside, "observed", True, rule_set.data_in, rule_set.rows),
        (outside, "observed", False, rule_set.data_out, others),
    )
    named = (
        # of too few texts by themselves nothing can be said
        *(() if texts and rule_set.holds_on_data is None else observed),
        (inside, "estimated", True, rule_set.phi_in, rule_set.n_in),
        (outside, "estimated", False, rule_set.phi_out, rule_set.n_out),
    )
    # of texts it is not told how many hold just these terms: then there is no interval
    rates = tuple(
        Rate(
            *(name, kind, inside, value, people),
            *(
                (None, None)
                # that of the gap allows for all tests, and for how few the data rows are
                if texts or kind == "estimated"
                else _ends(rule_set.outcome, value, people)
            ),
        )
        for name, kind, inside, value, people in named
        if value is not None and people > 0
    )
    title = f"Rate of “{rule_set.outcome}”: {many} in the subgroup and all others"
    estimated = words.digits_apart(rule_set.phi_in, rule_set.phi_out)
    digits = max(estimated, subgroup_words.rate_digits((rule_set,)))
    return Rates(rates, rule_set.outcome, title if rule_set.outcome else "Mean scores", digits)


def _ends(outcome: str, value: float, n_samples: int) -> tuple[float | None, float | None]:
    return wilson_ends(round(value * n_samples), n_samples) if outcome else (None, None)


_MARKS = {"estimated": "▨", "observed": "□"}
