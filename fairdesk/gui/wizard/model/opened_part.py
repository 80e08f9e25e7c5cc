"""What the page says of a model that is open, or of a column with its decisions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal, SignalInstance
from PySide6.QtWidgets import QComboBox, QVBoxLayout, QWidget

from fairdesk.gui.kit import hints, layouts, theme
from fairdesk.gui.kit.dropping import Takes
from fairdesk.gui.kit.fields import bounded, labelled
from fairdesk.gui.kit.parts import Elided, Fold, Words, clear, in_order, push_button, quiet, short
from fairdesk.gui.wizard.model.cards import (
    CheckCard,
    NumberingCard,
    PreparingCard,
    ProblemsCard,
    held,
)
from fairdesk.gui.wizard.model.inputs_dialog import Fed, InputTabs
from fairdesk.gui.wizard.model.opening import Opened
from fairdesk.gui.wizard.page import Desk
from fairdesk.gui.wizard.state.wizard_state import WizardState
from fairdesk.models.inputs.usual import refitted, scaling_sentence
from fairdesk.models.model import Capability, Mapping, ModelCard
from fairdesk.wording.words import listed, unweighted

_USED = {
    Capability.SCORES: "scores",
    Capability.GRADIENTS: "gradients",
    Capability.LAYERS: "layers",
    Capability.TREES: "trees",
}


class CompanionRow(Takes, QWidget):
    """The row; a file dropped on it is added.

    Signals
    -------
    wanted
        A file is to be chosen and added.
    added : Path
        A file was dropped.
    removed : Path
        A file is to be left out.
    """

    wanted = Signal()
    added = Signal(object)
    removed = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setAcceptDrops(True)
        self._chips = layouts.row(spacing=theme.NEAR)
        tip = (
            "A scaler, encoders, or the list of the model’s inputs, where they were saved in files "
            "of their own"
        )
        self.add = push_button("A&dd a file…", self.wanted, tip=tip)
        self._none = Words("none", tone="quiet", wrap=False)
        layouts.row(
            Words("Companion files:", tone="quiet", wrap=False),
            *(self._none, self._chips, self.add, layouts.stretch()),
            on=self,
            spacing=theme.NEAR,
        )

    def show_files(self, paths: tuple[Path, ...], beside: tuple[Path, ...] = ()) -> None:
        """Show the files, and those next to the model that can be added."""
        clear(self._chips)
        self._none.setVisible(not paths)
        chips = []
        for path, there in (*((each, True) for each in paths), *((each, False) for each in beside)):
            text = f"{short(path.name, 28)}  ✕" if there else f"Use {short(path.name, 28)}"
            does = self.removed if there else self.added
            tip = (
                "Remove {}" if there else "{} holds a scaler or an encoder, and is not used: add it"
            )
            chip = push_button(text.replace("&", "&&"), partial(_emit, does, path))
            chip.setToolTip(hints.plain(tip.format(path)))
            chip.setAccessibleName(f"Remove {path.name}" if there else "")
            self._chips.addWidget(chip)
            chips.append(chip)
        in_order(*chips, self.add)

    def take(self, path: Path) -> None:
        """Add a file that was dropped."""
        self.added.emit(path)


def _emit(signal: SignalInstance, path: Path, _on: bool = False) -> None:  # noqa: FBT001,FBT002 - Qt's
    signal.emit(path)


class OpenedPart(QWidget):
    """The model's files, how it is fed, and what came of trying it; it decides nothing.

    Signals
    -------
    another
        The auditor wants to choose another file.
    left
        The auditor wants a model, or another column, instead of this one.

    Attributes
    ----------
    check, numbering, preparing, tabs, files : QWidget
        The proof on the rows, the numbers of values, the ways to scale, the inputs, the files
        beside the model.
    output : QComboBox
        Which of several outputs decides.
    other, leave : QPushButton
        Choose another file; leave the column of decisions.
    """

    another = Signal()
    left = Signal()

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self.check, self.preparing, self.tabs = CheckCard(), PreparingCard(), InputTabs(desk)
        self.numbering = NumberingCard()
        self.problems = ProblemsCard()
        self.held = Fold("Restrictions of the model &process on this computer")
        layouts.column(
            *(self._file_row(), self.problems, self.check, self.numbering, self.preparing),
            # the last takes the room while there are no tabs
            *(layouts.grow(self.tabs), self.held, layouts.stretch(0)),
            on=self,
            margin=(0, 0, theme.TIGHT, 0),
            spacing=theme.GAP,
        )

    def _file_row(self) -> QVBoxLayout:
        self._name = Elided(strong=True)
        self.about = quiet()
        names = layouts.column(self._name, self.about, spacing=theme.TIGHT)
        self.other = push_button("&Choose another file…", self.another)
        self.leave = push_button("Choose a model or another co&lumn", self.left)
        buttons = (layouts.at(each, Qt.AlignmentFlag.AlignTop) for each in (self.other, self.leave))
        row = layouts.row(layouts.grow(names), *buttons, spacing=theme.GAP)
        self.files = CompanionRow()
        self.output = bounded(QComboBox(), 16)
        self._outputs = layouts.panel(labelled("Model &output used for the decision", self.output))
        return layouts.column(row, self.files, self._outputs, spacing=theme.NEAR)

    def show_card(self, result: Opened) -> None:
        """Show what the model is, and what its process may not do here."""
        card = result.card
        self._name.say(f"{Path(card.path).name}  ·  {card.format}")
        self._name.setToolTip(card.path)
        self.about.setText(_about(card))
        self.files.show_files(tuple(Path(each.path) for each in card.companions), result.beside)
        self._outputs.setVisible(bool(card.outputs))
        self.output.clear()
        self.output.addItems(list(card.outputs))
        self.output.setCurrentText(card.output)
        clear(self.held.body)
        for line in held(result.confinement):
            self.held.body.addWidget(line)

    def show_column(self, column: str) -> None:
        """Show that decisions in a column take the model's place."""
        self._name.say(f"No model  ·  decisions in “{column}”")
        self.about.setText(
            "Groups can be compared by these decisions. Searches are not available, because "
            "there is no model to query."
        )

    def show_inputs(self, fed: Fed | None, columns: tuple[str, ...], *, of_model: bool) -> None:
        """Show how the model is fed; of a column of decisions only what they mean."""
        card = self._desk.state.card
        shown = fed is not None and card is not None and of_model
        self.tabs.show_inputs(fed if shown else None, columns)
        # without a model that is fed there is nothing to show below
        self.tabs.setVisible(shown)
        for widget in (self.files, self.held, self.other):
            widget.setVisible(of_model)
        self.leave.setVisible(not of_model)
        self.check.answer.name_decisions(of_model=of_model)
        self._outputs.setVisible(of_model and self.output.count() > 0)
        if card is not None and fed is not None:
            self.check.answer.show_answers(card, fed if isinstance(fed, Mapping) else fed.answer)

    def show_proof(self, notes: Sequence[str], *, of_model: bool) -> None:
        """Show what came of trying the model, with what was assumed for it."""
        self.tabs.show_rows()
        self.check.show_check(self._desk.state, _notes(self._desk.state, notes) if of_model else [])


