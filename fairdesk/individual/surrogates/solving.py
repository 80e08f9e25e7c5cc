"""The next person on a path: the nearest who does what it asks for and may be.

Without constraints what a path asks for is a box, and the nearest person in it is found attribute
by attribute. With constraints a solver (z3) is asked where that person may not be. Who it finds is
as near as can be too, so that it does not hang on what the solver was asked before.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fairdesk.data.domain.domain import Domain
from fairdesk.data.domain.feasibility import UnknownPerson, conditions
from fairdesk.individual.surrogates.paths import Path, bounds, follows
from fairdesk.results.events import Rows

#: What the solver may do for one answer, in its own measure: the same on every machine. What it
#: cannot decide is left out.
MOST_EFFORT = 5_000_000


class Solver:
    """Finds people on paths.

    Parameters
    ----------
    domain : Domain
        Who may be.
    """

    def __init__(self, domain: Domain) -> None:
        self._domain = domain
        self._combinations = {
            tuple(values): i for i, values in enumerate(domain.combinations.tolist())
        }
        self._constrained: ConstrainedSolver | None = None

    def nearest(self, path: Path, row: Rows) -> tuple[Rows, int] | None:
        """Find the nearest person on a path.

        Parameters
        ----------
        row : Rows
            ``(d,)``; somebody in the domain, with compared values of the protected attributes.

        Returns
        -------
        tuple, optional
            The person, ``(d,)``, and the index of their combination of protected values;
            ``None`` where there is nobody.
        """
        found = nearest_in_box(self._domain, path, row)
        if found is None:
            return None
        if self._domain.has_constraints:
            self._domain.apply_dependencies(found)
            if not self._domain.allowed(found[None])[0]:
                if not (self._domain.constraints or self._domain.determined):
                    return None  # a solver knows no more than the constraints
                if self._constrained is None:
                    self._constrained = ConstrainedSolver(self._domain)
                found = self._constrained.nearest(path, row)
                if found is None:
                    return None
        return found, self._combinations[tuple(found[self._domain.protected].tolist())]


def nearest_in_box(domain: Domain, path: Path, row: Rows) -> Rows | None:
    """Move what a path asks to be moved, to the nearest code; constraints are not looked at.

    Parameters and result are those of `Solver.nearest`, without the combination.
    """
    found = row.copy()
    for position, (above, most) in bounds(path).items():
        if above < row[position] <= most:
            continue
        code = _nearest_code(domain, position, above, most, float(row[position]))
        if code is None:
            return None
        found[position] = code
    return found


def _nearest_code(
    domain: Domain, position: int, above: float, most: float, code: float
) -> float | None:
    """Return the nearest allowed code above one bound and at most another, if there is any."""
    attribute = domain.attributes[position]
    if attribute.compared:
        inside = [each for each in attribute.compared if above < each <= most]
        return min(inside, key=lambda each: abs(each - code), default=None)
    quantum, origin = _quantum(domain, position)
    place = math.floor(((above if code <= above else most) - origin) / quantum)
    place += code <= above
    # a bound may be a code itself, and the last bits of the division may miss it
    near = (
        round((origin + i * quantum) * attribute.grid) / attribute.grid
        for i in range(place - 1, place + 2)
    )
    low, high = attribute.low, attribute.high
    inside = [each for each in near if above < each <= most and low <= each <= high]
    return min(inside, key=lambda each: abs(each - code), default=None)


def _quantum(domain: Domain, position: int) -> tuple[float, float]:
    """Return how far neighbouring codes are apart, and where they begin."""
    attribute = domain.attributes[position]
    if attribute.spacing:
        return attribute.spacing, attribute.low
    return 1 / attribute.grid, 0.0


class ConstrainedSolver:
    """The domain with its constraints, told to z3 once; paths come and go.

    Reals are kept on the domain's grid, so that whoever is found can be asked about as they are.

    Parameters
    ----------
    domain : Domain
        Who may be.
    """

    def __init__(self, domain: Domain) -> None:
        import z3  # noqa: PLC0415 - slow to load, and needed only where constraints are in the way

        self._z3: Any = z3
        self._domain = domain
        self._person = UnknownPerson(z3, domain, "x")
        self._codes = [self._person.codes[name] for name in domain.names]
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

    def nearest(self, path: Path, row: Rows) -> Rows | None:
        """Find the nearest person on a path, attribute by attribute in their order.

        The first attribute is as near as it can be, then the second as near as it can be with
        that, and so on; protected ones come last. So there is one answer, however it is found.

        Parameters and result are those of `nearest_in_box`.
        """
        self._solver.push()
        try:
            return self._nearest(path, row)
        finally:
            self._solver.pop()

    def _nearest(self, path: Path, row: Rows) -> Rows | None:
        domain, constant = self._domain, self._person.constant
        for position, (above, most) in bounds(path).items():
            if math.isfinite(above):
                self._solver.add(self._codes[position] > constant(above))
            if math.isfinite(most):
                self._solver.add(self._codes[position] <= constant(most))
        self._solver.add(*(self._codes[i] == constant(row[i]) for i in domain.fixed))
        model = self._solved()
        for position in domain.varying.tolist():
            if model is not None:
                model = self._closest(position, float(row[position]), model)
        for position in domain.protected.tolist():
            if model is not None:
                model = self._near_compared(position, float(row[position]), model)
        if model is None:
            return None
        # the solver is exact where floating point is not
        found, _ = domain.snap(np.array([self._person.row(model)]))
        fine = domain.contains(found)[0] and follows(found, path)[0]
        return np.asarray(found[0]) if fine else None

    def _closest(self, position: int, code: float, model: Any) -> Any:  # noqa: ANN401 - z3's models
        """Hold an attribute as near to a code as it can be; give a model of it all."""
        place, (quantum, origin) = self._places[position], _quantum(self._domain, position)
        wanted = round((code - origin) / quantum)
        least, distance = 0, self._distance_to(model, place, wanted)
        while least < distance:
            # first whether it can stay, then half of the way again and again
            within = (least + distance) // 2 if least else 0
            nearer = self._solved(place >= wanted - within, place <= wanted + within)
            if nearer is None:
                least = within + 1
            else:
                model, distance = nearer, self._distance_to(nearer, place, wanted)
        if distance:  # of two equally near ones the lower
            lower = self._solved(place == wanted - distance)
            wanted, model = (
                (wanted + distance, model) if lower is None else (wanted - distance, lower)
            )
        self._solver.add(place == wanted)
        return model

    def _near_compared(self, position: int, code: float, model: Any) -> Any:  # noqa: ANN401
        """Do the same with a protected attribute, of which few codes are compared."""
        term, compared = self._codes[position], self._domain.attributes[position].compared
        for each in sorted(compared, key=lambda each: abs(each - code)):
            equal = term == self._person.constant(each)
            if (found := self._solved(equal)) is not None:
                self._solver.add(equal)
                return found
        return model

    def _distance_to(self, model: Any, place: Any, wanted: int) -> int:  # noqa: ANN401 - terms of z3
        return abs(int(model.eval(place, model_completion=True).as_long()) - wanted)

    def _solved(self, *more: Any) -> Any:  # noqa: ANN401 - a model of z3, or None
        found = self._solver.check(*more)
        return self._solver.model() if found == self._z3.sat else None
