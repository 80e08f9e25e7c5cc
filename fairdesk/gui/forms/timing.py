"""When a run of a method ends, in a sentence."""

from __future__ import annotations

from fairdesk.audit.catalogue.method import QuestionKind
from fairdesk.audit.catalogue.methods import method_named


def ending(method: str) -> str:
    """Say when a run of a method ends."""
    if method == "neighbourhoods":
        return (
            "It ends earlier when every data row is decided. The certified and falsified counts "
            "can only grow: stop it at any time."
        )
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
