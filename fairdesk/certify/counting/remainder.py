"""What sampling says of the people for whom nothing is proven, and of the data's own.

Neither is ever added to what is proven.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.counting.exhaustive import decisions
from fairdesk.certify.domain.space import Places, Space, volumes
from fairdesk.certify.refine import Refinery, Steps
from fairdesk.data.domain.domain import Domain
from fairdesk.individual.engine.context import SearchContext
from fairdesk.individual.engine.pace import Pace
from fairdesk.individual.shares.enumeration import exact_share
from fairdesk.individual.shares.tally import clopper_pearson
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.results.events import Rows
from fairdesk.results.individual import Share
from fairdesk.results.proofs import Estimated

Float64 = NDArray[np.float64]

#: So many people are drawn, or as many as make so many rows.
_PEOPLE, _ROWS = 10_000, 200_000
_CONFIDENCE = 0.95
#: Leaves whose boxes are made at once.
_LEAVES = 1 << 16


def remainder(
    refinery: Refinery,
    fed: FedModel,
    rng: np.random.Generator,
    over: Callable[[], bool] = lambda: False,
) -> Steps[Estimated | None]:
    """Estimate, step by step, how many of the undecided people are discriminatory.

    People are drawn independently from the undecided boxes as they are: a box with a probability
    in proportion to its points, then one of its points, each as likely. So what is counted among
    them is binomial, and Clopper and Pearson's interval for the share in these *boxes* is exact.
    A part of the people in them is proven consistent or discriminatory all the same, by counting,
    without it being known of each of them. Of the ``N`` points of the boxes let ``A`` be proven
    consistent and ``U`` unlike. If a share ``p`` of all of them is discriminatory, these are ``p
    N``, of which ``U`` are told already, and of the undecided remainder the share ``(p N - U) / (N
    - A - U)`` is. That rises with ``p``, so it takes the ends of the one interval to those of the
    other, with the same confidence.

    Parameters
    ----------
    refinery : Refinery
        What is divided so far.
    fed : FedModel
        The model.
    rng : np.random.Generator
        All randomness.
    over : callable
        Tells between steps whether there is no time for more: then fewer are asked about.

    Returns
    -------
    Estimated, optional
        ``people`` were drawn from the undecided boxes, and ``discriminatory`` is how many of these
        are; the interval is of the undecided remainder. ``None`` where no box is undecided, or
        there was no time.
    """
    space, tree = refinery.space, refinery.tree
    leaves = refinery.undecided_leaves()
    points = np.concatenate([np.empty(0), *(volumes(*tree.boxes(part)) for part in _parts(leaves))])
    if not leaves.size:
        return None
    combinations = space.may_be.shape[1]
    people = max(1, min(_PEOPLE, _ROWS // combinations))
    # rounding of these sums is far below what chance does
    ends = np.cumsum(points)
    which = np.searchsorted(ends, rng.random(people) * ends[-1], "right")
    nodes = leaves[np.minimum(which, len(leaves) - 1)]
    low, high = tree.boxes(nodes)
    places = rng.integers(low, high, endpoint=True)
    asked = discriminatory = 0
    for part in Pace(combinations).parts(people):
        if over():
            break
        hits = differ(space, fed, places[part], tree.root[nodes[part]])
        asked, discriminatory = asked + len(hits), discriminatory + int(hits.sum())
        yield
    if not asked:
        return None
    people = asked
    known_consistent = float((points * tree.consistent[leaves]).sum())
    known_discriminatory = float((points * tree.discriminatory[leaves]).sum())
    low_share, high_share, estimate = (
        rest_of(float(end), float(ends[-1]), known_consistent, known_discriminatory)
        for end in (*clopper_pearson(discriminatory, people, _CONFIDENCE), discriminatory / people)
    )
    return Estimated(
        *(people, discriminatory, low_share, high_share, _CONFIDENCE, estimate),
        certified=known_consistent / float(ends[-1]),
        falsified=known_discriminatory / float(ends[-1]),
    )


def rest_of(share: float, points: float, consistent: float, discriminatory: float) -> float:
    """Turn the discriminatory share of all in boxes into that of the undecided rest.

    Parameters
    ----------
    share : float
        Of the people in the boxes.
    points : float
        How many these are.
    consistent, discriminatory : float
        How many of them are proven so.
    """
    rest = points - consistent - discriminatory
    if rest <= 0.0:
        return share
    return min(max((share * points - discriminatory) / rest, 0.0), 1.0)


def differ(
    space: Space, fed: FedModel, places: Places, root: NDArray[np.integer]
) -> NDArray[np.bool_]:
    """Query which points, ``(n, a)``, are discriminatory; ``root`` tells the root of each."""
    clear = not space.unclear[root].any()
    may_be = space.may_be[space.groups[root]] if clear else None
    return decisions(space, fed, places, may_be).differ


def rows_asked(context: SearchContext, people: Rows) -> Iterator[Share | None]:
    """Ask about each of the data's own rows, under all protected values: an exact share.

    Parameters
    ----------
    context : SearchContext
        The model under audit, and who may be asked about.
    people : Rows
        ``(n, d)``; the data's rows in the domain's codes.

    Yields
    ------
    Share, optional
        ``None`` several times a second, and at the end the share.
    """
    domain = context.domain
    rows, _ = domain.admit(people)
    if context.fits is not None:
        rows = rows[context.fits(rows)]
    first, times = sets_of(domain, rows)
    hits = compared = 0
    for part in Pace(len(domain.combinations), context=context).parts(len(first)):
        answers = context.ask(rows[first[part]])
        hits += int(times[part][answers.discriminatory].sum())
        compared += int(times[part][(answers.labels >= 0).sum(axis=1) > 1].sum())
        yield None
    names = tuple(domain.names[i] for i in domain.protected)
    share = exact_share("data", names, hits, compared)
    yield msgspec.structs.replace(share, unsupported=len(rows) - compared)


def sets_of(domain: Domain, rows: Rows) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return of rows of the data the first of each that is compared alike, and how many these are.

    Rows of one similar set are, but for those that the data do not support: each of these is
    compared with others than the rest, or with none.
    """
    key = domain.identity(rows)
    if domain.support:
        own = domain.combination_of(rows)
        aside = ~(domain.allowed(rows) & domain.common[own])
        key = np.column_stack(
            (key, np.where(aside, own, -1), aside, np.where(aside[:, None], rows, 0))
        )
    _, first, times = np.unique(key, axis=0, return_index=True, return_counts=True)
    return first, times


def have_comparison(domain: Domain, rows: Rows) -> NDArray[np.bool_]:
    """Return which rows of the data are compared with another one: ``(n,)``."""
    step = max(1, _ROWS // len(domain.combinations))
    parts = [np.empty(0, dtype=np.bool_)]
    for start in range(0, len(rows), step):
        _, compared = domain.members(rows[start : start + step])
        parts.append(compared.sum(axis=1) > 1)
    return np.concatenate(parts)


def _parts(leaves: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    return [leaves[start : start + _LEAVES] for start in range(0, len(leaves), _LEAVES)]
