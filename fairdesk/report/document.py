"""The report of an audit: its content, made from the audit file alone, and its files."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

import msgspec

from fairdesk.answers import Answer
from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.records import Choice, RunRecord
from fairdesk.audit.store.store import Store
from fairdesk.charts import svg
from fairdesk.charts.shapes import LEAD, Laid, Paper, extent
from fairdesk.document.answers import headline
from fairdesk.document.blocks import Block, Callout, Chart, Fact, Report, Section
from fairdesk.document.board import board, unsettled
from fairdesk.errors import FairDeskError, ReportError
from fairdesk.files import sha256
from fairdesk.report.content import redaction
from fairdesk.report.content.choosing import APPENDIX, chosen, settled, with_appendix
from fairdesk.report.content.material import Gathered, Made, Material, about_groups, gather
from fairdesk.report.content.passages import TEMPLATES
from fairdesk.report.content.redacted_json import RedactedJson
from fairdesk.report.content.status import Status, obstacles, standing
from fairdesk.report.provenance import evidence
from fairdesk.report.provenance.manifest import manifest, sidecar
from fairdesk.report.provenance.signing import SUFFIX, Key
from fairdesk.report.render import html
from fairdesk.report.render import pdf as pages
from fairdesk.report.render.html import structured
from fairdesk.report.render.logo import check_logo
from fairdesk.report.sections import (
    compared,
    data,
    findings,
    methods_and_formulas,
    model,
    outcomes,
    pairs,
    results,
    system,
)
from fairdesk.report.sections.model import caveat
from fairdesk.report.sections.results import found
from fairdesk.report.sections.system import cover_facts
from fairdesk.report.templates import forms
from fairdesk.report.writing import replacing
from fairdesk.results.trials import trials_of
from fairdesk.wording import language, words
from fairdesk.wording.decisions import naming
from fairdesk.wording.language import FRAME, say

_MAKERS: dict[str, Callable[[Material], Section]] = {
    "system": system.system,
    "data": data.data,
    "model": model.model,
    "compared": compared.compared,
    "method": methods_and_formulas.method,
    "outcomes": outcomes.outcomes,
    "errors": outcomes.errors,
    "results": findings.results,
    "subtle": results.subtle,
    "certification": results.certification,
    "pairs": pairs.pairs,
    "mitigation": results.mitigation,
    "limits": methods_and_formulas.limits,
    "formulas": methods_and_formulas.formulas,
    "evidence": methods_and_formulas.appendix,
    "rules": forms.rules,
    "sign-off": system.sign_off,
}


Format = Literal["pdf", "html", "json"]
#: What stands beside a report, under its name and this.
SIDECAR = ".manifest.json"
#: A title longer than this is cut in the running header, never on the cover.
_HEADER = 80


def sections(material: Material) -> tuple[Section, ...]:
    """Make the sections of a report, in the order of its template."""
    return tuple(
        msgspec.structs.replace(
            _MAKERS[chapter](material) if chapter in _MAKERS else forms.section(material, chapter),
            key=chapter,
        )
        for chapter in material.chapters
    )


class Written(msgspec.Struct, frozen=True):
    """A report that was written.

    Attributes
    ----------
    path : Path
        The file.
    sha256 : str
        Its fingerprint.
    pages : int
        Of a PDF; else 0.
    status : str
        ``"Draft"`` or ``"Final"``.
    missing : tuple[str, ...]
        What keeps it from being final, a few words each.
    left_out : tuple[str, ...]
        What the auditor left out, by name.
    redacted : str
        What was left out of single people, a sentence; empty for nothing.
    beside : tuple[Path, ...]
        What stands beside it: the manifest, and signatures.
    signed : str
        Who signed, by the certificate; empty for nobody.
    remarks : tuple[str, ...]
        What else there is to know, a sentence each: what a PDF could not keep; why nothing was
        logged.
    """

    path: Path
    sha256: str
    pages: int
    status: str
    missing: tuple[str, ...]
    left_out: tuple[str, ...]
    redacted: str
    beside: tuple[Path, ...]
    signed: str = ""
    remarks: tuple[str, ...] = ()


def write_report(
    store: Store,
    path: Path,
    form: Format = "pdf",
    choice: Choice | None = None,
    *,
    key: Key | None = None,
    unlogged: str = "",
    go_on: Callable[[], None] = lambda: None,
) -> Written:
    """Write the whole report, the manifest beside it, and what was written into the log.

    The same audit file gives the same report, byte for byte, unless it is signed: all times come
    from the audit.

    Parameters
    ----------
    path : Path
        The file. Beside it stands the manifest, under the same name and ``.manifest.json``.
    form : str
        ``"pdf"``, ``"html"`` (one file, which needs nothing else) or ``"json"``.
    choice : Choice, optional
        How it is wanted; as the audit has it when left out.
    key : Key, optional
        Signs the PDF, and the manifest; what is no PDF is signed beside itself as well.
    unlogged : str
        Why the audit cannot be written to, a sentence; then nothing is logged, and that is said.
    go_on : callable, optional
        Called when everything is made and nothing is written yet: what it raises is the end.

    Raises
    ------
    ReportError
        When a file cannot be written, or signed.
    """
    path = path.absolute()
    if path.resolve() == store.path.resolve():
        raise ReportError(
            "The report cannot replace its audit file.",
            why=f"“{path}” is the audit file.",
            remedy="Choose another name for the report.",
        )
    choice = choice or store.choice()
    report = make_report(store, choice)
    changed = standing(store, choice.template, choice).changed
    remarks: list[str] = []
    match form:
        case "pdf":
            made = pages.document(report, choice.standard)
            content, remarks = made.content, [made.remark] if made.remark else []
            if key is not None:
                content = key.sign_pdf(content, say("The report of audit {id}", id=report.identity))
        case "html":
            content = html.page(report).encode()
        case "json":
            content = structured(report)
    go_on()
    _write(path, content)
    beside = [path.with_name(path.name + SIDECAR)]
    shown = redaction.Shown(choice.redaction, store.spec, store.table())
    manifest = RedactedJson(shown).manifest(sidecar(store, {path.name: path}).decode()).encode()
    _write(beside[0], manifest)
    if key is not None:
        for each in (beside[0],) if form == "pdf" else (path, beside[0]):
            beside.append(each.with_name(each.name + SUFFIX))
            _write(beside[-1], key.sign_file(each.read_bytes()))
    unlogged = unlogged or _log(store, [path, *beside], manifest.decode())
    return Written(
        path=path,
        sha256=sha256(path),
        pages=_page_count(content) if form == "pdf" else 0,
        status=report.status,
        missing=obstacles(choice.template, store.details(), store),
        left_out=report.left_out,
        redacted=report.redacted,
        beside=tuple(beside),
        signed="" if key is None else key.holder,
        remarks=(
            *remarks,
            *([f"It was marked as final, but is a draft again: {changed}"] if changed else []),
            *([f"Nothing could be written to the audit log: {unlogged}"] if unlogged else []),
        ),
    )


def _write(path: Path, content: bytes) -> None:
    with replacing(path) as draft:
        draft.write_bytes(content)


def _log(store: Store, files: list[Path], manifest: str) -> str:
    """Write into the log what was written; gives why that could not be done, or nothing."""
    try:
        store.exported(
            f"Exported the report to {files[0]}.", {each.name: each for each in files}, manifest
        )
    except FairDeskError as error:
        return str(error)
    return ""


def _page_count(document: bytes) -> int:
    from pyhanko.pdf_utils.reader import PdfFileReader  # noqa: PLC0415 - only a PDF needs it

    return int(PdfFileReader(io.BytesIO(document)).root["/Pages"]["/Count"])


def write_pdf(store: Store, path: Path, choice: Choice | None = None) -> None:
    """Write the report's PDF and nothing else; see `write_report`.

    Raises
    ------
    ReportError
        When the file cannot be written.
    """
    _write(path, make_pdf(store, choice))


def make_pdf(store: Store, choice: Choice | None = None) -> bytes:
    """Make the report's PDF in memory; see `write_report`."""
    choice = choice or store.choice()
    return pages.pdf(make_report(store, choice), choice.standard)


