"""What the page shows before there is a model: the place to drop one, or a column of decisions."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from fairdesk.gui.kit import layouts, theme
from fairdesk.gui.kit.choices import Choice
from fairdesk.gui.kit.parts import Card, DropZone, bounded, calm, labelled, quiet
from fairdesk.gui.wizard.state.wizard_state import WizardState


class EmptyPart(QWidget):
    """The place of the model, and below it the columns that may hold its decisions.

    Signals
    -------
    asked
        The auditor wants to choose a file.
    taken : str
        A column with decisions is to stand for the model.
    """

    asked = Signal()
    taken = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.zone = DropZone(
            "Drop a model file here",
            "Keras (.keras, .h5), ONNX (.onnx), scikit-learn (.pkl, .joblib, .skops), PMML "
            "(.pmml), XGBoost (.json, .ubj), LightGBM (.txt), CatBoost (.cbm); a TensorFlow "
            "SavedModel is a folder: drop the folder",
        )
        self.zone.asked.connect(self.asked)
        self.column = bounded(Choice("Choose a column…", deliberate=True), 20)
        calm(self.column)
        self.column.activated.connect(lambda: self.taken.emit(self.column.currentText()))
        self._without = Card(margin=theme.GAP)
        row = layouts.row(
            layouts.grow(
                quiet(
                    "Without the model, FairDesk can use its decisions in a column of the "
                    "data: groups can be compared and a report written. Methods that query "
                    "the model need the model itself."
                )
            ),
            labelled("Column with its &decisions", self.column),
            spacing=theme.WIDE,
        )
        self._without.body.addLayout(row)
        layouts.column(layouts.grow(self.zone), self._without, on=self, spacing=theme.GAP)

    def show_columns(self, state: WizardState) -> None:
        """Offer the columns of the data, once it is known which outcome is favourable."""
        self._without.setVisible(state.table is not None and bool(state.favourable))
        self.column.clear()
        if state.table is not None:
            self.column.addItems(list(state.label_candidates()))
            self.column.setCurrentIndex(-1)
