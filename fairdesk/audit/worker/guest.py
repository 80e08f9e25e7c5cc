"""The process that holds the model under audit: ``python -m fairdesk.audit.worker.guest``.

Its standard input and output are the pipes of `fairdesk.audit.worker.wire`. Before any library or
model gets to run they are moved to private descriptors: what a model prints goes to standard error
(the app's log), what it would read is empty. Then the process gives up what it can of its rights,
and its first words are what that was worth: from then on it may be a model that speaks.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from fairdesk.audit.worker.relay_client import Relay


#: How far a guest that works beside others stands back where all processors are busy.
NICE = 5


def main() -> None:
    """Serve until the app closes the pipe."""
    # Ctrl-C in a shared terminal is for the app, which then stops the search
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    incoming, outgoing = claim_pipes()
    # only now: whatever is imported may print
    from fairdesk.audit.sandbox import folders  # noqa: PLC0415
    from fairdesk.audit.sandbox.confining import confine  # noqa: PLC0415

    # a confined process starts no other; this one confines itself, and has said how before it
    # is given anything to read
    older = sys.argv.index(folders.OLDER) if folders.OLDER in sys.argv else 0
    relay = (
        _relay(sys.argv[older + 1], unconfined=folders.UNCONFINED in sys.argv) if older else None
    )
    comparing = folders.COMPARING in sys.argv
    if comparing and hasattr(os, "nice"):
        # the search that it works beside has a time limit
        os.nice(NICE)
    # before numeric libraries: they start threads, which would keep their rights
    layers = () if folders.UNCONFINED in sys.argv else confine(folders.current_sandbox())
    from fairdesk.audit.sandbox.folders import of_both  # noqa: PLC0415
    from fairdesk.audit.sandbox.probe import try_out  # noqa: PLC0415
    from fairdesk.audit.worker import frames, server, wire  # noqa: PLC0415

    held = try_out(folders.current_sandbox(), layers)
    frames.write(outgoing, 0, wire.Hello(of_both(held, relay.confinement()) if relay else held))
    server.serve(
        incoming, outgoing, relay, server.COMPARING_WARM_UP if comparing else server.WARM_UP
    )


def _relay(python: str, *, unconfined: bool) -> Relay:
    from fairdesk.audit.worker.relay_client import Relay  # noqa: PLC0415 - needed seldom

    return Relay(python, unconfined=unconfined)


def claim_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Return what was standard input and output, which then are empty and standard error."""
    incoming = os.fdopen(os.dup(0), "rb")
    outgoing = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return incoming, outgoing


if __name__ == "__main__":
    main()
