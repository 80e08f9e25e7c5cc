"""What leaves a repair: the data with rows added, the retrained model, and what they are."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fairdesk.audit.plan.labels import own_labels
from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.records import RunRecord
from fairdesk.audit.store.store import Store
from fairdesk.audit.worker.client import Worker
from fairdesk.data.table import Column, Kind, Table
from fairdesk.errors import ReportError
from fairdesk.files import sha256
from fairdesk.report.export.cards import Exported, card
from fairdesk.report.export.tables import (
    Extended,
    beside,
    guarded,
    is_there,
    plain,
    rows_of_people,
    write_exactly,
    write_guarded,
    write_rows,
)
from fairdesk.report.provenance.manifest import ExportOf
from fairdesk.report.writing import write_error
from fairdesk.results.mitigation import Augmented, Repair, Trial
from fairdesk.results.trials import (
    change_of,
    repair_of,
    same_measure,
    source_of_labels,
    trial_of,
    trials_of,
    verdict_of,
)
from fairdesk.wording import trials as trial_words

CSV, PARQUET, SPREADSHEET = (
    *("augmented.csv", "augmented.parquet"),
    "augmented-for-spreadsheets.csv",
)
PROVENANCE, DATA_CARD, MODEL_CARD = "provenance.csv", "dataset-card.md", "model-card.md"
TRIALS, BEFORE_AFTER = "trials.csv", "before-after.csv"
MODELS = ("model.keras", "model.joblib", "model.skops", "model.onnx")
#: All that there can be, in the order in which it is told.
NAMES = (
    *(CSV, PARQUET, SPREADSHEET, PROVENANCE, DATA_CARD),
    *(*MODELS, MODEL_CARD, BEFORE_AFTER, TRIALS),
)
_ORIGINS = ("original", "added")


def write_repair(
    store: Store,
    worker: Worker,
    run_id: int,
    trial: int,
    folder: Path,
    *,
    provenance: Literal["sidecar", "columns"] = "sidecar",
) -> dict[str, Path]:
    """Write what came of one trial of a repair, all of it or nothing.

    The data with the trial's rows added, as CSV like the original file, as Parquet and for
    spreadsheets; where these rows come from; the files of its model where they are kept; a card of
    each; what was measured. The same repair gives the same bytes, as long as the original file is
    there, or is not.

    Parameters
    ----------
    trial : int
        The trial's number. Of a model that cannot be retrained it is 0, and has all rows.
    folder : Path
        Where the files go; made when it is missing. Files of an earlier export in it are moved
        to a folder of their own inside it.
    provenance : {"sidecar", "columns"}
        Whether it is told in a file beside where each row comes from, or in columns at the end
        of each file of data.

    Returns
    -------
    dict[str, Path]
        Name and place of each file.

    Raises
    ------
    ReportError
        When that run is no repair, has no such trial, the trial adds no rows, or the files cannot
        be written: then what was in the folder is there as it was.
    """
    run, repair, wanted = _found(store, run_id, trial)
    made = store.added_rows(run_id)
    rows = wanted.added if repair.retrains else len(made.rows) if made else 0
    if made is None or not rows:
        raise ReportError(
            f"“{trial_words.trial_name(wanted)}” has no augmentation rows, so there are no data to "
            "write.",
            why="It is there for comparison."
            if repair.retrains
            else "The mitigation made no augmentation rows.",
            remedy="Choose a model that has augmentation rows.",
        )
    new = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".fairdesk-", dir=folder) as name:
            draft = Path(name)
            writing = _Writing(store, worker, run, repair, wanted, made, rows)
            writing.write(draft, inside=provenance == "columns")
            return _put(draft, folder)
    except OSError as error:
        raise write_error(folder, error) from error
    finally:
        if new and folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def _found(store: Store, run_id: int, number: int) -> tuple[RunRecord, Repair, Trial]:
    """Find a trial of a repair.

    Raises
    ------
    ReportError
        When there is none.
    """
    run = next((each for each in store.runs() if each.id == run_id), None)
    repair = repair_of(run.figures) if run is not None else None
    if run is None or repair is None:
        raise ReportError(
            f"Run {run_id} is not a mitigation run with results.",
            remedy="Choose a mitigation run with results.",
        )
    trial = trial_of(run.figures, number)
    if trial is None:
        there = ", ".join(str(each.number) for each in trials_of(run.figures))
        raise ReportError(
            f"Run {run_id} has no model {number}.", remedy=f"Choose one of: {there or 'none'}."
        )
    return run, repair, trial


class _Writing:
    """Writes the files of one trial into a folder of their own."""

    def __init__(
        self,
        store: Store,
        worker: Worker,
        run: RunRecord,
        repair: Repair,
        trial: Trial,
        made: Augmented,
        rows: int,
    ) -> None:
        self._store, self._worker = store, worker
        self._run, self._repair, self._trial = run, repair, trial
        self._pairs, self._seeds = made.pairs[:rows], made.seeds[:rows]
        spec = store.spec
        self._table = store.table()
        self._labels = _labels(spec, self._table, made.labels[:rows])
        self._added = rows_of_people(
            spec.domain.attributes,
            self._table,
            made.rows[:rows],
            spec.label,
            self._labels,
            self._seeds,
            made.texts,
        )

    def write(self, folder: Path, *, inside: bool) -> None:
        """Write them all."""
        spec = self._store.spec
        names = beside(self._table.names, _PROVENANCE)
        extended = Extended(self._table, self._added, there=is_there(self._table.source))
        if inside:
            extended = self._with_provenance(extended, names)
        write_exactly(folder / CSV, extended)
        (folder / PARQUET).write_bytes(self._packed(extended))
        write_guarded(folder / SPREADSHEET, extended)
        if not inside:
            write_rows(folder / PROVENANCE, ["row", *_PROVENANCE], self._provenance())
        models = self._store.models(self._run.id, self._trial.number)
        for name in MODELS:
            if name in models and models[name].size:
                (folder / name).write_bytes(
                    self._store.model(self._run.id, self._trial.number, name)
                )
        write_rows(folder / BEFORE_AFTER, *_before_after(self._run, self._trial.number))
        write_rows(folder / TRIALS, *_trials(self._run, self._repair))
        named = {*spec.domain.names, spec.label}
        exported = Exported(
            spec=spec,
            run=self._run,
            repair=self._repair,
            trial=self._trial,
            labels=dict(sorted(Counter(self._labels).items())),
            pairs=len(np.unique(self._pairs[self._pairs >= 0])),
            like=tuple(name for name in self._table.names if name not in named),
            there=extended.there,
            inside=inside,
            files=tuple(
                _facts(folder, (CSV, PARQUET, SPREADSHEET, PROVENANCE, BEFORE_AFTER, TRIALS))
            ),
            models=models,
            model_files=tuple(_facts(folder, MODELS)),
        )
        (folder / DATA_CARD).write_text(card("dataset-card", exported), "utf-8", newline="\n")
        if models:
            (folder / MODEL_CARD).write_text(card("model-card", exported), "utf-8", newline="\n")

    def _packed(self, extended: Extended) -> bytes:
        """Write the table as Parquet, in the worker's process."""
        table, added = extended.table, extended.added
        codes = table.codes
        if extended.also:
            more = np.full((len(codes), len(extended.also)), np.nan)
            more[:, 0] = _ORIGINS.index("original")
            codes = np.concatenate((codes, more), axis=1)
        whole = Table(table.source, added.columns, codes)
        parquet = extended.there and table.source.dialect.format == "parquet"
        return self._worker.pack(whole, added.codes, Path(table.source.path) if parquet else None)

    def _with_provenance(self, extended: Extended, names: Sequence[str]) -> Extended:
        """Say in further columns where rows come from."""
        origins, added = self._origins(names), extended.added
        codes = np.concatenate((added.codes, origins.codes), axis=1)
        added = Table(added.source, (*added.columns, *origins.columns), codes)
        also = ("original", *[""] * (len(origins.columns) - 1))
        return Extended(extended.table, added, also, extended.there)

    def _origins(self, names: Sequence[str]) -> Table:
        """Say of each added row where it comes from, in columns of these names."""
        values = {0: _ORIGINS, 1: (self._run.spec.method,), 5: (source_of_labels(self._repair),)}
        columns = (
            Column(name, Kind.NOMINAL, values[place])
            if place in values
            else Column(name, Kind.INTEGER)
            for place, name in enumerate(names)
        )
        m, pairs = len(self._pairs), np.where(self._pairs >= 0, self._pairs, np.nan)
        first, run = np.full(m, _ORIGINS.index("added")), np.full(m, self._run.id)
        codes = (first, np.zeros(m), run, pairs, self._seeds + 1, np.zeros(m))
        return Table(self._table.source, tuple(columns), np.column_stack(codes))

    def _provenance(self) -> Iterator[Sequence[object]]:
        origins = self._origins(_PROVENANCE)
        for row, codes in enumerate(origins.codes.tolist(), start=len(self._table.codes) + 1):
            texts = (each.text(code) for each, code in zip(origins.columns, codes, strict=True))
            yield row, *texts


