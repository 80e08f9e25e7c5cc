"""How long a run may take, for methods that keep time themselves."""

from __future__ import annotations

import msgspec

from fairdesk.audit.catalogue.method import ABOUT_GROUPS, QuestionKind
from fairdesk.audit.catalogue.methods import method_named
from fairdesk.audit.plan.spec import RunSpec

#: The parameter by which a method knows how long it may take; 0 is until it is done.
SECONDS = "seconds"


def ending(method: str) -> str:
    """Say when a run of a method ends."""
    if method_named(method).answers is QuestionKind.PROOF:
        return (
            "It ends earlier when every combination is decided. The certified and falsified "
            "shares can only grow: stop it at any time, and resume it later from the "
            "Certification page."
        )
    if method_named(method).answers is QuestionKind.GROUPS:
        return (
            "It ends earlier when every group is known within the error bound. You can pause "
            "or stop it at any time: the results so far are kept, with wider margins."
        )
    return "It ends earlier when the method is complete. You can pause or stop it at any time."


def takes_distance(method: str) -> bool:
    """Return whether a method can be kept to people near real ones."""
    return method_named(method).answers not in (QuestionKind.PROOF, *ABOUT_GROUPS)


def timed_run(run: RunSpec) -> RunSpec:
    """Let a method that keeps time itself know the run's limit; others are left as they are.

    One that proves speaks of everybody, and one about groups invents hardly anybody, so that no
    distance to real people limits them.
    """
    method = method_named(run.method)
    if SECONDS in method.options.__struct_fields__:
        options = {**run.options, SECONDS: run.budget.seconds or 0.0}
        run = msgspec.structs.replace(run, options=options)
    if not takes_distance(run.method):
        run = msgspec.structs.replace(run, near=None)
    return run
