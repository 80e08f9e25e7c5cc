"""``fairdesk inspect``: how a table and a model fit together."""

from __future__ import annotations

import argparse
import json

from fairdesk.audit.runs.inspection import inspect
from fairdesk.cli.parsing import AddParser, add_json
from fairdesk.cli.subject import add_subject, subject_of
from fairdesk.cli.terminal import print_lines, spinner, stoppable_worker
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
    if arguments.json:
        print_lines(json.dumps(inspected.figures(found, held)))
    else:
        print_lines(inspected.summary(found, held))
    return 0
