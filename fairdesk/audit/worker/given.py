"""Files that a guest is given: under which names it has them, and their fingerprints."""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path

import msgspec

from fairdesk.audit.sandbox.sandbox import Given
from fairdesk.audit.worker import wire
from fairdesk.audit.worker.child import Child
from fairdesk.errors import ModelError, WorkerError
from fairdesk.models.model import ModelCard


class Fingerprint(threading.Thread):
    """The SHA-256 of a file that a guest was given, found in the background."""

    def __init__(self, given: Given | None) -> None:
        super().__init__(daemon=True)
        self._given, self._digest = given, ""
        self.start()

    def run(self) -> None:
        """Find it."""
        if self._given is not None:
            with suppress(OSError):  # the guest tells what is wrong with the file
                self._digest = self._given.fingerprint()

    def wait(self) -> str:
        """Return it; nothing where there is no such file."""
        self.join()
        return self._digest


class GivenModel:
    """A model and the files beside it, in a guest's folder, with their fingerprints.

    What the model's own code would tell about the files is not to be relied on: they are
    fingerprinted here, before it can run, and so are exactly the bytes that it is opened from.
    """

    def __init__(self, child: Child, request: wire.OpenModel) -> None:
        self._child, self._original = child, request
        given = child.give("model", Path(request.path))
        self.sha256 = Fingerprint(given).wait()
        self._companions = []
        private = []
        for i, companion in enumerate(request.companions):
            beside = child.give(f"companion {i}", Path(companion.path))
            digest = Fingerprint(beside).wait()
            self._companions.append(msgspec.structs.replace(companion, sha256=digest))
            path = companion.path if beside is None else str(beside.private)
            private.append(msgspec.structs.replace(companion, path=path, sha256=digest))
        path = request.path if given is None else str(given.private)
        #: What the guest is asked.
        self.request = msgspec.structs.replace(request, path=path, companions=tuple(private))

    @property
    def runs_code(self) -> bool:
        """Whether the auditor agreed that code of these files may run."""
        return self._original.trusted or any(each.trusted for each in self._companions)

    def check(self, before: ModelCard | None) -> None:
        """Refuse files that are not those of a card."""
        if before is None:
            return
        for path, wanted, found in (
            (before.path, before.sha256, self.sha256),
            *(
                (old.path, old.sha256, new.sha256)
                for old, new in zip(before.companions, self._companions, strict=True)
            ),
        ):
            if found and found != wanted:
                raise ModelError(
                    f"The file “{Path(path).name}” has changed since the model was opened.",
                    why=f"Its SHA-256 hash was {wanted[:12]}…, now it is {found[:12]}….",
                    remedy="Restore the earlier file, or start a new audit with this one.",
                )

    def in_original_words(self, card: ModelCard) -> ModelCard:
        """Put the user's files into the guest's card."""
        return msgspec.structs.replace(
            card,
            path=self._original.path,
            sha256=self.sha256,
            companions=tuple(self._companions),
            warnings=tuple(map(self._child.in_original_words, card.warnings)),
        )


def path_text(path: Path) -> str:
    """Return a path as text that can be sent, and kept in the audit file."""
    text = str(path.absolute())
    try:
        text.encode()
    except UnicodeEncodeError:
        shown = text.encode(errors="replace").decode()
        raise WorkerError(
            f"The name of “{shown}” contains bytes that are not characters.",
            why="It was most likely written by another system, in an old encoding.",
            remedy="Rename the file, or its folder.",
        ) from None
    return text
