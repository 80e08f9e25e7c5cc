"""Files that left an audit, held against what its log tells of them, and against the audit."""

from __future__ import annotations

import base64
import hashlib
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from fairdesk.audit.store import digests
from fairdesk.audit.store.digests import exported_files
from fairdesk.audit.store.records import PASSING, Choice, ExportedFile, LogEntry
from fairdesk.audit.store.store import Store
from fairdesk.audit.verify.files import base_name
from fairdesk.audit.verify.record import Anchor
from fairdesk.audit.verify.reproducing import other_versions
from fairdesk.audit.verify.tally import Tally
from fairdesk.certify.proof.verify.statements import Check
from fairdesk.errors import FairDeskError, ReportError, system_errors
from fairdesk.files import sha256
from fairdesk.report.content.redacted_json import RedactedJson
from fairdesk.report.content.redaction import SENTENCES, Shown
from fairdesk.report.document import Format, make_pdf, make_report
from fairdesk.report.provenance import evidence, signing
from fairdesk.report.provenance.manifest import ExportOf, Manifest, RunOf, as_of
from fairdesk.report.provenance.signing import DAMAGE, only_signed
from fairdesk.report.render import html
from fairdesk.report.render.html import FORMAT, structured

#: What a manifest tells, and what that is.
_TOLD = {
    "title": "a different title",
    "moment": "a different time of its last change",
    "data": "a different data file",
    "model": "a different model file",
    "companions": "different companion files of the model",
    "question_sha256": "a different SHA-256 hash of the audit plan",
    "table_sha256": "a different SHA-256 hash of the table",
    "spec": "a different audit plan",
    "versions": "different versions",
    "details": "different details of the report",
    "log": "different audit log entries",
}
#: What another version may write otherwise of the same audit.
_WRITTEN = ("commands", "domain_file", "map_file")
#: What is told of a run that had ended, and of every other.
_OF_RUN = (
    *("method", "seed", "versions", "sha256", "state", "message", "started", "ended"),
    *("elapsed", "tried", "found", "queries", "rejected"),
)
_OF_OPEN_RUN = ("method", "seed", "versions", "sha256", "started")


def compare_manifest(
    tally: Tally, name: str, content: bytes, store: Store, entries: Sequence[LogEntry]
) -> None:
    """Hold a manifest against the audit as it was when the manifest was made."""
    try:
        document = msgspec.json.decode(content, type=dict[str, Any])
        manifest = msgspec.convert(document, Manifest)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        tally.differ(f"The manifest in “{name}” cannot be read.")
        return
    identity = evidence.identity(store.spec)
    if not tally.compare(
        manifest.audit == identity,
        f"“{name}” belongs to the audit {manifest.audit}, and this is {identity}.",
    ):
        return
    if not tally.compare(
        0 < manifest.log.entries <= len(entries)
        and digests.head(entries[: manifest.log.entries]) == manifest.log.head,
        f"“{name}” was made from a different audit log.",
    ):
        return
    again = as_of(store, manifest.log.entries)
    if sentence := document.get("redacted"):
        kind = next((key for key, said in SENTENCES.items() if said == sentence), None)
        if kind is None:
            tally.leave(f"The statement in “{name}” of what it omits is not known to this version.")
            return
        again = RedactedJson(Shown(kind, store.spec, store.table())).manifest(again)
    _compare(tally, name, manifest, msgspec.json.decode(again, type=Manifest), store)


def _compare(tally: Tally, name: str, manifest: Manifest, again: Manifest, store: Store) -> None:
    for member, what in _TOLD.items():
        tally.compare(getattr(manifest, member) == getattr(again, member), f"“{name}” has {what}.")
    runs = {run.id: run for run in again.runs}
    had = {run.id for run in again.runs if run.sha256 is not None}
    for number in sorted(had - {run.id for run in manifest.runs}):
        tally.differ(f"“{name}” does not list run {number}.")
    for run in manifest.runs:
        tally.compare(
            run.id in runs and _same_run(run, runs[run.id]),
            f"“{name}” describes run {run.id} differently.",
        )
    written = all(getattr(manifest, member) == getattr(again, member) for member in _WRITTEN)
    if written or not other_versions(store.spec):
        tally.compare(written, f"“{name}” has different command lines to repeat the runs.")
    else:
        tally.leave(f"The command lines in “{name}” are those of different versions.")


