"""The files of all pairs, written by a process of its own while the report is made.

Each pair becomes some forty texts, so that these files take as long as the report; Python computes
only one of them at a time in one process. The process is FairDesk's own and never sees a model.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Collection
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import BinaryIO, cast

import msgspec

from fairdesk.audit.sandbox.folders import package_folder
from fairdesk.audit.store.store import Store
from fairdesk.errors import FairDeskError, ReportError
from fairdesk.report.export.findings import write_findings_csv, write_findings_json

#: What is written, and who writes it.
PAIR_FILES = {"findings.csv": write_findings_csv, "findings.json": write_findings_json}
#: Of fewer pairs the files are written sooner than a process is there.
LEAST_PAIRS = 50_000


class _Wanted(msgspec.Struct, frozen=True):
    """The files that are to be written into a folder, of an audit file."""

    audit: str
    folder: str
    names: tuple[str, ...]


class _Written(msgspec.Struct, frozen=True):
    """One file is written, or an error: its three sentences."""

    name: str
    what: str = ""
    why: str = ""
    remedy: str = ""


class PairFiles:
    """Writes files beside; without a process yet it writes none.

    Attributes
    ----------
    names : tuple[str, ...]
        What is being written, in this order; empty before `begin`.
    """

    def __init__(self) -> None:
        self.names: tuple[str, ...] = ()
        self._process: subprocess.Popen[bytes] | None = None
        self._known: dict[str, _Written] = {}

    def expect(self, found: int) -> None:
        """Have the process ready once there are so many pairs that it pays."""
        if self._process is not None or found < LEAST_PAIRS:
            return
        # without one the files are written all the same
        with suppress(OSError):
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                (sys.executable, "-P", "-m", __name__),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=os.environ | {"PYTHONPATH": str(package_folder().parent)},
                # Ctrl-C in the terminal is for the app, which then stops the run
                start_new_session=True,
            )

    def begin(self, audit: Path, folder: Path, names: Collection[str]) -> None:
        """Have files of an audit file written into a folder, those that are `PAIR_FILES`."""
        if self._process is None:
            return
        names = tuple(name for name in names if name in PAIR_FILES)
        wanted = _Wanted(str(audit.absolute()), str(folder.absolute()), names)
        with suppress(OSError):
            self._to.write(msgspec.json.encode(wanted) + b"\n")
            self._to.close()
            self.names = names

    def finish(self, name: str) -> bool:
        """Wait until a file is written; false where the process did not come to that.

        Raises
        ------
        ReportError
            When it cannot be written.
        """
        while name not in self._known:
            line = self._from.readline()
            if not line:
                return False
            written = msgspec.json.decode(line, type=_Written)
            self._known[written.name] = written
        written = self._known[name]
        if written.what:
            raise ReportError(written.what, why=written.why, remedy=written.remedy)
        return True

    def close(self) -> None:
        """End the process. May be repeated."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            with suppress(OSError):
                self._to.close()
            self._from.close()

    @property
    def _to(self) -> BinaryIO:
        return cast("BinaryIO", cast("subprocess.Popen[bytes]", self._process).stdin)

    @property
    def _from(self) -> BinaryIO:
        return cast("BinaryIO", cast("subprocess.Popen[bytes]", self._process).stdout)


def _serve(incoming: BinaryIO, outgoing: BinaryIO) -> None:
    """Write what is wanted; nothing where the app has closed the pipe before."""
    if not (line := incoming.readline()):
        return
    wanted = msgspec.json.decode(line, type=_Wanted)
    with ExitStack() as stack:
        store: Store | None = None
        for name in wanted.names:
            written = _Written(name)
            try:
                store = store or stack.enter_context(Store.open(Path(wanted.audit)))
                PAIR_FILES[name](store, Path(wanted.folder) / name)
            except FairDeskError as error:
                written = _Written(name, error.what, error.why, error.remedy)
            outgoing.write(msgspec.json.encode(written) + b"\n")
            outgoing.flush()


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(BrokenPipeError):
        _serve(sys.stdin.buffer, sys.stdout.buffer)
