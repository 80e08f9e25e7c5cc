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

    Dask holds a content as the result of a task: it hands it from worker to worker, and makes again
    what is lost. But a shard that needed that would wait for another worker, which may hang: each
    worker keeps its own copy before it is given what needs it.

    Parameters
    ----------
    connection : Connection
        To the cluster.
    contents : Contents
        What there is to keep.
    """

    def __init__(self, connection: Connection, contents: Contents) -> None:
        self._connection, self._contents = connection, contents
        self._held: dict[str, Future[bytes]] = {}
        self._kept: dict[tuple[str, str], Future[bytes]] = {}

    def on(self, address: str, digests: Sequence[str]) -> list[Future[bytes]]:
        """Have contents kept on a worker; returns what a task there is to wait for."""
        for digest in digests:
            if (address, digest) not in self._kept:
                self._kept[address, digest] = self._connection.submit(
                    remote.keep_here,
                    digest,
                    self._content(digest),
                    key=f"fairdesk-keep-{uuid4().hex}",
                    worker=address,
                )
        return [self._kept[address, digest] for digest in digests]

    def _content(self, digest: str) -> Future[bytes]:
        if digest not in self._held:
            self._held[digest] = self._connection.submit(
                remote.content_here,
                self._contents.kept[digest],
                key=f"fairdesk-content-{digest}",
            )
        return self._held[digest]
