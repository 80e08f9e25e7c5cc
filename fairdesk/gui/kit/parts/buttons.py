"""What is pressed: buttons and entries of menus, and why one is off."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise

from PySide6.QtCore import Qt, SignalInstance
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QPushButton, QWidget

from fairdesk.gui.kit.hints.defining import DefinedButton
from fairdesk.gui.kit.parts.words import Words


def push_button(
    text: str,
    run: Callable[..., object] | SignalInstance,
    *,
    auto_default: bool = True,
    tip: str = "",
    name: str = "",
) -> QPushButton:
    """Return a button that runs something.

    Parameters
    ----------
    run : callable or signal
        Is called with whether the button is checked, or emitted.
    auto_default : bool
        Whether the enter key presses it in a dialog while it has the focus.
    tip, name : str
        Its tooltip, and its name for all readers if not its text.
    """
    made = DefinedButton(text)
    if not auto_default:
        made.setAutoDefault(False)
    made.setToolTip(tip)
    made.setAccessibleName(name)
    made.clicked.connect(run)
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
