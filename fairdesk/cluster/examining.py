"""“Test connection”: which workers a cluster has, and whether they can run an audit."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING
from uuid import uuid4

import msgspec

from fairdesk.audit.plan.spec import versions
from fairdesk.cluster import messages, remote
from fairdesk.cluster.connection import Connection, Member, Place
from fairdesk.cluster.members import cannot

if TYPE_CHECKING:
    from distributed import Future

#: How long a worker may take to start a process for models, in seconds.
_ANSWER_SECONDS = 90.0


class Examined(msgspec.Struct, frozen=True):
    """A worker, and what it says of itself.

    Attributes
    ----------
    worker : Member
        As the scheduler knows it.
    differing : tuple[str, ...]
        Versions that are others than here, a phrase each: it is given nothing to run.
    unconfined : tuple[str, ...]
        What a model's own code could misuse there.
    trouble : str
        Why it said nothing; empty where it did.
    """

    worker: Member
    differing: tuple[str, ...] = ()
    unconfined: tuple[str, ...] = ()
    trouble: str = ""

    @property
    def fit(self) -> bool:
        """Whether it can run audits."""
        return not self.differing and not self.trouble


def examine(place: Place) -> tuple[Examined, ...]:
    """Connect to a cluster and ask every worker what it is; slow.

    Raises
    ------
    ClusterError
        When there is no such cluster.
    """
    with closing(Connection(place)) as connection:
        asked = {
            member: connection.submit(
                remote.about_here, key=f"fairdesk-about-{uuid4().hex}", worker=member.address
            )
            for member in connection.members().values()
        }
        return tuple(_examined(member, future) for member, future in asked.items())


def _examined(member: Member, future: Future[bytes]) -> Examined:
    try:
        about = messages.read_about(future.result(timeout=_ANSWER_SECONDS))
    except TimeoutError:
        return Examined(member, trouble=f"It did not answer within {_ANSWER_SECONDS:g} seconds.")
    except Exception as error:  # noqa: BLE001 - whatever its own installation raises
        return Examined(member, trouble=cannot(error))
    return Examined(
        member,
        tuple(remote.other_versions(versions(), about.versions)),
        tuple(hold.what for hold in about.confinement.holds if not hold.holds),
    )