def make_report(store: Store, choice: Choice | None = None) -> Report:
    """Make the report's content, as the auditor wants it, or as is told here."""
    with _read(store, choice, final=True) as material:
        left_out = material.choice.left_out
        kept = chosen(_whole(store, material), material.choice, _dropped(material))
        return with_drawings(_saying_so(with_appendix(kept, omitted=APPENDIX in left_out)))


def described(store: Store) -> tuple[Section, ...]:
    """Describe the data, what is compared, and the model, for who may see all of it."""
    material = Material(
        *(store.spec, store.table(), store.runs(), {}, Gathered({}, Counter()), []),
        details=store.details(),
        standing=Status("Final"),
    )
    with naming(material.shown.name):
        return tuple(_MAKERS[key](material) for key in ("data", "compared", "model"))


def whole_report(store: Store, choice: Choice | None = None) -> Report:
    """Make the report with everything that it could hold, whatever was dropped.

    That is what `fairdesk.report.content.choosing.parts` lists.
    """
    with _read(store, choice, whole=True) as material:
        return _whole(store, material)


class Summary(NamedTuple):
    """What the summary of an audit's report answers.

    Attributes
    ----------
    answers : tuple[Answer, ...]
        To each question, as far as the report may show individual-level data.
    headline : statements.Statement
        The one that stands for the audit.
    identity : str
        The audit's id.
    moment : str
        The time that the report bears: UTC, ISO 8601.
    final : bool
        Whether the report is final.
    """

    answers: tuple[Answer, ...]
    headline: language.Statement
    identity: str
    moment: str
    final: bool


