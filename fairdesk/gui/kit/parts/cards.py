"""What belongs together on a page, and what is told there: cards, messages, a fold."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QFrame,
    QLayout,
    QProgressBar,
    QPushButton,
    QStackedWidget,
    QToolButton,
    QWidget,
)

from fairdesk.errors import FairDeskError
from fairdesk.gui.kit import layouts, theme
from fairdesk.gui.kit.parts.buttons import in_order, push_button
from fairdesk.gui.kit.parts.words import Words, quiet, title


class Card(QFrame):
    """A rounded ground for what belongs together; ``body`` is its layout."""

    def __init__(self, *, tone: str = "card", margin: int = theme.WIDE) -> None:
        super().__init__()
        self._tone = tone
        self.body = layouts.column(on=self, margin=margin, spacing=theme.NEAR)

    @property
    def ground(self) -> QColor:
        """The colour behind what is on it."""
        return QColor(getattr(theme.colours(), self._tone))

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw the ground and its hairline."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(self.pen())
        painter.setBrush(self.ground)
        rect = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.drawRoundedRect(rect, theme.ROUND, theme.ROUND)

    def pen(self) -> QPen:
        """Return the pen of the edge."""
        return QPen(QColor(theme.colours().line), 1)


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

    def pen(self) -> QPen:
        """Return the pen of the edge."""
        return QPen(QColor(theme.colours().quiet), 1.5, Qt.PenStyle.DashLine)


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

    def pen(self) -> QPen:
        """Return the pen of the edge."""
        return QPen(QColor(theme.colours().discriminatory), 1)

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


class Busy(QWidget):
    """A line that says what is being worked on, with a moving bar and perhaps a way out.

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
        self._words = Words(wrap=False)
        bar = QProgressBar()
        bar.setRange(0, 0)
        bar.setTextVisible(False)
        bar.setFixedSize(QSize(96, 10))
        bar.setAccessibleName("Working")
        row = layouts.row(bar, self._words, on=self, spacing=theme.GAP)
        if cancel:
            button = push_button("Cancel", self.cancelled, auto_default=False)
            row.addWidget(button)
        row.addStretch(1)
        policy = self.sizePolicy()
        policy.setRetainSizeWhenHidden(steady)
        self.setSizePolicy(policy)
        self.hide()

    def say(self, text: str) -> None:
        """Show what is being worked on; an empty text hides the line."""
        self._words.setText(text)
        self.setVisible(bool(text))


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


class Hairline(QWidget):
    """A thin line between two sides."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedWidth(1)

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw it."""
        QPainter(self).fillRect(self.rect(), QColor(theme.colours().line))


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