#: What is told of where a row comes from.
_PROVENANCE = ("origin", "method", "run", "pair", "seed row", "label source")


def _labels(spec: AuditSpec, table: Table, classes: NDArray[np.int64]) -> list[str]:
    """Return the label value of each class."""
    meant = own_labels(spec, table)
    texts = [meant[place] if place < len(meant) else None for place in classes.tolist()]
    known = [text for text in texts if text is not None]
    if len(known) < len(texts):
        raise ReportError(
            "The augmentation rows have labels that do not occur in the data.",
            why="A class of the model does not correspond to any value of the recorded outcome.",
            remedy=(
                "Run the mitigation again with a model whose decisions are values of the "
                "recorded outcome."
            ),
        )
    return known


def _before_after(run: RunRecord, number: int) -> tuple[list[str], Iterator[Sequence[str]]]:
    """Return every measure of the trial beside those of the imported and of the retrained model."""
    trials = {
        "original model": trial_of(run.figures, 0),
        "retrained baseline": trial_of(run.figures, 1),
        "mitigated model": trial_of(run.figures, number),
    }
    ends = ("", " low", " high")
    heads = [f"{name}{end}" for name in trials for end in ends]
    changes = [f"change from {name}" for name in ("original model", "retrained baseline")]
    columns = [f"{name}{end}" for name in changes for end in (*ends, " p", " test")]
    chosen = trials["mitigated model"]

    def rows() -> Iterator[Sequence[str]]:
        for measure in chosen.measures if chosen is not None else ():
            cells = [guarded(trial_words.measure_name(measure)), measure.rows]
            for trial in trials.values():
                same = same_measure(trial, measure)
                cells += [plain(getattr(same, end, None)) for end in ("estimate", "low", "high")]
            for against in (0, 1):
                change = change_of(chosen, measure, against) if chosen is not None else None
                cells += [
                    plain(getattr(change, end, None))
                    for end in ("difference", "low", "high", "p", "test")
                ]
            yield cells

    return ["measure", "on", *heads, *columns], rows()


