"""The report's section on mitigations: what came of each, and what it does not show."""

from __future__ import annotations

from collections.abc import Sequence

from fairdesk.audit.store.records import RunRecord
from fairdesk.document import mitigation as composed
from fairdesk.document.blocks import Block, Callout, Grid, Heading, Section, Text
from fairdesk.report.content.material import Made, Material
from fairdesk.results.trials import trials_of
from fairdesk.wording import words
from fairdesk.wording.trials import trial_name

_KINDS = (
    "Three types of evidence are kept apart. Observed figures were counted on the test rows, "
    "which no model retrained here was trained on. Estimated figures come from random "
    "samples, the same ones for every model. Proven figures cover the whole input domain. "
    "Intervals are 95 % confidence intervals; a change whose interval contains zero may be "
    "sampling error."
)


def mitigation(material: Material) -> Section:
    """Show what each mitigation tried, what came of it, and what that does not show."""
    blocks: list[Block] = []
    for run in material.repairs:
        blocks.append(Heading(material.run_name(run)))
        if ended := words.ending(run):
            blocks.append(Callout("Incomplete.", ended))
        blocks += composed.compose(material.spec, run)
        blocks += _files(run, material.made.get(run.id, ()))
    blocks += [Heading("What a mitigation is", appended=True), Text(composed.WHAT), Text(_KINDS)]
    blocks += [Heading(composed.NOT_SHOWN), *composed.limits(material.spec)]
    return Section("Mitigation", tuple(blocks))


def _files(run: RunRecord, made: Sequence[Made]) -> list[Grid]:
    """List the files of the retrained models, by which they are known again."""
    names = {trial.number: trial_name(trial) for trial in trials_of(run.figures)}
    rows = tuple(
        (
            names.get(each.trial, str(each.trial)),
            each.name,
            each.remark,
            words.number(each.size),
            each.sha256,
        )
        for each in made
        if each.size
    )
    if not rows:
        return []
    return [
        Grid(
            header=("Model", "File", "How the file was checked", "Bytes", "SHA-256"),
            rows=rows,
            widths=(1.0, 1.0, 2.2, 0.7, 2.2),
            right=(3,),
            caption="Files of the retrained models, kept in the audit file",
            key=f"files-{run.id}",
            appended=True,
        )
    ]
