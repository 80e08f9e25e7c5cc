"""The report as a PDF: tagged, reproducible, set by typst from the audit file."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from fairdesk.audit.spec import AuditSpec
from fairdesk.audit.store import RunRecord, Store
from fairdesk.report import about_repairs, evidence, words
from fairdesk.report.blocks import Fact, Report
from fairdesk.report.gathering import gather
from fairdesk.report.material import Made, Material, about_groups
from fairdesk.report.sections import sections
from fairdesk.report.writing import replacing

if TYPE_CHECKING:
    from typst import PDFStandard

_TEMPLATE = Path(__file__).with_name("template.typ")
#: Accessible (PDF/UA-1), to be kept (PDF/A-3a, which allows the manifest to be attached).
_STANDARDS: list[PDFStandard] = ["ua-1", "a-3a"]
#: Characters that no font draws and no SVG may hold.
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff]")
#: A title longer than this is cut in the running header, never on the cover.
_HEADER = 80


def write_pdf(store: Store, path: Path) -> None:
    """Write the whole report.

    The same audit file gives the same bytes: all times come from the audit. Set in typst's own
    fonts; a report with characters that they lack is set with the system's fonts as well, and
    without the promise of PDF/UA and PDF/A when those lack them too.

    Raises
    ------
    ReportError
        When the file cannot be written.
    """
    document = make_pdf(store)
    with replacing(path) as draft:
        draft.write_bytes(document)


def make_pdf(store: Store) -> bytes:
    """Make the report's PDF in memory; see `write_pdf`."""
    import typst  # noqa: PLC0415 - 80 MB that only a report needs

    report, moment = make_report(store)
    data = {"report": msgspec.json.encode(printable(msgspec.to_builtins(report))).decode()}
    attempts: tuple[tuple[bool, list[PDFStandard]], ...] = (
        (True, _STANDARDS),
        (False, _STANDARDS),
        (False, []),
    )
    for own_fonts_only, standards in attempts:
        try:
            return typst.compile(
                _TEMPLATE,
                root=_TEMPLATE.parent,
                ignore_system_fonts=own_fonts_only,
                sys_inputs=data,
                pdf_standards=standards,
                timestamp=moment,
            )
        except typst.TypstError as error:
            # the standards ask for a glyph for every character
            if not standards or "could not be displayed" not in error.message:
                raise
    raise AssertionError("the last attempt returns or raises")


def make_report(store: Store) -> tuple[Report, datetime]:
    """Make the report's content, and the time that it bears: that of the newest result."""
    spec, runs = store.spec, store.runs()
    material = Material(
        spec=spec,
        table=store.table(),
        runs=runs,
        progress={run.id: store.progress(run.id) for run in runs},
        gathered=gather(store),
        log=store.log_entries(),
        made={run.id: tuple(_made(store, run)) for run in runs},
    )
    moment = evidence.last_moment(spec, runs)
    title = spec.title.strip() or "Untitled audit"
    report = Report(
        title=title,
        header=title if len(title) <= _HEADER else title[: _HEADER - 1].rstrip() + "…",
        kind=_kind(material),
        status="Draft",
        identity=evidence.identity(spec),
        cover=_cover(spec, moment),
        promise=_promise(material),
        sections=sections(material),
        manifest=evidence.manifest(material),
    )
    return report, moment


def _made(store: Store, run: RunRecord) -> Iterator[Made]:
    """Give the files of the models that a repair trained."""
    for trial in about_repairs.trials_of(run.figures):
        for name, file in store.models(run.id, trial.number).items():
            content = store.model(run.id, trial.number, name)
            digest = hashlib.sha256(content).hexdigest() if content else ""
            yield Made(trial.number, name, file.told, file.size, digest)


def _kind(material: Material) -> str:
    """Say what the document is."""
    if material.spec.predictions:
        return "Audit of group outcomes"
    groups = any(about_groups(run) for run in material.runs)
    if groups and "results" in material.chapters:
        return "Audit for individual and group discrimination"
    return f"Audit for {'group' if groups else 'individual'} discrimination"


def _promise(material: Material) -> str:
    """Say what the document can show, and what not."""
    if "results" in material.chapters:
        return words.EXAMPLES
    return words.ESTIMATED_GROUPS if material.subtle else words.OBSERVED


def printable(value: object) -> object:
    """Replace characters that cannot be printed, in all texts of plain data, by a sign for them."""
    if isinstance(value, str):
        return _UNPRINTABLE.sub("\ufffd", value)
    if isinstance(value, list | tuple):
        return [printable(one) for one in value]
    if isinstance(value, dict):
        return {key: printable(one) for key, one in value.items()}
    return value


def _cover(spec: AuditSpec, moment: datetime) -> tuple[Fact, ...]:
    model, source = (re.split(r"[/\\]", path)[-1] for path in (spec.model.path, spec.data.path))
    return (
        Fact("Decisions", f"the column {words.quoted(spec.predictions)}; no model was asked")
        if spec.predictions
        else Fact("Model", f"{model} ({spec.model.format})"),
        Fact("Data", f"{source}, {words.counted(spec.data.rows, spec.person)}"),
        Fact("Compared by", _compared_by(spec)),
        Fact("Date", evidence.date_text(moment)),
        Fact("Status", "Draft: not signed off"),
        Fact("Audit", evidence.identity(spec)),
        Fact("Made with", f"FairDesk {spec.versions.get('FairDesk', '')}".strip()),
    )


def _compared_by(spec: AuditSpec) -> str:
    """Name what tells people apart: protected attributes, and terms in a text."""
    domain = spec.domain
    texts = [f"terms in {words.quoted(domain.names[i])}" for i in domain.texts.tolist()]
    return words.joined([*map(words.quoted, words.grouping_names(domain)), *texts])
