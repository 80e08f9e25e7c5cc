"""Checking a certificate again, by other means than it was made with.

Nothing here bounds a network or counts inside a box: that is what is to be checked. Instead:

* arithmetic: the roots are the whole domain and share no point, the leaves are the whole of the
  roots, and the totals follow from what the leaves say, in whole numbers;
* the model itself is asked about points of the leaves, drawn at random, and about every point of
  small ones that were counted;
* leaves are proven once more by other bounds (`fairdesk.certify.proof.reproof`), as many as the
  time allows: the largest, and some drawn at random; or all of them;
* a solver (z3) looks in some leaves for somebody of whom the opposite of the verdict is true, in
  exact rational arithmetic.

What is trusted: the file of the model, by its fingerprint, and the process that runs it, for its
answers. A model that runs code of its own could answer otherwise when it is checked; one that is
read as data cannot. What is drawn at random is told: it can refute a certificate, not prove it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from time import perf_counter
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.domain.space import Axis, Places, Space
from fairdesk.certify.proof.certificate import (
    CONSISTENT,
    COUNTED,
    DISCRIMINATORY,
    NOBODY,
    UNDECIDED,
    AxisOf,
    Header,
    leaves,
)
from fairdesk.certify.proof.points import Points, Predict
from fairdesk.certify.proof.reproof_check import Claims, Reprove, check_again, stated_shares
from fairdesk.data.domain.attributes import Role
from fairdesk.data.domain.domain import Domain
from fairdesk.errors import SpecError
from fairdesk.individual.shares.intervals import clopper_pearson
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.results.events import Rows

Arrays = Mapping[str, NDArray[Any]]
Nodes = NDArray[np.int64]
#: What kinds of leaves are called.
KINDS = {
    UNDECIDED: "undecided",
    CONSISTENT: "certified",
    DISCRIMINATORY: "falsified",
    COUNTED: "counted",
    NOBODY: "nobody may be there",
}
#: So unlikely it is that chance alone refutes a true certificate.
_CHANCE = 1e-4
#: Leaves with a count or a share and at most so many points are counted, and so many of them.
_SMALL, _RECOUNTED = 4_096, 200
#: So many undecided leaves are looked at one by one, with so many points each.
_SINGLE, _POINTS = 20, 200
#: Rows sent to the model at once, and in all, at most.
_AT_ONCE, _MOST_ROWS = 50_000, 4_000_000
#: Leaves that the solver is given at once, and in all, at most.
_SOLVED_AT_ONCE, _SOLVED = 8, 200
#: Failures that are told one by one.
_MOST_MESSAGES = 5
#: Nor may it think about one of them for more than so many seconds.
_LONGEST = 30.0
#: Of more points in a box only that there are so many matters.
_LARGEST = 10**300
#: Real people that are looked up.
_MOST_PEOPLE = 2_000


class Check(msgspec.Struct, frozen=True):
    """One way of checking.

    Attributes
    ----------
    name : str
        What is checked, in a few words.
    tried : int
        How many leaves, points or numbers were.
    failed : int
        How many of them contradict the certificate.
    unknown : int
        Of how many no answer was had.
    remarks : tuple[str, ...]
        What failed and where, or why nothing was tried: a sentence each.
    """

    name: str
    tried: int = 0
    failed: int = 0
    unknown: int = 0
    remarks: tuple[str, ...] = ()


class SolverVerdicts(NamedTuple):
    """What a solver says of boxes.

    Attributes
    ----------
    verdict : NDArray[np.int64]
        ``(B,)``; 0: nobody is there of whom the opposite is true; 1: somebody may be; -1: it does
        not know.
    places : Places
        ``(B, a)``; that somebody.
    """

    verdict: NDArray[np.int64]
    places: Places


#: ``solve(low, high, group, discriminatory, seconds)``: whether anybody in boxes, ``(B, a)``, of
#: these rows of `Header.may_be` is discriminatory, or where ``discriminatory`` consistent, within
#: so many seconds for each.
Solve = Callable[
    [Places, Places, NDArray[np.int64], NDArray[np.bool_], float],
    SolverVerdicts,
]


def verify(
    header: Header,
    arrays: Arrays,
    predict: Predict,
    solve: Solve | None = None,
    prove: Reprove | None = None,
    *,
    everything: bool = False,
    sample: int,
    seconds: float,
    rng: np.random.Generator,
    people: Rows | None = None,
) -> Iterator[Check]:
    """Check a certificate again.

    Parameters
    ----------
    header : Header
        Of the certificate.
    arrays : mapping
        Its arrays, as `fairdesk.certify.proof.certificate.read` gives them.
    predict : callable
        Asks the model about ``(n, d)`` rows of the header's domain.
    solve : callable, optional
        Asks a solver; without it none is.
    prove : callable, optional
        Proves boxes once more; without it none is.
    everything : bool
        Whether all boxes are proven once more, however long that takes.
    sample : int
        So many points are drawn from the leaves of each kind; 0 for none.
    seconds : float
        To prove boxes once more may take so long in all, and so may the solver.
    rng : np.random.Generator
        Draws leaves and points.
    people : Rows, optional
        ``(n, d)``; real people of the domain, who are then asked about too.

    Yields
    ------
    Check
        One after the other; the certificate holds when none of them has failed.

    Raises
    ------
    CertificateError
        When its boxes are no tree.
    """
    proof = _Proof(header, arrays, predict)
    yield _domain_check(header, arrays)
    yield proof.walk()
    yield proof.totals()
    if sample:
        yield proof.members(sample, rng)
        yield proof.certified(CONSISTENT, sample, rng)
        yield proof.certified(DISCRIMINATORY, sample, rng)
        yield proof.falsified(rng, everything=everything)
        yield proof.recounted(rng)
        yield proof.shares(sample, rng)
    if people is not None and len(people):
        yield proof.people(people, rng)
    if prove is not None and (seconds > 0 or everything):
        yield proof.proven_again(prove, seconds, rng, everything=everything)
    if solve is not None and seconds > 0:
        yield proof.solved(solve, seconds, rng)


def _domain_check(header: Header, arrays: Arrays) -> Check:
    """Check that the axes hold the domain's values, and that the roots are all of them, once."""
    messages = [
        f"The values along “{axis.attribute}” are not those of the domain."
        for axis in header.axes
        if not _is_whole(axis, header.domain)
    ]
    domain = header.domain
    low, high = (arrays[name].astype(np.int64) for name in ("root_low", "root_high"))
    if not _disjoint(low, high):
        messages.append("Some points are in two of the roots.")
    fixed = [
        i
        for i, axis in enumerate(header.axes)
        if domain.attributes[domain.names.index(axis.attribute)].role is Role.FIXED and axis.codes
    ]
    if fixed and not (low[:, fixed] == high[:, fixed]).all():
        messages.append("Some roots join several combinations of fixed values.")
    whole_size = math.prod(axis.count for i, axis in enumerate(header.axes) if i not in fixed)
    once = len(np.unique(low[:, fixed], axis=0)) if fixed else 1
    if sum(_volumes(low, high)) != whole_size * once:
        messages.append("The roots are not the whole domain.")
    return Check(
        "The roots are the whole domain, once", len(low), len(messages), 0, tuple(messages)
    )


