"""The field for what is good to get: a value, several values, or from which number on."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QWidget

from fairdesk.data.profiling.outcomes import MOST_LISTED, OR, Comparison, comparison, several
from fairdesk.data.table import Column, Kind
from fairdesk.gui.forms.numbers import NumberField
from fairdesk.gui.forms.values_dialog import ValuesDialog
from fairdesk.gui.kit import layouts, theme
from fairdesk.gui.kit.choices import Choice
from fairdesk.gui.kit.parts import bounded, calm

#: Comparisons with a number, in words.
COMPARISONS = {">=": "At least…", "<=": "At most…", ">": "More than…", "<": "Less than…"}
_SEVERAL = "several"
_DOES = Qt.ItemDataRole.UserRole + 1


class FavourableField(QWidget):
    """What is good to get, as the one text that `fairdesk.data.profiling.outcomes` reads.

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
        calm(self.combo, self.number)
        self.number.hide()
        layouts.row(
            layouts.grow(self.combo, 3), layouts.grow(self.number, 2), on=self, spacing=theme.NEAR
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
            self._add(value if value.strip() else f"“{value}”", value)
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

    # -- inside -----------------------------------------------------------------------------

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
        self.number.suit(self._column)
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
        self.chosen.emit(favourable)


def _middle(column: Column) -> float:
    middle = (column.low + column.high) / 2
    return round(middle) if column.low == int(column.low) else float(f"{middle:.4g}")
