"""The methods, by the question that each answers, and their parameters as fields."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import floor, log10

from PySide6.QtCore import QEvent, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QFrame,
    QListWidget,
    QListWidgetItem,
    QSpinBox,
    QWidget,
)

from fairdesk.app.standard import SECONDS
from fairdesk.audit.catalogue.method import PURPOSES, QuestionKind
from fairdesk.audit.catalogue.methods import METHODS, Option, method_named, options_of
from fairdesk.audit.plan.spec import OptionValue
from fairdesk.gui.kit import layouts, theme
from fairdesk.gui.kit.fields import NumberField, choice, labelled, whole
from fairdesk.gui.kit.hints import HelpButton, define_entries, set_topic
from fairdesk.gui.kit.parts import (
    Card,
    Fold,
    Hairline,
    Words,
    clear,
    heading,
    in_order,
    push_button,
    quiet,
)
from fairdesk.manual.places import method_place, option_place
from fairdesk.wording.words import plural

#: What the words that a parameter can be mean.
_MEANINGS = {
    "all": "all sets of values",
    "single": "single values, and all but one",
    "ordered": "values in the order of their rates",
    "favourable": "the selection rate (favourable decision)",
    "each": "the rate of each decision, in turn",
    "score": "the mean score of the favourable decision",
    "scratch": "from new random weights",
    "tune": "from the original model’s weights",
    "own": "the model’s own",
    "adam": "Adam",
    "sgd": "SGD",
    "rmsprop": "RMSprop",
}
#: The same of words that mean something else for one option.
_MEANINGS_OF = {("compare", "all"): "reweighing and the fairlearn methods"}

Field = QSpinBox | QDoubleSpinBox | QComboBox


def meaning(word: str, option: str = "") -> str:
    """Say what a word means that a parameter can be."""
    return _MEANINGS_OF.get((option, word)) or _MEANINGS.get(word, word.replace("_", " "))


def hint(option: Option) -> str:
    """Say what an option is, and its default as the field shows it."""
    default = option.default
    usual = meaning(default, option.name) if isinstance(default, str) else f"{default:,}"
    return f"{option.help} Default: {usual}."


def number_field(option: Option, value: OptionValue) -> QSpinBox | QDoubleSpinBox:
    """Return a field for an option that is a number."""
    default = float(option.default)
    field: QSpinBox | QDoubleSpinBox
    if option.whole:
        field = whole(int(option.low), int(option.high), int(value))
    else:
        field = NumberField()
        # there is a button that takes the value at once, without the field being left
        field.setKeyboardTracking(True)
        field.setSingleStep(10 ** floor(log10(default)) if 0 < default < 0.1 else 0.1)
        field.setRange(option.low, option.high)
        field.setValue(float(value))
    field.setGroupSeparatorShown(True)
    field.setMaximumWidth(180)
    return field


class OptionsForm(QWidget):
    """Fields for a method's parameters, each with its place in the help.

    Signals
    -------
    set_to : str, object
        The auditor gave a parameter (its name) a value.
    """

    set_to = Signal(str, object)

    def __init__(
        self, method: str, options: tuple[Option, ...], values: dict[str, OptionValue]
    ) -> None:
        super().__init__()
        grid = layouts.grid(across=theme.PAGE, down=theme.WIDE, stretches=(1, 1))
        self.fields: dict[str, Field] = {}
        for position, option in enumerate(options):
            value = values.get(option.name, option.default)
            field = (
                self._choice(option, str(value)) if option.choices else self._number(option, value)
            )
            self.fields[option.name] = field
            topic = option_place(method, option.name)
            place = labelled(option.heading, field, hint(option), topic=topic)
            place.addStretch(1)
            grid.addLayout(place, position // 2, position % 2)
        self._defaults = {option.name: option.default for option in options}
        self.reset = push_button("Reset to &defaults", self._reset)
        layouts.column(
            grid, layouts.at(self.reset, Qt.AlignmentFlag.AlignLeft), on=self, spacing=theme.GAP
        )

    def follow(self, widget: QWidget) -> None:
        """Let Tab come here from a widget."""
        in_order(widget, *self.fields.values(), self.reset)

    def _choice(self, option: Option, value: str) -> QComboBox:
        field = choice(
            [(meaning(word, option.name), word) for word in option.choices],
            chosen=value,
            changed=lambda: self.set_to.emit(option.name, field.currentData()),
        )
        return field

    def _number(self, option: Option, value: OptionValue) -> QSpinBox | QDoubleSpinBox:
        field = number_field(option, value)
        field.valueChanged.connect(lambda new: self.set_to.emit(option.name, new))
        return field

    def _reset(self) -> None:
        for name, default in self._defaults.items():
            field = self.fields[name]
            if isinstance(field, QComboBox):
                field.setCurrentIndex(field.findData(default))
            else:
                field.setValue(default)  # type: ignore[arg-type]  # whole where it must be


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


def ending(method: str) -> str:
    """Say when a run of a method ends."""
    if method == "neighbourhoods":
        return (
            "It ends earlier when every data row is decided. The certified and falsified counts "
            "can only grow: stop it at any time."
        )
    if method_named(method).answers is QuestionKind.PROOF:
        return (
            "It ends earlier when every combination is decided. The certified and falsified "
            "shares can only grow: stop it at any time, and resume it later from the "
            "Certification page."
        )
    if method_named(method).answers is QuestionKind.GROUPS:
        return (
            "It ends earlier when every group is known within the error bound. You can pause "
            "or stop it at any time: the results so far are kept, with wider margins."
        )
    return "It ends earlier when the method is complete. You can pause or stop it at any time."


#: The kinds of methods that are picked here, in the order of the list: a mitigation has its own.
QUESTIONS = {
    kind: purpose.title for kind, purpose in PURPOSES.items() if kind is not QuestionKind.REPAIR
}
_KEY = Qt.ItemDataRole.UserRole
_NOT_AVAILABLE = "Not available here"


class MethodPicker(QWidget):
    """Chooses one method, or several, and their parameters.

    Parameters
    ----------
    several : bool
        Whether methods are ticked, and the current one is only looked at.
    kinds : collection of QuestionKind
        The questions whose methods are offered.

    Signals
    -------
    taken : str, bool
        The auditor ticked the method of this key, or took the tick away.
    chosen : str
        The auditor chose the method of this key; also one that is off, to read why.
    option_set : str, object
        The auditor gave a parameter of the chosen method (its name) a value.
    opened
        The parameters came in sight.
    """

    taken = Signal(str, bool)
    chosen = Signal(str)
    option_set = Signal(str, object)
    opened = Signal()

    def __init__(
        self, *, several: bool = False, kinds: Collection[QuestionKind] = QUESTIONS
    ) -> None:
        super().__init__()
        self._several, self._kinds = several, kinds
        self.form: OptionsForm | None = None
        self.items: dict[str, QListWidgetItem] = {}
        self._heads: dict[QuestionKind | None, QListWidgetItem] = {}
        self._options: Mapping[str, dict[str, OptionValue]] = {}
        self._off: Mapping[str, str] = {}
        self._remarks: Mapping[str, str] = {}
        self.list = QListWidget()
        self.list.setAccessibleName("Methods")
        define_entries(self.list)
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.viewport().setAutoFillBackground(False)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._fill()
        self._title = heading("")
        self.reason = Words(tone="wrong")
        self._sentence, self._remark = Words(), Words(tone="quiet")
        self._tells, self._cannot, self._paper = Words(), Words(), Words()
        self._fold = Fold("&Advanced: paper and parameters")
        self._fold.opened.connect(self.opened)
        self._lay_out()
        # a list without a current line takes the first one when it gets the keyboard
        self.list.setCurrentItem(next(iter(self.items.values())))
        self.list.currentItemChanged.connect(self._choose)
        if several:
            self.list.itemChanged.connect(self._take)

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
        taken: Collection[str] = (),
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
        blocker = QSignalBlocker(self.list)
        for key, item in self.items.items():
            title = METHODS[key].title
            if self._several:
                ticked = Qt.CheckState.Checked if key in taken else Qt.CheckState.Unchecked
                item.setCheckState(ticked)
            item.setText(f"{title} (off)" if key in off else title)
            item.setData(Qt.ItemDataRole.ToolTipRole, off.get(key, METHODS[key].description))
        self._colour()
        self._arrange(off)
        self.list.setCurrentItem(self.items[chosen])
        blocker.unblock()
        self._show()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Follow the theme."""
        super().changeEvent(event)
        if theme.palette_changed(event):
            self._colour()

    def look_at(self, method: str) -> None:
        """Show the page of a method, without telling of it."""
        with QSignalBlocker(self.list):
            self.list.setCurrentItem(self.items[method])
        self._show()

    def _colour(self) -> None:
        """Show methods that are off in a quiet colour."""
        with QSignalBlocker(self.list):
            for key, item in self.items.items():
                colour = QColor(theme.colours().quiet) if key in self._off else None
                item.setData(Qt.ItemDataRole.ForegroundRole, colour)
            for head in self._heads.values():
                # it cannot be chosen, but is no less to be read
                head.setForeground(self.list.palette().text())

    def _fill(self) -> None:
        offered = [(kind, title) for kind, title in QUESTIONS.items() if kind in self._kinds]
        for answers, question in [*offered, (None, _NOT_AVAILABLE)]:
            head = QListWidgetItem(question)
            head.setFlags(Qt.ItemFlag.NoItemFlags)
            head.setTextAlignment(Qt.AlignmentFlag.AlignBottom)
            head.setFont(theme.scaled(self.list.font(), 0.9, strong=True))
            self._heads[answers] = head
            for key, method in METHODS.items():
                if method.answers is answers:
                    item = QListWidgetItem(method.title)
                    item.setData(_KEY, key)
                    self.items[key] = item

    def _arrange(self, off: Collection[str]) -> None:
        """Put the methods in their order, those that are off at the end."""
        while self.list.count():
            self.list.takeItem(0)
        for answers, head in self._heads.items():
            below = [
                item
                for key, item in self.items.items()
                if (key in off if answers is None else METHODS[key].answers is answers)
                and (answers is None or key not in off)
            ]
            for item in [head, *below] if below else []:
                # a heading stands off from the methods above it
                above = theme.GAP if item is head and self.list.count() else 0
                height = self.list.fontMetrics().height() + theme.NEAR + above
                item.setSizeHint(QSize(0, height))
                self.list.addItem(item)
        heights = [self.list.item(row).sizeHint().height() for row in range(self.list.count())]
        self.list.setMinimumHeight(sum(heights) + theme.TIGHT)

    def _lay_out(self) -> None:
        self._arrange(())
        # a box to tick takes as much room as what is said of those that are off
        beside = "" if self._several else " (off)"
        texts = [f"{item.text()}{beside}" for item in (*self._heads.values(), *self.items.values())]
        widest = max(map(self.list.fontMetrics().horizontalAdvance, texts))
        self.list.setFixedWidth(widest + theme.PAGE + (theme.PAGE if self._several else 0))
        told = layouts.column(
            *(quiet("Shows"), self._tells, layouts.gap(theme.NEAR)),
            *(quiet("Does not show"), self._cannot),
            spacing=theme.TIGHT,
        )
        page = layouts.column(
            layouts.row(layouts.grow(self._title), HelpButton("this method")),
            self.reason,
            self._sentence,
            self._remark,
            told,
            layouts.stretch(),
            spacing=theme.GAP,
        )
        card = Card()
        sides = layouts.row(self.list, Hairline(), layouts.grow(page), spacing=theme.WIDE)
        card.body.addLayout(sides)
        card.body.addWidget(self._fold)
        self._parameters = layouts.column(spacing=0)
        self._fold.body.addWidget(self._paper)
        self._fold.body.addLayout(self._parameters)
        layouts.column(card, on=self)
        in_order(self.list, self._fold.button)

    def _choose(self) -> None:
        self._show()
        self.chosen.emit(self.key)

    def _take(self, item: QListWidgetItem) -> None:
        ticked = item.checkState() is Qt.CheckState.Checked
        self.taken.emit(str(item.data(_KEY)), ticked)

    def _show(self) -> None:
        method, off = METHODS[self.key], self._off.get(self.key, "")
        remark = self._remarks.get(self.key, "")
        set_topic(self, method_place(self.key))
        self._title.setText(method.title)
        self.reason.say(off)
        self._remark.say(remark)
        self._sentence.setText(method.description)
        self._tells.setText(method.shows)
        self._cannot.setText(method.cannot)
        self._paper.setText(f"Source: {method.paper}.")
        # how long it may take is asked for all methods alike, elsewhere
        options = tuple(each for each in options_of(method.options) if each.name != SECONDS)
        self._fold.setVisible(not off)
        clear(self._parameters)
        self.form = OptionsForm(self.key, options, self._options.get(self.key, {}))
        self.form.set_to.connect(self.option_set)
        self._parameters.addWidget(self.form)
        self.form.follow(self._fold.button)
