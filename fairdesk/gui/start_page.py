"""What is on screen while no audit is open: begin one, open one, or try a sample."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from fairdesk.gui.finishing import Finishing
from fairdesk.gui.kit import layouts, theme
from fairdesk.gui.kit.parts import Banner, Words, heading, in_order, quiet, scrolled
from fairdesk.gui.kit.settings import Glance
from fairdesk.gui.recent_card import RecentCard
from fairdesk.gui.sample_card import SampleCard
from fairdesk.samples import samples

#: The least width of a card.
_LEAST = 380


class StartPage(QWidget):
    """The start page.

    Signals
    -------
    new, open
        A new audit, or one to choose from the disk.
    opened : Path
        One of the audits that were open before.
    tried : Sample, SampleModel
        A fresh audit of a sample.
    looked : Path
        The finished audit of a sample is to be opened.
    """

    new = Signal()
    open = Signal()
    opened = Signal(object)
    tried = Signal(object, object)
    looked = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.finishing = Finishing(self)
        self.finishing.done.connect(self._finished)
        self.samples: dict[str, SampleCard] = {}
        self._cards: list[RecentCard] = []
        self.banner = Banner()
        self.finishing.failed.connect(self.banner.tell)
        inside = QWidget()
        column = layouts.column(
            Words("FairDesk", size=2.2, strong=True),
            Words(
                "Test whether a model’s decisions depend on protected attributes.",
                tone="quiet",
                size=1.12,
            ),
            layouts.gap(theme.GAP),
            self.banner,
            self._buttons(),
            quiet(
                "Or drop an audit, a table (a file, or a folder with its parts) or a model "
                "anywhere in this window."
            ),
            layouts.gap(theme.WIDE),
            on=inside,
            margin=(48, 40, 48, 32),
            spacing=theme.GAP,
        )
        column.addLayout(self._recent_part())
        column.addSpacing(theme.NEAR)
        column.addLayout(self._sample_part())
        column.addStretch(1)
        layouts.column(scrolled(inside), on=self)

    def show_recents(self, recents: Iterable[tuple[Path, Glance | None]]) -> None:
        """Show the audits that were open before, with what they came to."""
        cards = []
        for path, glance in recents:
            card = RecentCard(path, glance)
            card.opened.connect(lambda chosen=path: self.opened.emit(chosen))
            cards.append(card)
        for card in self._cards:
            card.deleteLater()
        self._cards = cards
        self._recents.show_cards(cards)
        in_order(self.open_button, *(card.button for card in cards))
        for widget in (self._recents_title, self._recents):
            widget.setVisible(bool(cards))

    def _buttons(self) -> QHBoxLayout:
        self.new_button, self.open_button = QPushButton("&New audit"), QPushButton("&Open audit…")
        theme.fill(self.new_button)
        for button, signal in ((self.new_button, self.new), (self.open_button, self.open)):
            button.setFont(theme.scaled(button.font(), 1.12))
            button.setMinimumSize(170, 44)
            button.clicked.connect(lambda _checked=False, ask=signal: ask.emit())
        return layouts.row(self.new_button, self.open_button, layouts.stretch(), spacing=theme.GAP)

    def _recent_part(self) -> QVBoxLayout:
        self._recents_title, self._recents = heading("Recent audits"), layouts.Tiles(_LEAST)
        return layouts.column(self._recents_title, self._recents, spacing=theme.NEAR)

    def _sample_part(self) -> QVBoxLayout:
        for sample in samples():
            card = self.samples[sample.key] = SampleCard(sample, self.finishing)
            card.tried.connect(self.tried)
            card.looked.connect(self.looked)
        tiles = layouts.Tiles(_LEAST)
        tiles.show_cards(tuple(self.samples.values()))
        return layouts.column(heading("Try it on a sample"), tiles, spacing=theme.NEAR)

    @property
    def report(self) -> SampleCard | None:
        """The first sample with a report to show."""
        there = (card for card in self.samples.values() if not card.report.isHidden())
        return next(there, None)

    def show_samples(self) -> None:
        """Offer what there is of the samples by now."""
        for card in self.samples.values():
            card.show_finished()

    def _finished(self, path: Path) -> None:
        """Open a finished audit that the auditor waited for."""
        self.show_samples()
        if self.isVisible():
            self.looked.emit(path)
