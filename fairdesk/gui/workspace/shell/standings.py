"""How each step at the left stands: a word or two, and a sign."""

from __future__ import annotations

from collections.abc import Sequence

from fairdesk.answers import Question, all_off, best_run, best_shares, pairs_found, searches
from fairdesk.audit.catalogue.method import ABOUT_GROUPS, QuestionKind
from fairdesk.audit.catalogue.methods import method_named
from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.records import RunRecord, RunState
from fairdesk.gui.workspace.certification.page import off
from fairdesk.gui.workspace.common.answering import (
    Run,
    answering,
    kind,
    tells_share,
    with_examples,
)
from fairdesk.gui.workspace.common.page_names import (
    COMPARE,
    DATA,
    EXAMPLES,
    GROUPS,
    LOG,
    OVERVIEW,
    PROOF,
    REPAIR,
    REPORT,
    SHARE,
)
from fairdesk.gui.workspace.common.steps import OF_STATE, Sign, Standing
from fairdesk.gui.workspace.subgroups.findings_view import mined_of
from fairdesk.results.trials import repair_of
from fairdesk.wording import comparisons, words
from fairdesk.wording import mitigation as mitigation_words
from fairdesk.wording import proofs as proof_words
from fairdesk.wording.figures import short_share
from fairdesk.wording.groups import impact_ratio as ratio_words
from fairdesk.wording.groups import sentences as group_words
from fairdesk.wording.neighbourhoods import neighbourhoods_of


def of_audit(
    spec: AuditSpec, runs: Sequence[RunRecord], *, outdated: bool = False
) -> dict[str, Standing]:
    """Return how the steps stand while no run is under way, by their names.

    Parameters
    ----------
    outdated : bool
        Whether the newest repair does not know what was found since.
    """
    stands = {
        OVERVIEW: Standing(words.counted(len(runs), "run"), Sign.DONE)
        if runs
        else Standing("no runs yet", Sign.NOT_YET),
        DATA: Standing(f"{words.number(spec.data.rows)} rows", Sign.DONE),
        GROUPS: _groups(spec, runs),
        LOG: Standing("runs and decisions"),
    }
    if spec.predictions:
        return {**stands, OVERVIEW: Standing("no model queried", Sign.DONE)}
    stands |= {
        EXAMPLES: _examples(spec, runs),
        SHARE: _share(spec, runs),
        PROOF: _proof(spec, runs),
        REPAIR: _repair(runs, outdated=outdated),
        COMPARE: _compare(spec, runs),
    }
    if not runs:
        stands[REPORT] = Standing("no results yet", Sign.NOT_YET)
    return stands


def of_live(state: RunState, answers: QuestionKind) -> Standing:
    """Return how the step stands that a run under way fills."""
    if answers is QuestionKind.SHARE:
        return _share_of(state)
    if answers is QuestionKind.PROOF:
        return _proof_of(state)
    if answers in ABOUT_GROUPS:
        return _groups_of(state)
    if answers is QuestionKind.REPAIR:
        return _repair_of(state)
    text = words.state_word(state.state)
    if answers is QuestionKind.EXAMPLES:
        text = f"{text}, {words.number(state.found)}"
    return Standing(text, OF_STATE[state.state])


def _lacking(spec: AuditSpec, kind: QuestionKind, yet: str) -> Standing:
    """Say of what no run has told how it stands: ``off`` where none can."""
    return Standing("not available" if all_off(spec, kind) else yet, Sign.NOT_YET)


def _examples(spec: AuditSpec, runs: Sequence[RunRecord]) -> Standing:
    examples = with_examples(runs)
    if not examples:
        return _lacking(spec, QuestionKind.EXAMPLES, "not run")
    # how many says nothing of how common they are: that stands on the page alone
    found = "examples" if pairs_found(examples) else "none"
    last = examples[-1].state
    return Standing(f"{words.state_word(last)}, {found} found", OF_STATE[last])


