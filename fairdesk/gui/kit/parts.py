"""The parts of a page: texts, buttons, fields, cards, and areas that scroll."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

from PySide6.QtCore import (
    QEvent,
    QSize,
    Qt,
    QTimer,
    Signal,
    SignalInstance,
)
from PySide6.QtGui import (
    QAction,
    QColor,
    QGuiApplication,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QAbstractButton,
    QDialog,
    QDialogButtonBox,
    QFrame,
    QGridLayout,
    QLabel,
    QLayout,
    QMessageBox,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QSpacerItem,
    QStackedWidget,
    QToolButton,
    QWidget,
)

from fairdesk.errors import FairDeskError
from fairdesk.gui.kit import layouts, theme
from fairdesk.gui.kit.hints import Defined, DefinedButton

_Button = TypeVar("_Button", bound=QAbstractButton)
#: So many milliseconds pass between two looks at how far a call is.
_EVERY = 100
#: Of a page: how much of its right margin a scroll bar has.
_TAKEN = "taken"


class _Column(QScrollArea):
    """Scrolls up and down only: what is inside takes the width there is."""

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Keep the inside as wide as the view, and what is in it as wide as without the bar."""
        super().resizeEvent(event)
        if (inside := self.widget()) is not None:
            inside.setMaximumWidth(self.viewport().width())
            make_room(inside, self.width() - self.viewport().width())


def make_room(page: QWidget, bar: int) -> None:
    """Take a scroll bar, so many pixels wide, out of the right margin of the page beside it."""
    layout = page.layout()
    if layout is None:
        return
    margins, taken = layout.contentsMargins(), int(page.property(_TAKEN) or 0)
    own = margins.right() + taken
    if (takes := min(bar, own)) != taken:
        page.setProperty(_TAKEN, takes)
        margins.setRight(own - takes)
        layout.setContentsMargins(margins)


def scrolled(inside: QWidget) -> QScrollArea:
    """Put a page into an area that scrolls up and down."""
    area = _Column()
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setWidgetResizable(True)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.setWidget(inside)
    return area


def asked(parent: QWidget, what: str, more: str, *, yes: str, no: str) -> bool:
    """Ask whether to do what cannot be undone; doing nothing is the default."""
    box = QMessageBox(parent)
    box.setIcon(QMessageBox.Icon.Question)
    box.setWindowTitle(parent.windowTitle())
    box.setText(what)
    box.setInformativeText(more)
    doing = box.addButton(yes, QMessageBox.ButtonRole.DestructiveRole)
    keeping = box.addButton(no, QMessageBox.ButtonRole.RejectRole)
    box.setDefaultButton(keeping)
    box.setEscapeButton(keeping)
    if isinstance(grid := box.layout(), QGridLayout):
        # short sentences would be broken to the width of the buttons
        grid.addItem(QSpacerItem(420, 0), grid.rowCount(), 0, 1, grid.columnCount())
    box.exec()
    box.deleteLater()
    return box.clickedButton() is doing


def open_dialog(dialog: QDialog) -> None:
    """Open a dialog over its window, but not over the help; it is gone when it is closed."""
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.open()


def resize_on_screen(window: QWidget, width: int, height: int) -> None:
    """Give a window a size, or less where the screen with its bars and frames has less room."""
    frame = QSize(2 * theme.NEAR, 2 * theme.WIDE)
    room = QGuiApplication.primaryScreen().availableSize() - frame
    window.resize(QSize(width, height).boundedTo(room))


def show_as(widget: QWidget, name: str, value: object) -> None:
    """Let a widget look as the style sheet says of a property; only a change is looked at."""
    if widget.property(name) != value:
        widget.setProperty(name, value)
        widget.style().unpolish(widget)
        widget.style().polish(widget)


class Words(Defined):
    """Text on the page: plain (never markup, for it may come from a file), wrapped, themed.

    Where the pointer rests on a term of the vocabulary, its definition is shown.

    Parameters
    ----------
    tone : str
        ``""``, ``"quiet"`` or ``"wrong"``: a name of `fairdesk.gui.kit.theme.Colours`.
    strong : bool
        Whether it is set in the heavier weight.
    """

    def __init__(
        self,
        text: str = "",
        *,
        tone: str = "",
        size: float = 1.0,
        strong: bool = False,
        wrap: bool = True,
        selectable: bool = False,
    ) -> None:
        super().__init__(text)
        self.setProperty("tone", tone)
        if selectable:
            self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.setWordWrap(wrap)
        self.setFont(theme.scaled(self.font(), size, strong=strong))
        if wrap:
            policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
            policy.setHeightForWidth(True)
            self.setSizePolicy(policy)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Ask for one line: how many it takes depends on the width, which the layout asks for."""
        hint = super().minimumSizeHint()
        if not self.wordWrap():
            return hint
        return QSize(min(hint.width(), 80), self.fontMetrics().height())

    def say(self, text: str) -> None:
        """Show a text; an empty one hides it."""
        self.setText(text)
        self.setVisible(bool(text))

    def set_tone(self, tone: str) -> None:
        """Change the tone."""
        show_as(self, "tone", tone)


class Markup(QLabel):
    """Text with markup of our own, whose colours follow the theme.

    What comes from a file must be escaped.
    """

    def __init__(self) -> None:
        super().__init__()
        self._written: Callable[[], str] = str
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setWordWrap(True)

    def write(self, make: Callable[[], str]) -> None:
        """Show what ``make`` returns; it is asked again when colours change."""
        self._written = make
        # Qt reads the colours of links once, with the text
        self.setText("")
        self.setText(make())

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Follow the theme."""
        super().changeEvent(event)
        if theme.palette_changed(event):
            self.write(self._written)


