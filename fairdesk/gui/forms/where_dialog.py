"""The dialog that says where runs are made: on this computer, on all its cores, or on a cluster."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QButtonGroup,
    QLineEdit,
    QRadioButton,
    QWidget,
)

from fairdesk.cluster.connection import Place, read_place
from fairdesk.cluster.members import Examined, examine
from fairdesk.errors import FairDeskError
from fairdesk.gui.forms.dialogs import FormDialog
from fairdesk.gui.kit import layouts, theme
from fairdesk.gui.kit.fields import labelled
from fairdesk.gui.kit.parts import Busy, Words, push_button, quiet
from fairdesk.gui.kit.tables import TextTable
from fairdesk.gui.kit.threads import Task, in_background
from fairdesk.wording import words

_HEADS = ("Worker", "Cores", "Memory", "State")
_NUMBERS = (1, 2)
_ALL_CORES = "local"
_ALL_MUST = (
    "A run begins only when all of them can: set up the others like this computer, or remove them "
    "from the cluster."
)


class WhereDialog(FormDialog):
    """Asks where runs are made, and tries it.

    Parameters
    ----------
    cluster : str
        What was chosen last, as `read_place` reads it; empty for this computer.
    ask : callable
        Returns the workers of a cluster, with what they say of themselves.
    """

    def __init__(
        self, cluster: str, parent: QWidget, ask: Callable[[Place], tuple[Examined, ...]] = examine
    ) -> None:
        super().__init__("Where to run", parent)
        self._ask = ask
        self._task: Task | None = None
        self.here = QRadioButton("&This computer")
        self.cores = QRadioButton("This computer, all &cores")
        self.elsewhere = QRadioButton("A c&luster")
        self._choices = QButtonGroup(self)
        self.address = QLineEdit()
        self.address.setPlaceholderText("tls://host:8786, or a scheduler file")
        field = labelled(
            "&Scheduler",
            self.address,
            "The address of a Dask scheduler, or the path of its scheduler file. Use tls:// on any "
            "network that others can reach.",
        )
        self.test = push_button("Test c&onnection", self._try)
        self.busy = Busy(cancel=True)
        self.busy.cancelled.connect(self._give_up)
        self.outcome = Words()
        self.table = TextTable("Workers of the cluster", _HEADS, _NUMBERS, most=0)
        self.body.addWidget(
            quiet(
                "Applies to runs that begin from now on. Methods that cannot be divided, and the "
                "report, always use one process of this computer."
            )
        )
        buttons = (self.here, self.cores, self.elsewhere)
        for button in buttons:
            self._choices.addButton(button)
        self.body.addLayout(layouts.column(*buttons, spacing=theme.TIGHT))
        self.body.addLayout(field)
        self.body.addLayout(layouts.row(self.test, self.busy, layouts.stretch(), spacing=theme.GAP))
        self.body.addWidget(self.outcome)
        self.body.addWidget(self.table, 100)
        # while there is no table
        self.body.addStretch(1)
        self._add_buttons()
        self._show(cluster)
        self._choices.buttonToggled.connect(self._changed)
        self.address.textChanged.connect(self._changed)
        self._changed()
        self.resize(720, 600)

    def cluster(self) -> str:
        """Return what was chosen, as `read_place` reads it; empty for this computer."""
        if self.elsewhere.isChecked():
            return self.address.text().strip()
        return _ALL_CORES if self.cores.isChecked() else ""

    def _show(self, cluster: str) -> None:
        chosen = self.elsewhere if cluster else self.here
        if cluster == _ALL_CORES:
            chosen = self.cores
        elif cluster:
            self.address.setText(cluster)
        chosen.setChecked(True)

    def _changed(self) -> None:
        """Say whether the answer can be taken; what was tried before no longer holds."""
        self._give_up()
        self.outcome.setText("")
        self.table.show_rows(())
        self.table.hide()
        self.address.setEnabled(self.elsewhere.isChecked())
        wrong = ""
        if self.elsewhere.isChecked():
            try:
                read_place(self.cluster())
            except FairDeskError as error:
                wrong = error.remedy if self.cluster() == "" else str(error)
        self._refuse(wrong)
        self.test.setEnabled(bool(self.cluster()) and not wrong)

    def _try(self) -> None:
        place = read_place(self.cluster())
        self.outcome.setText("")
        self.test.setEnabled(False)
        self.busy.say("Connecting to the workers")
        self._task = in_background(self, lambda: self._ask(place), self._tell, self._fail)

    def _give_up(self) -> None:
        if self._task is not None:
            self._task.drop()
            self._task = None
        self.busy.say("")
        self.test.setEnabled(bool(self.cluster()))

    def _fail(self, error: FairDeskError) -> None:
        self._give_up()
        self.outcome.setText(str(error))
        # the button could not keep the focus while it was off
        field = self.address if self.elsewhere.isChecked() else self.test
        field.setFocus(Qt.FocusReason.OtherFocusReason)

    def _tell(self, workers: tuple[Examined, ...]) -> None:
        self._give_up()
        fit = [each for each in workers if each.fit]
        cores = sum(each.worker.threads for each in fit)
        self.outcome.setText(
            f"{len(fit):,} of {len(workers):,} workers can run audits, with {cores:,} "
            f"{'core' if cores == 1 else 'cores'} together."
            + ("" if len(fit) == len(workers) else f" {_ALL_MUST}")
        )
        self.table.show_rows(
            [
                (each.worker.address, f"{each.worker.threads:,}", _memory(each), state(each))
                for each in workers
            ]
        )
        self.table.show()
        self.table.setFocus(Qt.FocusReason.OtherFocusReason)


def place_text(cluster: str) -> str:
    """Say where runs are made, by what was chosen."""
    if not cluster:
        return "On this computer, in one process"
    place = read_place(cluster)
    if place.kind != "local":
        return f"On the cluster {place}"
    if place.workers:
        return f"On this computer, with {words.counted(place.workers, 'worker')}"
    return "On this computer, on all of its cores"


def state(examined: Examined) -> str:
    """Say whether a worker can run audits, and why not."""
    if examined.trouble:
        return examined.trouble
    if examined.differing:
        return f"Other versions: {'; '.join(examined.differing)}"
    if examined.unconfined:
        return f"Ready; a model’s own code is not kept from: {', '.join(examined.unconfined)}"
    return "Ready"


def _memory(examined: Examined) -> str:
    memory = examined.worker.memory
    return f"{memory / 2**30:.1f} GB" if memory else "no limit"
