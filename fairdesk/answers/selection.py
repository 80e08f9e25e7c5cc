"""Which runs answer a question with the best evidence, and which shares to quote."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from fairdesk.answers.answer import ANSWERING, Question
from fairdesk.audit.catalogue.method import QuestionKind
from fairdesk.audit.catalogue.methods import METHODS, method_named, unrepeatable, why_off
from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.records import RunRecord, RunState
from fairdesk.results.events import Metric
from fairdesk.results.individual import ExcessChange, Share
from fairdesk.wording import comparisons, words
from fairdesk.wording.language import say
from fairdesk.wording.proofs import proven_fractions, proven_of

Run = RunRecord | RunState
_Run = TypeVar("_Run", bound=Run)
#: What shares are of, in the order in which they are shown: individuals before combinations.
_WHOM = ("data", "domain", "perturbed")


def all_off(spec: AuditSpec, kind: QuestionKind) -> tuple[str, ...]:
    """Say why no method answers a kind of question here; empty where some does."""
    methods = [each for each in METHODS.values() if each.answers is kind]
    reasons = [why_off(each, spec.model, spec.domain) for each in methods]
    if not all(reasons):
        return ()
    # one reason for all of them is given once
    shared = [unrepeatable(each, spec.model.repeatability) for each in methods]
    obstacle = spec.domain.obstacle or (shared[0] if all(shared) else "")
    return (say("Not available: {why}.", why=obstacle),) if obstacle else tuple(reasons)


def main_shares(figures: Iterable[Metric]) -> tuple[Share, ...]:
    """Return the shares of most protected attributes together, one of each kind of instances.

    Where none is of several, as after THEMIS left out what contains another, the greatest is taken.
    """
    found = [each for each in comparisons.shares_of(figures) if each.n_samples or each.unsupported]
    most = max((len(share.attributes) for share in found), default=0)
    found = sorted(
        (share for share in found if len(share.attributes) == most),
        key=lambda each: each.estimate,
    )
    best = {share.whom: share for share in found}
    return tuple(best[whom] for whom in _WHOM if whom in best)


def best_shares(runs: Sequence[Run]) -> tuple[tuple[Run, Share], ...]:
    """Return of the rows, the domain and perturbed rows the best share each, with its run.

    It is of most attributes together, then exhaustive rather than estimated, then from the larger
    sample, then of a run that estimates, which says more of shares than one that certifies, then
    newer. Runs that were kept near the data say nothing of the whole domain.
    """
    whole = [run for run in runs if not _near_data(run)]
    found = [(run, share) for run in whole for share in main_shares(run.figures)]
    most = max((len(share.attributes) for _, share in found), default=0)
    found = [each for each in found if len(each[1].attributes) == most]
    found.sort(key=_evidence_of_share)
    best = {share.whom: (run, share) for run, share in found}
    return tuple(best[whom] for whom in _WHOM if whom in best)


def searches(runs: Sequence[_Run]) -> tuple[_Run, ...]:
    """Return the searches for pairs: those that can be compared."""
    return tuple(run for run in runs if method_named(run.method).answers is QuestionKind.EXAMPLES)


def pairs_found(runs: Sequence[Run]) -> int:
    """Count the pairs that all runs found, whatever they looked for."""
    return sum(run.found for run in runs)


def pooled(runs: Sequence[Run]) -> str:
    """Say how many pairs all runs found together, where several did; else empty."""
    finding = [run for run in runs if run.found]
    if len(finding) < 2:
        return ""
    return say(
        "{runs} runs together found {pairs} pairs. A pair found twice counts twice, one instance "
        "may be in many, and instances may be synthetic.",
        runs=words.number(len(finding)),
        pairs=words.number(pairs_found(finding)),
    )


def best_run(question: Question, runs: Sequence[Run]) -> Run | None:
    """Return the run with the best evidence on a question, never merely the newest.

    Of searches one near the data, whose pairs are realistic, then the one that found most; of
    estimates as `best_shares`, of certifications the one that left least undecided. Of all others
    the newest that measured something: it replaces those before.
    """
    tried = answering(runs, question)
    match question:
        case Question.EXAMPLE:
            return max(
                reversed(tried),
                key=lambda run: (bool(run.found) and _near_data(run), run.found, run.tried),
                default=None,
            )
        case Question.SHARE:
            shown = shown_shares(runs)
            if shown:
                return shown[0][0]
            repeated = [run for run in runs if measured_any(run, ExcessChange)]
            return next(reversed(repeated or tried), None)
        case Question.CERTAIN:
            proven = [(run, each) for run in tried if (each := proven_of(run.figures)) is not None]
            if proven:
                return min(reversed(proven), key=lambda each: proven_fractions(each[1])[2])[0]
    return next((run for run in reversed(tried) if run.figures), tried[-1] if tried else None)


def _evidence_of_share(found: tuple[Run, Share]) -> tuple[bool, bool, int, bool]:
    run, share = found
    estimated = method_named(run.method).answers is QuestionKind.SHARE
    return share.exact, share.exhaustive, share.n_samples, estimated


def _near_data(run: Run) -> bool:
    return isinstance(run, RunRecord) and (run.spec.max_distance is not None or run.spec.plausible)


def measured_any(run: Run, kind: type[Metric]) -> bool:
    """Return whether a run has a figure of a kind."""
    return any(isinstance(each, kind) for each in run.figures)


def shown_shares(runs: Sequence[Run]) -> list[tuple[Run, Share]]:
    """Return the best shares of rows and domain; those of perturbed rows if there are no others."""
    best = best_shares(runs)
    return [each for each in best if each[1].whom != "perturbed"] or list(best)


def answering(runs: Sequence[Run], question: Question) -> list[Run]:
    """Return the runs of the kinds that answer a question."""
    return [run for run in runs if method_named(run.method).answers in ANSWERING[question]]
