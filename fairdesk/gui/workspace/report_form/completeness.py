"""What a report still lacks, and whether it is final."""

from __future__ import annotations

import html
from collections.abc import Mapping

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QPushButton

from fairdesk.gui.kit import layouts, parts, theme
from fairdesk.gui.workspace.report_form.draft import ReportDraft

_FINAL = "&Mark as final"


class Completeness(parts.Card):
    """How the report stands, and what it still needs, each a link to its field.

    Signals
    -------
    wanted : str
        The key of a field to go to.
    """

    wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__(tone="tint", margin=theme.GAP)
        self.word = parts.heading("")
        self.why = parts.Words()
        self.links = parts.Markup()
        self.links.setTextInteractionFlags(
            Qt.TextInteractionFlag.LinksAccessibleByMouse
            | Qt.TextInteractionFlag.LinksAccessibleByKeyboard
        )
        self.links.linkActivated.connect(self.wanted)
        self.final = QPushButton(_FINAL)
        self.final.setEnabled(False)
        self.only = QCheckBox("Show required fields only")
        row = layouts.row(self.final, layouts.stretch())
        for widget in (self.word, self.why, self.links, self.only):
            self.body.addWidget(widget)
        self.body.addLayout(row)
        self._links = ""

    def tell(
        self,
        draft: ReportDraft,
        lacking: Mapping[str, tuple[str, str]],
        wanted: int,
        unsettled: str = "",
    ) -> None:
        """Say how the report stands.

        Parameters
        ----------
        lacking : dict of str to (str, str)
            Per key of a field that is empty its group and label.
        unsettled : str
            What has to end before it can be final, as `Session.unsettled` says it.
        """
        status = draft.state.status
        final = status.word == "Final"
        if final:
            self.word.setText("✓ Final")
            why = f"Marked as final on {status.at[:10]}. Any change makes it a draft again."
        else:
            self.word.setText("Draft")
            why = (
                f"{len(lacking)} of {wanted} fields still required for Final:"
                if lacking
                else f"All {wanted} fields required for Final are complete."
            )
            if status.changed:
                changed = parts.short(status.changed, 120)
                why = f"It was final until this change to the audit: “{changed}” {why}"
            if unsettled:
                why = f"It can be marked as final when {unsettled}. {why}"
        self.why.setText(why)
        self._show_links({} if final else lacking)
        self.final.setText("&Make it a draft again" if final else _FINAL)
        self.final.setEnabled(draft.loaded and (final or not (lacking or unsettled)))
        reason = "" if self.final.isEnabled() else why
        self.final.setToolTip(reason)
        self.final.setAccessibleDescription(reason)

    def _show_links(self, lacking: Mapping[str, tuple[str, str]]) -> None:
        groups: dict[str, list[str]] = {}
        for key, (group, label) in lacking.items():
            link = f'<a href="{html.escape(key)}">{html.escape(label)}</a>'
            groups.setdefault(group, []).append(link)
        text = "<br>".join(
            f"{html.escape(group)}: {', '.join(links)}" for group, links in groups.items()
        )
        if text != self._links:
            self._links = text
            self.links.write(lambda: text)
        self.links.setVisible(bool(text))
