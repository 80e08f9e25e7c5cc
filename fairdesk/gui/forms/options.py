"""A method's parameters as fields: generated from the limits and words of its options."""

from __future__ import annotations

from math import floor, log10

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QSpinBox, QWidget

from fairdesk.audit.catalogue.methods import Option
from fairdesk.audit.plan.spec import OptionValue
from fairdesk.data.table import Column, Kind
from fairdesk.gui.kit import layouts, theme
from fairdesk.gui.kit.fields import choice, labelled, whole
from fairdesk.gui.kit.parts import in_order, push_button
from fairdesk.manual.places import option_place


class NumberField(QDoubleSpinBox):
    """A number without trailing zeros; tells of it when it is entered, not at each key."""

    def __init__(self) -> None:
        super().__init__()
        self.setDecimals(6)
        self.setRange(-1e12, 1e12)
        self.setKeyboardTracking(False)
        self.setMinimumWidth(90)
        self.setMaximumWidth(170)

    def suit(self, column: Column) -> None:
        """Take numbers as a column has them: whole ones only, or with fractions."""
        self.setDecimals(0 if column.kind is Kind.INTEGER else 6)
        span = column.high - column.low
        self.setSingleStep(1.0 if column.kind is Kind.INTEGER else span / 100 or 1.0)

    def textFromValue(self, value: float) -> str:  # noqa: N802 - Qt's name
        """Write the number."""
        return self.locale().toString(value, "g", 15)


#: What the words that a parameter can be mean.
_MEANINGS = {
    "all": "all sets of values",
    "single": "single values, and all but one",
    "ordered": "values in the order of their rates",
    "favourable": "the selection rate (favourable decision)",
    "each": "the rate of each decision, in turn",
    "score": "the mean score of the favourable decision",
    "scratch": "from new random weights",
    "tune": "from the original model’s weights",
    "own": "the model’s own",
    "adam": "Adam",
    "sgd": "SGD",
    "rmsprop": "RMSprop",
}
#: The same of words that mean something else for one option.
_MEANINGS_OF = {("compare", "all"): "reweighing and the fairlearn methods"}

Field = QSpinBox | QDoubleSpinBox | QComboBox


def meaning(word: str, option: str = "") -> str:
    """Say what a word means that a parameter can be."""
    return _MEANINGS_OF.get((option, word)) or _MEANINGS.get(word, word.replace("_", " "))


def hint(option: Option) -> str:
    """Say what an option is, and its default as the field shows it."""
    default = option.default
    usual = meaning(default, option.name) if isinstance(default, str) else f"{default:,}"
    return f"{option.help} Default: {usual}."


def number_field(option: Option, value: OptionValue) -> QSpinBox | QDoubleSpinBox:
    """Return a field for an option that is a number."""
    default = float(option.default)
    field: QSpinBox | QDoubleSpinBox
    if option.whole:
        field = whole(int(option.low), int(option.high), int(value))
    else:
        field = NumberField()
        # there is a button that takes the value at once, without the field being left
        field.setKeyboardTracking(True)
        field.setSingleStep(10 ** floor(log10(default)) if 0 < default < 0.1 else 0.1)
        field.setRange(option.low, option.high)
        field.setValue(float(value))
    field.setGroupSeparatorShown(True)
    field.setMaximumWidth(180)
    return field


class OptionsForm(QWidget):
    """Fields for a method's parameters, each with its place in the help.

    Signals
    -------
    set_to : str, object
        The auditor gave a parameter (its name) a value.
    """

    set_to = Signal(str, object)

    def __init__(
        self, method: str, options: tuple[Option, ...], values: dict[str, OptionValue]
    ) -> None:
        super().__init__()
        grid = layouts.grid(across=theme.PAGE, down=theme.WIDE, stretches=(1, 1))
        self.fields: dict[str, Field] = {}
        for position, option in enumerate(options):
            value = values.get(option.name, option.default)
            field = (
                self._choice(option, str(value)) if option.choices else self._number(option, value)
            )
            self.fields[option.name] = field
            topic = option_place(method, option.name)
            place = labelled(option.heading, field, hint(option), topic=topic)
            place.addStretch(1)
            grid.addLayout(place, position // 2, position % 2)
        self._defaults = {option.name: option.default for option in options}
        self.reset = push_button("Reset to &defaults", self._reset)
        layouts.column(
            grid, layouts.at(self.reset, Qt.AlignmentFlag.AlignLeft), on=self, spacing=theme.GAP
        )

    def follow(self, widget: QWidget) -> None:
        """Let Tab come here from a widget."""
        in_order(widget, *self.fields.values(), self.reset)

    def _choice(self, option: Option, value: str) -> QComboBox:
        field = choice(
            [(meaning(word, option.name), word) for word in option.choices],
            chosen=value,
            changed=lambda: self.set_to.emit(option.name, field.currentData()),
        )
        return field

    def _number(self, option: Option, value: OptionValue) -> QSpinBox | QDoubleSpinBox:
        field = number_field(option, value)
        field.valueChanged.connect(lambda new: self.set_to.emit(option.name, new))
        return field

    def _reset(self) -> None:
        for name, default in self._defaults.items():
            field = self.fields[name]
            if isinstance(field, QComboBox):
                field.setCurrentIndex(field.findData(default))
            else:
                field.setValue(default)  # type: ignore[arg-type]  # whole where it must be
