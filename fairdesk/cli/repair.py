"""``fairdesk repair``: the model of an audit retrained against what was found."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import msgspec

from fairdesk.app.repair import RepairOutcome, RepairQuestion, repair
from fairdesk.audit.catalogue.method import REPAIR
from fairdesk.audit.catalogue.methods import parse_options
from fairdesk.audit.catalogue.options import option_named, options_of
from fairdesk.audit.plan.spec import Budget, RunSpec
from fairdesk.cli.parsing import AddParser, add_cluster, add_json, options_by_method, whole_number
from fairdesk.cli.terminal import (
    FAILED,
    INTERRUPTED,
    NOT_MEASURED,
    complain,
    print_answer,
    progress_bar,
    stoppable_worker,
    table_lines,
)
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
from fairdesk.wording import trials as trial_words
from fairdesk.wording.rules import rule_phrase

#: The repairs by their names here.
_REPAIRS = {name: f"{REPAIR}{name}" for name in ("aequitas", "testsgd")}
_REPAIR_EPILOG = """\
The exit code is 0 also when no improvement was established: the output and the files then state it,
and the files are those of the candidate model with the best result. It is 1 when the mitigation
failed (one line on standard error gives the reason), 2 for an invalid command line, 3 when nothing
was measured, for example because the time limit was too short, 130 when it was stopped with Ctrl-C
or SIGTERM: the results so far are kept and written.
"""


def add_repair(add_parser: AddParser) -> None:
    """Add ``repair``."""
    parser = add_parser(
        "repair",
        help="retrain the model of an audit, using its results",
        description=(
            "Make augmentation rows from the results of an audit, add them to the training data, "
            "retrain the model, and measure it before and after on rows that were not used for "
            "its training. The mitigation becomes a run of that audit; the rows and the model "
            "are exported."
        ),
        epilog=_REPAIR_EPILOG,
        allow_abbrev=False,
    )
    _add_repair(parser)
    add_cluster(parser)
    add_json(parser)
    parser.set_defaults(perform=_repair)


def _add_repair(parser: argparse.ArgumentParser) -> None:
    """Add what an audit's model is repaired with."""
    add = parser.add_argument
    add("audit", metavar="AUDIT", type=Path, help="the audit (.fairdesk)")
    add(
        "--method",
        choices=_REPAIRS,
        required=True,
        help=(
            "aequitas: with the discriminatory pairs found; testsgd: for a subgroup that TestSGD "
            "found"
        ),
    )
    add(
        "--labels",
        choices=option_named(options_of(RepairOptions), "labels").choices,
        help=(
            "source of the labels of the augmentation rows: the majority of five models trained "
            "on the original data (the default), the majority of the model’s decisions in the "
            "counterfactual set, the model’s own decision, or the nearest data rows. testsgd "
            "always uses the label opposite to the model’s decision"
        ),
    )
    add(
        "--option",
        metavar="NAME=VALUE",
        nargs="+",
        action="extend",
        default=[],
        help=(
            "parameters of the method; may be repeated. “fairdesk methods repair-aequitas” and "
            "“fairdesk methods repair-testsgd” list them"
        ),
    )
    add(
        "--pairs-of",
        metavar="RUN",
        type=whole_number,
        action="append",
        default=[],
        help="only the pairs found by this run, by its number; may be repeated",
    )
    add("--flagged", action="store_true", help="only the flagged pairs")
    add(
        "--rule",
        metavar="N",
        type=whole_number,
        help=(
            "the N-th subgroup of the last TestSGD run, as ranked in subgroups.csv (default: the "
            "one with the highest score)"
        ),
    )
    add("--seed", metavar="N", type=whole_number, default=0, help="random seed (default: 0)")
    add(
        "--seconds",
        metavar="S",
        type=float,
        help="time limit in seconds, after which no further candidate model is started",
    )
    add(
        "--trial",
        metavar="N",
        type=whole_number,
        help="export this candidate model, by its number, instead of the chosen one",
    )
    add(
        "--provenance",
        choices=("sidecar", "columns"),
        default="sidecar",
        help=(
            "where the origin of each row is recorded: in a separate file next to the data (the "
            "default), or in columns of the data"
        ),
    )
    add(
        "--model",
        metavar="M",
        type=Path,
        help="the present path of the model file, if it was moved",
    )
    add(
        "--trust-model",
        action="store_true",
        help="open a model file, or a companion file, that can run code: any code in it is run",
    )
    add(
        "--out",
        metavar="FOLDER",
        type=Path,
        required=True,
        help=(
            "the folder for the exported files; made when it is missing. Nothing is overwritten: "
            "the files of an earlier mitigation in it are moved to a folder earlier-1, "
            "earlier-2, ... inside it"
        ),
    )


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
    return RepairQuestion(
        audit=arguments.audit,
        run=run,
        out=arguments.out,
        rule=arguments.rule,
        trial=arguments.trial,
        provenance=arguments.provenance,
        model=arguments.model,
        trusted=arguments.trust_model,
    )


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
            {
                name: getattr(each, name)
                for name in (
                    *("number", "kind", "name", "percent", "added", "front", "failed"),
                    *("seconds", "measures", "changes"),
                )
            }
            | {"result": verdict_of(figures, each)}
            for each in trials
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
    trials = trial_words.trial_rows(spec, run.figures)
    if trials:
        numbers = [str(each.number) for each in trials_of(run.figures)]
        heads = ("Candidate", *trial_words.trial_heads(spec, run.figures))
        table = [(number, *row) for number, row in zip(numbers, trials, strict=True)]
        lines += ["", *table_lines(heads, table)]
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
    compared = trial_words.before_after(spec, run.figures, outcome.exported)
    if compared:
        lines += ["", *table_lines(trial_words.BEFORE_AFTER, compared)]
    return "\n".join((*lines, "", *outcome.files.values()))
