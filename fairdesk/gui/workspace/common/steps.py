"""The list of steps at the left: each says in words and with a sign how it stands."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from PySide6.QtCore import Signal

from fairdesk.gui.kit.hints import define_entries
from fairdesk.gui.kit.steps import Look, StepList


class Sign(Enum):
    """How a step or run stands: a sign beside the words."""

    NONE = ""
    NOT_YET = "○"
    RUNNING = "●"
    PAUSED = "‖"
    DONE = "✓"
    STOPPED = "■"
    FAILED = "!"
    OUTDATED = "△"


#: The sign of each state of a run.
OF_STATE = {
    "running": Sign.RUNNING,
    "paused": Sign.PAUSED,
    "stopped": Sign.STOPPED,
    "done": Sign.DONE,
    "failed": Sign.FAILED,
}


@dataclass(frozen=True)
class Standing:
    """How a step stands."""

    words: str = ""
    sign: Sign = Sign.NONE


_LOUD = {Sign.FAILED: "wrong", Sign.RUNNING: "accent"}


class Steps(StepList):
    """The steps of an audit.

    Parameters
    ----------
    names, icons : tuple of str
        What they are called, and the pictures beside their names.

    Signals
    -------
    chosen : int
        Another step is to be shown.
    """

    chosen = Signal(int)

    def __init__(self, names: tuple[str, ...], icons: tuple[str, ...]) -> None:
        super().__init__("Steps of the audit")
        for number, (name, icon) in enumerate(zip(names, icons, strict=True), start=1):
            self.add(name, Look(icon), f"{name} (Ctrl+{number % 10})")
        define_entries(self)
        self.setCurrentRow(0)
        self.currentRowChanged.connect(self.chosen)

    def stand(self, row: int, standing: Standing) -> None:
        """Say how a step stands."""
        name, sign = self.item(row).text(), standing.sign
        tone = _LOUD.get(sign, "quiet")
        look = Look(self.look(row).icon, sign.value, standing.words, tone)
        self.show_look(row, look, ", ".join(filter(None, (name, standing.words))))