def _same_run(run: RunOf, again: RunOf) -> bool:
    members = _OF_RUN if again.sha256 is not None else _OF_OPEN_RUN
    return all(getattr(run, each) == getattr(again, each) for each in members)


FILES = "Exported files match the audit log"
SIGNATURES = "Signatures are valid"
ATTACHED = "Manifests belong to this audit and match its content"
REMADE = "Reports made again from the audit are identical to the byte"

#: How reports begin.
_STARTS: dict[bytes, Format] = {
    b"%PDF-": "pdf",
    b"<!DOCTYPE html>": "html",
    f'{{\n "format": "{FORMAT}"'.encode(): "json",
}
_IN_PAGE = re.compile(rb'download="manifest.json" href="data:application/json;base64,([^"]*)"')
#: The sizes of files that are looked into, at most.
_MOST_BYTES = 500_000_000


@dataclass(frozen=True)
class _Given:
    """A file that is at hand: where, its fingerprint, and what the log tells of one like it."""

    path: Path
    sha256: str
    recorded: ExportedFile | None

    @property
    def same(self) -> bool:
        return self.recorded is not None and self.recorded.sha256 == self.sha256


@dataclass(frozen=True)
class _Read:
    """A report among them, in some form, and its bytes."""

    given: _Given
    form: Format
    content: bytes

    @property
    def name(self) -> str:
        return self.given.path.name


class _InJson(msgspec.Struct):
    manifest: msgspec.Raw


def check_files(
    store: Store,
    audit: Path,
    given: Sequence[Path],
    manifest: Path | None,
    vouching: Sequence[Path] = (),
) -> Iterator[Check]:
    """Check files that were exported from an audit.

    Parameters
    ----------
    audit : Path
        Where its file is: exported files are looked for beside it.
    given : sequence of Path
        Files, or folders of them. Without any, files are looked for beside the audit, and where
        they were written.
    manifest : Path, optional
        A manifest that was given too: its signature is checked where one stands beside it.
    vouching : sequence of Path
        Certificates that the reader trusts. Where there are any, who signed has to go back to one
        of them.

    Yields
    ------
    Check
        Nothing where the log tells of no export, and nothing was given.

    Raises
    ------
    ReportError
        When a file that was given cannot be read.
    """
    entries = store.log_entries()
    logged = exported_files(entries)
    listed = () if manifest is None else _listed(manifest)
    names = {each.name for each in logged}
    # an audit on a read-only disk logs nothing: then the manifest alone tells
    recorded = (*logged, *(each for each in listed if each.name not in names))
    if not recorded and not given and manifest is None:
        return
    strange = [each for each in listed if each.name in names and not _among(each, logged)]
    there = list(_given(recorded, given) if given else _found(recorded, audit))
    named = {path for path in given if path.is_file()}
    # who names single files does not ask about others
    only = bool(given) and len(named) == len(given)
    yield _compared(recorded, there, strange, listed if given else (), named=named, only=only)
    reports = [
        _Read(each, form, _content(each.path)) for each in there if (form := _form(each.path))
    ]
    pdfs = [each for each in reports if each.form == "pdf"]
    yield from _signatures(pdfs, manifest, [_content(path) for path in vouching])
    if reports or manifest is not None:
        yield _attached(store, entries, reports, manifest)
    if reports:
        yield _remade(store, entries, reports)


def anchor_of(manifest: Path) -> Anchor:
    """Read what a manifest, or a report's PDF with one in it, says of the log.

    Raises
    ------
    ReportError
        When it is neither.
    """
    text = _read(manifest)
    return Anchor(text.log.entries, text.log.head, manifest.name, text.audit)


