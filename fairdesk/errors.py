"""The errors that an auditor sees: what happened, why, and what to do about it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class FairDeskError(Exception):
    """An expected failure, told in the auditor's words.

    Anything else that is raised is a defect: it is logged with its traceback and shown as such.

    Parameters
    ----------
    why : str
        The cause, as far as it is known; a whole sentence or empty.
    remedy : str
        What the auditor can do next; a whole sentence or empty.
    setting : str
        The setting to change, by its name in `Subject`, the plan or the run; empty when it is not
        one. The command line names the argument that sets it.
    """

    def __init__(self, what: str, *, why: str = "", remedy: str = "", setting: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.why = why
        self.remedy = remedy
        self.setting = setting

    def __str__(self) -> str:
        parts = [part.rstrip() for part in (self.what, self.why, self.remedy)]
        # a cause may end with another program's words, which seldom end like a sentence
        return " ".join(f"{part}." if part[-1].isalnum() else part for part in parts if part)


class DataError(FairDeskError):
    """A table cannot be read, or is not what the audit needs."""


class ModelError(FairDeskError):
    """A model file cannot be opened, fed or asked."""


class TrustRequiredError(ModelError):
    """The file is a program and would run when opened; the auditor has not agreed to that."""


class SpecError(FairDeskError):
    """What was asked for cannot be audited: options, domain or protected attributes do not fit."""


class StoreError(FairDeskError):
    """The audit file cannot be read or written."""


class ReportError(FairDeskError):
    """A report or export cannot be made or written."""


class WorkerError(FairDeskError):
    """The process that holds the model died, hangs, or broke the protocol."""


class ClusterError(FairDeskError):
    """A cluster cannot be reached, or its workers cannot run the audit."""


def did_you_mean(given: str, known: Iterable[str], otherwise: str = "") -> str:
    """Ask whether a name that is nearly the given one was meant.

    Parameters
    ----------
    otherwise : str, optional
        What is returned where none is near.
    """
    names = {each.casefold(): each for each in known}
    near = difflib.get_close_matches(given.casefold(), names, 1)
    return f"Did you mean “{names[near[0]]}”?" if near else otherwise


@contextmanager
def concerning(setting: str) -> Iterator[None]:
    """Name the setting that errors raised inside are about, where they do not name one."""
    try:
        yield
    except FairDeskError as error:
        if not isinstance(error, (TrustRequiredError, WorkerError)):
            error.setting = error.setting or setting
        raise


@contextmanager
def system_errors(kind: type[FairDeskError], what: str, remedy: str = "") -> Iterator[None]:
    """Raise what the operating system refuses as an error that an auditor sees.

    Parameters
    ----------
    what, remedy : str
        As in `FairDeskError`; why is what the system reported.
    """
    try:
        yield
    except OSError as error:
        raise kind(
            what, why=f"The system reported: {error.strerror or error}.", remedy=remedy
        ) from error


#: By name, for errors that cross from the worker process.
ERRORS: dict[str, type[FairDeskError]] = {
    kind.__name__: kind
    for kind in (
        FairDeskError,
        DataError,
        ModelError,
        TrustRequiredError,
        SpecError,
        StoreError,
        ReportError,
        WorkerError,
        ClusterError,
    )
}
