"""The report's section on subgroups and identity terms, and on what other methods find."""

from __future__ import annotations

from fairdesk.answers import decision_tables
from fairdesk.document import subgroups, terms
from fairdesk.document.blocks import Block, Callout, Heading, Section, Text
from fairdesk.report.content.material import Material
from fairdesk.results.subgroups import RuleSearchSummary
from fairdesk.wording import words
from fairdesk.wording.decisions import class_texts


def subtle(material: Material) -> Section:
    """Show the subgroups that were discovered; where they add nothing, one sentence says so.

    All else is in the appendix then, and so is what other methods found beside them.
    """
    spec, tables = material.spec, decision_tables(material.runs)
    called = terms.names_of(spec, class_texts(spec, material.table))
    ruled = [
        run
        for run in material.subtle
        if any(isinstance(each, RuleSearchSummary) for each in run.figures)
    ]
    main: list[Block] = []
    appendix: list[Block] = []
    for run in material.subtle:
        said = subgroups.added(spec, run, tables)
        ended = words.ending(run)
        quoted = (run in ruled or not ruled) and (said is None or bool(said.value))
        if said is not None and not quoted:
            main.append(Text(said.sentence))
        held = [
            Heading(material.run_name(run), appended=not quoted),
            *([Callout("Incomplete.", ended)] if ended else []),
            *subgroups.compose(spec, run, tables if quoted else (), called),
        ]
        (main if quoted else appendix).extend(held)
    return Section("Subgroup discovery", (*main, *appendix))
