"""What is typed and chosen: each field in one expression, with its name for all readers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from PySide6.QtCore import QModelIndex, QSignalBlocker, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QButtonGroup,
    QComboBox,
    QDoubleSpinBox,
    QHBoxLayout,
    QLabel,
    QLayout,
    QLineEdit,
    QRadioButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from fairdesk.gui.kit import hints, layouts, theme
from fairdesk.gui.kit.hints import Defined, HelpButton, set_topic
from fairdesk.gui.kit.parts import quiet

Run = Callable[[], object]
Key = TypeVar("Key")
#: A text, with its data where that is something else, and a tip.
Entry = str | tuple[str, object] | tuple[str, object, str]
#: The greatest random seed that can be asked for.
MOST_SEED = 2**31 - 1
_STEPS = {Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown}


class Choice(QComboBox):
    """A list with a prompt while nothing is chosen.

    Parameters
    ----------
    deliberate : bool
        Whether a key on the closed list opens it, and chooses nothing by itself.
    """

    def __init__(self, prompt: str = "", *, deliberate: bool = False) -> None:
        super().__init__()
        self.setPlaceholderText(prompt)
        self._deliberate = deliberate

    def showPopup(self) -> None:  # noqa: N802 - Qt's name
        """Open the list; where nothing is chosen, the first Down takes the first entry."""
        super().showPopup()
        if self.currentIndex() < 0:
            self.view().setCurrentIndex(QModelIndex())

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Open the list where a key would choose."""
        typed = event.text().isprintable() and event.text().strip()
        plain = event.modifiers() in (
            Qt.KeyboardModifier.NoModifier,
            Qt.KeyboardModifier.KeypadModifier,
            Qt.KeyboardModifier.ShiftModifier,
        )
        if self._deliberate and plain and (event.key() in _STEPS or typed):
            self.showPopup()
            if typed:
                self.view().keyboardSearch(event.text())
            return
        super().keyPressEvent(event)


def choice(
    entries: Iterable[Entry] = (),
    name: str = "",
    *,
    chosen: object = None,
    letters: int = 0,
    run: Run | None = None,
    changed: Run | None = None,
) -> QComboBox:
    """Return a list to choose from.

    Parameters
    ----------
    letters : int
        Where texts come from a file: the list is no wider than so many letters ask for.
    run, changed : callable, optional
        Called when the auditor chooses, or whenever another entry is current.
    """
    made = QComboBox()
    made.setAccessibleName(name)
    offer(made, entries, chosen)
    if letters:
        bounded(made, letters)
    if run is not None:
        made.activated.connect(lambda _at: run())
    if changed is not None:
        made.currentIndexChanged.connect(lambda _at: changed())
    return made


def bounded(combo: QComboBox, letters: int = 12) -> QComboBox:
    """Keep long texts of a file from making a choice, and with it the window, too wide."""
    combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    combo.setMinimumContentsLength(letters)
    return combo


def offer(combo: QComboBox, entries: Iterable[Entry], chosen: object = None) -> None:
    """Offer entries without a signal; what is chosen, or was, stays if it is among them."""
    texts = [each if isinstance(each, tuple) else (each, each) for each in entries]
    if [each[:2] for each in texts] == [
        (combo.itemText(at), combo.itemData(at)) for at in range(combo.count())
    ]:
        select(combo, chosen)
        return
    kept = combo.currentData() if chosen is None else chosen
    with QSignalBlocker(combo):
        combo.clear()
        for text, data, *tip in texts:
            combo.addItem(text, data)
            if tip:
                shown = hints.plain(tip[0])
                combo.setItemData(combo.count() - 1, shown, Qt.ItemDataRole.ToolTipRole)
        if isinstance(combo, Choice):
            combo.setCurrentIndex(-1)
    select(combo, kept)


def select(combo: QComboBox, data: object) -> None:
    """Choose an entry by its data without a signal, if it is there."""
    if data is not None and (at := combo.findData(data)) >= 0:
        with QSignalBlocker(combo):
            combo.setCurrentIndex(at)


def roomy(combo: QComboBox, letters: int) -> QComboBox:
    """Let a choice be as wide as its texts where there is room, and never less than so many."""
    combo.setMinimumWidth(bounded(combo, letters).minimumSizeHint().width())
    combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
    return combo


