"""A built-in sample on the start page: its finished audit, the report of that, and a new audit."""

from __future__ import annotations

from PySide6.QtCore import QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QComboBox

from fairdesk.gui.finishing import Finishing
from fairdesk.gui.kit import layouts, theme
from fairdesk.gui.kit.parts import Busy, Card, Words, calm, in_order, push_button, quiet
from fairdesk.samples import Sample


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
