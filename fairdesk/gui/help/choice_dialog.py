"""Which figure do I need? Asks one question after the other, and names a method or a figure."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QDialog, QPushButton, QSizePolicy, QWidget

from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.gui.kit import layouts, theme
from fairdesk.gui.kit.hints import ask_help, set_topic
from fairdesk.gui.kit.parts import (
    Card,
    Words,
    clear,
    in_order,
    push_button,
    quiet,
    resize_on_screen,
    scrolled,
    why_not,
)
from fairdesk.manual.choosing import Answer, End, choosing


class _AnswerButton(QPushButton):
    """A button whose text takes as many lines as it needs."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.setAccessibleName(text)
        words = Words(text)
        words.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._row = layouts.row(
            words, on=self, margin=(theme.GAP, theme.NEAR, theme.GAP, theme.NEAR)
        )
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Return the room of the text."""
        return self._row.sizeHint()

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Return the least room of the text."""
        return self._row.minimumSize()


class ChoiceDialog(QDialog):
    """Asks the questions of `fairdesk.manual.choosing`.

    Parameters
    ----------
    off : mapping, optional
        Where a method can be chosen: why some cannot, by their keys. Otherwise none can be chosen.

    Signals
    -------
    method_chosen : str
        The auditor wants the method of this key; the dialog is closed.
    """

    method_chosen = Signal(str)

    def __init__(self, parent: QWidget, off: Mapping[str, str] | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Which figure do I need?")
        self._off = off
        self._tree = choosing()
        #: The answers so far, from the first question.
        self.given: list[Answer] = []
        self._path = quiet()
        self._path.setAccessibleName("Answers so far")
        self._inside = layouts.column(spacing=theme.GAP)
        body = layouts.panel(
            self._path, layouts.column(self._inside), layouts.stretch(), spacing=theme.GAP
        )
        self.back = push_button("&Back", self._go_back)
        self.again = push_button("Start a&gain", self._start_again)
        self.shut = push_button("&Close", self.reject)
        layouts.column(
            layouts.grow(scrolled(body)),
            layouts.row(self.back, self.again, layouts.stretch(), self.shut, spacing=theme.NEAR),
            on=self,
            margin=theme.WIDE,
            spacing=theme.GAP,
        )
        resize_on_screen(self, 640, 400)
        self._show()

    @property
    def end(self) -> End | None:
        """What the answers so far lead to, if they lead to an end."""
        return self._tree.ends[self.given[-1].end] if self.given and self.given[-1].end else None

    def give(self, answer: Answer) -> None:
        """Answer the question that is shown."""
        self.given.append(answer)
        self._show()

    def _go_back(self) -> None:
        self.given.pop()
        self._show()

    def _start_again(self) -> None:
        self.given.clear()
        self._show()

    def _show(self) -> None:
        """Show the next question, or the end."""
        clear(self._inside)
        self._path.say("\n".join(f"✓ {each.text}" for each in self.given))
        for button in (self.back, self.again):
            button.setEnabled(bool(self.given))
        end = self.end
        shown = self._ask() if end is None else self._show_end(end)
        in_order(*shown, self.back, self.again, self.shut)
        for each in shown:
            # the layout does so later, and what is not shown takes no keys
            each.show()
        shown[0].setFocus()

    def _ask(self) -> list[QWidget]:
        key = self.given[-1].next if self.given else self._tree.first
        question = self._tree.questions[key]
        self._inside.addWidget(Words(question.text, size=1.3, strong=True))
        if question.help:
            self._inside.addWidget(quiet(question.help))
        made: list[QWidget] = []
        for answer in question.answers:
            button = _AnswerButton(answer.text)
            button.clicked.connect(lambda _on=False, each=answer: self.give(each))
            made.append(button)
            self._inside.addWidget(button)
        return made

    def _show_end(self, end: End) -> list[QWidget]:
        card = Card()
        card.body.addWidget(Words(end.title, size=1.3, strong=True))
        if end.figure:
            card.body.addWidget(quiet(f"A figure of the method “{METHODS[end.method].title}”."))
        card.body.addWidget(Words(end.why))
        sources = self._tree.sources_of(end)
        if sources:
            card.body.addWidget(quiet("\n".join(f"Source: {each}." for each in sources)))
        read = push_button("&Open in help", lambda: ask_help(read))
        set_topic(read, end.place)
        buttons: list[QWidget] = [read]
        why = None
        if self._off is not None:
            take = push_button("Choose this &method", lambda: self._take(end.method))
            why = why_not(take, (self._off.get(end.method, ""),))
            buttons.insert(0, take)
        if why is not None:
            card.body.addWidget(why)
        card.body.addLayout(layouts.row(*buttons, layouts.stretch(), spacing=theme.NEAR))
        self._inside.addWidget(card)
        return buttons

    def _take(self, method: str) -> None:
        self.accept()
        self.method_chosen.emit(method)
