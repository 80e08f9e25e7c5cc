"""What an audit offers to mitigate: its pairs, and the subgroups that were found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.plan.spec import AuditSpec, RunSpec
from fairdesk.audit.runs.mitigation import check_repair
from fairdesk.audit.store.records import PairQuery, RunRecord
from fairdesk.audit.store.store import Store
from fairdesk.errors import SpecError
from fairdesk.results.subgroups import RuleSet
from fairdesk.wording.decisions import outcome_text
from fairdesk.wording.groups import findings as finding_words
from fairdesk.wording.groups.findings import gap_text, quoted_gap
from fairdesk.wording.rules import rule_phrase

#: The mitigations: by pairs, and by a subgroup.
PAIRS, RULES = "repair-aequitas", "repair-testsgd"
#: Rule sets that are offered at most: those with the highest scores.
_MOST_RULES = 100


@dataclass(frozen=True)
class Rule:
    """A rule set that was found."""

    run: RunRecord
    found: RuleSet
    text: str


@dataclass(frozen=True)
class Offer:
    """What there is to repair.

    Attributes
    ----------
    pairs : dict[int, int]
        Per run that found any: how many pairs, dismissed ones left out.
    titles : dict[int, str]
        Of these runs.
    flagged : int
        How many of all pairs are flagged.
    wrong : str
        Why nothing can be repaired here at all; empty where something can.
    """

    pairs: dict[int, int] = field(default_factory=dict)
    titles: dict[int, str] = field(default_factory=dict)
    flagged: int = 0
    wrong: str = ""


def wrong_with(store: Store) -> str:
    """Say why nothing can be repaired in an audit at all; empty where something can."""
    try:
        # nothing is counted for a rule set that is told: what it refuses is the data and labels
        check_repair(RunSpec(RULES), store)
    except SpecError as error:
        return str(error)
    return ""


def offer_of(store: Store, wrong: str) -> Offer:
    """Look into the audit file for what there is to repair; ``wrong`` is why nothing can be."""
    runs = {run.id: METHODS[run.spec.method].title for run in store.runs()}
    counts = {
        run: sum(store.count(PairQuery(run=run, mark=mark)) for mark in ("", "flagged"))
        for run in runs
    }
    return Offer(
        {run: count for run, count in counts.items() if count},
        runs,
        store.count(PairQuery(mark="flagged")),
        wrong,
    )


def rules_of(spec: AuditSpec, runs: Iterable[RunRecord]) -> tuple[Rule, ...]:
    """List the rule sets that stand for themselves, of each question the newest run's."""
    newest: dict[tuple[str, str], tuple[RunRecord, list[RuleSet]]] = {}
    for run in runs:
        for _mined, sets in finding_words.mined_with(run.figures):
            for each in finding_words.leaders(sets):
                key = run.spec.text, each.outcome
                if key not in newest or newest[key][0] is not run:
                    newest[key] = (run, [])
                newest[key][1].append(each)
    found = [(run, each) for run, sets in newest.values() for each in sets]
    found.sort(key=lambda pair: -pair[1].score)
    return tuple(
        Rule(
            run,
            each,
            # the number first: a long rule is cut at its end
            f"{gap_text(each.outcome, quoted_gap(each))}: "
            f"{rule_phrase(spec, each.conditions)}"
            + (f", “{outcome_text(spec, each.outcome)}”" if each.outcome else ""),
        )
        for run, each in found[:_MOST_RULES]
    )
