"""How long reports take to be made and written, and how large they are.

    python -m tests.benchmarks.report AUDIT.fairdesk ... [--template plain] [--paper a4]

Each report is made and written once, in a process of its own. The ratio is how often the time of a
page of nothing but words goes into that of a page of this report, both set by typst in the same
process: it does not depend on how fast or how busy the machine is.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import sys
from pathlib import Path
from time import perf_counter, process_time

import msgspec

from fairdesk.audit.store.records import TemplateKey
from fairdesk.audit.store.store import Store
from fairdesk.document.blocks import Report, Section, Text
from fairdesk.report.content.passages import TEMPLATES
from fairdesk.report.document import make_report
from fairdesk.report.render import html
from fairdesk.report.render import pdf as pages
from fairdesk.report.render.html import structured

#: Paragraphs of words alone that fill about forty pages.
_PARAGRAPHS, _WORDS = 500, 60


def page_count(document: bytes) -> int:
    """Count the pages of a PDF."""
    from pypdf import PdfReader

    return len(PdfReader(io.BytesIO(document)).pages)


def per_page(report: Report) -> float:
    """Return the processor's seconds for a page of words alone, of the same frame."""
    words = tuple(Text(f"{i} " + "discrimination " * _WORDS) for i in range(_PARAGRAPHS))
    plain = msgspec.structs.replace(report, sections=(Section("Words", words),), logo="")
    start = process_time()
    document = pages.pdf(plain)
    return (process_time() - start) / page_count(document)


def measure(path: Path, template: TemplateKey, paper: str) -> None:
    """Make one report, write it in each format, and print a line for each."""
    start = perf_counter()
    with Store.open(path) as store:
        choice = msgspec.structs.replace(store.choice(), template=template, paper=paper)
        report = make_report(store, choice)
    made = perf_counter() - start
    words = per_page(report)
    count = 0
    for name, write in (
        ("pdf", pages.pdf),
        ("html", lambda told: html.page(told).encode()),
        ("json", structured),
    ):
        start, busy = perf_counter(), process_time()
        content = write(report)
        taken, busy = perf_counter() - start, process_time() - busy
        if name == "pdf":
            count = page_count(content)
        ratio = f"{busy / count / words:>7.1f}" if name == "pdf" else " " * 7
        print(
            f"{path.stem[:20]:<20}  {template:<10}  {name:<4}{count:>6}{made:>11.2f}{taken:>8.2f}"
            f"{busy:>7.2f}{len(content) / 1e6:>6.2f}{ratio}",
            flush=True,
        )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("audits", nargs="+", type=Path)
    parser.add_argument("--template", choices=TEMPLATES, help="all when left out")
    parser.add_argument("--paper", choices=("a4", "us-letter"), default="a4")
    arguments = parser.parse_args()
    if len(arguments.audits) == 1 and arguments.template:
        measure(arguments.audits[0], arguments.template, arguments.paper)
        return
    heads = "form pages  content s  file s  cpu s    MB  ratio"
    print(f"{'audit':<20}  {'template':<10}  {heads}", flush=True)
    for audit in arguments.audits:
        for template in [arguments.template] if arguments.template else TEMPLATES:
            command = [sys.executable, "-m", "tests.benchmarks.report", str(audit)]
            told = ["--template", template, "--paper", arguments.paper]
            subprocess.run([*command, *told], check=True)


if __name__ == "__main__":
    main()
