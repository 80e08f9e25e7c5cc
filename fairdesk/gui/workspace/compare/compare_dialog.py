"""Asks which methods to compare: the same budget and seed for each of them."""

from __future__ import annotations

from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QRadioButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from fairdesk.audit.catalogue.method import QuestionKind
from fairdesk.audit.catalogue.methods import METHODS, why_off
from fairdesk.audit.plan.spec import AuditSpec, Budget, RunSpec
from fairdesk.gui.kit import layouts, parts, theme

_MOST = 2**31 - 1
#: Methods that are chosen at first, as far as the model allows them.
_FIRST = ("maft", "aequitas-full", "uniform")


class CompareDialog(QDialog):
    """Asks for several runs.

    Parameters
    ----------
    spec : AuditSpec
        Says which methods are off for its model and domain, and why.
    """

    def __init__(
        self, spec: AuditSpec, seed: int = 0, parent: QWidget | None = None, *, queued: bool = False
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Compare methods")
        self.setMinimumWidth(560)
        self._boxes: dict[str, QCheckBox] = {}
        inside = QWidget()
        methods = layouts.column(on=inside, margin=(0, 0, theme.NEAR, 0), spacing=theme.TIGHT)
        for key, method in METHODS.items():
            if method.answers is QuestionKind.EXAMPLES:
                off = why_off(method, spec.model, spec.domain)
                self._add(methods, key, method.title, off or method.sentence, bool(off))
        methods.addStretch(1)
        self._seed = QSpinBox()
        self._seed.setRange(0, _MOST)
        self._seed.setValue(seed)
        self._seconds, self._rows = QSpinBox(), QSpinBox()
        self._by_seconds = QRadioButton("Se&conds")
        self._by_rows = QRadioButton("&Queries")
        self._buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        start = "Add &to queue" if queued else "S&tart runs"
        self._start = self._buttons.addButton(start, QDialogButtonBox.ButtonRole.AcceptRole)
        self._buttons.button(QDialogButtonBox.StandardButton.Cancel).setAutoDefault(False)
        self._start.setDefault(True)
        theme.fill(self._start)
        self._buttons.accepted.connect(self.accept)
        self._buttons.rejected.connect(self.reject)
        layouts.column(
            parts.title("Compare methods"),
            parts.quiet(
                "The selected methods run one after the other, each with its default "
                "parameters and with the same budget and random seed. Their results are kept "
                "like those of any run."
            ),
            layouts.grow(parts.scrolled(inside)),
            self._make_budget(),
            parts.labelled(
                "Random &seed",
                self._seed,
                "The same for each method, so that the comparison is fair.",
            ),
            self._buttons,
            on=self,
            margin=theme.WIDE,
            spacing=theme.GAP,
        )
        parts.calm(self._seed, self._seconds, self._rows)
        for box in self._boxes.values():
            box.toggled.connect(self._check)
        self._check()
        self.resize(620, 640)

    def runs(self) -> tuple[RunSpec, ...]:
        """Return what was asked for, in the order in which it is to run."""
        budget = (
            Budget(seconds=float(self._seconds.value()))
            if self._by_seconds.isChecked()
            else Budget(queries=self._rows.value())
        )
        return tuple(
            RunSpec(key, seed=self._seed.value(), budget=budget)
            for key, box in self._boxes.items()
            if box.isChecked()
        )

    def _add(self, column: QVBoxLayout, key: str, title: str, tip: str, off: bool) -> None:  # noqa: FBT001 - one of two looks
        box = QCheckBox(title)
        box.setEnabled(not off)
        box.setChecked(not off and key in _FIRST)
        box.setAccessibleDescription(tip)
        below = parts.quiet(tip)
        below.setContentsMargins(theme.PAGE, 0, 0, theme.TIGHT)
        column.addWidget(box)
        column.addWidget(below)
        if not off:
            self._boxes[key] = box

    def _make_budget(self) -> QWidget:
        group = QButtonGroup(self)
        widget = QWidget()
        row = layouts.row(
            parts.Words("Budget per method:", wrap=False), on=widget, spacing=theme.NEAR
        )
        for choice, amount, first, most, name in (
            (self._by_seconds, self._seconds, 60, 24 * 3600, "Seconds per method"),
            (self._by_rows, self._rows, 200_000, _MOST, "Queries per method"),
        ):
            amount.setRange(1, most)
            amount.setValue(first)
            amount.setGroupSeparatorShown(True)
            amount.setSingleStep(max(first // 10, 1))
            amount.setAccessibleName(name)
            group.addButton(choice)
            choice.toggled.connect(amount.setEnabled)
            row.addWidget(choice)
            row.addWidget(amount)
            row.addSpacing(theme.NEAR)
            amount.setEnabled(False)
        self._by_seconds.setChecked(True)
        row.addStretch(1)
        return widget

    def _check(self) -> None:
        """Allow a start only where there is something to compare."""
        chosen = sum(box.isChecked() for box in self._boxes.values())
        self._start.setEnabled(chosen > 0)
        self._start.setToolTip("" if chosen else "Select a method first")
