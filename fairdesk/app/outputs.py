"""The files that an audit leaves in its folder."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path

from fairdesk.app.pair_files import PAIR_FILES, PairFiles
from fairdesk.audit.catalogue.method import ABOUT_GROUPS, QuestionKind
from fairdesk.audit.catalogue.methods import method_named
from fairdesk.audit.store.schema import release
from fairdesk.audit.store.store import Store
from fairdesk.certify.proof.certificate import SUFFIX
from fairdesk.errors import FairDeskError, ReportError, system_errors
from fairdesk.report.document import write_pdf
from fairdesk.report.export.exports import (
    GROUP_FILES,
    UnlabelledError,
    group_files,
    write_certificate,
    write_retraining_csv,
)
from fairdesk.report.provenance.manifest import sidecar
from fairdesk.report.writing import replacing

log = logging.getLogger(__name__)
AUDIT_FILE, REPORT, MANIFEST = "audit.fairdesk", "report.pdf", "manifest.json"
#: What an audit leaves in its folder, and who writes it.
OUTPUTS = {**PAIR_FILES, "retraining.csv": write_retraining_csv, REPORT: write_pdf}
#: What it leaves only where that is asked for: it is several times as large as the table beside it.
ON_REQUEST = frozenset({"findings.json"})
#: What it leaves besides, where a method has proven something; of a second one with its number.
CERTIFICATE = f"certificate{SUFFIX}"


def write_outputs(
    store: Store,
    folder: Path,
    begin: Callable[[str], None],
    wanted: Collection[str] = (),
    pair_files: PairFiles | None = None,
    also: Collection[str] = (),
) -> tuple[dict[str, str], str, tuple[str, ...]]:
    """Write what an audit leaves, whatever of it can be; ``begin`` is told each file's name.

    ``wanted`` are the names of the files that are written; empty for all but those `ON_REQUEST`
    that are not in ``also``. ``pair_files`` may write some of them beside.

    Returns
    -------
    files : dict[str, str]
        Name and place of each file that is there.
    trouble : str
        Why others could not be written, or empty.
    left_out : tuple[str, ...]
        Why others have no meaning for this audit.
    """
    files = {AUDIT_FILE: str((folder / AUDIT_FILE).absolute())}
    about_people = any(
        method_named(run.spec.method).answers not in (*ABOUT_GROUPS, QuestionKind.REPAIR)
        for run in store.runs()
    )
    troubles = {}
    left_out = []
    writers = {
        name: write
        for name, write in (OUTPUTS | group_files(store) | _certificates(store)).items()
        # groups are no pairs of people, nor is there anybody to compare without a model
        if (about_people or name not in OUTPUTS or name == REPORT)
        and (name in wanted if wanted else name not in ON_REQUEST or name in also)
    }
    beside: tuple[str, ...] = ()
    if pair_files is not None:
        pair_files.begin(store.path, folder, writers)
        beside = pair_files.names
    # what is written meanwhile is waited for in the end
    for name in sorted(writers, key=lambda name: name in beside):
        begin(name)
        try:
            if pair_files is None or name not in beside or not pair_files.finish(name):
                writers[name](store, folder / name)
        except UnlabelledError as error:
            left_out.append(str(error))
        except FairDeskError as error:
            log.warning("%s: %s", name, error, exc_info=True)
            troubles[name] = str(error)
        else:
            files[name] = str((folder / name).absolute())
    files = {name: files[name] for name in (AUDIT_FILE, *writers) if name in files}
    if not wanted or MANIFEST in wanted:
        begin(MANIFEST)
        try:
            _write_manifest(store, folder, files)
        except FairDeskError as error:
            log.warning("%s: %s", MANIFEST, error, exc_info=True)
            troubles[MANIFEST] = str(error)
    first, *others = troubles.values() or [""]
    if others:
        first += f" Also not written: {', '.join(list(troubles)[1:])}."
    return files, first, tuple(left_out)


def _write_manifest(store: Store, folder: Path, files: dict[str, str]) -> None:
    """Write what shows that files are those of this audit, and log them all.

    Raises
    ------
    FairDeskError
        When it cannot be written.
    """
    exported = {name: Path(path) for name, path in files.items() if name != AUDIT_FILE}
    manifest = sidecar(store, exported)
    with replacing(folder / MANIFEST) as draft:
        draft.write_bytes(manifest)
    files[MANIFEST] = str((folder / MANIFEST).absolute())
    exported[MANIFEST] = folder / MANIFEST
    said = f"Exported {', '.join(exported)} to {folder.absolute()}."
    store.exported(said, exported, manifest.decode())


def _certificates(store: Store) -> dict[str, Callable[[Store, Path], None]]:
    """Name the certificates that there are, and say who writes each."""
    writers: dict[str, Callable[[Store, Path], None]] = {}
    for run in store.certified_runs():
        name = f"certificate-{run}{SUFFIX}" if writers else CERTIFICATE
        writers[name] = partial(_write_certificate, run)
    return writers


def _write_certificate(run_id: int, store: Store, path: Path) -> None:
    write_certificate(store, run_id, path)


def make_folder(folder: Path) -> None:
    """Make the folder of the results.

    Raises
    ------
    ReportError
        When that cannot be done, or files cannot be made in it.
    """
    with system_errors(
        ReportError, f"The folder “{folder}” cannot be created.", "Choose another folder."
    ):
        folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK):
        raise ReportError(
            f"You do not have permission to write to the folder “{folder}”.",
            remedy="Choose another folder.",
        )


def make_room(folder: Path) -> None:
    """Move the files of an earlier audit out of the way, into a folder of their own.

    Raises
    ------
    StoreError
        When the earlier audit is open elsewhere.
    ReportError
        When its files cannot be moved.
    """
    names = (AUDIT_FILE, *OUTPUTS, *GROUP_FILES, MANIFEST)
    there = [folder / name for name in names if (folder / name).exists()]
    there += sorted(folder.glob(f"certificate*{SUFFIX}"))
    if not there:
        return
    if (folder / AUDIT_FILE).exists():
        release(folder / AUDIT_FILE)
    number = 1
    while (folder / f"earlier-{number}").exists():
        number += 1
    earlier = folder / f"earlier-{number}"
    with system_errors(
        ReportError,
        f"The files of an earlier audit in “{folder}” cannot be moved.",
        "Choose another folder.",
    ):
        earlier.mkdir()
        for path in there:
            path.rename(earlier / path.name)
    log.info("moved an earlier audit to %s", earlier)
