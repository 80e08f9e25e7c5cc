"""A certification: its undecided regions are dealt to parts, and their trees put together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.audit.catalogue.methods import parse_options
from fairdesk.audit.plan.inputs import SearchInputs
from fairdesk.audit.plan.spec import Budget, RunSpec
from fairdesk.audit.shards.shard import Ran, Shard, UniquePairs, added
from fairdesk.audit.worker.answer_checks import nonsense
from fairdesk.audit.worker.wire import Ending
from fairdesk.certify.domain.boxes import Verdict
from fairdesk.certify.options import Stage
from fairdesk.certify.proof.certificate import ARRAYS, decoded, encoded
from fairdesk.data.domain.domain import Domain
from fairdesk.results.events import Certificate, Event, Found, Measured, Progress, ShardRange
from fairdesk.results.individual import Share
from fairdesk.results.proofs import Proven

Arrays = Mapping[str, NDArray[Any]]

#: Of a time limit so much goes to the first look. Of what then is left, so much goes to parts, each
#: time that regions are dealt, and to what is booked between; at the end, all of it.
_LOOK, _PARTS, _BOOK = 0.14, (0.44, 0.8), 0.1
#: But so much of the limit goes to whatever is dealt.
_LEAST = 0.02
#: The same in seconds where there is no limit; those in parts become longer each time.
_SECONDS = {"look": 10.0, "parts": 20.0, "book": 20.0}
_GROWTH = 2.0
#: What belongs to a node; roots are those of the whole.
_NODES = tuple(name for name in ARRAYS if not name.startswith("root"))


class Regions:
    """A `fairdesk.audit.shards.shard.Dealing` of a certification.

    An ordinary certification begins. Then its undecided leaves are dealt to as many parts as there
    are workers, and an ordinary certification goes on with the tree that these come to: it books
    what is proven and writes the certificate. All this is repeated while regions are left, and
    time; at the end rates are bounded, too, and what else is told beside. The last certificate is
    one tree, as of any certification, and is verified so.

    Parameters
    ----------
    domain : Domain
        Of the audit.
    run : RunSpec
        The run; without a budget of rows.
    inputs : SearchInputs
        With the certificate that is gone on with, if any.
    workers : int
        How many parts run at once.

    Attributes
    ----------
    left : int
        Of what is dealt now, how many shards are to be dealt still.
    """

    def __init__(self, domain: Domain, run: RunSpec, inputs: SearchInputs, workers: int) -> None:
        self._run, self._inputs, self._workers = run, inputs, workers
        options = parse_options(run.method, run.options)
        limits = float(getattr(options, "seconds", 0.0)), run.budget.seconds or 0.0
        self._limit = min((each for each in limits if each), default=0.0)
        self._unique = UniquePairs(domain)
        self._total = Progress("", 0, 0, tried=0, found=0, queries=0)
        self._certificate: Certificate | None = None
        self._parts: list[Certificate] = []
        self._dealt = self._taken = self._round = 0
        #: Seconds that shards took so far, and those of the parts that run at the same time.
        self._spent = self._longest = 0.0
        self._shares: tuple[Share, ...] = ()
        self.left, self._booking, self._progressed = 1, True, True
        self.done = False
        self.ending: Ending = "done"

    @property
    def _seconds(self) -> float:
        """How long the next shards may take."""
        if not self._limit:
            kind = "parts" if not self._booking else "book" if self._round else "look"
            return _SECONDS[kind] * (_GROWTH**self._round if kind == "parts" else 1.0)
        left = max(self._limit - self._spent, _LEAST * self._limit)
        match self._stage:
            case Stage.LOOK:
                return _LOOK * self._limit
            case Stage.BOOK:
                return _BOOK * left
            case Stage.END:
                return left
        return _PARTS[self._round] * left

    @property
    def _stage(self) -> Stage | None:
        """What the next shard is; ``None`` for the parts."""
        if not self._booking:
            return None
        last = not self._progressed or (self._limit and self._round == len(_PARTS))
        return Stage.END if last else Stage.BOOK if self._round else Stage.LOOK

    def deal(self) -> Shard | None:
        """Return the next shard; see `fairdesk.audit.shards.shard.Dealing`."""
        if self.done or not self.left:
            return None
        self.left -= 1
        index, self._dealt = self._dealt, self._dealt + 1
        if self._stage is not None:
            shard = ShardRange(self._round, self._round + 1, self._stage)
        else:
            own = self._workers - 1 - self.left
            shard = ShardRange(own, own + 1, f"{self._workers}")
        run = msgspec.structs.replace(
            self._run,
            options={**self._run.options, "seconds": self._seconds},
            budget=Budget(),
            shards=0,
            shard=shard,
        )
        inputs = self._inputs
        if self._certificate is not None:
            inputs = msgspec.structs.replace(inputs, previous_certificate=self._certificate)
        return Shard(index, run, inputs)

    def take(self, index: int, events: Ran) -> Iterator[Event]:
        """Merge a shard; see `fairdesk.audit.shards.shard.Dealing`."""
        self._taken = index + 1
        last, took = self._total, 0.0
        certificate: Certificate | None = None
        for event in events:
            match event:
                case Found():
                    new = self._unique.new(event)
                    if len(new.rows):
                        yield new
                case Progress():
                    took = sum(event.seconds.values())
                    both = added(self._total, event)
                    last = msgspec.structs.replace(both, found=self._unique.size)
                    yield last
                case Certificate():
                    certificate = event
                    if self._booking:
                        yield event
                case Measured():
                    yield self._with_earlier(event)
                case _:
                    yield event
        self._total, self._longest = last, max(self._longest, took)
        if not self.left and self._taken == self._dealt:
            self._spent, self._longest = self._spent + self._longest, 0.0
        if events.ending != "done":
            self.done, self.ending = True, events.ending or "stopped"
        else:
            self._go_on(certificate)

    def _go_on(self, certificate: Certificate | None) -> None:
        """Take the certificate of a shard, if it has one; see what follows."""
        if self._booking:
            self._booked(certificate)
        else:
            self._parts += [certificate] if certificate is not None else []
            if not self.left and self._taken == self._dealt:
                self._join()

    def _with_earlier(self, measured: Measured) -> Measured:
        """Add what only the first look asked, and seconds and boxes of what came before."""
        before, tried = self._spent, self._total.tried
        figures = tuple(
            msgspec.structs.replace(each, seconds=before + each.seconds, boxes=tried + each.boxes)
            if isinstance(each, Proven)
            else each
            for each in measured.figures
        )
        if not self._round and self._booking:
            self._shares = tuple(each for each in figures if isinstance(each, Share))
            return Measured(measured.phase, figures)
        return Measured(measured.phase, (*figures, *self._shares))

    def _booked(self, certificate: Certificate | None) -> None:
        """Deal what is left undecided, if there is any and there is time."""
        if certificate is None or not (certificate.arrays["verdict"] == Verdict.UNDECIDED).any():
            self.done = True
            return
        self._certificate = certificate
        if self._stage is Stage.END:
            self.done = True
            return
        self._booking, self.left, self._parts = False, self._workers, []

    def _join(self) -> None:
        """Put the parts together; an ordinary certification goes on with the whole."""
        if self._certificate is None:
            raise RuntimeError("parts were dealt without a certificate")
        before = self._certificate
        arrays = joined(before.arrays, [each.arrays for each in self._parts])
        self._progressed = len(arrays["axis"]) > len(before.arrays["axis"]) or not np.array_equal(
            arrays["verdict"], before.arrays["verdict"]
        )
        header = decoded(before.header)
        margins = (header.margin, *(decoded(each.header).margin for each in self._parts))
        header = msgspec.structs.replace(header, margin=max(margins))
        self._certificate = Certificate(before.phase, encoded(header), arrays)
        self._round, self._booking, self.left = self._round + 1, True, 1


def joined(before: Arrays, parts: Sequence[Arrays]) -> dict[str, NDArray[Any]]:
    """Put trees together that went on with the same one below different leaves.

    Parameters
    ----------
    before : mapping
        The arrays of a certificate.
    parts : sequence of mapping
        Those that `fairdesk.certify.parts` made of it.

    Returns
    -------
    dict[str, NDArray]
        One tree: that of before, with what each part has below leaves that were undecided.

    Raises
    ------
    WorkerError
        When a part is no such tree, or two of them divided the same leaf.
    """
    n = len(before["axis"])
    whole = {name: [before[name].copy()] for name in _NODES}
    count = n
    open_ = (before["verdict"] == Verdict.UNDECIDED) & (before["first"] < 0)
    for part in parts:
        own = _own_leaves(before, part, open_)
        open_ &= ~own
        for name in _NODES:
            values = part[name].copy()
            if name == "first":
                values[values >= n] += count - n
            whole[name][0][own] = values[:n][own]
            whole[name].append(values[n:])
        count += len(part["axis"]) - n
    made = {name: np.concatenate(each) for name, each in whole.items()}
    return {**made, "root_low": before["root_low"], "root_high": before["root_high"]}


def _own_leaves(before: Arrays, part: Arrays, open_: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the leaves of before that a part changed, ``(n,)``, if they may be its own."""
    n, roots = len(before["axis"]), ("root_low", "root_high")
    sizes = {len(part[name]) for name in _NODES} if set(part) >= {*_NODES, *roots} else set()
    if len(sizes) != 1 or min(sizes) < n:
        raise nonsense("its tree of regions is not whole")
    own = np.zeros(n, dtype=np.bool_)
    for name in _NODES:
        own |= part[name][:n] != before[name]
    first = part["first"].astype(np.int64)
    inner = np.concatenate([np.flatnonzero(own & (first[:n] >= 0)), np.arange(n, len(first))])
    children = first[inner][first[inner] >= 0]
    below = np.sort(np.concatenate([children, children + 1]))
    fits = all(np.array_equal(before[name], part[name]) for name in roots)
    changed = np.concatenate([np.flatnonzero(own), np.arange(n, len(first))])
    fits &= np.array_equal(part["verdict"][changed] == Verdict.INNER, first[changed] >= 0)
    if not fits or (own & ~open_).any() or not np.array_equal(below, np.arange(n, len(first))):
        raise nonsense("its tree of regions does not continue the one it was given")
    return own
