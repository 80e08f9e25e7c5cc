"""The field for what is good to get: a value, several values, or from which number on."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QLabel, QPushButton, QWidget

from fairdesk.data.profiling.outcomes import MOST_LISTED, OR, Comparison, comparison, several
from fairdesk.data.table import Column, Kind
from fairdesk.gui.forms.dialogs import ValuesDialog
from fairdesk.gui.forms.options import NumberField
from fairdesk.gui.kit import hints, layouts, theme
from fairdesk.gui.kit.fields import Choice, bounded
from fairdesk.gui.kit.parts import short

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
        self._press()
        self.chosen.emit(favourable)


def _shown(value: str) -> str:
    """Return a value as it can be seen."""
    return value if value.strip() else f"“{value}”"


def _middle(column: Column) -> float:
    middle = (column.low + column.high) / 2
    return round(middle) if column.low == int(column.low) else float(f"{middle:.4g}")
