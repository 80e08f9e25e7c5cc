"""``fairdesk repair``: the model of an audit retrained against what was found."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial

import msgspec
from msgspec.structs import replace

from fairdesk.app.repair import RepairOutcome, RepairQuestion, repair
from fairdesk.audit.catalogue.method import REPAIR
from fairdesk.audit.catalogue.methods import option_named, options_of, parse_options
from fairdesk.audit.plan.spec import Budget, RunSpec
from fairdesk.cli.parsing import (
    AddParser,
    command,
    filled,
    options_by_method,
)
from fairdesk.cli.terminal import (
    FAILED,
    INTERRUPTED,
    NOT_MEASURED,
    complain,
    picked,
    print_answer,
    progress_bar,
    stoppable_worker,
    table_lines,
)
from fairdesk.document import mitigation
from fairdesk.document.blocks import Grid
from fairdesk.mitigate.options import RepairOptions
from fairdesk.results.events import Metric
from fairdesk.results.trials import repair_of as repair_result
from fairdesk.results.trials import (
    result_of,
    source_of_labels,
    trial_of,
    trials_of,
    verdict_of,
)
from fairdesk.wording import figures, words
from fairdesk.wording import mitigation as mitigation_words
from fairdesk.wording.rules import rule_phrase

#: The repairs by their names here.
_REPAIRS = {name: f"{REPAIR}{name}" for name in ("aequitas", "testsgd")}


def add_repair(add_parser: AddParser) -> None:
    """Add ``repair``."""
    parser = command(add_parser, "repair", _repair)
    parser.take("--method", choices=_REPAIRS, required=True)
    parser.take("--labels", choices=option_named(options_of(RepairOptions), "labels").choices)
    parser.take("--provenance", choices=("sidecar", "columns"), default="sidecar")
    parser.take_all("--json")


def check_repair(arguments: argparse.Namespace) -> None:
    """Refuse what one kind of repair is not asked about."""
    if arguments.method == "testsgd" and (arguments.flagged or arguments.pairs_of):
        name = "--flagged" if arguments.flagged else "--pairs-of"
        arguments.parser.error(f"argument {name}: only with --method aequitas")
    if arguments.method == "aequitas" and arguments.rule is not None:
        arguments.parser.error("argument --rule: only with --method testsgd")


def repair_of(arguments: argparse.Namespace) -> RepairQuestion:
    """Make the question of a repair.

    Raises
    ------
    SpecError
        When an option is wrong.
    """
    method = _REPAIRS[arguments.method]
    options = options_by_method((method,), arguments.option)[method]
    if arguments.labels is not None:
        options["labels"] = arguments.labels
    run = RunSpec(
        method,
        options,
        arguments.seed,
        Budget(arguments.seconds),
        pairs_of=tuple(dict.fromkeys(arguments.pairs_of)),
        flagged=arguments.flagged,
    )
    return filled(RepairQuestion, arguments, run=run, trusted=arguments.trust_model)


def _repair(arguments: argparse.Namespace) -> int:
    """Repair the model of an audit, and say what came of it; gives the exit code."""
    question = repair_of(arguments)
    with stoppable_worker(arguments.cluster) as (worker, stopped), progress_bar() as bar:
        outcome = repair(worker, question, bar, stopped)
    print_answer(
        arguments.json, partial(_repair_figures, outcome), partial(_repair_summary, outcome)
    )
    run = outcome.run
    if trouble := run.message if run.state == "failed" else outcome.trouble:
        complain(trouble)
        return FAILED
    if stopped() or run.state == "stopped":
        return INTERRUPTED
    return 0 if trials_of(run.figures) else NOT_MEASURED


#: What is printed of each candidate.
_TRIAL = (
    *("number", "kind", "name", "percent", "added", "front", "failed"),
    *("seconds", "measures", "changes"),
)


def _repair_figures(outcome: RepairOutcome) -> dict[str, object]:
    """Return what ``repair --json`` prints."""
    run, figures = outcome.run, outcome.run.figures
    repair = repair_result(figures)
    trials = trials_of(figures)
    number = outcome.exported
    if number is None and repair is not None and repair.chosen >= 0:
        number = repair.chosen
    options = msgspec.to_builtins(parse_options(run.spec.method, run.spec.options))
    return {
        "run": run.id,
        "method": run.spec.method.removeprefix("repair-"),
        "labels": options["labels"] if repair is None else source_of_labels(repair),
        "seed": run.spec.seed,
        "options": options,
        "rule": rule_phrase(outcome.spec, run.spec.rule) if run.spec.rule else None,
        "chosen": None if repair is None or repair.chosen < 0 else repair.chosen,
        "exported": outcome.exported,
        "individuals": None if repair is None else _compared(figures, number, "share_data"),
        "target": None if repair is None else _compared(figures, number, repair.target),
        "accuracy": None if repair is None else _compared(figures, number, "accuracy"),
        "pairs": 0 if repair is None else repair.pairs,
        "rows": 0 if repair is None else repair.rows,
        "retrains": None if repair is None else repair.retrains,
        "ended": "" if repair is None else repair.ended,
        "notes": () if repair is None else repair.notes,
        "trials": [
            {**picked(each, _TRIAL), "result": verdict_of(figures, each)} for each in trials
        ],
        "queries": run.queries,
        "seconds": run.elapsed,
        "files": outcome.files,
        "state": run.state,
        "message": run.message or outcome.trouble,
    }


def _compared(figures: Sequence[Metric], number: int | None, what: str) -> dict[str, object]:
    """Return a result of the model as imported, with nothing added, and of a trial."""
    imported, plain = (trial_of(figures, each) for each in (0, 1))
    trial = None if number is None else trial_of(figures, number)
    after = result_of(trial, what)
    same = None if after is None else (what, after.rows, "")
    return {
        "what": what,
        "original_model": result_of(imported, what),
        "retrained_baseline": result_of(plain, what),
        "mitigated_model": after,
        "changes": [
            each
            for each in (trial.changes if trial is not None else ())
            if (each.what, each.rows, each.of) == same
        ],
    }


def _repair_summary(outcome: RepairOutcome) -> str:
    """Say what came of a repair, for people."""
    spec, run = outcome.spec, outcome.run
    said = mitigation_words.sentences(spec, run.figures)
    lines = [*said] or [figures.headline(spec, run).sentence]
    if run.spec.rule:
        lines.insert(1, f"Subgroup: {rule_phrase(spec, run.spec.rule)}.")
    if run.state == "done" and run.message:
        lines.append(run.message)
    lines.append(f"{words.capital(figures.effort(run))}.")
    trials = trials_of(run.figures)
    for grid in mitigation.candidates(run):
        rows = [(str(each.number), *row) for each, row in zip(trials, grid.rows, strict=True)]
        lines += ["", *_table(replace(grid, header=("Candidate", *grid.header), rows=tuple(rows)))]
    if outcome.exported is None:
        if trials and not outcome.trouble:
            lines += [
                "",
                "Nothing is exported: no candidate model with augmentation rows was measured.",
            ]
        return "\n".join(lines)
    repair = repair_result(run.figures)
    if repair is not None and repair.retrains and repair.chosen < 0:
        lines.append(
            f"\nNo candidate model was chosen. Candidate {outcome.exported} was exported so that "
            "its data are available: check its effects before using it for training."
        )
    for grid in mitigation.before_after(run, outcome.exported):
        lines += ["", *_table(grid)]
    return "\n".join((*lines, "", *outcome.files.values()))


def _table(grid: Grid) -> list[str]:
    """Set a table below what it shows."""
    return [f"{grid.caption} ({grid.note})", *table_lines(grid.header, grid.rows)]
