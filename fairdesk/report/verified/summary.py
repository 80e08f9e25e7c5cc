"""What came of checking an audit again, or of running it again: in words, as JSON, as a report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from fairdesk.audit.plan.spec import AuditSpec, now, versions
from fairdesk.audit.store.records import LogEntry, RunState
from fairdesk.audit.store.store import Store
from fairdesk.audit.verify.checks import VerifyRequest, recheck
from fairdesk.audit.verify.record import recorded_agreement, recorded_note
from fairdesk.audit.verify.reproducing import ReproduceRequest, changed_versions, reproduce
from fairdesk.audit.verify.tally import Tally
from fairdesk.audit.worker.client import Worker
from fairdesk.certify.proof.verify.statements import Check
from fairdesk.document.blocks import Callout, Fact, Facts, Grid, Report, Section, Text
from fairdesk.errors import ReportError
from fairdesk.report.content.status import check_marks
from fairdesk.report.provenance import evidence
from fairdesk.report.render import html
from fairdesk.report.render import pdf as pages
from fairdesk.report.verified.files import SIGNATURES, anchor_of, check_files
from fairdesk.report.writing import replacing
from fairdesk.wording import words
from fairdesk.wording.attributes import support_said
from fairdesk.wording.inspected import agreement

#: What a check can show, and what not; stands in every form of it.
LIMITS = (
    "This verification compares what the audit file states with itself, with the files "
    "handed over with it, and with the current results of data and model. Full agreement "
    "means that nothing was changed since; it does not show that the audit plan was right, "
    "nor what the findings mean. An audit that is rewritten from its first entry agrees with "
    "itself: only a manifest or report issued earlier can reveal that."
)
_AGAIN = (
    "Every run was repeated with the same random seeds, options, budgets and bin boundaries, "
    "and compared with what the audit states about it. Measured times are excluded. "
    "Agreement of two runs shows that the findings follow from the audit plan, the data and "
    "the model; it does not show what they mean."
)
#: Said where nothing that was issued earlier was given.
COMPLETENESS = (
    "Completeness was not checked: whether runs or pairs were removed, with totals and audit log "
    "rewritten to match, shows only against a manifest or a signed report that was issued earlier."
)
_ALL_MADE = "All checks were made."
#: How a check that was not wholly made came out, and so many of them are named in a verdict.
_LEFT, _MOST_NAMED = ("not checked", "partly checked"), 4
BEGINNING = "Sentences of the audit log on accuracy and companions match its records"
#: By the endings of files.
_FORMATS = (".json", ".html", ".pdf", ".txt")


class VerificationReport(msgspec.Struct, frozen=True):
    """What came of it.

    Attributes
    ----------
    what : str
        ``"verified"`` or ``"reproduced"``.
    title, audit : str
        The audit's title and id.
    file : str
        The name of its file.
    at : str
        When it was checked: UTC, ISO 8601.
    checks : tuple[Check, ...]
        What was compared.
    then, now : dict[str, str]
        The versions of what made the audit, and of what checked it.
    complete : bool
        Whether it is known to have all that was in it when a manifest, or a report with a trusted
        signature, was issued; of a reproduction that is no question.
    """

    what: str
    title: str
    audit: str
    file: str
    at: str
    checks: tuple[Check, ...]
    then: dict[str, str]
    now: dict[str, str]
    complete: bool = True

    @property
    def holds(self) -> bool:
        """Whether nothing differs."""
        return not any(each.failed for each in self.checks)

    @property
    def left(self) -> int:
        """How many results were not compared."""
        return sum(each.unknown for each in self.checks)


def verify(
    worker: Worker,
    asked: VerifyRequest,
    files: Sequence[Path],
    manifest: Path | None,
    say: Callable[[str], None],
    vouching: Sequence[Path] = (),
) -> VerificationReport:
    """Check an audit again, and the files that were exported from it.

    Parameters
    ----------
    worker : Worker
        Reads the data, opens the model and asks it.
    files : sequence of Path
        Exported files, or folders of them; see `fairdesk.report.verified.files.check_files`.
    manifest : Path, optional
        One that was given away before, or a report with one in it.
    say : callable
        Told what goes on, a sentence at a time; an exception out of it ends the check.
    vouching : sequence of Path
        Certificates that the reader trusts; as `fairdesk.report.verified.files.check_files`.

    Raises
    ------
    FairDeskError
        When it cannot be checked.
    """
    anchor = None if manifest is None else anchor_of(manifest)
    with Store.read(asked.audit) as store:
        if anchor is not None and anchor.audit != evidence.identity(store.spec):
            anchor = None  # of another audit, which is told with the files
        checks = list(recheck(worker, store, asked, say, anchor))
        entries = store.log_entries()
        checks += [*check_marks(entries), _check_beginning(store, entries)]
        say("Verifying exported files")
        of_files = list(check_files(store, asked.audit.absolute(), files, manifest, vouching))
        signed = any(each.name == SIGNATURES and each.tried for each in of_files)
        return msgspec.structs.replace(
            _account("verified", store.spec, asked.audit, (*checks, *of_files)),
            complete=anchor is not None or (signed and bool(vouching)),
        )


def _check_beginning(store: Store, entries: Sequence[LogEntry]) -> Check:
    """Check what the log says of accuracy, companions and runs against what it records of them."""
    tally = Tally(BEGINNING)
    known, runs = set(support_said(store.spec.domain)), [run.id for run in store.runs()]
    for place, entry in enumerate(entries[1:], start=2):
        if entry.kind != "begun":
            continue
        agreed = recorded_agreement(entry)
        tally.compare(
            entry.what == agreement(agreed)
            if agreed is not None
            else entry.what in (*known, recorded_note(entry))
            or any(entry.what.startswith(f"Run {n}: ") for n in runs),
            f"Entry {place:,} says “{entry.what}”, which does not follow from what is recorded.",
        )
    return tally.check()


def run_again(
    worker: Worker, asked: ReproduceRequest, watch: Callable[[RunState], None]
) -> VerificationReport:
    """Run an audit again, and hold what comes of it against what the audit says.

    Parameters
    ----------
    worker, asked, watch
        As `fairdesk.audit.verify.reproducing.reproduce` takes them.

    Raises
    ------
    FairDeskError
        When it cannot be run.
    """
    with Store.read(asked.audit) as store:
        checks = list(reproduce(worker, store, asked, watch))
        return _account("reproduced", store.spec, asked.audit, checks)


def _account(what: str, spec: AuditSpec, file: Path, checks: Sequence[Check]) -> VerificationReport:
    return VerificationReport(
        what=what,
        title=spec.title.strip() or "Untitled audit",
        audit=evidence.identity(spec),
        file=file.name,
        at=now(),
        checks=tuple(checks),
        then=spec.versions,
        now=versions(),
    )


def verdict(verification: VerificationReport) -> str:
    """Return the verdict: the first words of every form of it."""
    if verification.holds and verification.left and verification.what == "reproduced":
        left = words.counted(verification.left, "result")
        return f"Reproduced in part: {left} not compared."
    return verdict_on(verification.checks, verification.what.capitalize())


def verdict_on(checks: Sequence[Check], done: str = "Verified") -> str:
    """Return the verdict on checks: the word that says it, and which of them it hangs on."""
    if failed := [each for each in checks if each.failed]:
        return f"Does not match: {_named(failed)}."
    by_state = {name: [each for each in checks if state(each) == name] for name in _LEFT}
    left = [f"{_named(some)} {name}" for name, some in by_state.items() if some]
    return f"{done} in part: {'; '.join(left)}." if left else f"{done}."


def _named(checks: Sequence[Check]) -> str:
    """List checks, the first of many."""
    names = [words.quoted(each.name) for each in checks[:_MOST_NAMED]]
    more = len(checks) - len(names)
    return words.joined([*names, f"{more} more"] if more else names)


def summary(verification: VerificationReport) -> str:
    """Return the verdict, how much was compared, and whether it is known to be complete."""
    tried = sum(each.tried - each.unknown for each in verification.checks if each.tried)
    failed = sum(each.failed for each in verification.checks)
    bad = sum(1 for each in verification.checks if each.failed)
    left = sum(1 for each in verification.checks if each.unknown)
    said = (
        f"Mismatch in {words.number(failed)} of {words.number(tried)} comparisons, "
        f"in {bad} of {len(verification.checks)} checks."
        if failed
        else f"No mismatch in {words.number(tried)} comparisons."
    )
    made = f"{left} of the checks could not be made, or only partly." if left else _ALL_MADE
    said = f"{verdict(verification)} {said} {made}"
    return said if verification.complete else f"{said} {COMPLETENESS}"


def state(check: Check) -> str:
    """Say in a word or two how a check came out."""
    if check.failed:
        return "MISMATCH"
    if check.unknown and check.unknown >= check.tried:
        return "not checked"
    if check.unknown:
        return "partly checked"
    return "agrees" if check.tried else "not applicable"


def counts(check: Check) -> str:
    """Say how many comparisons there were, and how they came out."""
    compared = check.tried - check.unknown if check.tried else 0
    parts = [f"{words.number(compared)} compared"] if compared else []
    if check.failed:
        parts.append(f"{words.number(check.failed)} mismatched")
    if check.unknown and check.tried:
        parts.append(f"{words.number(check.unknown)} not checked")
    return ", ".join(parts)


def check_lines(checks: Sequence[Check]) -> list[str]:
    """Say in lines how each check came out."""
    width = max((len(state(each)) for each in checks), default=0) + 2
    lines = []
    for each in checks:
        how = counts(each)
        lines.append(f"{state(each):<{width}}{each.name}" + (f": {how}." if how else "."))
        lines += [f"{'':<{width}}{said}" for said in each.remarks]
    return lines


def text(verification: VerificationReport) -> str:
    """Say what came of it in lines."""
    lines = [
        summary(verification),
        f"{_kind(verification)} of {words.quoted(verification.title)} ({verification.audit}).",
        "",
        *check_lines(verification.checks),
    ]
    changed = changed_versions(verification.then, verification.now)
    if changed:
        lines += ["", "Versions that changed:"]
        lines += [f"  {name}: {was}, now {there}" for name, was, there in changed]
    return "\n".join(lines)


def figures(verification: VerificationReport) -> dict[str, object]:
    """Return the same for programs."""
    return {
        "what": verification.what,
        "verdict": verdict(verification),
        "holds": verification.holds,
        "complete": verification.complete,
        "summary": summary(verification),
        "audit": verification.audit,
        "title": verification.title,
        "file": verification.file,
        "at": verification.at,
        "compared": sum(each.tried - each.unknown for each in verification.checks if each.tried),
        "differences": sum(each.failed for each in verification.checks),
        "not_checked": [each.name for each in verification.checks if each.unknown],
        "checks": msgspec.to_builtins(verification.checks),
        "versions": {"then": verification.then, "now": verification.now},
    }


def report(verification: VerificationReport) -> Report:
    """Make a report of it, to be set as pages or written as HTML."""
    differing = [each for each in verification.checks if each.failed]
    left = [each for each in verification.checks if each.unknown and not each.failed]
    sections = [
        Section(
            "Result",
            (
                Callout("Summary", summary(verification)),
                Text(LIMITS if verification.what == "verified" else _AGAIN),
                *(_check_texts("Mismatch", differing)),
                *(_check_texts("Not or only partly checked", left)),
            ),
            key="result",
        ),
        Section("What was compared", (_grid(verification),), key="checks"),
        Section("Remarks", tuple(_remarks(verification)), key="remarks"),
        Section("Versions", (_versions(verification),), key="versions"),
    ]
    return Report(
        title=verification.title,
        header=verification.title
        if len(verification.title) <= 80
        else f"{verification.title[:79].rstrip()}…",
        kind=_kind(verification),
        status="Final",
        identity=verification.audit,
        cover=(
            Fact("Audit", verification.audit),
            Fact("File", verification.file),
            Fact("Checked", evidence.date_text(evidence.moment(verification.at))),
            Fact("Result", summary(verification)),
            Fact("Made with", f"FairDesk {verification.then.get('FairDesk', '')}".strip()),
            Fact("Checked with", f"FairDesk {verification.now.get('FairDesk', '')}".strip()),
        ),
        promise="What was compared, the results, and what could not be compared.",
        sections=tuple(each for each in sections if each.blocks),
        manifest=_json(verification).decode(),
        moment=verification.at,
    )


def check_ending(path: Path) -> None:
    """Refuse a file's name whose ending says no form; before any work is done.

    Raises
    ------
    ReportError
        With the endings there are.
    """
    if path.suffix.lower() not in _FORMATS:
        raise ReportError(
            f"The results cannot be written as “{path.name}”.",
            why="The ending of the name determines the format.",
            remedy=f"Use one of these endings: {', '.join(_FORMATS)}.",
        )


def write(verification: VerificationReport, path: Path) -> None:
    """Write it as JSON, HTML, PDF or text, by the ending of the file's name.

    Raises
    ------
    ReportError
        When the ending is another one, or the file cannot be written.
    """
    check_ending(path)
    match path.suffix.lower():
        case ".json":
            content = _json(verification)
        case ".txt":
            content = f"{text(verification)}\n".encode()
        case ".pdf":
            content = pages.pdf(report(verification))
        case _:
            content = html.page(report(verification)).encode()
    with replacing(path) as draft:
        draft.write_bytes(content)


def _json(verification: VerificationReport) -> bytes:
    return msgspec.json.format(msgspec.json.encode(figures(verification)), indent=1) + b"\n"


def _kind(verification: VerificationReport) -> str:
    return "Verification" if verification.what == "verified" else "Reproduction"


def _check_texts(head: str, checks: list[Check]) -> list[Text]:
    return [
        Text(" ".join((f"{_counted(each)}.", *each.remarks)), lead=f"{head}: {each.name}.")
        for each in checks
    ]


def _counted(check: Check) -> str:
    how = counts(check)
    return how[:1].upper() + how[1:] if how else "Nothing was compared"


def _remarks(verification: VerificationReport) -> list[Text]:
    return [
        Text(" ".join(each.remarks), lead=f"{each.name}.")
        for each in verification.checks
        if each.remarks and not each.failed and not each.unknown
    ]


def _grid(verification: VerificationReport) -> Grid:
    rows = tuple(
        (
            each.name,
            state(each),
            words.number(max(each.tried - each.unknown, 0)),
            words.number(each.failed),
            words.number(each.unknown),
        )
        for each in verification.checks
    )
    return Grid(
        ("Check", "Result", "Compared", "Mismatches", "Not checked"),
        rows,
        (4.0, 1.2, 0.0, 0.0, 0.0),
        (2, 3, 4),
        "What was compared, and the results.",
        key="checks",
    )


def _versions(verification: VerificationReport) -> Grid | Facts:
    names = [
        *verification.then,
        *(name for name in verification.now if name not in verification.then),
    ]
    rows = tuple(
        (name, verification.then.get(name, "–"), verification.now.get(name, "–")) for name in names
    )
    return Grid(
        ("Component", "At the audit", "Now"),
        rows,
        (1.0, 2.0, 2.0),
        (),
        "Versions that made the audit, and versions that checked it.",
    )
