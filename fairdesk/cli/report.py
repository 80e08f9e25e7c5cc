"""``fairdesk report``: the report of an audit."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import Any, get_args

import msgspec

from fairdesk.app.report import ReportQuestion, report, report_parts
from fairdesk.audit.store.details import LanguageKey, Paper, Redaction, Standard, TemplateKey
from fairdesk.cli.parsing import AddParser, add_json
from fairdesk.cli.terminal import print_answer, table_lines
from fairdesk.report.content.choosing import Part
from fairdesk.report.content.kinds import TEMPLATES
from fairdesk.report.document import Format, Written
from fairdesk.wording import words

_REPORT_EPILOG = """\
The exit code is 0 when the report is written, 1 when it is not (one line on standard error gives
the reason), 2 for an invalid command line. If the audit file cannot be written to, the report is
still written, and the output states that nothing could be logged.
"""
_PART_HEADS = ("Key", "Shown", "What")


def add_report(add_parser: AddParser) -> None:
    """Add ``report``."""
    parser = add_parser(
        "report",
        help="write the report of an audit",
        description=(
            "Write the report of an audit, and next to it a manifest with the SHA-256 hash of "
            "what was written. Options that are not given are taken from the audit; options that "
            "are given apply to this report only, except details and --final, which the audit "
            "keeps."
        ),
        epilog=_REPORT_EPILOG,
        allow_abbrev=False,
    )
    _add_report(parser)
    add_json(parser)
    parser.set_defaults(perform=_report)


def _add_report(parser: argparse.ArgumentParser) -> None:
    """Add how a report is wanted."""
    add = parser.add_argument
    add("audit", metavar="AUDIT", type=Path, help="the audit (.fairdesk)")
    add("--template", choices=get_args(TemplateKey), help=f"the type: {_templates()}")
    add("--format", choices=get_args(Format), default="pdf", help="(default: pdf)")
    add("--out", metavar="FILE", type=Path, help="the report’s file; an existing file is replaced")
    add(
        "--details",
        metavar="FILE",
        type=Path,
        help=(
            "JSON: auditor-supplied information (system, purpose, dates) by the names of the "
            "fields, with “signers”, “categories” and “logo”; kept in the audit"
        ),
    )
    add("--logo", metavar="FILE", type=Path, help="a picture for the cover; kept in the audit")
    add(
        "--final",
        action="store_true",
        help="mark the report as final; refused while a required field is empty",
    )
    add("--paper", choices=get_args(Paper), help="page size")
    add(
        "--language",
        choices=get_args(LanguageKey),
        help="language of numbers, dates and, if a catalogue exists, texts",
    )
    add(
        "--redact",
        choices=get_args(Redaction),
        help=(
            "individual-level data shown: everything, only synthetic instances, or values in ranges"
        ),
    )
    add("--standard", choices=get_args(Standard), help="PDF standard")
    add(
        "--leave-out",
        metavar="KEY",
        action="append",
        default=[],
        help="omit a section, chart or table; may be repeated",
    )
    add(
        "--add",
        metavar="KEY",
        action="append",
        default=[],
        help="show a chart or table that is not shown by default, or was omitted; may be repeated",
    )
    add(
        "--list-parts",
        action="store_true",
        help="list the parts that can be omitted and added, and exit",
    )
    add("--sign", metavar="P12", type=Path, help="sign with the key in a PKCS#12 file")
    add(
        "--passphrase-file",
        metavar="F",
        type=Path,
        help="the file whose first line is the passphrase of the key",
    )


def _templates() -> str:
    return "; ".join(f"{key}: {each.title}" for key, each in TEMPLATES.items())


def check_report(arguments: argparse.Namespace) -> None:
    """Refuse a report without a file, and a passphrase without a key."""
    if arguments.out is None and not arguments.list_parts:
        arguments.parser.error("the following arguments are required: --out, or --list-parts")
    if arguments.passphrase_file is not None and arguments.sign is None:
        arguments.parser.error("argument --passphrase-file: only with --sign")


def report_of(arguments: argparse.Namespace) -> ReportQuestion:
    """Make the question of a report."""
    return ReportQuestion(
        audit=arguments.audit,
        out=arguments.out,
        form=arguments.format,
        changes=changes_of(arguments),
        details=arguments.details,
        logo=arguments.logo,
        final=arguments.final,
        key=arguments.sign,
        passphrase=arguments.passphrase_file,
    )


def changes_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return what of a report is to be otherwise than the audit has it."""
    given = {
        "template": arguments.template,
        "language": arguments.language,
        "paper": arguments.paper,
        "redaction": arguments.redact,
        "standard": arguments.standard,
        "left_out": tuple(arguments.leave_out),
        "added": tuple(arguments.add),
    }
    return {name: value for name, value in given.items() if value}


def _report(arguments: argparse.Namespace) -> int:
    """Write a report, and tell what was written; gives the exit code."""
    if arguments.list_parts:
        listed = report_parts(arguments.audit, changes_of(arguments))
        rows = [_part_row(part) for part in listed]
        print_answer(
            arguments.json, lambda: listed, lambda: "\n".join(table_lines(_PART_HEADS, rows))
        )
        return 0
    written = report(report_of(arguments))
    print_answer(
        arguments.json, partial(_written_figures, written), partial(_written_summary, written)
    )
    return 0


def _part_row(part: Part) -> tuple[str, str, str]:
    shown = "always" if part.required else "yes" if part.shown else "no"
    return part.key, shown, part.title


def _written_figures(written: Written) -> dict[str, object]:
    """Return what ``report --json`` prints."""
    return {
        **msgspec.structs.asdict(written),
        "path": str(written.path),
        "beside": [str(each) for each in written.beside],
    }


def _written_summary(written: Written) -> str:
    """Say which report was written, for people."""
    pages = f", {words.counted(written.pages, 'page')}" if written.pages else ""
    lines = [f"{written.path}: {written.status}{pages}.", f"SHA-256 {written.sha256}"]
    lines += [str(each) for each in written.beside]
    if written.signed:
        lines.append(f"Signed by {written.signed}.")
    if written.status != "Final" and written.missing:
        lines.append(f"Missing for a final report: {'; '.join(written.missing)}.")
    if written.left_out:
        lines.append(f"Omitted: {'; '.join(written.left_out)}.")
    return "\n".join((*lines, *([written.redacted] if written.redacted else []), *written.remarks))
