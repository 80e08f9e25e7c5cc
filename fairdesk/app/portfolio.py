"""The audits of a portfolio, one after the other; and one overview of their best answers."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path
from time import monotonic
from typing import Literal

import msgspec

from fairdesk import __version__
from fairdesk.answers import Answer, Question
from fairdesk.app.audit import Question as AuditQuestion
from fairdesk.app.audit import audit
from fairdesk.app.outputs import AUDIT_FILE, make_folder
from fairdesk.audit.plan.spec import now
from fairdesk.audit.store.records import RunState
from fairdesk.audit.store.store import Store
from fairdesk.audit.worker.client import Worker
from fairdesk.charts.kinds.shares import Multiples, Panel, on_one_scale
from fairdesk.document.blocks import Callout, Chart, Fact, Grid, Report, Section, Text, chart_block
from fairdesk.errors import FairDeskError, ReportError, system_errors
from fairdesk.files import sha256
from fairdesk.report.document import Summary, summarised, with_drawings
from fairdesk.report.export.tables import write_rows
from fairdesk.report.render import html, pdf
from fairdesk.report.writing import replacing
from fairdesk.wording import words
from fairdesk.wording.language import Evidence

log = logging.getLogger(__name__)
#: What is known of the audits, in the folder of their folders.
LEDGER = "portfolio.json"
_LEDGER_FORMAT = "fairdesk-portfolio", 1
#: A process for a model, and whether it was stopped; see `fairdesk.cli.terminal`.
StoppableWorker = Callable[[], AbstractContextManager[tuple[Worker, Callable[[], bool]]]]


class Entry(msgspec.Struct, frozen=True):
    """One audit of a portfolio.

    Attributes
    ----------
    name : str
        Its name, which is also that of its folder.
    question : AuditQuestion
        What is audited.
    """

    name: str
    question: AuditQuestion


class Standing(msgspec.Struct, frozen=True):
    """What became of an audit.

    Attributes
    ----------
    state : str
        ``"done"``, ``"failed"``, ``"stopped"``, or ``"open"``: not run yet.
    reason : str
        Why it failed, whole sentences; else empty.
    fingerprint : str
        Of what was asked and of the files that it is about; empty where a file cannot be read.
    seconds : float
        How long it took.
    ended : str
        When: UTC, ISO 8601, to the second.
    """

    state: Literal["done", "failed", "stopped", "open"] = "open"
    reason: str = ""
    fingerprint: str = ""
    seconds: float = 0.0
    ended: str = ""


class _Ledger(msgspec.Struct, frozen=True):
    format: str
    version: int
    audits: dict[str, Standing]


def standings(folder: Path) -> dict[str, Standing]:
    """Return what is known of the audits in a folder, by name.

    Raises
    ------
    ReportError
        When the file that says so cannot be read.
    """
    path = folder / LEDGER
    what = f"The record of the portfolio “{path}” cannot be read."
    remedy = "Delete it to run all audits again, or choose another folder with --out."
    try:
        with system_errors(ReportError, what, remedy):
            found = msgspec.json.decode(path.read_bytes(), type=_Ledger)
    except ReportError:
        if not path.exists():
            return {}
        raise
    except msgspec.MsgspecError as error:
        raise ReportError(what, why=f"It is damaged: {error}.", remedy=remedy) from error
    if (found.format, found.version) != _LEDGER_FORMAT:
        raise ReportError(what, why="Another version of FairDesk wrote it.", remedy=remedy)
    return found.audits


def run_portfolio(
    entries: Sequence[Entry],
    folder: Path,
    stoppable: StoppableWorker,
    begin: Callable[[Entry], Callable[[RunState], None]],
    ended: Callable[[Entry, Standing], None],
) -> bool:
    """Run the audits that are not done yet, or whose question or files have changed.

    Parameters
    ----------
    entries : sequence of Entry
        The portfolio, in its order. Names are unique.
    folder : Path
        Where each has a folder of its own; made when it is missing.
    stoppable : callable
        Makes the process for a model. Stopping it ends the portfolio after the files of this
        audit are written.
    begin : callable
        Told each audit that is run; returns what is told its states.
    ended : callable
        Told each audit with its standing, also one that is not run again.

    Returns
    -------
    bool
        Whether all audits were looked at; not where it was stopped.

    Raises
    ------
    ReportError
        When the folder, or the record of what is done, cannot be read or written. An audit that
        fails is no error: its standing says why.
    """
    make_folder(folder)
    known = standings(folder)
    hashed = cache(sha256)
    for entry in entries:
        place, before = folder / entry.name, known.get(entry.name, Standing())
        fingerprint = _fingerprint(entry.question, hashed)
        same = bool(fingerprint) and before.fingerprint == fingerprint
        if before.state == "done" and same and (place / AUDIT_FILE).exists():
            ended(entry, before)
            continue
        began = monotonic()
        with stoppable() as (worker, stopped):
            state, reason = _run(worker, entry, place, begin(entry), stopped)
        known[entry.name] = Standing(state, reason, fingerprint, monotonic() - began, now())
        with replacing(folder / LEDGER) as draft:
            ledger = _Ledger(*_LEDGER_FORMAT, known)
            draft.write_bytes(msgspec.json.format(msgspec.json.encode(ledger), indent=1))
        ended(entry, known[entry.name])
        if state == "stopped":
            return False
    return True


def _run(
    worker: Worker,
    entry: Entry,
    place: Path,
    watch: Callable[[RunState], None],
    stopped: Callable[[], bool],
) -> tuple[Literal["done", "failed", "stopped"], str]:
    """Make one audit; return its state, and why it failed."""
    try:
        outcome = audit(worker, entry.question, place, watch, stopped)
    except FairDeskError as error:
        if stopped():
            return "stopped", ""
        log.warning("%s failed: %s", entry.name, error, exc_info=True)
        return "failed", str(error)
    except Exception as error:
        # a defect in one audit is no reason to lose the others
        log.exception("%s failed unexpectedly", entry.name)
        return "failed", f"Something unexpected went wrong ({type(error).__name__}: {error})."
    if outcome.failure:
        return "failed", outcome.failure
    if outcome.nothing_measured and not (stopped() or outcome.stopped):
        return "failed", " ".join(outcome.unmeasured)
    return ("stopped", "") if stopped() or outcome.stopped else ("done", "")


def _fingerprint(question: AuditQuestion, hashed: Callable[[Path], str]) -> str:
    """Return the SHA-256 of a question, with that of each file in the place of its name."""
    subject = question.subject
    paths = (subject.data, subject.model, subject.map, *subject.companions)
    try:
        files = [None if path is None else hashed(path) for path in paths]
    except OSError:
        return ""
    bare = msgspec.structs.replace(subject, data=Path(), model=None, map=None, companions=())
    asked = msgspec.structs.replace(question, subject=bare)
    text = msgspec.json.encode((asked, files), enc_hook=str, order="deterministic")
    return hashlib.sha256(text).hexdigest()


FORMAT, VERSION = "fairdesk-overview", 1
#: Charts that are drawn as one picture, which is not divided between pages.
_TOGETHER = 6
_KIND = "Overview of several audits"
_PROMISE = (
    "This overview repeats the best answer of each audit to each question, as in the summary of "
    "its report. Each audit has a file of its own, with its evidence, methods and limits. Audits "
    "of different data, models or protected attributes are not comparable by their figures alone."
)
_STATES = {"done": "done", "failed": "failed", "stopped": "stopped", "open": "not run yet"}
_UNFINISHED = {
    "stopped": "It was stopped before its end. The same command continues.",
    "open": "It was not run yet.",
}


class Answered(msgspec.Struct, frozen=True):
    """An audit's answer to a question.

    Attributes
    ----------
    question : str
        Its key, as in the JSON of an audit's report: ``"groups"``, ``"share"``, ...
    label, value, sentence : str
        The figure's name, the figure as text, and the whole sentence. The value is empty where
        nothing is known; then the sentence says why.
    evidence : str
        What it rests on; empty where nothing is known.
    """

    question: str
    label: str
    value: str
    sentence: str
    evidence: Evidence


class Audited(msgspec.Struct, frozen=True):
    """One audit of the overview.

    Attributes
    ----------
    name : str
        Its name in the portfolio.
    state : str
        ``"done"``, ``"failed"``, ``"stopped"``, or ``"open"``: not run yet.
    reason : str
        Why it failed, or why its file cannot be read; else empty.
    file : str
        The audit file; empty where there is none.
    sha256 : str
        Its SHA-256 hash.
    identity : str
        The audit's id, as on every page of its report.
    final : bool
        Whether its report is final.
    headline : str
        The one figure that stands for the audit, with its sentence.
    answers : tuple[Answered, ...]
        In the order of the questions.
    """

    name: str
    state: str
    reason: str = ""
    file: str = ""
    sha256: str = ""
    identity: str = ""
    final: bool = False
    headline: str = ""
    answers: tuple[Answered, ...] = ()

    def value(self, question: Question) -> str:
        """Return the figure that answers a question; empty where there is none."""
        return next((each.value for each in self.answers if each.question == question.value), "")


class Overview(msgspec.Struct, frozen=True):
    """All audits of a portfolio.

    Attributes
    ----------
    title : str
        The portfolio's.
    audits : tuple[Audited, ...]
        In the order of its plan.
    moment : str
        The newest moment of all reports; UTC, ISO 8601.
    format, version, made_with : str
        What kind of file this is, and what made it.
    """

    title: str
    audits: tuple[Audited, ...]
    moment: str
    format: str = FORMAT
    version: int = VERSION
    made_with: str = f"FairDesk {__version__}"


def overview(
    title: str,
    folder: Path,
    standings: Iterable[tuple[str, Standing]],
    begin: Callable[[str], None] = lambda _name: None,
) -> tuple[Overview, Report]:
    """Read the audits of a portfolio, and put their answers together.

    Parameters
    ----------
    standings : iterable of (str, Standing)
        The audits by name, in their order.

    Returns
    -------
    Overview
        What is written as JSON and CSV.
    Report
        The same as pages, with small charts.
    """
    audits, summaries = [], {}
    for name, standing in standings:
        begin(name)
        path = folder / name / AUDIT_FILE
        if not path.exists():
            audits.append(Audited(name, standing.state, standing.reason))
            continue
        try:
            with Store.read(path) as store:
                summary = summaries[name] = summarised(store)
        except FairDeskError as error:
            audits.append(Audited(name, "failed", str(error), str(path)))
            continue
        audits.append(_audited(name, standing, path, summary))
    moments = sorted(each.moment for each in summaries.values())
    found = Overview(title, tuple(audits), moments[-1] if moments else "")
    return found, _report(found, summaries)


def _audited(name: str, standing: Standing, path: Path, summary: Summary) -> Audited:
    answered = tuple(
        Answered(
            each.question.value,
            each.said.label,
            each.said.value if each.known else "",
            each.said.sentence,
            each.evidence if each.known else "",
        )
        for each in summary.answers
    )
    return Audited(
        name=name,
        state=standing.state,
        reason=standing.reason,
        file=str(path),
        sha256=sha256(path),
        identity=summary.identity,
        final=summary.final,
        headline=summary.headline.sentence,
        answers=answered,
    )


def _report(found: Overview, summaries: dict[str, Summary]) -> Report:
    """Set the overview as pages."""
    done = sum(each.state == "done" for each in found.audits)
    read = [each for each in found.audits if each.name in summaries]
    final = bool(read) and all(each.final and each.state == "done" for each in found.audits)
    sections = [_table(found)]
    for question in Question:
        answered = [
            (name, each)
            for name, summary in summaries.items()
            for each in summary.answers
            if each.question is question and each.known
        ]
        if answered:
            sections.append(_of_question(question, answered))
    made = Report(
        title=found.title,
        header=found.title[:80],
        kind=_KIND,
        status="Final" if final else "Draft",
        identity=_KIND,
        cover=(
            Fact("Audits", f"{words.number(done)} of {words.number(len(found.audits))} done"),
            Fact("As of", found.moment[:10]),
            Fact("Made with", found.made_with),
        ),
        promise=_PROMISE,
        sections=tuple(sections),
        manifest=msgspec.json.encode(found).decode(),
        moment=found.moment or "2000-01-01T00:00:00+00:00",
    )
    return with_drawings(made)


def _table(found: Overview) -> Section:
    """Return the table of all audits, and why some are missing."""
    asked = [each for each in Question if any(audit.value(each) for audit in found.audits)]
    rows = tuple(
        (each.name, *(each.value(question) or "–" for question in asked), _STATES[each.state])
        for each in found.audits
    )
    heads = ("Audit", *(_HEADS[each] for each in asked), "State")
    grid = Grid(
        header=heads,
        rows=rows,
        widths=(2.0, *(1.0 for _ in asked), 1.0),
        right=tuple(range(1, len(asked) + 1)),
        caption="The figure that answers each question, by audit; – where it is not answered",
    )
    missing = tuple(
        Callout(f"{each.name}.", each.reason or _UNFINISHED.get(each.state, ""))
        for each in found.audits
        if each.state != "done" or each.reason
    )
    return Section("Audits", (grid, *missing), fresh=True)


#: The columns of the table: what each question is about, in a word or two.
_HEADS = {
    Question.GROUPS: "Groups",
    Question.SHARE: "Decision changes",
    Question.EXAMPLE: "Example",
    Question.CERTAIN: "Certified",
    Question.SUBGROUPS: "Subgroups",
    Question.MITIGATION: "Mitigation",
}


def _of_question(question: Question, answered: Sequence[tuple[str, Answer]]) -> Section:
    """Return a question with the answers of all audits, as a table and as small charts."""
    rows = tuple((name, each.said.value, each.said.label) for name, each in answered)
    grid = Grid(
        header=("Audit", "Figure", "What it is"),
        rows=rows,
        widths=(1.4, 1.0, 2.4),
        right=(1,),
        caption=question.title,
    )
    sentences = (Text(each.said.sentence, lead=f"{name}:") for name, each in answered)
    return Section(question.title, (grid, *_charts(question, answered), *sentences), fresh=True)


def _charts(question: Question, answered: Sequence[tuple[str, Answer]]) -> Iterator[Chart]:
    """Yield the small charts of the answers, on one scale, a few to a picture."""
    with_chart = [(name, each, each.chart) for name, each in answered if each.chart is not None]
    charts = on_one_scale([chart for _, _, chart in with_chart])
    panels = [
        Panel(name, each.said.value, chart)
        for (name, each, _), chart in zip(with_chart, charts, strict=True)
    ]
    for first in range(0, len(panels), _TOGETHER):
        part = f", from {panels[first].name}" if first else ""
        pictures = Multiples(panels[first : first + _TOGETHER])
        yield chart_block(pictures, f"{question.title} By audit{part}")


#: What an overview is written as.
FILES = ("overview.csv", "overview.json", "overview.html", "overview.pdf")
_PARTS = ("value", "label", "evidence")
_HEADER = (
    *("name", "state", "reason", "headline"),
    *(f"{question.value}_{part}" for question in Question for part in _PARTS),
    *("file", "sha256"),
)


def write_overview(found: Overview, report: Report, folder: Path) -> tuple[Path, ...]:
    """Write an overview into the folder of its portfolio; return the files.

    The same audit files give the same overview, byte for byte.

    Raises
    ------
    ReportError
        When a file cannot be written.
    """
    paths = tuple(folder / name for name in FILES)
    write_rows(paths[0], _HEADER, map(_row, found.audits))
    contents = (
        msgspec.json.format(msgspec.json.encode(found), indent=1),
        html.page(report).encode(),
        pdf.pdf(report),
    )
    for path, content in zip(paths[1:], contents, strict=True):
        with replacing(path) as draft:
            draft.write_bytes(content)
    return paths


def _row(audit: Audited) -> list[str]:
    """Return an audit's row: the figure, its name and its evidence for each question."""
    answers = {each.question: each for each in audit.answers}
    cells = (
        getattr(answers[question.value], part) if question.value in answers else ""
        for question in Question
        for part in _PARTS
    )
    own = (audit.name, audit.state, audit.reason, audit.headline)
    return [*own, *cells, audit.file, audit.sha256]
