"""TestSGD's score of one rule set, of the same samples for every model.

Zhang et al., "TestSGD: Interpretable Testing of Neural Networks Against Subtle Group
Discrimination", ACM TOSEM 2023, Algorithm 2, as `fairdesk.groups.testsgd` and
`fairdesk.groups.text.search` have it: how far the rate of a decision in a rule set is from that
outside. Here the real people that are moved a little, or the sentences that are made to name
somebody else, come from the rows held out, which no model was trained on.

What is independent is the real person, or the sentence, not each sample made of it. So each counts
once, with the mean of its samples, and Newcombe's interval is that of as many independent samples
as would tell as much (L. Kish, "Survey Sampling", 1965: the design effect).
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairdesk.errors import SpecError
from fairdesk.groups.statistics import Side, compare, interval
from fairdesk.groups.tabular.rules import members
from fairdesk.groups.tabular.sampling import Neighbours, starting
from fairdesk.groups.text.sentences import Lexicon, SentenceScorer
from fairdesk.individual.engine.pace import Pace
from fairdesk.mitigate.context import PART_SECONDS, MitigationContext
from fairdesk.mitigate.measures.differences import (
    ALPHA,
    Contenders,
    Ends,
    Numbers,
    greatest_change,
    resampled,
)
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.model import favourable_scores, labels
from fairdesk.results.events import Rows, Scores

#: Of one real person so many samples are made at most.
MOST_MOVES = 10
#: So many sentences are taken, however many terms there are.
_LEAST_SEEDS = 100
#: About so many are written before they are asked about.
_BATCH = 2_048


@dataclass(frozen=True, slots=True)
class Apart:
    """How a model treats those in a rule set and those outside.

    Attributes
    ----------
    strata : tuple[NDArray[np.float64], ...]
        What each real person, or sentence, adds to the difference: it is the sum of their means.
        Of people first those inside, then those outside, these below nought.
    low, high : float
        Between what the difference lies, with its sign.
    n_samples : int
        How many samples were asked about.
    """

    strata: tuple[Numbers, ...]
    low: float
    high: float
    n_samples: int

    @property
    def score(self) -> float:
        """How far they are apart."""
        return abs(sum(float(each.mean()) for each in self.strata))

    @property
    def ends(self) -> tuple[float, float]:
        """Between what the score lies."""
        return max(self.low, -self.high, 0.0), max(-self.low, self.high)


def score_change(
    after: Apart, before: Apart, rng: np.random.Generator, times: int, alpha: float
) -> tuple[Ends, float]:
    """Compare two models' scores of the same people: the interval of the difference, and p.

    Parameters
    ----------
    alpha : float
        The error that the interval may make.
    """
    found, drawn = np.zeros(2), np.zeros((times, 2))
    for pair in zip(after.strata, before.strata, strict=True):
        values = np.column_stack(pair)
        found += values.mean(axis=0)
        drawn += resampled(values, rng, times)
    # how far apart they are is the greater of the difference and what it is the other way round
    sign = np.array([1.0, -1.0])
    new, old = (Contenders(found[i] * sign, drawn[:, [i]] * sign) for i in (0, 1))
    return greatest_change(new, old, alpha)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is counted of each sample: a decision, or, without one, the favourable one's score.

    Attributes
    ----------
    decision : int, optional
        Its place.
    favourable : int
        That of the favourable one.
    """

    decision: int | None
    favourable: int

    @classmethod
    def of(cls, mitigation: MitigationContext) -> Outcome:
        """Read it from what is to be repaired.

        Raises
        ------
        SpecError
            When the model makes no such decision.
        """
        model, wanted = mitigation.model, mitigation.outcome
        decisions = model.mapping.decisions(model.opened.card)
        if wanted and wanted not in decisions:
            raise SpecError(
                f"The model makes no decision “{wanted}”.",
                why="The subgroup of the mitigation refers to it.",
                remedy="Choose a subgroup that was found with this model.",
            )
        return cls(decisions.index(wanted) if wanted else None, mitigation.favourable)

    def values(self, scores: Scores) -> Numbers:
        """Return what counts of ``(n, k)`` answers: ``(n,)``, from 0 to 1."""
        if self.decision is None:
            return np.asarray(np.clip(favourable_scores(scores, self.favourable), 0.0, 1.0))
        return np.asarray(labels(scores) == self.decision, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class MovedPeople:
    """Samples in a rule set and outside, made of real people.

    Attributes
    ----------
    sides : tuple[Rows, Rows]
        Inside and outside: ``(s * m, d)`` each, ``m`` of one person after the other.
    moves : tuple[int, int]
        ``m`` of each side.
    """

    sides: tuple[Rows, Rows]
    moves: tuple[int, int]

    def __len__(self) -> int:
        return sum(map(len, self.sides))

    @classmethod
    def of(
        cls,
        mitigation: MitigationContext,
        places: NDArray[np.intp],
        count: int,
        rng: np.random.Generator,
    ) -> MovedPeople | None:
        """Make them of the rows at some places of the table, at most ``count`` on each side.

        Gives ``None`` where nobody is inside, or nobody outside.
        """
        rows, fine = starting(mitigation.domain, mitigation.rows[places])
        inside = members(mitigation.domain.grouping, mitigation.groups[places], mitigation.rule)
        neighbours = Neighbours(mitigation.domain, rng)
        sides, moves = [], []
        for side in (rows[fine & inside], rows[fine & ~inside]):
            if not len(side):
                return None
            chosen = side[rng.permutation(len(side))[:count]]
            several = int(np.clip(count // len(chosen), 1, MOST_MOVES)) if neighbours.moves else 1
            sides.append(neighbours.of(np.repeat(chosen, several, axis=0)))
            moves.append(several)
        return cls((sides[0], sides[1]), (moves[0], moves[1]))

    def ask(
        self, mitigation: MitigationContext, model: FedModel, outcome: Outcome
    ) -> Generator[int, None, Apart]:
        """Query a model about them; yields how many were asked about since the last."""
        means = []
        for rows, moves in zip(self.sides, self.moves, strict=True):
            values = []
            for part in Pace(1, PART_SECONDS).parts(len(rows)):
                values.append(outcome.values(mitigation.predict(model, rows[part])))
                yield len(values[-1])
            means.append(np.concatenate(values).reshape(-1, moves).mean(axis=1))
        sides = [
            _side(each, moves, shares=outcome.decision is not None)
            for each, moves in zip(means, self.moves, strict=True)
        ]
        low, high = interval(sides[0], sides[1], ALPHA)
        return Apart((means[0], -means[1]), float(low[0]), float(high[0]), len(self))


def _side(means: Numbers, moves: int, *, shares: bool) -> Side:
    """Return one side as so many independent samples as tell as much; of scores the people."""
    people, mean = len(means), float(means.mean())
    if not shares:
        squares = np.array([float((means**2).sum())])
        return Side(np.array([float(people)]), np.array([mean * people]), squares)
    spread = float(means.var())
    consistent = mean * (1 - mean) / spread if spread > 0 else 1.0
    n = people * min(max(consistent, 1.0), float(moves))
    return Side(np.array([n]), np.array([n * mean]))


@dataclass(frozen=True, slots=True)
class Rewritten:
    """Sentences, each with every term of the rule set's categories in turn.

    Attributes
    ----------
    sentences : list[str]
        ``s * k``: ``k`` of one seed after the other.
    rows : Rows
        ``(s * k, d)``; all else about each.
    choices : int
        ``k``.
    chosen : int
        Which of these is the rule set's.
    """

    sentences: list[str]
    rows: Rows
    choices: int
    chosen: int

    def __len__(self) -> int:
        return len(self.rows)

    @classmethod
    def of(
        cls,
        mitigation: MitigationContext,
        places: NDArray[np.intp],
        count: int,
        rng: np.random.Generator,
    ) -> Rewritten | None:
        """Write them from the texts at some places of the table, about ``count`` at most.

        Gives ``None`` where no text names somebody of these categories. Two texts that differ in
        these terms only are one.
        """
        lexicon = Lexicon.of(mitigation.terms)
        wanted = sorted(
            (lexicon.categories.index(each.attribute), each.term) for each in mitigation.rule
        )
        categories = [category for category, _ in wanted]
        choices = lexicon.choices(categories)
        chosen = choices.index(tuple(lexicon.terms[c].index(term) for c, term in wanted))
        place = mitigation.domain.names.index(mitigation.text)
        values = mitigation.domain.attributes[place].values
        seeds: dict[tuple[str, bytes], tuple[list[str], Rows]] = {}
        most = max(_LEAST_SEEDS, count // len(choices))
        for row in mitigation.rows[rng.permutation(places)]:
            named = lexicon.find(values[int(row[place])])
            if named is None or not named.categories.issuperset(categories):
                continue
            sentences = lexicon.rewritten(named, categories, choices)
            seeds.setdefault((sentences[0], np.delete(row, place).tobytes()), (sentences, row))
            if len(seeds) == most:
                break
        if not seeds:
            return None
        written = [sentence for sentences, _ in seeds.values() for sentence in sentences]
        rows = np.repeat([row for _, row in seeds.values()], len(choices), axis=0)
        return cls(written, rows, len(choices), chosen)

    def ask(
        self, mitigation: MitigationContext, model: FedModel, outcome: Outcome
    ) -> Generator[int, None, Apart]:
        """Query a model about them; yields how many were asked about since the last."""
        context = mitigation.group_context(model)
        answers, parts = SentenceScorer(context), []
        for start in range(0, len(self.rows), _BATCH):
            part = slice(start, start + _BATCH)
            decided, scores = answers.to(self.sentences[part], self.rows[part])
            parts.append(scores if outcome.decision is None else decided == outcome.decision)
            yield len(decided)
        mitigation.queries += context.queries
        values = np.concatenate(parts).astype(np.float64).reshape(-1, self.choices)
        compared = compare(values, shares=outcome.decision is not None, alpha=ALPHA)
        inside = values[:, self.chosen]
        others = (values.sum(axis=1) - inside) / (self.choices - 1)
        low, high = (float(each[self.chosen]) for each in (compared.low, compared.high))
        return Apart((inside - others,), low, high, len(self))


def samples_of(
    mitigation: MitigationContext, places: NDArray[np.intp], count: int, rng: np.random.Generator
) -> MovedPeople | Rewritten | None:
    """Make the samples of the rule set to repair from the rows at some places of the table.

    ``None`` where there are none.
    """
    kind = Rewritten if mitigation.text else MovedPeople
    return kind.of(mitigation, places, count, rng)