class Elided(Words):
    """One line that is cut in its middle when the room is short; the tooltip has it whole."""

    def __init__(self, text: str = "", *, tone: str = "", strong: bool = False) -> None:
        super().__init__(tone=tone, strong=strong, wrap=False)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.say(text)

    def say(self, text: str) -> None:
        """Show a text."""
        self.setText(text)
        self.setToolTip(html.escape(text))
        self.setAccessibleName(text)

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw what there is room for."""
        middle = Qt.TextElideMode.ElideMiddle
        cut = self.fontMetrics().elidedText(self.text(), middle, self.width())
        palette, role = self.palette(), self.foregroundRole()
        self.style().drawItemText(
            *(QPainter(self), self.rect(), self.alignment(), palette, self.isEnabled(), cut, role)
        )


def title(text: str) -> Words:
    """Make a page's title."""
    return Words(text, size=1.6, strong=True)


def heading(text: str) -> Words:
    """Make the heading of a section."""
    return Words(text, size=1.12, strong=True)


def quiet(text: str = "") -> Words:
    """Make a text that explains."""
    return Words(text, tone="quiet")


def short(text: str, most: int = 22) -> str:
    """Cut a text of a file that would make its window too wide; the whole is in a tooltip."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def push_button(
    text: str,
    run: Callable[..., object] | SignalInstance | None = None,
    *,
    tip: str = "",
    name: str = "",
    checkable: bool = False,
    flat: bool = False,
    filled: bool = False,
) -> QPushButton:
    """Return a button that runs something.

    Parameters
    ----------
    run : callable or signal
        Is called with whether the button is checked, or emitted.
    tip, name : str
        Its tooltip, and its name for all readers if not its text.
    filled : bool
        Whether it is what one would press next: at most one of a page.
    """
    made = DefinedButton(text)
    made.setCheckable(checkable)
    made.setFlat(flat)
    if filled:
        theme.fill(made)
    return _prepared(made, run, tip, name)


def tool_button(
    text: str,
    run: Callable[..., object] | SignalInstance | None = None,
    *,
    tip: str = "",
    name: str = "",
    checkable: bool = False,
    raised: bool = False,
) -> QToolButton:
    """Return a small button that runs something; see `push_button`."""
    made = QToolButton()
    made.setText(text)
    made.setCheckable(checkable)
    made.setAutoRaise(raised)
    return _prepared(made, run, tip, name)


def _prepared(
    button: _Button, run: Callable[..., object] | SignalInstance | None, tip: str, name: str
) -> _Button:
    button.setToolTip(tip)
    button.setAccessibleName(name)
    if run is not None:
        button.clicked.connect(run)
    return button


def answers(reject: QPushButton, *others: QPushButton) -> QDialogButtonBox:
    """Return the buttons of a dialog: what closes it, and what else there is to press."""
    made = QDialogButtonBox()
    made.addButton(reject, QDialogButtonBox.ButtonRole.RejectRole)
    for each in others:
        made.addButton(each, QDialogButtonBox.ButtonRole.ActionRole)
    return made


def button_of(action: QAction, text: str) -> QPushButton:
    """Return a button that does what keys do; it is on and off with that."""
    keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
    made = push_button(text, action.trigger, tip=f"{action.text()} ({keys})")

    def follow() -> None:
        made.setEnabled(action.isEnabled())

    action.changed.connect(follow)
    follow()
    return made


def why_not(button: QPushButton, reasons: Iterable[str]) -> Words:
    """Switch a button off for reasons, and make the words that tell them; hidden without any."""
    text = "\n".join(filter(None, reasons))
    button.setEnabled(not text)
    button.setAccessibleDescription(text)
    why = Words(text, tone="wrong")
    why.setVisible(bool(text))
    return why


def action(
    parent: QWidget, text: str, run: Callable[[], object], shortcut: object = None
) -> QAction:
    """Make a menu entry."""
    made = QAction(text, parent)
    if shortcut is not None:
        made.setShortcut(shortcut)  # type: ignore[call-overload]  # a key sequence or its name
    made.triggered.connect(lambda _checked=False: run())
    return made


def in_order(*widgets: QWidget) -> None:
    """Let Tab go from each widget to the next: one made late would come last of its window."""
    # Qt passes over a request that names a widget without focus
    taking = [each for each in widgets if each.focusPolicy() != Qt.FocusPolicy.NoFocus]
    for before, after in pairwise(taking):
        QWidget.setTabOrder(before, after)


class Card(QFrame):
    """A rounded ground for what belongs together; ``body`` is its layout."""

    def __init__(
        self,
        *items: layouts.Item,
        tone: str = "card",
        margin: int = theme.WIDE,
        spacing: int = theme.NEAR,
    ) -> None:
        super().__init__()
        self.setProperty("tone", tone)
        self.body = layouts.column(*items, on=self, margin=margin, spacing=spacing)

    @property
    def ground(self) -> QColor:
        """The colour behind what is on it."""
        return QColor(getattr(theme.colours(), self.property("tone")))


class PressedCard(Card):
    """A card that is pressed wherever there is nothing else to press.

    Signals
    -------
    pressed
        It was pressed.
    """

    pressed = Signal()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Tell of it, unless the pointer was moved away."""
        inside = self.rect().contains(event.position().toPoint())
        if event.button() is Qt.MouseButton.LeftButton and inside:
            self.pressed.emit()