def summarised(store: Store) -> Summary:
    """Answer an audit's questions as far as its report may show them."""
    with _read(store) as material:
        answers = found(material)
        return Summary(
            answers,
            headline(material.spec, material.runs, answers),
            evidence.identity(material.spec),
            evidence.last_moment(material.spec, material.log).isoformat(),
            material.final,
        )


def _dropped(material: Material) -> tuple[str, ...]:
    """Return the titles of sections that were dropped."""
    gone = frozenset(material.choice.left_out)
    if not gone:
        return ()
    everything = msgspec.structs.replace(material.choice, left_out=())
    whole = dataclasses.replace(material, choice=everything)
    return tuple(each.title for each in sections(whole) if each.key in gone)


def _saying_so(report: Report) -> Report:
    """Say among the limits what the auditor left out."""
    if not report.left_out:
        return report
    sentence = FRAME["left out"].format(parts="; ".join(report.left_out))
    callout = Callout("Omitted.", sentence)
    return msgspec.structs.replace(
        report,
        sections=tuple(
            msgspec.structs.replace(each, blocks=(callout, *each.blocks))
            if each.key in ("limits", "card-caveats")
            else each
            for each in report.sections
        ),
    )


@contextmanager
def _read(
    store: Store, choice: Choice | None = None, *, final: bool = False, whole: bool = False
) -> Iterator[Material]:
    """Return what the report is made from; of a final one with what it has to keep, or all."""
    choice = choice or store.choice()
    stands = standing(store, choice.template, choice)
    if final:
        choice = settled(choice, final=stands.word == "Final")
    elif whole:
        choice = msgspec.structs.replace(choice, left_out=())
    spec, table = store.spec, store.table()
    shown = redaction.Shown(choice.redaction, spec, table)
    runs = shown.runs(store.runs(), choice.template)
    material = Material(
        spec=spec,
        table=table,
        runs=runs,
        progress={run.id: store.progress(run.id) for run in runs},
        gathered=gather(store, shown),
        log=shown.log(store.log_entries()),
        made={run.id: tuple(_made(store, run)) for run in runs},
        details=store.details(),
        choice=choice,
        standing=stands,
    )
    with naming(material.shown.name):
        yield material


def _whole(store: Store, material: Material) -> Report:
    """Make the report with all its blocks, also with those that are only shown when asked for."""
    spec, choice, shown = material.spec, material.choice, material.shown
    moment = evidence.last_moment(spec, material.log)
    title = spec.title.strip() or "Untitled audit"
    stands = material.standing.word
    people = redaction.SHORT[choice.redaction]
    return Report(
        title=title,
        header=title if len(title) <= _HEADER else title[: _HEADER - 1].rstrip() + "…",
        kind=_kind(material),
        status=stands,
        identity=evidence.identity(spec),
        cover=(
            *cover_facts(material),
            *_cover(spec, moment, stands),
            *([Fact("Individual-level data", people)] if people else []),
        ),
        promise=_promise(material),
        sections=sections(material),
        # fingerprints of runs stand in the log, also in entries that are not shown
        manifest=RedactedJson(shown).manifest(
            manifest(dataclasses.replace(material, log=store.log_entries()))
        ),
        template=choice.template,
        paper=choice.paper,
        moment=moment.isoformat(),
        author=material.filled_in("auditor"),
        redacted=shown.sentence,
        logo=check_logo(material.details.logo) if material.details.logo else "",
        caveat=caveat(spec),
        board=board(
            *(spec, material.runs, material.observed),
            unsettled(spec, material.filled_in("purpose"), material.log),
        )
        if choice.template == "plain"
        else None,
    )