class _Log(msgspec.Struct):
    entries: int
    head: str


class _Sidecar(msgspec.Struct):
    """What is needed of a manifest (`fairdesk.report.provenance.manifest`)."""

    audit: str
    log: _Log
    files: tuple[ExportOf, ...] = ()
    choice: Choice | None = None


def _read(manifest: Path) -> _Sidecar:
    content = _manifest_bytes(manifest)
    if content is None:
        raise ReportError(
            f"“{manifest.name}” does not contain a manifest.",
            remedy="Choose the manifest that was exported with the report.",
        )
    try:
        return msgspec.json.decode(content, type=_Sidecar)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ReportError(
            f"“{manifest.name}” is not a manifest of an audit.",
            why=f"{error}.",
            remedy="Choose the manifest that was exported with the report.",
        ) from error


def _manifest_bytes(manifest: Path) -> bytes | None:
    """Return a manifest, or the one in a report."""
    content, form = _content(manifest), _form(manifest)
    return _manifest_in(content, form) if form else content


def _listed(manifest: Path) -> tuple[ExportedFile, ...]:
    """Return the files that a manifest tells of: they stood beside it."""
    return tuple(
        ExportedFile(
            each.name, str(manifest.absolute().with_name(each.name)), each.sha256, each.size
        )
        for each in _read(manifest).files
    )


def _among(file: ExportedFile, logged: Sequence[ExportedFile]) -> bool:
    return any((each.name, each.sha256) == (file.name, file.sha256) for each in logged)


def _found(files: Sequence[ExportedFile], audit: Path) -> Iterator[_Given]:
    """Look for exported files beside the audit, and where they were written."""
    latest = {(each.name, each.path): each for each in files}
    for each in latest.values():
        others = {file.sha256 for file in latest.values() if file.path != each.path}
        places = (audit.parent / base_name(each.path), audit.parent / each.name, Path(each.path))
        for place in filter(Path.is_file, places):
            digest = _fingerprint(place)
            # what was written elsewhere under the same name is compared as that
            if place == Path(each.path) or digest not in others - {each.sha256}:
                yield _Given(place, digest, each)
                break


def _given(recorded: Sequence[ExportedFile], given: Sequence[Path]) -> Iterator[_Given]:
    """Find what the log tells of files: by their fingerprints, else by their names."""
    by_content = {each.sha256: each for each in recorded}
    by_name = {base_name(each.path): each for each in recorded} | {
        each.name: each for each in recorded
    }
    for path in given:
        files = [path]
        if path.is_dir():
            files = [each for each in sorted(path.rglob("*")) if each.is_file()]
        for file in files:
            digest = _fingerprint(file)
            yield _Given(file, digest, by_content.get(digest) or by_name.get(file.name))


def _compared(
    files: Sequence[ExportedFile],
    there: Sequence[_Given],
    strange: Sequence[ExportedFile],
    listed: Sequence[ExportedFile],
    *,
    named: set[Path],
    only: bool,
) -> Check:
    tally = Tally(FILES)
    for file in strange:
        tally.differ(
            f"The manifest lists “{file.name}” with the SHA-256 hash {file.sha256[:12]}…, and "
            "the audit log does not."
        )
    of_manifest = {each.name: each for each in listed}
    for each in there:
        meant = of_manifest.get(each.path.name)
        if meant is not None and not _is(each, meant):
            tally.differ(
                f"“{each.path.name}” is not the one that the manifest lists: that has the "
                f"SHA-256 hash {meant.sha256[:12]}…."
            )
        if each.recorded is None:
            if each.path in named and not _accompanies(each.path):
                tally.differ(f"“{each.path.name}” is not recorded in the audit log.")
        elif each.same:
            tally.agree()
        elif not _begins_as(each.path, each.recorded):
            tally.differ(
                f"“{each.path.name}” was exported with the SHA-256 hash "
                f"{each.recorded.sha256[:12]}…; it is {each.sha256[:12]}… now."
            )
        elif _signed_since(_content(each.path), each.recorded.size):
            tally.agree()
            tally.remark(
                f"“{each.path.name}” is unchanged since it was exported, and was signed since."
            )
        else:
            tally.differ(
                f"“{each.path.name}” begins as it was exported, but more was added to it than "
                "valid, invisible signatures: it may show something else."
            )
    names = {each.recorded.name for each in there if each.recorded is not None}
    for name in sorted({each.name for each in files} - names) if not only else ():
        tally.leave(f"“{name}” was exported, but is missing here.")
    if not files:
        tally.remark("The audit log does not record any exported file.")
    return tally.check()


