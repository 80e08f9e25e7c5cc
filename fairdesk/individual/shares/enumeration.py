"""All instances of a finite domain, one after the other: the best answer there is.

The instances of a domain are all combinations of values that the constraints allow. Fixed
attributes have those combinations of values that occur in the data.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.domain import Domain
from fairdesk.errors import SpecError
from fairdesk.individual.engine.context import CombinationScores, SearchContext
from fairdesk.individual.engine.division import Adding, Counting, Setting, counted_here
from fairdesk.individual.engine.pace import Pace
from fairdesk.individual.engine.sampling import confirmed, extra_rows, one_per_fixed
from fairdesk.individual.shares.finite import (
    MOST_SETS,
    endless_attributes,
    free_attributes,
    obstacle,
    too_large,
    value_counts,
)
from fairdesk.individual.shares.options import EnumerateOptions
from fairdesk.models.model import labels
from fairdesk.results.events import (
    Event,
    Measured,
    Progress,
    Rows,
    Scores,
    ShardRange,
    Tallied,
    timed,
)
from fairdesk.results.individual import Share

#: They are made in blocks of so many.
_BLOCK = 16_384


def population(domain: Domain, real: Rows, most: int) -> int | None:
    """Count the people of a domain, with their protected values and under its constraints.

    Parameters
    ----------
    real : Rows
        ``(n, d)``; people of the data who are in the domain.
    most : int
        Where there are constraints, people are looked at one by one, but not more than this.

    Returns
    -------
    int, optional
        ``None`` where there is no end of them, or more would have to be looked at.
    """
    if endless_attributes(domain):
        return None
    everybody = Sets(domain, real)
    if not domain.has_constraints:
        return everybody.size * len(domain.combinations)
    if everybody.size * len(domain.combinations) > most:
        return None
    blocks = map(everybody.block, range(everybody.blocks))
    return sum(int(domain.possible(domain.similar(rows)).sum()) for rows in blocks)


class Sets:
    """The similar sets of a finite domain, in order.

    Parameters
    ----------
    domain : Domain
        Without an `obstacle`.
    real : Rows
        ``(n, d)``; people of the data who are in the domain.

    Attributes
    ----------
    size : int
        How many there are.
    blocks : int
        In how many blocks they come.
    """

    def __init__(self, domain: Domain, real: Rows) -> None:
        self._domain = domain
        self._free, self._counts = free_attributes(domain), value_counts(domain)
        free, counts = self._free, self._counts
        self._once = one_per_fixed(domain, real)
        if not np.setdiff1d(domain.fixed, domain.following).size:
            self._once = domain.low[None, :]
        self.size = math.prod(counts) * len(self._once)
        # the last attributes' combinations are written down once, and are in every block
        first = len(counts)
        while first and math.prod(counts[first - 1 :]) <= _BLOCK:
            first -= 1
        inner = np.arange(math.prod(counts[first:]))
        self._inner, _ = _mixed_radix(domain, free[first:], counts[first:], inner)
        self._first, self._outer = first, self.size // len(inner)
        self._at_once = max(1, _BLOCK // len(inner))
        self.blocks = -(-self._outer // self._at_once)

    def block(self, number: int) -> Rows:
        """Return of each set of a block one member, ``(m, d)``, which may break a constraint.

        Of the values of a companion that stand for each other the first is taken.
        """
        domain, first, inner, start = self._domain, self._first, self._inner, number * self._at_once
        numbers = np.arange(start, min(start + self._at_once, self._outer))
        codes, who = _mixed_radix(domain, self._free[:first], self._counts[:first], numbers)
        rows = np.repeat(self._once[who, None, :], len(inner), axis=1)
        rows[:, :, self._free[:first]] = codes[:, None, :]
        rows[:, :, self._free[first:]] = inner
        rows[:, :, domain.protected] = domain.combinations[0]
        flat = rows.reshape(-1, rows.shape[2])
        canonical = domain.canonical(flat)
        if canonical is not flat:
            flat = flat[(canonical == flat).all(axis=1)]
        return domain.apply_dependencies(flat)


def _mixed_radix(
    domain: Domain, positions: NDArray[np.intp], counts: list[int], numbers: NDArray[np.int64]
) -> tuple[Rows, NDArray[np.int64]]:
    """Write numbers in the mixed radix of attributes' values, the last one the fastest.

    Returns
    -------
    codes : Rows
        ``(n, len(positions))``.
    rest : NDArray[np.int64]
        ``(n,)``; what does not fit into so many digits.
    """
    places = np.empty((len(numbers), len(positions)))
    for column in reversed(range(len(positions))):
        numbers, places[:, column] = np.divmod(numbers, counts[column])
    codes = domain.low[positions] + places * domain.spacing[positions]
    return domain.clip(codes, positions), numbers


def exact_share(
    whom: Literal["domain", "data"], attributes: tuple[str, ...], hits: int, n_samples: int
) -> Share:
    """Return a share of people of whom every one was asked about; 0 of nobody."""
    share = hits / n_samples if n_samples else 0.0
    return Share(
        whom=whom,
        attributes=attributes,
        n_samples=n_samples,
        hits=hits,
        exhaustive=True,
        confidence=_CONFIDENCE,
        estimate=share,
        low=share,
        high=share,
        anytime_low=share,
        anytime_high=share,
    )


def search(
    context: SearchContext, people: Rows, options: EnumerateOptions, rng: np.random.Generator
) -> Iterator[Event]:
    """Check everybody in a finite domain; parameters as in `maft.search`.

    The share at the end is exact. It counts people with their protected values, as the estimate
    draws them: each similar set as many times as it has members who may be. Nobody in a set with
    fewer than two of these is discriminated against. A run that is stopped has examples, and no
    share: those who come first are not like the others. Only fixed attributes are taken from the
    data, and there is no chance in it.

    Raises
    ------
    SpecError
        When the domain, with the fixed values of the data, is too large.
    """
    numbers = merging(context, options, rng)
    pace = _pace(context)
    return timed(counted_here(numbers, counting(context, people, options, rng, pace), pace))


def counting(
    context: SearchContext,
    people: Rows,
    options: EnumerateOptions,
    rng: np.random.Generator,  # noqa: ARG001 - there is no chance in it
    pace: Pace | None = None,
) -> Counting:
    """Return the half that queries the model; parameters as of `search`."""
    pace = pace or _pace(context)
    given = 0

    def count(wanted: ShardRange) -> Iterator[Event]:
        nonlocal given
        everybody = _sets(context, people)
        about = np.array([everybody.size, everybody.blocks])
        for unit in range(wanted.start, min(wanted.stop, everybody.blocks)):
            block = everybody.block(unit)
            for part, last in pace.of_unit(len(block)):
                rows, combination, members, answers = _score_combinations(context, block[part])
                sure = _discriminatory(context, rows, combination, answers)
                shown = sure[: options.keep - given]
                tried = context.tried + len(rows)
                if shown.size:
                    given += len(shown)
                    context.check(rows[shown], combination[shown])
                    if examples := context.take("exhaustive"):
                        yield examples
                context.tried = tried
                numbers = len(block[part]), members.sum(), len(sure), members[sure].sum()
                arrays = {"about": about, "numbers": np.array(numbers, dtype=np.int64)}
                yield Tallied("exhaustive", unit, last, arrays)
                yield context.progress("exhaustive", 0, 0)

    return count


def merging(setting: Setting, options: EnumerateOptions, _rng: np.random.Generator) -> _Numbers:
    """Return the half that adds up."""
    return _Numbers(tuple(setting.domain.names[i] for i in setting.domain.protected), options.keep)


def _pace(context: SearchContext) -> Pace:
    # whoever is kept as an example is asked about once more, with everybody in their similar set
    width = len(context.domain.combinations)
    return Pace(width, context=context, extra=width + extra_rows(1))


def _sets(context: SearchContext, people: Rows) -> Sets:
    """Return all similar sets.

    Raises
    ------
    SpecError
        When there are too many.
    """
    domain = context.domain
    if clause := obstacle(domain):
        raise SpecError(f"The input domain cannot be enumerated: {clause}.", remedy=_REMEDY)
    real, _ = domain.admit(people)
    everybody = Sets(domain, real)
    if everybody.size > MOST_SETS:
        raise SpecError(
            f"The input domain cannot be enumerated: {too_large(everybody.size)}.", remedy=_REMEDY
        )
    return everybody


class _Numbers(Adding):
    """The count of all combinations: a `Merging` of blocks of similar sets."""

    def __init__(self, names: tuple[str, ...], keep: int) -> None:
        self._names = names
        self.most_pairs = keep
        self._size, self._blocks = 0, sys.maxsize
        self._next = self._done = self._everybody = self._found = self._hits = 0

    @property
    def wanted(self) -> ShardRange | None:
        """The blocks after the last one."""
        return ShardRange(self._next, self._blocks) if self._next < self._blocks else None

    def told(self, progress: Progress) -> Progress:
        """Return a progress with how many sets were gone through, of all; all found count."""
        return msgspec.structs.replace(
            progress, done=self._done, total=self._size, found=self._found
        )

    def add(self, tallied: Tallied) -> bool:
        """Count ``(4,)``: sets, their members, sets that are discriminatory, and theirs."""
        self._size, self._blocks = tallied.arrays["about"].tolist()
        done, everybody, found, hits = tallied.arrays["numbers"].tolist()
        self._done, self._everybody = self._done + done, self._everybody + everybody
        self._found, self._hits = self._found + found, self._hits + hits
        if tallied.last:
            self._next = tallied.unit + 1
        return True

    def measured(self) -> Measured | None:
        """Return the share, once all were gone through."""
        if self.wanted is not None or not self._everybody:
            return None
        share = exact_share("domain", self._names, self._hits, self._everybody)
        return Measured("exhaustive", (share,))


#: Told with a share that is exact; any number would be true of it.
_CONFIDENCE = 0.95
_REMEDY = "Narrow the ranges, define steps for numbers, or use a random-sample estimate instead."


def _score_combinations(
    context: SearchContext, rows: Rows
) -> tuple[Rows, NDArray[np.intp], NDArray[np.int64], CombinationScores]:
    """Query the model about whole similar sets, not remembering what is never asked again.

    Returns
    -------
    rows : Rows
        ``(m, d)``; of each set with members who may be, the first of these.
    combination : NDArray[np.intp]
        ``(m,)``; its index in ``domain.combinations``.
    members : NDArray[np.int64]
        ``(m,)``; how many may be.
    answers : Answers
        Of these sets.
    """
    domain = context.domain
    similar = domain.similar(rows)
    n, width, _ = similar.shape
    flat = similar.reshape(n * width, -1)
    if not domain.has_constraints and context.fits is None:
        scores = context.cached_model.predict_anew(flat).reshape(n, width, -1)
        nobody = np.zeros(n, dtype=np.intp)
        return rows, nobody, np.full(n, width), CombinationScores(scores, labels(scores))
    allowed = domain.possible(similar)
    meant = allowed.copy()
    if context.fits is not None and allowed.any():
        meant[allowed] = context.fits(similar[allowed])
    some = np.flatnonzero(meant.any(axis=1))
    context.rejected += n - len(some)
    allowed, meant, similar = allowed[some], meant[some], similar[some]
    scores = _scores(context, similar, allowed)
    predicted_class = np.where(allowed, labels(scores), -1)
    combination = meant.argmax(axis=1)
    rows = similar[np.arange(len(some)), combination]
    return rows, combination, meant.sum(axis=1), CombinationScores(scores, predicted_class, allowed)


def _scores(context: SearchContext, similar: Rows, allowed: NDArray[np.bool_]) -> Scores:
    """Query the model about those who may be: ``(m, C, k)``, NaN for the others."""
    answers = context.cached_model.predict_anew(similar[allowed])
    scores = np.full((*allowed.shape, answers.shape[1]), np.nan, dtype=np.float32)
    scores[allowed] = answers
    return scores


def _discriminatory(
    context: SearchContext, rows: Rows, combination: NDArray[np.intp], answers: CombinationScores
) -> NDArray[np.intp]:
    """Positions of those who are discriminatory, also when asked anew."""
    flips = answers.flips(combination)
    hits = np.flatnonzero(flips.any(axis=1))
    if not hits.size:
        return hits
    farthest = np.where(flips, answers.distance(combination), -1.0)[hits].argmax(axis=1)
    partners = context.domain.counterparts(rows[hits], farthest)
    return hits[confirmed(context, rows[hits], partners)]
