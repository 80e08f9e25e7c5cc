"""The field for what the model's answers mean: its good ones, and where its decision changes."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QDoubleSpinBox, QLabel, QWidget

from fairdesk.data.profiling.outcomes import OR
from fairdesk.gui.forms.names_dialog import NamesDialog
from fairdesk.gui.forms.numbers import NumberField
from fairdesk.gui.forms.values_dialog import ValuesDialog
from fairdesk.gui.kit import layouts, theme
from fairdesk.gui.kit.choices import Choice
from fairdesk.gui.kit.parts import bounded, calm, labelled, push_button
from fairdesk.gui.wizard.data.favourable import COMPARISONS
from fairdesk.models.decisions.favourable import Answer, sign_of
from fairdesk.models.decisions.rule import VALUES
from fairdesk.models.model import Mapping, ModelCard
from fairdesk.wording.decisions import good_answers

_SEVERAL = "Several decisions…"


class AnswerField(QWidget):
    """What the model's answers mean, as the one text that `models.favourable` reads.

    Signals
    -------
    chosen : str, object
        The answers that are good, and the threshold, if it is another than one half.
    named : tuple of str
        What the decisions are called; of none when the model's own names are kept.
    """

    chosen = Signal(str, object)
    named = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._card: ModelCard | None = None
        self._good = ""
        self.combo = bounded(Choice("Choose a decision…"))
        self.combo.activated.connect(self._choose)
        self.threshold = QDoubleSpinBox()
        self.threshold.setDecimals(3)
        self.threshold.setRange(0.001, 0.999)
        self.threshold.setSingleStep(0.01)
        self.threshold.setKeyboardTracking(False)
        self.threshold.valueChanged.connect(self._move)
        self.estimate = NumberField()
        self.estimate.valueChanged.connect(self._move)
        calm(self.combo, self.threshold, self.estimate)
        self._by_score = layouts.panel(labelled("Decision threshold (abo&ve)", self.threshold))
        self._by_estimate = layouts.panel(labelled("This n&umber", self.estimate))
        self._label = QLabel()
        self._label.setBuddy(self.combo)
        self.naming = push_button("Name the d&ecisions…", self._name, auto_default=False)
        self._names: tuple[str, ...] = ()
        both = layouts.row(layouts.grow(self.combo), self.naming, spacing=theme.NEAR)
        choosing = layouts.column(self._label, both, spacing=theme.TIGHT)
        row = layouts.row(layouts.grow(choosing), on=self, spacing=theme.GAP)
        self.name_decisions(of_model=True)
        for box in (self._by_score, self._by_estimate):
            row.addWidget(box, 0, Qt.AlignmentFlag.AlignBottom)

    def name_decisions(self, *, of_model: bool) -> None:
        """Say whose decisions these are: the model's, or those in a column without one."""
        self._label.setText("&Model’s favourable decision" if of_model else "Fa&vourable decision")
        self.combo.setAccessibleName(self._label.text().replace("&", ""))

    def show_answers(self, card: ModelCard, mapping: Mapping | Answer | None) -> None:
        """Show the answers that a model can give, and what they are taken to mean, if that is."""
        self._card = card
        blocked = [QSignalBlocker(each) for each in (self.combo, self.threshold, self.estimate)]
        self.combo.clear()
        values = card.scores == VALUES
        self._by_estimate.setVisible(values)
        self.threshold.setValue(0.5)
        self._by_score.setVisible(len(card.classes) == 2 and card.scores != "labels")
        if values:
            for sign, words in COMPARISONS.items():
                self.combo.addItem(words.rstrip("…"), sign)
        else:
            self._names = mapping.names if isinstance(mapping, Mapping) else ()
            called = self._names or card.classes
            for own, name in zip(card.classes, called, strict=True):
                self.combo.addItem(name if name == own else f"{name} ({own})", own)
        self.naming.setVisible(not values and all(name.isdigit() for name in card.classes))
        self.combo.setCurrentIndex(-1)
        if mapping is not None:
            self._show_meaning(card, mapping)
        if len(card.classes) > 2:
            self.combo.addItem(_SEVERAL, _SEVERAL)
        del blocked

    def _show_meaning(self, card: ModelCard, mapping: Mapping | Answer) -> None:
        if card.scores == VALUES:
            self.combo.setCurrentIndex(self.combo.findData(sign_of(mapping)))
            self.estimate.setValue(mapping.threshold or 0.0)
            return
        self._good = OR.join(good_answers(card, mapping))
        if self.combo.findData(self._good) < 0:
            self.combo.addItem(self._good, self._good)
        self.combo.setCurrentIndex(self.combo.findData(self._good))
        self.threshold.setValue(0.5 if mapping.threshold is None else mapping.threshold)

    def _name(self) -> None:
        """Ask what the decisions are called."""
        if self._card is None:
            return
        hinted = self._card.hints.classes
        offered = hinted if len(hinted) == len(self._card.classes) else ()
        dialog = NamesDialog(self._card.classes, self._names or offered, self)
        accepted = dialog.exec()
        dialog.deleteLater()
        if accepted:
            self.named.emit(dialog.names())

    def _choose(self) -> None:
        if self._card is None:
            return
        if self.combo.currentData() == _SEVERAL:
            classes = self._card.classes
            dialog = ValuesDialog(
                "Favourable decisions",
                "Which of the model’s decisions are favourable?",
                "the model’s decisions",
                classes,
                self._good.split(OR),
                self,
                most=len(classes) - 1,
            )
            accepted = dialog.exec()
            dialog.deleteLater()
            if not accepted:
                self.combo.setCurrentIndex(self.combo.findData(self._good))
                return
            self._good = OR.join(dialog.values())
        else:
            self._good = self.combo.currentData()
        self._move()

    def _move(self) -> None:
        if self._card is None or self.combo.currentIndex() < 0:
            return
        if self._card.scores == VALUES:
            text = f"{self.combo.currentData()} {self.estimate.value():.15g}"
            self.chosen.emit(text, None)
            return
        limit = self.threshold.value()
        plain = limit == 0.5 or self._by_score.isHidden()
        self.chosen.emit(self._good, None if plain else limit)