def _accompanies(path: Path) -> bool:
    """Return whether a file goes with an export without being named in the log: it came later."""
    return path.suffix == signing.SUFFIX or path.name.endswith("manifest.json")


def _begins_as(path: Path, file: ExportedFile) -> bool:
    """Return whether a PDF begins with an exported one: signatures are added at the end."""
    if _form(path) != "pdf" or path.stat().st_size <= file.size:
        return False
    with path.open("rb") as stream:
        return hashlib.sha256(stream.read(file.size)).hexdigest() == file.sha256


def _is(each: _Given, file: ExportedFile) -> bool:
    """Return whether a file is one that is told of, or was signed since."""
    return each.sha256 == file.sha256 or (
        _begins_as(each.path, file) and _signed_since(_content(each.path), file.size)
    )


def _signed_since(content: bytes, size: int) -> bool:
    """Return whether a PDF, whose first bytes are known, got signatures since, and nothing else."""
    try:
        signatures = signing.check_pdf(content)
    except ReportError:
        return False
    return (
        bool(signatures) and all(each.holds for each in signatures) and only_signed(content, size)
    )


def _signatures(
    pdfs: Sequence[_Read], manifest: Path | None, roots: Sequence[bytes]
) -> Iterator[Check]:
    tally = Tally(SIGNATURES)

    def tell(name: str, signature: signing.Signature) -> None:
        good = signature.holds and (signature.trusted or not roots)
        tally.compare(good, f"“{name}”: {signature.said}")
        if good:
            tally.remark(f"“{name}”: {signature.said}")

    for each in pdfs:
        try:
            for signature in signing.check_pdf(each.content, roots):
                tell(each.name, signature)
        except ReportError as error:
            tally.differ(f"“{each.name}”: {error}")
    if manifest is not None:
        beside = manifest.with_name(manifest.name + signing.SUFFIX)
        if beside.is_file():
            try:
                tell(manifest.name, signing.check_file(_content(manifest), _content(beside), roots))
            except ReportError as error:
                tally.differ(f"“{beside.name}”: {error}")
        else:
            tally.remark(f"The manifest has no companion signature “{beside.name}”.")
    check = tally.check()
    if check.tried or check.remarks:
        yield check


def _attached(
    store: Store, entries: Sequence[LogEntry], reports: Sequence[_Read], manifest: Path | None
) -> Check:
    """Hold the manifest that was given, and those in reports, against the audit."""
    tally = Tally(ATTACHED)
    if manifest is not None:
        compare_manifest(tally, manifest.name, _manifest_bytes(manifest) or b"", store, entries)
    for each in reports:
        found = _manifest_in(each.content, each.form)
        if found is None:
            tally.leave(f"“{each.name}” does not contain a manifest.")
        elif each.given.recorded is not None or _sidecar(found) is not None:
            # what came of a check is a report, too, and no report of the audit
            compare_manifest(tally, each.name, found, store, entries)
    return tally.check()


