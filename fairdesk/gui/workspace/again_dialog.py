"""Another run of the same audit: which method, which seed, for how long."""

from __future__ import annotations

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from fairdesk.audit.methods import METHODS
from fairdesk.audit.spec import Budget, RunSpec
from fairdesk.gui import parts, theme
from fairdesk.gui.wizard.options import OptionsForm, options_of

_LENGTHS: tuple[tuple[str, float | None], ...] = (
    ("Quick: 1 minute", 60.0),
    ("Standard: 10 minutes", 600.0),
    ("Thorough: 1 hour", 3600.0),
    ("Until it is done", None),
)
_MOST = 2**31 - 1


class AgainDialog(QDialog):
    """Asks for a run.

    Parameters
    ----------
    last : RunSpec, optional
        The run before: the same is offered, with the next seed.
    """

    def __init__(self, last: RunSpec | None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Find examples")
        self.setMinimumWidth(560)
        last = last or RunSpec(method=next(iter(METHODS)), seed=-1, budget=Budget(seconds=60.0))
        self._options = {last.method: dict(last.options)}
        self._method = QComboBox()
        for key, method in METHODS.items():
            self._method.addItem(method.title, key)
        self._method.setCurrentIndex(self._method.findData(last.method))
        self._sentence = parts.quiet()
        self._seed = QSpinBox()
        self._seed.setRange(0, _MOST)
        self._seed.setValue(min(last.seed + 1, _MOST))
        self._length = QComboBox()
        lengths = list(_LENGTHS)
        if last.budget.seconds not in [seconds for _text, seconds in lengths]:
            lengths.insert(0, (f"As before: {last.budget.seconds:g} seconds", last.budget.seconds))
        for text, seconds in lengths:
            self._length.addItem(text, seconds)
        self._length.setCurrentIndex([each for _text, each in lengths].index(last.budget.seconds))
        self._queries = last.budget.queries
        self._fold = parts.Fold("&Advanced: the method’s parameters")
        parts.calm(self._method, self._seed, self._length)

        inside = QWidget()
        form = QVBoxLayout(inside)
        form.setContentsMargins(0, 0, theme.NEAR, 0)
        form.setSpacing(theme.GAP)
        form.addLayout(parts.labelled("&Method", self._method))
        form.addWidget(self._sentence)
        form.addLayout(
            parts.labelled(
                "Random &seed", self._seed, "Another seed searches elsewhere and finds others."
            )
        )
        form.addLayout(
            parts.labelled(
                "&How long it may take",
                self._length,
                "It ends earlier when the method is done; you can stop it at any time.",
            )
        )
        form.addWidget(self._fold)
        form.addStretch(1)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        start = buttons.addButton("S&tart run", QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.button(QDialogButtonBox.StandardButton.Cancel).setAutoDefault(False)
        start.setDefault(True)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.WIDE, theme.WIDE, theme.WIDE, theme.WIDE)
        column.setSpacing(theme.GAP)
        column.addWidget(parts.title("Find examples"))
        column.addWidget(
            parts.quiet("Earlier runs stay in the audit; every run stands in the report.")
        )
        area = parts.scrolled(inside)
        column.addWidget(area, 1)
        column.addWidget(buttons)
        self._method.currentIndexChanged.connect(self._show_method)
        # once the layout has made room for what was opened
        self._fold.opened.connect(
            lambda: QTimer.singleShot(50, area, lambda: area.ensureWidgetVisible(self._fold))
        )
        self._show_method()
        self.resize(600, 520)

    def run(self) -> RunSpec:
        """Give what was asked for."""
        method = self._method.currentData()
        return RunSpec(
            method=method,
            options=self._options.get(method, {}),
            seed=self._seed.value(),
            budget=Budget(seconds=self._length.currentData(), queries=self._queries),
        )

    def _show_method(self) -> None:
        key = self._method.currentData()
        method = METHODS[key]
        self._sentence.setText(f"{method.sentence} {method.cannot}")
        parts.clear(self._fold.body)
        values = self._options.setdefault(key, {})
        form = OptionsForm(options_of(method.options), values)
        form.set_to.connect(values.__setitem__)
        self._fold.body.addWidget(form)
        form.follow(self._fold.button)
