"""“Export this one…”: where to, where the origin of rows is told, and what was written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from PySide6.QtWidgets import (
    QWidget,
)

from fairdesk.audit.store.records import ModelFile
from fairdesk.audit.store.store import Store
from fairdesk.audit.worker.client import Worker
from fairdesk.gui.kit import fields, layouts, parts, theme
from fairdesk.gui.kit.dropping import ask_folder
from fairdesk.gui.workspace.report.dialogs import WorkDialog
from fairdesk.gui.workspace.session.session import Session
from fairdesk.report.export.mitigation import NAMES, write_repair
from fairdesk.results.mitigation import Trial
from fairdesk.wording import trials as trial_words
from fairdesk.wording import words

Provenance = Literal["sidecar", "columns"]
_PROVENANCE: dict[Provenance, tuple[str, str]] = {
    "sidecar": (
        "In a co&mpanion file",
        (
            "The data then have only the columns of your file and can be used for training as "
            "they are."
        ),
    ),
    "columns": (
        "In additional &columns of the data",
        "Each row then states whether it was added, why, and where its label comes from.",
    ),
}


class ExportDialog(WorkDialog):
    """Writes what a repair made: the data, a card, and the model."""

    def __init__(self, session: Session, run: int, trial: Trial, parent: QWidget) -> None:
        super().__init__("Export a mitigation", parent)
        self._session, self._run, self._trial = session, run, trial
        self._worker: Worker | None = None
        #: What was written, once the dialog was accepted.
        self.written: tuple[Path, ...] = ()
        beside = session.path.parent / f"{session.path.stem} mitigation {run}"
        self.folder = fields.line(str(beside), changed=self._tell_folder)
        self.choose = parts.push_button("C&hoose…", self._choose)
        self.models = parts.quiet("One moment…")
        self.start = parts.push_button("&Export", self._write)
        self.close_ = parts.push_button("Cancel", self.reject)
        self._lay_out()
        self._tell_folder()
        number = trial.number
        session.store.ask(
            lambda store: store.models(run, number), self._tell_models, key="repair models"
        )
        parts.resize_on_screen(self, 680, 560)

    @property
    def provenance(self) -> Provenance:
        """Where the origin of rows is told."""
        return next(kind for kind, button in self.origins.items() if button.isChecked())

    def reject(self) -> None:
        """Close, unless files are being written."""
        if self._worker is None:
            super().reject()

    # Parts

    def _lay_out(self) -> None:
        self.origins, origins = fields.radios(self, _PROVENANCE, "sidecar")
        self.earlier = parts.Words(
            "This folder contains an earlier export. Its files are moved to a subfolder; "
            "nothing is lost."
        )
        self.ask_ = layouts.panel(
            fields.with_button("&Into the folder", self.folder, self.choose),
            self.earlier,
            parts.heading("Where the origin of each augmentation row is recorded"),
            origins,
            parts.heading("Files written"),
            parts.Words(self._data_description()),
            self.models,
            layouts.stretch(),
            margin=(0, 0, theme.NEAR, 0),
            spacing=theme.GAP,
        )
        self.resting = self.start, self.close_, self.ask_
        layouts.column(
            parts.title(f"Export: {trial_words.trial_name(self._trial)}"),
            self.banner,
            layouts.grow(parts.scrolled(self.ask_)),
            self.busy,
            parts.answers(self.close_, self.start),
            on=self,
            margin=theme.WIDE,
            spacing=theme.GAP,
        )
        self.start.setDefault(True)

    def _data_description(self) -> str:
        added = self._trial.added
        rows = (
            f"Your data with {words.counted(added, 'augmentation row')}"
            if added
            else "Your data, and all augmentation rows that could be added"
        )
        return (
            f"{rows}, as CSV and Parquet: same columns, order and labels as your file, to train "
            "with; the same for a spreadsheet, where no cell is read as a formula; the tables of "
            "before and after and of all models; and a card that states what was added and why."
        )

    def _tell_models(self, models: Mapping[str, ModelFile]) -> None:
        if models:
            lines = [
                f"{'•' if file.size else '–'} {name if file.size else f'no {name}'}: {file.remark}"
                for name, file in models.items()
            ]
            self.models.setText("\n".join(("The retrained model, with a card:", *lines)))
        elif self._trial.kind == "imported":
            self.models.setText("No model file: this model cannot be retrained here.")
        else:
            self.models.setText(
                "No model file: files are kept only of the chosen model and of those on the "
                "Pareto front. The exported data are sufficient to train this one."
            )

    # What happens

    def _choose(self) -> None:
        start = Path(self.folder.text()).expanduser()
        folder = next((each for each in (start, *start.parents) if each.is_dir()), Path.home())
        if (chosen := ask_folder(self, "Choose the export folder", folder)) is not None:
            self.folder.setText(str(chosen))

    @property
    def _folder(self) -> Path:
        return Path(self.folder.text().strip()).expanduser()

    def _tell_folder(self) -> None:
        """Say what becomes of an earlier export: nothing is replaced, so nothing is asked."""
        self.start.setEnabled(bool(self.folder.text().strip()))
        self.earlier.setVisible(any((self._folder / name).exists() for name in NAMES))

    def _write(self) -> None:
        path, run, trial = self._session.path, self._run, self._trial.number
        folder, provenance = self._folder, self.provenance
        worker = self._worker = Worker()

        def write() -> dict[str, Path]:
            try:
                with Store.open(path) as store:
                    written = write_repair(store, worker, run, trial, folder, provenance=provenance)
                    said = f"Exported model {trial} of mitigation run {run} to {folder}."
                    store.exported(said, written)
            finally:
                worker.close()
            return written

        self.work("Writing…", write, self._tell_written)

    def _rest(self) -> None:
        self._worker = None
        super()._rest()

    def _tell_written(self, written: Mapping[str, Path]) -> None:
        self.written = tuple(written.values())
        self.accept()
