"""Where runs are made, and the connection to a scheduler: made, used and ended."""

from __future__ import annotations

import json
import logging
import re
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from fairdesk.errors import ClusterError

if TYPE_CHECKING:
    from distributed import Client, Future, LocalCluster


#: Schemes of a scheduler's address; the second is encrypted.
SCHEMES = ("tcp://", "tls://")
_REMEDY = (
    "Give local, local:N with a number of workers, the scheduler’s address like "
    "tls://host:8786, or the path of a Dask scheduler file."
)


class Place(msgspec.Struct, frozen=True):
    """Where the shards of runs are computed.

    Attributes
    ----------
    kind : str
        ``"local"``: workers that are started on this computer; ``"address"`` and ``"file"``: the
        scheduler of a cluster that runs already, by its address or its scheduler file.
    workers : int
        Of ``"local"``: how many; 0 for one per core.
    at : str
        The address, or the path.
    """

    kind: Literal["local", "address", "file"]
    workers: int = 0
    at: str = ""

    def __str__(self) -> str:
        if self.kind != "local":
            return self.at
        return f"local:{self.workers}" if self.workers else "local"


def read_place(text: str) -> Place:
    """Read where to run.

    Parameters
    ----------
    text : str
        ``local``, ``local:N``, ``tcp://host:port``, ``tls://host:port``, or the path of a Dask
        scheduler file.

    Raises
    ------
    ClusterError
        When it is none of these.
    """
    given = text.strip()
    name, colon, number = given.partition(":")
    if name == "local":
        if not colon:
            return Place("local")
        if number.isdecimal() and int(number) > 0:
            return Place("local", workers=int(number))
    elif given.startswith(SCHEMES):
        if re.fullmatch(r"\w+://[^\s/:]+(:\d+)?|\w+://\[[^\]]+\](:\d+)?", given):
            return Place("address", at=given)
    elif "://" not in given and given:
        return Place("file", at=str(Path(given).absolute()))
    raise ClusterError(f"“{text}” does not name a cluster.", remedy=_REMEDY, setting="cluster")


#: How long a scheduler may take to answer, and its first worker to come, in seconds.
CONNECT_SECONDS, WORKER_SECONDS = 15.0, 60.0
#: Dask says so where more is sent at once; here that is a model file, once.
_LARGE = "8GiB"
#: What Dask looks at in its own processes, many times a second, takes a tenth of two processors.
_SELDOM = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.worker.memory.monitor-interval": "1s",
}


class Member(msgspec.Struct, frozen=True):
    """A worker as the scheduler knows it.

    Attributes
    ----------
    address : str
        Where it answers.
    host : str
        The computer it runs on.
    threads : int
        How many shards it runs at once.
    memory : int
        How many bytes it may use; 0 where there is no limit.
    seen : float
        When the scheduler heard of it last, by the scheduler's clock.
    """

    address: str
    host: str
    threads: int
    memory: int
    seen: float


class Connection:
    """A client of a scheduler; of workers on this computer also these themselves.

    Parameters
    ----------
    place : Place
        Which cluster.

    Raises
    ------
    ClusterError
        When Dask is not installed, no scheduler answers, or no worker comes.
    """

    def __init__(self, place: Place) -> None:
        check_installed()
        self.place = place
        self._cluster: LocalCluster | None = None
        if place.kind == "local":
            self._cluster, self.client = _started(place)
        else:
            self.client = _connected(place)
        try:
            self.client.wait_for_workers(1, timeout=WORKER_SECONDS)
        except TimeoutError as error:
            self.close()
            raise ClusterError(
                f"The scheduler {self.where} has no workers.",
                why=f"None came within {WORKER_SECONDS:g} seconds.",
                remedy=f"Start workers for it with: dask worker {self.where}",
                setting="cluster",
            ) from error

    @property
    def where(self) -> str:
        """The scheduler, for people."""
        if self._cluster is not None:
            return "on this computer"
        return str(self.place)

    @property
    def lost(self) -> bool:
        """Whether the scheduler no longer answers."""
        return self.client.status != "running"

    def members(self) -> dict[str, Member]:
        """Return the workers by their addresses.

        Raises
        ------
        ClusterError
            When the scheduler is gone.
        """
        if self.lost:
            raise scheduler_gone(self.where)
        try:
            told = self.client.sync(self._identity)["workers"]
        except (OSError, RuntimeError, TimeoutError) as error:
            raise scheduler_gone(self.where) from error
        return {
            address: Member(
                address,
                str(each.get("host", "")),
                int(each.get("nthreads", 1)),
                int(each.get("memory_limit") or 0),
                float(each.get("last_seen", 0.0)),
            )
            for address, each in told.items()
        }

    async def _identity(self) -> dict[str, Any]:
        """Ask the scheduler itself.

        What `Client.scheduler_info` returns is overwritten every two seconds, without the workers:
        now and then all of them would seem to be gone.
        """
        if self.client.scheduler is None:
            raise RuntimeError("the client was closed")
        answer: dict[str, Any] = await self.client.scheduler.identity(n_workers=-1)
        return answer

    def submit(
        self,
        function: Callable[..., bytes],
        *arguments: Any,  # noqa: ANN401 - bytes, and what will be
        key: str,
        worker: str = "",
        **named: object,
    ) -> Future[bytes]:
        """Have a function run: on this worker and no other, or anywhere."""
        import dask  # noqa: PLC0415 - only with a cluster

        with dask.config.set({"distributed.admin.large-graph-warning-threshold": _LARGE}):
            return self.client.submit(
                function,
                *arguments,
                key=key,
                workers=[worker] if worker else None,
                pure=False,
                **named,
            )

    def tell(self, function: Callable[..., object], *arguments: object) -> None:
        """Have a function run on all workers at once, beside what they do; nothing waits for it.

        What is told later may come earlier.
        """

        def run() -> None:
            # whoever does not hear it runs nothing, or is about to be given up
            with suppress(Exception):
                self.client.run(function, *arguments, on_error="ignore")

        threading.Thread(target=run, daemon=True).start()

    def listen(self, topic: str, heard: Callable[[dict[str, Any]], None]) -> None:
        """Hear, in another thread, what workers say on a topic: each time with their address."""
        self.client.subscribe_topic(topic, lambda event: heard(event[1]))

    def forget(self, topic: str) -> None:
        """Hear no more of a topic."""
        with suppress(Exception):
            self.client.unsubscribe_topic(topic)

    def close(self) -> None:
        """End the connection, and workers that were started for it. May be repeated."""
        with suppress(Exception):
            self.client.close(timeout=2)
        if self._cluster is not None:
            with suppress(Exception):
                self._cluster.close(timeout=10)


