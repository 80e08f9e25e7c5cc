"""Before and after a repair, side by side: observed, estimated and proven, each in its part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from PySide6.QtCore import QEvent, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QApplication, QTableWidget, QTableWidgetItem

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.gui.kit import theme
from fairdesk.gui.kit.keys import shortcut
from fairdesk.gui.kit.tables import aligned, colour_links, head_columns, height_around, read_only
from fairdesk.results.events import Metric
from fairdesk.results.trials import trial_of
from fairdesk.wording import trials as trial_words
from fairdesk.wording import words

#: The mark of each kind of statement.
MARKS = {"observed": "□", "estimated": "▨", "proven": "■"}
#: With room at both sides, as cells have it.
_HEADS = tuple(
    f"{words.NBSP}{head}{words.NBSP}" for head in ("Measure", *trial_words.BEFORE_AFTER[1:])
)


class BeforeAfter(QTableWidget):
    """A trial beside the model as imported and the one retrained with nothing added.

    As high as its rows, for a page that scrolls as a whole. Where the room is short, intervals
    stand below their estimates.
    """

    def __init__(self) -> None:
        super().__init__(0, len(_HEADS))
        self._rows: list[tuple[str, ...]] = []
        read_only(self, "Before and after", "Ctrl+C copies the table.", whole=True)
        head_columns(self, _HEADS, trial_words.BEFORE_AFTER_NUMBERS)
        self.setWordWrap(True)
        shortcut(self, QKeySequence.StandardKey.Copy, self.copy, "Copy the table")

    def show_trial(self, spec: AuditSpec, figures: Sequence[Metric], number: int) -> None:
        """Show a trial by its number; of one with nothing added what others are compared with."""
        trial, plain = trial_of(figures, number), trial_of(figures, 1)
        for place in range(3, len(_HEADS)):
            self.setColumnHidden(place, trial is None or trial.kind in ("imported", "retrained"))
        if trial is not None and (head := self.horizontalHeaderItem(3)) is not None:
            head.setText(f"{words.NBSP}{trial_words.trial_name(trial)}{words.NBSP}")
        self.setColumnHidden(2, plain is None or not plain.measures)
        rows: list[tuple[str, ...]] = []
        for how in get_args(trial_words.Known):
            lines = trial_words.before_after(spec, figures, number, how)
            if lines:
                rows += [(f"{MARKS[how]} {trial_words.known_text(spec, how)}",), *lines]
        if rows != self._rows:
            self._rows = rows
            self._fill()
        else:
            self._fit()

    def copy(self) -> None:
        """Copy all rows, with the header, for a spreadsheet."""
        lines = (self._heads(), *self._rows)
        QApplication.clipboard().setText("\n".join("\t".join(line) for line in lines))

    def _heads(self) -> tuple[str, ...]:
        heads = (self.horizontalHeaderItem(place) for place in range(len(_HEADS)))
        return tuple("" if head is None else head.text().strip() for head in heads)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Follow the theme."""
        super().changeEvent(event)
        if theme.palette_changed(event):
            colour_links(self)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Divide the room anew."""
        super().resizeEvent(event)
        self._fit()

    def _fill(self) -> None:
        self.clearSpans()
        self.setRowCount(len(self._rows))
        for row, cells in enumerate(self._rows):
            for place, text in enumerate(cells):
                item = QTableWidgetItem(text)
                item.setTextAlignment(aligned(number=place in trial_words.BEFORE_AFTER_NUMBERS))
                if len(cells) == 1:
                    item.setFlags(Qt.ItemFlag.NoItemFlags)
                    item.setForeground(QColor(theme.colours().accent))
                    item.setFont(theme.scaled(self.font(), 0.95, strong=True))
                self.setItem(row, place, item)
            if len(cells) == 1:
                self.setSpan(row, 0, 1, len(_HEADS))
        self._fit()

    def _fit(self) -> None:
        """Give numbers the room they need, and the rest to names; break where it is short."""
        metrics = QFontMetricsF(self.font())
        full = [cells for cells in self._rows if len(cells) > 1]
        heads = self._heads()

        def widths(*, broken: bool) -> list[float]:
            return [
                0.0
                if self.isColumnHidden(place)
                else max(
                    (
                        metrics.horizontalAdvance(line)
                        for text in (heads[place], *(cells[place] for cells in full))
                        for line in _broken(text, broken=broken).split("\n")
                    ),
                    default=0.0,
                )
                + 5 * theme.TIGHT
                for place in range(1, len(_HEADS))
            ]

        room = float(self.viewport().width())
        broken = sum(widths(broken=False)) > 0.72 * room
        needed = widths(broken=broken)
        head = self.horizontalHeader()
        for place, wide in enumerate(needed, start=1):
            if wide:
                head.resizeSection(place, round(wide))
        head.resizeSection(0, max(round(room - sum(map(round, needed))), 120))
        for row, cells in enumerate(self._rows):
            for place, text in enumerate(cells[1:], start=1):
                if (item := self.item(row, place)) is not None:
                    item.setText(_broken(text, broken=broken))
        name = QRectF(0, 0, head.sectionSize(0) - 5 * theme.TIGHT, 10_000)
        # to ask every cell how high it would be takes too long while results stream in
        for row, cells in enumerate(self._rows):
            lines = 2 if broken and any(" (" in text for text in cells) else 1
            high = lines * metrics.height()
            if len(cells) > 1:
                wrapped = metrics.boundingRect(name, Qt.TextFlag.TextWordWrap, cells[0])
                high = max(high, wrapped.height())
            self.setRowHeight(row, round(high) + 2 * theme.TIGHT)
        self.setFixedHeight(self.verticalHeader().length() + height_around(self))


def _broken(text: str, *, broken: bool) -> str:
    """Put an interval, or the name of a test, below what it belongs to."""
    return text.replace(" (", "\n(") if broken else text
