"""Paths of local trees as constraints, toggled, and solved by z3 for the next instance.

Agarwal et al., "Automated Test Generation to Detect Individual Discrimination in AI Models", 2018.

The solver knows the domain's ranges, values, dependencies and constraints. What a path asks for is
added, solved, and taken away again. What is found is as near as can be, so that it does not depend
on what was solved before.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property, lru_cache
from itertools import accumulate
from operator import mul
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.domain import Domain
from fairdesk.data.domain.feasibility import UnknownPerson, conditions
from fairdesk.results.events import Rows


class Predicate(NamedTuple):
    """What one node of a tree says of a person.

    Attributes
    ----------
    attribute : int
        Its position in the domain.
    above : bool
        The code is above the threshold; else it is the threshold or below.
    threshold : float
        A code, mostly half way between two.
    confidence : float
        The share of the samples that are on this side, by their weight, 0 to 1: of those at the
        node, or, after `of_path`, of all.
    """

    attribute: int
    above: bool
    threshold: float
    confidence: float

    @property
    def toggled(self) -> Predicate:
        """The other side of the node, which has the rest of the samples."""
        return self._replace(above=not self.above, confidence=1.0 - self.confidence)


#: What a tree says of a person, from its root down.
Path = tuple[Predicate, ...]
#: What tells one path from another: what it asks for, whatever its confidences.
Identity = frozenset[tuple[int, bool, float]]


def identity(path: Path) -> Identity:
    """Return what a path asks for; its confidences differ from one random sample to the next."""
    return frozenset((each.attribute, each.above, each.threshold) for each in path)


def of_path(path: Path) -> Path:
    """Return a path whose confidences are the shares of all samples that are on it so far."""
    shares = accumulate((each.confidence for each in path), mul)
    return tuple(each._replace(confidence=share) for each, share in zip(path, shares, strict=True))


def average_confidence(path: Path) -> float:
    """Return the mean confidence of a path's predicates."""
    return sum(each.confidence for each in path) / len(path)


def directed(path: Path, protected: frozenset[int], below: float) -> Iterator[Path]:
    """Toggle one predicate, keep all others (the local search).

    Parameters
    ----------
    below : float
        T2: only predicates with less confidence are toggled.
    """
    for i, each in enumerate(path):
        if each.attribute not in protected and each.confidence < below:
            yield (*path[:i], each.toggled, *path[i + 1 :])


def undirected(path: Path, protected: frozenset[int], least: float) -> Iterator[Path]:
    """Toggle one predicate and forget all behind it (the global search).

    Parameters
    ----------
    protected : frozenset of int
        Attributes of which no predicate is toggled: it would lead to the same person.
    least : float
        T1: the search ends at the first predicate with less confidence.
    """
    for i, each in enumerate(path):
        if each.confidence < least:
            return
        if each.attribute not in protected:
            yield (*path[:i], each.toggled)


def bounds(path: Path) -> dict[int, tuple[float, float]]:
    """Return a path's bounds per attribute: the code is above the first, at most the second."""
    limits: dict[int, tuple[float, float]] = {}
    for attribute, is_above, threshold, _ in path:
        above, most = limits.get(attribute, (-math.inf, math.inf))
        if is_above:
            limits[attribute] = max(above, threshold), most
        else:
            limits[attribute] = above, min(most, threshold)
    return limits


def follows(rows: Rows, path: Path) -> NDArray[np.bool_]:
    """Return which of ``(n, d)`` rows do what a path asks for: ``(n,)``."""
    fine = np.ones(len(rows), dtype=np.bool_)
    for attribute, (above, most) in bounds(path).items():
        fine &= (rows[:, attribute] > above) & (rows[:, attribute] <= most)
    return fine


#: What the solver may do for one answer, in its own measure: the same on every machine. What it
#: cannot decide is left out.
MOST_EFFORT = 5_000_000
#: So many terms are kept.
_MOST_TERMS = 50_000


def _quantum(domain: Domain, position: int) -> tuple[float, float]:
    """Return how far neighbouring codes are apart, and where they begin."""
    attribute = domain.attributes[position]
    if attribute.spacing:
        return attribute.spacing, attribute.low
    return 1 / attribute.grid, 0.0


