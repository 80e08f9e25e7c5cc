"""Checking a certificate again, by other means than it was made with.

Nothing here bounds a network or counts inside a box: that is what is to be checked. Instead:

* arithmetic: the roots are the whole domain and share no point, the leaves are the whole of the
  roots, and the totals follow from what the leaves say, in whole numbers;
* the masses of the leaves under the population are computed anew, by other code, and what is said
  of shares of them is held against points drawn from the population there;
* the model itself is asked about points of the leaves, drawn at random, and about every point of
  small ones that were counted;
* leaves are proven once more by other bounds (`fairdesk.certify.proof.reproof`), as many as the
  time allows: the largest, and some drawn at random; or all of them;
* the proven rates of groups follow from their regions, and are proven once more in the same way.

What is trusted: the file of the model, by its fingerprint, and the process that runs it, for its
answers. A model that runs code of its own could answer otherwise when it is checked; one that is
read as data cannot. What is drawn at random is told: it can refute a certificate, not prove it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.domain.space import Places
from fairdesk.certify.proof.certificate import (
    CONSISTENT,
    COUNTED,
    DISCRIMINATORY,
    UNDECIDED,
    Arrays,
    Header,
    Points,
    Predict,
)
from fairdesk.certify.proof.reproof_check import Claims, Reprove, check_again, stated_shares
from fairdesk.certify.proof.verify.contents import LeafContents, Tree, domain_check
from fairdesk.certify.proof.verify.population import (
    Stated,
    people_proven_again,
    population_checks,
    shares_check,
)
from fairdesk.certify.proof.verify.rates import rate_checks, rate_regions
from fairdesk.certify.proof.verify.statements import KINDS, MOST_MESSAGES, Check, statements_check
from fairdesk.errors import SpecError
from fairdesk.results.events import Rows

#: Leaves with a count or a share and at most so many points are counted, and so many of them.
_SMALL, _RECOUNTED = 4_096, 200
#: Rows sent to the model at once, and in all, at most.
_AT_ONCE, _MOST_ROWS = 50_000, 4_000_000
#: So many provers share the time, each as much as any other: of regions, of the population in
#: them, and of selection rates.
_PROVERS = 3
#: Real people that are looked up.
_MOST_PEOPLE = 2_000


def verify(
    header: Header,
    arrays: Arrays,
    predict: Predict,
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
        Its arrays, as `fairdesk.certify.proof.certificate_reading.read` gives them.
    predict : callable
        Asks the model about ``(n, d)`` rows of the header's domain.
    prove : callable, optional
        Proves boxes once more; without it none is.
    everything : bool
        Whether all boxes are proven once more, however long that takes.
    sample : int
        So many points are drawn from the leaves of each kind; 0 for none.
    seconds : float
        To prove boxes once more may take so long in all.
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
    yield domain_check(header, arrays)
    yield statements_check(header)
    contents = LeafContents(header, arrays)
    yield contents.walk()
    yield contents.totals()
    proof = _Proof(header, arrays, predict, contents)
    yield from population_checks(
        header, arrays, predict, sample=sample, everything=everything, rng=rng
    )
    rates = rate_regions(header, arrays)
    yield from rate_checks(rates, predict, sample=sample, rng=rng)
    if sample:
        yield proof.members(sample, rng)
        yield proof.certified(CONSISTENT, sample, rng)
        yield proof.certified(DISCRIMINATORY, sample, rng)
        yield proof.falsified(rng, everything=everything)
        yield proof.recounted(rng)
        yield proof.shares(sample, rng)
    if people is not None and len(people):
        yield proof.people(people, rng)
    each = seconds / _PROVERS
    if prove is not None:
        yield proof.proven_again(prove, each, rng, everything=everything)
        if header.population is not None:
            yield people_proven_again(
                header, arrays, predict, prove, seconds=each, everything=everything, rng=rng
            )
        if rates is not None:
            yield rates.proven_again(prove, seconds=each, everything=everything)


class _Proof:
    """A certificate that is being checked."""

    def __init__(
        self, header: Header, arrays: Arrays, predict: Predict, contents: LeafContents
    ) -> None:
        self._header, self._arrays = header, arrays
        self._domain, self._points = header.domain, Points(header, predict)
        self._nodes, self._sizes = contents.nodes, contents.sizes
        self._tree = Tree(header, arrays)

    def members(self, sample: int, rng: np.random.Generator) -> Check:
        """Check with random points of the roots who may be there, by the domain's constraints."""
        name = "Combinations permitted by the constraints"
        header, domain = self._header, self._domain
        may_be = np.array(header.may_be, dtype=np.bool_)
        if not domain.has_constraints:
            wrong = int((~may_be).sum()) + len(header.unclear)
            why = "There are no constraints, but some combinations are not permitted."
            return Check(name, may_be.size, wrong, remarks=(why,) if wrong else ())
        clear = np.setdiff1d(np.arange(len(header.groups)), header.unclear)
        if not len(clear):
            return Check(
                name, remarks=("Not recorded: every combination was queried individually.",)
            )
        root = rng.choice(clear, size=max(100, min(sample, _MOST_ROWS // may_be.shape[1])))
        low, high = (self._arrays[each][root] for each in ("root_low", "root_high"))
        places = rng.integers(low, high, endpoint=True, dtype=np.int64)
        wrong = 0
        messages: tuple[str, ...] = ()
        at_once = max(1, _AT_ONCE // may_be.shape[1])
        for start in range(0, len(places), at_once):
            part = slice(start, start + at_once)
            similar = domain.similar(self._points.rows(places[part]))
            stated = may_be[np.array(header.groups)[root[part]]]
            differ = (domain.possible(similar) != stated).any(axis=1)
            wrong += int(differ.sum())
            messages += tuple(
                f"In root {root[start + i]} other combinations are permitted: "
                f"{self._points.person(places[start + i])}."
                for i in np.flatnonzero(differ)[: MOST_MESSAGES - len(messages)].tolist()
            )
        return Check(name, len(places), wrong, remarks=messages)

    def certified(self, kind: int, sample: int, rng: np.random.Generator) -> Check:
        """Ask about points of leaves said to be consistent, or discriminatory, as a whole."""
        name = f"Instances in {KINDS[kind]} regions, queried"
        nodes, sizes = self._nodes[kind], self._sizes[kind]
        if not len(nodes):
            return Check(name, remarks=("There are no such regions.",))
        n = self._affordable(sample)
        # half of them are each as likely as any other person, half of each box as likely
        chosen = np.concatenate(
            [
                rng.choice(nodes, size=n - n // 2, p=sizes / sizes.sum()),
                rng.choice(nodes, size=n // 2),
            ]
        )
        low, high, _ = self._tree.boxes(chosen)
        places = rng.integers(low, high, endpoint=True)
        discriminatory = self._points.differ(places)
        wrong = np.flatnonzero(discriminatory if kind == CONSISTENT else ~discriminatory)
        return Check(
            name,
            len(places),
            len(wrong),
            remarks=tuple(
                f"In region {chosen[i]}: the decision "
                f"{'changes' if kind == CONSISTENT else 'is unchanged'} for "
                f"{self._points.person(places[i])}."
                for i in wrong[:MOST_MESSAGES]
            ),
        )

    def falsified(self, rng: np.random.Generator, *, everything: bool) -> Check:
        """Ask about each leaf in which everybody is said to be discriminatory: two of its points.

        Of more leaves than can be asked about so many are drawn, unless ``everything`` is.
        """
        name = "Every falsified region, queried"
        nodes = self._nodes[DISCRIMINATORY]
        if not len(nodes):
            return Check(name, remarks=("There are no such regions.",))
        most = _MOST_ROWS // (2 * len(self._domain.combinations))
        chosen = nodes if everything or len(nodes) <= most else rng.choice(nodes, most)
        wrong = np.zeros(len(chosen), dtype=np.bool_)
        messages: list[str] = []
        for start in range(0, len(chosen), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            low, high, _ = self._tree.boxes(chosen[part])
            for places in (low, rng.integers(low, high, endpoint=True)):
                consistent = np.flatnonzero(~self._points.differ(places))
                wrong[start + consistent] = True
                messages += [
                    f"In region {chosen[start + i]}: the decision is unchanged for "
                    f"{self._points.person(places[i])}."
                    for i in consistent[: MOST_MESSAGES - len(messages)].tolist()
                ]
        if len(chosen) < len(nodes):
            messages.append(
                f"Only some of {len(nodes):,} were drawn; “fairdesk verify --all” queries every "
                "one."
            )
        return Check(name, len(chosen), int(wrong.sum()), remarks=tuple(messages))

    def proven_again(
        self, prove: Reprove, seconds: float, rng: np.random.Generator, *, everything: bool
    ) -> Check:
        """Prove what leaves state once more, by other code: as many as the time allows, or all."""
        name = "Regions, re-proved by other bounds"
        kinds = (CONSISTENT, DISCRIMINATORY, COUNTED, UNDECIDED)
        nodes = np.concatenate([self._nodes[kind] for kind in kinds])
        sizes = np.concatenate([self._sizes[kind] for kind in kinds])
        stated = stated_shares(self._arrays, nodes, sizes)
        some = np.flatnonzero((stated > 0.0).any(axis=1))
        if not len(some):
            return Check(name, remarks=("No region has a stated result.",))
        low, high, root = self._tree.boxes(nodes[some])
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
        name = "Small regions with a count or a share, recounted"
        nodes, sizes = (
            np.concatenate([each[COUNTED], each[UNDECIDED]]) for each in (self._nodes, self._sizes)
        )
        small = np.flatnonzero(sizes <= _SMALL)
        if not len(small):
            return Check(name, remarks=("There are no such regions.",))
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
            low, high, _ = self._tree.boxes(nodes[i : i + 1])
            hits = int(self._points.differ(_everybody(low[0], high[0])).sum())
            consistent, discriminatory = (
                float(self._arrays[each][node]) for each in ("consistent", "discriminatory")
            )
            least, most = points * discriminatory, points * (1 - consistent)
            if self._arrays["verdict"][node] == COUNTED:
                least = most = round(least)
            if not least - 1e-9 <= hits <= most + 1e-9:
                messages.append(
                    f"In region {node} the decision changes for {hits:,} of {points:,}, which "
                    "contradicts its statement."
                )
        return Check(name, tried, len(messages), remarks=tuple(messages[:MOST_MESSAGES]))

    def shares(self, sample: int, rng: np.random.Generator) -> Check:
        """Draw from leaves of which a share is proven, and see whether that contradicts it."""
        nodes, sizes = self._nodes[UNDECIDED], self._sizes[UNDECIDED]
        stated = stated_shares(self._arrays, nodes, sizes)
        some = np.flatnonzero((stated > 0.0).any(axis=1))

        def differ(chosen: NDArray[np.intp]) -> NDArray[np.bool_]:
            low, high, _ = self._tree.boxes(nodes[some[chosen]])
            return self._points.differ(rng.integers(low, high, endpoint=True))

        return shares_check(
            "Shares in undecided regions, compared with random samples",
            Stated(nodes[some], sizes[some], stated[some]),
            differ,
            sample=self._affordable(sample),
            rng=rng,
        )

    def people(self, people: Rows, rng: np.random.Generator) -> Check:
        """Query the model about real people who are in boxes of one kind."""
        name = "Data rows in certified and falsified regions"
        chosen = people[rng.permutation(len(people))[:_MOST_PEOPLE]]
        places, inside = self._tree.places(chosen)
        node = self._tree.leaf(places[inside])
        verdict = self._arrays["verdict"][node]
        decided = np.flatnonzero((verdict == CONSISTENT) | (verdict == DISCRIMINATORY))
        if not len(decided):
            return Check(name, remarks=("No data row is in such a region.",))
        places, verdict = places[inside][decided], verdict[decided]
        discriminatory = self._points.differ(places)
        wrong = np.flatnonzero(discriminatory != (verdict == DISCRIMINATORY))
        return Check(
            name,
            len(places),
            len(wrong),
            remarks=tuple(
                f"In region {node[decided[i]]}: the decision "
                f"{'changes' if discriminatory[i] else 'is unchanged'} for "
                f"{self._points.person(places[i])}."
                for i in wrong[:MOST_MESSAGES]
            ),
        )

    def _affordable(self, sample: int) -> int:
        """Return how many points are drawn: so many, unless each has a great many members."""
        return max(100, min(sample, _MOST_ROWS // max(1, len(self._domain.combinations))))


def _everybody(low: Places, high: Places) -> Places:
    """Return all points of a box, ``(n, a)``."""
    return low + np.indices((high - low + 1).tolist()).reshape(len(low), -1).T
