"""Minimal pairs: found instances, brought as near to real people as they stay instances.

What an auditor shows to others should differ from a real person in as little as possible. So each
instance is made like a real person in one attribute after the other, as delta debugging does with
programs' inputs (Zeller and Hildebrandt, *Simplifying and Isolating Failure-Inducing Input*, IEEE
Transactions on Software Engineering 28, 2002), until making it like them in any one more would
end the discrimination. All instances advance in lockstep: a step is one batch.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Kind
from fairdesk.errors import ModelError
from fairdesk.individual.engine.context import SearchContext
from fairdesk.population.nearest import Nearest, measured, scaled
from fairdesk.results.events import Found, Rows

#: So many of the nearest real people are walked towards from each instance.
NEIGHBOURS = 3
#: Numbers are halved towards a real person's until so much of a step of the search is left.
FINEST = 0.1
#: Nothing nearer than by so little is called nearer: it is rounding.
_ROUNDING = 1e-9


def shrink(context: SearchContext, people: Rows, rows: Rows) -> Found:
    """Bring instances as near to real people as they stay instances.

    Protected attributes stay as they are. Fixed ones come from one real person together, as
    everywhere. Nothing is booked in the search context.

    Parameters
    ----------
    context : SearchContext
        The model, and who may be asked about.
    people : Rows
        ``(m, d)``, ``m >= 1``; the real people, without missing codes.
    rows : Rows
        ``(n, d)``; instances that a search found, in the domain.

    Returns
    -------
    Found
        ``n`` pairs, row by row, each re-checked on the model: none is farther from the nearest
        real person than it was, and of none could one more attribute (or, together, the fixed
        ones) be made like that person's.

    Raises
    ------
    DataError
        When there are no people.
    ModelError
        When the model no longer discriminates against one of the instances.
    """
    shrinking = _Shrinking(context, people)
    found, confirmed = _confirmed(context, shrinking.bring_near(rows))
    if not confirmed.all():
        nearer = np.where(confirmed[:, None], found.rows, rows)
        found, confirmed = _confirmed(context, nearer)
    if not confirmed.all():
        raise ModelError(
            "The model no longer makes different decisions for a pair that was found.",
            why=f"{int((~confirmed).sum()):,} of {len(rows):,} pairs were not confirmed when "
            "re-queried: the model’s outputs vary, its file has changed, or only the two scores "
            "differed.",
            remedy="Repeat the search, or use pairs with different decisions.",
        )
    return found


def _confirmed(context: SearchContext, rows: Rows) -> tuple[Found, NDArray[np.bool_]]:
    return context.confirm(rows, context.domain.snap(rows)[1], "minimal")


class _Shrinking:
    """What all steps share: the model, the real people, and what is changed together.

    Its steps change ``rows`` in place, at the places ``at``, and never away from the ``target``.
    """

    def __init__(self, context: SearchContext, people: Rows) -> None:
        self.context, self.domain, self.people = context, context.domain, people
        self.nearest = Nearest(context.domain, people)
        self.measured = measured(context.domain)
        self.units = _units(context.domain)
        free = np.intersect1d(self.measured, context.domain.varying)
        self.numbers = [i for i in free if context.domain.attributes[i].kind is not Kind.NOMINAL]

    def bring_near(self, rows: Rows) -> Rows:
        """Walk towards several of the nearest; then on while another is nearer: ``(n, d)``."""
        _, neighbours = self.nearest.several(rows, NEIGHBOURS)
        n, k = neighbours.shape
        walked = self._towards(np.repeat(rows, k, axis=0), self.people[neighbours.ravel()])
        distance = self.nearest.find(walked)[0].reshape(n, k)
        best = walked.reshape(n, k, rows.shape[1])[np.arange(n), distance.argmin(axis=1)]
        going = np.arange(n)
        while going.size:
            before, nearest = self.nearest.find(best[going])
            walked = self._towards(best[going], self.people[nearest])
            nearer = self.nearest.find(walked)[0] < before - _ROUNDING
            going = going[nearer]
            best[going] = walked[nearer]
        return np.asarray(best)

    def _towards(self, rows: Rows, real: Rows) -> Rows:
        """Make each row like one real person, as far as it stays an instance: ``(n, d)``."""
        rows, target = rows.copy(), self.domain.clip(real)
        at = np.arange(len(rows))
        self._keep(rows, target, at, np.where(self.units.any(axis=0), target, rows))
        self._one_by_one(rows, target, at)
        while at.size:
            at = self._one_by_one(rows, target, self._halve(rows, target, at))
        return rows

    def _one_by_one(self, rows: Rows, target: Rows, at: NDArray[np.intp]) -> NDArray[np.intp]:
        """Try one unit after the other, what differs most first, until none is left that can be.

        Returns
        -------
        NDArray[np.intp]
            The places that changed.
        """
        changed: list[NDArray[np.intp]] = [np.empty(0, dtype=np.intp)]
        while at.size:
            gaps = self._differences(rows[at], target[at]) @ self.units[:, self.measured].T
            order = np.argsort(-gaps, axis=1, kind="stable")
            went = np.zeros(len(at), dtype=np.bool_)
            for unit, gap in zip(order.T, np.take_along_axis(gaps, order, axis=1).T, strict=True):
                apart = np.flatnonzero(gap > 0)
                moving = at[apart]
                moved = np.where(self.units[unit[apart]], target[moving], rows[moving])
                went[apart] |= self._keep(rows, target, moving, moved)
            at = at[went]
            changed.append(at)
        return np.unique(np.concatenate(changed))

    def _halve(self, rows: Rows, target: Rows, at: NDArray[np.intp]) -> NDArray[np.intp]:
        """Bring each number as near as halving finds; give the places that changed."""
        domain = self.domain
        changed = np.zeros(len(rows), dtype=np.bool_)
        for i in self.numbers:
            going, beyond, finest = at, target[at, i], FINEST * domain.unit[i]
            while True:
                codes = rows[going, i]
                middle = domain.clip((codes + beyond) / 2, np.array([i]))
                on = (np.abs(codes - beyond) > finest) & (middle != codes) & (middle != beyond)
                if not on.any():
                    break
                going, middle, beyond = going[on], middle[on], beyond[on]
                moved = rows[going]
                moved[:, i] = middle
                kept = self._keep(rows, target, going, moved)
                changed[going] |= kept
                beyond = np.where(kept, beyond, middle)
        return np.flatnonzero(changed)

    def _keep(
        self, rows: Rows, target: Rows, at: NDArray[np.intp], moved: Rows
    ) -> NDArray[np.bool_]:
        """Take over those of the moved rows that are nearer, allowed, and instances still."""
        moved = self.domain.apply_dependencies(moved)
        apart, now = (self._differences(each, target[at]).sum(axis=1) for each in (moved, rows[at]))
        kept = apart < now - _ROUNDING
        kept[kept] = self.domain.allowed(moved[kept])
        if kept.any():
            still = moved[kept]
            combination = self.domain.snap(still)[1]
            kept[kept] = self.context.counts(still, combination)
            rows[at[kept]] = moved[kept]
        return np.asarray(kept)

    def _differences(self, rows: Rows, target: Rows) -> Rows:
        """How far each measured attribute is from the target's, 0 to 1: ``(n, m)``."""
        return np.minimum(np.abs(scaled(self.domain, rows) - scaled(self.domain, target)), 1.0)


def _units(domain: Domain) -> NDArray[np.bool_]:
    """Return what changes together, ``(units, d)``: each attribute alone, all fixed ones at once.

    What follows from others is changed by these.
    """
    alone = np.eye(len(domain.attributes), dtype=np.bool_)[domain.varying]
    fixed = np.isin(np.arange(len(domain.attributes)), domain.fixed)
    fixed[domain.following] = False
    return np.concatenate([alone, fixed[None]]) if fixed.any() else alone
