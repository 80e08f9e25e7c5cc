"""Which kind of question a run answers, and what it measured."""

from __future__ import annotations

from collections.abc import Sequence

from fairdesk.audit.catalogue.method import ABOUT_GROUPS, QuestionKind
from fairdesk.audit.catalogue.methods import METHODS, method_named, unrepeatable
from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.records import RunRecord, RunState
from fairdesk.results.groups import GroupGap
from fairdesk.results.individual import GradientFidelity, Share
from fairdesk.wording import comparisons
from fairdesk.wording.proofs import proven_of

Run = RunRecord | RunState


def answering(runs: Sequence[RunRecord], kind: QuestionKind) -> tuple[RunRecord, ...]:
    """Pick the runs that answer a kind of question."""
    return tuple(run for run in runs if method_named(run.method).answers is kind)


def estimates(spec: AuditSpec) -> str:
    """Name the method that estimates how common it is: another where the model wavers."""
    usual, repeated = METHODS["estimate"], METHODS["repeats"]
    off = unrepeatable(usual, spec.model.repeatability)
    return repeated.key if off else usual.key


def with_examples(runs: Sequence[RunRecord]) -> tuple[RunRecord, ...]:
    """Pick the runs that look for examples, and those of another kind that have some."""
    return tuple(
        run
        for run in runs
        if run.found or method_named(run.method).answers is QuestionKind.EXAMPLES
    )


def kind(share: Share) -> str:
    """Name how a share is known: ``all tested`` or ``estimated``."""
    return "all tested" if share.exact else "estimated"


def tells_share(run: Run) -> bool:
    """Return whether a run says how often decisions change."""
    answers = method_named(run.method).answers
    if answers in ABOUT_GROUPS:
        return False
    return bool(shares(run) or gaps(run)) or answers is QuestionKind.SHARE


def shares(run: Run) -> tuple[Share, ...]:
    """Return the shares that a run measured; those of nothing that was drawn are left out."""
    found = comparisons.shares_of(run.figures)
    return tuple(each for each in found if each.n_samples or each.unsupported)


def proves(run: Run) -> bool:
    """Return whether a run is to prove something."""
    return method_named(run.method).answers is QuestionKind.PROOF


def can_go_on(run: Run) -> bool:
    """Return whether a run that is over could prove more if it were gone on with."""
    proven = proven_of(run.figures)
    return (
        proves(run)
        and method_named(run.method).finishes
        and run.state not in ("running", "paused")
        and proven is not None
        and not proven.exact
    )


def gaps(run: Run) -> tuple[GroupGap, ...]:
    """Return the gaps between groups that a run measured."""
    return tuple(each for each in run.figures if isinstance(each, GroupGap))


def likenesses(run: Run) -> tuple[GradientFidelity, ...]:
    """Return what a run tells of perturbation sizes."""
    return tuple(each for each in run.figures if isinstance(each, GradientFidelity))
