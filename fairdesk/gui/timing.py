"""How long a run may take, for methods that keep time themselves."""

from __future__ import annotations

import msgspec

from fairdesk.audit.methods import Answers, method_named
from fairdesk.audit.spec import RunSpec

#: The parameter by which a method knows how long it may take; 0 is until it is done.
SECONDS = "seconds"


def ending(method: str) -> str:
    """Say when a run of a method ends."""
    if method_named(method).answers is Answers.PROOF:
        return (
            "It ends earlier when everybody is decided. What is proven only grows: stop it at any "
            "time, and go on later from the Proof page."
        )
    return "It ends earlier when the method is done. You can pause or stop it at any time."


def timed_run(run: RunSpec) -> RunSpec:
    """Let a method that keeps time itself know the run's limit; others are left as they are.

    One that proves speaks of everybody, so that no distance to real people limits it.
    """
    method = method_named(run.method)
    if SECONDS in method.options.__struct_fields__:
        options = {**run.options, SECONDS: run.budget.seconds or 0.0}
        run = msgspec.structs.replace(run, options=options)
    if method.answers is Answers.PROOF:
        run = msgspec.structs.replace(run, near=None)
    return run
