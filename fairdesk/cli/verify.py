"""``fairdesk verify`` and ``fairdesk reproduce``: an audit checked, and run again."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from fairdesk.audit.store.records import RunState
from fairdesk.audit.verify.checks import (
    SECONDS,
    CertificateCheckRequest,
    Verified,
    VerifyRequest,
    check_certificate,
    is_audit,
)
from fairdesk.audit.verify.reproducing import ReproduceRequest
from fairdesk.certify.proof.verify.statements import Check
from fairdesk.cli.parsing import (
    AddParser,
    command,
    filled,
)
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


def add_verify(add_parser: AddParser) -> None:
    """Add ``verify``."""
    parser = command(add_parser, "verify", _verify)
    which = parser.add_mutually_exclusive_group()
    parser.take("--sample", within=which)
    parser.take("--all", within=which)
    parser.take("--seconds", default=SECONDS, fill={"seconds": f"{SECONDS:g}"})
    parser.take("--file", dest="exported")
    parser.take_all()


def add_reproduce(add_parser: AddParser) -> None:
    """Add ``reproduce``."""
    parser = command(add_parser, "reproduce", _reproduce)
    parser.take_all("audit", "--data", "--model", "--companion", "--trust-model")
    parser.take_all("--make-environment", "--run", "--out", "--cluster", "--json")


def certificate_request_of(arguments: argparse.Namespace) -> CertificateCheckRequest:
    """Name the certificate, and what it is checked with."""
    for name in ("manifest", "exported", "trust_certificate", "out"):
        if getattr(arguments, name):
            arguments.parser.error(f"argument --{_SPELT.get(name, name)}: only with an audit")
    if arguments.model is None:
        arguments.parser.error(
            "the following arguments are required for a proof certificate: --model"
        )
    return filled(
        CertificateCheckRequest,
        arguments,
        certificate=arguments.file,
        companions=tuple(arguments.companion),
        sample=_POINTS if arguments.sample is None else arguments.sample,
        everything=arguments.all,
        trusted=arguments.trust_model,
    )


def verify_request_of(arguments: argparse.Namespace) -> VerifyRequest:
    """Name the audit, and what it is checked with."""
    if arguments.table:
        arguments.parser.error("argument --table: an audit records which table it read")
    return filled(
        VerifyRequest,
        arguments,
        audit=arguments.file,
        companions=tuple(arguments.companion),
        everything=arguments.all,
        trusted=arguments.trust_model,
    )


def reproduce_request_of(arguments: argparse.Namespace) -> ReproduceRequest:
    """Name the audit that is run again, and with what."""
    return filled(
        ReproduceRequest,
        arguments,
        companions=tuple(arguments.companion),
        runs=tuple(dict.fromkeys(arguments.run)),
        trusted=arguments.trust_model,
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
