"""A dialog to name a model's decisions, which it calls by numbers."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QGridLayout, QLabel, QLineEdit, QWidget

from fairdesk.gui.forms.form_dialog import FormDialog
from fairdesk.gui.kit import theme
from fairdesk.gui.kit.parts import quiet, scrolled


class NamesDialog(FormDialog):
    """Asks what a model's classes are called: each by a name of its own, or none.

    Parameters
    ----------
    names : sequence of str
        What they are called so far, or what is offered; may be empty.
    """

    def __init__(self, classes: Sequence[str], names: Sequence[str], parent: QWidget) -> None:
        super().__init__("Name the decisions", parent)
        self._classes = tuple(classes)
        self.body.addWidget(
            quiet(
                "Window and report show these names instead of the model’s own. Leave all empty "
                "to keep its own."
            )
        )
        inside = QWidget()
        grid = QGridLayout(inside)
        grid.setContentsMargins(0, 0, theme.NEAR, 0)
        grid.setHorizontalSpacing(theme.GAP)
        self.fields: list[QLineEdit] = []
        for row, own in enumerate(self._classes):
            label, field = QLabel(own), QLineEdit()
            label.setBuddy(field)
            field.setText(names[row] if row < len(names) else "")
            field.setAccessibleName(f"Name of the decision “{own}”")
            field.textChanged.connect(self._check)
            grid.addWidget(label, row, 0)
            grid.addWidget(field, row, 1)
            self.fields.append(field)
        self.body.addWidget(scrolled(inside), 1)
        self._add_buttons()
        self._check()
        self.resize(420, 320)

    def names(self) -> tuple[str, ...]:
        """Return the names, one for each class; empty where its own are kept."""
        said = tuple(field.text().strip() for field in self.fields)
        return said if any(said) else ()

    def _check(self) -> None:
        said = self.names()
        wrong = ""
        if said and not all(said):
            wrong = "Name every decision, or none."
        elif len(set(said)) < len(said):
            wrong = "Two decisions have the same name."
        self._refuse(wrong)
