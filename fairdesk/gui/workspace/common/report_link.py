"""“Open report page”: from a finding to the page that tells of it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QPushButton

from fairdesk.gui.kit import parts
from fairdesk.gui.workspace.session.session import Session

#: Keys of what the report may show; the first that it does show is gone to.
Places = tuple[str, ...]
_WHAT = "Open report page"


def report_link(
    session: Session, places: Callable[[], Places], *, short: bool = False
) -> QPushButton:
    """Make the button.

    Parameters
    ----------
    places : callable
        Gives where to go when it is pressed; see `fairdesk.report.render.pdf.Preview.places`.
    short : bool
        Whether there is room for one word only.
    """
    return parts.push_button(
        "Report page" if short else _WHAT,
        lambda: session.report_wanted.emit(places()),
        tip="Go to the page of the report that contains this; nothing is added to the report",
        name=_WHAT,
    )