class DropZone(Card):
    """The place of a file that is not chosen yet: drop one here, or press the button.

    Signals
    -------
    asked, folder_asked
        The auditor wants to choose a file, or a folder.

    Parameters
    ----------
    what, hint : str
        What goes there, and what more is to be known.
    folders : bool
        Whether it may be a folder too.
    """

    asked = Signal()
    folder_asked = Signal()

    def __init__(self, what: str, hint: str, *, folders: bool = False) -> None:
        super().__init__(margin=theme.PAGE)
        self.button = push_button("&Choose a file…", self.asked)
        buttons = [self.button]
        if folders:
            buttons.append(push_button("Choose a &folder…", self.folder_asked))
        lead = Words(what, size=1.2, strong=True)
        explained = quiet(hint)
        for each in (lead, explained):
            each.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.body.addStretch(1)
        self.body.addWidget(lead)
        self.body.addWidget(explained)
        self.body.addSpacing(theme.GAP)
        row = layouts.row(layouts.stretch(), *buttons, layouts.stretch(), spacing=theme.NEAR)
        self.body.addLayout(row)
        self.body.addStretch(1)


class Banner(Card):
    """A message on the page, where what it tells of arose; hidden until it has one."""

    def __init__(self) -> None:
        super().__init__(tone="notice", margin=theme.GAP)
        self._what = Words(strong=True)
        self._more = Words()
        self._what.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._more.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._buttons = layouts.row(spacing=theme.NEAR)
        row = layouts.row(
            layouts.grow(layouts.column(self._what, self._more, spacing=theme.TIGHT)),
            self._buttons,
            spacing=theme.WIDE,
        )
        self.body.addLayout(row)
        self.hide()

    def say(
        self, what: str, more: str = "", actions: Iterable[tuple[str, Callable[[], object]]] = ()
    ) -> None:
        """Show a message.

        Parameters
        ----------
        what : str
            What happened, a sentence; an empty one hides the banner.
        """
        clear(self._buttons)
        self._what.setText(what)
        self._more.say(more)
        buttons = []
        for text, action in actions:
            button = push_button(text, lambda _checked=False, run=action: run())
            self._buttons.addWidget(button)
            buttons.append(button)
        in_order(self._more, *buttons)
        self.setAccessibleName(f"{what} {more}".strip())
        self.setVisible(bool(what))

    def tell(
        self, error: FairDeskError, actions: Iterable[tuple[str, Callable[[], object]]] = ()
    ) -> None:
        """Show an error with its cause and remedy."""
        self.say(error.what, " ".join(part for part in (error.why, error.remedy) if part), actions)

    def clear(self) -> None:
        """Take the message away."""
        self.say("")


@dataclass
class Share:
    """What a call in another thread says of itself: plain values, which need no lock.

    Attributes
    ----------
    doing : str
        What it does, for people.
    done : float
        How much of that is done, 0 to 1; 0 while nobody knows.
    """

    doing: str
    done: float = 0.0

    def say(self, done: float) -> None:
        """Tell how much is done."""
        self.done = done