def _made(store: Store, run: RunRecord) -> Iterator[Made]:
    """Yield the files of the models that a repair trained."""
    for trial in trials_of(run.figures):
        for name, file in store.models(run.id, trial.number).items():
            content = store.model(run.id, trial.number, name)
            digest = hashlib.sha256(content).hexdigest() if content else ""
            yield Made(trial.number, name, file.remark, file.size, digest)


def _kind(material: Material) -> str:
    """Say what the document is."""
    if material.choice.template != "plain":
        return TEMPLATES[material.choice.template].title
    if material.spec.predictions:
        return "Audit of group outcomes"
    groups = any(about_groups(run) for run in material.runs)
    if groups and material.one_by_one:
        return "Audit for individual and group discrimination"
    if groups:
        return "Audit for group discrimination"
    return "Audit for individual discrimination"


def _promise(material: Material) -> str:
    """Say what the document can show, and what not."""
    if material.choice.template == "ll144":
        return words.OBSERVED
    if material.one_by_one:
        return words.EXAMPLES
    return material.estimated if material.subtle else words.OBSERVED


def _cover(spec: AuditSpec, moment: datetime, stands: str) -> tuple[Fact, ...]:
    model, source = (re.split(r"[/\\]", path)[-1] for path in (spec.model.path, spec.data.path))
    return (
        Fact(
            "Decisions",
            say("the column {name}; no model was queried", name=words.quoted(spec.predictions)),
        )
        if spec.predictions
        else Fact("Model", f"{model} ({spec.model.format})"),
        Fact("Data", f"{source}, {words.counted(spec.data.rows, spec.person)}"),
        Fact("Compared by", _compared_by(spec)),
        Fact("As of", evidence.date_text(moment)),
        Fact("Status", stands),
        Fact("Audit", evidence.identity(spec)),
        Fact("Made with", f"FairDesk {spec.versions.get('FairDesk', '')}".strip()),
    )


def _compared_by(spec: AuditSpec) -> str:
    """Name what tells people apart: protected attributes, and terms in a text."""
    domain = spec.domain
    texts = [
        say("identity terms in {name}", name=words.quoted(domain.names[i]))
        for i in domain.texts.tolist()
    ]
    return words.joined([*map(words.quoted, words.grouping_names(domain)), *texts])


#: The width of every chart: the text width of the report's page.
WIDTH = 460.0


def paper(width: float = WIDTH) -> Paper:
    """Return what charts are laid out on."""
    return Paper(width, LEAD, lambda text, size, bold: extent(text, size, bold=bold))


class Shown(Protocol):
    """A chart of the kit."""

    def alt(self) -> str:
        """Tell it in words."""

    def lay_out(self, paper: Paper) -> Laid:
        """Put everything in its place."""


class Picture(NamedTuple):
    """A chart: its SVG, and the same in words."""

    svg: str
    alt: str


def with_drawings(report: Report) -> Report:
    """Return a report whose charts are drawn for its page."""
    board = report.board
    if board is not None and board.chart is not None:
        board = msgspec.structs.replace(board, chart=_drawn_chart(board.chart, WIDTH))
    return msgspec.structs.replace(
        report,
        board=board,
        sections=tuple(
            msgspec.structs.replace(section, blocks=tuple(map(_drawn_block, section.blocks)))
            for section in report.sections
        ),
    )


def _drawn_block(block: Block) -> Block:
    match block:
        case Chart():
            return _drawn_chart(block, WIDTH)
    return block


def _drawn_chart(chart: Chart, width: float) -> Chart:
    if chart.drawing is None:
        return chart
    picture = drawn(chart.drawing, chart.alt, width)
    return msgspec.structs.replace(chart, drawing=None, svg=picture.svg)


def drawn(chart: Shown, alt: str = "", width: float = WIDTH) -> Picture:
    """Draw a chart; ``alt`` says it in other words than its own."""
    laid, described = chart.lay_out(paper(width)), alt or chart.alt()
    return Picture(svg.document(width, laid.height, svg.drawn(laid.shapes), described), described)
