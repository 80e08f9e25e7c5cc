"""The workers of a cluster: who can run audits, who is ready or silent, who has which shards."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING
from uuid import uuid4

import msgspec

from fairdesk.audit.plan.spec import versions
from fairdesk.cluster import messages, remote
from fairdesk.cluster.connection import Connection, Member, Place
from fairdesk.errors import ClusterError

if TYPE_CHECKING:
    from distributed import Future


#: Shards that each worker has for each it runs at once: the next one need not wait for the network.
#: The last ones of a run are not dealt ahead: they would wait for one worker beside an idle one.
_AHEAD = 2
#: More shards are left than run at once anywhere.
_MANY = sys.maxsize
#: How often it is asked who works for the scheduler, in seconds.
_LOOK_SECONDS = 1.0


@dataclass(slots=True)
class _State:
    """What is known of one worker."""

    member: Member
    heard: float
    check: Future[bytes] | None = None
    #: Of what is compiled there first.
    compiling: Future[bytes] | None = None
    #: What it has to be sent before, by its SHA-256.
    lacking: tuple[str, ...] = ()
    ready: bool = False
    trouble: str = ""
    out: dict[str, int] = field(default_factory=dict)
    #: Of these another worker was quicker.
    late: set[str] = field(default_factory=set)

    def room(self, *, ahead: bool) -> int:
        """How many more shards it may be given: what is late may keep a thread for ever."""
        free = self.member.threads - len(self.late)
        return (_AHEAD if ahead else 1) * free - (len(self.out) - len(self.late))


class Members:
    """The workers, by their addresses.

    Each opens the audit's model before it is given a shard, so that one that cannot is known before
    the run begins.

    Parameters
    ----------
    connection : Connection
        To their scheduler.
    opening : messages.Opening
        What each has to open.
    keep : callable
        Has contents kept on the worker of an address; returns what is to wait for.
    came : callable
        Told, in another thread, of each future that is over.
    silence : float
        After so many seconds in which the scheduler has not heard of a worker it is given up.
    """

    def __init__(
        self,
        connection: Connection,
        opening: messages.Opening,
        keep: Callable[[str, tuple[str, ...]], list[Future[bytes]]],
        came: Callable[[Future[bytes]], None],
        silence: float,
    ) -> None:
        self._connection, self._opening, self._silence = connection, opening, silence
        self._keep, self._came = keep, came
        self._states: dict[str, _State] = {}
        self._looked = 0.0

    def look(self) -> dict[str, set[int]]:
        """Ask the scheduler who works for it, now and then; new workers are checked.

        Returns
        -------
        dict
            The workers that are gone, each with the shards that it had.

        Raises
        ------
        ClusterError
            When the scheduler is gone.
        """
        now = monotonic()
        if now - self._looked < _LOOK_SECONDS:
            return {}
        self._looked = now
        members = self._connection.members()
        gone = {each: self._states.pop(each) for each in self._states.keys() - members.keys()}
        for address, member in members.items():
            state = self._states.get(address)
            if state is None:
                state = self._states[address] = _State(member, now)
                self._check(address, state)
            elif member.seen != state.member.seen:
                state.member, state.heard = member, now
        return {address: set(state.out.values()) for address, state in gone.items()}

    def _check(self, address: str, state: _State) -> None:
        first = [state.compiling] if state.compiling else []
        state.check = self._connection.submit(
            remote.open_here,
            messages.write_opening(self._opening),
            *self._keep(address, state.lacking),
            *first,
            wait=not first,
            key=f"fairdesk-open-{uuid4().hex}",
            worker=address,
        )
        state.check.add_done_callback(self._came)

    def checked(self, future: Future[bytes]) -> bool:
        """Note what a worker said of itself; returns whether the future was that."""
        for address, state in self._states.items():
            if state.check is not None and state.check.key == future.key:
                if future.status == "finished":
                    try:
                        said = future.result(timeout=self._silence)
                    except OSError:  # as a TimeoutError is: it was lost on its way
                        self._check(address, state)
                        return True
                    about = messages.read_about(said)
                    if not about.compiled:
                        state.compiling = self._connection.submit(
                            remote.compile_here,
                            key=f"fairdesk-compile-{uuid4().hex}",
                            worker=address,
                        )
                    if about.lacking or not about.compiled:
                        state.lacking += about.lacking
                        self._check(address, state)
                        return True
                    state.trouble = about.trouble
                elif future.status == "error":
                    state.trouble = cannot(future.exception())
                else:
                    self._check(address, state)
                    return True
                state.check, state.ready = None, not state.trouble
                return True
        return False

    @property
    def counts(self) -> tuple[int, int]:
        """How many workers have been checked, and how many there are that are not silent."""
        heard = [each for each in self._states.values() if not self._silent(each)]
        return sum(each.check is None for each in heard), len(heard)

    @property
    def compiling(self) -> bool:
        """Whether what guests compute with is being compiled on any worker that is waited for."""
        return any(each.compiling and each.check for each in self._states.values())

    def refuse_trouble(self) -> None:
        """Refuse a cluster of which a worker cannot run the audit.

        Raises
        ------
        ClusterError
            With the first such worker, and how many there are.
        """
        troubled = [each for each in self._states.values() if each.trouble]
        if not troubled:
            return
        first = troubled[0]
        more = len(troubled) - 1
        raise ClusterError(
            f"Worker {first.member.address} cannot run this audit"
            + (f", nor can {more:,} other{'' if more == 1 else 's'}." if more else "."),
            why=first.trouble,
            remedy="Set the worker up like this computer, or remove it from the cluster, and start "
            "the run again.",
        )

    def freest(self, avoiding: frozenset[str] = frozenset(), *, left: int = _MANY) -> str | None:
        """Return the worker with the most room; ``None`` where none has any.

        Those to be avoided are taken only where there are no others. Where no more shards are
        ``left`` than run at once, only one that would run this one at once has room.
        """
        ready = [
            state for state in self._states.values() if state.ready and not self._silent(state)
        ]
        ahead = left > sum(state.member.threads for state in ready)
        others = [state for state in ready if state.member.address not in avoiding] or ready
        room, best = max(
            (
                (each.room(ahead=ahead) / each.member.threads, each.member.address)
                for each in others
            ),
            default=(0.0, ""),
        )
        return best if room > 0 else None

    def _silent(self, state: _State) -> bool:
        return monotonic() - state.heard > self._silence

    @property
    def silent(self) -> list[str]:
        """Return the workers of which nothing was heard for too long."""
        return [address for address, state in self._states.items() if self._silent(state)]

    @property
    def usable(self) -> bool:
        """Whether any worker can run a shard, or may soon."""
        return any(
            not self._silent(each) and (each.ready or each.check is not None)
            for each in self._states.values()
        )

    def give(self, address: str, key: str, index: int) -> None:
        """Note that a worker has a shard, by the key of its future."""
        if address in self._states:
            self._states[address].out[key] = index

    def take_back(self, key: str) -> None:
        """Note that the worker that had it is done with it."""
        for state in self._states.values():
            state.out.pop(key, None)
            state.late.discard(key)

    def beaten(self, key: str) -> None:
        """Note that another worker was quicker with a shard: this one may hang."""
        for state in self._states.values():
            state.late |= {key} & state.out.keys()


def cannot(error: BaseException | None) -> str:
    """Say why a worker did not even begin: most often FairDesk is not installed there."""
    if isinstance(error, ImportError):
        return f"It cannot load FairDesk: {error}."
    return f"It failed with {type(error).__name__}: {error}."


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
