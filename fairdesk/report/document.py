"""The report as a PDF: tagged, reproducible, set by typst from the audit file."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from fairdesk.audit.details import Choice
from fairdesk.audit.spec import AuditSpec
from fairdesk.audit.store import RunRecord, Store
from fairdesk.report import about_repairs, evidence, pages, words
from fairdesk.report.blocks import Fact, Report
from fairdesk.report.gathering import gather
from fairdesk.report.language import using
from fairdesk.report.material import Made, Material, about_groups
from fairdesk.report.sections import sections
from fairdesk.report.status import status
from fairdesk.report.writing import replacing

#: A title longer than this is cut in the running header, never on the cover.
_HEADER = 80


def write_pdf(store: Store, path: Path, choice: Choice | None = None) -> None:
    """Write the whole report.

    The same audit file gives the same bytes: all times come from the audit. Set in typst's own
    fonts; a report with characters that they lack is set with the system's fonts as well, and
    without the promise of PDF/UA and PDF/A when those lack them too.

    Raises
    ------
    ReportError
        When the file cannot be written.
    """
    document = make_pdf(store, choice)
    with replacing(path) as draft:
        draft.write_bytes(document)


def make_pdf(store: Store, choice: Choice | None = None) -> bytes:
    """Make the report's PDF in memory; see `write_pdf`."""
    choice = choice or store.choice()
    return pages.pdf(make_report(store, choice), choice.standard)


def make_report(store: Store, choice: Choice | None = None) -> Report:
    """Make the report's content, as the auditor wants it, or as is told here."""
    choice = choice or store.choice()
    with using(choice.language):
        return _made_report(store, choice)


def _made_report(store: Store, choice: Choice) -> Report:
    spec, runs, log = store.spec, store.runs(), store.log_entries()
    details = store.details()
    material = Material(
        spec=spec,
        table=store.table(),
        runs=runs,
        progress={run.id: store.progress(run.id) for run in runs},
        gathered=gather(store),
        log=log,
        made={run.id: tuple(_made(store, run)) for run in runs},
        details=details,
        choice=choice,
    )
    moment = evidence.last_moment(spec, runs)
    title = spec.title.strip() or "Untitled audit"
    standing = status(log, choice.template).word
    return Report(
        title=title,
        header=title if len(title) <= _HEADER else title[: _HEADER - 1].rstrip() + "…",
        kind=_kind(material),
        status=standing,
        identity=evidence.identity(spec),
        cover=_cover(spec, moment, standing),
        promise=_promise(material),
        sections=sections(material),
        manifest=evidence.manifest(material),
        template=choice.template,
        language=choice.language,
        paper=choice.paper,
        moment=moment.isoformat(),
        author=material.told("auditor"),
    )


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


def _cover(spec: AuditSpec, moment: datetime, standing: str) -> tuple[Fact, ...]:
    model, source = (re.split(r"[/\\]", path)[-1] for path in (spec.model.path, spec.data.path))
    return (
        Fact("Decisions", f"the column {words.quoted(spec.predictions)}; no model was asked")
        if spec.predictions
        else Fact("Model", f"{model} ({spec.model.format})"),
        Fact("Data", f"{source}, {words.counted(spec.data.rows, spec.person)}"),
        Fact("Compared by", _compared_by(spec)),
        Fact("Date", evidence.date_text(moment)),
        Fact("Status", standing),
        Fact("Audit", evidence.identity(spec)),
        Fact("Made with", f"FairDesk {spec.versions.get('FairDesk', '')}".strip()),
    )


def _compared_by(spec: AuditSpec) -> str:
    """Name what tells people apart: protected attributes, and terms in a text."""
    domain = spec.domain
    texts = [f"terms in {words.quoted(domain.names[i])}" for i in domain.texts.tolist()]
    return words.joined([*map(words.quoted, words.grouping_names(domain)), *texts])
