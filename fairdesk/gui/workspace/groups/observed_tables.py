"""How groups fare by the labels in the data, counted at once: what is known before any run."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from fairdesk.answers.observed import Observed, observed
from fairdesk.answers.rates import decision_tables
from fairdesk.gui.kit import layouts, parts, theme
from fairdesk.gui.workspace.common.short_table import short_table
from fairdesk.gui.workspace.session.session import Session
from fairdesk.report.sections.group_tables import cells, heads, left_out
from fairdesk.wording import words
from fairdesk.wording.groups.tables import worst_of, worst_statement


class ObservedTables(QWidget):
    """Group outcomes. Counted once, off the window's thread: the data of an audit never change."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._busy = parts.Busy()
        self._banner = parts.Banner()
        self._column = layouts.column(self._banner, self._busy, on=self, spacing=theme.GAP)
        self._busy.say("Counting…")
        spec, measured = session.spec, decision_tables(session.runs)
        session.store.ask(
            lambda store: observed(spec, store.table(), measured), self._show, self._banner.tell
        )

    def _show(self, found: tuple[Observed, ...]) -> None:
        self._busy.say("")
        for seen in found:
            for widget in self._part(seen):
                self._column.addWidget(widget)

    def _part(self, seen: Observed) -> list[QWidget]:
        made: list[QWidget] = [parts.heading(seen.title), parts.quiet(seen.sentence)]
        made += [
            parts.Words(worst_statement(self._session.spec, each).sentence)
            for each in seen.outcomes
            if worst_of(each) is not None
        ]
        for each in seen.outcomes:
            several = len(each.attributes)
            made.append(
                short_table(
                    f"{seen.title}, by {words.listed(each.attributes)}",
                    heads(each),
                    [cells(group) for group in each.lines],
                    right=range(several, several + 5),
                    wide=several - 1,
                )
            )
            if missing := left_out(each):
                made.append(parts.quiet(f"{missing}."))
        return made
