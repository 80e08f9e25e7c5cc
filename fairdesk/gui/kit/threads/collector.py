"""Python's garbage collector, kept in the window's thread."""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, QTimer

#: Milliseconds between two looks at whether there is garbage enough.
PERIOD = 200


class Collector(QObject):
    """Collects garbage in the window's thread, and nowhere else.

    Python collects in whichever thread happens to make the next object. Parts of a chart that
    refer to each other would then be deleted by a thread that reads files, and Qt ends the
    process when its objects are deleted outside their thread.

    Parameters
    ----------
    parent : QObject
        The application; automatic collection is off from now on.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        gc.disable()
        self._timer = QTimer(self, interval=PERIOD)
        self._timer.timeout.connect(self._collect)
        self._timer.start()

    def _collect(self) -> None:
        """Collect the oldest generation that has come of age, by Python's own thresholds."""
        for generation in (2, 1, 0):
            if gc.get_count()[generation] > gc.get_threshold()[generation]:
                gc.collect(generation)
                return
