"""Which files of a folder are models, which of the others are their tables and companions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from fairdesk.audit.worker.client import Worker
from fairdesk.data.profiling.outcomes import meaning
from fairdesk.data.table import Column, Kind, Table
from fairdesk.errors import FairDeskError
from fairdesk.models.detect import describe_format
from fairdesk.models.inputs.mapping.making import input_names
from fairdesk.models.inputs.one_hot import loose
from fairdesk.models.model import ModelCard

#: What FairDesk is meant to open: the other model files count among “all” only.
SUPPORTED = frozenset(
    ".keras .h5 .hdf5 .onnx .pkl .pickle .joblib .skops .sav .p .pmml .ubj .cbm .xgb".split()  # noqa: SIM905
)
#: What else authors give their models' files for endings.
_OTHERS = frozenset(
    ".rds .rdata .rda .pt .pth .ckpt .safetensors .tflite .pb .mojo .mlmodel .pdparams .pdmodel "  # noqa: SIM905
    ".pkcls .model .bst .lgb .dill .gz .zip .7z .rar .tar".split()
)
_TABLES = frozenset(
    (".csv", ".tsv", ".data", ".parquet", ".pq", ".xlsx", ".xls", ".ods", ".sqlite", ".db")
)
_LISTS = frozenset((".json", ".txt"))
#: Kinds of `describe_format` that are models whatever their files are called.
_BY_CONTENT = frozenset(
    "keras-zip hdf5 saved-model onnx pickle skops xgboost lightgbm catboost pmml".split()  # noqa: SIM905
)
#: How files are called that prepare a model's inputs.
_COMPANION = re.compile(
    r"scal|encod|vectori|transform|preproc|prepar|imput|columns|features|mapping|categories"
    r"|normali[sz]|(^|[_\W])(le|ohe|sc|ct|pca)([_\W]|$)",
    re.IGNORECASE,
)
#: What outcomes are called, from the surest.
_LABELS = (
    *("target", "label", "labels", "class", "outcome", "y", "result", "decision", "approved"),
    *("loan_status", "income", "survived", "exited", "churn", "default", "status", "diagnosis"),
    *("response", "quality", "price", "charges", "salary"),
)
_GOOD = frozenset(
    "1 yes y true good approved approve accepted pass passed >50k positive".split()  # noqa: SIM905
)
#: A column with more different values is no outcome to decide between.
_FEW = 20
#: So many tables, and columns of one, are tried for a model.
MOST_TABLES, MOST_LABELS = 4, 6


@dataclass(frozen=True)
class Candidate:
    """A table that a model may belong to, with what could be the outcome in it."""

    path: Path
    label: str
    favourable: str


class Folder:
    """A folder of models with tables, looked through once.

    Parameters
    ----------
    root : Path
        The folder.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._read: dict[Path, Table | None] = {}

    @cached_property
    def _files(self) -> list[Path]:
        found = []
        for path in sorted(self.root.rglob("*")):
            parts = path.relative_to(self.root).parts
            if not any(part.startswith((".", "__")) for part in parts):
                found.append(path)
        return found

    @cached_property
    def _by_name(self) -> dict[Path, str]:
        return {path: _sort_of(path) for path in self._files}

    def models(self) -> list[Path]:
        """Return the files, and folders, that are models by their content or ending."""
        saved = {path for path, sort in self._by_name.items() if path.is_dir() and sort == "model"}
        return [
            path
            for path, sort in self._by_name.items()
            if sort == "model" and not saved.intersection(path.parents)
        ]

    def companions(self, model: Path) -> list[Path]:
        """Return the files in the model's own folder that are called like what prepares inputs."""
        return [
            path
            for path, sort in self._by_name.items()
            if sort == "companion" and path.parent == model.parent
        ]

    def tables(self, model: Path) -> list[Path]:
        """Return tables by their distance from a model: its folder, those below, those beside."""

        def distance(path: Path) -> tuple[int, int, str]:
            here, there = model.parent.parts, path.parent.parts
            common = 0
            while common < min(len(here), len(there)) and here[common] == there[common]:
                common += 1
            up, down = len(here) - common, len(there) - common
            return up * 2 + down, down, str(path)

        return sorted(
            (path for path, sort in self._by_name.items() if sort == "table"), key=distance
        )

    def table(self, worker: Worker, path: Path) -> Table | None:
        """Read a table; none where it is none."""
        if path not in self._read:
            try:
                self._read[path] = worker.read_table(path)
            except FairDeskError:
                self._read[path] = None
        return self._read[path]

    def candidates(self, worker: Worker, model: Path, card: ModelCard) -> Iterator[list[Candidate]]:
        """Yield the tables that fit a model, the best first: each with what may be its outcome."""
        rated = []
        for place, path in enumerate(self.tables(model)):
            table = self.table(worker, path)
            if table is not None:
                # of tables that fit alike the nearest one belongs to it
                rated.append((-_fit(card, table), place, path, table))
        for _, _, path, table in sorted(rated, key=lambda each: each[:2])[:MOST_TABLES]:
            yield [
                Candidate(path, column.name, _favourable(column, table))
                for column in _labels(card, table)[:MOST_LABELS]
            ]


