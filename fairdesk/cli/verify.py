"""``fairdesk verify`` and ``fairdesk reproduce``: an audit checked, and run again."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from fairdesk.app.outputs import AUDIT_FILE
from fairdesk.audit.store.records import RunState
from fairdesk.audit.verify.certificate import (
    CertificateCheckRequest,
    Verified,
    check_certificate,
    is_audit,
)
from fairdesk.audit.verify.checks import SECONDS, VerifyRequest
from fairdesk.audit.verify.reproducing import ReproduceRequest
from fairdesk.certify.proof.certificate import SUFFIX
from fairdesk.certify.proof.verify.outcome import Check
from fairdesk.cli.parsing import AddParser, add_cluster, add_json, add_opening, whole_number
from fairdesk.cli.terminal import (
    FAILED,
    PARTLY,
    print_answer,
    progress_bar,
    spinner,
    stoppable_worker,
)
from fairdesk.report.verified import summary as verified
from fairdesk.report.verified.summary import check_lines, verdict_on
from fairdesk.wording import words

#: So many people are drawn from the boxes of each kind of a certificate.
_POINTS = 10_000
#: Arguments that are called otherwise than what they are kept in.
_SPELT = {"trust_certificate": "trust-certificate", "exported": "file"}
_VERIFY_EPILOG = """\
The first words are the verdict: “Verified” (exit code 0), “Verified in part”, with what was not
checked (5), or “Does not match” (1; also when nothing could be checked). 130 when it was stopped
with Ctrl-C or SIGTERM. Without a manifest or a signed report that was issued earlier it is not
known whether anything was removed from the audit. The audit is only read. The check relies on the
model file’s SHA-256 hash, and on the model process for the model’s outputs.
"""
_REPRODUCE_EPILOG = """\
The exit code is 0 when all results were the same, 1 when something differed or the command failed,
2 for an invalid command line, 5 when nothing differed and some results were not compared (the first
line gives their number), 130 when it was stopped with Ctrl-C or SIGTERM. Differences are listed
with the versions that changed.
"""


def add_verify(add_parser: AddParser) -> None:
    """Add ``verify``."""
    parser = add_parser(
        "verify",
        help="verify an audit or a proof certificate",
        description=(
            "Verify an audit: that the hash chain of its audit log is complete and the log "
            "matches the contents of the file, that data and model are the audited ones, the "
            "model’s outputs for every reported pair, group tables, proof certificates, and the "
            "exported files. Or verify a proof certificate, by other means than it was made "
            "with: its sums in whole numbers, the model’s own outputs for instances drawn at "
            "random, and a solver (z3) that searches for counterexamples."
        ),
        epilog=_VERIFY_EPILOG,
        allow_abbrev=False,
    )
    _add_verification(parser)
    add_json(parser)
    parser.set_defaults(perform=_verify)


def _add_verification(parser: argparse.ArgumentParser) -> None:
    """Add what an audit, or a certificate, is checked with."""
    add = parser.add_argument
    add(
        "file",
        metavar="FILE",
        type=Path,
        help=f"the audit (.fairdesk) or proof certificate ({SUFFIX})",
    )
    add(
        "--model",
        metavar="M",
        type=Path,
        help=(
            "the model that it covers; optional for an audit: checks that need it are then "
            "reported as “not checked”"
        ),
    )
    add_opening(parser)
    add(
        "--data",
        metavar="F",
        type=Path,
        help=(
            "the table; also optional for an audit; for a proof certificate its rows are then "
            "queried too"
        ),
    )
    add(
        "--table",
        metavar="NAME",
        default="",
        help="its sheet or table, if it has several; an audit records its own",
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--sample",
        metavar="N",
        type=whole_number,
        help=(
            "for an audit: check only N pairs, drawn at random; for a proof certificate: number "
            "of instances drawn from the regions of each verdict (default: 10000)"
        ),
    )
    which.add_argument(
        "--all",
        action="store_true",
        help=(
            "re-prove every region of a proof certificate, however long that takes; for an "
            "audit: also check all pairs (the default)"
        ),
    )
    add(
        "--seconds",
        metavar="S",
        type=float,
        default=SECONDS,
        help=(
            "time limit in seconds for re-proving regions of a proof certificate, together with "
            f"the solver (default: {SECONDS:g}); for an audit: per proof certificate; 0 skips both"
        ),
    )
    add("--seed", metavar="N", type=whole_number, default=0, help="random seed (default: 0)")
    add(
        "--manifest",
        metavar="F",
        type=Path,
        help=(
            "for an audit: a manifest that was issued earlier, or a report that contains one. It "
            "also reveals whether the whole audit log was rewritten"
        ),
    )
    add(
        "--trust-certificate",
        metavar="CERT",
        type=Path,
        action="append",
        default=[],
        help=(
            "for an audit: a signing certificate (PEM or DER) that you trust; may be repeated. "
            "The signature of a report or manifest must chain to one of them. Without one, a "
            "signature only shows that nothing was changed"
        ),
    )
    add(
        "--file",
        metavar="F",
        type=Path,
        action="append",
        default=[],
        dest="exported",
        help=(
            "for an audit: a file that was exported from it, or a folder of such files; may be "
            "repeated. By default they are searched for next to the audit, and where they were "
            "written"
        ),
    )
    add(
        "--out",
        metavar="F",
        type=Path,
        help="for an audit: write the results to this file (.json, .html, .pdf or .txt)",
    )


def add_reproduce(add_parser: AddParser) -> None:
    """Add ``reproduce``."""
    parser = add_parser(
        "reproduce",
        help="reproduce an audit and compare the results",
        description=(
            "Repeat all runs of an audit, with the same random seeds, options, budgets and bin "
            "boundaries, in a new audit, and compare the two run by run."
        ),
        epilog=_REPRODUCE_EPILOG,
        allow_abbrev=False,
    )
    _add_reproduction(parser)
    add_cluster(parser)
    add_json(parser)
    parser.set_defaults(perform=_reproduce)


def _add_reproduction(parser: argparse.ArgumentParser) -> None:
    """Add what an audit is run again with."""
    add = parser.add_argument
    add("audit", metavar="AUDIT", type=Path, help="the audit (.fairdesk)")
    add("--data", metavar="F", type=Path, required=True, help="the table")
    add("--model", metavar="M", type=Path, help="the model, unless only decisions were audited")
    add_opening(parser)
    add(
        "--run",
        metavar="N",
        type=whole_number,
        action="append",
        default=[],
        help="only this run, and those that it continues; may be repeated",
    )
    add(
        "--out",
        metavar="FOLDER",
        type=Path,
        help=f"keep the new audit, as {AUDIT_FILE}, in this folder; made when it is missing",
    )


def certificate_request_of(arguments: argparse.Namespace) -> CertificateCheckRequest:
    """Name the certificate, and what it is checked with."""
    for name in ("manifest", "exported", "trust_certificate", "out"):
        if getattr(arguments, name):
            arguments.parser.error(f"argument --{_SPELT.get(name, name)}: only with an audit")
    if arguments.model is None:
        arguments.parser.error(
            "the following arguments are required for a proof certificate: --model"
        )
    return CertificateCheckRequest(
        certificate=arguments.file,
        model=arguments.model,
        companions=tuple(arguments.companion),
        data=arguments.data,
        table=arguments.table,
        sample=_POINTS if arguments.sample is None else arguments.sample,
        seconds=arguments.seconds,
        seed=arguments.seed,
        everything=arguments.all,
        trusted=arguments.trust_model,
        make_environment=arguments.make_environment,
    )


def verify_request_of(arguments: argparse.Namespace) -> VerifyRequest:
    """Name the audit, and what it is checked with."""
    if arguments.table:
        arguments.parser.error("argument --table: an audit records which table it read")
    return VerifyRequest(
        audit=arguments.file,
        data=arguments.data,
        model=arguments.model,
        companions=tuple(arguments.companion),
        sample=arguments.sample,
        seconds=arguments.seconds,
        seed=arguments.seed,
        everything=arguments.all,
        trusted=arguments.trust_model,
        make_environment=arguments.make_environment,
    )


def reproduce_request_of(arguments: argparse.Namespace) -> ReproduceRequest:
    """Name the audit that is run again, and with what."""
    return ReproduceRequest(
        audit=arguments.audit,
        data=arguments.data,
        model=arguments.model,
        companions=tuple(arguments.companion),
        runs=tuple(dict.fromkeys(arguments.run)),
        out=arguments.out,
        trusted=arguments.trust_model,
        make_environment=arguments.make_environment,
    )


def _verify(arguments: argparse.Namespace) -> int:
    """Check an audit or a certificate again, and tell what came of it; gives the exit code."""
    if is_audit(arguments.file):
        return _verify_audit(arguments)
    doubt = certificate_request_of(arguments)
    with stoppable_worker() as (worker, _), spinner() as say:
        found = check_certificate(worker, doubt, say)
    print_answer(
        arguments.json, partial(_verified_figures, found), partial(_verified_summary, found)
    )
    return _code(found.checks)


def _verify_audit(arguments: argparse.Namespace) -> int:
    """Check an audit again, and tell what came of it; gives the exit code."""
    asked, out = verify_request_of(arguments), arguments.out
    if out is not None:
        verified.check_ending(out)
    with stoppable_worker() as (worker, stopped), spinner() as say:

        def watch(sentence: str) -> None:
            if stopped():
                raise KeyboardInterrupt
            say(sentence)

        report = verified.verify(
            worker,
            asked,
            arguments.exported,
            arguments.manifest,
            watch,
            arguments.trust_certificate,
        )
    return _tell(report, arguments, out)


def _reproduce(arguments: argparse.Namespace) -> int:
    """Run an audit again, and tell what came of it; gives the exit code."""
    with stoppable_worker(arguments.cluster) as (worker, stopped), progress_bar() as bar:

        def watch(state: RunState) -> None:
            if stopped():
                raise KeyboardInterrupt
            bar(state)

        report = verified.run_again(worker, reproduce_request_of(arguments), watch)
    return _tell(report, arguments)


def _tell(
    report: verified.VerificationReport, arguments: argparse.Namespace, out: Path | None = None
) -> int:
    """Print what came of a check, and write it; gives the exit code."""
    if out is not None:
        verified.write(report, out)
    print_answer(arguments.json, partial(verified.figures, report), partial(verified.text, report))
    return _code(report.checks)


def _code(checks: Sequence[Check]) -> int:
    """Return the exit code of a verdict on checks."""
    if any(each.failed for each in checks):
        return FAILED
    return PARTLY if any(each.unknown for each in checks) else 0


def _verified_figures(verified: Verified) -> dict[str, object]:
    """Return what ``verify --json`` prints."""
    header, checks = verified.header, verified.checks
    return {
        "holds": verified.holds,
        "verdict": verdict_on(checks),
        "tried": sum(each.tried for each in checks),
        "violations": sum(each.failed for each in checks),
        "unknown": sum(each.unknown for each in checks),
        "leaves": verified.leaves,
        "checks": checks,
        "certified": header.certified_share,
        "falsified": header.falsified_share,
        "undecided": header.undecided_share,
        "model": header.model,
    }


def _verified_summary(found: Verified) -> str:
    """Say what came of checking a certificate, for people."""
    header = found.header
    boxes = words.joined(
        [f"{words.number(count)} {kind}" for kind, count in found.leaves.items() if count]
    )
    total, *counts = (
        f"{int(each):,}"
        for each in (header.total, header.certified, header.falsified, header.undecided)
    )
    said = (
        f"The proof certificate of “{header.model.name}” covers {total} combinations, each with "
        f"every tested protected value: {{}} certified, {{}} falsified, {{}} undecided. ".format(
            *counts
        )
        + f"Regions: {boxes}."
    )
    return "\n".join((verdict_on(found.checks), said, "", *check_lines(found.checks)))
