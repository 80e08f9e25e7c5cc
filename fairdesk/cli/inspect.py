"""``fairdesk inspect``: how a table and a model fit together."""

from __future__ import annotations

import argparse
import json

from fairdesk.app.plan import AuditPlan
from fairdesk.audit.runs.inspection import Inspection, inspect
from fairdesk.cli.parsing import AddParser, add_json
from fairdesk.cli.subject import add_subject, subject_of
from fairdesk.cli.terminal import print_lines, spinner, stoppable_worker
from fairdesk.data.domain.absent import AbsentCombination, absent_combinations
from fairdesk.wording import inspected


def add_inspect(add_parser: AddParser) -> None:
    """Add ``inspect``."""
    parser = add_parser(
        "inspect",
        help="check that a table and a model fit together",
        description=(
            "Open a table and a model, match the columns with the model’s inputs, query the "
            "model for the rows, and print the results. Nothing is audited and nothing is "
            "written."
        ),
        allow_abbrev=False,
    )
    add_subject(parser)
    add_json(parser)
    parser.set_defaults(perform=_inspect)


def _inspect(arguments: argparse.Namespace) -> int:
    """Open a table and a model and tell how they fit; gives the exit code."""
    with stoppable_worker() as (worker, _), spinner() as say:
        found = inspect(worker, subject_of(arguments), say)
        held = worker.confinement()
        say("Looking for combinations that never occur")
        absent = _absent(found, arguments.label)
    if arguments.json:
        print_lines(json.dumps(inspected.figures(found, held, absent)))
    else:
        print_lines(inspected.summary(found, held, absent))
    return 0


def _absent(found: Inspection, label: str) -> tuple[AbsentCombination, ...]:
    """Find what constraints could exclude; nothing where there is no model to query."""
    if not found.mapping.inputs:
        return ()
    plan = AuditPlan(table=found.table, label=label, mapping=found.mapping, proof=found.proof)
    return absent_combinations(plan.attributes(), found.table)