class Busy(QWidget):
    """A line that says what is being worked on and how far it is, and perhaps a way out.

    Parameters
    ----------
    steady : bool
        Whether its room is kept while it is hidden, so that nothing moves when it comes and goes.

    Signals
    -------
    cancelled
        The auditor pressed Cancel.
    """

    cancelled = Signal()

    def __init__(self, *, cancel: bool = False, steady: bool = False) -> None:
        super().__init__()
        self._share: Share | None = None
        self._words = Words(wrap=False)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setFixedSize(QSize(96, 10))
        self.bar.setAccessibleName("Progress")
        self.cancel = push_button("Cancel", self.cancelled, name="Cancel what is being worked on")
        self.cancel.setVisible(cancel)
        layouts.row(
            self.bar, self._words, self.cancel, layouts.stretch(), on=self, spacing=theme.GAP
        )
        policy = self.sizePolicy()
        policy.setRetainSizeWhenHidden(steady)
        self.setSizePolicy(policy)
        self._timer = QTimer(self, interval=_EVERY)
        self._timer.timeout.connect(self._look)
        self.hide()

    def say(self, text: str = "") -> None:
        """Show what is being worked on; an empty text hides the line."""
        self._share = None
        self._timer.stop()
        self._show(text, 0)

    def follow(self, share: Share) -> None:
        """Show what a call says of itself, looked at ten times a second, until `say`."""
        self._share = share
        self._look()
        self._timer.start()

    def _look(self) -> None:
        if self._share is not None:
            self._show(self._share.doing, int(100 * self._share.done))

    def _show(self, doing: str, percent: int) -> None:
        self._words.setText(f"{doing} {percent} %" if percent else doing)
        # without an end in sight the bar only says that work is under way
        self.bar.setRange(0, 100 if percent else 0)
        self.bar.setValue(percent)
        self.setVisible(bool(doing))


class Fold(QWidget):
    """A heading that opens and closes what is below it; ``body`` is the layout of that.

    Parameters
    ----------
    text : str
        The heading.

    Signals
    -------
    opened
        What is below it came in sight.
    """

    opened = Signal()

    def __init__(self, text: str) -> None:
        super().__init__()
        self.button = QToolButton()
        self.button.setText(text)
        self.button.setAutoRaise(True)
        self.button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.button.setArrowType(Qt.ArrowType.RightArrow)
        self.button.clicked.connect(self._turn)
        self._inside = QWidget()
        self._inside.hide()
        self.body = layouts.column(on=self._inside, margin=(theme.WIDE, 0, 0, 0))
        layouts.column(self.button, self._inside, on=self, spacing=theme.NEAR)

    @property
    def is_open(self) -> bool:
        """Whether what is below it is shown."""
        return not self._inside.isHidden()

    def set_open(self, *, opened: bool) -> None:
        """Open or close it."""
        if opened != self.is_open:
            self._turn()

    def _turn(self) -> None:
        opened = not self.is_open
        self.button.setArrowType(Qt.ArrowType.DownArrow if opened else Qt.ArrowType.RightArrow)
        self.button.setAccessibleDescription("opened" if opened else "closed")
        self._inside.setVisible(opened)
        if opened:
            self.opened.emit()


class Stack(QStackedWidget):
    """Widgets of which one is shown; it asks for the room of that one only."""

    def __init__(self) -> None:
        super().__init__()
        self.currentChanged.connect(lambda _at: self.updateGeometry())

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Ask for what the one on screen asks for."""
        shown = self.currentWidget()
        return super().sizeHint() if shown is None else shown.sizeHint()

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Return the least size of the one on screen."""
        shown = self.currentWidget()
        least = super().minimumSizeHint() if shown is None else shown.minimumSizeHint()
        return least if shown is None else least.expandedTo(shown.minimumSize())


class Hairline(QFrame):
    """A thin line between two sides."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedWidth(1)


def empty_page(name: str, what: str, *below: QWidget) -> QWidget:
    """Make what stands where there is nothing yet: what will be here, and what fills it."""
    empty = QWidget()
    column = layouts.column(layouts.stretch(2), on=empty, margin=theme.PAGE, spacing=theme.GAP)
    for words in (title(name), quiet(what)):
        words.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        column.addWidget(words)
    for button in [each for each in below if isinstance(each, QPushButton)][:1]:
        theme.fill(button)
    for widget in below:
        if isinstance(widget, Words):
            # a label in the middle of a line would be cut to one line
            widget.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            column.addWidget(widget)
        else:
            column.addWidget(widget, 0, Qt.AlignmentFlag.AlignHCenter)
    column.addStretch(3)
    return empty


def clear(layout: QLayout) -> None:
    """Take everything out of a layout and delete it."""
    while (item := layout.takeAt(0)) is not None:
        if (widget := item.widget()) is not None:
            widget.hide()
            widget.deleteLater()
        elif (inner := item.layout()) is not None:
            clear(inner)
