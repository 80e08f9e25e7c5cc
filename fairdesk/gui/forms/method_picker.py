"""The methods, by the question that each answers; at the right a page about the chosen one."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QFrame, QGridLayout, QListWidget, QListWidgetItem, QWidget

from fairdesk.app.time_limits import SECONDS
from fairdesk.audit.catalogue.method import PURPOSES, QuestionKind
from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.catalogue.options import options_of
from fairdesk.audit.plan.spec import OptionValue
from fairdesk.gui.forms.options import OptionsForm
from fairdesk.gui.kit import layouts, theme
from fairdesk.gui.kit.hints.helping import HelpButton, set_topic
from fairdesk.gui.kit.parts import Card, Fold, Hairline, Words, clear, heading, in_order, quiet
from fairdesk.manual.places import method_place

#: The kinds of methods that are picked here, in the order of the list: a mitigation has its own.
QUESTIONS = {
    kind: purpose.title for kind, purpose in PURPOSES.items() if kind is not QuestionKind.REPAIR
}
_KEY = Qt.ItemDataRole.UserRole


class MethodPicker(QWidget):
    """Chooses one method and its parameters.

    Signals
    -------
    chosen : str
        The auditor chose the method of this key; also one that is off, to read why.
    option_set : str, object
        The auditor gave a parameter of the chosen method (its name) a value.
    opened
        The parameters came in sight.
    """

    chosen = Signal(str)
    option_set = Signal(str, object)
    opened = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.form: OptionsForm | None = None
        self.items: dict[str, QListWidgetItem] = {}
        self._options: Mapping[str, dict[str, OptionValue]] = {}
        self._off: Mapping[str, str] = {}
        self._remarks: Mapping[str, str] = {}
        self.list = QListWidget()
        self.list.setAccessibleName("Methods")
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.viewport().setAutoFillBackground(False)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._fill()
        self._title = heading("")
        self.reason = Words(tone="wrong")
        self._sentence, self._remark = Words(), Words(tone="quiet")
        self._tells, self._cannot, self._paper = Words(), Words(), Words()
        self._fold = Fold("&Advanced: method parameters")
        self._fold.opened.connect(self.opened)
        self._lay_out()
        # a list without a current line takes the first one when it gets the keyboard
        self.list.setCurrentItem(next(iter(self.items.values())))
        self.list.currentItemChanged.connect(self._choose)

    @property
    def key(self) -> str:
        """The chosen method."""
        return str(self.list.currentItem().data(_KEY))

    def show_methods(
        self,
        chosen: str,
        options: Mapping[str, dict[str, OptionValue]],
        off: Mapping[str, str],
        remarks: Mapping[str, str],
    ) -> None:
        """Show which method is chosen, the values of its parameters, and which are off and why.

        Parameters
        ----------
        chosen : str
            A key of `METHODS`.
        options : mapping
            Per method the parameters that differ from the default.
        off, remarks : mapping
            Per method a sentence why it cannot be used, or what is special about it here.
        """
        self._options, self._off, self._remarks = options, off, remarks
        for key, item in self.items.items():
            title = METHODS[key].title
            item.setText(f"{title} (off)" if key in off else title)
            item.setData(Qt.ItemDataRole.ToolTipRole, off.get(key, METHODS[key].sentence))
            colour = QColor(theme.colours().quiet) if key in off else None
            item.setData(Qt.ItemDataRole.ForegroundRole, colour)
        with QSignalBlocker(self.list):
            self.list.setCurrentItem(self.items[chosen])
        self._show()

    def _fill(self) -> None:
        for answers, question in QUESTIONS.items():
            head = QListWidgetItem(question, self.list)
            head.setFlags(Qt.ItemFlag.NoItemFlags)
            head.setTextAlignment(Qt.AlignmentFlag.AlignBottom)
            head.setFont(theme.scaled(self.list.font(), 0.9, strong=True))
            for key, method in METHODS.items():
                if method.answers is answers:
                    item = QListWidgetItem(method.title, self.list)
                    item.setData(_KEY, key)
                    self.items[key] = item

    def _lay_out(self) -> None:
        lines = self.list.count()
        for row in range(lines):
            item = self.list.item(row)
            # a heading stands off from the methods above it
            above = theme.GAP if item.data(_KEY) is None and row else 0
            item.setSizeHint(QSize(0, self.list.fontMetrics().height() + theme.NEAR + above))
        texts = [f"{self.list.item(row).text()} (off)" for row in range(lines)]
        widest = max(map(self.list.fontMetrics().horizontalAdvance, texts))
        self.list.setFixedWidth(widest + theme.PAGE)
        heights = [self.list.item(row).sizeHint().height() for row in range(lines)]
        self.list.setMinimumHeight(sum(heights) + theme.TIGHT)
        grid = QGridLayout()
        grid.setHorizontalSpacing(theme.WIDE)
        grid.setVerticalSpacing(theme.GAP)
        grid.setColumnStretch(1, 1)
        top = Qt.AlignmentFlag.AlignTop
        for row, (head, text) in enumerate(
            (("Shows", self._tells), ("Does not show", self._cannot), ("Source", self._paper))
        ):
            grid.addWidget(quiet(head), row, 0, top)
            grid.addWidget(text, row, 1)
        page = layouts.column(
            layouts.row(layouts.grow(self._title), HelpButton("this method")),
            self.reason,
            self._sentence,
            self._remark,
            grid,
            layouts.stretch(),
            spacing=theme.GAP,
        )
        card = Card()
        sides = layouts.row(self.list, Hairline(), layouts.grow(page), spacing=theme.WIDE)
        card.body.addLayout(sides)
        card.body.addWidget(self._fold)
        layouts.column(card, on=self)
        in_order(self.list, self._fold.button)

    def _choose(self) -> None:
        self._show()
        self.chosen.emit(self.key)

    def _show(self) -> None:
        method, off = METHODS[self.key], self._off.get(self.key, "")
        remark = self._remarks.get(self.key, "")
        set_topic(self, method_place(self.key))
        self._title.setText(method.title)
        for label, text in ((self.reason, off), (self._remark, remark)):
            label.setText(text)
            label.setVisible(bool(text))
        self._sentence.setText(method.sentence)
        self._tells.setText(method.tells)
        self._cannot.setText(method.cannot)
        self._paper.setText(f"{method.paper}.")
        # how long it may take is asked for all methods alike, elsewhere
        options = tuple(each for each in options_of(method.options) if each.name != SECONDS)
        self._fold.setVisible(bool(options) and not off)
        clear(self._fold.body)
        self.form = OptionsForm(self.key, options, self._options.get(self.key, {}))
        self.form.set_to.connect(self.option_set)
        self._fold.body.addWidget(self.form)
        self.form.follow(self._fold.button)