def check_installed() -> None:
    """Refuse a cluster without Dask.

    Raises
    ------
    ClusterError
        With how it is installed.
    """
    if find_spec("distributed") is None:
        raise ClusterError(
            "Dask’s “distributed”, which connects to clusters, is not installed.",
            why="FairDesk was installed without its extra “cluster”.",
            remedy="Install it with: pip install 'fairdesk[cluster]'. Or run on this computer.",
            setting="cluster",
        )


def scheduler_gone(where: str) -> ClusterError:
    """Return the error for a scheduler that no longer answers."""
    return ClusterError(
        f"The scheduler {where} no longer answers.",
        why="It was ended, or the network to it was interrupted.",
        remedy="Results so far are kept. Continue the run on this computer, or when the scheduler "
        "answers again.",
    )


def _started(place: Place) -> tuple[LocalCluster, Client]:
    """Start workers on this computer; only who knows keys that are made for it can join."""
    import dask  # noqa: PLC0415 - only with a cluster
    from distributed import Client, LocalCluster  # noqa: PLC0415 - only with a cluster

    _quiet()
    try:
        with dask.config.set(_SELDOM):
            cluster = LocalCluster(
                n_workers=place.workers or None,
                threads_per_worker=1,
                processes=True,
                host="127.0.0.1",
                security=True,
                # it serves its state by HTTP also without a dashboard: to nobody else, at any
                # free port
                dashboard_address=None,
                scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
                silence_logs=logging.CRITICAL,
                preload="fairdesk.cluster.remote",
            )
            return cluster, Client(cluster, set_as_default=False)
    except (OSError, RuntimeError, TimeoutError) as error:
        raise ClusterError(
            "Workers could not be started on this computer.",
            why=f"The system reported: {_said(error)}",
            remedy="Start fewer with local:N, or run without a cluster.",
            setting="cluster",
        ) from error


def _connected(place: Place) -> Client:
    """Connect to a scheduler that runs already."""
    from distributed import Client, Security  # noqa: PLC0415 - only with a cluster

    _quiet()
    address = place.at if place.kind == "address" else _address_in(Path(place.at))
    security = Security()
    if address.startswith("tls://") and not security.get_connection_args("client").get(
        "ssl_context"
    ):
        raise ClusterError(
            f"The scheduler {address} is encrypted, and no certificate to connect with was given.",
            why="Dask’s configuration names none.",
            remedy="Set distributed.comm.tls.ca-file, client.cert and client.key in Dask’s "
            "configuration.",
            setting="cluster",
        )
    try:
        return Client(address, security=security, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise ClusterError(
            f"No scheduler answers at {address}.",
            why=f"Connecting failed: {_said(error)}",
            remedy="Check the address, the network, and that “dask scheduler” is running there.",
            setting="cluster",
        ) from error


def _address_in(path: Path) -> str:
    """Return the address in a scheduler file."""
    try:
        address = json.loads(path.read_text(encoding="utf-8"))["address"]
    except OSError as error:
        raise ClusterError(
            f"The scheduler file “{path}” cannot be read.",
            why=f"The system reported: {error.strerror or error}.",
            remedy="Give the file that “dask scheduler --scheduler-file” writes.",
            setting="cluster",
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise ClusterError(
            f"“{path}” is not a Dask scheduler file.",
            why="It is not JSON with an address.",
            remedy="Give the file that “dask scheduler --scheduler-file” writes.",
            setting="cluster",
        ) from error
    return str(address)


def _quiet() -> None:
    """Let Dask write nothing to the terminal: what an auditor is to know is said in sentences."""
    for name in ("distributed", "tornado", "bokeh"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


def _said(error: BaseException) -> str:
    """Return what an error says, as the end of a sentence."""
    said: Sequence[str] = str(error).strip().splitlines()
    return f"{(said[0] if said else type(error).__name__).rstrip('.')}."


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
