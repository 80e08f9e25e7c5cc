"""A part of a certification that is divided among workers.

The first look, and what adds parts up, are ordinary certifications. The others divide some of the
undecided regions of a certificate apart from the others:
what was proven before is given, and its undecided leaves are dealt to so many parts, the heaviest
first in turn; a part divides its own and leaves all others as they were. So the trees that parts
come to differ below different leaves only, and can be put together into one:
`fairdesk.audit.shards.regions`.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter
from typing import Any, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.certify import search
from fairdesk.certify.counting.exhaustive import PointCounter
from fairdesk.certify.domain.boxes import KEPT, Tree, Verdict
from fairdesk.certify.domain.space import volumes
from fairdesk.certify.layout import Layout, everyone_for, laid_out, lay_out_queried
from fairdesk.certify.options import CertifyOptions, Stage
from fairdesk.certify.proof.certificate import decoded, encoded
from fairdesk.certify.refine import MOST_NODES, Refinery
from fairdesk.errors import SpecError
from fairdesk.individual.engine.context import SearchContext
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.structure import OpaqueError
from fairdesk.results.events import Certificate, Event, Progress, Rows, ShardRange, timed

#: Whether to count what is left is asked each time the time spent has grown by so much.
_GROWTH = 1.5
#: Counting is to take at most so much of the time that is left.
_ROOM = 0.8


def divide(
    context: SearchContext,
    people: Rows,
    options: CertifyOptions,
    rng: np.random.Generator,
    part: ShardRange,
) -> Iterator[Event]:
    """Run a part; of one that divides regions the `Certificate` has totals that are not its own.

    Parameters
    ----------
    context, people, options, rng
        As of `fairdesk.certify.certify.search`; but for a first look with a previous certificate.
    part : ShardRange
        Its stage is one of `fairdesk.certify.options`, or says of how many parts it is one that
        divides regions; in these there is no chance.

    Raises
    ------
    SpecError
        When the certificate is not of this audit.
    """
    if part.stage in tuple(Stage):
        return search(context, people, options, rng, Stage(part.stage))
    return timed(_divide(context, people, options, part))


def _divide(
    context: SearchContext, people: Rows, options: CertifyOptions, part: ShardRange
) -> Iterator[Event]:
    began = perf_counter()
    limit = options.seconds or np.inf

    def over() -> bool:
        return context.over or perf_counter() - began >= limit

    previous = context.previous_certificate
    laying_out = laid_out(context, people, options.first, over)
    try:
        while (layout := next(laying_out)) is None:
            yield context.progress("looking", part.start, int(part.stage))
    except OpaqueError:
        fed = cast("FedModel", context.cached_model.model)
        layout = lay_out_queried(context.domain, people, fed)
    except StopIteration:
        layout = None
    if layout is None:
        # nothing of its own regions is proven
        return
    space = layout.space
    if previous is None or not (
        np.array_equal(previous.arrays["root_low"], space.low)
        and np.array_equal(previous.arrays["root_high"], space.high)
    ):
        raise SpecError(
            "The certificate that is to be continued is not of this audit.",
            remedy="Run the certification without continuing it.",
        )
    header = decoded(previous.header)
    layout.examiner.margin = header.margin
    arrays = {name: previous.arrays[name] for name in KEPT}
    others = _others(Tree.of(space, arrays), layout, int(part.stage), part.start)
    hidden = arrays["verdict"].copy()
    # what belongs to other parts is neither divided nor counted here
    hidden[others] = Verdict.NOBODY
    counter = everyone_for(layout)
    refinery = Refinery(
        space,
        layout.examiner,
        Tree.of(space, {**arrays, "verdict": hidden}),
        at_once=False,
        first=options.first,
        counter=counter if layout.concentrates else None,
        bounded=layout.anatomy is not None,
    )

    def told() -> Progress:
        progress = context.progress("dividing", part.start, int(part.stage))
        queries = progress.queries + refinery.queries + counter.trial_queries
        return msgspec.structs.replace(progress, tried=refinery.boxes, queries=queries)

    for _ in _work(refinery, counter, limit, began):
        yield told()
        if over():
            break
    kept = refinery.tree.arrays()
    kept["verdict"][others] = Verdict.UNDECIDED
    margin = max(header.margin, layout.examiner.margin)
    roots = {"root_low": space.low, "root_high": space.high}
    yield Certificate(
        "dividing", encoded(msgspec.structs.replace(header, margin=margin)), {**roots, **kept}
    )
    yield told()


def _work(
    refinery: Refinery, counter: PointCounter, seconds: float, began: float
) -> Iterator[None]:
    """Divide, and count what is left once there is time for it."""
    look = 0.0
    while True:
        spent = perf_counter() - began
        if spent >= look or refinery.over:
            look = spent * _GROWTH
            points = refinery.points(refinery.undecided_leaves())
            if points / counter.speed <= _ROOM * (seconds - spent):
                yield from refinery.count(counter)
                return
        if refinery.over or refinery.tree.count > MOST_NODES // 2:
            return
        refinery.step()
        yield


def _others(tree: Tree, layout: Layout, parts: int, own: int) -> NDArray[np.int64]:
    """Return the undecided leaves that belong to other parts; each has as heavy ones as any."""
    leaves = tree.leaves
    leaves = leaves[tree.verdict[leaves] == Verdict.UNDECIDED]
    left = 1.0 - tree.consistent[leaves] - tree.discriminatory[leaves]
    low, high = tree.boxes(leaves)
    weight = volumes(low, high)
    if (population := layout.space.people) is not None:
        weight = population.masses(low, high)
        left = 1.0 - tree.people_consistent[leaves] - tree.people_discriminatory[leaves]
    order = np.argsort(-weight * left, kind="stable")
    mine = np.zeros(len(leaves), dtype=np.bool_)
    mine[order[own::parts]] = True
    others: NDArray[Any] = leaves[~mine]
    return others
