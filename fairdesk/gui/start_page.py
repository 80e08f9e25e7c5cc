"""What is on screen while no audit is open: begin one, open one, or try a sample."""

from __future__ import annotations

import html
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from fairdesk.gui.kit import layouts, theme
from fairdesk.gui.kit.fields import choice
from fairdesk.gui.kit.parts import (
    Banner,
    Busy,
    Card,
    Elided,
    PressedCard,
    Words,
    heading,
    in_order,
    push_button,
    quiet,
    scrolled,
)
from fairdesk.gui.kit.settings import Glance
from fairdesk.gui.kit.threads import in_background
from fairdesk.samples import Sample, samples

#: Milliseconds between two looks at how far the compiler is.
_COMPILING = 1_500
#: The least width of a card.
_LEAST = 380


class RecentCard(PressedCard):
    """One audit that was open before; one that is gone is greyed.

    Parameters
    ----------
    glance : Glance, optional
        What it came to when it was last closed.

    """

    def __init__(self, path: Path, glance: Glance | None) -> None:
        super().__init__(margin=theme.GAP)
        there = path.is_file()
        title = glance.title if glance is not None else path.stem
        self.title = Words(title, strong=True)
        self.button = push_button("Open →", self.pressed, flat=True)
        date = quiet(glance.date if glance is not None else "")
        date.setWordWrap(False)
        self.body.addLayout(layouts.row(layouts.grow(self.title), date, spacing=theme.GAP))
        said = [title]
        if glance is not None and glance.value:
            said.append(f"{glance.value}: {glance.label}")
            self.body.addWidget(Words(glance.value, size=1.25, strong=True))
            self.body.addWidget(Words(glance.label))
        place = Elided(str(path) if there else f"not found: {path}")
        if glance is not None and there:
            place.say(f"{glance.model}  ·  {path.parent}")
            said.append(glance.model)
        self.body.addLayout(layouts.row(layouts.grow(place), self.button, spacing=theme.GAP))
        self.body.setSpacing(theme.TIGHT)
        self.button.setAccessibleName(f"Open {'. '.join(said)}" if there else f"{title}, not found")
        self.setToolTip(html.escape(str(path)))
        self.setEnabled(there)
        if there:
            self.setCursor(Qt.CursorShape.PointingHandCursor)


class SampleCard(Card):
    """One sample.

    Signals
    -------
    tried : Sample, SampleModel
        A fresh audit of it.
    looked : Sample
        Its finished audit is to be opened.
    failed : FairDeskError
        Why its report was not made.
    """

    tried = Signal(object, object)
    looked = Signal(object)
    failed = Signal(object)

    def __init__(self, sample: Sample) -> None:
        super().__init__()
        self._sample = sample
        of = sample.title
        self.look = push_button(
            "Open the finished audit",
            lambda: self.looked.emit(sample),
            name=f"Open the finished audit of {of}",
        )
        self.report = push_button("Report (PDF)", self.show_report, name=f"Open the report of {of}")
        self.new = push_button("Start a new audit", self._try, name=f"Start a new audit of {of}")
        self.models = choice([model.title for model in sample.models], f"Model of {of}")
        self.models.setVisible(len(sample.models) > 1)
        self.busy = Busy()
        layouts.fill(
            self.body,
            Words(of, strong=True),
            quiet(sample.sentence),
            # cards beside each other are level: words at the top, buttons at the bottom
            layouts.stretch(),
            layouts.gap(theme.TIGHT),
            layouts.row(self.look, self.report, layouts.stretch(), spacing=theme.GAP),
            self.busy,
            layouts.row(self.new, self.models, layouts.stretch(), spacing=theme.GAP),
        )
        in_order(self.look, self.report, self.new, self.models)

    def show_report(self) -> None:
        """Open the report of the finished audit in the system's viewer, made at first."""
        if not self.report.isEnabled():
            return

        def make() -> Path:
            # it brings the numeric libraries with it
            from fairdesk.app.report import finished_report  # noqa: PLC0415

            return finished_report(self._sample)

        self.report.setEnabled(False)
        self.busy.say("Making the report …")
        task = in_background(self, make, _open, self.failed.emit)
        task.ended.connect(self._made)

    def _made(self) -> None:
        self.report.setEnabled(True)
        self.busy.say("")

    def _try(self) -> None:
        self.tried.emit(self._sample, self._sample.models[self.models.currentIndex()])


def _open(path: Path) -> None:
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))


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
    looked : Sample
        Its finished audit is to be opened.
    """

    new = Signal()
    open = Signal()
    opened = Signal(object)
    tried = Signal(object, object)
    looked = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.samples: dict[str, SampleCard] = {}
        self.banner = Banner()
        self.preparing = quiet()
        self.preparing.hide()
        self._compiling = QTimer(self, interval=_COMPILING)
        self._compiling.timeout.connect(self.show_preparing)
        self._compiling.start()
        inside = layouts.panel(
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
            self.preparing,
            self._recent_part(),
            layouts.gap(theme.NEAR),
            self._sample_part(),
            layouts.stretch(),
            margin=(48, 40, 48, 32),
            spacing=theme.GAP,
        )
        layouts.column(scrolled(inside), on=self)

    def show_recents(self, recents: Iterable[tuple[Path, Glance | None]]) -> None:
        """Show the audits that were open before, with what they came to."""
        cards = []
        for path, glance in recents:
            card = RecentCard(path, glance)
            card.pressed.connect(partial(self.opened.emit, path))
            cards.append(card)
        self._recents.replace_cards(cards)
        in_order(self.open_button, *(card.button for card in cards))
        self._recents_title.setVisible(bool(cards))

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
            card = self.samples[sample.key] = SampleCard(sample)
            card.tried.connect(self.tried)
            card.looked.connect(self.looked)
            card.failed.connect(self.banner.tell)
        tiles = layouts.Tiles(_LEAST)
        tiles.show_cards(tuple(self.samples.values()))
        return layouts.column(heading("Try it on a sample"), tiles, spacing=theme.NEAR)

    def show_preparing(self) -> None:
        """Show how far the compiler is, until what it makes is there."""
        # it need not be loaded before the window is there
        from fairdesk.audit.sandbox import kernel_cache  # noqa: PLC0415

        progress = kernel_cache.progress()
        self.preparing.setVisible(progress is not None)
        if progress is not None:
            done, total = progress
            self.preparing.setText(
                f"Preparing searches and certification, on first use only: {done} of {total}. "
                "A run that begins earlier prepares what it needs first."
            )
        elif kernel_cache.is_made():
            self._compiling.stop()
