"""``fairdesk audit`` and ``fairdesk demo``: an audit without the window."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from math import isfinite
from pathlib import Path

import msgspec

from fairdesk.answers import decision_tables, misfit_sentence
from fairdesk.app.audit import Outcome, Question, audit, plan_of
from fairdesk.app.report import sample_question
from fairdesk.app.standard import LIMITS, PlanKind, StandardPlan
from fairdesk.audit.catalogue.method import BEFORE
from fairdesk.audit.catalogue.methods import METHODS, parse_options
from fairdesk.audit.plan.spec import (
    AuditSpec,
    Budget,
    Limits,
    RunSpec,
    read_companions,
    read_limits,
    read_terms,
)
from fairdesk.audit.runs.inspection import inspect
from fairdesk.audit.runs.plausibility import PlausibleShare
from fairdesk.audit.store.records import RunRecord
from fairdesk.audit.worker.client import Worker
from fairdesk.cli.parsing import (
    AddParser,
    Parser,
    command,
    option_names,
    options_by_method,
)
from fairdesk.cli.screen import add_results, show
from fairdesk.cli.subject import add_subject, subject_of
from fairdesk.cli.summary import finished_of
from fairdesk.cli.terminal import (
    FAILED,
    INTERRUPTED,
    NOT_MEASURED,
    complain,
    picked,
    print_json,
    progress_bar,
    stoppable_worker,
)
from fairdesk.data.domain.support import CompanionChoice, CompanionValues, written
from fairdesk.errors import SpecError, concerning
from fairdesk.results.events import Metric
from fairdesk.results.individual import AuditStudy, ComparedRows
from fairdesk.results.proofs import ProvenRates
from fairdesk.results.subgroups import RuleSearchSummary, RuleSet
from fairdesk.samples import samples
from fairdesk.wording import figures, words
from fairdesk.wording import proofs as proof_words
from fairdesk.wording.attributes import companion_said
from fairdesk.wording.proofs import neighbourhoods_of
from fairdesk.wording.rules import rule_phrase

#: What ``--plan`` takes.
PLANS = tuple(kind.value for kind in LIMITS)


def add_audit(add_parser: AddParser) -> None:
    """Add ``audit``."""
    parser = command(add_parser, "audit", _audit)
    add_subject(parser)
    parser.take("--companions", default="auto")
    parser.take("--method", choices=METHODS, action="append")
    parser.take("--rows", type=int)
    _add_common(parser)


def add_demo(add_parser: AddParser) -> None:
    """Add ``demo``."""
    _add_common(command(add_parser, "demo", _audit))


def _add_common(parser: Parser) -> None:
    parser.take("--plan", choices=PLANS)
    add_results(parser)
    parser.take_all()


def check_audit(arguments: argparse.Namespace) -> None:
    """Refuse an audit in which nothing would be compared, and texts that nobody reads."""
    if not arguments.protected and not arguments.text_column:
        arguments.parser.error(
            "nothing would be compared: give --protected COL, or --text-column COL"
        )
    if arguments.text_column and arguments.predictions:
        arguments.parser.error("argument --text-column: needs a --model that reads the texts")
    if arguments.terms and not arguments.text_column:
        arguments.parser.error("argument --terms: needs a --text-column")
    if arguments.time is not None and not arguments.time > 0:
        arguments.parser.error("argument --time: must be greater than zero")
    of_plans = {"--plan": arguments.plan, "--mitigate": arguments.mitigate}
    of_methods = {
        "--option": arguments.option,
        "--seconds": arguments.seconds is not None,
        "--rows": arguments.rows is not None,
        "--max-distance": arguments.max_distance is not None,
        "--plausible": arguments.plausible is not None,
        "--shards": bool(arguments.shards),
    }
    other, needs = (
        (of_plans, "cannot be combined with --method")
        if arguments.method
        else (of_methods, "needs a --method; a --plan chooses its methods and their limits")
    )
    for name in (name for name, given in other.items() if given):
        arguments.parser.error(f"argument {name}: {needs}")


def question_of(arguments: argparse.Namespace) -> Question:
    """Make the question of the arguments of an audit, or of the demonstration.

    Raises
    ------
    SpecError
        When an option, edges of bins, or the file of the domain or of terms is wrong.
    """
    if arguments.command == "demo":
        question = sample_question(samples()[0])
        plan = msgspec.structs.replace(
            question.standard or StandardPlan(),
            kind=PlanKind(arguments.plan or PlanKind.FULL),
            seconds=arguments.time,
            seed=arguments.seed,
        )
        return msgspec.structs.replace(question, standard=plan)
    asked = arguments.predictions or arguments.model.name
    with concerning("limits"):
        limits = read_limits(arguments.domain) if arguments.domain else Limits()
    return Question(
        subject_of(arguments),
        protected=tuple(dict.fromkeys(arguments.protected)),
        runs=_runs(arguments),
        title=f"{asked} on {arguments.data.name}",
        limits=limits,
        companions=_companions(arguments.companions),
        standard=None if arguments.method else _standard(arguments),
        seconds=arguments.time,
        all_pairs=arguments.all_pairs,
        accept_guesses=arguments.accept_guesses,
    )


def _standard(arguments: argparse.Namespace) -> StandardPlan:
    """Make the plan of an audit that names no methods."""
    return StandardPlan(
        PlanKind(arguments.plan or PlanKind.FULL),
        seconds=arguments.time,
        seed=arguments.seed,
        mitigate=arguments.mitigate,
        edges=_edges(arguments.bins),
        terms=_terms(arguments),
    )


def _companions(given: str) -> CompanionChoice:
    """Read which attributes change with a protected one."""
    match given:
        case "auto" | "ask" | "none":
            return given
    with concerning("companions"):
        return read_companions(Path(given))


def _confirmed(worker: Worker, question: Question) -> Question:
    """Ask in the terminal about each companion; without a terminal nothing is decided."""
    if question.companions != "ask" or not sys.stdin.isatty():
        return question
    plan = plan_of(question, inspect(worker, question.subject, lambda _: None))
    attributes, found = plan.attributes(), plan.found_support()
    confirmed = {}
    for each in (*found.companions, *found.proposed):
        sys.stderr.write(f"{companion_said(each, attributes)}\nCompare rows in this way? [y/n] ")
        sys.stderr.flush()
        agreed = sys.stdin.readline().strip().lower() in ("y", "yes")
        refused = CompanionValues(each.by, {})
        confirmed[each.attribute] = written(each, attributes) if agreed else refused
    return msgspec.structs.replace(question, companions=confirmed)


def _terms(arguments: argparse.Namespace) -> dict[str, tuple[str, ...]]:
    with concerning("terms"):
        return read_terms(arguments.terms) if arguments.terms else {}


def _runs(arguments: argparse.Namespace) -> tuple[RunSpec, ...]:
    methods = tuple(dict.fromkeys(arguments.method or ()))
    options = options_by_method(methods, arguments.option)
    budget = Budget(arguments.seconds, arguments.rows)
    edges = _edges(arguments.bins)
    if edges and methods and not any(METHODS[method].divides for method in methods):
        raise SpecError(
            "None of the chosen methods divides numbers into bins.",
            remedy="Omit --bins, or choose the method testsgd or groups.",
            setting="edges",
        )
    terms = _terms(arguments)
    runs = []
    for method in methods:
        # one that keeps time itself is told how much there is
        if arguments.seconds and "seconds" in option_names(method):
            options[method].setdefault("seconds", arguments.seconds)
        run = RunSpec(method, options[method], arguments.seed, budget, arguments.max_distance)
        if METHODS[method].seeks and arguments.plausible is not False:
            run = msgspec.structs.replace(run, plausible=True)
        if METHODS[method].division.searches:
            run = msgspec.structs.replace(run, shards=arguments.shards)
        if METHODS[method].divides:
            run = msgspec.structs.replace(run, edges=edges)
        if METHODS[method].reads and arguments.text_column:
            run = msgspec.structs.replace(run, text=arguments.text_column, terms=terms)
        runs.append(run)
    return tuple(runs)


def _edges(texts: Sequence[str]) -> dict[str, tuple[float, ...]]:
    """Read the edges of bins by the columns that they divide.

    Raises
    ------
    SpecError
        When they are no numbers.
    """
    edges = {}
    for text in texts:
        name, _, numbers = text.rpartition("=")
        try:
            edges[name.strip()] = tuple(float(number) for number in numbers.split(","))
        except ValueError:
            raise SpecError(
                f"The bin boundaries “{text}” cannot be read.",
                remedy="Write them like age=25,40,60.",
                setting="edges",
            ) from None
    return edges


def _audit(arguments: argparse.Namespace) -> int:
    """Make the audit, and say what came of it; gives the exit code."""
    question = question_of(arguments)
    with stoppable_worker(arguments.cluster) as (worker, stopped):
        question = _confirmed(worker, question)
        with progress_bar(question.limit, quiet=arguments.quiet) as bar:
            outcome = audit(worker, question, arguments.out, bar, stopped, arguments.began)
    if arguments.json:
        print_json(_figures(outcome), arguments.json, "runs")
    met = show(finished_of(outcome), arguments)
    if outcome.failure:
        complain(outcome.failure)
        return FAILED
    if stopped() or outcome.stopped:
        return INTERRUPTED
    if outcome.nothing_measured:
        remedy = () if question.limit is None else ("Allow more time with --time.",)
        why = (*outcome.unmeasured, *remedy)
        complain(f"Nothing was measured, so no report was written. {' '.join(why)}")
        return NOT_MEASURED
    return met


def _figures(outcome: Outcome) -> dict[str, object]:
    """Return what ``--json`` prints."""
    proof = outcome.found.proof
    runs = [_run_figures(outcome, run) for run in outcome.runs]
    return {
        **(runs[0] if runs else {}),
        **({"runs": runs} if len(runs) > 1 else {}),
        "accuracy": None if proof is None else proof.accuracy,
        "auc": None if proof is None else proof.auc,
        "guessed_codes": outcome.spec.mapping.guessed,
        "warnings": outcome.warnings,
        "left_out": outcome.left_out,
        "files": outcome.files,
    }


def _run_figures(outcome: Outcome, run: RunRecord) -> dict[str, object]:
    """Return what is measured by a run; a kind of figure that it has not is left out."""
    spec, measured = outcome.spec, run.figures
    return {
        "method": run.spec.method,
        **picked(run, ("found", "tried", "queries")),
        "seconds": sum(each for phase, each in run.seconds.items() if phase not in BEFORE),
        "global_seconds": run.seconds.get("global", 0.0),
        "local_seconds": run.seconds.get("local", 0.0),
        "state": run.state,
        "message": run.message or outcome.trouble,
        "seed": run.spec.seed,
        "options": parse_options(run.spec.method, run.spec.options),
        "alone": dict(zip(words.protected_names(spec.domain), run.sufficient_alone, strict=True)),
        "rejected": run.rejected,
        **_comparison_figures(spec, measured),
        **picked(figures.share_of_domain(measured), _SHARE),
        **picked(proof_words.proven_of(measured), _PROVEN),
        **_plausible_figures(outcome.plausible.get(run.id)),
        **_queries_a_pair(run),
        **_population_figures(outcome, measured),
        **_neighbourhood_figures(measured),
        **_rate_figures(spec, measured),
        **_rule_figures(spec, measured),
        "figures": measured,
    }


#: What is printed of figures, by the names of their fields.
_COMPARED = (
    *("attributes", "comparison", "n_rows", "compared", "unsupported", "hits", "losses", "gains"),
)
_SHARE = ("estimate", "low", "high", "anytime_low", "anytime_high", "confidence", "exhaustive")
_VERDICTS = ("certified", "falsified", "undecided")
_PROVEN = (
    *(*_VERDICTS, "seconds", "boxes", "exact", "margin"),
    *("total", "certified_people", "falsified_people", "estimated"),
)
_RULE = (
    *("score", "phi_in", "phi_out", "margin", "support"),
    *("low", "high", "p", "outcome", "leader"),
)


def _comparison_figures(spec: AuditSpec, measured: Sequence[Metric]) -> dict[str, object]:
    """Return the rows whose decision changes, by comparison, and the rates of audit studies."""
    compared = [picked(each, _COMPARED) for each in measured if isinstance(each, ComparedRows)]
    studies = {
        each.attribute: {
            "rows": each.n_rows,
            "selected": each.actual,
            "selected_as": {
                _text(spec, each.attribute, value.code): value.favourable for value in each.values
            },
        }
        for each in measured
        if isinstance(each, AuditStudy)
    }
    found: dict[str, object] = {"compared_rows": compared, "audit_study": studies}
    return {name: each for name, each in found.items() if each}


def _text(spec: AuditSpec, attribute: str, code: float) -> str:
    return spec.domain.attributes[spec.domain.names.index(attribute)].text(code)


def _queries_a_pair(run: RunRecord) -> dict[str, object]:
    """Return with how many queries a plausible pair was found, and random sampling finds one."""
    compared = figures.compared_with_sampling(run)
    if compared is None:
        return {}
    return {
        "queries_per_pair": compared.own,
        "queries_per_pair_random": compared.random,
        "queries_per_pair_random_low": compared.low,
        "queries_per_pair_random_high": compared.high if isfinite(compared.high) else None,
    }


def _plausible_figures(share: PlausibleShare | None) -> dict[str, object]:
    """Return which share of the pairs is plausible, of all and of those shown first."""
    if share is None:
        return {}
    return {
        "plausible": share.plausible / share.compared,
        "plausible_pairs": share.plausible,
        "plausible_shown": share.plausible_shown / share.shown,
        **picked(share.reference, ("held_out", "uniform", "by_distance"), "plausible_"),
        # as it is published, in per cent
        "atn": 100 * share.atn,
        "atn_rows": 100 * share.atn_rows,
        "atn_changing": None if share.atn_changing is None else 100 * share.atn_changing,
    }


def _population_figures(outcome: Outcome, measured: Sequence[Metric]) -> dict[str, object]:
    """Return what is proven of the population; why not, where its model does not fit the data."""
    proven = proof_words.proven_of(measured, "people")
    if proven and (unfit := misfit_sentence(outcome.spec, measured, decision_tables(outcome.runs))):
        return {"population_misfit": unfit}
    return picked(proven, _VERDICTS, "population_")


def _neighbourhood_figures(measured: Sequence[Metric]) -> dict[str, object]:
    """Return how many data rows are decided with their neighbours."""
    found = neighbourhoods_of(measured)
    more = ("changed", "reach", "together", "flipped")
    return {**picked(found, ("rows",)), **picked(found, (*_VERDICTS, *more), "rows_")}


def _rate_figures(spec: AuditSpec, measured: Sequence[Metric]) -> dict[str, object]:
    """Return the proven rates of groups, by attribute and value, and their ratios."""
    found = [each for each in measured if isinstance(each, ProvenRates)]
    rates = {
        f"rate_{end}": {
            each.attribute: {
                _text(spec, each.attribute, group.code): getattr(group, end)
                for group in each.groups
            }
            for each in found
        }
        for end in ("low", "high")
    }
    ratios = {
        f"impact_ratio_{end}": {each.attribute: getattr(each, f"ratio_{end}") for each in found}
        for end in ("low", "high")
    }
    return {**rates, **ratios} if found else {}


def _rule_figures(spec: AuditSpec, measured: Sequence[Metric]) -> dict[str, object]:
    """Return the rule sets that a search for groups examined, the highest score first."""
    mined = [each.rule_sets for each in measured if isinstance(each, RuleSearchSummary)]
    if not mined:
        return {}
    sets = [each for each in measured if isinstance(each, RuleSet)]
    return {
        # every outcome has the same
        "n_subgroups": max(mined),
        "subgroups": [
            {"rule": rule_phrase(spec, each.conditions), **picked(each, _RULE)} for each in sets
        ],
    }
