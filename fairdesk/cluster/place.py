"""Where runs are made: on this computer, on all of its cores, or on a cluster."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

import msgspec

from fairdesk.errors import ClusterError

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