def _compare(spec: AuditSpec, runs: Sequence[RunRecord]) -> Standing:
    compared = searches(runs)
    if len(compared) > 1:
        return Standing(words.counted(len(compared), "run"), Sign.DONE)
    if answering(runs, QuestionKind.DIAGNOSIS):
        return Standing("diagnostic done", Sign.DONE)
    return _lacking(spec, QuestionKind.EXAMPLES, "not run")


def _share(spec: AuditSpec, runs: Sequence[RunRecord]) -> Standing:
    telling = [run for run in runs if tells_share(run)]
    if not telling:
        return _lacking(spec, QuestionKind.SHARE, "not estimated")
    return _share_of(telling[-1], telling)


def _proof(spec: AuditSpec, runs: Sequence[RunRecord]) -> Standing:
    proofs = answering(runs, QuestionKind.PROOF)
    if proofs:
        return _proof_of(best_run(Question.CERTAIN, proofs) or proofs[-1])
    return Standing("not available" if off(spec) else "not run", Sign.NOT_YET)


def _repair(runs: Sequence[RunRecord], *, outdated: bool) -> Standing:
    made = answering(runs, QuestionKind.REPAIR)
    if not made:
        return Standing("not run", Sign.NOT_YET)
    return Standing("out of date", Sign.OUTDATED) if outdated else _repair_of(made[-1])


def _groups(spec: AuditSpec, runs: Sequence[RunRecord]) -> Standing:
    """Say how the newest run about groups stands; before any what the data show."""
    found = answering(runs, QuestionKind.GROUPS)
    rated = answering(runs, QuestionKind.RATES)
    # what was counted goes before what is estimated of subgroups, as on the page
    if rated and (lowest := ratio_words.lowest_in_short(spec, rated[-1].figures)):
        return Standing(lowest, OF_STATE[rated[-1].state])
    # rules are looked for first of all; other methods are there to be compared with
    mined = [run for run in found if mined_of(run)]
    about = mined or found or rated
    return _groups_of(about[-1]) if about else Standing("observed", Sign.DONE)


def _groups_of(run: Run) -> Standing:
    """Say shortly what a run looked at, and how it stands."""
    text = words.state_word(run.state)
    if mined_of(run):
        text = group_words.shortest(run.figures) or text
    elif run.state == "done" and method_named(run.method).answers is QuestionKind.RATES:
        text = "measured"
    return Standing(text, OF_STATE[run.state])


def _repair_of(run: Run) -> Standing:
    """Say shortly what a repair came to, and how it stands."""
    repair = repair_of(run.figures)
    text = words.state_word(run.state)
    if run.state in ("running", "paused"):
        text = mitigation_words.effort_text(run.figures) or text
    elif repair is not None and not repair.retrains:
        text = "augmentation rows"
    elif repair is not None:
        fell = mitigation_words.fall(run.figures)
        done = Sign.NONE if run.state == "done" and not fell else OF_STATE[run.state]
        return Standing(fell or mitigation_words.not_improved(), done)
    return Standing(text, OF_STATE[run.state])


def _proof_of(run: Run) -> Standing:
    """Say how a run stands: a proven share by itself would be read as one of people."""
    proven = proof_words.main_proof(run.figures)
    text = words.state_word(run.state)
    if proven is None and neighbourhoods_of(run.figures) is None and run.state == "done":
        text = "not certified"
    elif proven is not None and not any(proof_words.proven_fractions(proven)[:2]):
        text = "none proven so far"
    return Standing(text, OF_STATE[run.state])


def _share_of(run: Run, telling: Sequence[Run] = ()) -> Standing:
    """Say the share of the best evidence, people in the data first, and how ``run`` stands."""
    by, first = next(iter(best_shares(telling or (run,))), (run, None))
    if first is None:
        return Standing(words.state_word(run.state), OF_STATE[run.state])
    unknown = comparisons.not_known(first, by.figures)
    text = unknown or f"{short_share(first, by.figures)}, {kind(first)}"
    return Standing(text, OF_STATE[run.state])
