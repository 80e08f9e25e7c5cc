"""How the file of the data is written, and which outcome is good to get."""

from __future__ import annotations

import codecs

import msgspec
from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QCheckBox, QComboBox, QLabel, QPushButton, QWidget

from fairdesk.data.profiling.outcomes import MOST_LISTED, OR, Comparison, comparison, several
from fairdesk.data.table import Column, Dialect, Kind, Source
from fairdesk.gui.forms.dialogs import ValuesDialog
from fairdesk.gui.kit import hints, layouts, theme
from fairdesk.gui.kit.fields import (
    Choice,
    NumberField,
    bounded,
    choice,
    label_of,
    labelled,
    line,
    offer,
)
from fairdesk.gui.kit.parts import Fold, short

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


#: Comparisons with a number, in words.
COMPARISONS = {">=": "At least…", "<=": "At most…", ">": "More than…", "<": "Less than…"}
_SEVERAL = "several"
#: Of a value on a button.
_MOST_LETTERS = 16
_DOES = Qt.ItemDataRole.UserRole + 1


class FavourableField(QWidget):
    """What is good to get, as the one text that `fairdesk.data.profiling.outcomes` reads.

    Of two values one is pressed; of more one is chosen in a list.

    Signals
    -------
    chosen : str
        The auditor chose.
    """

    chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._column = Column("", Kind.NOMINAL)
        self._values: tuple[str, ...] = ()
        self._favourable = ""
        self.combo = bounded(Choice("Choose a value…"), 10)
        self.setFocusProxy(self.combo)
        self.combo.activated.connect(self._choose)
        self.number = NumberField()
        self.number.setAccessibleName("Limit of the favourable outcome")
        self.number.valueChanged.connect(self._compare)
        self.number.hide()
        self.either = (QPushButton(), QPushButton())
        together = QButtonGroup(self)
        for place, button in enumerate(self.either):
            button.setCheckable(True)
            button.hide()
            together.addButton(button, place)
        together.idClicked.connect(lambda place: self._say(self._values[place]))
        self._together = together
        layouts.row(
            *(layouts.grow(button) for button in self.either),
            layouts.grow(self.combo, 3),
            layouts.grow(self.number, 2),
            on=self,
            spacing=theme.NEAR,
        )

    def show_outcome(self, column: Column | None, values: tuple[str, ...], favourable: str) -> None:
        """Show the outcomes that a label can have, and the chosen one.

        Parameters
        ----------
        column : Column, optional
            The label; without one nothing can be chosen.
        values : tuple of str
            Its values; none where they are too many to be listed.
        favourable : str
            What is chosen; empty when nothing is.
        """
        self.setEnabled(column is not None)
        self.combo.clear()
        self._values, self._favourable = values, favourable
        self.number.setVisible(False)
        if column is None:
            return
        self._column = column
        for value in values:
            self._add(_shown(value), value)
        compared = None
        if column.kind.is_number and favourable not in values:
            compared = comparison(favourable)
        if favourable and favourable not in values and compared is None:
            self._add(favourable, favourable)
        if len(values) > 2:
            self._add("Several values…", "", _SEVERAL)
        if column.kind.is_number:
            for sign, words in COMPARISONS.items():
                self._add(words, "", sign)
        self._select(compared)
        self._offer_either()

    # -- inside -----------------------------------------------------------------------------

    def _offer_either(self) -> None:
        """Show two values as buttons, unless something else was chosen; more in the list."""
        two = len(self._values) == 2 and self._favourable in ("", *self._values)
        for button, value in zip(self.either, self._values, strict=False):
            button.setAccessibleName(f"Favourable outcome: {_shown(value)}")
            button.setToolTip(hints.plain(value))
        for button in self.either:
            button.setVisible(two)
        self.combo.setVisible(not two)
        self._press()

    def _press(self) -> None:
        """Show which of two values is chosen: by a tick, as a frame may be the keyboard's."""
        self._together.setExclusive(False)  # of an exclusive group none can be released
        for button, value in zip(self.either, self._values, strict=False):
            chosen = value == self._favourable
            text = short(_shown(value), _MOST_LETTERS).replace("&", "&&")
            button.setText(f"✓  {text}" if chosen else text)
            button.setChecked(chosen)
        self._together.setExclusive(True)
        if self.combo.isHidden():
            self._take_keys(
                next((each for each in self.either if each.isChecked()), self.either[0])
            )
        else:
            self._take_keys(self.combo)

    def _take_keys(self, part: QWidget) -> None:
        """Let a part have the keyboard, and the key of the label above."""
        before = self.focusProxy()
        self.setFocusProxy(part)
        for label in self.window().findChildren(QLabel):
            if label.buddy() == before:
                label.setBuddy(part)

    def _add(self, words: str, value: str, does: str = "") -> None:
        self.combo.addItem(words, value)
        self.combo.setItemData(self.combo.count() - 1, does, _DOES)

    def _select(self, compared: Comparison | None) -> None:
        if compared is not None:
            self.combo.setCurrentIndex(self.combo.findData(compared.sign, _DOES))
            self._show_number(compared.number)
        else:
            place = self.combo.findData(self._favourable) if self._favourable else -1
            self.combo.setCurrentIndex(place)

    def _show_number(self, value: float) -> None:
        blocked = QSignalBlocker(self.number)
        column = self._column
        self.number.suit(column.low, column.high, whole=column.kind is Kind.INTEGER)
        self.number.setValue(value)
        del blocked
        self.number.show()

    def _choose(self) -> None:
        does = self.combo.currentData(_DOES)
        if does == _SEVERAL:
            self._choose_several()
        elif does:
            if self.number.isHidden():
                self._show_number(_middle(self._column))
            self._compare()
            self.number.setFocus()
            self.number.selectAll()
        else:
            self.number.hide()
            self._say(self.combo.currentData())

    def _choose_several(self) -> None:
        values = self._values
        ticked = [values[place] for place in several(self._favourable, values)]
        dialog = ValuesDialog(
            f"Favourable values of {self._column.name}",
            "Rows with one of the ticked values have the favourable outcome.",
            self._column.name,
            values,
            ticked,
            self,
            most=min(len(values) - 1, MOST_LISTED),
        )
        if dialog.exec():
            self._say(OR.join(dialog.values()))
        dialog.deleteLater()
        self.show_outcome(self._column, self._values, self._favourable)

    def _compare(self) -> None:
        self._say(f"{self.combo.currentData(_DOES)} {self.number.value():.15g}")

    def _say(self, favourable: str) -> None:
        self._favourable = favourable
        self._press()
        self.chosen.emit(favourable)


def _shown(value: str) -> str:
    """Return a value as it can be seen."""
    return value if value.strip() else f"“{value}”"


def _middle(column: Column) -> float:
    middle = (column.low + column.high) / 2
    return round(middle) if column.low == int(column.low) else float(f"{middle:.4g}")
