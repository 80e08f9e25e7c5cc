"""Everything that happened in the audit, in order."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import msgspec
from PySide6.QtCore import (
    QDateTime,
    QLocale,
    QObject,
    QSortFilterProxyModel,
    Qt,
    QTimer,
)
from PySide6.QtGui import (
    QGuiApplication,
    QKeySequence,
    QShowEvent,
    QStandardItem,
    QStandardItemModel,
)
from PySide6.QtWidgets import (
    QHeaderView,
    QTableView,
    QWidget,
)

from fairdesk.audit.store.records import LogEntry
from fairdesk.errors import FairDeskError
from fairdesk.gui.kit import fields, hints, layouts, parts, theme
from fairdesk.gui.kit.dropping import ask_save
from fairdesk.gui.kit.keys import shortcut
from fairdesk.gui.kit.pages import page_head
from fairdesk.gui.kit.tables import LEFT, read_only
from fairdesk.gui.workspace.session.session import Session
from fairdesk.report.export.tables import guarded
from fairdesk.report.writing import replacing
from fairdesk.wording import words

#: Letters of an entry that fit into a line of any window.
_SHORT = 60


def local_time(at: str) -> str:
    """Write a time of the log in the auditor's own time zone and manner."""
    when = QDateTime.fromString(at, Qt.DateFormat.ISODate).toLocalTime()
    return QLocale().toString(when, "d MMM yyyy, HH:mm:ss") if when.isValid() else at


class LogModel(QStandardItemModel):
    """The entries, oldest first."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(0, 2, parent)
        self.entries: list[LogEntry] = []
        zone = QDateTime.currentDateTime().timeZoneAbbreviation()
        self.setHorizontalHeaderLabels([f"Time ({zone})", "Event"])
        for column in (0, 1):
            self.horizontalHeaderItem(column).setTextAlignment(LEFT)

    def show(self, entries: list[LogEntry]) -> None:
        """Show the log as it is now; entries are only ever added."""
        for entry in entries[len(self.entries) :]:
            time, event = QStandardItem(local_time(entry.at)), QStandardItem(entry.what)
            time.setToolTip(hints.plain(f"{entry.at} (UTC)"))
            event.setToolTip(hints.plain(entry.what))
            self.appendRow([time, event])
        self.entries = entries


def as_csv(entries: Sequence[LogEntry]) -> str:
    """Write entries as a table, times in UTC, with the chain that binds each to the one before.

    Cells that a spreadsheet would run are guarded; the audit file has them as they are.
    """
    text = io.StringIO(newline="")
    out = csv.writer(text)
    out.writerow(("at (UTC)", "what", "kind", "the same for programs", "link"))
    out.writerows(map(guarded, msgspec.structs.astuple(entry)) for entry in entries)
    return text.getvalue()


class LogPage(QWidget):
    """The log: every decision and run, filterable and exportable."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._banner = parts.Banner()
        told = "Show only entries that contain this text"
        self._filter = fields.line("", told, prompt="Search text", clears=True)
        label = fields.label_of("F&ilter", self._filter)
        export = parts.push_button("&Export audit log…", self.export)
        self._model = LogModel(self)
        self._proxy = QSortFilterProxyModel(self)
        self._proxy.setSourceModel(self._model)
        self._proxy.setFilterKeyColumn(-1)
        self._proxy.setFilterCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self._filter.textChanged.connect(self._proxy.setFilterFixedString)
        self._filter.textChanged.connect(lambda _text: self._tell())
        self._table = QTableView()
        self._table.setModel(self._proxy)
        read_only(self._table, "Audit log", line=9)
        # an entry that is long has several lines; at the end of the log its last row is shown whole
        self._table.setWordWrap(True)
        head = self._table.horizontalHeader()
        head.sectionResized.connect(lambda *_sizes: self._fit())
        self._table.setVerticalScrollMode(QTableView.ScrollMode.ScrollPerPixel)
        head.setSectionResizeMode(0, QHeaderView.ResizeMode.Interactive)
        head.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        head.resizeSection(0, self.fontMetrics().horizontalAdvance("00 Mmm 0000, 00:00:00") + 40)
        self._count = parts.quiet()

        row = layouts.row(label, layouts.grow(self._filter), export, spacing=theme.NEAR)
        layouts.column(
            page_head("Audit log"),
            parts.quiet("Every run and every decision of the auditor, in order."),
            self._banner,
            row,
            layouts.grow(self._table),
            self._count,
            on=self,
            margin=theme.AROUND,
            spacing=theme.GAP,
        )
        session.log_changed.connect(self._ask)
        shortcut(self, QKeySequence.StandardKey.Find, self._filter.setFocus, "Filter the audit log")
        shortcut(self._table, QKeySequence.StandardKey.Copy, self.copy, "Copy the selected entries")

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Read the log when it is looked at."""
        super().showEvent(event)
        self._session.store.ask(lambda store: store.log_entries(), self._begin, key="log")

    def copy(self) -> None:
        """Copy the chosen entries, with a header."""
        rows = sorted(index.row() for index in self._table.selectionModel().selectedRows())
        entries = [
            self._model.entries[self._proxy.mapToSource(self._proxy.index(row, 0)).row()]
            for row in rows
        ]
        lines = ["at (UTC)\twhat", *(f"{entry.at}\t{entry.what}" for entry in entries)]
        QGuiApplication.clipboard().setText("\n".join(lines))

    def export(self, path: Path | None = None) -> None:
        """Write the whole log as CSV; asks where, unless it is told."""
        if not isinstance(path, Path):
            start = self._session.path.parent / "log.csv"
            path = ask_save(self, "Export audit log", start, "CSV table (*.csv)", ".csv")
            if path is None:
                return
        try:
            with replacing(path) as draft:
                draft.write_bytes(as_csv(self._model.entries).encode("utf-8-sig"))
        except FairDeskError as error:
            self._banner.tell(error)
        else:
            self._session.said.emit(f"Saved {path.name}.")

    def _ask(self) -> None:
        if self.isVisible():
            self._session.store.ask(lambda store: store.log_entries(), self._take, key="log")

    def _begin(self, entries: list[LogEntry]) -> None:
        """Show the newest: nobody reads others yet."""
        self._take(entries)
        # once the table has its size
        QTimer.singleShot(0, self._table, self._table.scrollToBottom)

    def _take(self, entries: list[LogEntry]) -> None:
        self._model.show(entries)
        self._tell()

    def _fit(self) -> None:
        """Give an entry that is longer than a line the room for all of it."""
        head, usual = (
            self._table.verticalHeader(),
            self._table.verticalHeader().defaultSectionSize(),
        )
        room = self._table.columnWidth(1) - 4 * theme.TIGHT
        for row in range(self._proxy.rowCount()):
            text = str(self._proxy.index(row, 1).data())
            if len(text) > _SHORT and self._table.fontMetrics().horizontalAdvance(text) > room:
                self._table.resizeRowToContents(row)
            elif head.sectionSize(row) != usual:
                head.resizeSection(row, usual)

    def _tell(self) -> None:
        self._fit()
        shown, there = self._proxy.rowCount(), self._model.rowCount()
        text = words.counted(there, "entry")
        self._count.setText(text if shown == there else f"{words.number(shown)} of {text}")