def _remade(store: Store, entries: Sequence[LogEntry], reports: Sequence[_Read]) -> Check:
    """Make each report once more, where the audit has not gone on; other versions may differ."""
    tally = Tally(REMADE)
    other = [f"{name} {was} then, {there} now" for name, was, there in other_versions(store.spec)]
    for each in reports:
        name, content, recorded = each.name, each.content, each.given.recorded
        if recorded is None:
            tally.leave(f"“{name}” is not a report recorded in the audit log.")
            continue
        inside = _sidecar(_manifest_in(content, each.form) or b"")
        if _went_on(entries, recorded, inside):
            tally.leave(f"The audit has changed since “{name}” was made.")
            continue
        choice = (inside.choice if inside is not None else None) or store.choice()
        try:
            again = _again(store, choice, each.form)
        except FairDeskError as error:
            tally.differ(f"“{name}” cannot be made again: {error}")
            continue
        if content == again or (
            each.form == "pdf" and content.startswith(again) and _signed_since(content, len(again))
        ):
            tally.agree()
        elif other:
            tally.leave(
                f"“{name}” comes out differently, with different versions: {', '.join(other)}."
            )
        else:
            tally.differ(f"“{name}” differs from the report that the audit gives now.")
    return tally.check()


def _again(store: Store, choice: Choice, form: Format) -> bytes:
    match form:
        case "pdf":
            return make_pdf(store, choice)
        case "html":
            return html.page(make_report(store, choice)).encode()
        case "json":
            return structured(make_report(store, choice))


def _went_on(entries: Sequence[LogEntry], file: ExportedFile, inside: _Sidecar | None) -> bool:
    """Return whether anything was decided or done after a file was exported.

    An audit that could not be written to logs no export: then the file itself says when it was.
    """
    first = max(
        (
            place
            for place, entry in enumerate(entries, start=1)
            if any(each == file for each in exported_files([entry]))
        ),
        default=0 if inside is None else max(inside.log.entries, 0),
    )
    return any(entry.kind not in PASSING for entry in entries[first:])


def _sidecar(manifest: bytes) -> _Sidecar | None:
    try:
        return msgspec.json.decode(manifest, type=_Sidecar)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _manifest_in(document: bytes, form: Format) -> bytes | None:
    """Return the manifest that stands in a report; ``None`` where there is none."""
    match form:
        case "pdf":
            return _attachment(document)
        case "html":
            found = _IN_PAGE.search(document)
            try:
                return base64.b64decode(found[1]) if found else None
            except ValueError:
                return None
        case "json":
            try:
                return bytes(msgspec.json.decode(document, type=_InJson).manifest)
            except (msgspec.MsgspecError, UnicodeDecodeError):
                return None


def _attachment(document: bytes) -> bytes | None:
    """Return the JSON file that is attached to a PDF."""
    from pyhanko.pdf_utils.misc import PdfError  # noqa: PLC0415 - only where there is a PDF
    from pyhanko.pdf_utils.reader import PdfFileReader  # noqa: PLC0415

    try:
        names = PdfFileReader(io.BytesIO(document)).root["/Names"]["/EmbeddedFiles"]["/Names"]
        for place in range(0, len(names), 2):
            if str(names[place]).endswith(".json"):
                data: bytes = names[place + 1]["/EF"]["/F"].data
                return data
    except (PdfError, *DAMAGE):
        # a damaged file, or one that nothing is attached to
        return None
    return None


def _form(path: Path) -> Format | None:
    """Return in which form a file is a report; ``None`` where it is none."""
    with _reading(path), path.open("rb") as stream:
        start = stream.read(max(map(len, _STARTS)))
    return next((form for known, form in _STARTS.items() if start.startswith(known)), None)


def _content(path: Path) -> bytes:
    with _reading(path):
        if path.stat().st_size > _MOST_BYTES:
            raise ReportError(f"“{path.name}” is too large to be read.")
        return path.read_bytes()


def _fingerprint(path: Path) -> str:
    with _reading(path):
        return sha256(path)


def _reading(path: Path) -> AbstractContextManager[None]:
    remedy = "Check its name and your permission to read it."
    return system_errors(ReportError, f"“{path}” cannot be read.", remedy)
