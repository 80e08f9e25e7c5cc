"""Whether a search may test anything, or only what is plausible, or near to rows of the data."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QCheckBox, QDoubleSpinBox, QWidget

from fairdesk.gui.kit import layouts, theme
from fairdesk.gui.kit.parts import calm, in_order, quiet
from fairdesk.wording.words import plural

#: What is offered first: of ten attributes one may be quite another.
USUAL = 0.1


class NearField(QWidget):
    """Asks how far from a real person anybody may be who is asked about.

    Signals
    -------
    chosen : float or None
        The greatest distance (Gower, 0 to 1); ``None``: anybody.
    kept : bool
        Whether the search is kept to plausible pairs.
    """

    chosen = Signal(object)
    kept = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        self.plausible = QCheckBox("&Plausible pairs only")
        self._why = quiet(
            "Both instances of a pair must be as usual as the rows of the data, and as near to one "
            "of them, as 95 % of rows held out are. To reproduce the figures of papers, untick it."
        )
        self.only = QCheckBox()
        self.most = QDoubleSpinBox()
        self.most.setRange(0.0, 1.0)
        self.most.setSingleStep(0.05)
        self.most.setDecimals(2)
        self.most.setValue(USUAL)
        self.most.setAccessibleName("Maximum Gower distance to the nearest data row, 0 to 1")
        calm(self.most)
        self._hint = quiet()
        layouts.column(
            self.plausible,
            self._why,
            layouts.row(self.only, self.most, layouts.stretch(), spacing=theme.GAP),
            self._hint,
            on=self,
            spacing=theme.TIGHT,
        )
        in_order(self.plausible, self.only, self.most)
        self.plausible.toggled.connect(self.kept)
        self.only.toggled.connect(self._tell)
        self.most.valueChanged.connect(self._tell)
        self.show_value(None, "person")

    @property
    def value(self) -> float | None:
        """The greatest distance; ``None``: anybody."""
        return round(self.most.value(), 2) if self.only.isChecked() else None

    def offer_plausible(self, *, offered: bool) -> None:
        """Offer to keep to plausible pairs, or not: only searches can."""
        self.plausible.setVisible(offered)
        self._why.setVisible(offered)

    def show_value(self, near: float | None, person: str, *, plausible: bool = True) -> None:
        """Show an answer, in the auditor's word for a person."""
        with QSignalBlocker(self.plausible):
            self.plausible.setChecked(plausible)
        with QSignalBlocker(self.only), QSignalBlocker(self.most):
            self.only.setText(f"&Only near {plural(person)} in the data; maximum distance:")
            self.only.setChecked(near is not None)
            self.most.setValue(USUAL if near is None else near)
            self.most.setEnabled(near is not None)
        self._hint.setText(
            "Gower distance to the nearest data row (0: identical in all attributes compared; 1: "
            "different in all). Fewer pairs are found, and they are more realistic."
        )

    def _tell(self) -> None:
        self.most.setEnabled(self.only.isChecked())
        self.chosen.emit(self.value)
