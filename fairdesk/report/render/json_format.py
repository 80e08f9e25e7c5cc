"""The report as JSON: the same content as its pages, for programs."""

from __future__ import annotations

import msgspec

from fairdesk.document.blocks import Report

FORMAT, VERSION = "fairdesk-report", 1


def structured(report: Report) -> bytes:
    """Write a report as one JSON object: the same bytes for the same report.

    Its members are those of `fairdesk.document.blocks.Report`, with ``"format"`` and ``"version"``
    before them; a block has its kind in ``"type"``, and the manifest is an object, not a text.
    """
    content = {
        "format": FORMAT,
        "version": VERSION,
        **msgspec.structs.asdict(report),
        "manifest": msgspec.Raw(report.manifest.encode()),
    }
    return msgspec.json.format(msgspec.json.encode(content), indent=1)
