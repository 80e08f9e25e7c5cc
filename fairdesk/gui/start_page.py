"""What is on screen while no audit is open: begin one, open one, or try a sample."""

from __future__ import annotations

import html
import threading
from collections.abc import Iterable
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QMouseEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from fairdesk.gui.kit import layouts, theme
from fairdesk.gui.kit.parts import (
    Banner,
    Busy,
    Card,
    Elided,
    Words,
    calm,
    heading,
    in_order,
    push_button,
    quiet,
    scrolled,
)
from fairdesk.gui.kit.settings import Glance
from fairdesk.gui.kit.threads import in_background
from fairdesk.samples import Sample, samples

if TYPE_CHECKING:
    from fairdesk.audit.store.records import RunState


#: Milliseconds between two looks at how far it is.
_PERIOD = 500


#: And how far the compiler is.
_COMPILING = 1_500
#: The least width of a card.
_LEAST = 380


class Finishing(QObject):
    """Makes one finished audit at a time.

    Signals
    -------
    said : str
        What is being done, and for how long; empty once it is over.
    done : Path
        The audit is there.
    failed : FairDeskError
        Why it is not.
    """

    said = Signal(str)
    done = Signal(object)
    failed = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._stop: threading.Event | None = None
        self._stage, self._began = "", 0.0
        self._timer = QTimer(self, interval=_PERIOD)
        self._timer.timeout.connect(self._tell)

    @property
    def busy(self) -> bool:
        """Whether one is being made."""
        return self._stop is not None

    def start(self, sample: Sample) -> None:
        """Begin, unless one is being made."""
        if self.busy:
            return
        stop = self._stop = threading.Event()
        self._stage, self._began = "starting", monotonic()

        def make() -> Path | None:
            # it brings the numeric libraries with it
            from fairdesk.app.finished import finish  # noqa: PLC0415

            return finish(sample, self._watch, stop.is_set)

        task = in_background(self, make, self._end, self.failed.emit)
        task.ended.connect(self._over)
        self._timer.start()
        self._tell()

    def cancel(self) -> None:
        """Let it come to its end soon, and leave nothing."""
        if self._stop is not None:
            self._stop.set()
            self._stage = "stopping"
            self._tell()

    def _watch(self, state: RunState) -> None:
        """Take down what is being done; called from the thread that makes the audit."""
        from fairdesk.audit.catalogue.methods import METHODS  # noqa: PLC0415 - see above

        runs = state.id and state.state in ("running", "paused")
        if self._stop is not None and not self._stop.is_set():
            self._stage = METHODS[state.method].title if runs else state.phase or self._stage

    def _tell(self) -> None:
        seconds = round(monotonic() - self._began)
        self.said.emit(f"Making the audit: {self._stage}, {seconds} s")

    def _over(self) -> None:
        self._timer.stop()
        self._stop = None
        self.said.emit("")

    def _end(self, path: Path | None) -> None:
        if path is not None:
            self.done.emit(path)


class RecentCard(Card):
    """One audit that was open before; one that is gone is greyed.

    Parameters
    ----------
    glance : Glance, optional
        What it came to when it was last closed.

    Signals
    -------
    opened
        It is to be opened.
    """

    opened = Signal()

    def __init__(self, path: Path, glance: Glance | None) -> None:
        super().__init__(margin=theme.GAP)
        there = path.is_file()
        title = glance.title if glance is not None else path.stem
        self.title = Words(title, strong=True)
        self.button = push_button("Open →", self.opened)
        self.button.setFlat(True)
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

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Open it wherever it is pressed."""
        if event.button() is Qt.MouseButton.LeftButton and self.rect().contains(
            event.position().toPoint()
        ):
            self.opened.emit()


class SampleCard(Card):
    """One sample.

    Signals
    -------
    tried : Sample, SampleModel
        A fresh audit of it.
    looked : Path
        Its finished audit is to be opened.
    """

    tried = Signal(object, object)
    looked = Signal(object)

    def __init__(self, sample: Sample, finishing: Finishing) -> None:
        super().__init__()
        self._sample, self._finishing = sample, finishing
        self._mine = False
        self.look = push_button("", self._look)
        self.report = push_button("Report (PDF)", self.show_report)
        self.report.setAccessibleName(f"Open the report of {sample.title}")
        self.new = push_button("Start a new audit", self._try)
        self.new.setAccessibleName(f"Start a new audit of {sample.title}")
        self.models = QComboBox()
        self.models.addItems([model.title for model in sample.models])
        self.models.setAccessibleName(f"Model of {sample.title}")
        self.models.setVisible(len(sample.models) > 1)
        calm(self.models)
        self.busy = Busy(cancel=True)
        self.busy.cancelled.connect(finishing.cancel)
        finishing.said.connect(self._say)
        self._told = quiet()
        self.body.addWidget(Words(sample.title, strong=True))
        self.body.addWidget(quiet(sample.sentence))
        self.body.addWidget(self._told)
        # cards beside each other are level: words at the top, buttons at the bottom
        self.body.addStretch(1)
        self.body.addSpacing(theme.TIGHT)
        self.body.addLayout(
            layouts.row(self.look, self.report, layouts.stretch(), spacing=theme.GAP)
        )
        self.body.addWidget(self.busy)
        self.body.addLayout(
            layouts.row(self.new, self.models, layouts.stretch(), spacing=theme.GAP)
        )
        in_order(self.look, self.report, self.new, self.models)
        self.show_finished()

    def show_finished(self) -> None:
        """Offer the finished audit, or to make it."""
        there = self._sample.finished.is_file()
        self.look.setText("Open the finished audit" if there else "Make a finished audit")
        what = "Open the finished audit of" if there else "Make a finished audit of"
        self.look.setAccessibleName(f"{what} {self._sample.title}")
        self.look.setEnabled(not self._finishing.busy)
        self.report.setVisible(self._sample.finished_report.is_file())
        self._told.setText(
            "A finished full audit with its report is ready to look around in."
            if there
            else "A full audit to look around in is made once, in ten minutes at most."
        )

    def make(self) -> None:
        """Make the finished audit, whether there is one or not."""
        self._mine = True
        self._finishing.start(self._sample)

    def _look(self) -> None:
        if self._sample.finished.is_file():
            self.looked.emit(self._sample.finished)
        else:
            self.make()

    def show_report(self) -> None:
        """Open the report of the finished audit in the system's viewer."""
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._sample.finished_report)))

    def _try(self) -> None:
        self.tried.emit(self._sample, self._sample.models[self.models.currentIndex()])

    def _say(self, text: str) -> None:
        """Show how far the making is, in the card of the sample that it is about."""
        self.busy.say(text if self._mine else "")
        self._mine = self._mine and bool(text)
        self.show_finished()


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
        self.preparing = quiet()
        self.preparing.hide()
        column.addWidget(self.preparing)
        self._compiling = QTimer(self, interval=_COMPILING)
        self._compiling.timeout.connect(self.show_preparing)
        self._compiling.start()
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

    def _finished(self, path: Path) -> None:
        """Open a finished audit that the auditor waited for."""
        self.show_samples()
        if self.isVisible():
            self.looked.emit(path)
