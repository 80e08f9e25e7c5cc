"""``fairdesk report``: the report of an audit."""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any, get_args

import msgspec

from fairdesk.app.report import ReportQuestion, report, report_parts
from fairdesk.audit.store.records import Paper, Redaction, Standard, TemplateKey
from fairdesk.cli.parsing import AddParser, command, filled
from fairdesk.cli.terminal import print_answer, table_lines
from fairdesk.report.content.choosing import Part
from fairdesk.report.content.passages import TEMPLATES
from fairdesk.report.document import Format, Written
from fairdesk.wording import words

_PART_HEADS = ("Key", "Shown", "What")


def add_report(add_parser: AddParser) -> None:
    """Add ``report``."""
    parser = command(add_parser, "report", _report)
    parser.take("--template", choices=get_args(TemplateKey), fill={"templates": _templates()})
    parser.take("--format", choices=get_args(Format), default="pdf")
    parser.take("--paper", choices=get_args(Paper))
    parser.take("--redact", choices=get_args(Redaction))
    parser.take("--standard", choices=get_args(Standard))
    parser.take_all("--json")


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
    return filled(
        ReportQuestion,
        arguments,
        form=arguments.format,
        changes=changes_of(arguments),
        key=arguments.sign,
        passphrase=arguments.passphrase_file,
    )


def changes_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return what of a report is to be otherwise than the audit has it."""
    given = {
        "template": arguments.template,
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
