"""The proven rates of groups, checked by other means than they were proven with.

Nothing here was used to make a certificate: which region has which protected values follows from
its header, masses are computed by `fairdesk.certify.proof.verify.population`, and regions are
proven once more by `fairdesk.certify.proof.reproof_rates`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property
from time import perf_counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.domain.space import Places
from fairdesk.certify.proof.certificate import RATE_ARRAYS, Arrays, Header, Points, Predict, leaves
from fairdesk.certify.proof.certificate_reading import rate_roots
from fairdesk.certify.proof.reproof_check import Reprove
from fairdesk.certify.proof.reproof_rates import NEARLY
from fairdesk.certify.proof.verify.population import People
from fairdesk.certify.proof.verify.statements import MOST_MESSAGES, Check
from fairdesk.errors import SpecError
from fairdesk.individual.shares.tally import clopper_pearson
from fairdesk.models.model import labels
from fairdesk.results.proofs import ProvenRates, percent_digits

Float64 = NDArray[np.float64]
Numbers = NDArray[np.int64]

#: Sums of floats may differ by so much; and what was rounded outwards, by so much more.
_ROUNDING, _LESS = 1e-9, 1e-6
#: So unlikely it is that chance alone refutes a true certificate.
_CHANCE = 1e-4
#: So many people are drawn from a group.
_DRAWN = 2_000
#: So many regions are proven once more at once, at first and at most: about as many as take a
#: second. A call may take so many seconds, or where all regions are proven.
_FIRST, _MOST, _CALL, _LONG_CALL = 16, 512, 10.0, 120.0


class _Leaves(NamedTuple):
    """Regions of rates: numbers, ends, combination, mass and stated shares, ``(m, 2)``."""

    nodes: Numbers
    low: Places
    high: Places
    combination: Numbers
    mass: Float64
    stated: Float64


#: Between which shares a rate is, by attribute and code.
_Ends = dict[tuple[str, float], tuple[float, float]]


class RateRegions:
    """The regions with one combination of protected values each that a certificate states.

    Parameters
    ----------
    header : Header
        With a population.
    arrays : mapping
        Of the certificate.
    """

    def __init__(self, header: Header, arrays: Arrays) -> None:
        self._header, self._arrays, everybody = header, arrays, People(header)
        combinations = range(len(header.domain.combinations))
        self.people = [everybody.with_values(v) for v in combinations]
        low, high = (arrays[each].astype(np.int64) for each in ("root_low", "root_high"))
        # of each combination the mass of every root in which it may be
        may_be = np.array(header.may_be, dtype=np.bool_)[list(header.groups)]
        may_be[list(header.unclear)] = True
        self.masses = np.stack([own.masses(low, high) for own in self.people], axis=1) * may_be
        self.recorded = all(name in arrays for name in RATE_ARRAYS)

    @cached_property
    def leaves(self) -> _Leaves:
        """All leaves, with their masses; none where they are not recorded."""
        header, arrays = self._header, self._arrays
        if not self.recorded:
            nowhere, no_box = np.empty(0, dtype=np.int64), np.empty((0, 0), dtype=np.int64)
            return _Leaves(nowhere, no_box, no_box, nowhere, np.empty(0), np.empty((0, 2)))
        combination, root = rate_roots(header)
        tree = {name: arrays[f"rate_{name}"] for name in ("first", "axis", "cut")}
        tree |= {name: arrays[name][root] for name in ("root_low", "root_high")}
        found = []
        for part in leaves(tree):
            own, mass = combination[part.root], np.zeros(len(part.nodes))
            for v in np.unique(own).tolist():
                some = own == v
                mass[some] = self.people[v].masses(part.low[some], part.high[some])
            shares = [arrays[f"rate_{name}"][part.nodes] for name in ("favourable", "other")]
            stated = np.column_stack(shares).astype(np.float64)
            found.append(_Leaves(part.nodes, part.low, part.high, own, mass, stated))
        return _Leaves(*(np.concatenate(each) for each in zip(*found, strict=True)))

    def ends(self, which: _Leaves, shares: Float64) -> _Ends:
        """Return between which shares the rates of groups are, of shares of leaves, ``(m, 2)``."""
        domain, count = self._header.domain, len(self.people)
        sums = [
            np.bincount(which.combination, which.mass * own, minlength=count) for own in shares.T
        ]
        found = {}
        for place, position in enumerate(domain.protected.tolist()):
            for code in domain.attributes[position].compared:
                own = domain.combinations[:, place] == code
                whole = float(self.masses[:, own].sum())
                if whole > 0.0:
                    favourable, other = (float(each[own].sum()) / whole for each in sums)
                    found[domain.names[position], float(code)] = (favourable, 1.0 - other)
        return found

    def follow(self) -> Check:
        """Check that the stated ends follow from the regions, and ratios from the ends."""
        name = "The selection rates follow from their regions"
        header = self._header
        stated = {
            (rates.attribute, each.code): (each.low, each.high)
            for rates in header.rates
            for each in rates.groups
        }
        which = self.leaves
        ends, messages = self.ends(which, which.stated), []
        if list(stated) != list(ends):
            messages.append("The groups with a selection rate are not those of the domain.")
        for key, (low, high) in stated.items() if self.recorded else ():
            own = ends.get(key, (0.0, 1.0))
            fits = own[0] - _LESS <= low <= own[0] + _ROUNDING
            if not (fits and own[1] - _ROUNDING <= high <= own[1] + _LESS):
                messages.append(
                    f"The selection rate of {self._group(*key)} is stated to be between {low:.4%} "
                    f"and {high:.4%}; its regions prove {own[0]:.4%} to {own[1]:.4%}."
                )
        messages += [each for rates in header.rates for each in _ratio_messages(rates)]
        if self.recorded:
            whole = float(self.masses[~_unclear(header)].sum())
            if abs(float(which.mass.sum()) - whole) > _ROUNDING:
                messages.append("The masses of the regions do not add up to that of the groups.")
        failed, tried = len(messages), len(which.nodes) + len(stated)
        if not self.recorded:
            messages.append(
                "The proof certificate holds no regions of selection rates: an earlier version of "
                "FairDesk made it."
            )
        return Check(name, tried, failed, 0, tuple(messages[:MOST_MESSAGES]))

    def _group(self, attribute: str, code: float) -> str:
        domain = self._header.domain
        return f"“{attribute}” = {domain.attributes[domain.names.index(attribute)].text(code)}"

    def proven_again(self, prove: Reprove, *, seconds: float, everything: bool) -> Check:
        """Prove regions once more, by other code: those first that move the rates most.

        Parameters
        ----------
        prove : callable
            Proves them.
        seconds : float
            For so long; without meaning where ``everything``.
        everything : bool
            Whether every region is tried, however long that takes.
        """
        name = "Selection rates of groups, re-proved by other bounds"
        if not self.recorded:
            return Check(name, remarks=("The proof certificate holds no regions of rates.",))
        which = self.leaves
        some = np.flatnonzero((which.stated > 0.0).any(axis=1) & (which.mass > 0.0))
        moved = which.mass * self._worth()[which.combination] * which.stated.sum(axis=1)
        some = some[np.argsort(-moved[some], kind="stable")]
        proven, contradicted = np.zeros_like(which.stated), []
        until = math.inf if everything else perf_counter() + seconds
        done, at_once = 0, _FIRST
        while done < len(some) and (left := until - (began := perf_counter())) > 0:
            own = some[done : done + at_once]
            try:
                found = prove(
                    *(which.low[own], which.high[own], which.combination[own], which.stated[own]),
                    _LONG_CALL if everything else min(left, _CALL),
                    of="rates",
                )
            except SpecError as error:
                return Check(name, len(some), 0, len(some), (str(error),))
            proven[own] = np.column_stack((found.consistent, found.discriminatory))
            contradicted += own[found.contradicted > 0].tolist()
            done += len(own)
            quick = perf_counter() - began < 1.0
            at_once = min(2 * at_once, _MOST) if quick else max(at_once // 2, 1)
        proven[contradicted] = 0.0
        again = (proven[some] >= which.stated[some] - NEARLY).all(axis=1)
        messages = [
            f"In region {which.nodes[i]} of the selection rates: a recount contradicts its "
            "statement."
            for i in contradicted[:MOST_MESSAGES]
        ]
        messages += self._proven_sentences(self.ends(which, proven))
        unknown = len(some) - int(again.sum()) - len(contradicted)
        if unknown:
            messages.append(
                f"{int(again.sum()):,} of {len(some):,} regions were re-proved as stated; "
                "“fairdesk verify --all” tests every region, however long that takes."
            )
        return Check(name, len(some), len(contradicted), unknown, tuple(messages))

    def _worth(self) -> Float64:
        """Return by how much a mass of each combination moves the rates of its groups, ``(C,)``."""
        domain, masses = self._header.domain, self.masses.sum(axis=0)
        worth = np.zeros(len(masses))
        for codes in domain.combinations.T:
            for code in np.unique(codes):
                own = codes == code
                worth[own] += 1.0 / max(float(masses[own].sum()), 1e-300)
        return worth

    def _proven_sentences(self, ends: _Ends) -> Iterator[str]:
        """Return a sentence for each attribute on what was proven once more."""
        domain = self._header.domain
        for rates in self._header.rates:
            attribute = domain.attributes[domain.names.index(rates.attribute)]
            rated = [
                f"{attribute.text(each.code)} {_percent(*ends[rates.attribute, each.code])}"
                for each in rates.groups
                if (rates.attribute, each.code) in ends
            ]
            yield f"Re-proved selection rates by “{rates.attribute}”: {', '.join(rated)}."

    def drawn(self, predict: Predict, *, sample: int, rng: np.random.Generator) -> Check:
        """Draw people of each group, ask the model, and compare what it says with its rate's ends.

        A rate is refuted where the exact interval (Clopper and Pearson) of those drawn does not
        meet the stated ends; by chance to one of all at most once in ten thousand times.
        """
        header, domain = self._header, self._header.domain
        points, weights = Points(header, predict), self.masses
        low, high = (self._arrays[each].astype(np.int64) for each in ("root_low", "root_high"))
        groups = sum(len(rates.groups) for rates in header.rates)
        messages, tried = [], 0
        for rates in header.rates:
            place = [domain.names[i] for i in domain.protected].index(rates.attribute)
            for each in rates.groups:
                own = weights * (domain.combinations[:, place] == each.code)
                if not own.sum() > 0:
                    continue
                drawn = rng.choice(own.size, size=min(sample, _DRAWN), p=(own / own.sum()).ravel())
                root, combination = np.divmod(drawn, own.shape[1])
                rows = []
                for v in np.unique(combination).tolist():
                    there = root[combination == v]
                    places = self.people[v].draw(low[there], high[there], rng)
                    rows.append(domain.counterparts(points.rows(places), np.full(len(places), v)))
                asked = np.concatenate(rows)
                if domain.has_constraints:
                    asked = asked[domain.allowed(asked)]
                if not len(asked):
                    continue
                favourable = labels(predict(asked)) == header.mapping.favourable_class
                tried += len(asked)
                ends = clopper_pearson(int(favourable.sum()), len(asked), 1 - _CHANCE / groups)
                if float(ends[0]) > each.high + _ROUNDING or float(ends[1]) < each.low - _ROUNDING:
                    messages.append(
                        f"The selection rate of {self._group(rates.attribute, each.code)} is "
                        f"stated to be between {each.low:.4%} and {each.high:.4%}; of "
                        f"{len(asked):,} drawn at random {int(favourable.sum()):,} receive "
                        "the favourable decision."
                    )
        name = "Selection rates of groups, compared with random samples of the population"
        return Check(name, tried, len(messages), 0, tuple(messages[:MOST_MESSAGES]))


def rate_checks(
    regions: RateRegions | None, predict: Predict, *, sample: int, rng: np.random.Generator
) -> Iterator[Check]:
    """Check what a certificate says of rates of groups; parameters as of `verify`."""
    if regions is None:
        return
    yield regions.follow()
    if sample:
        yield regions.drawn(predict, sample=sample, rng=rng)


def rate_regions(header: Header, arrays: Arrays) -> RateRegions | None:
    """Return the regions of rates; ``None`` where there are no rates, or the population is invalid.

    That it is invalid is reported by `fairdesk.certify.proof.verify.population`.
    """
    if header.population is None or not header.rates or any(People(header).problems()):
        return None
    return RateRegions(header, arrays)


def _unclear(header: Header) -> NDArray[np.bool_]:
    """Return of which roots it is not known who may be there, ``(R,)``."""
    unclear = np.zeros(len(header.groups), dtype=np.bool_)
    unclear[list(header.unclear)] = True
    return unclear


def _ratio_messages(rates: ProvenRates) -> Iterator[str]:
    """Yield whether the ends of an impact ratio do not follow from those of its rates."""
    lows, highs = [each.low for each in rates.groups], [each.high for each in rates.groups]
    low = min(lows) / max(highs) if max(highs, default=0.0) > 0.0 else 0.0
    high = min(min(highs) / max(lows), 1.0) if max(lows, default=0.0) > 0.0 else 1.0
    stated = rates.ratio_low, rates.ratio_high
    if abs(stated[0] - low) > _ROUNDING or abs(stated[1] - high) > _ROUNDING:
        yield (
            f"The impact ratio by “{rates.attribute}” is stated to be between {stated[0]:.4f} and "
            f"{stated[1]:.4f}; its selection rates give {low:.4f} to {high:.4f}."
        )


def _percent(low: float, high: float) -> str:
    """Write the ends of a rate, rounded outwards."""
    ends = percent_digits(max(low, 0.0), 2), percent_digits(min(high, 1.0), 2, up=True)
    return " to ".join(f"{float(each):g} %" for each in ends)
