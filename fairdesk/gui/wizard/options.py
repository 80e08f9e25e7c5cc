"""A method's parameters as fields: generated from the limits and words of its options."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, log10

import msgspec
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QDoubleSpinBox,
    QGridLayout,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from fairdesk.audit.spec import OptionValue
from fairdesk.gui import theme
from fairdesk.gui.parts import calm, in_order, labelled
from fairdesk.gui.wizard.numbers import NumberField

_MOST = 2**31 - 1
#: How near a field comes to a limit that is itself not allowed.
_NEAREST = 0.001


@dataclass(frozen=True)
class Option:
    """One parameter of a method.

    Attributes
    ----------
    name : str
        As in the paper.
    title, sentence : str
        For people.
    whole : bool
        Whether it is a whole number.
    low, high : float
        The least and the greatest that a field takes.
    default : float
        As in the paper.
    """

    name: str
    title: str
    sentence: str
    whole: bool
    low: float
    high: float
    default: float


def options_of(kind: type[msgspec.Struct]) -> tuple[Option, ...]:
    """Read the parameters off a method's options."""
    found = []
    for name, schema in msgspec.json.schema(kind)["$defs"][kind.__name__]["properties"].items():
        whole = schema["type"] == "integer"
        step = 1.0 if whole else _NEAREST
        low = schema.get("minimum", schema.get("exclusiveMinimum", -_MOST - step) + step)
        high = schema.get("maximum", schema.get("exclusiveMaximum", _MOST + step) - step)
        found.append(
            Option(
                name=name,
                title=schema.get("title", name),
                sentence=schema.get("description", ""),
                whole=whole,
                low=low,
                high=high,
                default=schema["default"],
            )
        )
    return tuple(found)


class OptionsForm(QWidget):
    """Fields for a method's parameters.

    Signals
    -------
    set_to : str, object
        The auditor gave a parameter (its name) a value.
    """

    set_to = Signal(str, object)

    def __init__(self, options: tuple[Option, ...], values: dict[str, OptionValue]) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.GAP)
        grid = QGridLayout()
        grid.setHorizontalSpacing(theme.PAGE)
        grid.setVerticalSpacing(theme.WIDE)
        self.fields: dict[str, QSpinBox | QDoubleSpinBox] = {}
        for position, option in enumerate(options):
            field = self._field(option, float(values.get(option.name, option.default)))
            self.fields[option.name] = field
            hint = f"{option.sentence} Default: {option.default:,}."
            place = labelled(f"{option.title}  ({option.name})", field, hint)
            place.addStretch(1)
            grid.addLayout(place, position // 2, position % 2)
        grid.setColumnStretch(0, 1)
        grid.setColumnStretch(1, 1)
        column.addLayout(grid)
        self._defaults = {option.name: option.default for option in options}
        self.reset = QPushButton("Back to the &defaults")
        self.reset.setAutoDefault(False)
        self.reset.clicked.connect(self._reset)
        column.addWidget(self.reset, 0, Qt.AlignmentFlag.AlignLeft)

    def follow(self, widget: QWidget) -> None:
        """Let Tab come here from a widget."""
        in_order(widget, *self.fields.values(), self.reset)

    def _field(self, option: Option, value: float) -> QSpinBox | QDoubleSpinBox:
        field: QSpinBox | QDoubleSpinBox
        if option.whole:
            field = QSpinBox()
            field.setRange(int(option.low), int(option.high))
            field.setValue(int(value))
        else:
            field = NumberField()
            # there is a button that takes the value at once, without the field being left
            field.setKeyboardTracking(True)
            small = 0 < option.default < 0.1
            field.setSingleStep(10 ** floor(log10(option.default)) if small else 0.1)
            field.setRange(option.low, option.high)
            field.setValue(value)
        field.setGroupSeparatorShown(True)
        field.setMaximumWidth(180)
        calm(field)
        field.valueChanged.connect(lambda new: self.set_to.emit(option.name, new))
        return field

    def _reset(self) -> None:
        for name, default in self._defaults.items():
            self.fields[name].setValue(default)  # type: ignore[arg-type]  # whole where it must be
