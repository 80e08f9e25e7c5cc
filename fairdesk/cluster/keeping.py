"""What lies apart from shards, kept on the disks of a cluster's workers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import uuid4

from fairdesk.cluster import remote
from fairdesk.cluster.connection import Connection
from fairdesk.cluster.messages import Contents

if TYPE_CHECKING:
    from distributed import Future


class Keeping:
    """Has contents kept on workers, each once.

    Each worker is sent its own copy before it is given what needs it. Were a content the result of
    a task that Dask hands from worker to worker, all would wait for the one that has it, which may
    hang.

    Parameters
    ----------
    connection : Connection
        To the cluster.
    contents : Contents
        What there is to keep.
    """

    def __init__(self, connection: Connection, contents: Contents) -> None:
        self._connection, self._contents = connection, contents
        self._kept: dict[tuple[str, str], Future[bytes]] = {}

    def on(self, address: str, digests: Sequence[str]) -> list[Future[bytes]]:
        """Have contents kept on a worker; returns what a task there is to wait for."""
        for digest in digests:
            if (address, digest) not in self._kept:
                self._kept[address, digest] = self._connection.submit(
                    remote.keep_here,
                    digest,
                    self._contents.kept[digest],
                    key=f"fairdesk-keep-{uuid4().hex}",
                    worker=address,
                )
        return [self._kept[address, digest] for digest in digests]
