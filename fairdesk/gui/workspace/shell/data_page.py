"""The data and the model: what was audited, exactly, as the report describes it."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from fairdesk.document.blocks import Block, Grid, Heading, Section
from fairdesk.gui.kit import layouts, parts
from fairdesk.gui.kit.pages import page_head
from fairdesk.gui.kit.tables import TextTable
from fairdesk.gui.workspace.common.blocks_view import BlocksView
from fairdesk.gui.workspace.common.run_page import page_of
from fairdesk.gui.workspace.session.session import Session
from fairdesk.report.document import described

#: The key of the table of columns.
COLUMNS = "columns"


class DataPage(QWidget):
    """Data and model."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session, spec = session, session.spec
        #: The attribute that is to be shown once the page is filled.
        self._wanted = ""
        self._banner, self.view = parts.Banner(), BlocksView(session)
        what = "data" if spec.predictions else "data and model"
        places = [spec.data.path, *([] if spec.predictions else [spec.model.path])]
        self._area = page_of(
            page_head("Data and model"),
            parts.quiet(
                f"The exact {what} of this audit. They are fixed; to audit others, create a new "
                "audit."
            ),
            parts.Words("\n".join(places), selectable=True),
            *(self._banner, self.view),
        )
        layouts.column(self._area, on=self)
        session.runs_changed.connect(self._ask)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Describe data and model, once they are looked at."""
        super().showEvent(event)
        self._ask()

    def show_attribute(self, name: str) -> None:
        """Choose an attribute in the table of columns, and put the keyboard there."""
        self._wanted = name
        names = [each.name for each in self._session.spec.columns]
        table = self.view.shown.get(COLUMNS)
        if isinstance(table, TextTable) and name in names:
            self._wanted = ""
            self.view.mark(COLUMNS, names.index(name))
            table.setFocus(Qt.FocusReason.OtherFocusReason)
            self._area.ensureWidgetVisible(table)

    def _ask(self) -> None:
        if self.isVisible():
            self._session.store.ask(described, self._show, self._banner.tell, key="data")

    def _show(self, sections: Sequence[Section]) -> None:
        blocks: list[Block] = []
        for each in sections:
            blocks += [Heading(each.title), *each.blocks]
        self.view.show_blocks(
            [
                msgspec.structs.replace(each, appended=False)
                if isinstance(each, Grid) and each.key == COLUMNS
                else each
                for each in blocks
            ]
        )
        if self._wanted:
            self.show_attribute(self._wanted)