def _notes(state: WizardState, notes: Sequence[str]) -> list[str]:
    """Return what the files tell, what was assumed, and how inputs are scaled."""
    told = [*(state.card.hints.notes if state.card else ()), *notes]
    if state.mapping is not None:
        told += [scaling_sentence(fit, names) for fit, names in refitted(state.mapping).items()]
    if state.mapping is not None and state.table is not None:
        told += filter(None, (unweighted(state.table.columns, state.mapping),))
    return told


def _about(card: ModelCard) -> str:
    parts = [f"{card.summary.rstrip('.')}."]
    if card.saved_with:
        parts.append(f"Saved with {card.saved_with}.")
    parts.append(_opened_sentence(card))
    if used := [words for each, words in _USED.items() if each in card.can]:
        parts.append(f"FairDesk can use its {listed(used)}.")
    if Capability.TEXT in card.can:
        parts.append("It accepts text.")
    return " ".join(parts)


def _opened_sentence(card: ModelCard) -> str:
    if card.read_as_data:
        return "Read as plain numbers: no code in the file is run."
    where = f"in a separate environment ({card.environment})" if card.environment else ""
    runs = f"Runs in a separate process{', ' + where if where else ''}"
    return f"{runs}; you agreed to run its code." if card.needed_trust else f"{runs}."