class PathSolver:
    """The domain as conditions of z3, given to it once; paths come and go.

    Reals are kept on the domain's grid, so that what is found can be queried as it is.

    Parameters
    ----------
    domain : Domain
        What may be queried.
    """

    def __init__(self, domain: Domain) -> None:
        import z3  # noqa: PLC0415 - slow to load, and needed in a search only

        self._z3: Any = z3
        self._domain = domain
        self._combinations = {
            tuple(values): i for i, values in enumerate(domain.combinations.tolist())
        }
        self._held = np.concatenate([domain.varying, domain.protected])
        self._held = self._held[~np.isin(self._held, domain.following)].tolist()
        self._person = UnknownPerson(z3, domain, "x")
        self._codes = [self._person.codes[name] for name in domain.names]
        # the terms of z3 take longer to make than most paths to solve
        self._equal = lru_cache(_MOST_TERMS)(
            lambda position, code: self._codes[position] == self._person.constant(code)
        )
        self._places = {int(i): z3.Int(f"place {i}") for i in domain.varying}
        self._solver = z3.Solver()
        self._solver.set("random_seed", 0)
        self._solver.set("rlimit", MOST_EFFORT)
        self._solver.add(*(condition for _, condition in conditions(domain, self._person)))
        constant = self._person.constant
        for i, place in self._places.items():
            attribute, (quantum, origin) = domain.attributes[i], _quantum(domain, i)
            apart = constant(quantum) if attribute.spacing else 1 / constant(attribute.grid)
            self._solver.add(self._codes[i] == constant(origin) + z3.ToReal(place) * apart)

    def nearest(self, path: Path, row: Rows) -> tuple[Rows, int] | None:
        """Find the nearest instance on a path.

        Whatever the path does not ask to be moved stays, if that is possible. What is moved is as
        near as it can be, one attribute after the other in their order, protected ones last. So
        there is one answer, however it is found.

        Parameters
        ----------
        row : Rows
            ``(d,)``; in the domain, with compared values of the protected attributes.

        Returns
        -------
        tuple, optional
            The instance, ``(d,)``, and the index of its combination of protected values;
            ``None`` where there is none.
        """
        self._solver.push()
        try:
            found = self._nearest(path, row)
        finally:
            self._solver.pop(self._solver.num_scopes())
        if found is None:
            return None
        return found, self._combinations[tuple(found[self._domain.protected].tolist())]

    def is_in_range(self, path: Path, row: Rows) -> bool:
        """Return whether there would be an instance on a path without the constraints."""
        return self._unconstrained.nearest(path, row) is not None

    @cached_property
    def _unconstrained(self) -> PathSolver:
        return PathSolver(Domain(self._domain.attributes))

    def _nearest(self, path: Path, row: Rows) -> Rows | None:
        domain, constant = self._domain, self._person.constant
        limits = bounds(path)
        for position, (above, most) in limits.items():
            if math.isfinite(above):
                self._solver.add(self._codes[position] > constant(above))
            if math.isfinite(most):
                self._solver.add(self._codes[position] <= constant(most))
        self._solver.add(*(self._equal(int(i), float(row[i])) for i in domain.fixed))
        staying = [
            i for i in self._held if i not in limits or limits[i][0] < row[i] <= limits[i][1]
        ]
        self._solver.push()
        self._solver.add(*(self._equal(i, float(row[i])) for i in staying))
        if (model := self._solved()) is None:
            self._solver.pop()
            self._solver.push()
            staying, model = [], self._solved()
        for position in domain.varying.tolist():
            if model is not None and position not in staying:
                unlimited = (-math.inf, math.inf)
                around = limits.get(position, unlimited)
                model = self._closest(position, float(row[position]), around, model)
        for position in domain.protected.tolist():
            if model is not None and position not in staying:
                model = self._near_compared(position, float(row[position]), model)
        if model is None:
            return None
        # the solver is exact where floating point is not
        found, _ = domain.snap(np.array([self._person.row(model)]))
        fine = domain.contains(found)[0] and follows(found, path)[0]
        return np.asarray(found[0]) if fine else None

    def _closest(
        self,
        position: int,
        code: float,
        limits: tuple[float, float],
        model: Any,  # noqa: ANN401 - z3's models
    ) -> Any:  # noqa: ANN401 - likewise
        """Hold an attribute as near to a code as it can be; give a model of it all."""
        place, (quantum, origin) = self._places[position], _quantum(self._domain, position)
        wanted = round((code - origin) / quantum)
        first, last = (
            math.floor((end - origin) / quantum) if math.isfinite(end) else None for end in limits
        )
        # where no constraint is in the way, it is the first place within the limits
        likely = wanted if first is None else max(wanted, first + 1)
        likely = likely if last is None else min(likely, last)
        if (found := self._solved(place == likely)) is not None:
            self._solver.add(place == likely)
            return found
        least, distance = 0, self._distance_to(model, place, wanted)
        within = distance - 1
        while least < distance:
            nearer = self._solved(place >= wanted - within, place <= wanted + within)
            if nearer is None:
                least = within + 1
            else:
                model, distance = nearer, self._distance_to(nearer, place, wanted)
            within = (least + distance) // 2
        if distance:  # of two equally near ones the lower
            lower = self._solved(place == wanted - distance)
            wanted, model = (
                (wanted + distance, model) if lower is None else (wanted - distance, lower)
            )
        self._solver.add(place == wanted)
        return model

    def _near_compared(self, position: int, code: float, model: Any) -> Any:  # noqa: ANN401
        """Do the same with a protected attribute, of which few codes are compared."""
        compared = self._domain.attributes[position].compared
        for each in sorted(compared, key=lambda each: abs(each - code)):
            equal = self._equal(position, float(each))
            if (found := self._solved(equal)) is not None:
                self._solver.add(equal)
                return found
        return model

    def _distance_to(self, model: Any, place: Any, wanted: int) -> int:  # noqa: ANN401 - terms of z3
        return abs(int(model.eval(place, model_completion=True).as_long()) - wanted)

    def _solved(self, *more: Any) -> Any:  # noqa: ANN401 - a model of z3, or None
        found = self._solver.check(*more)
        return self._solver.model() if found == self._z3.sat else None
