"""A worker whose searches are spread over a cluster."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import msgspec

from fairdesk.audit.catalogue.methods import method_named
from fairdesk.audit.plan.inputs import RunInputs
from fairdesk.audit.plan.spec import AuditSpec, RunSpec
from fairdesk.audit.shards.dealing import dealing
from fairdesk.audit.shards.shard import Shard, Whole
from fairdesk.audit.worker import wire
from fairdesk.audit.worker.client import Searching, Worker
from fairdesk.audit.worker.wire import Ending
from fairdesk.cluster.connection import Connection, Link, Place, read_place
from fairdesk.cluster.messages import AtWork, Contents, opening_of
from fairdesk.cluster.spreading import ClusterPatience, Spreading
from fairdesk.errors import ClusterError
from fairdesk.results.events import Event

#: A search is divided into so many parts for each shard that the cluster runs at once: what is
#: found is seen before all of it is done, and a slow part keeps few waiting.
PARTS_EACH = 4


class ClusterWorker(Worker):
    """A `Worker` of this computer whose runs are spread over the workers of a cluster.

    Whatever is no run (reading tables, opening the model, single queries) is done here, and so is
    the run of a method that is not divided.

    Parameters
    ----------
    cluster : Place or Link
        The cluster. It is connected to by `connect`, or when the first run needs it. A link serves
        several workers, one after the other, and is not ended with this one.
    patience : ClusterPatience
        How long to wait for what there.
    """

    def __init__(self, cluster: Place | Link, patience: ClusterPatience | None = None) -> None:
        super().__init__()
        self._shared = isinstance(cluster, Link)
        self._link = cluster if isinstance(cluster, Link) else Link(cluster)
        self._cluster_patience = patience or ClusterPatience()
        self._spreading: Spreading | None = None

    def connect(self) -> Connection:
        """Connect, unless that was done; slow.

        Raises
        ------
        ClusterError
            As `Connection`.
        """
        return self._link.connect()

    @property
    def threads(self) -> int:
        """How many shards the cluster runs at once; connects, which is slow.

        Raises
        ------
        ClusterError
            As `connect`.
        """
        return sum(each.threads for each in self.connect().members().values())

    def search_spread(self, audit: AuditSpec, inputs: RunInputs, run: RunSpec) -> Searching | None:
        """Run a method on the cluster; ``None`` where it is not divided, and runs here."""
        connection = self.connect()
        divided = dealing(audit, run, inputs, self.threads)
        if isinstance(divided, Whole):
            return None
        contents = Contents()
        opening = opening_of(self._as_opened(audit), self._files(), self.confinement(), contents)

        def check(event: Event, shard: Shard) -> Event:
            request = wire.Search(audit.mapping, audit.domain, shard.run, shard.inputs)
            return self._checked(event, request)

        self._spreading = Spreading(
            connection,
            divided,
            opening,
            contents,
            run.budget.seconds,
            check,
            self._cluster_patience,
        )
        return Searching(self._spread(self._spreading), self._spreading.remarks)

    def _spread(self, spreading: Spreading) -> Generator[Event, None, Ending]:
        try:
            yield from spreading.events()
        finally:
            self._spreading = None
        return spreading.ending

    def _as_opened(self, audit: AuditSpec) -> AuditSpec:
        """Return the audit with no more trust in its files than they were opened with here."""
        if self._opened is None:
            return audit
        opened = self._opened.request
        companions = tuple(
            msgspec.structs.replace(each, trusted=each.trusted and here.trusted)
            for each, here in zip(audit.model.companions, opened.companions, strict=True)
        )
        card = msgspec.structs.replace(audit.model, companions=companions)
        return msgspec.structs.replace(audit, model=card, trusted=audit.trusted and opened.trusted)

    def _files(self) -> list[Path]:
        """Return where the model's files are here: what workers are sent."""
        if self._opened is None:
            return []
        opened = self._opened.request
        return [Path(opened.path), *(Path(each.path) for each in opened.companions)]

    def at_work(self) -> tuple[AtWork, ...]:
        """Return what the workers of the cluster are doing; from any thread."""
        spreading = self._spreading
        return () if spreading is None else spreading.at_work()

    @property
    def paused(self) -> bool:
        """Whether the running search was asked to pause."""
        spreading = self._spreading
        return super().paused if spreading is None else spreading.paused

    def pause(self) -> None:
        """Hold the running search; nothing without one."""
        spreading = self._spreading
        if spreading is None:
            super().pause()
        else:
            spreading.pause()

    def resume(self) -> None:
        """Let a paused search go on."""
        spreading = self._spreading
        if spreading is None:
            super().resume()
        else:
            spreading.resume()

    def stop(self) -> None:
        """End what is running, here or on the cluster."""
        spreading = self._spreading
        if spreading is None:
            super().stop()
        else:
            spreading.stop()

    def close(self) -> None:
        """End the process of this computer for good, and a connection of its own.

        May be repeated.
        """
        spreading = self._spreading
        if spreading is not None:
            spreading.stop()
        if not self._shared:
            self._link.close()
        super().close()


def worker_for(cluster: str | Link) -> Worker:
    """Return a worker of this computer, or for a cluster as `read_place` reads it.

    Raises
    ------
    ClusterError
        When the cluster is no place.
    """
    if not cluster:
        return Worker()
    return ClusterWorker(cluster if isinstance(cluster, Link) else read_place(cluster))


def in_parts(run: RunSpec, worker: Worker) -> RunSpec:
    """Return a search with the number of parts that suits a worker, where none was chosen.

    Where the cluster cannot be reached it is not divided: the run itself then says why it failed.
    """
    searches = method_named(run.method).division.searches
    if run.shards or not searches or not isinstance(worker, ClusterWorker):
        return run
    try:
        return msgspec.structs.replace(run, shards=PARTS_EACH * worker.threads)
    except ClusterError:
        return run
