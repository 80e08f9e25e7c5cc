"""The space of people that a search walks: attributes, their values, and the protected ones."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import product
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.attributes import MOST_COMBINATIONS, Attribute, Role, encode
from fairdesk.data.domain.constraints import parse
from fairdesk.data.domain.dependencies import (
    Companion,
    Determined,
    check_companions,
    check_order,
    in_order,
)
from fairdesk.data.domain.formulas import Constraint, Dependence
from fairdesk.data.domain.support import Support
from fairdesk.data.table import Kind, Table
from fairdesk.errors import SpecError
from fairdesk.results.events import Rows

#: People are drawn by rejection in batches of at most so many.
_MOST_AT_ONCE = 50_000
#: Once so many were drawn ...
_MOST_DRAWN = 1_000_000
#: ... fewer than one in so many must not be all that fulfil the constraints.
_RAREST = 100_000


class ExcludedRows(msgspec.Struct, frozen=True):
    """Rows of the data that no search can start from, for one reason.

    Attributes
    ----------
    reason : str
        ``"missing"``: a cell is missing and that is no category; ``"outside"``: a value is not
        allowed; ``"constraint"``: the row breaks a constraint.
    what : str
        The attribute's name, or the constraint's text.
    rows : int
        How many; a row counts under its first reason only.
    """

    reason: Literal["missing", "outside", "constraint"]
    what: str
    rows: int


class Domain(msgspec.Struct, frozen=True, dict=True):
    """The people that may be asked about.

    Rows are ``(n, d)`` float64 arrays with one column of codes per attribute.

    Attributes
    ----------
    attributes : tuple[Attribute, ...]
        In the order of the rows' columns.
    constraints : tuple[str, ...]
        What every person fulfils, as `fairdesk.data.domain.constraints` writes it. One that says
        that an attribute is determined by another has its entry in ``determined``.
    determined : tuple[Determined, ...]
        The attributes that follow others, with what was learned from the data.
        `fairdesk.data.domain.feasibility.has_constraints` makes both from texts.
    unseen : tuple[Attribute, ...]
        Protected columns that the model is not given. No decision hangs on them, so no search
        changes them, and they are no columns of the rows; but they tell groups apart.
    support : Support
        What the data support of comparisons. Rows of the data stay in the domain whatever it says.
    """

    attributes: tuple[Attribute, ...]
    constraints: tuple[str, ...] = ()
    determined: tuple[Determined, ...] = ()
    unseen: tuple[Attribute, ...] = ()
    support: Support = Support()

    def __post_init__(self) -> None:
        """Refuse a domain that nothing can be asked about.

        Raises
        ------
        SpecError
            When nothing is protected and there is no text either, a protected attribute has fewer
            than two values to compare, or attributes that follow others are not there or follow
            in a circle. What the constraints say is not looked at here: `rules` reads them. Nor is
            whether similar sets can be made: see `obstacle`.
        """
        strangers = {name for each in self.determined for name in (each.attribute, each.by)}
        if strangers := strangers.difference(self.names):
            raise SpecError(f"There is no attribute “{min(strangers)}” that could be determined.")
        check_order(self.determined)
        check_companions(
            (*self.support.companions, *self.support.proposed),
            self.attributes,
            [each.attribute for each in self.determined],
        )
        if not self.grouping and not self.texts.size:
            raise SpecError(
                "No attribute is protected.",
                remedy="Mark at least one attribute as protected, for example sex, race or age.",
                setting="protected",
            )
        for attribute in self.grouping:
            if len(attribute.compared) < 2:
                raise SpecError(
                    f"The protected attribute “{attribute.name}” has only one value.",
                    why=(
                        "Discrimination is tested by changing its value, so at least two values "
                        "are needed."
                    ),
                    remedy="Choose another attribute, or allow more values of this one.",
                    setting="protected",
                )

    @cached_property
    def obstacle(self) -> str:
        """Why no person can be compared with the others they could be, a clause; mostly empty."""
        if not self.grouping:
            return "no attribute is protected; only texts are compared, by their identity terms"
        if not self.protected.size:
            return (
                (
                    "the model does not receive any protected attribute, so its decision cannot "
                    "depend directly on one"
                )
                if self.unseen
                else "no attribute is protected; mark one, for example sex, race or age"
            )
        if not self.varying.size:
            return (
                "every attribute is protected, fixed, determined by another, or has only one "
                "value, so no instances can be generated; make at least one with two or more "
                "values variable"
            )
        if self.combination_count > MOST_COMBINATIONS:
            return (
                f"the protected values make {self.combination_count:,} combinations, and at most "
                f"{MOST_COMBINATIONS:,} can be compared; protect fewer attributes at once, or "
                "group the values of a number into bins"
            )
        return ""

    @cached_property
    def grouping(self) -> tuple[Attribute, ...]:
        """The attributes that tell groups apart: the protected ones, then the unseen."""
        return (*(self.attributes[i] for i in self.protected.tolist()), *self.unseen)

    @cached_property
    def texts(self) -> NDArray[np.intp]:
        """Positions of the attributes that are texts which people wrote."""
        return np.array(
            [i for i, each in enumerate(self.attributes) if each.kind is Kind.TEXT], dtype=np.intp
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes' names."""
        return tuple(attribute.name for attribute in self.attributes)

    @cached_property
    def protected(self) -> NDArray[np.intp]:
        """Positions of the protected attributes."""
        return self._with_role(Role.PROTECTED)

    @cached_property
    def varying(self) -> NDArray[np.intp]:
        """Positions of the attributes that a search can change by themselves.

        Those with one value cannot be, and those that are determined by others follow them.
        """
        free = np.setdiff1d(self._with_role(Role.VARIES), self.following)
        return np.asarray(free[self.low[free] < self.high[free]])

    @cached_property
    def fixed(self) -> NDArray[np.intp]:
        """Positions of the attributes that are kept as they are in the data's rows."""
        return self._with_role(Role.FIXED)

    @cached_property
    def following(self) -> NDArray[np.intp]:
        """Positions of the attributes that are determined by others."""
        return np.array(
            [self.names.index(each.attribute) for each in self.determined], dtype=np.intp
        )

    @cached_property
    def differing(self) -> NDArray[np.intp]:
        """Positions in which members of a similar set may differ.

        Those of the protected attributes, of their companions, and of all that are determined by
        these.
        """
        names = {self.names[i] for i in self.protected}
        names |= {each.attribute for each in self.support.companions}
        for each in in_order(self.determined):
            if each.by in names:
                names.add(each.attribute)
        return np.array([i for i, name in enumerate(self.names) if name in names], dtype=np.intp)

    @cached_property
    def others(self) -> NDArray[np.intp]:
        """Positions of all attributes in which members of a similar set are equal."""
        # NumPy's difference of sets would load what only masked arrays need
        return np.delete(np.arange(len(self.attributes)), self.differing)

    @cached_property
    def identifying(self) -> NDArray[np.intp]:
        """Positions by whose codes in `canonical` rows similar sets are told apart."""
        companions = np.array([target for target, _, _ in self._companions], dtype=np.intp)
        return np.union1d(self.others, companions)

    def canonical(self, rows: Rows) -> Rows:
        """Return rows with one code of a companion for all that stand for each other.

        Equal in `identifying` are exactly the members of a similar set. The rows themselves are
        returned where there are no companions.
        """
        if not self._representatives:
            return rows
        rows = rows.copy()
        for target, codes, representatives in self._representatives:
            place = np.minimum(np.searchsorted(codes, rows[..., target]), len(codes) - 1)
            known = codes[place] == rows[..., target]
            rows[..., target] = np.where(known, representatives[place], rows[..., target])
        return rows

    def identity(self, rows: Rows) -> Rows:
        """Return what tells the similar sets of ``(n, d)`` rows apart: ``(n, k)``."""
        return self.canonical(rows)[:, self.identifying]

    @cached_property
    def _companions(self) -> tuple[tuple[int, int, Companion], ...]:
        return self._placed(self.support.companions)

    @cached_property
    def _proposed(self) -> tuple[tuple[int, int, Companion], ...]:
        return self._placed(self.support.proposed)

    def _placed(self, companions: tuple[Companion, ...]) -> tuple[tuple[int, int, Companion], ...]:
        places = {name: i for i, name in enumerate(self.names)}
        return tuple((places[each.attribute], places[each.by], each) for each in companions)

    @cached_property
    def _representatives(self) -> tuple[tuple[int, Rows, Rows], ...]:
        """Of each companion its place, the codes that move, ascending, and what stands for each."""
        found = []
        for target, source, each in self._companions:
            codes = np.unique([code for move in each.moves for code in (move.code, move.becomes)])
            compared = self.attributes[source].compared
            found.append((target, codes, each.representatives(codes, compared)))
        return tuple(found)

    @cached_property
    def low(self) -> Rows:
        """``(d,)``; the least code of each attribute."""
        return np.array([attribute.low for attribute in self.attributes])

    @cached_property
    def high(self) -> Rows:
        """``(d,)``; the greatest code of each attribute."""
        return np.array([attribute.high for attribute in self.attributes])

    @cached_property
    def unit(self) -> Rows:
        """``(d,)``; the size of one step along each attribute."""
        return np.array([attribute.unit for attribute in self.attributes])

    @cached_property
    def grid(self) -> Rows:
        """``(d,)``; how many codes there are in 1: reals too are kept on a (very fine) grid.

        A millionth of a step or finer, in decimals. Without it a person who takes a step and
        steps back would be another one, by the last bits of a float.
        """
        return np.array([attribute.grid for attribute in self.attributes])

    @cached_property
    def spacing(self) -> Rows:
        """``(d,)``; how far neighbouring codes are apart, 0 where any fraction is allowed."""
        return np.array([attribute.spacing for attribute in self.attributes])

    def whole_steps(self, size: float) -> Rows:
        """Return a step of so many units along each attribute, ``(d,)``.

        It leads from one allowed code to another: where only some are allowed it is rounded, to
        one of them at least.
        """
        steps, spacing = size * self.unit, self.spacing
        apart = np.where(spacing > 0, spacing, 1.0)
        return np.where(spacing > 0, np.maximum(1.0, np.round(steps / apart)) * apart, steps)

    @cached_property
    def stepped(self) -> NDArray[np.intp]:
        """Positions of the attributes with a step of their own."""
        return np.array([i for i, each in enumerate(self.attributes) if each.step], dtype=np.intp)

    @cached_property
    def integral(self) -> NDArray[np.bool_]:
        """``(d,)``; whether codes are whole numbers."""
        return np.array([attribute.integral for attribute in self.attributes])

    @property
    def combination_count(self) -> int:
        """The number of combinations of protected values, without making them."""
        count = 1
        for position in self.protected:
            count *= len(self.attributes[position].compared)
        return count

    @cached_property
    def combinations(self) -> Rows:
        """``(C, p)``; every combination of the compared values of the protected attributes.

        Raises
        ------
        SpecError
            When there are more than `MOST_COMBINATIONS`.
        """
        if self.combination_count > MOST_COMBINATIONS:
            raise SpecError(
                f"The protected values make {self.combination_count:,} combinations; "
                f"at most {MOST_COMBINATIONS:,} can be compared.",
                remedy="Protect fewer attributes at once, or group the values of a number "
                "into bins.",
                setting="protected",
            )
        return np.array(
            list(product(*(self.attributes[i].compared for i in self.protected))), dtype=float
        )

    @cached_property
    def rules(self) -> tuple[Constraint, ...]:
        """The constraints, read; without those that say what determines what.

        Raises
        ------
        SpecError
            When one cannot be read, or speaks of what determines what without what was learned.
        """
        parsed = [parse(text, self.attributes) for text in self.constraints]
        learned = {(each.attribute, each.by) for each in self.determined}
        for each in parsed:
            if isinstance(each, Dependence) and (each.attribute, each.by) not in learned:
                raise SpecError(
                    f"The values for “{each.text}” were not learned from the data.",
                    remedy="Create the audit again from its data.",
                )
        return tuple(each for each in parsed if isinstance(each, Constraint))

    @cached_property
    def all_rules(self) -> tuple[Constraint, ...]:
        """The constraints, and those that `support` adds, read."""
        parsed = (parse(text, self.attributes) for text in self.support.constraints)
        return (*self.rules, *(each for each in parsed if isinstance(each, Constraint)))

    @property
    def has_constraints(self) -> bool:
        """Whether there is anything beyond ranges that a person must fulfil."""
        return bool(self.constraints or self.determined or self.support)

    @cached_property
    def every_combination(self) -> Domain:
        """The same domain with every comparison of protected values, supported by data or not."""
        parsed = (parse(text, self.attributes) for text in self.constraints)
        own = {(each.attribute, each.by) for each in parsed if isinstance(each, Dependence)}
        return Domain(
            self.attributes,
            self.constraints,
            tuple(each for each in self.determined if (each.attribute, each.by) in own),
            self.unseen,
        )

    @cached_property
    def with_proposed(self) -> Domain:
        """The same domain as if the proposed companions were confirmed."""
        support = msgspec.structs.replace(
            self.support, companions=(*self.support.companions, *self.support.proposed), proposed=()
        )
        return Domain(self.attributes, self.constraints, self.determined, self.unseen, support)

    @property
    def resembles_data(self) -> bool:
        """Whether only instances that resemble rows of the data are allowed."""
        return False

    def similar(self, rows: Rows) -> Rows:
        """Return the similar sets of rows: each with every combination of protected values.

        What is determined by a protected value follows it, and companions change with theirs.
        `members` tells which of these are compared.

        Returns
        -------
        Rows
            ``(n, C, d)``; ``[:, c]`` has the protected values ``combinations[c]``.
        """
        everyone = np.repeat(rows[:, None, :], len(self.combinations), axis=1)
        everyone[:, :, self.protected] = self.combinations
        return self.apply_dependencies(everyone)

    def members(self, rows: Rows) -> tuple[Rows, NDArray[np.bool_]]:
        """Return the similar sets of rows of the domain, and which members are compared.

        A row itself is one of them. Another one must fulfil the constraints and be supported by
        the data; a row that contradicts what they support is compared with none.

        Returns
        -------
        similar : Rows
            ``(n, C, d)``, as of `similar`.
        compared : NDArray[np.bool_]
            ``(n, C)``.
        """
        similar = self.similar(rows)
        compared = self.allowed(similar.reshape(-1, rows.shape[1])).reshape(similar.shape[:2])
        if self.support:
            own = self.combination_of(rows)
            compared &= self.allowed(rows)[:, None] & self._common_beside(own)
            compared[np.arange(len(rows)), own] = self._fulfils(rows)
        return similar, compared

    def is_compared(self, rows: Rows) -> NDArray[np.bool_]:
        """Return which rows of the domain the data support a comparison for: ``(n,)``."""
        if not self.support:
            return np.ones(len(rows), dtype=np.bool_)
        _, compared = self.members(rows)
        return np.asarray(compared.sum(axis=1) > 1)

    def possible(self, similar: Rows) -> NDArray[np.bool_]:
        """Return which members of ``(n, C, d)`` similar sets there may be, whoever is compared.

        Values that too few rows have are left out.
        """
        allowed = self.allowed(similar.reshape(-1, similar.shape[2]))
        return np.asarray(allowed.reshape(similar.shape[:2]) & self.common)

    def comparable(self, place: int) -> NDArray[np.bool_]:
        """Return which compared values of a protected attribute enough rows have: ``(v,)``.

        Parameters
        ----------
        place : int
            The attribute's place among the protected ones.
        """
        attribute = self.attributes[self.protected[place]]
        rare = {code for name, code in self.support.rare if name == attribute.name}
        return np.array([code not in rare for code in attribute.compared], dtype=np.bool_)

    @cached_property
    def _digits(self) -> NDArray[np.intp]:
        """``(p, C)``; the place of each combination's value among those of its attribute."""
        sizes = [len(self.attributes[i].compared) for i in self.protected]
        numbers = np.arange(len(self.combinations))
        return np.array(np.unravel_index(numbers, sizes), dtype=np.intp).reshape(len(sizes), -1)

    @cached_property
    def common(self) -> NDArray[np.bool_]:
        """``(C,)``; which combinations consist of values that enough rows have."""
        fine = np.ones(len(self.combinations), dtype=np.bool_)
        for place, digits in enumerate(self._digits):
            fine &= self.comparable(place)[digits]
        return fine

    def _common_beside(self, own: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return which combinations have no rare value but those of the own one: ``(n, C)``."""
        fine = np.ones((len(own), len(self.combinations)), dtype=np.bool_)
        for place, digits in enumerate(self._digits):
            fine &= self.comparable(place)[digits] | (digits == digits[own][:, None])
        return fine

    def counterparts(self, rows: Rows, combination: NDArray[np.intp]) -> Rows:
        """Return of each row's similar set one member: ``(n, d)``.

        Parameters
        ----------
        rows : Rows
            ``(n, d)``.
        combination : NDArray[np.intp]
            ``(n,)``; which, by its place in ``combinations``.
        """
        others = rows.copy()
        others[:, self.protected] = self.combinations[combination]
        return self.apply_dependencies(others)

    def apply_dependencies(self, rows: Rows) -> Rows:
        """Set companions, and the attributes that others determine, to what follows from those.

        Parameters
        ----------
        rows : Rows
            ``(..., d)``; changed in place, and given back. NaN where what follows is not known.
        """
        for target, source, each in self._companions:
            rows[..., target] = each.follow(rows[..., source], rows[..., target])
        return self.determine(rows)

    def determine(self, rows: Rows) -> Rows:
        """Set the attributes that others determine, in place, as `apply_dependencies`."""
        for target, source, each in self._followers:
            rows[..., target] = each.follow(rows[..., source])
        return rows

    @cached_property
    def _followers(self) -> tuple[tuple[int, int, Determined], ...]:
        return tuple(
            (self.names.index(each.attribute), self.names.index(each.by), each)
            for each in in_order(self.determined)
        )

    def allowed(self, rows: Rows) -> NDArray[np.bool_]:
        """Return for each of ``(n, d)`` rows within the ranges whether there may be such a row.

        It fulfils the constraints, and has no values together that the data do not support. A
        constraint is broken where it is false, not where missing cells keep it from being decided.
        """
        fine = self._fulfils(rows, self.all_rules)
        for target, source, each in (*self._companions, *self._proposed):
            fine &= rows[:, target] == each.follow(rows[:, source], rows[:, target])
        return fine

    def _fulfils(
        self, rows: Rows, rules: tuple[Constraint, ...] | None = None
    ) -> NDArray[np.bool_]:
        """Return which rows fulfil constraints, by default those of the auditor: ``(n,)``."""
        fine = np.ones(len(rows), dtype=np.bool_)
        for target, source, each in self._followers:
            fine &= rows[:, target] == each.follow(rows[:, source])
        for constraint in self.rules if rules is None else rules:
            fine &= constraint.holds(rows)
        return fine

    def snap(self, rows: Rows) -> tuple[Rows, NDArray[np.intp]]:
        """Put rows into the ranges: clipped, and protected values at the nearest compared ones.

        What is determined follows; constraints may be broken by that: see `admit`.

        Returns
        -------
        rows : Rows
            ``(n, d)``; a copy.
        combination : NDArray[np.intp]
            ``(n,)``; the index of each row's own combination of protected values.
        """
        snapped = self.clip(rows)
        combination = self.combination_of(snapped)
        snapped[:, self.protected] = self.combinations[combination]
        return self.determine(snapped), combination

    def combination_of(self, rows: Rows) -> NDArray[np.intp]:
        """Return the index of the nearest combination of compared values of rows, ``(n,)``."""
        combination = np.zeros(len(rows), dtype=np.intp)
        for position in self.protected:
            attribute = self.attributes[position]
            nearest = attribute.nearest_compared(rows[:, position])
            combination = combination * len(attribute.compared) + nearest
        return combination

    def admit(self, rows: Rows) -> tuple[Rows, NDArray[np.intp]]:
        """Bring rows into the domain, as `snap` does, and leave out whom it cannot hold.

        Where the nearest compared values break a constraint, the member of the similar set is
        taken that changes the fewest protected attributes; where all do, the row is left out.

        Returns
        -------
        rows : Rows
            ``(m, d)``, ``m <= n``; all of them in the domain.
        combination : NDArray[np.intp]
            ``(m,)``; the index of each row's own combination of protected values.
        """
        snapped, combination = self.snap(rows)
        if not self.has_constraints:
            return snapped, combination
        fine = self._admitted(snapped)
        bad = np.flatnonzero(~fine)
        for part in np.array_split(bad, max(1, bad.size * len(self.combinations) // 100_000)):
            members = self.similar(snapped[part])
            possible = self.allowed(members.reshape(-1, rows.shape[1])).reshape(members.shape[:2])
            own = self.combinations[combination[part]][:, None, :]
            changed = (own != self.combinations).sum(axis=2)
            chosen = np.where(possible, changed, len(self.protected) + 1).argmin(axis=1)
            each = np.arange(len(part))
            combination[part], snapped[part] = chosen, members[each, chosen]
            fine[part] = possible[each, chosen]
        return snapped[fine], combination[fine]

    def _admitted(self, rows: Rows) -> NDArray[np.bool_]:
        """Return which rows of the data a search can start from: what they support is no matter."""
        return self._fulfils(rows)

    def clip(self, codes: Rows, positions: NDArray[np.intp] | slice = slice(None)) -> Rows:
        """Return codes on the grid of their attributes, within the range.

        Parameters
        ----------
        codes : Rows
            ``(..., m)``; whole rows, or the codes of the attributes at ``positions``.
        positions : NDArray[np.intp] or slice
            ``(m,)``; by default all attributes.
        """
        grid, low = self.grid[positions], self.low[positions]
        if self.stepped.size:
            step = self.spacing[positions]
            on_step = low + np.round((codes - low) / np.where(step > 0, step, 1.0)) * step
            codes = np.where(step > 0, on_step, codes)
        return np.clip(np.round(codes * grid) / grid, low, self.high[positions])

    def contains(self, rows: Rows) -> NDArray[np.bool_]:
        """Return for each row whether it is in the domain.

        In range, whole where it must be, on the attribute's step, and without a broken
        constraint.
        """
        inside = ((rows >= self.low) & (rows <= self.high)).all(axis=1)
        inside &= (rows[:, self.integral] == np.round(rows[:, self.integral])).all(axis=1)
        if self.stepped.size:
            codes = rows[:, self.stepped]
            inside &= (codes == self.clip(codes, self.stepped)).all(axis=1)
        if self.has_constraints:
            inside[inside] = self._admitted(rows[inside])
        return np.asarray(inside)

    def sample(self, rng: np.random.Generator, n: int, people: Rows | None = None) -> Rows:
        """Draw people uniformly from the domain: ``(n, d)``; for the rest see `draw`."""
        return np.concatenate([*self.draw(rng, n, n, people), np.empty((0, len(self.attributes)))])

    def draw(
        self, rng: np.random.Generator, n: int, batch: int, people: Rows | None = None
    ) -> Iterator[Rows]:
        """Draw people uniformly, batch by batch; protected values are among the compared ones.

        With constraints by rejection: everybody who fulfils them is equally likely, and batches
        grow while few do.

        Parameters
        ----------
        batch : int
            At most so many are given at once.
        people : Rows, optional
            ``(m, d)``, ``m >= 1``; of one of them, drawn for each, the attributes are taken that
            are fixed. By default these are drawn like all others.

        Yields
        ------
        Rows
            ``(0 to batch, d)``; ``n`` in all.

        Raises
        ------
        SpecError
            When nearly nobody fulfils the constraints: fewer than 1 in 100,000 of a million.
        """
        given = drawn = 0
        tries = batch
        while given < n:
            rows = self._draw_unconstrained(
                rng, min(tries, n - given) if not self.has_constraints else tries, people
            )
            drawn += len(rows)
            if self.has_constraints:
                rows = rows[self.allowed(rows)][: n - given]
                if drawn >= _MOST_DRAWN and (given + len(rows)) * _RAREST < drawn:
                    raise SpecError(
                        "Almost no combination satisfies the constraints: fewer than 1 in "
                        f"{_RAREST:,} of the instances drawn at random.",
                        why=f"Of {drawn:,} drawn, {given + len(rows):,} satisfied them.",
                        remedy=(
                            "Relax the constraints, narrow the ranges to where they are "
                            "satisfied, or choose a method that starts from data rows."
                        ),
                    )
                if len(rows) < batch // 2:
                    tries = min(2 * tries, max(batch, _MOST_AT_ONCE))
            given += len(rows)
            for start in range(0, max(len(rows), 1), batch):
                yield rows[start : start + batch]

    def _draw_unconstrained(self, rng: np.random.Generator, n: int, people: Rows | None) -> Rows:
        """Draw ``(n, d)`` people, whether or not they fulfil the constraints."""
        rows = np.empty((n, len(self.attributes)))
        # one attribute at a time: all at once would take NumPy twice as long
        for i, (low, high, spacing) in enumerate(
            zip(self.low, self.high, self.spacing, strict=True)
        ):
            if spacing > 0:
                steps = int(np.round((high - low) / spacing))
                rows[:, i] = low + rng.integers(0, steps, n, endpoint=True) * spacing
            else:
                rows[:, i] = self.clip(rng.uniform(low, high, (n, 1)), np.array([i]))[:, 0]
        if self.stepped.size:
            rows[:, self.stepped] = self.clip(rows[:, self.stepped], self.stepped)
        if self.combination_count <= MOST_COMBINATIONS:
            chosen = self.combinations[rng.integers(len(self.combinations), size=n)]
            rows[:, self.protected] = chosen
        else:  # each as likely as any other, too
            for i in self.protected:
                rows[:, i] = rng.choice(self.attributes[i].compared, n)
        if people is not None and self.fixed.size:
            real = people[rng.integers(len(people), size=n)]
            rows[:, self.fixed] = real[:, self.fixed]
        return self.determine(rows)

    def encode(self, table: Table) -> Rows:
        """Bring a table's rows into this domain's codes: as `attributes.encode`."""
        return encode(self.attributes, table)

    def people(self, table: Table) -> Rows:
        """Return the table's rows from which a search can start: those that are not set aside.

        Numbers outside a narrowed range are left out too, so that nobody is bent into it; those
        between two steps are not: a search begins at the nearest.
        """
        rows = self.encode(table)
        return np.asarray(rows[self._reasons(table, rows) < 0])

    def places(self, table: Table) -> NDArray[np.intp]:
        """Return where in the table `people` stand: the positions of their rows, from 0."""
        return np.flatnonzero(self._reasons(table, self.encode(table)) < 0)

    def set_aside(self, table: Table) -> tuple[ExcludedRows, ...]:
        """Count the table's rows that no search can start from, by their first reason.

        The order: a missing cell, by the order of the attributes; a value that is not allowed,
        likewise; a broken constraint, by their order. Reasons without rows are left out; the
        rest of the table's rows are `people`.
        """
        counts = np.bincount(self._reasons(table, self.encode(table)) + 1, minlength=1)[1:]
        reasons: list[tuple[Literal["missing", "outside", "constraint"], str]] = [
            *(("missing", name) for name in self.names),
            *(("outside", name) for name in self.names),
            *(("constraint", text) for text in self._rule_texts),
        ]
        return tuple(
            ExcludedRows(reason, what, count)
            for (reason, what), count in zip(reasons, counts.tolist(), strict=False)
            if count
        )

    @property
    def _rule_texts(self) -> tuple[str, ...]:
        """The texts of what `_reasons` looks at, in its order."""
        dependences = [Dependence(each.attribute, each.by).text for _, _, each in self._followers]
        return (*dependences, *(constraint.text for constraint in self.rules))

    def _reasons(self, table: Table, rows: Rows) -> NDArray[np.intp]:
        """Return for each row the place of its first reason in `set_aside`; -1 for none."""
        d = len(self.attributes)
        reasons = np.full(len(rows), -1, dtype=np.intp)

        def note(number: int, so: NDArray[np.bool_]) -> None:
            reasons[(reasons < 0) & so] = number

        for i, attribute in enumerate(self.attributes):
            if not attribute.unknown:
                note(i, np.isnan(table.codes[:, table.index(attribute.name)]))
        for i in range(d):
            note(d + i, ~((rows[:, i] >= self.low[i]) & (rows[:, i] <= self.high[i])))
        if self.has_constraints:
            inside = np.flatnonzero(reasons < 0)
            broken = np.zeros(len(rows), dtype=np.bool_)
            for i, (target, source, each) in enumerate(self._followers):
                broken[inside] = rows[inside, target] != each.follow(rows[inside, source])
                note(2 * d + i, broken)
            for i, constraint in enumerate(self.rules):
                broken[inside] = ~constraint.holds(rows[inside])
                note(2 * d + len(self._followers) + i, broken)
        return reasons

    def _with_role(self, role: Role) -> NDArray[np.intp]:
        return np.array(
            [i for i, attribute in enumerate(self.attributes) if attribute.role is role],
            dtype=np.intp,
        )