def line(
    text: str = "",
    name: str = "",
    *,
    prompt: str = "",
    clears: bool = False,
    changed: Callable[..., object] | None = None,
) -> QLineEdit:
    """Return a field of one line, whose beginning is in sight."""
    made = QLineEdit(text)
    made.setAccessibleName(name)
    made.setPlaceholderText(prompt)
    made.setClearButtonEnabled(clears)
    made.setCursorPosition(0)
    if changed is not None:
        made.textChanged.connect(changed)
    return made


def whole(
    low: int, high: int, value: int, name: str = "", changed: Callable[..., object] | None = None
) -> QSpinBox:
    """Return a field for a whole number."""
    made = QSpinBox()
    made.setRange(low, high)
    made.setValue(value)
    made.setAccessibleName(name)
    if changed is not None:
        made.valueChanged.connect(changed)
    return made


def decimal(
    low: float,
    high: float,
    value: float,
    name: str = "",
    changed: Callable[..., object] | None = None,
    *,
    step: float = 0.01,
    digits: int = 2,
) -> QDoubleSpinBox:
    """Return a field for a number with decimals."""
    made = QDoubleSpinBox()
    made.setDecimals(digits)
    made.setRange(low, high)
    made.setSingleStep(step)
    made.setValue(value)
    made.setAccessibleName(name)
    if changed is not None:
        made.valueChanged.connect(changed)
    return made


class NumberField(QDoubleSpinBox):
    """A number without trailing zeros; tells of it when it is entered, not at each key."""

    def __init__(self) -> None:
        super().__init__()
        self.setDecimals(6)
        self.setRange(-1e12, 1e12)
        self.setKeyboardTracking(False)
        self.setMinimumWidth(90)
        self.setMaximumWidth(170)

    def suit(self, low: float, high: float, *, whole: bool) -> None:
        """Take numbers of a range: whole ones only, or with fractions."""
        self.setDecimals(0 if whole else 6)
        self.setSingleStep(1.0 if whole else (high - low) / 100 or 1.0)

    def textFromValue(self, value: float) -> str:  # noqa: N802 - Qt's name
        """Write the number."""
        return self.locale().toString(value, "g", 15)


def seed(value: int = 0, changed: Callable[..., object] | None = None) -> QSpinBox:
    """Return a field for a random seed."""
    made = whole(0, MOST_SEED, min(value, MOST_SEED), changed=changed)
    made.setMaximumWidth(180)
    return made


def together(owner: QWidget, buttons: Iterable[QAbstractButton]) -> QButtonGroup:
    """Let one of some buttons be down."""
    group = QButtonGroup(owner)
    for each in buttons:
        group.addButton(each)
    return group


def radios(
    owner: QWidget, entries: Mapping[Key, tuple[str, str]], chosen: Key
) -> tuple[dict[Key, QRadioButton], QVBoxLayout]:
    """Return buttons of which one is down, and their column: each with what it means below."""
    buttons, column = dict[Key, QRadioButton](), layouts.column(spacing=theme.TIGHT)
    for key, (text, hint) in entries.items():
        button = buttons[key] = QRadioButton(text)
        button.setChecked(key == chosen)
        button.setAccessibleDescription(hint)
        below = quiet(hint)
        below.setContentsMargins(theme.PAGE, 0, 0, theme.TIGHT)
        column.addWidget(button)
        column.addWidget(below)
    together(owner, buttons.values())
    return buttons, column


def with_button(text: str, field: QWidget, button: QWidget) -> QHBoxLayout:
    """Put a label above a field, and a button beside it."""
    beside = layouts.at(button, Qt.AlignmentFlag.AlignBottom)
    return layouts.row(layouts.grow(labelled(text, field)), beside, spacing=theme.NEAR)


def label_of(text: str, field: QWidget) -> QLabel:
    """Return a label that stands beside a field, with its mnemonic."""
    made = QLabel(text)
    made.setBuddy(field)
    return made


def labelled(text: str, field: QWidget, hint: str = "", *, topic: str = "") -> QVBoxLayout:
    """Put a label (with its mnemonic) above a field, a hint below, and name it for all readers.

    With a topic of the help there is a “?” beside the label.
    """
    label = Defined(text)
    # a field of several parts takes no keys by itself
    label.setBuddy(field.focusProxy() or field)
    name = text.replace("&", "")
    above: QWidget | QLayout = label
    if topic:
        set_topic(field, topic)
        above = layouts.row(label, HelpButton(name, topic), layouts.stretch(), spacing=theme.TIGHT)
    column = layouts.column(above, field, spacing=theme.TIGHT)
    field.setAccessibleName(name)
    if hint:
        column.addWidget(quiet(hint))
        field.setAccessibleDescription(hint)
    return column
