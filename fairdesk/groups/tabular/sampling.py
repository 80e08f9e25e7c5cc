"""People who are like those of the data: one attribute moved a little (TestSGD, Algorithm 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.attributes import Attribute
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Kind
from fairdesk.groups.options import TestSgdOptions
from fairdesk.results.events import Rows

#: Whoever breaks a constraint so often is left as they are.
_TRIES = 20


@dataclass(frozen=True)
class Steps:
    """How far numbers are moved (the paper's ``s_pert``).

    Attributes
    ----------
    whole, decimal : float
        Of whole numbers and of decimals.
    of_range : tuple of bool
        Whether these are shares of the attribute's range: of whole numbers, of decimals.
    """

    whole: float = 1.0
    decimal: float = 0.01
    of_range: tuple[bool, bool] = (False, True)

    @classmethod
    def of(cls, options: TestSgdOptions) -> Self:
        """Return what was asked for."""
        match options.perturbation:
            case "absolute":
                return cls(options.s_pert, options.s_pert_decimal, (False, False))
            case "relative":
                return cls(options.s_pert_decimal, options.s_pert_decimal, (True, True))
        return cls(options.s_pert, options.s_pert_decimal)

    def by(self, attribute: Attribute) -> float:
        """Return how far a number is moved: by a multiple of its step, if it has one."""
        real = attribute.kind is Kind.REAL
        size = self.decimal if real else self.whole
        if self.of_range[real]:
            size *= attribute.high - attribute.low
        spacing = attribute.spacing
        return max(spacing, round(size / spacing) * spacing) if spacing else size


class Neighbours:
    """Makes people out of real ones.

    Each has one attribute moved, drawn at random from those that a search may change: a number by
    its step (`Steps`), clipped to the domain; a name in an order to a neighbouring one, another
    name to any other. What is determined by it follows. Protected attributes, fixed ones and texts
    stay as they are, so whoever is made is in the same groups as the real person. Who breaks a
    constraint is moved anew, from the same real person: so every real person stays as likely as
    before.

    Attributes
    ----------
    moves : bool
        Whether anything may be moved at all; else people are left as they are.
    rejected : int
        How often somebody broke a constraint.
    left : int
        How many were left as they are, since whatever was tried broke one.
    """

    def __init__(
        self, domain: Domain, rng: np.random.Generator, steps: Steps | None = None
    ) -> None:
        self._domain, self._rng, self._steps = domain, rng, steps or Steps()
        self._still = np.union1d(domain.protected, domain.fixed)
        self.moves = bool(domain.varying.size)
        self.rejected = self.left = 0

    def of(self, rows: Rows) -> Rows:
        """Make one neighbour of each of ``(n, d)`` people of the domain."""
        if not self.moves:
            return rows.copy()
        moved = self._moved(rows)
        broken = np.flatnonzero(~self._fine(moved, rows))
        for _ in range(_TRIES):
            if not broken.size:
                break
            self.rejected += len(broken)
            moved[broken] = self._moved(rows[broken])
            broken = broken[~self._fine(moved[broken], rows[broken])]
        self.left += len(broken)
        moved[broken] = rows[broken]
        return moved

    def _moved(self, rows: Rows) -> Rows:
        domain, rng = self._domain, self._rng
        moved = rows.copy()
        which = domain.varying[rng.integers(domain.varying.size, size=len(rows))]
        lots = rng.random(len(rows))
        for position in domain.varying:
            there = np.flatnonzero(which == position)
            codes = _stepped(
                domain.attributes[position], rows[there, position], lots[there], self._steps
            )
            moved[there, position] = domain.clip(codes[:, None], position[None])[:, 0]
        return domain.apply_dependencies(moved)

    def _fine(self, moved: Rows, rows: Rows) -> NDArray[np.bool_]:
        if not self._domain.has_constraints:
            return np.ones(len(rows), dtype=np.bool_)
        fine: NDArray[np.bool_] = (moved[:, self._still] == rows[:, self._still]).all(axis=1)
        fine[fine] = self._domain.contains(moved[fine])
        return fine


def _stepped(
    attribute: Attribute, codes: NDArray[np.float64], lots: Rows, steps: Steps
) -> NDArray[np.float64]:
    """Move codes of one attribute, as ``lots`` (uniform on 0..1) have it."""
    if attribute.kind is Kind.NOMINAL:
        count = len(attribute.values)
        return np.asarray((codes + 1 + np.floor(lots * (count - 1))) % count)
    if attribute.unknown:
        # what is not known stands beside no value, and has no neighbour
        last = len(attribute.named) - 1
        moved = np.clip(codes + np.where(lots < 0.5, -1.0, 1.0), 0, last)
        return np.where(codes > last, np.minimum(np.floor(lots * (last + 1)), last), moved)
    by = steps.by(attribute) if not attribute.values else 1.0
    return codes + np.where(lots < 0.5, -by, by)


def starting(domain: Domain, rows: Rows) -> tuple[Rows, NDArray[np.bool_]]:
    """Bring ``(n, d)`` rows onto the steps of the domain, and tell from which one can start.

    Returns
    -------
    rows : Rows
        ``(n, d)``; on their steps: people that may be asked about.
    fine : NDArray[np.bool_]
        ``(n,)``; whether the row keeps the constraints there.
    """
    if not domain.stepped.size:
        return rows, np.ones(len(rows), dtype=np.bool_)
    rows = domain.apply_dependencies(domain.clip(rows))
    return rows, domain.contains(rows)
