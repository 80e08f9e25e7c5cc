"""``fairdesk inspect``: how a table and a model fit together."""

from __future__ import annotations

import argparse

import msgspec

from fairdesk.app.plan import AuditPlan
from fairdesk.audit.plan.spec import Limits
from fairdesk.audit.runs.inspection import inspect, numbered_ways
from fairdesk.cli.parsing import AddParser, command
from fairdesk.cli.subject import add_subject, subject_of
from fairdesk.cli.terminal import print_json, print_lines, spinner, stoppable_worker
from fairdesk.data.domain.support import AbsentCombination, Support, absent_combinations, written
from fairdesk.wording import inspected
from fairdesk.wording.attributes import companion_said


def add_inspect(add_parser: AddParser) -> None:
    """Add ``inspect``."""
    parser = command(add_parser, "inspect", _inspect)
    add_subject(parser)
    parser.take_all("--json")


def _inspect(arguments: argparse.Namespace) -> int:
    """Open a table and a model and tell how they fit; gives the exit code."""
    with stoppable_worker() as (worker, _), spinner() as say:
        subject = subject_of(arguments)
        found = inspect(worker, subject, say)
        held = worker.confinement()
        if found.mapping.guessed:
            say("Comparing the orders in which authors number values")
        tried = numbered_ways(worker, subject, found)
        say("Looking for combinations that never occur")
        plan = AuditPlan(
            table=found.table, label=arguments.label, mapping=found.mapping, proof=found.proof
        )
        if arguments.protected:
            plan.protect(arguments.protected, Limits())
            # refuses what makes no groups, as an audit does
            plan.unseen()
        absent = _absent(plan)
        support = plan.found_support() if arguments.protected else Support()
    companions = (*support.companions, *support.proposed)
    if arguments.json:
        figures = inspected.figures(found, held, absent, tried)
        figures["companions"] = {
            each.attribute: msgspec.to_builtins(written(each, plan.attributes()))
            for each in companions
        }
        print_json(figures, arguments.json)
    else:
        lines = (companion_said(each, plan.attributes()) for each in companions)
        print_lines("\n".join((inspected.summary(found, held, absent, tried), *lines)))
    return 0


def _absent(plan: AuditPlan) -> tuple[AbsentCombination, ...]:
    """Find what constraints could exclude; nothing where there is no model to query."""
    if plan.mapping is None or not plan.mapping.inputs:
        return ()
    return absent_combinations(plan.attributes(), plan.data(), plan.all_constraints())
