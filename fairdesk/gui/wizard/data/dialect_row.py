"""How the file of the data is written: what splits its cells, its letters and numbers."""

from __future__ import annotations

import codecs

import msgspec
from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QWidget

from fairdesk.data.table import Dialect, Source
from fairdesk.gui.kit import layouts, theme
from fairdesk.gui.kit.fields import choice, label_of, labelled, line, offer
from fairdesk.gui.kit.parts import Fold

_DELIMITERS = {",": "Comma  ,", ";": "Semicolon  ;", "\t": "Tab", "|": "Bar  |", " ": "Space"}
_ENCODINGS = {
    "utf-8": "UTF-8",
    "utf-8-sig": "UTF-8 with byte order mark",
    "utf-16": "UTF-16",
    "cp1252": "Western (Windows-1252)",
    "iso-8859-1": "Western (ISO 8859-1)",
    "iso-8859-15": "Western (ISO 8859-15)",
    "cp1250": "Central European (1250)",
    "cp1251": "Cyrillic (1251)",
    "shift_jis": "Japanese (Shift JIS)",
    "gb18030": "Chinese (GB 18030)",
}
_DECIMALS = {".": "1.5 (point)", ",": "1,5 (comma)"}


class DialectRow(QWidget):
    """The controls that say how the file is written: in a fold, as most files are read well.

    Signals
    -------
    changed
        It is to be read in another way.
    table_chosen
        Another sheet or table of it is to be read.
    """

    changed = Signal()
    table_chosen = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.delimiter, self.encoding, self.decimal = (
            choice([(text, key) for key, text in each.items()], letters=7, run=self.changed.emit)
            for each in (_DELIMITERS, _ENCODINGS, _DECIMALS)
        )
        self.table = choice(letters=7, run=self.table_chosen.emit)
        self.missing = line(prompt="empty cells only")
        self.missing.setToolTip("Cell contents that mean “missing”, separated by commas")
        self.missing.editingFinished.connect(self.changed)
        self.header = QCheckBox("First row &has column names")
        self.header.setAccessibleName("First row has column names")
        self.header.toggled.connect(self.changed)
        self._table_label = label_of("Shee&t", self.table)
        self._table_box = layouts.panel(self._table_label, self.table, spacing=theme.TIGHT)
        self._table_box.hide()
        self._text_only = layouts.strip(
            layouts.grow(labelled("Column &separator", self.delimiter), 3),
            layouts.grow(labelled("&Encoding", self.encoding), 4),
            layouts.grow(labelled("&Decimal mark", self.decimal), 3),
            spacing=theme.GAP,
        )
        self.fold = Fold("")
        self.fold.button.setToolTip("Change how the file is read")
        self.fold.body.addLayout(
            layouts.row(
                layouts.grow(self._text_only, 10),
                layouts.grow(labelled("Cells &without a value", self.missing), 4),
                layouts.grow(layouts.column(layouts.stretch(), self.header, spacing=0), 0),
                spacing=theme.NEAR,
            )
        )
        layouts.column(self._table_box, self.fold, on=self, spacing=theme.NEAR)
        for field in (self.missing, self.header):
            field.setMinimumHeight(self.delimiter.sizeHint().height())

    def dialect(self, before: Dialect) -> Dialect:
        """Return how the file is to be read, as the controls say; else as ``before``."""
        missing = tuple(t for each in self.missing.text().split(",") if (t := each.strip()))
        if before.format != "csv":
            return msgspec.structs.replace(before, missing=missing, header=self.header.isChecked())
        return msgspec.structs.replace(
            before,
            delimiter=self.delimiter.currentData(),
            encoding=self.encoding.currentData(),
            header=self.header.isChecked(),
            decimal=self.decimal.currentData(),
            missing=missing,
        )

    def show_source(self, source: Source) -> None:
        """Show how a file was read."""
        dialect = source.dialect
        blocked = [QSignalBlocker(each) for each in (self.header, self.missing)]
        _select(self.delimiter, dialect.delimiter)
        _select(self.encoding, _codec(dialect.encoding))
        _select(self.decimal, dialect.decimal)
        self.header.setChecked(dialect.header)
        self.missing.setText(", ".join(dialect.missing))
        del blocked
        text = dialect.format == "csv"
        self._text_only.setVisible(text)
        self.header.setVisible(text or dialect.format == "excel")
        self._table_box.setVisible(len(source.tables) > 1)
        word = "Sheet" if dialect.format == "excel" else "Table"
        self._table_label.setText(f"{word} o&f the file")
        self.table.setAccessibleName(f"{word} of the file")
        offer(self.table, source.tables, dialect.table)
        self.fold.button.setText(self._read_as())

    def _read_as(self) -> str:
        """Say in a line how the file was read."""
        said = []
        if not self._text_only.isHidden():
            combos = (self.delimiter, self.encoding, self.decimal)
            separator, encoding, decimal = (combo.currentText() for combo in combos)
            said = [f"separator {separator.split(' ')[0].lower()}", encoding, f"numbers {decimal}"]
        if missing := self.missing.text():
            said.append(f"without a value: {missing}")
        if not self.header.isHidden() and not self.header.isChecked():
            said.append("no row of column names")
        return f"File format: {', '.join(said)}" if said else "File format"


def _codec(encoding: str) -> str:
    """Return the name under which a codec is listed."""
    name = codecs.lookup(encoding).name
    return next((each for each in _ENCODINGS if codecs.lookup(each).name == name), encoding)


def _select(combo: QComboBox, value: str) -> None:
    """Select a value, and list it first when it is not a usual one."""
    if combo.findData(value) < 0:
        combo.addItem(value, value)
    combo.setCurrentIndex(combo.findData(value))
