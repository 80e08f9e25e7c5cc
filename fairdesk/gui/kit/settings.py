"""What the window remembers from one start to the next: one small JSON file."""

from __future__ import annotations

import logging
import os
import tempfile
from pathlib import Path
from typing import Literal

import msgspec

from fairdesk import files

#: So many audits are remembered.
RECENTS = 10

_log = logging.getLogger(__name__)


class Glance(msgspec.Struct, frozen=True):
    """What an audit came to when it was last closed, to be known again by.

    Attributes
    ----------
    title, model, date : str
        Of the audit.
    value, label : str
        Its headline: a figure, and what it is of; both empty before anything was measured.
    """

    title: str
    model: str
    date: str
    value: str = ""
    label: str = ""


class Settings(msgspec.Struct):
    """What is remembered.

    Attributes
    ----------
    scheme : str
        ``"light"``, ``"dark"`` or ``"system"``.
    recents : list[str]
        Paths of audits, the latest first.
    glances : dict[str, Glance]
        What these audits came to, by their paths.
    trusted : list[str]
        SHA-256 of model files whose code the auditor has agreed to run.
    folders : dict[str, str]
        The folder last used, per purpose.
    maximised : bool
        Whether the window filled the screen when it was closed.
    size : (int, int)
        The window's width and height, in logical pixels, while it does not fill the screen.
    cluster : str
        Where runs are made, as `fairdesk.cluster.connection.read_place` reads it; empty for this
        computer.
    """

    scheme: Literal["system", "light", "dark"] = "system"
    recents: list[str] = msgspec.field(default_factory=list)
    glances: dict[str, Glance] = msgspec.field(default_factory=dict)
    trusted: list[str] = msgspec.field(default_factory=list)
    folders: dict[str, str] = msgspec.field(default_factory=dict)
    maximised: bool = False
    size: tuple[int, int] = (1240, 820)
    cluster: str = ""

    def opened(self, path: Path) -> None:
        """Put an audit at the top of the recents."""
        text = str(path.absolute())
        self.recents = [text, *(other for other in self.recents if other != text)][:RECENTS]
        self.save()

    def closed(self, path: Path, glance: Glance) -> None:
        """Remember what an audit came to, while it is among the recents."""
        self.glances[str(path.absolute())] = glance
        self.glances = {each: self.glances[each] for each in self.recents if each in self.glances}
        self.save()

    def glance(self, path: Path) -> Glance | None:
        """Return what an audit came to, if that is known."""
        return self.glances.get(str(path.absolute()))

    def trust(self, sha256: str) -> None:
        """Remember that a model file may run its code."""
        if sha256 not in self.trusted:
            self.trusted.append(sha256)
            self.save()

    def folder(self, purpose: str) -> str:
        """Return the folder last used for a purpose, or the home folder."""
        last = self.folders.get(purpose, "")
        return last if last and Path(last).is_dir() else str(Path.home())

    def used(self, purpose: str, path: Path) -> None:
        """Remember the folder of a file for a purpose."""
        self.folders[purpose] = str(path.parent.absolute())
        self.save()

    def save(self) -> None:
        """Write the file, whole or not at all. A failure is logged: no work depends on it."""
        target = _file()
        try:
            handle, name = tempfile.mkstemp(dir=target.parent, suffix=".part")
            with os.fdopen(handle, "wb") as stream:
                stream.write(msgspec.json.format(msgspec.json.encode(self)))
            Path(name).replace(target)
        except OSError as error:
            _log.warning("The settings cannot be saved: %s", error)


def load() -> Settings:
    """Read the settings; the defaults when there are none or they cannot be read."""
    try:
        return msgspec.json.decode(_file().read_bytes(), type=Settings)
    except FileNotFoundError:
        return Settings()
    except (OSError, msgspec.MsgspecError) as error:
        _log.warning("The settings cannot be read, the defaults are used: %s", error)
        return Settings()


def _file() -> Path:
    return files.settings_folder() / "settings.json"
