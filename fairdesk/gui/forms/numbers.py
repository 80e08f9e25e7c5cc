"""A field for a number of a column."""

from __future__ import annotations

from PySide6.QtWidgets import QDoubleSpinBox

from fairdesk.data.table import Column, Kind


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