def _is_whole(axis: AxisOf, domain: Domain) -> bool:
    """Return whether an axis has the values of its attribute, each once."""
    position = domain.names.index(axis.attribute)
    at = np.array([position])
    if axis.codes and domain.attributes[position].role is Role.FIXED:
        # whichever of them the data have
        codes = np.array(axis.codes)[:, None]
        return np.array_equal(domain.clip(codes, at), codes)
    low, grid = float(domain.low[position]), float(domain.grid[position])
    spacing = float(domain.spacing[position]) or 1.0 / grid
    if axis.count != round((float(domain.high[position]) - low) / spacing) + 1:
        return False
    if not axis.codes:
        return (axis.low, axis.spacing, axis.grid) == (low, spacing, grid)
    values: Rows = low + np.arange(axis.count, dtype=np.float64) * spacing
    wanted = domain.clip(values[:, None], at)
    return np.array_equal(np.sort(axis.codes), wanted[:, 0])


def _disjoint(low: Places, high: Places) -> bool:
    """Return whether boxes share no point: by halving them along the axis that tells most apart."""
    waiting = [(low, high)]
    while waiting:
        low, high = waiting.pop()
        n = len(low)
        cut = low.mean(axis=0).astype(np.int64) if n > 256 else None
        both = n
        if cut is not None:
            straddling = ((low <= cut) & (high > cut)).sum(axis=0)
            largest = np.maximum((high <= cut).sum(axis=0), (low > cut).sum(axis=0))
            axis = int((straddling + largest).argmin())
            both = int(straddling[axis] + largest[axis])
        if cut is None or both >= n:
            if not _pairs_apart(low, high):
                return False
            continue
        left, right = low[:, axis] <= cut[axis], high[:, axis] > cut[axis]
        waiting += [(low[chosen], high[chosen]) for chosen in (left, right)]
    return True


