"""Who signs the report: a row for each, with name, role and date."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QGridLayout, QLineEdit, QPushButton, QWidget

from fairdesk.audit.store.records import Signer
from fairdesk.gui.kit import layouts, parts, theme
from fairdesk.report.content.fields import FIELDS, fault

_ASKED = (("Name", ""), ("Role", "Lead auditor"), ("Date", "2026-01-31"))


class SignersEditor(QWidget):
    """Lists who signs.

    Signals
    -------
    changed
        A row was left with something else in it, or taken away.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._rows: list[_Row] = []
        self._kept: tuple[Signer, ...] = ()
        self._list = layouts.column(spacing=theme.NEAR)
        self.add = parts.push_button("A&dd a signatory", self._add_one)
        layouts.column(self._list, layouts.column(self.add), on=self, spacing=theme.NEAR)

    @property
    def signers(self) -> tuple[Signer, ...]:
        """Those of whom anything was told."""
        return tuple(row.signer for row in self._rows if row.signer != Signer(""))

    def show_signers(self, signers: tuple[Signer, ...]) -> None:
        """Show who is kept, unless there is something else that is not kept yet."""
        unsaved, self._kept = self.signers != self._kept, signers
        # rows that were just added and are still empty stay
        if unsaved or signers == self.signers:
            return
        while self._rows:
            self._drop(self._rows[-1])
        for signer in signers:
            self._append(signer)

    def mark_kept(self, signers: tuple[Signer, ...]) -> None:
        """Say who is kept: see `FieldEditor.mark_kept`."""
        self._kept = signers

    def _add_one(self) -> None:
        self._append(Signer("")).fields[0].setFocus()

    def _append(self, signer: Signer) -> _Row:
        row = _Row(len(self._rows) + 1, signer)
        row.left.connect(self.changed)
        row.remove.clicked.connect(lambda: self._remove(row))
        self._rows.append(row)
        self._list.addWidget(row)
        # first to the place of the button, then the button behind it
        parts.in_order(self.add, *row.fields, row.remove, self.add)
        return row

    def _remove(self, row: _Row) -> None:
        self._drop(row)
        self.add.setFocus()
        self.changed.emit()

    def _drop(self, row: _Row) -> None:
        self._rows.remove(row)
        self._list.removeWidget(row)
        row.hide()
        row.deleteLater()


class _Row(QWidget):
    """One who signs."""

    left = Signal()

    def __init__(self, number: int, signer: Signer) -> None:
        super().__init__()
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setSpacing(theme.TIGHT)
        self.fields: list[QLineEdit] = []
        for (what, example), text in zip(
            _ASKED, (signer.name, signer.role, signer.date), strict=True
        ):
            field = QLineEdit(text)
            field.setPlaceholderText(f"{what}: {example}" if example else what)
            field.setAccessibleName(f"{what} of signatory {number}")
            field.setCursorPosition(0)
            field.editingFinished.connect(self.left)
            self.fields.append(field)
        self._wrong = parts.Words(tone="wrong")
        self.remove = QPushButton("Remove")
        self.remove.setAccessibleName(f"Remove signatory {number}")
        name, role, date = self.fields
        grid.addWidget(name, 0, 0, 1, 2)
        grid.addWidget(self.remove, 0, 2)
        grid.addWidget(role, 1, 0)
        grid.addWidget(date, 1, 1, 1, 2)
        grid.addWidget(self._wrong, 2, 0, 1, 3)
        date.editingFinished.connect(self._check)
        self._check()
        grid.setColumnStretch(0, 3)
        grid.setColumnStretch(1, 1)

    @property
    def signer(self) -> Signer:
        """What its fields tell."""
        name, role, date = (field.text().strip() for field in self.fields)
        return Signer(name, role, date)

    def _check(self) -> None:
        """Say what is wrong with the date; it is kept all the same, so that nothing is lost."""
        wrong = fault(FIELDS["audit_date"], self.signer.date)
        self._wrong.say(wrong)
