"""Step 2: the model. What the file is, whether it may run, how it is fed, and the proof of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec
from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QHeaderView,
    QPushButton,
    QSizePolicy,
    QStackedWidget,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from fairdesk import files
from fairdesk.audit.worker import Worker
from fairdesk.errors import FairDeskError, ModelError, TrustRequiredError
from fairdesk.gui import theme
from fairdesk.gui.background import Latest
from fairdesk.gui.dropping import Sort, filter_of
from fairdesk.gui.parts import (
    Busy,
    Card,
    DropZone,
    Elided,
    Words,
    bounded,
    clear,
    heading,
    labelled,
    quiet,
    short,
)
from fairdesk.gui.settings import Settings
from fairdesk.gui.wizard.mapping_table import (
    MADE_FROM,
    ChoiceDelegate,
    MappingModel,
    PlainTable,
    grid,
)
from fairdesk.gui.wizard.page import Desk, Page
from fairdesk.gui.wizard.state import Step
from fairdesk.models.editing import remap
from fairdesk.models.mapping import match
from fairdesk.models.model import Mapping, ModelCard
from fairdesk.models.proof import Proof
from fairdesk.report.words import percent, score
from fairdesk.samples import is_sample_file

_PROGRAM = (
    "A file of this format is not only numbers: it holds instructions that run on this computer "
    "as soon as it is opened, with everything that you may do here. No check can tell for sure "
    "whether they are harmless. Open it only if you know who made it and how it reached you."
)
_EMPTY, _TRUST, _OPENED, _OPENING = range(4)


@dataclass(frozen=True)
class _Untrusted:
    """A file that is a program, and that the auditor has not agreed to run."""

    path: Path
    sha256: str


@dataclass(frozen=True)
class _Opened:
    card: ModelCard
    trusted: bool


def _open(worker: Worker, settings: Settings, path: Path) -> _Untrusted | _Opened:
    """Open a model, unless it is a program that nobody vouched for. Runs in the background."""
    try:
        digest = files.sha256(path)
    except OSError as error:
        raise ModelError(
            f"The model file “{path.name}” cannot be read.",
            why=f"The system says: {error.strerror or error}.",
            remedy="Check that it is still there and that you may read it, or choose another file.",
        ) from error
    trusted = digest in settings.trusted or is_sample_file(digest)
    try:
        return _Opened(worker.open_model(path, trusted=trusted), trusted)
    except TrustRequiredError:
        return _Untrusted(path, digest)


class ModelPage(Page):
    """The second page.

    Signals
    -------
    proved
        The model was tried on the rows.
    failed
        It could not be opened or tried, or the auditor has to agree first; the page says why.
    """

    proved = Signal()
    failed = Signal()

    def __init__(self, desk: Desk) -> None:
        super().__init__(
            desk,
            Step.MODEL,
            "Model",
            "The trained model that decides, or helps to. It is asked many questions, "
            "and never changed.",
        )
        self._path: Path | None = None
        self._fresh = False
        self._reader = Latest(self)
        self._busy = Busy(cancel=True, steady=True)
        self._reader.ended.connect(self._rest)
        self._busy.cancelled.connect(self._cancel)
        self._empty = DropZone(
            "Drop a model file here",
            "&Choose a file…",
            "Keras (.keras, .h5), ONNX (.onnx), scikit-learn (.pkl, .joblib)",
        )
        self._empty.asked.connect(self._choose)
        self._stack = QStackedWidget()
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self._trust_part())
        self._stack.addWidget(self._opened_part())
        self.opening = Busy(cancel=True)
        self.opening.cancelled.connect(self._cancel)
        self._stack.addWidget(self._opening_part())
        self.body.addWidget(self._stack, 1)
        self.body.addWidget(self._busy)

    # -- what the wizard asks for -------------------------------------------------------------

    def load(self, path: Path) -> None:
        """Open a model file; a program only when its fingerprint is trusted."""
        self._path = path
        self._fresh = True
        self.desk.settings.used("model", path)
        self.state.clear_model()
        self.banner.clear()
        self._stack.setCurrentIndex(_OPENING)
        worker, settings = self.desk.model, self.desk.settings
        self._reader.ask(lambda: _open(worker, settings, path), self._opened, self._refuse)
        self.opening.say(f"Opening {path.name}…")
        self.changed.emit()

    def enter(self) -> None:
        """Show the answers, and match and try the model when that is due."""
        super().enter()
        if self.state.card is not None and self.state.proof is None and not self.busy:
            self.prove()

    def first_field(self) -> QWidget:
        """Give what has the keyboard when the page comes on screen."""
        return self.favourable_class if self.state.card is not None else self._empty.button

    @property
    def busy(self) -> bool:
        """Whether the model is being opened or tried."""
        return not (self._busy.isHidden() and self.opening.isHidden())

    def prove(self) -> None:
        """Match the inputs where they are not, and try the model on the rows."""
        state, worker = self.state, self.desk.model
        card, table, mapping = state.card, state.table, state.mapping
        if card is None or table is None or not state.favourable:
            return
        label, favourable = state.label, state.favourable
        chosen = self.favourable_class.currentData()
        self.banner.clear()
        if mapping is None:
            try:
                mapping = match(card, table, label, favourable, chosen)
            except ModelError as error:
                self._refuse(error)
                return
            state.set_mapping(mapping)
        self._show_mapping()
        fixed: Mapping = mapping
        self._reader.ask(
            lambda: worker.prove(fixed, table, label, favourable), self._proved, self._refuse
        )
        self._busy.say(f"Trying the model on {len(table.codes):,} rows…")
        self.changed.emit()

    # -- building -----------------------------------------------------------------------------

    def _trust_part(self) -> QWidget:
        part = QWidget()
        column = QVBoxLayout(part)
        column.setContentsMargins(0, 0, 0, 0)
        card = Card(tone="notice")
        card.body.setSpacing(theme.GAP)
        self._trust_title = heading("")
        card.body.addWidget(self._trust_title)
        card.body.addWidget(Words(_PROGRAM))
        card.body.addWidget(quiet("Its fingerprint (SHA-256), to compare with the sender’s:"))
        self._sha256 = Words()
        self._sha256.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self._sha256.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._sha256.setAccessibleName("SHA-256 of the model file")
        card.body.addWidget(self._sha256)
        card.body.addWidget(
            quiet(
                "Your answer is remembered for exactly this file and noted in the report. "
                "The model runs in a process of its own; that keeps FairDesk from crashing "
                "with it, and is no protection against a harmful file."
            )
        )
        row = QHBoxLayout()
        self.trust_button = QPushButton("I &trust this file")
        self.trust_button.setAutoDefault(False)
        self.trust_button.clicked.connect(self._trust)
        self._trust_other = QPushButton("&Choose another file…")
        self._trust_other.clicked.connect(self._choose)
        row.addWidget(self.trust_button)
        row.addWidget(self._trust_other)
        row.addStretch(1)
        card.body.addLayout(row)
        column.addWidget(card)
        column.addStretch(1)
        return part

    def _opening_part(self) -> QWidget:
        part = Card(margin=theme.PAGE)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(self.opening)
        row.addStretch(1)
        part.body.addStretch(1)
        part.body.addLayout(row)
        part.body.addStretch(1)
        return part

    def _rest(self) -> None:
        """Say nothing: no work is under way."""
        self._busy.say("")
        self.opening.say("")

    def _opened_part(self) -> QWidget:
        part = QWidget()
        column = QVBoxLayout(part)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.GAP)
        row = QHBoxLayout()
        row.setSpacing(theme.GAP)
        names = QVBoxLayout()
        names.setSpacing(0)
        self._name = Elided(strong=True)
        self._about = quiet()
        names.addWidget(self._name)
        names.addWidget(self._about)
        other = QPushButton("&Choose another file…")
        other.clicked.connect(self._choose)
        row.addLayout(names, 1)
        row.addWidget(other, 0, Qt.AlignmentFlag.AlignTop)
        column.addLayout(row)
        column.addWidget(self._proof_card())
        self._mapping = MappingModel()
        self._mapping.remade.connect(self._remap)
        self.mapping_view = grid(self._mapping, "How the model’s inputs are made")
        self.mapping_view.setItemDelegateForColumn(MADE_FROM, ChoiceDelegate(self.mapping_view))
        self.mapping_view.setEditTriggers(QAbstractItemView.EditTrigger.AllEditTriggers)
        self.mapping_view.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.mapping_view.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + 14)
        self._rows = PlainTable()
        self.rows_view = grid(self._rows, "The first rows with the model’s answers")
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        self.tabs.addTab(self.mapping_view, "How &inputs are made")
        self.tabs.addTab(self.rows_view, "The &first rows")
        column.addWidget(self.tabs, 1)
        column.addStretch(0)  # takes the room while there are no tabs
        return part

    def _proof_card(self) -> Card:
        card = Card(margin=theme.GAP)
        card.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        across = QHBoxLayout()
        across.setSpacing(theme.PAGE)
        left = QVBoxLayout()
        left.setSpacing(theme.NEAR)
        self._proof = Words(size=1.08)
        self._proof_more = quiet()
        self.favourable_class = bounded(QComboBox())
        self.favourable_class.setPlaceholderText("Choose an answer…")
        self.favourable_class.activated.connect(self._choose_class)
        left.addWidget(self._proof)
        left.addWidget(self._proof_more)
        left.addLayout(
            labelled("Which of the model’s answers is the &good one?", self.favourable_class)
        )
        left.addStretch(1)
        across.addLayout(left, 1)
        self._confusion_box = QWidget()
        self._confusion = QGridLayout(self._confusion_box)
        self._confusion.setContentsMargins(0, 0, 0, 0)
        self._confusion.setHorizontalSpacing(theme.WIDE)
        self._confusion.setVerticalSpacing(theme.TIGHT)
        across.addWidget(self._confusion_box, 0, Qt.AlignmentFlag.AlignTop)
        card.body.addLayout(across)
        self._warnings = QVBoxLayout()
        card.body.addLayout(self._warnings)
        return card

    # -- opening ------------------------------------------------------------------------------

    def _choose(self) -> None:
        name, _ = QFileDialog.getOpenFileName(
            self,
            "Choose the model",
            self.desk.settings.folder("model"),
            filter_of(Sort.MODEL, "Models"),
        )
        if name:
            self.load(Path(name))

    def _trust(self) -> None:
        self.desk.settings.trust(self._sha256.text())
        if self._path is not None:
            self.load(self._path)

    def _cancel(self) -> None:
        self._reader.drop()
        self.desk.model.stop()
        self._rest()
        self.banner.say(
            "Stopped before the model had answered.",
            "Nothing was lost. You can try again, or choose another file.",
            self._ways_on(),
        )
        self._show_whatever()
        self._take_focus()
        self.failed.emit()
        self.changed.emit()

    def _ways_on(self) -> list[tuple[str, Callable[[], object]]]:
        again: list[tuple[str, Callable[[], object]]] = (
            [("Try &again", self._try_again)] if self._path is not None else []
        )
        return [*again, ("Choose another &file…", self._choose)]

    def _try_again(self) -> None:
        if self.state.card is None and self._path is not None:
            self.load(self._path)
        else:
            self.prove()

    def _opened(self, result: _Untrusted | _Opened) -> None:
        if isinstance(result, _Untrusted):
            self._trust_title.setText(f"“{result.path.name}” is a program")
            self._sha256.setText(result.sha256)
            self._stack.setCurrentIndex(_TRUST)
            self._take_focus(self._trust_other)
            self.failed.emit()
            self.changed.emit()
            return
        self.state.set_model(result.card, trusted=result.trusted)
        self._show_card(result.card)
        self._stack.setCurrentIndex(_OPENED)
        self.changed.emit()
        self.prove()

    def _refuse(self, error: FairDeskError) -> None:
        self.banner.tell(error, self._ways_on())
        self._show_whatever()
        self._show_mapping()
        self._take_focus()
        self.failed.emit()
        self.changed.emit()

    def _proved(self, proof: Proof) -> None:
        self.state.set_proof(proof)
        self._show_proof()
        self._take_focus()
        self.proved.emit()
        self.changed.emit()

    # -- answering ----------------------------------------------------------------------------

    def _remap(self, position: int, attribute: str) -> None:
        mapping, table, card = self.state.mapping, self.state.table, self.state.card
        if mapping is None or table is None or card is None:
            return
        try:
            self.state.set_mapping(remap(mapping, position, attribute, table, card))
        except FairDeskError as error:
            self.banner.tell(error)
            return
        self.prove()

    def _choose_class(self) -> None:
        if self.state.mapping is not None:
            self.state.set_mapping(
                msgspec.structs.replace(
                    self.state.mapping, favourable_class=self.favourable_class.currentIndex()
                )
            )
        self.prove()

    def _take_focus(self, field: QWidget | None = None) -> None:
        """Take the keyboard where the auditor goes on, for what had it is gone with the opening."""
        if self._fresh and self.isVisible():
            (field or self.first_field()).setFocus()
        self._fresh = False

    def _show_whatever(self) -> None:
        """Show the model that is open, or the place to drop one."""
        self._stack.setCurrentIndex(_EMPTY if self.state.card is None else _OPENED)

    # -- showing ------------------------------------------------------------------------------

    def _show_card(self, card: ModelCard) -> None:
        self._name.say(f"{Path(card.path).name}  ·  {card.format}")
        self._name.setToolTip(card.path)
        parts = [f"{card.summary.rstrip('.')}."]
        if card.saved_with:
            parts.append(f"Saved with {card.saved_with}.")
        parts.append(
            "Read as plain numbers: nothing in the file runs."
            if card.read_as_data
            else "Runs in a process of its own."
        )
        self._about.setText(" ".join(parts))
        blocked = QSignalBlocker(self.favourable_class)
        self.favourable_class.clear()
        for name in card.classes:
            self.favourable_class.addItem(name, name)
        self.favourable_class.setCurrentIndex(-1)
        del blocked

    def _show_mapping(self) -> None:
        state = self.state
        columns: tuple[str, ...] = ()
        if state.table is not None:
            columns = tuple(name for name in state.table.names if name != state.label)
        self._mapping.show_mapping(state.mapping, state.table, columns)
        if state.mapping is not None:
            self.favourable_class.setCurrentIndex(state.mapping.favourable_class)
        self._show_proof()

    def _show_proof(self) -> None:
        state, proof = self.state, self.state.proof
        clear(self._warnings)
        clear(self._confusion)
        warnings = list(state.card.warnings) if state.card else []
        if proof is None:
            self._rows.show_cells((), ())
        else:
            self._show_figures(proof)
            warnings += proof.warnings
        for widget in (self._proof, self._proof_more, self._confusion_box):
            widget.setVisible(proof is not None)
        # without a mapping the message above says what does not fit: nothing to show below it
        self.tabs.setVisible(state.mapping is not None)
        for warning in warnings:
            self._warnings.addWidget(Words(f"!  {warning}", tone="wrong"))

    def _show_figures(self, proof: Proof) -> None:
        state = self.state
        self._proof.setText(
            f"On {proof.rows:,} of your rows the model agrees with “{state.label}” "
            f"in {percent(proof.accuracy, 1)}."
        )
        more = f"Always guessing the commonest value would give {percent(proof.majority, 1)}."
        if proof.left_out:
            more += f" {proof.left_out:,} rows were left out: they have missing cells."
        self._proof_more.setText(more)
        good = short(state.favourable, 14)
        for position, words in enumerate((f"model says {good}", "model says other")):
            self._cell(0, position + 1, words, tone="quiet")
        for row, words in enumerate((f"data say {good}", "data say other")):
            self._cell(row + 1, 0, words, tone="quiet")
            for column, count in enumerate(proof.confusion[row]):
                self._cell(row + 1, column + 1, f"{count:,}", strong=row == column)
        self._rows.show_cells(
            (
                state.label,
                "Model says",
                f"Score of “{self.favourable_class.currentText()}”",
                *proof.inputs,
            ),
            [
                (row.label, row.prediction, score(row.score), *map(_sent, row.sent))
                for row in proof.sample
            ],
        )
        self.rows_view.resizeColumnsToContents()

    def _cell(
        self, row: int, column: int, text: str, *, tone: str = "", strong: bool = False
    ) -> None:
        words = Words(text, tone=tone, strong=strong, wrap=False)
        side = Qt.AlignmentFlag.AlignRight if column else Qt.AlignmentFlag.AlignLeft
        self._confusion.addWidget(words, row, column, side)


def _sent(value: float | str | None) -> str:
    """Write what a model was given."""
    return "–" if value is None else value if isinstance(value, str) else f"{value:g}"