def _pairs_apart(low: Places, high: Places) -> bool:
    for start in range(0, len(low), 64):
        mine_low, mine_high = low[start : start + 64, None], high[start : start + 64, None]
        meet = ((mine_low <= high) & (mine_high >= low)).all(axis=2)
        if meet.sum() != len(mine_low):  # with itself
            return False
    return True


def _volumes(low: Places, high: Places) -> list[int]:
    """Count the points of boxes, in whole numbers of any size."""
    widths = high - low + 1
    if widths.astype(np.float64).prod(axis=1).max(initial=0.0) < 2.0**52:
        exact: list[int] = widths.prod(axis=1).tolist()
        return exact
    return [math.prod(row) for row in widths.tolist()]


class _Proof:
    """A certificate that is being checked."""

    def __init__(self, header: Header, arrays: Arrays, predict: Predict) -> None:
        self._header, self._arrays = header, arrays
        self._domain, self._points = header.domain, Points(header, predict)
        self._nodes: dict[int, Nodes] = {}
        self._sizes: dict[int, NDArray[np.float64]] = {}
        self._total = 0
        self._proven = {"consistent": [0, 0], "discriminatory": [0, 0]}
        n = len(arrays["first"])
        inner = np.flatnonzero(arrays["first"] >= 0)
        self._parent = np.full(n, -1, dtype=np.int64)
        for step in (0, 1):
            self._parent[arrays["first"][inner].astype(np.int64) + step] = inner

    # what the file says

    def walk(self) -> Check:
        """Walk through all leaves, and add up what they say."""
        header, arrays = self._header, self._arrays
        somebody = np.array([any(row) for row in header.may_be], dtype=np.bool_)
        inhabited = somebody[list(header.groups)]
        unclear = np.zeros(len(header.groups), dtype=np.bool_)
        unclear[list(header.unclear)] = True
        inhabited |= unclear
        roots = arrays["root_low"].astype(np.int64), arrays["root_high"].astype(np.int64)
        left = sum(_volumes(*roots))
        nodes: dict[int, list[Nodes]] = {kind: [] for kind in KINDS}
        sizes: dict[int, list[NDArray[np.float64]]] = {kind: [] for kind in KINDS}
        messages: list[str] = []
        failed = count = 0
        for part in leaves(arrays):
            verdict = arrays["verdict"][part.nodes]
            volumes = _volumes(part.low, part.high)
            left -= sum(volumes)
            count += len(volumes)
            nobody = verdict == NOBODY
            wrong = np.flatnonzero(nobody == inhabited[part.root])
            wrong = np.union1d(
                wrong,
                np.flatnonzero(
                    unclear[part.root] & ((verdict == CONSISTENT) | (verdict == DISCRIMINATORY))
                ),
            )
            failed += len(wrong)
            messages += [
                f"Box {part.nodes[i]} says “{KINDS[int(verdict[i])]}”, which cannot be there."
                for i in wrong[: _MOST_MESSAGES - len(messages)].tolist()
            ]
            self._add(part.nodes, verdict, volumes)
            # what a float cannot hold is drawn as if it could just be held
            floats = np.array([float(min(size, _LARGEST)) for size in volumes])
            for kind in KINDS:
                own = verdict == kind
                nodes[kind].append(part.nodes[own])
                sizes[kind].append(floats[own])
        if left:
            failed += 1
            messages.append(f"The boxes’ points differ from those of the domain by {left:,}.")
        self._nodes = {kind: np.concatenate(each) for kind, each in nodes.items()}
        self._sizes = {kind: np.concatenate(each) for kind, each in sizes.items()}
        return Check("The boxes are the whole domain, once", count, failed, 0, tuple(messages))

    def _add(self, nodes: Nodes, verdict: NDArray[Any], volumes: list[int]) -> None:
        """Add up what leaves prove: the most that they can be read to say, and the least."""
        consistent, discriminatory = (
            self._arrays[name][nodes].tolist() for name in ("consistent", "discriminatory")
        )
        for i, (kind, size) in enumerate(zip(verdict.tolist(), volumes, strict=True)):
            if kind == NOBODY:
                continue
            self._total += size
            if kind == COUNTED:
                hits = round(size * discriminatory[i])
                both = {"discriminatory": (hits, hits), "consistent": (size - hits, size - hits)}
            elif kind == UNDECIDED:
                both = {
                    "consistent": _between(size, consistent[i]),
                    "discriminatory": _between(size, discriminatory[i]),
                }
            else:
                both = {"consistent" if kind == CONSISTENT else "discriminatory": (size, size)}
            for name, (least, most) in both.items():
                self._proven[name][0] += least
                self._proven[name][1] += most

    def totals(self) -> Check:
        """Check that the totals and shares follow from the leaves."""
        header, messages = self._header, []
        total, certified, falsified, undecided = (
            int(each)
            for each in (header.total, header.certified, header.falsified, header.undecided)
        )
        if total != self._total:
            messages.append(f"It speaks of {total:,} points, and the boxes hold {self._total:,}.")
        if total != certified + falsified + undecided:
            messages.append("What is certified, falsified and undecided are not the whole.")
        for what, stated, name in (
            ("certified", certified, "consistent"),
            ("falsified", falsified, "discriminatory"),
        ):
            least, most = self._proven[name]
            if not least <= stated <= most:
                messages.append(
                    f"It says that {stated:,} points are {what}; its boxes say {most:,}."
                )
        for what, share, part, up in (
            ("certified", header.certified_share, certified, False),
            ("falsified", header.falsified_share, falsified, False),
            ("undecided", header.undecided_share, undecided, True),
        ):
            exact = Fraction(part, total) if total else Fraction(0)
            off = Fraction(share) - exact
            if (off < 0 if up else off > 0) or abs(off) > Fraction(1, 1 << 50):
                messages.append(f"The share that is {what} is not {share!r}.")
        return Check("The totals follow from the boxes", 7, len(messages), 0, tuple(messages))

    def members(self, sample: int, rng: np.random.Generator) -> Check:
        """Check with random points of the roots who may be there, by the domain's constraints."""
        name = "Who may be, by the constraints"
        header, domain = self._header, self._domain
        may_be = np.array(header.may_be, dtype=np.bool_)
        if not domain.has_constraints:
            wrong = int((~may_be).sum()) + len(header.unclear)
            why = "There are no constraints, and yet some may not be."
            return Check(name, may_be.size, wrong, remarks=(why,) if wrong else ())
        clear = np.setdiff1d(np.arange(len(header.groups)), header.unclear)
        if not len(clear):
            return Check(name, remarks=("It is not told: everybody was asked about one by one.",))
        root = rng.choice(clear, size=max(100, min(sample, _MOST_ROWS // may_be.shape[1])))
        low, high = (self._arrays[each][root] for each in ("root_low", "root_high"))
        places = rng.integers(low, high, endpoint=True, dtype=np.int64)
        wrong = 0
        messages: tuple[str, ...] = ()
        at_once = max(1, _AT_ONCE // may_be.shape[1])
        for start in range(0, len(places), at_once):
            part = slice(start, start + at_once)
            similar = domain.similar(self._points.rows(places[part]))
            allowed = domain.allowed(similar.reshape(-1, similar.shape[2]))
            stated = may_be[np.array(header.groups)[root[part]]]
            differ = (allowed.reshape(stated.shape) != stated).any(axis=1)
            wrong += int(differ.sum())
            messages += tuple(
                f"In root {root[start + i]} others may be: "
                f"{self._points.person(places[start + i])}."
                for i in np.flatnonzero(differ)[: _MOST_MESSAGES - len(messages)].tolist()
            )
        return Check(name, len(places), wrong, remarks=messages)

    # what the model says

    def certified(self, kind: int, sample: int, rng: np.random.Generator) -> Check:
        """Ask about points of leaves said to be consistent, or discriminatory, as a whole."""
        name = f"People in {KINDS[kind]} boxes, asked of the model"
        nodes, sizes = self._nodes[kind], self._sizes[kind]
        if not len(nodes):
            return Check(name, remarks=("There are no such boxes.",))
        n = self._affordable(sample)
        # half of them are each as likely as any other person, half of each box as likely
        chosen = np.concatenate(
            [
                rng.choice(nodes, size=n - n // 2, p=sizes / sizes.sum()),
                rng.choice(nodes, size=n // 2),
            ]
        )
        low, high, _ = self._boxes(chosen)
        places = rng.integers(low, high, endpoint=True)
        discriminatory = self._points.differ(places)
        wrong = np.flatnonzero(discriminatory if kind == CONSISTENT else ~discriminatory)
        return Check(
            name,
            len(places),
            len(wrong),
            remarks=tuple(
                f"In box {chosen[i]}: {self._points.person(places[i])} is treated "
                f"{'unlike' if kind == CONSISTENT else 'alike'}."
                for i in wrong[:_MOST_MESSAGES]
            ),
        )

    def falsified(self, rng: np.random.Generator, *, everything: bool) -> Check:
        """Ask about each leaf in which everybody is said to be discriminatory: two of its points.

        Of more leaves than can be asked about so many are drawn, unless ``everything`` is.
        """
        name = "Every falsified box, asked of the model"
        nodes = self._nodes[DISCRIMINATORY]
        if not len(nodes):
            return Check(name, remarks=("There are no such boxes.",))
        most = _MOST_ROWS // (2 * len(self._domain.combinations))
        chosen = nodes if everything or len(nodes) <= most else rng.choice(nodes, most)
        wrong = np.zeros(len(chosen), dtype=np.bool_)
        messages: list[str] = []
        for start in range(0, len(chosen), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            low, high, _ = self._boxes(chosen[part])
            for places in (low, rng.integers(low, high, endpoint=True)):
                consistent = np.flatnonzero(~self._points.differ(places))
                wrong[start + consistent] = True
                messages += [
                    f"In box {chosen[start + i]}: {self._points.person(places[i])} is treated "
                    "alike."
                    for i in consistent[: _MOST_MESSAGES - len(messages)].tolist()
                ]
        if len(chosen) < len(nodes):
            messages.append(
                f"So many were drawn of {len(nodes):,}; with “fairdesk verify --all” every one is "
                "asked about."
            )
        return Check(name, len(chosen), int(wrong.sum()), remarks=tuple(messages))

    def proven_again(
        self, prove: Reprove, seconds: float, rng: np.random.Generator, *, everything: bool
    ) -> Check:
        """Prove what leaves state once more, by other code: as many as the time allows, or all."""
        name = "Boxes, proven once more by other bounds"
        kinds = (CONSISTENT, DISCRIMINATORY, COUNTED, UNDECIDED)
        nodes = np.concatenate([self._nodes[kind] for kind in kinds])
        sizes = np.concatenate([self._sizes[kind] for kind in kinds])
        stated = stated_shares(self._arrays, nodes, sizes)
        some = np.flatnonzero((stated > 0.0).any(axis=1))
        if not len(some):
            return Check(name, remarks=("Nothing is stated of any box.",))
        low, high, root = self._boxes(nodes[some])
        group = np.array(self._header.groups, dtype=np.int64)
        group[list(self._header.unclear)] = -1
        group = group[root]
        size = sizes[some] / sizes[some].sum()
        claims = Claims(nodes[some], low, high, group, stated[some], size)
        try:
            came = check_again(
                claims, self._points, prove, rng, seconds=seconds, everything=everything
            )
        except SpecError as error:
            return Check(name, len(some), 0, len(some), (str(error),))
        return Check(name, *came)

    def recounted(self, rng: np.random.Generator) -> Check:
        """Count small leaves of which a number or a share is told."""
        name = "Small boxes with a count or a share, counted"
        nodes, sizes = (
            np.concatenate([each[COUNTED], each[UNDECIDED]]) for each in (self._nodes, self._sizes)
        )
        small = np.flatnonzero(sizes <= _SMALL)
        if not len(small):
            return Check(name, remarks=("There are no such boxes.",))
        room, members = _MOST_ROWS, len(self._domain.combinations)
        messages: list[str] = []
        tried = 0
        for i in rng.permutation(small)[:_RECOUNTED].tolist():
            points = int(sizes[i])
            room -= points * members
            if room < 0 and tried:
                break
            tried += 1
            node = nodes[i]
            low, high, _ = self._boxes(nodes[i : i + 1])
            hits = int(self._points.differ(_everybody(low[0], high[0])).sum())
            consistent, discriminatory = (
                float(self._arrays[each][node]) for each in ("consistent", "discriminatory")
            )
            least, most = points * discriminatory, points * (1 - consistent)
            if self._arrays["verdict"][node] == COUNTED:
                least = most = round(least)
            if not least - 1e-9 <= hits <= most + 1e-9:
                messages.append(
                    f"In box {node} {hits:,} of {points:,} are treated unlike, which is not what "
                    "it says."
                )
        return Check(name, tried, len(messages), remarks=tuple(messages[:_MOST_MESSAGES]))

    def shares(self, sample: int, rng: np.random.Generator) -> Check:
        """Draw from leaves of which a share is proven, and see whether that contradicts it.

        All of them together, each point as likely as any other, and the heaviest one by one. One
        is refuted where the exact one-sided interval (Clopper and Pearson) of what is found leaves
        no room for what is stated; so seldom that it happens by chance to one of all these at
        most once in ten thousand times.
        """
        name = "Shares of undecided boxes, beside random people"
        nodes, sizes = self._nodes[UNDECIDED], self._sizes[UNDECIDED]
        stated = {each: self._arrays[each][nodes] for each in ("consistent", "discriminatory")}
        read_state = np.flatnonzero((stated["consistent"] > 0) | (stated["discriminatory"] > 0))
        nodes, sizes = nodes[read_state], sizes[read_state]
        stated = {each: values[read_state] for each, values in stated.items()}
        if not len(nodes):
            return Check(name, remarks=("There are no such boxes.",))
        weight = sizes / sizes.sum()
        n = self._affordable(sample)
        drawn = rng.choice(len(nodes), size=n, p=weight)
        together = {each: float(weight @ values) for each, values in stated.items()}
        groups = [("all boxes together", drawn, together)]
        for i in np.argsort(-weight, kind="stable")[:_SINGLE].tolist():
            own = {each: float(values[i]) for each, values in stated.items()}
            groups.append((f"box {nodes[i]}", np.full(min(n, _POINTS), i), own))
        messages, tried = [], 0
        level = _CHANCE / (2 * len(groups))
        for where, chosen, least_shares in groups:
            low, high, _ = self._boxes(nodes[chosen])
            discriminatory = self._points.differ(rng.integers(low, high, endpoint=True))
            tried += len(discriminatory)
            for what, hits, other in (
                ("consistent", int(discriminatory.sum()), "discriminatory"),
                ("discriminatory", int((~discriminatory).sum()), "consistent"),
            ):
                least, _ = clopper_pearson(hits, len(discriminatory), 1 - 2 * level)
                share = least_shares[what]
                if float(least) > 1 - share + 1e-9:
                    messages.append(
                        f"In {where} at least {share:.4%} are said to be treated {what}; of "
                        f"{len(discriminatory):,} drawn at random {hits:,} are treated {other}."
                    )
        return Check(name, tried, len(messages), remarks=tuple(messages[:_MOST_MESSAGES]))

    def people(self, people: Rows, rng: np.random.Generator) -> Check:
        """Query the model about real people who are in boxes of one kind."""
        name = "The data’s own people in certified and falsified boxes"
        chosen = people[rng.permutation(len(people))[:_MOST_PEOPLE]]
        places, inside = self._places(chosen)
        node = self._leaf(places[inside])
        verdict = self._arrays["verdict"][node]
        read_state = np.flatnonzero((verdict == CONSISTENT) | (verdict == DISCRIMINATORY))
        if not len(read_state):
            return Check(name, remarks=("None of them is in such a box.",))
        places, verdict = places[inside][read_state], verdict[read_state]
        discriminatory = self._points.differ(places)
        wrong = np.flatnonzero(discriminatory != (verdict == DISCRIMINATORY))
        return Check(
            name,
            len(places),
            len(wrong),
            remarks=tuple(
                f"In box {node[read_state[i]]}: {self._points.person(places[i])} is treated "
                f"{'unlike' if discriminatory[i] else 'alike'}."
                for i in wrong[:_MOST_MESSAGES]
            ),
        )

    def solved(self, solve: Solve, seconds: float, rng: np.random.Generator) -> Check:
        """Ask a solver about leaves, as many as the time allows."""
        name = "Boxes, asked of a solver in exact arithmetic"
        nodes = np.concatenate([self._nodes[kind] for kind in (CONSISTENT, DISCRIMINATORY)])
        if not len(nodes):
            return Check(name, remarks=("There are no such boxes.",))
        sizes = np.concatenate([self._sizes[kind] for kind in (CONSISTENT, DISCRIMINATORY)])
        most = min(_SOLVED, len(nodes))
        heavy = rng.choice(len(nodes), size=most, p=sizes / sizes.sum())
        chosen = np.stack([heavy, rng.choice(len(nodes), size=most)]).T.ravel()
        chosen = chosen[np.sort(np.unique(chosen, return_index=True)[1])][:_SOLVED]
        messages: list[str] = []
        tried = failed = unknown = 0
        until = perf_counter() + seconds
        while tried < len(chosen) and (left := until - perf_counter()) > 0:
            some = nodes[chosen[tried : tried + _SOLVED_AT_ONCE]]
            each = min(max(0.5, left / min(20, len(chosen) - tried)), left, _LONGEST)
            low, high, root = self._boxes(some)
            group = np.array(self._header.groups, dtype=np.int64)[root]
            opposite = self._arrays["verdict"][some] == DISCRIMINATORY
            try:
                answers = solve(low, high, group, opposite, each)
            except SpecError as error:
                return Check(name, remarks=(str(error),))
            tried += len(some)
            unknown += int((answers.verdict < 0).sum())
            found = np.flatnonzero(answers.verdict > 0)
            if not len(found):
                continue
            # near a border the solver leaves room for rounding: the model itself decides
            discriminatory = self._points.differ(answers.places[found])
            wrong = discriminatory != opposite[found]
            unknown += int((~wrong).sum())
            failed += int(wrong.sum())
            messages += [
                f"In box {some[i]}: {self._points.person(answers.places[i])} is treated "
                f"{'alike' if opposite[i] else 'unlike'}."
                for i in found[wrong].tolist()
            ]
        return Check(name, tried, failed, unknown, tuple(messages[:_MOST_MESSAGES]))

    # points

    def _affordable(self, sample: int) -> int:
        """Return how many points are drawn: so many, unless each has a great many members."""
        return max(100, min(sample, _MOST_ROWS // max(1, len(self._domain.combinations))))

    def _boxes(self, nodes: Nodes) -> tuple[Places, Places, NDArray[np.int64]]:
        """Return the boxes of nodes, ``(n, a)``, and their roots: by climbing up from each."""
        arrays = self._arrays
        widest = len(self._header.axes)
        low = np.zeros((len(nodes), widest), dtype=np.int64)
        high = np.full((len(nodes), widest), np.iinfo(np.int64).max)
        at = nodes.astype(np.int64)
        climbing = np.flatnonzero(self._parent[at] >= 0)
        while climbing.size:
            child = at[climbing]
            parent = self._parent[child]
            axis = arrays["axis"][parent].astype(np.int64)
            cut = arrays["cut"][parent].astype(np.int64)
            second = child != arrays["first"][parent]
            up, down = climbing[second], climbing[~second]
            low[up, axis[second]] = np.maximum(low[up, axis[second]], cut[second] + 1)
            high[down, axis[~second]] = np.minimum(high[down, axis[~second]], cut[~second])
            at[climbing] = parent
            climbing = climbing[self._parent[parent] >= 0]
        low = np.maximum(low, arrays["root_low"][at])
        return low, np.minimum(high, arrays["root_high"][at]), at

    def _places(self, people: Rows) -> tuple[Places, NDArray[np.bool_]]:
        """Find people along the axes, and who of them are there."""
        domain = self._domain
        places = np.zeros((len(people), len(self._header.axes)), dtype=np.int64)
        inside = np.ones(len(people), dtype=np.bool_)
        for i, axis in enumerate(self._header.axes):
            own = people[:, domain.names.index(axis.attribute)]
            if axis.codes:
                order = np.argsort(axis.codes)
                found = np.clip(
                    np.searchsorted(np.array(axis.codes)[order], own), 0, axis.count - 1
                )
                places[:, i] = order[found]
            else:
                nearest = np.round((own - axis.low) / axis.spacing)
                places[:, i] = np.clip(nearest, 0, axis.count - 1).astype(np.int64)
            inside &= axis.code(places[:, i]) == own
        return places, inside

    def _leaf(self, places: Places) -> Nodes:
        """Return the leaves that points are in, by going down from their roots."""
        arrays = self._arrays
        low, high = arrays["root_low"], arrays["root_high"]
        at = np.zeros(len(places), dtype=np.int64)
        inside = np.zeros(len(places), dtype=np.bool_)
        for root in range(len(low)):
            own = ~inside & (places >= low[root]).all(axis=1) & (places <= high[root]).all(axis=1)
            at[own] = root
            inside |= own
        going = np.flatnonzero(inside & (arrays["first"][at] >= 0))
        while going.size:
            node = at[going]
            axis = arrays["axis"][node].astype(np.int64)
            beyond = places[going, axis] > arrays["cut"][node]
            at[going] = arrays["first"][node].astype(np.int64) + beyond
            going = going[arrays["first"][at[going]] >= 0]
        return at[inside]


def _between(size: int, share: float) -> tuple[int, int]:
    """Return the least and the most whole number that so large a share of points can be read as.

    Who computes it in floating point comes out a little lower than who does so exactly.
    """
    numerator, denominator = share.as_integer_ratio()
    exact = numerator * size
    return (exact - (exact >> 48)) // denominator - 2 if share else 0, exact // denominator


def _everybody(low: Places, high: Places) -> Places:
    """Return all points of a box, ``(n, a)``."""
    return low + np.indices((high - low + 1).tolist()).reshape(len(low), -1).T


def solver(header: Header, arrays: Arrays, fed: FedModel) -> Solve:
    """Make what asks a solver about boxes of a certificate.

    Parameters
    ----------
    header : Header
        Of the certificate.
    arrays : mapping
        Its roots are enough.
    fed : FedModel
        The model, fed as the header says.

    Raises
    ------
    SpecError
        When the model is no network that a solver can be told of without rounding.
    """
    # these load what proves, which only a process that holds a model does
    from fairdesk.certify.domain.encoded import encode  # noqa: PLC0415 - see above
    from fairdesk.certify.proof.solver import bounds_of, check_box, refuse_curves  # noqa: PLC0415
    from fairdesk.models.structure.types import Layers, OpaqueError, structure_of  # noqa: PLC0415

    try:
        anatomy = structure_of(fed.opened)
    except OpaqueError as error:
        raise _unsolvable(str(error)) from error
    if not isinstance(anatomy.body, Layers):
        raise _unsolvable("it is no network of dense layers")
    encoded = encode(_space(header, arrays), anatomy, fed)
    refuse_curves(encoded)
    may_be = np.array(header.may_be, dtype=np.bool_)
    orders = [_order(own, axis) for own, axis in zip(header.axes, encoded.space.axes, strict=True)]

    def solve(
        low: Places,
        high: Places,
        group: NDArray[np.int64],
        discriminatory: NDArray[np.bool_],
        seconds: float,
    ) -> SolverVerdicts:
        verdict, places = np.full(len(low), -1, dtype=np.int64), low.copy()
        for b in range(len(low)):
            box = _translated(low[b], high[b], orders)
            if box is None:
                continue
            compared = np.flatnonzero(may_be[group[b]])
            rounding = bounds_of(encoded, *box, compared).rounding.max(initial=0.0)
            answer = check_box(
                encoded,
                *box,
                may_be[group[b]],
                margin=-float(rounding + encoded.margins.close),
                soft_seconds=seconds,
                hard_seconds=seconds,
                sought="consistent" if discriminatory[b] else "discriminatory",
            )
            verdict[b] = {"unsat": 0, "sat": 1, "unknown": -1}[answer.verdict]
            if answer.places is not None:
                places[b] = [
                    place if order is None else order[place]
                    for place, order in zip(answer.places.tolist(), orders, strict=True)
                ]
        return SolverVerdicts(verdict, places)

    return solve


def reproving(header: Header, arrays: Arrays, fed: FedModel) -> Reprove:
    """Make what proves boxes of a certificate once more; parameters and errors as `solver`."""
    # as above
    from fairdesk.certify.proof.reproof import reprover  # noqa: PLC0415

    return reprover(_space(header, arrays), fed, Points(header, fed.predict).differ)


def _unsolvable(why: str) -> SpecError:
    return SpecError("A solver cannot be asked about this model.", why=f"Detail: {why}.")


def _space(header: Header, arrays: Arrays) -> Space:
    """Lay the space out that a certificate speaks of."""
    domain = header.domain
    nobody, no_weight = np.empty(0, dtype=np.int64), np.zeros(1)
    axes = tuple(
        Axis(
            domain.names.index(axis.attribute),
            axis.count,
            np.array(axis.codes),
            axis.low,
            axis.spacing,
            axis.grid,
            nobody,
            no_weight,
        )
        for axis in header.axes
    )
    low, high = (arrays[name].astype(np.int64) for name in ("root_low", "root_high"))
    settled = domain.low.copy()
    settled[domain.protected] = domain.combinations[0]
    unclear = np.zeros(len(low), dtype=np.bool_)
    unclear[list(header.unclear)] = True
    return Space(
        domain,
        axes,
        low,
        high,
        np.ones(len(low)),
        np.array(header.groups, dtype=np.intp),
        np.array(header.may_be, dtype=np.bool_),
        unclear,
        settled,
    )


def _order(own: AxisOf, axis: Axis) -> NDArray[np.intp] | None:
    """Return the place of each axis value in the certificate; ``None`` where they are equal."""
    if not own.codes or np.array_equal(own.codes, axis.codes):
        return None
    order = np.argsort(own.codes)
    return np.asarray(order[np.searchsorted(np.array(own.codes)[order], axis.codes)])


def _translated(
    low: Places, high: Places, orders: Sequence[NDArray[np.intp] | None]
) -> tuple[Places, Places] | None:
    """Return a box in the other order of values; ``None`` where it is none in that."""
    first, last = low.copy(), high.copy()
    for i, order in enumerate(orders):
        if order is None:
            continue
        there = np.flatnonzero((order >= low[i]) & (order <= high[i]))
        first[i], last[i] = there[0], there[-1]
        if last[i] - first[i] != high[i] - low[i]:
            return None
    return first, last
