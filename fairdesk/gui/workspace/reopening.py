"""The model of an audit that was opened again: the same file, or none."""

from __future__ import annotations

from pathlib import Path

from fairdesk.audit import environments
from fairdesk.audit.spec import AuditSpec
from fairdesk.audit.worker import Worker
from fairdesk.errors import ModelError
from fairdesk.files import sha256


class MovedError(ModelError):
    """The model file is not where the audit had it, or is another one by now."""


def check_same(fingerprint: str, path: Path) -> None:
    """Make sure that a file is the audited one, by its fingerprint.

    Raises
    ------
    MovedError
        When the file is missing or another one.
    """
    try:
        found = sha256(path)
    except FileNotFoundError:
        raise MovedError(
            "The model file is not where it was.",
            why=f"There is no file “{path}”.",
            remedy="Show where it is now; the earlier results do not need it.",
        ) from None
    except OSError as error:
        raise MovedError(
            "The model file cannot be read.",
            why=f"The system says about “{path}”: {error.strerror or error}.",
            remedy="Show a copy of it; the earlier results do not need it.",
        ) from error
    if found != fingerprint:
        raise MovedError(
            "This is not the model that was audited.",
            why=f"The fingerprint (SHA-256) of “{path}” differs from the audited one: the file "
            "was changed or is another.",
            remedy="Show the audited file, or begin a new audit of this model.",
        )


def reopen(spec: AuditSpec, path: Path, worker: Worker) -> None:
    """Open the audited model again; slow, for a background thread.

    The auditor's trust in the file holds, for it has the same fingerprint.

    Parameters
    ----------
    spec : AuditSpec
        Whose model it is.
    path : Path
        Where the file is.
    worker : Worker
        A fresh process for it. Closing it ends the call with an error.

    Raises
    ------
    MovedError
        When the file is missing or another one.
    FairDeskError
        When it cannot be opened.
    """
    check_same(spec.model.sha256, path)
    for each in spec.model.companions:
        check_same(each.sha256, Path(each.path))
    worker.open_model(
        path,
        trusted=spec.trusted,
        output=spec.model.output,
        companions=spec.model.companions,
        command=_command(spec, path, worker),
    )


def _command(spec: AuditSpec, path: Path, worker: Worker) -> tuple[str, ...] | None:
    """Give the guest of the environment that the model was audited in; none for FairDesk's own."""
    if not spec.model.environment:
        return None
    needed = environments.needed(worker.look_into(path))
    there = None if needed is None else environments.find(needed)
    if there is None:
        raise ModelError(
            f"The environment that the model ran in is gone: {spec.model.environment}.",
            why="Environments are kept in FairDesk’s cache, and somebody may have emptied it.",
            remedy="Begin a new audit with this model: it makes the environment again. The earlier "
            "results do not need it.",
        )
    return environments.command(there)
