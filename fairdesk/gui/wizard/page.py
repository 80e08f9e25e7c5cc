"""What the wizard's pages have in common."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from fairdesk.audit.worker.client import Worker
from fairdesk.gui.kit import layouts, theme
from fairdesk.gui.kit.hints import set_topic
from fairdesk.gui.kit.pages import page_head
from fairdesk.gui.kit.parts import Banner, Words, quiet
from fairdesk.gui.kit.settings import Settings
from fairdesk.gui.wizard.state.wizard_state import Step, WizardState


@dataclass
class Desk:
    """What the pages work with.

    Attributes
    ----------
    state : WizardState
        The answers.
    model, clerk : Worker
        The process that holds the model, and the one that reads data.
    settings : Settings
        What is remembered between starts.
    histograms : dict
        Of the table's columns, for small charts; made while the table was read.
    """

    state: WizardState
    model: Worker
    clerk: Worker
    settings: Settings
    histograms: dict[str, tuple[tuple[str, int], ...]] = field(default_factory=dict)


class Page(QWidget):
    """One step: a title, one sentence, what has to be looked at again, and the answers.

    Signals
    -------
    changed
        An answer changed.
    """

    changed = Signal()

    def __init__(self, desk: Desk, step: Step, name: str, sentence: str) -> None:
        super().__init__()
        self.desk = desk
        self.step = step
        self._redo = Words(tone="wrong")
        self.banner = Banner()
        set_topic(self, f"step {step.name}")
        self.sentence = quiet(sentence)
        first = page_head(name)
        self.beside_title = first
        self.body = layouts.column(
            layouts.column(first, self.sentence, spacing=theme.TIGHT),
            self._redo,
            self.banner,
            on=self,
            margin=theme.AROUND,
            spacing=theme.GAP,
        )
        self._redo.hide()

    @property
    def state(self) -> WizardState:
        """The answers."""
        return self.desk.state

    def enter(self) -> None:
        """Show the answers as they are; called each time the page comes on screen."""
        self.show_redo()

    def first_field(self) -> QWidget:
        """Return what has the keyboard when the page comes on screen."""
        return self

    def inputs(self) -> Iterable[QWidget]:
        """Return inputs that were made since the page was, in the order they are read."""
        return ()

    def show_redo(self) -> None:
        """Say why the page has to be looked at again, if it has."""
        reason = self.state.redo.get(self.step, "")
        self._redo.say(f"↻  {reason}" if reason else "")
