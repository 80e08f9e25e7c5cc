"""What is on screen while no audit is open: begin one, open one, or try a sample."""

from __future__ import annotations

import html
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QComboBox,
    QGridLayout,
    QHBoxLayout,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from fairdesk.gui.kit import layouts, theme
from fairdesk.gui.kit.parts import (
    Banner,
    Card,
    Elided,
    Words,
    calm,
    clear,
    heading,
    in_order,
    push_button,
    quiet,
    scrolled,
)
from fairdesk.samples import Sample, samples


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
    """

    new = Signal()
    open = Signal()
    opened = Signal(object)
    tried = Signal(object, object)

    def __init__(self) -> None:
        super().__init__()
        self.banner = Banner()
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
            quiet("Or drop an audit, a CSV file or a model anywhere in this window."),
            layouts.gap(theme.WIDE),
            on=inside,
            margin=(48, 40, 48, 32),
            spacing=theme.GAP,
        )
        across = layouts.row(
            layouts.grow(self._recent_part()), layouts.grow(self._sample_part()), spacing=48
        )
        column.addLayout(across)
        column.addStretch(1)
        layouts.column(scrolled(inside), on=self)

    def show_recents(self, paths: list[Path]) -> None:
        """List the audits that were open before; those that are gone are greyed."""
        clear(self._recents)
        self._none.setVisible(not paths)
        before: QWidget = self.open_button
        for row, path in enumerate(paths):
            there = path.is_file()
            button = push_button(
                path.stem.replace("&", "&&"),
                lambda _checked=False, chosen=path: self.opened.emit(chosen),
            )
            button.setEnabled(there)
            button.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
            button.setMaximumWidth(260)
            button.setToolTip(html.escape(str(path)))
            button.setAccessibleName(f"Open {path.stem}" if there else f"{path.stem}, not found")
            self._recents.addWidget(button, row, 0)
            in_order(before, button)
            before = button
            place = Elided(str(path.parent) if there else f"not found: {path.parent}")
            place.setEnabled(there)
            self._recents.addWidget(place, row, 1)

    def _buttons(self) -> QHBoxLayout:
        self.new_button, self.open_button = QPushButton("&New audit"), QPushButton("&Open audit…")
        for button, signal in ((self.new_button, self.new), (self.open_button, self.open)):
            button.setFont(theme.scaled(button.font(), 1.12))
            button.setMinimumSize(170, 44)
            button.clicked.connect(lambda _checked=False, ask=signal: ask.emit())
        return layouts.row(self.new_button, self.open_button, layouts.stretch(), spacing=theme.GAP)

    def _recent_part(self) -> QVBoxLayout:
        self._none = quiet("Audits that you open are listed here.")
        self._recents = QGridLayout()
        self._recents.setHorizontalSpacing(theme.GAP)
        self._recents.setVerticalSpacing(theme.NEAR)
        self._recents.setColumnStretch(1, 1)
        return layouts.column(
            heading("Recent audits"),
            self._none,
            self._recents,
            layouts.stretch(),
            spacing=theme.NEAR,
        )

    def _sample_part(self) -> QVBoxLayout:
        column = layouts.column(heading("Try it on a sample"), spacing=theme.GAP)
        for sample in samples():
            column.addWidget(self._sample(sample))
        column.addStretch(1)
        return column

    def _sample(self, sample: Sample) -> Card:
        card = Card()
        card.body.addWidget(Words(sample.title, strong=True))
        card.body.addWidget(quiet(sample.sentence))
        run = QPushButton("Start a new audit")
        run.setAccessibleName(f"Start a new audit of {sample.title}")
        models = QComboBox()
        models.addItems([model.title for model in sample.models])
        models.setAccessibleName(f"Model of {sample.title}")
        models.setVisible(len(sample.models) > 1)
        calm(models)
        run.clicked.connect(
            lambda _checked=False: self.tried.emit(sample, sample.models[models.currentIndex()])
        )
        row = layouts.row(run, models, layouts.stretch(), spacing=theme.GAP)
        card.body.addSpacing(theme.TIGHT)
        card.body.addLayout(row)
        return card