def _sort_of(path: Path) -> str:
    """Tell ``"model"``, ``"companion"`` or ``"table"``; empty for anything else."""
    ending = path.suffix.lower()
    if path.is_dir():
        return "model" if describe_format(path) == "saved-model" else ""
    if ending in _TABLES:
        return "table"
    try:
        content = describe_format(path) in _BY_CONTENT
    except FairDeskError:
        content = False
    if _COMPANION.search(path.stem) and (content or ending in _LISTS):
        return "companion"
    return "model" if content or ending in SUPPORTED | _OTHERS else ""


def _fit(card: ModelCard, table: Table) -> float:
    """Rate from 0 to 1 how far a table's columns are a model's inputs."""
    names = input_names(card)
    columns = {loose(column.name) for column in table.columns}
    if card.named or card.hints.features:
        told = card.inputs if card.named else card.hints.features
        # an input may stand for one value of a column
        found = [
            loose(name) in columns or any(len(c) > 2 and loose(name).startswith(c) for c in columns)
            for name in told
        ]
        return sum(found) / max(len(found), 1)
    return 1.0 / (1 + abs(len(table.columns) - 1 - len(names)))


def _labels(card: ModelCard, table: Table) -> list[Column]:
    """Return the columns that may be the outcome, the likeliest first."""
    inputs = {loose(name) for name in card.inputs} if card.named else set()
    target = loose(card.hints.target)
    number = not card.classes
    last = len(table.columns) - 1

    def rank(entry: tuple[int, Column]) -> tuple[bool, bool, int, bool, int]:
        place, column = entry
        name = loose(column.name)
        known = [i for i, each in enumerate(_LABELS) if loose(each) == name]
        return (
            name in inputs,
            not target or name != target,
            known[0] if known else len(_LABELS),
            place != last,
            place,
        )

    fitting = [
        (place, column)
        for place, column in enumerate(table.columns)
        if column.kind not in (Kind.TEXT, Kind.IGNORED)
        and (number or 2 <= len(table.counts(column.name)) <= _FEW)
    ]
    return [column for _, column in sorted(fitting, key=rank)]


def _favourable(column: Column, table: Table) -> str:
    counts = table.counts(column.name)
    if len(counts) > _FEW:
        codes = table.codes[:, table.index(column.name)]
        return f">= {float(np.nanmedian(codes))!r}"
    return next((text for text in counts if meaning(text) in _GOOD or text in _GOOD), [*counts][-1])


def shown(paths: Sequence[Path]) -> str:
    """Name files."""
    return ", ".join(path.name for path in paths)
