"""How far findings were compared with real people: one quiet line that can be stopped."""

from __future__ import annotations

from PySide6.QtWidgets import QToolButton, QWidget

from fairdesk.gui.kit import layouts, parts, theme
from fairdesk.gui.workspace.session.session import Session
from fairdesk.wording import words

_HELD = "A report is final. To compare the pairs makes it a draft again."


class WeighingLine(QWidget):
    """Says how far it is; hidden while it has nothing to say."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._words = parts.quiet()
        self._words.setWordWrap(False)
        self._button = QToolButton()
        self._button.clicked.connect(self._press)
        layouts.row(self._words, self._button, on=self, spacing=theme.NEAR)
        session.weighing.changed.connect(self._tell)
        self._tell()

    def _tell(self) -> None:
        weighing, many = self._session.weighing, self._session.many
        counts = f"{words.number(weighing.done)} of {words.number(weighing.total)}"
        if weighing.rests:
            self._words.setText(f"Compared with the {many} in the data: {counts}")
            self._button.setText("Continue")
            self._button.setAccessibleName(f"Continue comparing with the {many} in the data")
            self._button.setToolTip(_HELD if weighing.held else "")
        else:
            self._words.setText(f"Comparing with the {many} in the data: {counts}")
            self._button.setText("Stop")
            self._button.setAccessibleName(f"Stop comparing with the {many} in the data")
            self._button.setToolTip("")
        self.setVisible(weighing.rests or weighing.busy)

    def _press(self) -> None:
        weighing = self._session.weighing
        if weighing.rests:
            weighing.go_on()
        else:
            weighing.stop_for_good()
