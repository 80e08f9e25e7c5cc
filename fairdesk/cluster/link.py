"""A connection to a cluster for as long as anybody needs it."""

from __future__ import annotations

import threading

from fairdesk.cluster.connection import Connection
from fairdesk.cluster.place import Place


class Link:
    """Connects when it is first asked to, and anew when the connection was lost.

    Parameters
    ----------
    place : Place
        The cluster.
    """

    def __init__(self, place: Place) -> None:
        self.place = place
        self._connection: Connection | None = None
        self._connecting = threading.Lock()

    def connect(self) -> Connection:
        """Return the connection; slow where there is none yet.

        Raises
        ------
        ClusterError
            As `Connection`.
        """
        with self._connecting:
            if self._connection is not None and self._connection.lost:
                self.close()
            if self._connection is None:
                self._connection = Connection(self.place)
            return self._connection

    def close(self) -> None:
        """Let go of the connection; to end processes takes seconds, and nobody waits for it."""
        if self._connection is not None:
            threading.Thread(target=self._connection.close).start()
            self._connection = None
