"""Whether data and model, as they are at hand now, are the audited ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath

import numpy as np
from numpy.typing import NDArray

from fairdesk.audit.environments import environments
from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.runs.inspection import reopen
from fairdesk.audit.verify.tally import MOST_TOLD, Tally
from fairdesk.audit.worker.client import Worker
from fairdesk.certify.proof.verify.statements import Check
from fairdesk.data.columns.rereading import retype
from fairdesk.data.table import Column, Kind, Table
from fairdesk.errors import DataError, ModelError, system_errors
from fairdesk.files import sha256
from fairdesk.models.inputs.usual import still_fits
from fairdesk.samples import is_sample_file

SAME_DATA = "The data file is the audited one"
SAME_TABLE = "The data file, read again, gives the table of the audit"
SAME_SCALING = "Scaling that was fitted on the data matches the data"
SAME_MODEL = "The model file is the audited one"


def check_data_file(spec: AuditSpec, path: Path) -> Check:
    """Compare the fingerprint of the data's file."""
    tally = Tally(SAME_DATA)
    _compare(tally, spec.data.sha256, path, "data file")
    return tally.check()


def check_scaling(spec: AuditSpec, table: Table) -> Check:
    """Compute again by what inputs are scaled that were fitted on the audited table."""
    tally = Tally(SAME_SCALING)
    for item in spec.mapping.inputs:
        if item.fitted is not None:
            tally.compare(
                still_fits(item, table),
                f"The scaling of the input “{item.name}” does not match the audited table.",
            )
    return tally.check()


def check_model_files(spec: AuditSpec, model: Path, companions: Sequence[Path]) -> Check:
    """Compare the fingerprints of the model's file, and of the files beside it."""
    tally = Tally(SAME_MODEL)
    _compare(tally, spec.model.sha256, model, "model file")
    given = {_fingerprint(path): path for path in companions}
    known = {each.sha256 for each in spec.model.companions}
    strange = [path for digest, path in given.items() if digest not in known]
    lying = {each.path: _lying(each.path, model) for each in spec.model.companions}
    lost = [
        each for each in spec.model.companions if not (each.sha256 in given or lying[each.path])
    ]
    for each in spec.model.companions:
        name = base_name(each.path)
        named = [path for path in strange if path.name == name]
        if not named and lost == [each]:
            named = strange  # whatever it is called now, it can be meant for this one only
        there = named[0] if named else lying[each.path]
        if each.sha256 in given:
            tally.agree()
        elif there is not None:
            _compare(tally, each.sha256, there, f"companion file “{name}”")
        else:
            tally.leave(f"The companion file “{name}” was not given: give it with --companion.")
    return tally.check()


def open_again(
    worker: Worker,
    spec: AuditSpec,
    model: Path,
    companions: Sequence[Path],
    say: Callable[[str], None],
    *,
    trusted: bool,
    make_environment: bool,
) -> None:
    """Open the audited model where it is now.

    Parameters
    ----------
    say : callable
        Told what goes on where an environment is made.
    trusted : bool
        Whether a file that is a program may run. FairDesk's own samples always may.
    make_environment : bool
        Whether the environment that it was audited in may be made, where it is not there.

    Raises
    ------
    FairDeskError
        When it cannot be opened.
    """
    if spec.model.environment and make_environment:
        needed = environments.needed(worker.look_into(model))
        if needed is not None and environments.find(needed, say) is None:
            environments.make(needed, say, lambda: False)
    reopen(
        spec,
        _places(spec, model, companions),
        worker,
        trusting=lambda path: trusted or is_sample_file(sha256(path)),
    )


def _places(spec: AuditSpec, model: Path, companions: Sequence[Path]) -> dict[Path, Path]:
    """Return where the model and the files beside it are now, by where they were."""
    given = {_fingerprint(path): path for path in companions}
    places = {Path(spec.model.path): model}
    for each in spec.model.companions:
        there = given.get(each.sha256) or _lying(each.path, model)
        if there is not None:
            places[Path(each.path)] = there
    return places


def _lying(was: str, model: Path) -> Path | None:
    """Find a file that lay beside the model: where it was, or beside where the model is now."""
    near = (Path(was), model.parent / base_name(was))
    return next((path for path in near if path.is_file()), None)


def base_name(path: str) -> str:
    """Return a file's name, whichever system's path it is."""
    return PureWindowsPath(path).name if "\\" in path else PurePosixPath(path).name


def _compare(tally: Tally, sha256: str, path: Path, what: str) -> None:
    found = _fingerprint(path)
    tally.compare(
        found == sha256,
        f"The SHA-256 hash of the {what} was {sha256[:12]}…; that of “{path.name}” is "
        f"{found[:12]}….",
    )


def _fingerprint(path: Path) -> str:
    with system_errors(ModelError, f"“{path}” cannot be read."):
        return sha256(path)


def check_table(kept: Table, read: Table) -> Check:
    """Compare the table that the audit keeps with the one that its file gives now.

    Columns are compared as what they say, not by their codes: the auditor may have given a column
    another kind, and ordered names anew.
    """
    tally = Tally(SAME_TABLE)
    if kept.names != read.names:
        tally.differ("The columns have other names or are in another order.")
        return tally.check()
    if len(kept.codes) != len(read.codes):
        tally.differ(
            f"The file has {len(read.codes):,} rows, and the audit has {len(kept.codes):,}."
        )
        return tally.check()
    for place, column in enumerate(kept.columns):
        codes = kept.codes[:, place]
        now_read = read.columns[place]
        if (column.odd, column.garbled) != (now_read.odd, now_read.garbled):
            tally.differ(
                f"The odd cells of “{column.name}” in the file differ from those that the audit "
                "lists."
            )
        try:
            now = _coded_as(column, read)
        except DataError as error:
            tally.differ(str(error), len(codes))
            continue
        same = (now == codes) | (np.isnan(now) & np.isnan(codes))
        tally.agree(int(same.sum()))
        wrong = np.flatnonzero(~same)
        for row in wrong[:MOST_TOLD].tolist():
            was, there = column.text(codes[row]), read.columns[place].text(read.codes[row, place])
            tally.differ(
                f"In row {row + 1:,} “{column.name}” is “{was[:80]}” in the audit and "
                f"“{there[:80]}” in the file."
            )
        tally.differ("", max(len(wrong) - MOST_TOLD, 0))
    return tally.check()


def _coded_as(column: Column, read: Table) -> NDArray[np.float64]:
    """Return a column's cells by the codes of the audit's; -1 for names that it does not know.

    Raises
    ------
    DataError
        When what is read now cannot be what the column was.
    """
    name = column.name
    if bool(column.values) != bool(read.column(name).values):
        kind = column.kind
        if kind in (Kind.IGNORED, Kind.TEXT):
            kind = Kind.NOMINAL if column.values else Kind.REAL
        read = retype(read, name, kind)
    there, codes = read.column(name), read.codes[:, read.index(name)]
    if not there.values:
        return codes
    places = {value: float(place) for place, value in enumerate(column.values)}
    coded = np.array([places.get(value, -1.0) for value in there.values] + [np.nan])
    return coded[np.where(np.isnan(codes), len(there.values), codes).astype(np.intp)]
