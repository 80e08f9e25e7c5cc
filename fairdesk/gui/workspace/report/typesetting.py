"""The pages of the report, made in the background: of several wishes the newest counts."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, Signal

from fairdesk.audit.store.store import Store
from fairdesk.document.blocks import Report
from fairdesk.gui.kit.threads.background import Latest
from fairdesk.gui.workspace.report.twin import twin
from fairdesk.gui.workspace.report_form.draft import read_state
from fairdesk.gui.workspace.session.session import Session
from fairdesk.report.document import make_report
from fairdesk.report.render.pdf import Preview

#: Pixels to the inch that pages have at least: sharp where a page is read in a window's half.
_LEAST_RESOLUTION = 110.0
#: And at most: sharp at 200 % on a screen with two pixels in place of one.
_MOST_RESOLUTION = 400.0
#: Points of an inch.
_POINTS = 72


@dataclass(frozen=True)
class Made:
    """A report as it was at a moment.

    Attributes
    ----------
    report : Report
        Its content.
    setting : Preview
        Its pages as typst has set them, from which they are drawn again with other resolutions.
    pages : tuple[bytes, ...]
        A picture of each, as PNG.
    resolution : float
        Their pixels to the inch.
    places : dict[str, int]
        Which page, from 1, everything is on; see `fairdesk.report.render.pdf.Preview.places`.
    text : str
        The whole of it as plain text.
    changes : int
        How often the audit had been changed by then; see `report_draft.Told`.
    """

    report: Report
    setting: Preview
    pages: tuple[bytes, ...]
    resolution: float
    places: Mapping[str, int]
    text: str
    changes: int


class Setter(QObject):
    """Sets pages.

    Signals
    -------
    began, ended
        It is at work; it is not.
    made : Made
        What was asked for last.
    failed : FairDeskError
        Why it could not be made.
    """

    began = Signal()
    ended = Signal()
    made = Signal(object)
    failed = Signal(object)

    def __init__(self, session: Session, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session
        self._given_up = threading.Event()
        self._latest = Latest(self)
        self._latest.began.connect(self.began)
        self._latest.ended.connect(self.ended)

    def ask(self, resolution: float) -> None:
        """Make the report from the audit file, and its pages."""
        path, given_up = self._session.path, self._anew()

        def make() -> Made | None:
            store = Store.open(path)
            try:
                changes = read_state(store).changes
                report = None if given_up.is_set() else make_report(store)
            finally:
                store.close()
            if report is None or given_up.is_set():
                return None
            return _set(report, resolution, changes)

        self._latest.ask(make, self._tell, self.failed.emit)

    def sharpen(self, made: Made, resolution: float) -> None:
        """Make the pages of the same report again, with more pixels."""
        given_up = self._anew()
        self._latest.ask(
            lambda: None if given_up.is_set() else _drawn(made, resolution),
            self._tell,
            self.failed.emit,
        )

    def cancel(self) -> None:
        """Forget what was asked for."""
        self._given_up.set()
        self._latest.drop()

    def _anew(self) -> threading.Event:
        """Let an earlier wish go as soon as it can be, and give the new one's own flag."""
        self._given_up.set()
        self._given_up = threading.Event()
        return self._given_up

    def _tell(self, made: Made | None) -> None:
        if made is not None:
            self.made.emit(made)


def _set(report: Report, resolution: float, changes: int) -> Made:
    """Set the pages of a report, and draw them."""
    setting = Preview(report)
    wanted = possible(resolution)
    drawn = tuple(setting.pictures(wanted / _POINTS))
    return Made(report, setting, drawn, wanted, setting.places(), twin(report), changes)


def _drawn(made: Made, resolution: float) -> Made:
    """Draw the pages of the same report anew."""
    wanted = possible(resolution)
    return replace(made, pages=tuple(made.setting.pictures(wanted / _POINTS)), resolution=wanted)


def possible(resolution: float) -> float:
    """Return the resolution that pages get where this one is wanted."""
    return min(max(resolution, _LEAST_RESOLUTION), _MOST_RESOLUTION)