def _trials(run: RunRecord, repair: Repair) -> tuple[list[str], Iterator[Sequence[str]]]:
    """Return every measure of every trial."""
    heads = [
        *("model", "name", "percent", "rows added", "result", "on the front", "chosen", "failed"),
        *("seconds", "measure", "on", "estimate", "low", "high", "people"),
    ]

    def rows() -> Iterator[Sequence[str]]:
        for each in trials_of(run.figures):
            about = [
                *(str(each.number), guarded(trial_words.trial_name(each))),
                *(plain(each.percent), str(each.added), verdict_of(run.figures, each)),
                plain(each.front),
                *(plain(each.number == repair.chosen), guarded(each.failed)),
                f"{each.seconds:.3f}",
            ]
            for measure in each.measures:
                yield [
                    *about,
                    *(guarded(trial_words.measure_name(measure)), measure.rows),
                    *(plain(end) for end in (measure.estimate, measure.low, measure.high)),
                    # what is proven was asked of nobody
                    "" if trial_words.known(measure) == "proven" else str(measure.n_samples),
                ]
            if not each.measures:
                yield [*about, *[""] * 6]

    return heads, rows()


def _facts(folder: Path, names: Iterable[str]) -> Iterator[ExportOf]:
    for name in names:
        path = folder / name
        if path.exists():
            yield ExportOf(name, path.stat().st_size, sha256(path))


def _put(draft: Path, folder: Path) -> dict[str, Path]:
    """Move files to their folder, and those of an earlier export out of the way; or neither."""
    earlier = next(
        place for number in count(1) if not (place := folder / f"earlier-{number}").exists()
    )
    moves = [(folder / name, earlier / name) for name in NAMES if (folder / name).exists()]
    if moves:
        earlier.mkdir()
    written = {name: folder / name for name in NAMES if (draft / name).exists()}
    moves += [(draft / name, place) for name, place in written.items()]
    done: list[tuple[Path, Path]] = []
    try:
        for here, there in moves:
            here.rename(there)
            done.append((here, there))
    except OSError:
        for here, there in reversed(done):
            there.rename(here)
        if earlier.exists():
            earlier.rmdir()
        raise
    return written
