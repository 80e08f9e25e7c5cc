"""The report's section on what is certified: of each run its blocks, and what they cover."""

from __future__ import annotations

import msgspec

from fairdesk.answers import decision_tables
from fairdesk.document import proofs
from fairdesk.document.blocks import Block, Heading, Section, Text
from fairdesk.report.content.material import Material
from fairdesk.wording import proofs as proof_words
from fairdesk.wording.language import say


def certification(material: Material) -> Section:
    """Say what each run that certifies shows; in the appendix, of which run is in each heading."""
    spec, runs = material.spec, material.runs
    tables = tuple(map(material.shown.table, decision_tables(runs)))
    blocks: list[Block] = [Text(say(proof_words.VERDICTS), lead=say("How to read it."))]
    for run in material.proofs:
        name = material.run_name(run)
        blocks.append(Heading(name))
        blocks += [
            msgspec.structs.replace(each, text=f"{name}: {each.text}")
            if isinstance(each, Heading)
            else each
            for each in proofs.compose(spec, run, runs, tables)
        ]
    return Section("Certification", (*blocks, *proofs.covers(spec, material.proofs)))
