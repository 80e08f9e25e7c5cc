"""The model of an audit that was opened again: the same file, or none."""

from __future__ import annotations

from pathlib import Path

from fairdesk.audit.spec import AuditSpec
from fairdesk.audit.worker import Worker
from fairdesk.errors import ModelError
from fairdesk.files import sha256


class MovedError(ModelError):
    """The model file is not where the audit had it, or is another one by now."""


def check_same(spec: AuditSpec, path: Path) -> None:
    """Make sure that a file is the audited model, by its fingerprint.

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
    if found != spec.model.sha256:
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
    check_same(spec, path)
    worker.open_model(path, trusted=spec.trusted)
