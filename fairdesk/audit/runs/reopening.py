"""The model of an audit that was opened again: the same file, or none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from fairdesk.audit.environments import environments
from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.worker.client import Worker
from fairdesk.errors import ModelError
from fairdesk.files import sha256


class MovedError(ModelError):
    """The model file, or one beside it, is not where the audit had it, or is another one by now.

    Attributes
    ----------
    lost : Path
        Where it was when it was audited.
    """

    def __init__(self, what: str, *, lost: Path, why: str, remedy: str) -> None:
        super().__init__(what, why=why, remedy=remedy)
        self.lost = lost


def check_same(
    fingerprint: str, path: Path, what: str = "The model file", was: Path | None = None
) -> None:
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
            f"{what} is not where it was.",
            lost=was or path,
            why=f"There is no file “{path}”.",
            remedy="Select its present location; the earlier results do not need it.",
        ) from None
    except OSError as error:
        raise MovedError(
            f"{what} cannot be read.",
            lost=was or path,
            why=f"The system reported about “{path}”: {error.strerror or error}.",
            remedy="Select a copy of it; the earlier results do not need it.",
        ) from error
    if found != fingerprint:
        raise MovedError(
            f"{what} is not the audited one.",
            lost=was or path,
            why=f"The SHA-256 hash of “{path}” differs from the audited one: the file was changed "
            "or is a different file.",
            remedy="Select the audited file, or start a new audit of this model.",
        )


def reopen(
    spec: AuditSpec,
    places: Mapping[Path, Path],
    worker: Worker,
    *,
    trusting: Callable[[Path], bool] = lambda _path: True,
) -> None:
    """Open the audited model again; slow, for a background thread.

    The auditor's trust in the file holds, for it has the same fingerprint.

    Parameters
    ----------
    places : mapping of Path to Path
        Where files are now that are not where they were. Files beside the model are looked for
        beside it too.
    worker : Worker
        A fresh process for it. Closing it ends the call with an error.
    trusting : callable
        Whether the auditor who asks now agrees, too, that code of a file runs that needed it when
        it was audited: that audit may be somebody else's.

    Raises
    ------
    MovedError
        When the file is missing or another one.
    TrustRequiredError
        When code of it would have to run, and nobody agrees to that now.
    FairDeskError
        When it cannot be opened.
    """
    original = Path(spec.model.path)
    path = places.get(original, original)
    check_same(spec.model.sha256, path, was=original)
    companions = []
    for each in spec.model.companions:
        was = Path(each.path)
        there = _place(was, places, path.parent)
        check_same(each.sha256, there, f"The companion file “{was.name}”", was)
        trusted = each.trusted and trusting(there)
        companions.append(msgspec.structs.replace(each, path=str(there), trusted=trusted))
    worker.open_model(
        path,
        trusted=spec.trusted and trusting(path),
        output=spec.model.output,
        companions=companions,
        command=_command(spec, path, worker),
    )


def _place(was: Path, places: Mapping[Path, Path], beside: Path) -> Path:
    """Return where a file beside the model is now: as was shown, where it was, or where that is."""
    near = beside / was.name
    return places.get(was, near if not was.is_file() and near.is_file() else was)


def _command(spec: AuditSpec, path: Path, worker: Worker) -> tuple[str, ...] | None:
    """Give the guest of the environment that the model was audited in; none for FairDesk's own."""
    if not spec.model.environment:
        return None
    needed = environments.needed(worker.look_into(path))
    there = None if needed is None else environments.find(needed)
    if there is None:
        raise ModelError(
            f"The environment in which the model ran no longer exists: {spec.model.environment}.",
            why="Environments are kept in FairDesk’s cache, which may have been emptied.",
            remedy=(
                "Start a new audit with this model, which makes the environment again. The "
                "earlier results do not need it."
            ),
        )
    return environments.command(there)
